/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_tw.h - TIME-WAIT (RFC 9293 3.6, RFC 1337, RFC 6191) in entries of their own: a closed flow
 * gives its TCB and buffers back at once.
 */
#ifndef TOEC_TCP_TW_H
#define TOEC_TCP_TW_H

#include "tcp_tables.h"

struct toec_tw *toec_tw_find(struct toec_stack *s, toec_u32 hash, const struct toec_tuple *id);
/* The flow goes to TIME-WAIT: its TCB is freed and the owner told. */
void toec_tw_enter(struct toec_stack *s, struct toec_tcb *t, toec_time now);
void toec_tw_free(struct toec_stack *s, struct toec_tw *w);
/* The entry `is` again, as the one that has waited the shortest (restore.c). */
void toec_tw_again(struct toec_stack *s, const struct toec_tw *is, toec_u32 hash, toec_time now);
/* Returns 1 when the segment is a SYN of a new incarnation: the pair is open to it, and *iss is
 * beyond its last number. iss 0: nobody listens; the SYN is to be refused, the pair stays as it is.
 */
int toec_tw_input(struct toec_stack *s, struct toec_tw *w, const struct toec_seg *g, toec_u32 *iss,
                  toec_time now);
/* Not 0 when we may open the pair anew (RFC 6191: timestamps tell old segments from new). */
int toec_tw_reusable(const struct toec_tw *w, toec_time now);
/* Frees the entry; returns an ISN of at least `iss` and beyond all of the last incarnation. */
toec_u32 toec_tw_reopen(struct toec_stack *s, struct toec_tw *w, toec_u32 iss);
void toec_tw_expire(struct toec_stack *s, toec_time now);

#endif
