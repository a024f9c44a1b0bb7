/* SPDX-License-Identifier: Apache-2.0 */
/* reach.h - puts a connection into any state of RFC 9293 3.3.2, for attacks on it. */
#ifndef REACH_H
#define REACH_H

#include "../tcptalk.h"

/* States that hold a connection, in the order of enum toec_state. */
#define FIRST_STATE TOEC_SYN_SENT
#define LAST_STATE  TOEC_TIME_WAIT

struct place {
    struct talk t;
    uint32_t seq; /* stream offset of the peer's next byte: RCV.NXT of the stack */
    uint32_t ack; /* ... of the stack's next byte: its SND.NXT */
};

/* The peer's side of a connection in this state; the stack's output is discarded. */
void reach(struct place *p, enum toec_state state);
/* ... of a stack with this value of toec_config.rfc1337. */
void reach_as(struct place *p, enum toec_state state, unsigned rfc1337);
/* Current state of the connection; TOEC_CLOSED when it has ended and left no TIME-WAIT. */
enum toec_state place_state(struct place *p);
/* A segment at these offsets from RCV.NXT and SND.NXT; polled. */
void strike(struct place *p, unsigned flags, int64_t seq, int64_t ack, uint32_t len);
void place_end(struct place *p);

#endif
