/* SPDX-License-Identifier: Apache-2.0 */
/*
 * big.h - a pool for received frames of two sizes: those of the MTU, and those of many segments
 * (NETIO_O_LRO), whose memory is allocated at first use.
 */
#ifndef TOE_NETIO_BIG_H
#define TOE_NETIO_BIG_H

#include "backend.h"
#include "pool.h"

/* Not a multiple of 4096: otherwise all headers would share a few cache sets. */
#define BIG_SIZE  (66u * 1024)
#define BIG_COUNT 72u /* more than one batch of the engine */
#define BIG_TOKEN 1u  /* in a token: not of the small pool; offsets are multiples of 2 */

_Static_assert(BIG_SIZE >= BIG_FRAME, "the largest frame fits");

/* Allocates a large buffer: its token and address. Returns -1 when there is none. */
static inline int big_get(struct pool *big, uintptr_t *token, uint8_t **data)
{
    uint32_t offset;

    if (!big->mem && pool_init(big, BIG_SIZE, BIG_COUNT))
        return -1;
    if (pool_get(big, &offset))
        return -1;
    *token = offset | BIG_TOKEN;
    *data = big->mem + offset;
    return 0;
}

/* Gives back a buffer of either pool. */
static inline void big_put(struct pool *big, struct pool *small, uintptr_t token)
{
    if (token & BIG_TOKEN)
        pool_put(big, (uint32_t)(token & ~(uintptr_t)BIG_TOKEN));
    else
        pool_put(small, (uint32_t)token);
}

#endif
