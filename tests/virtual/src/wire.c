/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.c - a netio back end in memory: calls put frames in and take them out. It replaces the netio
 * library (toe/netio.h).
 */
#include <stdlib.h>
#include <string.h>

#include "world.h"

#define ETHERNET 14u

struct frame {
    struct frame *next;
    uint64_t at;
    uint32_t len;
    uint8_t data[];
};

struct queue {
    struct frame *first, *last;
};

struct netio {
    struct queue in, out;
    struct netio_stats stats;
    uint32_t mtu, cap;
    uint8_t *filling; /* between netio_tx_alloc() and netio_tx_submit() */
};

static struct frame *put(struct queue *q, const uint8_t *data, uint32_t len, uint64_t at)
{
    struct frame *f = malloc(sizeof(*f) + len);

    if (!f)
        return NULL;
    f->next = NULL;
    f->at = at;
    f->len = len;
    memcpy(f->data, data, len);
    if (q->last)
        q->last->next = f;
    else
        q->first = f;
    q->last = f;
    return f;
}

static void drop(struct queue *q)
{
    struct frame *f = q->first;

    q->first = f->next;
    if (!q->first)
        q->last = NULL;
    free(f);
}

struct netio *wire_new(uint32_t mtu)
{
    struct netio *n = calloc(1, sizeof(*n));

    if (!n)
        return NULL;
    n->mtu = mtu;
    n->cap = mtu + ETHERNET;
    n->filling = malloc(n->cap);
    if (n->filling)
        return n;
    free(n);
    return NULL;
}

void netio_close(struct netio *n)
{
    while (n->in.first)
        drop(&n->in);
    while (n->out.first)
        drop(&n->out);
    free(n->filling);
    free(n);
}

void wire_inject(struct netio *n, const uint8_t *frame, uint32_t len)
{
    if (!put(&n->in, frame, len, world.now))
        n->stats.rx_dropped++;
}

size_t wire_take(struct netio *n, void *packet, size_t room, uint64_t *at)
{
    struct frame *f = n->out.first;
    size_t len;

    if (!f)
        return 0;
    len = f->len;
    *at = f->at;
    memcpy(packet, f->data, len < room ? len : room);
    drop(&n->out);
    return len;
}

int wire_holds(const struct netio *n)
{
    return n->out.first != NULL;
}

void netio_get_info(const struct netio *n, struct netio_info *out)
{
    memset(out, 0, sizeof(*out));
    memcpy(out->mac, link_own_mac, sizeof(out->mac));
    out->mtu = n->mtu;
    out->queues = 1;
    out->mode = "virtual";
}

void netio_get_stats(const struct netio *n, struct netio_stats *out)
{
    *out = n->stats;
}

unsigned netio_rx(struct netio *n, struct netio_frame *frames, unsigned max, uint64_t now_ns)
{
    struct frame *f = n->in.first;
    unsigned i;

    (void)now_ns;
    for (i = 0; i < max && f; i++, f = f->next) {
        frames[i] = (struct netio_frame){.data = f->data, .len = f->len, .cap = f->len};
        n->stats.rx_frames++;
        n->stats.rx_bytes += f->len;
    }
    return i;
}

void netio_rx_release(struct netio *n, const struct netio_frame *frames, unsigned count)
{
    (void)frames;
    while (count--)
        drop(&n->in);
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
    *frame = (struct netio_frame){.data = n->filling, .cap = n->cap};
    return 0;
}

void netio_tx_submit(struct netio *n, const struct netio_frame *frame, uint64_t now_ns)
{
    uint32_t len;
    const uint8_t *packet = link_out(n, frame->data, frame->len, &len);

    n->stats.tx_frames++;
    n->stats.tx_bytes += frame->len;
    if (!packet)
        return;
    world_trace('>', packet, len);
    if (!put(&n->out, packet, len, now_ns))
        n->stats.tx_dropped++;
}

int netio_prepare_sleep(struct netio *n)
{
    return n->in.first != NULL;
}

uint64_t netio_next_event(const struct netio *n)
{
    return n->in.first ? 0 : UINT64_MAX;
}
