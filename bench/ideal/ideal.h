/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ideal.h - the ideal TOE: toed with nothing below its rings. Its engine, queue pairs, checks and
 * attach protocol are those of engine/; stack.c stands in the place of core/ and wire.c in that of
 * netio/. Connections "open" as soon as there is a listener, requests stand in the receive buffers
 * and answers are acknowledged in the round that sees them. What a program does over it is what
 * the host's side alone allows.
 */
#ifndef IDEAL_IDEAL_H
#define IDEAL_IDEAL_H

#include <stdbool.h>
#include <stdint.h>

#include <toe/core.h>
#include <toe/hist.h>

#include "http.h"

#define IDEAL_REQUEST_MAX 16384u /* and at most half of a receive buffer */

struct ideal {
    /* what is asked for */
    uint32_t connections, per_connection; /* requests on each, 0: no end */
    const char *request;
    uint32_t request_size;
    uint64_t warmup_ns, time_ns, timeout_ns;
    double rate; /* requests a second; 0: closed loop */

    /* what is found; the engine's thread's until done */
    uint64_t asked, answered; /* in all */
    uint64_t in_window;       /* answered within the measured time */
    uint64_t bytes;           /* of answers, within it */
    uint64_t opened, unanswered;
    uint64_t wrong_length, reset; /* answers longer than the first; connections the host reset */
    int status;                   /* of the first answer */
    uint32_t answer_size;         /* of it, head and body; 0: not known yet */
    uint64_t t_record, t_end;     /* 0: has not begun */
    uint64_t ended;
    struct hist *latency;
    const char *failure; /* why nothing was measured */
    int done;            /* atomic: the stack has nothing more to do */
};

/* stack.c: before the engine is made. */
void ideal_use(struct ideal *i);

/* wire.c: where the payload that toec_port_transmit() fetches goes; the stack reads the first
 * answer by it. */
struct netio *ideal_wire_new(void);
/* Takes what is sent from now on; NULL: nobody. */
void ideal_wire_reader(void (*read)(void *arg, const uint8_t *data, uint32_t n), void *arg);

#endif
