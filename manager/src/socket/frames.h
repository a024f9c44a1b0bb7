/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames.h - received bytes that a TOE in this thread holds in the frames that brought them
 * (toe/inline.h; SEEDS S4.4). While tsock.framed is 0 all are in the slot's receive buffer, as they
 * always are with another TOE. Lock held.
 */
#ifndef LIBTOE_FRAMES_H
#define LIBTOE_FRAMES_H

#include "inline.h"
#include "tsock.h"

/* Returns where the byte at stream offset pos is, of n that were received; *n becomes how many of
 * them are there in one piece. */
static inline uint8_t *tframe_at(const struct tsock *s, uint32_t pos, uint32_t *n)
{
    uint32_t at = pos & s->rx_mask;

    if (unlikely(s->framed))
        return tinline_where(s->qp, s->slot, pos, n);
    if (*n > s->rx_mask + 1 - at)
        *n = s->rx_mask + 1 - at;
    return s->rx + at;
}

/* The reader has moved on, or a loan was returned: frees frames that are read. Not while draining.
 */
static inline void tframe_read(struct tsock *s)
{
    if (unlikely(s->framed))
        s->framed = tinline_read_to(s->qp, s->slot, s->rx_pos - s->rx_held);
}

#endif
