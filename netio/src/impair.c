/* SPDX-License-Identifier: Apache-2.0 */
/*
 * impair.c - the impairing wire as a back end in front of another (include/toe/impair.h).
 *
 * Every frame is copied into this wire's own memory, so a delayed frame occupies no buffer of the
 * wrapped back end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "impair_path.h"

#define BATCH    64u
#define BATCHES  16u     /* most batches taken from the back end in one call */
#define SPARE    1024u   /* frames in the caller's hands */
#define RETRY_NS 100000u /* delay until sending is retried when the back end had no buffer */

struct impair {
    struct netio n;
    struct netio *inner;
    struct impair_path rx, tx;
    uint64_t retry_ns; /* 0: the back end had buffers for all due frames */
};

static struct impair *self(struct netio *n)
{
    return (struct impair *)n;
}

/* Moves frames from the back end into the receiving path. */
static void pull(struct impair *m, uint64_t now_ns)
{
    struct netio_frame frames[BATCH];
    unsigned batches = 0;
    unsigned count, i;
    uint32_t offset;

    do {
        count = netio_rx(m->inner, frames, BATCH, now_ns);
        for (i = 0; i < count; i++) {
            if (frames[i].len > m->rx.pool.frame_size || pool_get(&m->rx.pool, &offset)) {
                m->rx.stats.seen++;
                m->rx.stats.overflowed++;
                continue;
            }
            memcpy(m->rx.pool.mem + offset, frames[i].data, frames[i].len);
            impair_path_put(&m->rx, offset, frames[i].len, frames[i].flags, now_ns);
        }
        netio_rx_release(m->inner, frames, count);
    } while (count == BATCH && ++batches < BATCHES);
}

/* Passes the due frames of the sending path to the back end. */
static void push(struct impair *m, uint64_t now_ns)
{
    struct impair_entry e;
    struct netio_frame frame;

    m->retry_ns = 0;
    while (impair_path_next(&m->tx) <= now_ns) {
        if (netio_tx_alloc(m->inner, &frame)) {
            m->retry_ns = now_ns + RETRY_NS;
            return;
        }
        if (impair_path_take(&m->tx, now_ns, &e)) { /* it was held back for reordering */
            netio_tx_cancel(m->inner, &frame);
            continue;
        }
        if (e.len > frame.cap) {
            netio_tx_cancel(m->inner, &frame);
            m->tx.stats.overflowed++;
        } else {
            memcpy(frame.data, m->tx.pool.mem + e.offset, e.len);
            frame.len = e.len;
            frame.flags &= e.flags;
            netio_tx_submit(m->inner, &frame, now_ns);
        }
        pool_put(&m->tx.pool, e.offset);
    }
}

static void impair_tx_flush(struct netio *n, uint64_t now_ns)
{
    struct impair *m = self(n);

    push(m, now_ns);
    netio_tx_flush(m->inner, now_ns);
}

static unsigned impair_rx(struct netio *n, struct netio_frame *frames, unsigned max,
                          uint64_t now_ns)
{
    struct impair *m = self(n);
    struct impair_entry e;
    unsigned count = 0;

    if (impair_path_next(&m->tx) <= now_ns)
        impair_tx_flush(n, now_ns);
    pull(m, now_ns);
    while (count < max && impair_path_take(&m->rx, now_ns, &e) == 0) {
        frames[count++] = (struct netio_frame){
            .data = m->rx.pool.mem + e.offset,
            .len = e.len,
            .cap = m->rx.pool.frame_size,
            .flags = e.flags,
            .token = e.offset,
        };
        n->stats.rx_frames++;
        n->stats.rx_bytes += e.len;
    }
    return count;
}

static void impair_rx_release(struct netio *n, const struct netio_frame *frames, unsigned count)
{
    unsigned i;

    for (i = 0; i < count; i++)
        pool_put(&self(n)->rx.pool, (uint32_t)frames[i].token);
}

static int impair_tx_alloc(struct netio *n, struct netio_frame *frame)
{
    struct impair *m = self(n);
    uint32_t offset;

    if (pool_get(&m->tx.pool, &offset))
        return -1;
    *frame = (struct netio_frame){
        .data = m->tx.pool.mem + offset,
        .cap = m->tx.pool.frame_size,
        .flags = NETIO_F_L4_CSUM_OK,
        .token = offset,
    };
    return 0;
}

static void impair_tx_submit(struct netio *n, const struct netio_frame *frame, uint64_t now_ns)
{
    n->stats.tx_frames++;
    n->stats.tx_bytes += frame->len;
    impair_path_put(&self(n)->tx, (uint32_t)frame->token, frame->len, frame->flags, now_ns);
}

static void impair_tx_cancel(struct netio *n, const struct netio_frame *frame)
{
    pool_put(&self(n)->tx.pool, (uint32_t)frame->token);
}

static int impair_prepare_sleep(struct netio *n)
{
    return netio_prepare_sleep(self(n)->inner);
}

static void impair_keep_waking(struct netio *n, int on)
{
    netio_keep_waking(self(n)->inner, on);
}

