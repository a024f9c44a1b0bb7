/* SPDX-License-Identifier: Apache-2.0 */
/* model.h - what `toehold top` shows: two looks at a TOE, and the rates between them. */
#ifndef TOE_CLI_TOP_MODEL_H
#define TOE_CLI_TOP_MODEL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* By what flows are sorted, the largest first; ends are sorted by name. */
enum top_sort { TOP_TX, TOP_RX, TOP_RETRANS, TOP_RTT, TOP_CWND, TOP_QUEUE, TOP_SORTS };

/* The rates are per second, since the look before. */
struct top_flow {
    json_t *entry; /* as toehold flows --json has it; owned */
    char id[64];   /* "" if the TOE reports none */
    char local[64], remote[64];
    double tx, rx;  /* bytes of payload */
    double retrans; /* retransmitted segments */
};

struct top_engine {
    long long id;
    double cpu, polling; /* share of the time, percent; < 0: unknown */
    double rx, tx;       /* frames */
    double rx_bytes, tx_bytes;
    double opened; /* connections */
    long long flows;
};

/* A counter of drops or refusals that has grown since the look before, or is not 0. */
struct top_drop {
    const char *name, *help; /* of the look's JSON */
    long long engine;
    double rate;
    long long total;
};

struct top_look {
    json_t *stats; /* answer to TOEDEV_HELLO_QUERY; owned */
    double at;     /* CLOCK_MONOTONIC, seconds */
    bool first;    /* there was no look before: rates are 0 */
    struct top_flow *flows;
    size_t flow_count;
    struct top_engine *engines;
    size_t engine_count;
    struct top_drop *drops;
    size_t drop_count;
};

/* Looks at the TOE at path; before: the last look, or NULL, whose flows it sorts by id. Returns an
 * exit code, with *out empty and the reason in why. */
int top_look(const char *path, struct top_look *before, struct top_look *out, char *why,
             size_t size);
void top_free(struct top_look *l);
void top_sort(struct top_look *l, enum top_sort by, bool reverse);
/* Returns the name of a sorting for people and options: "tx". */
const char *top_sort_name(enum top_sort by);
/* Returns a number of an entry. */
long long top_number(const json_t *entry, const char *name);
const char *top_word(const json_t *entry, const char *name);
/* Writes a rate with a unit prefix, at most 6 characters: "12.3k". */
const char *top_rate(double v, char text[16]);

#endif
