/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_cwv.h - congestion window validation (RFC 7661): a window that the flow does not use is kept
 * for five minutes. It is neither increased nor discarded, and a loss then reduces it further. This
 * replaces the restart after idle time (RFC 5681 4.1).
 */
#ifndef TOE_TCP_CWV_H
#define TOE_TCP_CWV_H

#include "../base/base.h"

struct toec_stack;
struct toec_tcb;

/* State of pipeACK. */
enum toec_cwv_sampled {
    TOEC_CWV_UNDEFINED = 0,
    TOEC_CWV_BEGUN, /* undefined; the first sample is being taken */
    TOEC_CWV_DEFINED
};

struct toec_cwv {
    toec_u32 max[2];     /* pipeACK samples: maximum of the last half period, of this one */
    toec_u32 half_at;    /* stamp: start of this half period */
    toec_u32 sample_at;  /* stamp: start of the current sample */
    toec_u32 sample_una; /* ... SND.UNA at that time */
    toec_u32 nv_since;   /* tick: start of the non-validated phase; see nv */
    toec_u32 idle_since; /* tick (stamps wrap in 73 minutes): when the last byte was acknowledged */
    toec_u8 sampled;     /* enum toec_cwv_sampled */
    toec_u8 nv;          /* in the non-validated phase */
    toec_u8 nv_loss;     /* ... a loss was detected in it: adjust when recovery ends (nv_volume) */
    toec_u8 restarted;   /* data sent after idle time is not acknowledged yet */
};

void toec_cwv_start(struct toec_tcb *t, toec_time now);
/* Handles an ACK that advanced SND.UNA. */
void toec_cwv_acked(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* Returns not 0 when pipeACK is at least half of cwnd (RFC 7661 4.3). */
int toec_cwv_validated(const struct toec_tcb *t);
/* Returns the volume from which a reduction starts: the bytes outstanding, or pipeACK in the
 * non-validated phase if larger (RFC 7661 4.4.1). */
toec_u32 toec_cwv_loss(struct toec_tcb *t);
void toec_cwv_recovered(struct toec_tcb *t);
/* Returns the rate that pipeACK implies, bytes per 2^30 ns; 0: not known. */
toec_u64 toec_cwv_rate(const struct toec_tcb *t);
/* Handles new data after `idle` ticks with nothing outstanding. */
void toec_cwv_restart(struct toec_stack *s, struct toec_tcb *t, toec_u32 idle, toec_time now);

#endif
