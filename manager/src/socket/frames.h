/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames.h - received bytes that a TOE in this thread keeps in the received frames (toe/inline.h;
 * SEEDS S4.4). While tsock.framed is 0, and always with other TOEs, all are in the slot's receive
 * buffer. Lock held.
 */
#ifndef LIBTOE_FRAMES_H
#define LIBTOE_FRAMES_H

#include "inline.h"
#include "tsock.h"

/* Returns the address of the byte at stream offset pos, the first of *n received ones. Sets *n to
 * the number of them that are contiguous there. */
static inline uint8_t *tframe_at(const struct tsock *s, uint32_t pos, uint32_t *n)
{
    uint32_t at = pos & s->rx_mask;

    if (unlikely(s->framed))
        return tinline_where(s->qp, s->slot, pos, n);
    if (*n > s->rx_mask + 1 - at)
        *n = s->rx_mask + 1 - at;
    return s->rx + at;
}

/* Frees frames that are read, after a read or the return of a loan. Not while draining. */
static inline void tframe_read(struct tsock *s)
{
    if (unlikely(s->framed))
        s->framed = tinline_read_to(s->qp, s->slot, s->rx_pos - s->rx_held);
}

#endif
