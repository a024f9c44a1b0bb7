/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_sack.h - selective acknowledgment (RFC 2018) and DSACK (RFC 2883). Receive side: the bounded
 * list of intervals received beyond a gap (their bytes are already in the receive buffer). Send
 * side: the peer's SACK blocks, which are applied to the record of transmissions (tcp_runs.c).
 */
#ifndef TOEC_TCP_SACK_H
#define TOEC_TCP_SACK_H

#include "tcb.h"

/* Initialises the list of a new flow. */
void toec_ooo_init(struct toec_tcb *t);
/* Borrows room for TOEC_OOO_MAX intervals; returns not 0 when the room has grown. */
int toec_ooo_more(struct toec_stack *s, struct toec_tcb *t);
/* Adds [start, end) to the received intervals; returns 0, or -1 when the list is full. */
int toec_ooo_add(struct toec_stack *s, struct toec_tcb *t, toec_u32 start, toec_u32 end);
/* Clears the list. */
void toec_ooo_clear(struct toec_stack *s, struct toec_tcb *t);
/* Removes the intervals that rcv_nxt has reached; returns RCV.NXT beyond them. */
toec_u32 toec_ooo_advance(struct toec_stack *s, struct toec_tcb *t, toec_u32 rcv_nxt);
/* Records a duplicate [start, end), to be reported by the next ACK (RFC 2883). */
void toec_dsack_note(struct toec_tcb *t, toec_u32 start, toec_u32 end);
/* Records the part of [start, end) that the out-of-order queue holds already, the first if there
 * are several (RFC 2883 4). */
void toec_dsack_queued(struct toec_tcb *t, toec_u32 start, toec_u32 end);
/* Applies the SACK blocks of a segment. SND.UNA is already updated; una: its previous value. */
void toec_sack_input(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g,
                     toec_u32 una, struct toec_news *n);

#endif
