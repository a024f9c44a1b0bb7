/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_ack.h - the ACK field (RFC 9293 3.10.7.4, fifth): what is acknowledged, the send window, RTT
 * samples, and what follows for the state.
 */
#ifndef TOEC_TCP_ACK_H
#define TOEC_TCP_ACK_H

#include "tcb.h"

/* Not 0 when the segment acknowledges what was never sent, or long ago: it is not to be believed.
 */
int toec_ack_check(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g,
                   toec_time now);
/* Not 0 when the segment is done with or the flow gone. */
int toec_ack_input(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g,
                   toec_time now);

#endif
