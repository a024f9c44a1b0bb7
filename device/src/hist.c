/* SPDX-License-Identifier: Apache-2.0 */
/* hist.c - a histogram of times (toe/hist.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <toe/hist.h>

uint64_t hist_highest_of(uint32_t index)
{
    uint32_t bucket = index >> (HIST_SUB_BITS - 1);
    uint64_t step = index;

    /* The first bucket is used in full. Earlier buckets cover the lower half of each later one. */
    if (bucket > 0) {
        bucket--;
        step = (index & (HIST_HALF - 1)) + HIST_HALF;
    }
    return ((step + 1) << bucket) - 1;
}

void hist_reset(struct hist *h)
{
    if (h->low < h->high)
        memset(h->counts + h->low, 0, (h->high - h->low) * sizeof h->counts[0]);
    h->total = h->max = 0;
    h->min = UINT64_MAX;
    h->sum = 0;
    h->low = HIST_COUNTS;
    h->high = 0;
}

struct hist *hist_new(void)
{
    struct hist *h = calloc(1, sizeof *h);

    if (h)
        hist_reset(h);
    return h;
}

void hist_add(struct hist *to, const struct hist *from)
{
    uint32_t i;

    for (i = from->low; i < from->high; i++)
        to->counts[i] += from->counts[i];
    to->total += from->total;
    to->sum += from->sum;
    to->min = from->min < to->min ? from->min : to->min;
    to->max = from->max > to->max ? from->max : to->max;
    to->low = from->low < to->low ? from->low : to->low;
    to->high = from->high > to->high ? from->high : to->high;
}

uint64_t hist_percentile(const struct hist *h, double percent)
{
    /* Uses the next smaller double, as HdrHistogram does: 99.99 % of 20000 are 19998, and not one
     * more by rounding.
     */
    double exact = nextafter(percent, 0) * (double)h->total / 100.0;
    uint64_t want = (uint64_t)ceil(exact), seen = 0, v;
    uint32_t i;

    if (h->total == 0)
        return 0;
    want = want < 1 ? 1 : want;
    for (i = h->low; i < h->high; i++) {
        seen += h->counts[i];
        if (seen >= want)
            break;
    }
    v = hist_highest_of(i);
    return v < h->max ? v : h->max;
}

uint64_t hist_at_least(const struct hist *h, uint64_t v)
{
    uint32_t i = hist_index(v);
    uint64_t n = 0;

    for (i = i > h->low ? i : h->low; i < h->high; i++)
        n += h->counts[i];
    return n;
}
