/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tx_share.c - how much of its send buffer a flow uses, where the host asks for that
 * (toe/inline.h).
 *
 * A ring is written from end to end whatever waits in it. A hundred rings of 1 MiB are more than a
 * cache holds, and each byte is then fetched from memory to be overwritten, although a path of some
 * microseconds needs but a part of them. So a flow begins with its share of TOGETHER, a power of
 * two. It gets the whole once its path is long, where a small buffer would be its limit, and more
 * when there are fewer flows.
 */
#include <string.h>

#include "qp.h"
#include "tx_share.h"

#define TOGETHER  (2u << 20) /* what all of them use */
#define LEAST     65536u     /* but for this: a large frame */
#define LONG_PATH 1000u      /* us of the shortest round trip */

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

/* Bytes stand at their offset in the stream modulo the size, so some are at another place now:
 * never where others of them still are, for what is written to has not been in use. */
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
