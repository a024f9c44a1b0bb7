/* SPDX-License-Identifier: Apache-2.0 */
/*
 * small_pool.c - netio's pool of frames for fuzz targets, in place of pool_init() and pool_free()
 * (ld --wrap): few frames, so that an input costs no megabytes and pools run empty, in memory of
 * their own, so that AddressSanitizer sees where the pool ends.
 */
#include "../../netio/src/pool.h"

#include "fuzz.h"

#define MOST_BYTES 65536u

int __wrap_pool_init(struct pool *p, uint32_t frame_size, uint32_t count);
void __wrap_pool_free(struct pool *p);

int __wrap_pool_init(struct pool *p, uint32_t frame_size, uint32_t count)
{
    uint32_t i;

    p->frame_size = frame_size;
    p->count = count < MOST_BYTES / frame_size ? count : MOST_BYTES / frame_size;
    p->mem_size = (size_t)frame_size * p->count;
    p->top = 0;
    p->mem = aligned_alloc(4096, p->mem_size);
    p->stack = calloc(p->count, sizeof(*p->stack));
    FUZZ_CHECK(p->mem && p->stack);
    for (i = p->count; i > 0; i--)
        pool_put(p, (i - 1) * frame_size);
    return 0;
}

void __wrap_pool_free(struct pool *p)
{
    free(p->mem);
    free(p->stack);
    memset(p, 0, sizeof(*p));
}
