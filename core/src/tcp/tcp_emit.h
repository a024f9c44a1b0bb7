/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_emit.h - builds segments (RFC 9293 3.1): of a flow, and in answer to a segment without one.
 */
#ifndef TOEC_TCP_EMIT_H
#define TOEC_TCP_EMIT_H

#include "tcb.h"

/* Sends RST with our next sequence number, then frees the flow. */
void toec_tcb_reset(struct toec_stack *s, struct toec_tcb *t, enum toec_reason why, toec_time now);
int toec_emit(struct toec_stack *s, struct toec_tcb *t, toec_u32 seq, toec_u32 len, unsigned flags,
              toec_time now);
/* Returns the sequence number for a segment without data. */
toec_u32 toec_bare_seq(const struct toec_tcb *t);
int toec_emit_syn(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* Sends RST in answer to a segment without a flow (RFC 9293 3.10.7.1). */
void toec_send_rst(struct toec_stack *s, const struct toec_seg *g, toec_time now);
/* Sends a segment without a flow: a SYN-ACK with a cookie, an ACK of TIME-WAIT, a RST. */
int toec_send_bare(struct toec_stack *s, const struct toec_seg *to, toec_u32 seq, toec_u32 ack,
                   unsigned flags, toec_u32 wnd, const toec_u8 *opt, unsigned opt_len,
                   toec_time now);

#endif
