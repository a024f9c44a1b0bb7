/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_sack.h - selective acknowledgment (RFC 2018) and reports of duplicates (RFC 2883): the
 * bounded list of what was received beyond a gap (intervals only; the bytes are in place already),
 * and the blocks that the peer sends, which the record of transmissions takes (tcp_runs.c).
 */
#ifndef TOEC_TCP_SACK_H
#define TOEC_TCP_SACK_H

#include "tcb.h"

/* A new flow: there are none. */
void toec_ooo_init(struct toec_tcb *t);
/* Room for many gaps is borrowed: not 0 when there is more than before. */
int toec_ooo_more(struct toec_stack *s, struct toec_tcb *t);
/* Adds [start, end) to the received intervals; 0, or -1 when the list is full. */
int toec_ooo_add(struct toec_stack *s, struct toec_tcb *t, toec_u32 start, toec_u32 end);
/* Forgets them all. */
void toec_ooo_clear(struct toec_stack *s, struct toec_tcb *t);
/* rcv_nxt after the intervals that now touch it are taken up. */
toec_u32 toec_ooo_advance(struct toec_stack *s, struct toec_tcb *t, toec_u32 rcv_nxt);
/* [start, end) has been received once more (RFC 2883): the next ACK says so. */
void toec_dsack_note(struct toec_tcb *t, toec_u32 start, toec_u32 end);
/* Takes the SACK blocks of a segment; SND.UNA has moved. una: SND.UNA before. */
void toec_sack_input(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g,
                     toec_u32 una, struct toec_news *n);

#endif
