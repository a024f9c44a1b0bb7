/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_recover.h - loss recovery: when to enter and leave it, how much data may be in flight, what
 * to retransmit next.
 */
#ifndef TOEC_TCP_RECOVER_H
#define TOEC_TCP_RECOVER_H

#include "tcb.h"

/* Handles an ACK: acked: bytes newly acknowledged; dup: it is a duplicate; n: what it reports. */
void toec_ack_recovery(struct toec_stack *s, struct toec_tcb *t, toec_u32 acked, int dup,
                       const struct toec_news *n);
void toec_rto_recovery(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* Handles the expiry of the reordering timer. */
void toec_reo_expired(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* Marks all outstanding data that is not SACKed as lost, without a window reduction. */
void toec_lose_all(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* Selects the next retransmission (FIN counted as a byte): returns 1 with [*start, *end), or 0.
 * new_data: there is new data that may be sent instead. */
int toec_next_rtx(struct toec_tcb *t, int new_data, toec_u32 *start, toec_u32 *end, toec_time now);

#endif
