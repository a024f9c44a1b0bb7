/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - the state of a client: its run, and of each thread the connections, clock, schedule.
 *
 * An exchange is a request and its answer; with a connection for each (fresh) also the connecting
 * before and the closing after. In the closed loop a connection begins the next exchange when the
 * one before is over. In the open loop requests are due at a constant rate, in turn on the
 * connections, whatever became of those before; one that is due on a connection in use waits
 * there, and its time counts from when it was due (no coordinated omission).
 */
#ifndef LOAD_STATE_H
#define LOAD_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "http.h"
#include "options.h"
#include "pattern.h"
#include "tally.h"

#define WORKER_BUFFER LOAD_PATTERN_MAX

enum conn_state {
    CONN_DEAD,       /* failed, or not opened yet */
    CONN_CONNECTING, /* before the measurement, or as the first part of an exchange */
    CONN_FREE,       /* no exchange under way (fresh: no socket either) */
    CONN_ASKED,      /* request or a part of it sent, answer not whole */
    CONN_ENDING,     /* answered; the peer's end is waited for */
    CONN_STREAM,     /* bulk: sends or receives */
    CONN_COUNTED     /* bulk up: we have ended, the sink's count and end are waited for */
};

/* An exchange of the closed loop touches the first cache line alone: with many connections each is
 * waited for. */
struct conn {
    int fd; /* -1: none */
    uint8_t state;
    bool wants_out, queued, idle;
    bool busy;              /* an exchange or a stream is under way */
    uint32_t index;         /* of those that exchange */
    uint64_t started;       /* when the exchange under way was begun, or was due */
    uint64_t out_at, in_at; /* stream offsets */
    size_t out_left, in_left;
    struct conn *next_ready;
    uint64_t due, taken; /* open loop: requests due so far, and of them begun */
    struct http_answer http;
} __attribute__((aligned(64)));
_Static_assert(sizeof(void *) != 8 || offsetof(struct conn, due) <= 64, "one cache line");

struct run {
    const struct load_options *o;
    pthread_barrier_t ready; /* all connections are there */
    int failed;              /* a worker could not connect: nobody measures */
    atomic_uint alive;       /* active connections of all workers that are not dead */
    atomic_int gave_up;      /* there is nothing left to measure with: all workers end */
    uint64_t t_start;        /* set by worker 0 between two barriers */
    double epoch_of_record;  /* seconds since 1970 when recording began */
};

struct worker {
    const struct load_options *o;
    struct run *run;
    pthread_t thread;
    uint32_t id;
    int ep;
    struct conn *conns; /* active ones, then idle ones */
    uint32_t active, idle;
    uint64_t now, t_start, t_record, t_end;
    uint64_t ended; /* when it really ended: t_end, or earlier */
    double gap;     /* open loop: nanoseconds between two requests of this thread */
    uint64_t issued;
    uint32_t under_way; /* exchanges begun and not over; bulk: streams */
    uint32_t alive;     /* active connections that are not dead */
    uint32_t failed_in_row, next_port, next_to;
    uint64_t told;                          /* progress: the second that was told last */
    bool stopping, coarse;                  /* coarse: the kernel sleeps in milliseconds alone */
    int64_t expect_length;                  /* http: of the body; -1: not known yet */
    uint8_t *first_body;                    /* http --verify: what every body must be, */
    uint64_t first_known;                   /* as far as one has come */
    uint32_t *order;                        /* --at-once: who is asked after whom, */
    uint32_t turn;                          /* ... and next */
    struct conn *ready_first, **ready_last; /* to begin an exchange as soon as it may */
    uint8_t *buffer;
    struct tally tally;
};

#endif
