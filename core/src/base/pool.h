/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - a fixed number of equal objects in memory provided at init, allocated last in first out:
 * the object freed last is the one still in the cache (SEEDS S4.5). Memory of objects never
 * allocated is never touched.
 */
#ifndef TOEC_POOL_H
#define TOEC_POOL_H

#include "base.h"

struct toec_pool {
    void *free;     /* free list, linked through the first word of each object */
    toec_u8 *items; /* `total` objects of `size` bytes */
    toec_u32 size;  /* a multiple of the alignment the objects need, at least one pointer */
    toec_u32 total;
    toec_u32 fresh; /* objects at and above this index were never allocated */
    toec_u32 used;
};

TOEC_INLINE void toec_pool_init(struct toec_pool *p, void *items, toec_u32 size, toec_u32 total)
{
    p->free = 0;
    p->items = items;
    p->size = size;
    p->total = total;
    p->fresh = 0;
    p->used = 0;
}

/* Allocates an object (contents undefined). Returns 0 when all are in use. */
TOEC_INLINE void *toec_pool_get(struct toec_pool *p)
{
    void *item = p->free;

    if (item)
        memcpy(&p->free, item, sizeof(p->free));
    else if (p->fresh < p->total)
        item = p->items + (toec_uptr)p->size * p->fresh++;
    else
        return 0;
    p->used++;
    return item;
}

TOEC_INLINE void toec_pool_put(struct toec_pool *p, void *item)
{
    memcpy(item, &p->free, sizeof(p->free));
    p->free = item;
    p->used--;
}

/* Converts between an object and its index, 0..total-1. */
TOEC_INLINE toec_u32 toec_pool_index(const struct toec_pool *p, const void *item)
{
    return (toec_u32)((toec_uptr)((const toec_u8 *)item - p->items) / p->size);
}

TOEC_INLINE void *toec_pool_at(const struct toec_pool *p, toec_u32 index)
{
    return p->items + (toec_uptr)p->size * index;
}

#endif
