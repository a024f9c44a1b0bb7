/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_ack.h - the ACK field (RFC 9293 3.10.7.4, fifth): acknowledged data, the send window, RTT
 * samples, and the state transitions that an ACK causes.
 */
#ifndef TOEC_TCP_ACK_H
#define TOEC_TCP_ACK_H

#include "tcb.h"

/* Returns not 0 when SEG.ACK is not acceptable: beyond what was sent, or too old (RFC 5961 5). */
int toec_ack_check(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g,
                   toec_time now);
/* Returns not 0 when processing of the segment ends, or when the flow was freed. */
int toec_ack_input(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g,
                   toec_time now);

#endif
