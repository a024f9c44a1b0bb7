/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.c - a bounded pool of frames, last in, first out.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "pool.h"
#include "toe/lines.h"

int pool_init(struct pool *p, uint32_t frame_size, uint32_t count)
{
    void *mem;
    uint32_t i;

    memset(p, 0, sizeof(*p));
    p->mem_size = (size_t)frame_size * count;
    p->frame_size = frame_size;
    p->count = count;
    p->stack = lines_calloc(count, sizeof(*p->stack));
    if (!p->stack)
        return -1;
    /* Populated now: a page fault in the data path would cost more than the frame. */
    mem = mmap(NULL, p->mem_size, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (mem == MAP_FAILED) {
        free(p->stack);
        p->stack = NULL;
        return -1;
    }
    p->mem = mem;
    for (i = count; i > 0; i--)
        pool_put(p, (i - 1) * frame_size);
    return 0;
}

void pool_free(struct pool *p)
{
    if (p->mem)
        munmap(p->mem, p->mem_size);
    free(p->stack);
    memset(p, 0, sizeof(*p));
}
