/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.c - replaces the netio library (toe/netio.h) without any network. Sent frames go to the
 * receiver of ideal.h and are dropped.
 */
#include <stdlib.h>
#include <string.h>

#include <toe/netio.h>

#include "wire.h"

#define FRAME 2048u

struct netio {
    struct netio_stats stats;
    uint8_t frame[FRAME];
};

static void (*reader)(void *, const uint8_t *, uint32_t);
static void *reader_arg;

struct netio *ideal_wire_new(void)
{
    return calloc(1, sizeof(struct netio));
}

void ideal_wire_reader(void (*read)(void *arg, const uint8_t *data, uint32_t n), void *arg)
{
    reader = read;
    reader_arg = arg;
}

void netio_close(struct netio *n)
{
    free(n);
}

void netio_get_info(const struct netio *n, struct netio_info *out)
{
    (void)n;
    memset(out, 0, sizeof(*out));
    out->mac[0] = 2;
    out->mtu = 1500;
    out->queues = 1;
    out->mode = "ideal";
}

void netio_get_stats(const struct netio *n, struct netio_stats *out)
{
    *out = n->stats;
}

int netio_tend(struct netio *n, char *text, size_t text_size)
{
    (void)n;
    (void)text;
    (void)text_size;
    return 0;
}

void netio_take_port(struct netio *n, int ip6, uint16_t port, unsigned how)
{
    (void)n;
    (void)ip6;
    (void)port;
    (void)how;
}

int netio_take_place(struct netio *n, const uint8_t addr[16], uint16_t port, int on)
{
    (void)n;
    (void)addr;
    (void)port;
    (void)on;
    return 0;
}

unsigned netio_rx(struct netio *n, struct netio_frame *frames, unsigned max, uint64_t now_ns)
{
    (void)n;
    (void)frames;
    (void)max;
    (void)now_ns;
    return 0;
}

void netio_rx_release(struct netio *n, const struct netio_frame *frames, unsigned count)
{
    (void)n;
    (void)frames;
    (void)count;
}

int netio_rx_hold(struct netio *n, const struct netio_frame *frame)
{
    (void)n;
    (void)frame;
    return -1;
}

void netio_rx_unhold(struct netio *n, uintptr_t token)
{
    (void)n;
    (void)token;
}

int netio_tx_alloc(struct netio *n, struct netio_frame *frame)
{
    *frame = (struct netio_frame){.data = n->frame, .cap = FRAME};
    return 0;
}

void netio_tx_submit(struct netio *n, const struct netio_frame *frame, uint64_t now_ns)
{
    (void)now_ns;
    n->stats.tx_frames++;
    n->stats.tx_bytes += frame->len;
    if (reader)
        reader(reader_arg, frame->data, frame->len);
}

int netio_prepare_sleep(struct netio *n)
{
    (void)n;
    return 0;
}

uint64_t netio_next_event(const struct netio *n)
{
    (void)n;
    return UINT64_MAX;
}
