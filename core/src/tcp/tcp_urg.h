/* SPDX-License-Identifier: Apache-2.0 */
/* tcp_urg.h - urgent data (RFC 9293 3.8.5, RFC 6093): RFC 9293 MUST-30, of any length (MUST-31). */
#ifndef TOEC_TCP_URG_H
#define TOEC_TCP_URG_H

#include "tcb.h"

/* The urgent pointer of a segment at seq, or 0. */
unsigned toec_urg_pointer(struct toec_tcb *t, toec_u32 seq);
/* A segment has URG set; it is acceptable and not trimmed. */
void toec_urg_input(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g);
/* Urgent data waits to be sent: it is not held back, nor segmented by others. */
int toec_urg_waits(const struct toec_tcb *t);

#endif
