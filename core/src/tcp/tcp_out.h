/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_out.h - output of a flow (RFC 9293 3.8.6, RFC 5681, Nagle): data, FIN, ACKs and SYNs.
 */
#ifndef TOEC_TCP_OUT_H
#define TOEC_TCP_OUT_H

#include "tcb.h"

/* Sends all that may be sent now. Returns 0, or the error of toec_ip_output() (TOEC_SEND_*): with
 * TOEC_SEND_WAIT the flow has more to send. */
int toec_tcp_output(struct toec_stack *s, struct toec_tcb *t, toec_time now);
int toec_send_ack(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* Returns the window field for the next segment; advances rcv_adv. */
toec_u32 toec_window_offer(struct toec_stack *s, struct toec_tcb *t);

#endif
