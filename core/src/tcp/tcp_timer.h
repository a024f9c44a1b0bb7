/* SPDX-License-Identifier: Apache-2.0 */
/* tcp_timer.h - timers of a flow (RFC 9293 3.8.1 to 3.8.4, RFC 6298) on one wheel timer. */
#ifndef TOEC_TCP_TIMER_H
#define TOEC_TCP_TIMER_H

#include "tcb.h"

/* The deadline of a tick that lies ahead of now. */
toec_time toec_tick_time(toec_u32 due, toec_time now);
/* Makes sure that the flow's timer fires at tick `due` or before. */
void toec_due(struct toec_stack *s, struct toec_tcb *t, toec_u32 due, toec_time now);
void toec_flow_timer(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* Ticks between the last attempt and the next one: the timeout, doubled each time. */
toec_u32 toec_backed_off(const struct toec_tcb *t);
/* Starts the RTO (RFC 6298 5.1, 5.3), and the time of a tail loss probe before it. */
void toec_rtx_start(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* The peer has something of an earlier connection (TIME-WAIT, most likely, which our RST may not
 * end, RFC 1337): the SYN goes again in 2 ms, once, and not in a second. As Linux does. */
void toec_syn_soon(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* New data was sent while it ran: the probe waits anew (RFC 8985 7.2). */
void toec_tlp_restart(struct toec_stack *s, struct toec_tcb *t, toec_time now);
void toec_persist_start(struct toec_stack *s, struct toec_tcb *t, toec_time now);
void toec_keep_start(struct toec_stack *s, struct toec_tcb *t, toec_u32 ticks, toec_time now);
void toec_rtt_sample(struct toec_tcb *t, toec_u32 rtt);
/* The same, of what was timed by the clock. */
void toec_rtt_timed(struct toec_stack *s, struct toec_tcb *t, toec_u32 rtt);

#endif
