/* SPDX-License-Identifier: Apache-2.0 */
/* result.c - adds up samples (result.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "result.h"

bool result_init(struct result *r, uint64_t interval_ns)
{
    r->hist = hist_new();
    r->interval_ns = interval_ns;
    r->min = UINT64_MAX;
    return r->hist != NULL;
}

void result_free(struct result *r)
{
    size_t i;

    for (i = 0; i < r->flow_count; i++)
        free(r->flows[i]);
    free(r->flows);
    free(r->flow_index);
    free(r->hist);
    free(r->kept);
    free(r->intervals);
}

/* Grows an array for one more element. Returns NULL and sets no_memory when it cannot. */
static void *one_more(struct result *r, void *array, size_t count, size_t *room, size_t size)
{
    size_t want = *room ? *room * 2 : 256;
    void *p;

    if (count < *room)
        return array;
    p = realloc(array, want * size);
    if (!p) {
        r->no_memory = true;
        return NULL;
    }
    *room = want;
    return p;
}

static void into_interval(struct result *r, uint64_t at_ns, uint64_t n, double sum, uint64_t min,
                          uint64_t max)
{
    uint64_t start = at_ns - at_ns % r->interval_ns;
    struct interval *i = r->interval_count ? &r->intervals[r->interval_count - 1] : NULL;

    if (!i || start > i->at_ns) {
        void *p = one_more(r, r->intervals, r->interval_count, &r->interval_room, sizeof *i);

        if (!p)
            return;
        r->intervals = p;
        i = &r->intervals[r->interval_count++];
        *i = (struct interval){.at_ns = start, .min = UINT64_MAX};
    }
    i->samples += n;
    i->sum += sum;
    i->min = min < i->min ? min : i->min;
    i->max = max > i->max ? max : i->max;
}

void result_keep(struct result *r, uint64_t at_ns, uint64_t rtt_ns, uint64_t seq, uint32_t flow)
{
    void *p;

    if (r->kept_count >= KEPT_MAX ||
        !(p = one_more(r, r->kept, r->kept_count, &r->kept_room, sizeof *r->kept))) {
        r->not_kept++;
        return;
    }
    r->kept = p;
    r->kept[r->kept_count++] = (struct sample){at_ns, rtt_ns, seq, flow};
}

void result_sample(struct result *r, uint64_t at_ns, uint64_t rtt_ns, uint64_t seq, uint32_t flow)
{
    hist_record(r->hist, rtt_ns);
    result_totals(r, at_ns, 1, (double)rtt_ns, (double)rtt_ns * (double)rtt_ns, rtt_ns, rtt_ns);
    result_keep(r, at_ns, rtt_ns, seq, flow);
}

void result_bin(struct result *r, uint64_t rtt_ns, uint64_t n)
{
    if (n)
        hist_record_many(r->hist, rtt_ns, n);
}

void result_totals(struct result *r, uint64_t at_ns, uint64_t n, double sum, double squares,
                   uint64_t min, uint64_t max)
{
    if (n == 0)
        return;
    r->sum += sum;
    r->squares += squares;
    r->min = min < r->min ? min : r->min;
    r->max = max > r->max ? max : r->max;
    into_interval(r, at_ns, n, sum, min, max);
}

void result_lost(struct result *r, uint64_t at_ns, uint64_t seq)
{
    result_keep(r, at_ns, UINT64_MAX, seq, 0);
}

uint64_t *result_count(struct result *r, const char *name, const char *text)
{
    unsigned i;

    for (i = 0; i < r->count_count; i++)
        if (!strcmp(r->counts[i].name, name))
            return &r->counts[i].value;
    if (r->count_count < COUNTS_MAX)
        i = r->count_count++;
    else
        i = COUNTS_MAX - 1; /* not reached: COUNTS_MAX exceeds the number of counters */
    r->counts[i] = (struct count){name, text, 0};
    return &r->counts[i].value;
}

uint64_t result_counted(const struct result *r, const char *name)
{
    unsigned i;

    for (i = 0; i < r->count_count; i++)
        if (!strcmp(r->counts[i].name, name))
            return r->counts[i].value;
    return 0;
}

/* Returns the index slot of a name, or the free slot for it. */
static size_t flow_slot(const struct result *r, const char *name)
{
    size_t h = 2166136261u;
    const char *p;

    for (p = name; *p; p++)
        h = (h ^ (unsigned char)*p) * 16777619u;
    while (r->flow_index[h % FLOW_SLOTS] &&
           strcmp(r->flows[r->flow_index[h % FLOW_SLOTS] - 1], name) != 0)
        h++;
    return h % FLOW_SLOTS;
}

uint32_t result_flow(struct result *r, const char *name)
{
    size_t at;
    char **p;

    if (!r->flow_index)
        r->flow_index = calloc(FLOW_SLOTS, sizeof *r->flow_index);
    if (!r->flow_index) {
        r->no_memory = true;
        return 0;
    }
    at = flow_slot(r, name);
    if (!r->flow_index[at] && r->flow_count >= FLOWS_MAX - 1)
        at = flow_slot(r, name = FLOW_OTHERS);
    if (r->flow_index[at])
        return r->flow_index[at] - 1;
    p = realloc(r->flows, (r->flow_count + 1) * sizeof *p);
    if (p)
        r->flows = p;
    if (!p || !(p[r->flow_count] = strdup(name))) {
        r->no_memory = true;
        return 0;
    }
    r->flow_index[at] = (uint32_t)++r->flow_count;
    return (uint32_t)r->flow_count - 1;
}

uint64_t result_samples(const struct result *r)
{
    return r->hist->total;
}

double result_mean(const struct result *r)
{
    return r->hist->total ? r->sum / (double)r->hist->total : 0;
}

/* Returns the standard deviation of the population. */
double result_deviation(const struct result *r)
{
    double n = (double)r->hist->total, mean = result_mean(r);
    double variance = n > 0 ? r->squares / n - mean * mean : 0;

    return variance > 0 ? sqrt(variance) : 0;
}

/* Returns edge i of n between low and high. */
static uint64_t edge(uint64_t low, uint64_t high, unsigned i, unsigned n, bool wide)
{
    double part = (double)i / n;

    if (i == 0)
        return low;
    if (i == n)
        return high;
    if (wide)
        return (uint64_t)((double)low * pow((double)high / (double)low, part));
    return low + (uint64_t)((double)(high - low) * part);
}

static uint64_t below(const struct result *r, uint64_t v)
{
    return r->hist->total - hist_at_least(r->hist, v);
}

unsigned result_bins(const struct result *r, struct bin bins[BINS_MAX], unsigned want)
{
    uint64_t low = r->min, high = r->max + 1, before = 0;
    unsigned i, n = 0;
    bool wide;

    if (r->hist->total == 0)
        return 0;
    if (want > BINS_MAX)
        want = BINS_MAX;
    if (high - low < want)
        want = (unsigned)(high - low);
    low = low ? low : 1;
    wide = high / low >= 20;
    for (i = 0; i < want; i++) {
        uint64_t to = edge(low, high, i + 1, want, wide), upto;

        upto = i + 1 == want ? r->hist->total : below(r, to);
        bins[n++] = (struct bin){edge(low, high, i, want, wide), to, upto - before};
        before = upto;
    }
    return n;
}
