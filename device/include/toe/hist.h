/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hist.h - a histogram of times with three significant digits, in the layout of HdrHistogram
 * (hdrhistogram.org), so its tools can read the logs of `toehold bench` (bench/load/hlog.c). Debian
 * 12 has no C library of it.
 *
 * Values are nanoseconds from 0 to an hour; larger ones are counted as an hour. The counters of a
 * value v are in buckets of 2048 equal steps, each bucket twice as wide as the one before.
 */
#ifndef TOE_HIST_H
#define TOE_HIST_H

#include <stddef.h>
#include <stdint.h>

#define HIST_DIGITS  3
#define HIST_LOWEST  1
#define HIST_HIGHEST 3600000000000ll /* an hour */
/* 2048 steps resolve 2 * 10^3; 32 buckets reach 2^42 > an hour; each but the first adds half. */
#define HIST_SUB_BITS 11u
#define HIST_HALF     (1u << (HIST_SUB_BITS - 1))
#define HIST_BUCKETS  32u
#define HIST_COUNTS   ((HIST_BUCKETS + 1) * HIST_HALF)

struct hist {
    uint64_t total;
    uint64_t min, max; /* as recorded, not as counted; min is UINT64_MAX while total is 0 */
    double sum;
    uint32_t low, high; /* counters in use: [low, high); low >= high: none */
    uint64_t counts[HIST_COUNTS];
};

/* The index of a value's counter, and the largest value with the same counter. */
static inline uint32_t hist_index(uint64_t v)
{
    uint32_t bucket;

    if (v > (uint64_t)HIST_HIGHEST)
        v = HIST_HIGHEST;
    bucket = 63u - (uint32_t)__builtin_clzll(v | ((1u << HIST_SUB_BITS) - 1)) - (HIST_SUB_BITS - 1);
    return (bucket << (HIST_SUB_BITS - 1)) + (uint32_t)(v >> bucket);
}
uint64_t hist_highest_of(uint32_t index);

static inline void hist_record_many(struct hist *h, uint64_t v, uint64_t n)
{
    uint32_t i = hist_index(v);

    h->counts[i] += n;
    h->total += n;
    h->sum += (double)v * (double)n;
    if (v < h->min)
        h->min = v;
    if (v > h->max)
        h->max = v;
    if (i < h->low)
        h->low = i;
    if (i >= h->high)
        h->high = i + 1;
}

static inline void hist_record(struct hist *h, uint64_t v)
{
    hist_record_many(h, v, 1);
}

struct hist *hist_new(void);     /* NULL: no memory; free() it */
void hist_reset(struct hist *h); /* empty again */
void hist_add(struct hist *to, const struct hist *from);
/* Returns the value that `percent` of the recorded ones do not exceed, by HdrHistogram's
 * definition: the largest value of its counter, but not more than the largest recorded. 0 when
 * nothing is recorded. */
uint64_t hist_percentile(const struct hist *h, double percent);
/* Returns how many recorded values are at least v, by counters: exact to three digits. */
uint64_t hist_at_least(const struct hist *h, uint64_t v);

#endif
