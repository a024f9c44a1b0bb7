/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - a bounded pool of frames, allocated last in, first out, so the memory in use stays small
 * and cached. A frame is identified by its offset from the start of the memory.
 */
#ifndef TOE_NETIO_POOL_H
#define TOE_NETIO_POOL_H

#include <stddef.h>
#include <stdint.h>

struct pool {
    uint8_t *mem; /* page-aligned */
    size_t mem_size;
    uint32_t frame_size;
    uint32_t count; /* frames in all */
    uint32_t top;   /* frames free */
    uint32_t *stack;
};

/* Returns 0, or -1 without memory. frame_size * count must be below 4 GiB. */
int pool_init(struct pool *p, uint32_t frame_size, uint32_t count);
void pool_free(struct pool *p);

static inline int pool_get(struct pool *p, uint32_t *offset)
{
    if (!p->top)
        return -1;
    *offset = p->stack[--p->top];
    return 0;
}

static inline void pool_put(struct pool *p, uint32_t offset)
{
    p->stack[p->top++] = offset;
}

#endif
