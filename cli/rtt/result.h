/* SPDX-License-Identifier: Apache-2.0 */
/* result.h - what a measurement found: counts, times, and where they are from. */
#ifndef TOE_CLI_RESULT_H
#define TOE_CLI_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <toe/hist.h>

#define KEPT_MAX    (1u << 20) /* samples kept one by one, for CSV and plots */
#define COUNTS_MAX  24u
#define BINS_MAX    48u
#define FLOWS_MAX   (1u << 16) /* told by name; those after them are one flow, FLOW_OTHERS */
#define FLOW_SLOTS  (2u * FLOWS_MAX)
#define FLOW_OTHERS "others"

/* Where times are from: said with every result. */
struct source {
    const char *name;     /* as --source has it */
    char what[128];       /* "kernel time stamps of eth0" */
    char clock[128];      /* whose clock, and where it is read */
    double resolution_ns; /* of one stamp; 0: not known */
};

struct sample {
    uint64_t at_ns;  /* since the measurement began; when it was answered, or known */
    uint64_t rtt_ns; /* UINT64_MAX: lost */
    uint64_t seq;    /* of the probe, or of the sample */
    uint32_t flow;   /* index in flows; of probes 0 */
};

/* A second of it, or what --every says. */
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
    char asked[192]; /* "UDP, 64 bytes to 10.0.0.1:7" */
    uint64_t began_ns, length_ns;
    struct hist *hist;
    double sum, squares; /* ns, ns^2 */
    uint64_t min, max;
    struct sample *kept;
    size_t kept_count, kept_room;
    uint64_t not_kept; /* samples, for want of room or as the source gives not all one by one */
    struct interval *intervals;
    size_t interval_count, interval_room;
    uint64_t interval_ns;
    struct count counts[COUNTS_MAX];
    unsigned count_count;
    char **flows;
    size_t flow_count;
    uint32_t *flow_index; /* by the hash of a name: its place in flows, plus one */
    bool no_memory;
};

bool result_init(struct result *r, uint64_t interval_ns);
void result_free(struct result *r);
void result_sample(struct result *r, uint64_t at_ns, uint64_t rtt_ns, uint64_t seq, uint32_t flow);
/* n samples of about this time; sum, squares, min and max are told by result_totals(). */
void result_bin(struct result *r, uint64_t rtt_ns, uint64_t n);
void result_totals(struct result *r, uint64_t at_ns, uint64_t n, double sum, double squares,
                   uint64_t min, uint64_t max);
/* One sample that is in the totals already, for CSV and plots. */
void result_keep(struct result *r, uint64_t at_ns, uint64_t rtt_ns, uint64_t seq, uint32_t flow);
void result_lost(struct result *r, uint64_t at_ns, uint64_t seq);
/* A counter by name, made when it is first asked for. */
uint64_t *result_count(struct result *r, const char *name, const char *text);
uint64_t result_counted(const struct result *r, const char *name);
/* The index of a flow by its name. */
uint32_t result_flow(struct result *r, const char *name);

uint64_t result_samples(const struct result *r);
double result_mean(const struct result *r);
double result_deviation(const struct result *r);

/* Bins for people: of equal width, or each as much wider as the one before where times spread far.
 * Returns how many. */
struct bin {
    uint64_t from, to; /* from <= time < to */
    uint64_t count;
};
unsigned result_bins(const struct result *r, struct bin bins[BINS_MAX], unsigned want);

#endif
