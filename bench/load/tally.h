/* SPDX-License-Identifier: Apache-2.0 */
/* tally.h - counts of one thread; summed over the threads at the end. */
#ifndef LOAD_TALLY_H
#define LOAD_TALLY_H

#include <jansson.h>

#include <toe/hist.h>

/* Failures: errno values, and from 200 on those without an errno. */
enum {
    FAIL_ERRNOS = 200,
    FAIL_EOF = FAIL_ERRNOS, /* the peer closed during an answer */
    FAIL_MISMATCH,          /* unexpected bytes */
    FAIL_HTTP,              /* no HTTP, or an unsupported form */
    FAIL_STATUS,            /* unexpected status */
    FAIL_LENGTH,            /* unexpected length of an answer */
    FAIL_COUNT,             /* the sink's count differs from ours */
    FAIL_MAX
};
/* Returns the name of a failure, the key in JSON. */
const char *fail_name(int what);
/* Returns the failure as a clause for messages. */
const char *fail_text(int what);

/* One second of the measured time: the counters that are not 0. */
struct interval {
    uint64_t second;
    uint64_t bytes, max, min;
    double sum;
    uint32_t n;
    struct {
        uint32_t index;
        uint64_t count;
    } * counts;
};

struct tally {
    struct hist *now, *all; /* the current interval; earlier ones */
    struct interval *intervals;
    uint32_t interval_count, interval_room;
    uint64_t second; /* of the current interval */
    uint64_t interval_bytes;
    uint64_t sent, answered;  /* all requests, including warm-up and drain */
    uint64_t in_window;       /* answers within the measured time */
    uint64_t bytes;           /* bulk: all payload, including warm-up and drain */
    uint64_t bytes_in_window; /* payload within it, both directions */
    uint64_t unanswered; /* no answer at the end; those due within it are recorded with their age */
    uint64_t connections; /* established */
    uint64_t idle_lost;
    uint64_t failed;
    uint64_t failures[FAIL_MAX];
    uint64_t statuses[1000];
    int first_failure;
    uint64_t zc_completed, zc_copied;      /* MSG_ZEROCOPY: completions, and copied ones of them */
    uint64_t resident, resident_connected; /* bytes of the process, before and after connecting */
};

int tally_init(struct tally *t);
void tally_free(struct tally *t);
void tally_fail(struct tally *t, int what);
/* Stores the current interval and begins that of `second`. Returns -1 when there is no memory. */
int tally_next(struct tally *t, uint64_t second);
/* Adds the counts and stored intervals of `from` to `to`. Returns -1 when there is no memory. */
int tally_add(struct tally *to, const struct tally *from);
/* Unpacks the histogram of an interval into an empty h. */
void interval_unpack(const struct interval *in, struct hist *h);

#endif
