/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memwire.c - a back end for tests of the engine: a wire in memory between two engines of one
 * process, in virtual time. Replaces the netio library when linked before it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memwire.h"

#define FRAMES 4096u
#define SIZE   2048u

struct netio {
    struct netio *peer;
    struct memwire_tap *tap;
    uint8_t mac_last;
    int lose;            /* sent frames are discarded */
    int tx_full;         /* refuse this many sends; -1: all */
    unsigned nth, asked; /* refuse each nth; 0: none */
    unsigned trickle;    /* frames of a receive; 0: any number */
    uint32_t hold_max, held;
    uint32_t out_there; /* frames received and not yet released */
    uint32_t head, tail;
    uint32_t len[FRAMES];
    uint8_t
        *frames[FRAMES]; /* each allocated at its exact length, so that sanitizers see its end */
    uint8_t out[SIZE];
    struct netio_stats stats;
};

void memwire_pair(struct netio **a, struct netio **b)
{
    *a = calloc(1, sizeof(**a));
    *b = calloc(1, sizeof(**b));
    if (!*a || !*b)
        abort();
    (*a)->peer = *b;
    (*b)->peer = *a;
    (*a)->mac_last = 1;
    (*b)->mac_last = 2;
}

void memwire_refuse(struct netio *n, int count)
{
    n->tx_full = count;
}

void memwire_refuse_each(struct netio *n, unsigned nth)
{
    n->nth = nth;
}

void memwire_trickle(struct netio *n, unsigned most)
{
    n->trickle = most;
}

void memwire_lose(struct netio *n, int all)
{
    n->lose = all;
}

void memwire_watch(struct netio *n, struct memwire_tap *tap)
{
    n->tap = tap;
}

void memwire_inject(struct netio *n, const uint8_t *frame, uint32_t len)
{
    uint32_t at = n->head % FRAMES;

    if (n->head - n->tail == FRAMES || len > SIZE) {
        n->stats.rx_dropped++;
        return;
    }
    n->frames[at] = malloc(len ? len : 1);
    if (!n->frames[at])
        abort();
    memcpy(n->frames[at], frame, len);
    n->len[at] = len;
    n->head++;
}

void netio_close(struct netio *n)
{
    if (n->peer)
        n->peer->peer = NULL;
    if (n->out_there) {
        fprintf(stderr, "memwire: %u frames have not come back\n", n->out_there);
        abort();
    }
    for (; n->tail != n->head; n->tail++)
        free(n->frames[n->tail % FRAMES]);
    free(n);
}

void netio_get_info(const struct netio *n, struct netio_info *out)
{
    memset(out, 0, sizeof(*out));
    out->mac[0] = 2;
    out->mac[5] = n->mac_last;
    out->mtu = 1500;
    out->queues = 1;
    out->mode = "memory";
    out->hold_max = n->hold_max;
}

void netio_get_stats(const struct netio *n, struct netio_stats *out)
{
    *out = n->stats;
}

unsigned netio_rx(struct netio *n, struct netio_frame *frames, unsigned max, uint64_t now_ns)
{
    unsigned i;

    (void)now_ns;
    if (n->trickle && max > n->trickle)
        max = n->trickle;
    for (i = 0; i < max && n->tail + i != n->head; i++) {
        uint32_t at = (n->tail + i) % FRAMES;

        frames[i] = (struct netio_frame){.data = n->frames[at],
                                         .len = n->len[at],
                                         .cap = n->len[at],
                                         .token = (uintptr_t)n->frames[at]};
        n->stats.rx_frames++;
        n->stats.rx_bytes += n->len[at];
    }
    n->tail += i;
    n->out_there += i;
    return i;
}

void netio_rx_release(struct netio *n, const struct netio_frame *frames, unsigned count)
{
    unsigned i;

    for (i = 0; i < count; i++)
        free((void *)frames[i].token);
    n->out_there -= count;
}

int netio_rx_hold(struct netio *n, const struct netio_frame *frame)
{
    (void)frame;
    if (n->held >= n->hold_max)
        return -1;
    n->held++;
    return 0;
}

void netio_rx_unhold(struct netio *n, uintptr_t token)
{
    free((void *)token);
    n->held--;
    n->out_there--;
}

void memwire_hold(struct netio *n, uint32_t max)
{
    n->hold_max = max;
}

uint32_t memwire_out_there(const struct netio *n)
{
    return n->out_there;
}

int netio_tx_alloc(struct netio *n, struct netio_frame *frame)
{
    if (n->tx_full) {
        n->tx_full -= n->tx_full > 0;
        return -1;
    }
    if (n->nth && ++n->asked % n->nth == 0)
        return -1;
    *frame = (struct netio_frame){.data = n->out, .cap = SIZE};
    return 0;
}

void netio_tx_submit(struct netio *n, const struct netio_frame *frame, uint64_t now_ns)
{
    (void)now_ns;
    n->stats.tx_frames++;
    n->stats.tx_bytes += frame->len;
    if (n->tap)
        n->tap->seen(n->tap, frame->data, frame->len);
    if (n->peer && !n->lose)
        memwire_inject(n->peer, frame->data, frame->len);
}

int netio_prepare_sleep(struct netio *n)
{
    return n->head != n->tail;
}

uint64_t netio_next_event(const struct netio *n)
{
    return n->head != n->tail ? 0 : UINT64_MAX;
}
