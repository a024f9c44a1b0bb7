/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_cwv.h - congestion window validation (RFC 7661): a window that the flow does not use is kept
 * for five minutes, neither grown nor thrown away, and costs more when it turns out to be wrong.
 * It takes the place of the restart after idle time (RFC 5681 4.1).
 */
#ifndef TOE_TCP_CWV_H
#define TOE_TCP_CWV_H

#include "../base/base.h"

struct toec_stack;
struct toec_tcb;

/* Is there a pipeACK? */
enum toec_cwv_sampled {
    TOEC_CWV_UNDEFINED = 0,
    TOEC_CWV_BEGUN, /* no, the first sample is being taken */
    TOEC_CWV_DEFINED
};

struct toec_cwv {
    toec_u32 max[2];     /* pipeACK samples: most of the last half period, of this one */
    toec_u32 half_at;    /* stamp: this half period began */
    toec_u32 sample_at;  /* stamp: the sample being taken began */
    toec_u32 sample_una; /* ... with this SND.UNA */
    toec_u32 nv_since;   /* tick: the non-validated phase began; see nv */
    toec_u32 idle_since; /* tick, as stamps wrap in 73 minutes: the last byte was acknowledged */
    toec_u8 sampled;     /* enum toec_cwv_sampled */
    toec_u8 nv;          /* non-validated phase */
    toec_u8 nv_loss;     /* ... in which a loss was found: adjust when recovery ends (nv_volume) */
    toec_u8 restarted;   /* sending after idle time has not been acknowledged yet */
};

void toec_cwv_start(struct toec_tcb *t, toec_time now);
/* SND.UNA has moved. */
void toec_cwv_acked(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* Is at least half of cwnd known to be carried (RFC 7661 4.3)? */
int toec_cwv_validated(const struct toec_tcb *t);
/* What a reduction starts from: the bytes outstanding, or more when they vary (RFC 7661 4.4.1). */
toec_u32 toec_cwv_loss(struct toec_tcb *t);
void toec_cwv_recovered(struct toec_tcb *t);
/* What pipeACK says of the rate, bytes per 2^30 ns; 0: not known. */
toec_u64 toec_cwv_rate(const struct toec_tcb *t);
/* Sending starts again after `idle` ticks with nothing outstanding. */
void toec_cwv_restart(struct toec_stack *s, struct toec_tcb *t, toec_u32 idle, toec_time now);

#endif
