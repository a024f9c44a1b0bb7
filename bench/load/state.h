/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - the state of a client: the run, and the connections, clock and schedule of a thread.
 *
 * An exchange is a request and its answer; with a connection for each (fresh) it includes the
 * connect and the close. In the closed loop a connection begins the next exchange when the last one
 * is over. In the open loop requests are due at a constant rate, on the connections in turn. A
 * request that is due on a busy connection waits, and its latency counts from when it was due (no
 * coordinated omission).
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
    CONN_FREE,       /* no exchange (fresh: no socket either) */
    CONN_REQUESTED,  /* request or a part of it sent, answer incomplete */
    CONN_ENDING,     /* answered; waiting for the peer's FIN */
    CONN_STREAM,     /* bulk: sends or receives */
    CONN_COUNTED     /* bulk up: our FIN is sent; waiting for the sink's count and FIN */
};

/* An exchange of the closed loop touches only the first cache line: with many connections each line
 * is a cache miss. */
struct conn {
    int fd; /* -1: none */
    uint8_t state;
    bool wants_out, queued, idle;
    bool busy;              /* an exchange or a stream is in progress */
    uint32_t index;         /* among the active connections */
    uint64_t started;       /* when the exchange began, or was due */
    uint64_t out_at, in_at; /* stream offsets */
    size_t out_left, in_left;
    struct conn *next_ready;
    uint64_t due, taken; /* open loop: requests due so far, and begun ones */
    struct http_answer http;
} __attribute__((aligned(64)));
_Static_assert(sizeof(void *) != 8 || offsetof(struct conn, due) <= 64, "one cache line");

struct run {
    const struct load_options *o;
    pthread_barrier_t ready; /* all connections are open */
    int failed;              /* a worker could not connect: no worker measures */
    atomic_uint alive;       /* active connections of all workers that are not dead */
    atomic_int gave_up;      /* no connection is left: all workers end */
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
    uint64_t ended; /* actual end: t_end, or earlier */
    double gap;     /* open loop: nanoseconds between two requests of this thread */
    uint64_t issued;
    uint32_t under_way; /* exchanges (bulk: streams) in progress */
    uint32_t alive;     /* active connections that are not dead */
    uint32_t failed_in_row, next_port, next_to;
    uint64_t reported_second;               /* of the last progress report */
    bool stopping, coarse;                  /* coarse: no epoll_pwait2(), sleep in milliseconds */
    int64_t expect_length;                  /* http: of the body; -1: unknown */
    uint8_t *first_body;                    /* http --verify: expected body, */
    uint64_t first_known;                   /* ... known up to here */
    uint32_t *order;                        /* --at-once: the order of connections, */
    uint32_t turn;                          /* ... and the next place in it */
    struct conn *ready_first, **ready_last; /* queue of connections to begin an exchange */
    uint8_t *buffer;
    struct tally tally;
};

#endif
