/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_recover.h - loss recovery: when to enter it and leave it, how much may be on its way, what
 * is sent again next.
 */
#ifndef TOEC_TCP_RECOVER_H
#define TOEC_TCP_RECOVER_H

#include "tcb.h"

/* An ACK came that acknowledged `acked` new bytes, is a duplicate, or tells something else. */
void toec_ack_recovery(struct toec_stack *s, struct toec_tcb *t, toec_u32 acked, int dup,
                       const struct toec_news *n);
void toec_rto_recovery(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* The reordering timer has run out. */
void toec_reo_expired(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* All that is outstanding and not SACKed is sent again, and the window does not shrink for it. */
void toec_lose_all(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* What to send again next (FIN counted as a byte): 1 with [*start, *end), or 0. new_data: there is
 * new data that may be sent instead. */
int toec_next_rtx(struct toec_tcb *t, int new_data, toec_u32 *start, toec_u32 *end, toec_time now);

#endif
