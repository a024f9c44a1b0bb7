/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ideal.h - the ideal TOE: toed with nothing below its rings. Its engine, queue pairs, checks and
 * attach protocol are those of engine/; stack.c replaces core/ and wire.c replaces netio/.
 * Connections "open" as soon as there is a listener, requests are placed into the receive buffers,
 * and answers are acknowledged in the round that sees them. The measured rate is the limit that the
 * host side sets.
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
    /* settings */
    uint32_t connections, per_connection; /* requests on each, 0: no end */
    const char *request;
    uint32_t request_size;
    uint64_t warmup_ns, time_ns, timeout_ns;
    double rate; /* requests a second; 0: closed loop */

    /* results; owned by the engine's thread until done */
    uint64_t asked, answered; /* including the warm-up */
    uint64_t in_window;       /* answered within the measured time */
    uint64_t bytes;           /* of answers, within it */
    uint64_t opened, unanswered;
    uint64_t wrong_length, reset; /* answers longer than the first; connections the host reset */
    int status;                   /* of the first answer */
    uint32_t answer_size;         /* head and body of it; 0: unknown */
    uint64_t t_record, t_end;     /* 0: not begun */
    uint64_t ended;
    struct hist *latency;
    const char *failure; /* the reason why nothing was measured */
    int done;            /* atomic: the stack is finished */
};

#endif
