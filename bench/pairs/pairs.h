/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairs.h - closed pairs for bench/scaling.py: two engines on a wire of their own, each with a host
 * on a queue pair, all in one thread pinned to one core.
 *
 *     host x -- engine A ==== wire ==== engine B -- host y
 *
 * y asks over each of its connections, x answers, y asks again. Pairs are made in the main thread,
 * as toed makes its engines, and share nothing.
 */
#ifndef PAIRS_H
#define PAIRS_H

#include "bench.h"

#define PAIR_BYTES_MAX 16384u

/* When all count: from when the last of them is warm. */
struct pairs_start {
    atomic_uint cold;
    atomic_ullong from; /* 0: not yet */
};

/* What a pair's thread does, and finds. Times are of engine_clock(). */
struct pair_run {
    int cpu;
    uint32_t connections, bytes; /* of a request, and of its answer; 8..PAIR_BYTES_MAX */
    uint64_t time;               /* how long it counts */
    struct pairs_start *start;
    uint64_t answered, ns, cpu_ns; /* while it did */
    const char *error;             /* 0, or why there is no result */
};

struct pair;

/* folder: where the wire's socket is made; index: of the pair. NULL with a message on stderr. */
struct pair *pair_new(const char *folder, unsigned index, const struct pair_run *run);
/* In the pair's thread: opens the connections, warms up, counts. */
void pair_go(struct pair *p, struct pair_run *run);
void pair_free(struct pair *p);

#endif
