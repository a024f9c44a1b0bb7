/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines.h - memory in cache lines of its own, for data that one core writes all the time: its
 * neighbours in the heap may be in use by another core (docs/ARCHITECTURE.md rule 4; SEEDS S4.5).
 */
#ifndef TOE_LINES_H
#define TOE_LINES_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LINE 64u

/* Returns count * size zeroed bytes in whole lines that hold nothing else; free() frees them. NULL:
 * no memory. */
static inline void *lines_calloc(size_t count, size_t size)
{
    size_t whole;
    void *p;

    if (__builtin_mul_overflow(count, size, &whole) || whole > SIZE_MAX - LINE)
        return NULL;
    whole = (whole + LINE - 1) / LINE * LINE;
    p = aligned_alloc(LINE, whole ? whole : LINE);
    return p ? memset(p, 0, whole) : NULL;
}

#endif
