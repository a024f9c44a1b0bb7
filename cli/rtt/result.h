/* SPDX-License-Identifier: Apache-2.0 */
/* result.h - the result of a measurement: counts, times, and their source. */
#ifndef TOE_CLI_RESULT_H
#define TOE_CLI_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <toe/hist.h>

#define KEPT_MAX    (1u << 20) /* samples kept for CSV and plots */
#define COUNTS_MAX  24u
#define BINS_MAX    48u
#define FLOWS_MAX   (1u << 16) /* named flows; later ones are counted as FLOW_OTHERS */
#define FLOW_SLOTS  (2u * FLOWS_MAX)
#define FLOW_OTHERS "others"

/* The source of the times, part of every result. */
struct source {
    const char *name;     /* the word of --source */
    char what[128];       /* "kernel time stamps of eth0" */
    char clock[128];      /* which clock, and where it is read */
    double resolution_ns; /* of one stamp; 0: unknown */
};

struct sample {
    uint64_t at_ns;  /* of the answer, since the measurement began */
    uint64_t rtt_ns; /* UINT64_MAX: lost */
    uint64_t seq;    /* of the probe, or of the sample */
    uint32_t flow;   /* index in flows; 0 for probes */
};

/* The samples of interval_ns. */
struct interval {
    uint64_t at_ns;
    uint64_t samples;
    double sum;
    uint64_t min, max;
};

struct count {
    const char *name, *text;
    uint64_t value;
};

struct result {
    struct source source;
    char measured[192]; /* "UDP, 64 bytes to 10.0.0.1:7" */
    uint64_t began_ns, length_ns;
    struct hist *hist;
    double sum, squares; /* ns, ns^2 */
    uint64_t min, max;
    struct sample *kept;
    size_t kept_count, kept_room;
    uint64_t not_kept; /* samples without room, or that the source reports only in sums */
    struct interval *intervals;
    size_t interval_count, interval_room;
    uint64_t interval_ns;
    struct count counts[COUNTS_MAX];
    unsigned count_count;
    char **flows;
    size_t flow_count;
    uint32_t *flow_index; /* hash table of names: index in flows plus one; 0: free */
    bool no_memory;
};

bool result_init(struct result *r, uint64_t interval_ns);
void result_free(struct result *r);
void result_sample(struct result *r, uint64_t at_ns, uint64_t rtt_ns, uint64_t seq, uint32_t flow);
/* Adds n samples of about this time to the histogram; result_totals() adds them to the sums. */
void result_bin(struct result *r, uint64_t rtt_ns, uint64_t n);
void result_totals(struct result *r, uint64_t at_ns, uint64_t n, double sum, double squares,
                   uint64_t min, uint64_t max);
/* Keeps a sample for CSV and plots that is in the totals already. */
void result_keep(struct result *r, uint64_t at_ns, uint64_t rtt_ns, uint64_t seq, uint32_t flow);
void result_lost(struct result *r, uint64_t at_ns, uint64_t seq);
/* Returns a counter by name; creates it at the first call. */
uint64_t *result_count(struct result *r, const char *name, const char *text);
uint64_t result_counted(const struct result *r, const char *name);
/* Returns the index of a flow by its name; adds it at the first call. */
uint32_t result_flow(struct result *r, const char *name);

uint64_t result_samples(const struct result *r);
double result_mean(const struct result *r);
double result_deviation(const struct result *r);

/* Divides the times into `want` bins of equal width, or of exponential width when they spread far.
 * Returns the number of bins. */
struct bin {
    uint64_t from, to; /* from <= time < to */
    uint64_t count;
};
unsigned result_bins(const struct result *r, struct bin bins[BINS_MAX], unsigned want);

#endif
