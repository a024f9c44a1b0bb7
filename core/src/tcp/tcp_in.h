/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_in.h - processing of a segment for a flow in SYN-RECEIVED or later (RFC 9293 3.10.7.4): the
 * checks, in the order of the RFC.
 */
#ifndef TOEC_TCP_IN_H
#define TOEC_TCP_IN_H

#include "tcb.h"

void toec_segment(struct toec_stack *s, struct toec_tcb *t, struct toec_seg *g, toec_time now);
/* Trims the segment to the receive window. */
void toec_trim(struct toec_tcb *t, struct toec_seg *g);
void toec_challenge(struct toec_stack *s, struct toec_tcb *t, toec_time now);

#endif
