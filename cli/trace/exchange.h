/* SPDX-License-Identifier: Apache-2.0 */
/* exchange.h - the moments of an exchange that a TOE reports, and the parts between them. */
#ifndef TOE_CLI_TRACE_EXCHANGE_H
#define TOE_CLI_TRACE_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order in which they happen. */
enum moment { BEFORE, IN, EVENT, TAKEN, READ, WRITE, POSTED, COMMAND, OUT, ACKED, MOMENTS };

/* The names of the moments in the answer of a TOE. */
extern const char *const exchange_moments[MOMENTS];

/* CLOCK_MONOTONIC in ns; 0: not known. */
struct exchange {
    uint64_t at[MOMENTS];
    uint32_t bytes_in, bytes_out;
};

/* A part of an exchange. */
struct part {
    const char *name; /* in JSON */
    enum moment from, to;
    bool within;        /* between the request's arrival and the answer's departure */
    const char *what;   /* for people */
    const char *colour; /* in the picture, if it is drawn; else NULL */
};

#define PARTS 10
extern const struct part exchange_parts[PARTS];

/* Returns whether both ends of a part are known, with its length in ns. */
static inline bool exchange_length(const struct exchange *x, const struct part *p, uint64_t *ns)
{
    if (x->at[p->from] == 0 || x->at[p->to] < x->at[p->from])
        return false;
    *ns = x->at[p->to] - x->at[p->from];
    return true;
}

/* The lengths of a part over exchanges, ns. */
struct summary {
    size_t count;
    uint64_t min, median, p99, max, sum;
};

/* Sums up a part. Returns false without memory. */
bool exchange_summary(const struct exchange *x, size_t n, const struct part *p,
                      struct summary *out);

#endif
