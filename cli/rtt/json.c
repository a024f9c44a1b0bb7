/* SPDX-License-Identifier: Apache-2.0 */
/* json.c - a result as JSON. Times are nanoseconds. */
#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

#include "json.h"

static json_t *number(uint64_t v)
{
    return json_integer((json_int_t)v);
}

static json_t *times(const struct result *r)
{
    static const struct {
        const char *name;
        double percent;
    } percents[] = {{"50", 50}, {"90", 90}, {"99", 99}, {"99.9", 99.9}, {"99.99", 99.99}};
    json_t *p = json_object();
    size_t i;

    if (result_samples(r) == 0) {
        json_decref(p);
        return json_null();
    }
    for (i = 0; i < sizeof percents / sizeof percents[0]; i++)
        json_object_set_new(p, percents[i].name,
                            number(hist_percentile(r->hist, percents[i].percent)));
    return json_pack("{s:o, s:f, s:o, s:o, s:f, s:o}", "min", number(r->min), "mean",
                     result_mean(r), "max", number(r->max), "spread", number(r->max - r->min),
                     "deviation", result_deviation(r), "percentiles", p);
}

static json_t *histogram(const struct result *r)
{
    struct bin bins[BINS_MAX];
    unsigned n = result_bins(r, bins, BINS_MAX), i;
    json_t *list = json_array();

    for (i = 0; i < n; i++)
        json_array_append_new(list, json_pack("{s:o, s:o, s:o}", "from", number(bins[i].from), "to",
                                              number(bins[i].to), "count", number(bins[i].count)));
    return list;
}

static json_t *intervals(const struct result *r)
{
    json_t *list = json_array();
    size_t i;

    for (i = 0; i < r->interval_count; i++) {
        const struct interval *v = &r->intervals[i];

        json_array_append_new(list, json_pack("{s:f, s:o, s:f, s:o, s:o}", "at_s",
                                              (double)v->at_ns / 1e9, "samples", number(v->samples),
                                              "mean", v->sum / (double)v->samples, "min",
                                              number(v->min), "max", number(v->max)));
    }
    return list;
}

struct flow_sum {
    uint64_t n, min, max;
    double sum;
};

/* Sums up each connection from the samples that are kept. */
static json_t *flows(const struct result *r)
{
    struct flow_sum *sums = calloc(r->flow_count + 1, sizeof *sums), *f;
    json_t *list = json_array();
    size_t i;

    for (i = 0; sums && i < r->kept_count; i++) {
        const struct sample *s = &r->kept[i];

        if (s->flow >= r->flow_count || s->rtt_ns == UINT64_MAX)
            continue;
        f = &sums[s->flow];
        f->min = !f->n || s->rtt_ns < f->min ? s->rtt_ns : f->min;
        f->max = s->rtt_ns > f->max ? s->rtt_ns : f->max;
        f->sum += (double)s->rtt_ns;
        f->n++;
    }
    for (i = 0; sums && i < r->flow_count; i++) {
        f = &sums[i];
        if (f->n)
            json_array_append_new(list,
                                  json_pack("{s:s, s:o, s:o, s:f, s:o}", "flow", r->flows[i],
                                            "samples", number(f->n), "min", number(f->min), "mean",
                                            f->sum / (double)f->n, "max", number(f->max)));
    }
    free(sums);
    return list;
}

void json_result(const struct rtt *rtt)
{
    const struct result *r = &rtt->result;
    json_t *counts = json_object(), *root;
    unsigned i;

    for (i = 0; i < r->count_count; i++)
        json_object_set_new(counts, r->counts[i].name, number(r->counts[i].value));
    root = json_pack(
        "{s:{s:s, s:s, s:s, s:o}, s:s, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "source", "name",
        r->source.name, "what", r->source.what, "clock", r->source.clock, "resolution_ns",
        r->source.resolution_ns > 0 ? json_real(r->source.resolution_ns) : json_null(), "measured",
        r->measured, "seconds", (double)r->length_ns / 1e9, "samples", number(result_samples(r)),
        "counts", counts, "rtt_ns", times(r), "histogram", histogram(r), "intervals", intervals(r),
        "flows", flows(r), "samples_not_kept", number(r->not_kept));
    json_dumpf(root, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(root);
}
