/* SPDX-License-Identifier: Apache-2.0 */
/* tally.h - what one thread counts; summed over threads when they have ended. */
#ifndef LOAD_TALLY_H
#define LOAD_TALLY_H

#include <jansson.h>

#include <toe/hist.h>

/* Failures: errno values, and from 200 on those that have none. */
enum {
    FAIL_ERRNOS = 200,
    FAIL_EOF = FAIL_ERRNOS, /* the peer closed in the middle */
    FAIL_MISMATCH,          /* other bytes than expected */
    FAIL_HTTP,              /* no HTTP answer, or one of a kind that is not read */
    FAIL_STATUS,            /* another status than expected */
    FAIL_LENGTH,            /* an answer of another length than expected */
    FAIL_COUNT,             /* the sink counted other than we sent */
    FAIL_MAX
};
const char *fail_name(int what);
/* The same for people. */
const char *fail_text(int what);

/* One second of the measured time: counters that are not 0. */
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
    struct hist *now, *all; /* the interval that runs; those before */
    struct interval *intervals;
    uint32_t interval_count, interval_room;
    uint64_t second; /* of the interval that runs */
    uint64_t interval_bytes;
    uint64_t sent, answered;  /* requests in all, warm-up and drain included */
    uint64_t in_window;       /* answers that came within the measured time */
    uint64_t bytes;           /* bulk: payload in all, warm-up and drain included */
    uint64_t bytes_in_window; /* payload that passed within it, both ways */
    uint64_t unanswered; /* no answer at the end; those due within it are recorded with their age */
    uint64_t connections; /* established */
    uint64_t idle_lost;
    uint64_t failed;
    uint64_t failures[FAIL_MAX];
    uint64_t statuses[1000];
    int first_failure;
    uint64_t told, told_copied; /* zero copy: sends that were told complete, and of them copied */
    uint64_t resident, resident_connected; /* bytes of the process, before and after connecting */
};

int tally_init(struct tally *t);
void tally_free(struct tally *t);
void tally_fail(struct tally *t, int what);
/* Puts the running interval away; the next is `second`. -1: no memory. */
int tally_next(struct tally *t, uint64_t second);
/* Adds from's counts and intervals to to; from's running interval was put away. -1: no memory. */
int tally_add(struct tally *to, const struct tally *from);
/* The histogram of one interval into an empty h. */
void interval_unpack(const struct interval *in, struct hist *h);

#endif
