/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_out.h - what a flow sends and when (RFC 9293 3.8.6, RFC 5681, Nagle): data, FIN, ACKs and
 * SYNs.
 */
#ifndef TOEC_TCP_OUT_H
#define TOEC_TCP_OUT_H

#include "tcb.h"

/* Sends all that may be sent now; 0, or -1 when transmit has no room (stay pending). */
int toec_tcp_output(struct toec_stack *s, struct toec_tcb *t, toec_time now);
int toec_send_ack(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* The window field of the next segment; moves rcv_adv. */
toec_u32 toec_window_offer(struct toec_tcb *t);

#endif
