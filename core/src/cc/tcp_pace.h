/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_pace.h - pacing: data leaves in bursts of one quantum at most, spaced so that the flow keeps
 * to a rate.
 *
 * Rates inside core/ are bytes per 2^30 ns (so that rate * time needs no division). Rate-based
 * algorithms set the rate themselves; for the others there is one only where a limit was set
 * (TOEC_OPT_MAX_PACING) or a window kept over idle time is used again: as Linux without fq.
 */
#ifndef TOE_TCP_PACE_H
#define TOE_TCP_PACE_H

#include "../base/timer.h"

struct toec_stack;
struct toec_tcb;

#define TOEC_PACE_MAX ((toec_u64)1 << 40) /* about 1 TB/s: as good as none */

/* Of a flow that is paced, or may not go beyond a rate; few are. */
struct toec_pace {
    struct toec_tcb *flow;
    toec_u64 rate;    /* 0: not paced */
    toec_u64 max;     /* TOEC_OPT_MAX_PACING, 0: none */
    toec_time next;   /* the next burst may leave */
    toec_time began;  /* ... and this one has */
    toec_u32 quantum; /* bytes of a burst */
    toec_u32 left;    /* ... of the burst that is leaving */
    toec_u8 waiting;  /* data is held back by `next` alone */
    struct toec_timer timer;
};

/* Bytes per 2^30 ns to bytes per second and back: 10^9 / 2^30 = 5^9 / 2^21. */
TOEC_INLINE toec_u64 toec_rate_to_bps(toec_u64 rate)
{
    return rate * 1953125u >> 21;
}
toec_u64 toec_rate_of_bps(toec_u64 bytes_per_second);

/* Pacing timers expire in ticks of 2^14 ns (16 us) on a wheel of their own: it is given times that
 * many times too large. */
#define TOEC_PACE_SHIFT 6

/* The flow may be paced from now on. There is one for each flow, so there always is. */
struct toec_pace *toec_pace_get(struct toec_stack *s, struct toec_tcb *t);
/* It is not: the flow ends, or nothing limits its rate any more. */
void toec_pace_put(struct toec_stack *s, struct toec_tcb *t);
/* Sets the rate, bounded by TOEC_OPT_MAX_PACING and from below; 0: no pacing. Only after
 * toec_pace_get(). */
void toec_pace_set(struct toec_tcb *t, toec_u64 rate);
/* As Linux: twice cwnd / SRTT in slow start, 1.2 times beyond; for algorithms that set none. */
void toec_pace_update(struct toec_stack *s, struct toec_tcb *t);
/* TOEC_OPT_MAX_PACING is max. */
void toec_pace_limit(struct toec_stack *s, struct toec_tcb *t, toec_u64 max);
/* May data leave now? When not, sets the timer. */
int toec_pace_ready(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* `max` bytes or what the burst has room for: whole segments, one at least. */
toec_u32 toec_pace_most(const struct toec_tcb *t, toec_u32 max);
/* n bytes of a flow that is paced have left. */
void toec_pace_sent(struct toec_tcb *t, toec_u32 n, toec_time now);

#endif
