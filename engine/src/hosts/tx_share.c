/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tx_share.c - limits how much of its send buffer a flow uses, if the host requests it
 * (toe/inline.h).
 *
 * Writing passes through a whole ring buffer, however few bytes are pending. A hundred rings of 1
 * MiB exceed the cache, so every byte is fetched from memory before it is overwritten, although a
 * path of a few microseconds needs only a part of the ring. So a flow begins with its share of
 * TOGETHER, a power of two. It gets the whole buffer once its path proves long, where a small
 * buffer would limit it, and a larger share when there are fewer flows.
 */
#include <string.h>

#include "qp.h"
#include "tx_share.h"

#define TOGETHER  (2u << 20) /* bytes used by all flows together */
#define LEAST     65536u     /* ... but at least this per flow: a large frame */
#define LONG_PATH 1000u      /* minimum round-trip time, us */

static uint8_t share(const struct qp *qp)
{
    uint64_t flows = qp->cfg.slots - qp->free_count;
    uint8_t less = 0;

    while (qp->cfg.tx_size >> less > LEAST && (qp->cfg.tx_size >> less) * flows > TOGETHER)
        less++;
    return less;
}

void tx_share_begin(struct slot *s)
{
    s->tx_less = s->qp->tx_shared ? share(s->qp) : 0;
}

/* Moves buffered bytes after the size has grown. A byte's position is its stream offset modulo the
 * size. No move overwrites a byte still to be moved, since the destinations are in the part that
 * was unused before. */
static void spread(const struct slot *s, uint32_t old, uint32_t size)
{
    uint8_t *tx = slot_tx(s);
    uint32_t done, n;

    for (done = 0; done < s->tx_used; done += n) {
        uint32_t off = s->una + done, from = off & (old - 1), to = off & (size - 1);

        n = old - from < s->tx_used - done ? old - from : s->tx_used - done;
        if (to != from)
            memcpy(tx + to, tx + from, n);
    }
}

static int is_long(const struct slot *s)
{
    struct toec_info i;

    memset(&i, 0, sizeof(i));
    toec_flow_info(s->qp->engine->stack, s->flow, &i);
    return i.min_rtt_us >= LONG_PATH;
}

uint32_t tx_share_grow(struct slot *s)
{
    uint32_t old = slot_tx_size(s);
    uint8_t less;

    if (!s->tx_less || !s->flow)
        return old;
    less = is_long(s) ? 0 : share(s->qp);
    if (less >= s->tx_less)
        return old;
    spread(s, old, s->qp->cfg.tx_size >> less);
    s->tx_less = less;
    return slot_tx_size(s);
}
