/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange.h - the times of exchanges on one flow, for `toehold trace FLOW --latency`: when a
 * request came in, passed the TOE, the ring, libtoe and the program, and when its answer left. A
 * request is what arrives after an answer; an answer is what the program sends after a request.
 * Clients have the same, with the roles changed: the answer that a program receives precedes its
 * next request.
 *
 * At most one flow of an engine is timed, while a tool reads (EXCHANGE_LEASE). The host's part
 * comes from the doorbell page (struct toedev_stamps); it is checked for order, and used for
 * nothing else. Other flows pay a comparison with engine.timed at each of the hooks below.
 */
#ifndef ENGINE_EXCHANGE_H
#define ENGINE_EXCHANGE_H

#include <stdint.h>

#include "frames/engine_state.h"
#include "qp.h"

#define EXCHANGES      512u            /* kept; a power of two */
#define EXCHANGE_LEASE (10 * NS_PER_S) /* without a reader */

/* CLOCK_MONOTONIC in ns; 0: not known. Those known are in this order. */
enum exchange_time {
    EXCHANGE_BEFORE,  /* the answer before left; 0: the first exchange */
    EXCHANGE_IN,      /* last segment of the request, the time of the engine's round */
    EXCHANGE_EVENT,   /* its DATA_RECEIVED was written */
    EXCHANGE_TAKEN,   /* ... and taken by the host: the flow is readable */
    EXCHANGE_READ,    /* the program has read */
    EXCHANGE_WRITE,   /* the program's call that sends began */
    EXCHANGE_POSTED,  /* its SEND was about to be put into the ring */
    EXCHANGE_COMMAND, /* the engine took it */
    EXCHANGE_OUT,     /* the first frame of the answer was handed to the back end */
    EXCHANGE_ACKED,   /* all of that SEND is acknowledged, the time of the engine's round */
    EXCHANGE_TIMES
};

struct exchange {
    uint64_t at[EXCHANGE_TIMES];
    uint32_t bytes_in, bytes_out;
};

enum exchange_phase {
    EXCHANGE_IDLE,    /* nothing since the timing began */
    EXCHANGE_ASKED,   /* the host was notified of data */
    EXCHANGE_SENDING, /* SEND taken */
    EXCHANGE_LEAVING, /* its first frame is written, and not flushed yet */
    EXCHANGE_ANSWERED /* ... flushed */
};

struct exchanges {
    uint32_t ring, serial;   /* the flow (trace_id()) */
    uint64_t until;          /* end of the lease */
    uint64_t (*clock)(void); /* engine_clock() */
    uint64_t head;           /* exchanges before the current one; n is at n mod EXCHANGES */
    enum exchange_phase phase;
    uint64_t arrived; /* data without a notification: when; 0: none */
    uint32_t arrived_bytes;
    uint32_t unacked; /* bytes up to the end of the first SEND of the answer */
    struct exchange now, done[EXCHANGES];
};

/* Times the flow of s from now on, or renews the lease. Returns 0; -1 without memory; 1 when
 * another flow's lease has not ended. In the engine's thread, as all here. */
int exchange_begin(struct engine *e, struct slot *s);
/* Ends the timing of engine.timed; what was measured stays until the next begin. */
void exchange_end(struct engine *e);
/* Copies exchanges into out, EXCHANGES + 1 at most, the current one if its answer has left. Returns
 * how many, and the number of the first. */
uint32_t exchange_copy(const struct exchanges *x, struct exchange *out, uint64_t *first);

/* Hooks, of engine.timed only. */
void exchange_event(struct engine *e, enum toec_event event, uint32_t bytes);
void exchange_notified(struct engine *e); /* DATA_RECEIVED is about to be written */
void exchange_send(struct engine *e, uint32_t bytes);
void exchange_frame(struct engine *e);   /* a frame with payload was written */
void exchange_flushed(struct engine *e); /* the back end has sent what was written */

#endif
