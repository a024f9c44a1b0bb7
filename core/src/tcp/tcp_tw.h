/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_tw.h - TIME-WAIT (RFC 9293 3.6, RFC 1337, RFC 6191), kept in separate small entries: a closed
 * flow frees its TCB and buffers at once.
 */
#ifndef TOEC_TCP_TW_H
#define TOEC_TCP_TW_H

#include "tcp_tables.h"

struct toec_tw *toec_tw_find(struct toec_stack *s, toec_u32 hash, const struct toec_tuple *id);
/* Moves the flow to TIME-WAIT: frees its TCB and notifies the owner. */
void toec_tw_enter(struct toec_stack *s, struct toec_tcb *t, toec_time now);
void toec_tw_free(struct toec_stack *s, struct toec_tw *w);
/* Restores the saved entry `is` as the newest one (restore.c). */
void toec_tw_again(struct toec_stack *s, const struct toec_tw *is, toec_u32 hash, toec_time now);
/* Handles a segment for an entry. Returns 1 when it is a SYN that may open a new incarnation: the
 * entry is freed and *iss is raised beyond its last sequence number. With iss 0 there is no
 * listener: the caller refuses the SYN, and the entry stays. */
int toec_tw_input(struct toec_stack *s, struct toec_tw *w, const struct toec_seg *g, toec_u32 *iss,
                  toec_time now);
/* Returns not 0 when a local open may reuse the pair: timestamps distinguish old segments from new
 * ones (RFC 6191). */
int toec_tw_reusable(const struct toec_tw *w, toec_time now);
/* Frees the entry; returns an ISN of at least `iss` and beyond the last incarnation's numbers. */
toec_u32 toec_tw_reopen(struct toec_stack *s, struct toec_tw *w, toec_u32 iss);
void toec_tw_expire(struct toec_stack *s, toec_time now);

#endif
