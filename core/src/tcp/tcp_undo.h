/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_undo.h - detects spurious retransmissions and undoes the window reduction. Three signs show
 * that the data had only been late: the echoed timestamp of the original (Eifel, RFC 3522), an ACK
 * after a timeout for data not retransmitted (F-RTO, RFC 5682), a DSACK for each retransmission
 * (RFC 3708).
 */
#ifndef TOEC_TCP_UNDO_H
#define TOEC_TCP_UNDO_H

#include "tcb.h"

/* Saves state before a window reduction; rto: a timeout caused it. The flow has an episode, which
 * now ends at SND.MAX. If the flow is already in recovery, that episode continues. */
void toec_undo_save(struct toec_tcb *t, int rto);
/* Records the retransmission of the segment at `start`, before the record of transmissions does. */
void toec_undo_resent(struct toec_tcb *t, toec_u32 start, toec_time now);
/* Undoes the reduction and returns 1 when the ACK shows that there was no loss. */
int toec_undo_ack(struct toec_stack *s, struct toec_tcb *t, toec_u32 acked,
                  const struct toec_news *n);
/* Runs F-RTO for an ACK in the recovery after a timeout; returns as toec_undo_ack(). */
int toec_frto_ack(struct toec_stack *s, struct toec_tcb *t, toec_u32 acked, int dup,
                  const struct toec_news *n);

#endif
