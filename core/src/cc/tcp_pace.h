/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_pace.h - pacing: data is sent in bursts of at most one quantum, spaced to keep to a rate.
 *
 * Rates inside core/ are bytes per 2^30 ns (so that rate * time needs no division). Rate-based
 * algorithms set the rate themselves. Other flows are paced only when a limit was set
 * (TOEC_OPT_MAX_PACING) or when a window kept over idle time is used again, as in Linux without fq.
 */
#ifndef TOE_TCP_PACE_H
#define TOE_TCP_PACE_H

#include "../base/timer.h"

struct toec_stack;
struct toec_tcb;

#define TOEC_PACE_MAX ((toec_u64)1 << 40) /* about 1 TB/s: effectively unlimited */

/* State of a flow that is paced or has a rate limit; few flows need it. */
struct toec_pace {
    struct toec_tcb *flow;
    toec_u64 rate;    /* 0: not paced */
    toec_u64 max;     /* TOEC_OPT_MAX_PACING, 0: none */
    toec_time next;   /* earliest time of the next burst */
    toec_time began;  /* start of the current burst */
    toec_u32 quantum; /* bytes of a burst */
    toec_u32 left;    /* bytes left in the current burst */
    toec_u8 waiting;  /* only `next` holds data back */
    struct toec_timer timer;
};

/* Bytes per 2^30 ns to bytes per second and back: 10^9 / 2^30 = 5^9 / 2^21. */
TOEC_INLINE toec_u64 toec_rate_to_bps(toec_u64 rate)
{
    return rate * 1953125u >> 21;
}
toec_u64 toec_rate_of_bps(toec_u64 bytes_per_second);

/* Pacing timers have a resolution of 2^14 ns (16 us) on a separate wheel, whose times are shifted
 * left by this. */
#define TOEC_PACE_SHIFT 6

/* Returns the flow's pacing state, allocated on demand. The pool has one per flow, so this never
 * fails. */
struct toec_pace *toec_pace_get(struct toec_stack *s, struct toec_tcb *t);
/* Frees the pacing state: the flow ends, or nothing limits its rate any more. */
void toec_pace_put(struct toec_stack *s, struct toec_tcb *t);
/* Sets the rate, bounded by TOEC_OPT_MAX_PACING and from below; 0: no pacing. Requires
 * toec_pace_get(). */
void toec_pace_set(struct toec_tcb *t, toec_u64 rate);
/* Updates the rate of algorithms that set none: 2 * cwnd / SRTT in slow start, 1.2 * cwnd / SRTT
 * afterwards, as Linux. */
void toec_pace_update(struct toec_stack *s, struct toec_tcb *t);
/* Sets TOEC_OPT_MAX_PACING. */
void toec_pace_limit(struct toec_stack *s, struct toec_tcb *t, toec_u64 max);
/* Returns not 0 when data may be sent now; otherwise sets the timer. */
int toec_pace_ready(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* Returns `max`, or less if the burst has less room: whole segments, at least one. */
toec_u32 toec_pace_most(const struct toec_tcb *t, toec_u32 max);
/* Records that a paced flow has sent n bytes. */
void toec_pace_sent(struct toec_tcb *t, toec_u32 n, toec_time now);

#endif
