/* SPDX-License-Identifier: Apache-2.0 */
/* tcp_timer.h - the timers of a flow (RFC 9293 3.8.1 to 3.8.4, RFC 6298) on one wheel timer. */
#ifndef TOEC_TCP_TIMER_H
#define TOEC_TCP_TIMER_H

#include "tcb.h"

/* Returns the time of tick `due`, or now when it has passed. */
toec_time toec_tick_time(toec_u32 due, toec_time now);
/* Makes the flow's timer fire at tick `due` or earlier. */
void toec_due(struct toec_stack *s, struct toec_tcb *t, toec_u32 due, toec_time now);
void toec_flow_timer(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* Returns the current timeout in ticks: the RTO with exponential backoff. */
toec_u32 toec_backed_off(const struct toec_tcb *t);
/* Starts the RTO timer (RFC 6298 5.1, 5.3), and the tail loss probe timer before it. */
void toec_rtx_start(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* Retransmits the SYN once in 2 ms instead of 1 s, as Linux does: the peer still has an earlier
 * connection, probably in TIME-WAIT, which our RST may not end (RFC 1337). */
void toec_syn_soon(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* Restarts the tail loss probe timer, if it runs, after new data was sent (RFC 8985 7.2). */
void toec_tlp_restart(struct toec_stack *s, struct toec_tcb *t, toec_time now);
void toec_persist_start(struct toec_stack *s, struct toec_tcb *t, toec_time now);
void toec_keep_start(struct toec_stack *s, struct toec_tcb *t, toec_u32 ticks, toec_time now);
/* Updates SRTT, RTTVAR and the RTO with a sample, in 2^10 ns. */
void toec_rtt_sample(struct toec_tcb *t, toec_u32 rtt);
/* The same for a sample taken from the local clock; also reports it to toec_watch_rtt()'s callback.
 */
void toec_rtt_timed(struct toec_stack *s, struct toec_tcb *t, toec_u32 rtt);

#endif
