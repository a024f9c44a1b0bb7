/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairs.h - closed pairs for bench/scaling.py: two engines on a private wire, each with a host
 * on a queue pair, all in one thread pinned to one core.
 *
 *     host x -- engine A ==== wire ==== engine B -- host y
 *
 * y sends a request on each connection, x answers, y sends the next. The main thread creates the
 * pairs, as toed creates its engines; they share nothing.
 */
#ifndef PAIRS_H
#define PAIRS_H

#include "bench.h"

#define PAIR_BYTES_MAX 16384u

/* The common start of counting: when the last pair is warm. */
struct pairs_start {
    atomic_uint cold;
    atomic_ullong from; /* 0: not begun */
};

/* Settings and results of a pair. Times are those of engine_clock(). */
struct pair_run {
    int cpu;
    uint32_t connections, bytes; /* of a request, and of its answer; 8..PAIR_BYTES_MAX */
    uint64_t time;               /* duration of counting */
    struct pairs_start *start;
    uint64_t answered, ns, cpu_ns; /* while counting */
    const char *error;             /* NULL, or the error */
};

struct pair;

/* Creates a pair; folder: for the wire's socket. Returns NULL after a message. */
struct pair *pair_new(const char *folder, unsigned index, const struct pair_run *run);
/* Opens the connections, warms up, counts. Runs in the pair's thread. */
void pair_go(struct pair *p, struct pair_run *run);
void pair_free(struct pair *p);

#endif
