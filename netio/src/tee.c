/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tee.c - writes what another back end receives and sends to a pcap file: tee(FILE):SPEC
 *
 * Frames are stamped with the times passed to netio_rx() and netio_tx_submit().
 */
#include <stdio.h>
#include <stdlib.h>

#include "capture.h"

struct tee {
    struct netio n;
    struct netio *inner;
    struct capture *capture;
    int failed; /* the file is full; frames are still forwarded */
};

static struct tee *self(struct netio *n)
{
    return (struct tee *)n;
}

static void record(struct tee *t, const struct netio_frame *frame, uint64_t now_ns)
{
    if (t->failed || capture_write(t->capture, frame, now_ns) == 0)
        return;
    t->failed = 1;
    snprintf(t->n.mode, sizeof(t->n.mode), "tee (file full, capture ended) over %s",
             t->n.info.mode);
}

static unsigned tee_rx(struct netio *n, struct netio_frame *frames, unsigned max, uint64_t now_ns)
{
    struct tee *t = self(n);
    unsigned count = netio_rx(t->inner, frames, max, now_ns);
    unsigned i;

    for (i = 0; i < count; i++)
        record(t, &frames[i], now_ns);
    return count;
}

static void tee_rx_release(struct netio *n, const struct netio_frame *frames, unsigned count)
{
    netio_rx_release(self(n)->inner, frames, count);
}

static int tee_rx_hold(struct netio *n, const struct netio_frame *frame)
{
    return netio_rx_hold(self(n)->inner, frame);
}

static void tee_rx_unhold(struct netio *n, uintptr_t token)
{
    netio_rx_unhold(self(n)->inner, token);
}

static int tee_tx_alloc(struct netio *n, struct netio_frame *frame)
{
    return netio_tx_alloc(self(n)->inner, frame);
}

static void tee_tx_submit(struct netio *n, const struct netio_frame *frame, uint64_t now_ns)
{
    record(self(n), frame, now_ns);
    netio_tx_submit(self(n)->inner, frame, now_ns);
}

static void tee_tx_cancel(struct netio *n, const struct netio_frame *frame)
{
    netio_tx_cancel(self(n)->inner, frame);
}

static void tee_tx_flush(struct netio *n, uint64_t now_ns)
{
    netio_tx_flush(self(n)->inner, now_ns);
}

static int tee_prepare_sleep(struct netio *n)
{
    (void)capture_flush(self(n)->capture);
    return netio_prepare_sleep(self(n)->inner);
}

static void tee_keep_waking(struct netio *n, int on)
{
    netio_keep_waking(self(n)->inner, on);
}

static uint64_t tee_next_event(const struct netio *n)
{
    return netio_next_event(((const struct tee *)n)->inner);
}

static void tee_set_ip6(struct netio *n, const uint8_t addrs[][16], unsigned count)
{
    netio_set_ip6(self(n)->inner, addrs, count);
}

static void tee_take_port(struct netio *n, int ip6, uint16_t port, unsigned how)
{
    netio_take_port(self(n)->inner, ip6, port, how);
}

static int tee_take_place(struct netio *n, const uint8_t addr[16], uint16_t port, int on)
{
    return netio_take_place(self(n)->inner, addr, port, on);
}

static int tee_heir(const struct netio *n)
{
    return netio_heir(((const struct tee *)n)->inner);
}

static int tee_settle(struct netio *n, const struct netio_err *err)
{
    return netio_settle(self(n)->inner, err->text, err->size);
}

static int tee_tend(struct netio *n, const struct netio_err *text)
{
    return netio_tend(self(n)->inner, text->text, text->size);
}

static void tee_set_features(struct netio *n)
{
    (void)netio_set_features(self(n)->inner, n->features);
}

static void tee_add_stats(const struct netio *n, struct netio_stats *out)
{
    netio_get_stats(((const struct tee *)n)->inner, out);
}

static void tee_close(struct netio *n)
{
    struct tee *t = self(n);

    netio_close(t->inner);
    if (t->capture)
        capture_close(t->capture);
    free(t);
}

static const struct netio_ops ops = {
    .close = tee_close,
    .rx = tee_rx,
    .rx_release = tee_rx_release,
    .rx_hold = tee_rx_hold,
    .rx_unhold = tee_rx_unhold,
    .tx_alloc = tee_tx_alloc,
    .tx_submit = tee_tx_submit,
    .tx_cancel = tee_tx_cancel,
    .tx_flush = tee_tx_flush,
    .prepare_sleep = tee_prepare_sleep,
    .keep_waking = tee_keep_waking,
    .next_event = tee_next_event,
    .add_stats = tee_add_stats,
    .set_ip6 = tee_set_ip6,
    .take_port = tee_take_port,
    .take_place = tee_take_place,
    .heir = tee_heir,
    .settle = tee_settle,
    .tend = tee_tend,
    .set_features = tee_set_features,
};

struct netio *tee_open(const char *file, const char *inner, const struct netio_config *cfg,
                       const struct netio_err *err)
{
    struct tee *t = lines_calloc(1, sizeof(*t));

    if (!t) {
        netio_err_set(err, "tee: out of memory");
        return NULL;
    }
    t->n.ops = &ops;
    t->inner = netio_open(inner, cfg, err->text, err->size);
    if (!t->inner) {
        free(t);
        return NULL;
    }
    t->capture = capture_open("tee", file, err);
    if (!t->capture) {
        tee_close(&t->n);
        return NULL;
    }
    netio_get_info(t->inner, &t->n.info);
    t->n.fd = netio_fd(t->inner);
    snprintf(t->n.mode, sizeof(t->n.mode), "tee over %s", t->n.info.mode);
    return &t->n;
}
