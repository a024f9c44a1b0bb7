/* SPDX-License-Identifier: Apache-2.0 */
/* tcp_urg.h - urgent data (RFC 9293 3.8.5, RFC 6093): RFC 9293 MUST-30, of any length (MUST-31). */
#ifndef TOEC_TCP_URG_H
#define TOEC_TCP_URG_H

#include "tcb.h"

/* Returns the urgent pointer for a segment at seq, or 0. */
unsigned toec_urg_pointer(struct toec_tcb *t, toec_u32 seq);
/* Handles an acceptable, not yet trimmed segment with URG set. */
void toec_urg_input(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g);
/* Returns not 0 while urgent data waits to be sent. Such data is neither delayed nor passed to
 * segmentation offload. */
int toec_urg_waits(const struct toec_tcb *t);

#endif