static uint64_t impair_next_event(const struct netio *n)
{
    const struct impair *m = (const struct impair *)n;
    uint64_t next = netio_next_event(m->inner);
    uint64_t rx = impair_path_next(&m->rx);
    uint64_t tx = m->retry_ns ? m->retry_ns : impair_path_next(&m->tx);

    next = rx < next ? rx : next;
    return tx < next ? tx : next;
}

static void impair_set_ip6(struct netio *n, const uint8_t addrs[][16], unsigned count)
{
    netio_set_ip6(self(n)->inner, addrs, count);
}

static void impair_take_port(struct netio *n, int ip6, uint16_t port, unsigned how)
{
    netio_take_port(self(n)->inner, ip6, port, how);
}

static int impair_take_place(struct netio *n, const uint8_t addr[16], uint16_t port, int on)
{
    return netio_take_place(self(n)->inner, addr, port, on);
}

static int impair_heir(const struct netio *n)
{
    return netio_heir(((const struct impair *)n)->inner);
}

static int impair_settle(struct netio *n, const struct netio_err *err)
{
    return netio_settle(self(n)->inner, err->text, err->size);
}

static int impair_tend(struct netio *n, const struct netio_err *text)
{
    return netio_tend(self(n)->inner, text->text, text->size);
}

static void impair_set_features(struct netio *n)
{
    (void)netio_set_features(self(n)->inner, n->features);
}

static void impair_add_stats(const struct netio *n, struct netio_stats *out)
{
    const struct impair *m = (const struct impair *)n;
    struct netio_stats inner;

    netio_get_stats(m->inner, &inner);
    out->rx_dropped += inner.rx_dropped + m->rx.stats.overflowed;
    out->tx_dropped += inner.tx_dropped + m->tx.stats.overflowed;
}

static void impair_close(struct netio *n)
{
    struct impair *m = self(n);

    netio_close(m->inner);
    impair_path_free(&m->rx);
    impair_path_free(&m->tx);
    free(m);
}

static const struct netio_ops ops = {
    .close = impair_close,
    .rx = impair_rx,
    .rx_release = impair_rx_release,
    .tx_alloc = impair_tx_alloc,
    .tx_submit = impair_tx_submit,
    .tx_cancel = impair_tx_cancel,
    .tx_flush = impair_tx_flush,
    .prepare_sleep = impair_prepare_sleep,
    .keep_waking = impair_keep_waking,
    .next_event = impair_next_event,
    .add_stats = impair_add_stats,
    .set_ip6 = impair_set_ip6,
    .take_port = impair_take_port,
    .take_place = impair_take_place,
    .heir = impair_heir,
    .settle = impair_settle,
    .tend = impair_tend,
    .set_features = impair_set_features,
};

/* Initialises both paths. A direction that is not impaired keeps only the options that bound its
 * memory. */
static int init_paths(struct impair *m, const struct impair_options *o, uint32_t queue)
{
    const struct impair_options plain = {.gap = 1, .bits = 1, .queue = 1, .memory = o->memory};
    uint32_t frame_size = (m->n.info.mtu + ETH_TAGGED + 2047) / 2048 * 2048;
    uint64_t salt = (uint64_t)queue * 2;

    return impair_path_init(&m->rx, o->direction == IMPAIR_TX ? &plain : o, salt + 1, frame_size,
                            SPARE) ||
           impair_path_init(&m->tx, o->direction == IMPAIR_RX ? &plain : o, salt + 2, frame_size,
                            SPARE);
}

struct netio *impair_open(const char *options, const char *inner, const struct netio_config *cfg,
                          const struct netio_err *err)
{
    struct impair_options o;
    struct impair *m;

    if (impair_options_parse(&o, options, cfg->seed, err))
        return NULL;
    m = lines_calloc(1, sizeof(*m));
    if (!m) {
        netio_err_set(err, "impair: out of memory");
        return NULL;
    }
    m->n.ops = &ops;
    m->inner = netio_open(inner, cfg, err->text, err->size);
    if (!m->inner) {
        free(m);
        return NULL;
    }
    /* Each frame is impaired by itself, so none may have several segments. A corrupted frame needs
     * a computed checksum, so that the receiver detects the corruption. */
    (void)netio_set_features(m->inner, NETIO_O_RX_CSUM);
    netio_get_info(m->inner, &m->n.info);
    m->n.info.offered &= NETIO_O_RX_CSUM;
    m->n.info.tso_max = m->n.info.hold_max = 0; /* frames are copies in a bounded pool of ours */
    m->n.fd = netio_fd(m->inner);
    if (init_paths(m, &o, cfg->queue)) {
        netio_err_set(err,
                      "impair: no memory for %u frames in each direction: give a smaller "
                      "memory=",
                      o.memory);
        impair_close(&m->n);
        return NULL;
    }
    snprintf(m->n.mode, sizeof(m->n.mode), "impair seed=%llu over %s: %s",
             (unsigned long long)o.seed, m->n.info.mode, *options ? options : "nothing");
    return &m->n;
}

int netio_impair_get_stats(const struct netio *n, struct netio_impair_stats *rx,
                           struct netio_impair_stats *tx)
{
    const struct impair *m = (const struct impair *)n;

    if (n->ops != &ops)
        return -1;
    *rx = m->rx.stats;
    *tx = m->tx.stats;
    return 0;
}
