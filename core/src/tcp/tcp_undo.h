/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_undo.h - was there a loss at all? Three ways to learn that what was sent again had only been
 * late: the echoed timestamp of the original (Eifel, RFC 3522), an ACK after a timeout for what
 * was not sent again (F-RTO, RFC 5682), a DSACK for each retransmission (RFC 3708).
 */
#ifndef TOEC_TCP_UNDO_H
#define TOEC_TCP_UNDO_H

#include "tcb.h"

/* The window is about to be reduced, by a timeout or not; SND.MAX ends the episode, which there is.
 * In recovery already, it goes on. */
void toec_undo_save(struct toec_tcb *t, int rto);
/* A segment was sent again. */
void toec_undo_resent(struct toec_tcb *t, toec_time now);
/* Was there no loss? Undoes it then and returns 1. */
int toec_undo_ack(struct toec_stack *s, struct toec_tcb *t, toec_u32 acked,
                  const struct toec_news *n);
/* F-RTO, for an ACK in the recovery from a timeout; as above. */
int toec_frto_ack(struct toec_stack *s, struct toec_tcb *t, toec_u32 acked, int dup,
                  const struct toec_news *n);

#endif
