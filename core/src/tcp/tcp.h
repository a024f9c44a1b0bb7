/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp.h - finds, allocates and frees flows, queues those with pending work, and dispatches
 * segments. The entry points for the layers below are in tcp_if.h.
 */
#ifndef TOEC_TCP_H
#define TOEC_TCP_H

#include "tcp_tables.h"

struct toec_tcb *toec_tcb_find(struct toec_stack *s, toec_u32 hash, const struct toec_tuple *id);
toec_u32 toec_tuple_hash(const struct toec_stack *s, const struct toec_tuple *id);
/* Allocates a TCB in CLOSED and adds it to the flow table; returns 0 when none is free (counted).
 */
struct toec_tcb *toec_tcb_new(struct toec_stack *s, const struct toec_tuple *id, toec_u32 hash,
                              toec_time now);
void toec_tcb_buffers(struct toec_tcb *t, const struct toec_buffers *b);
/* Returns not 0 when the sizes satisfy the limits of struct toec_buffers. */
int toec_buffers_ok(const struct toec_buffers *b);
/* Frees a TCB from toec_tcb_new() that no event has announced to the owner. */
void toec_tcb_discard(struct toec_stack *s, struct toec_tcb *t);
/* Frees the TCB and reports TOEC_EV_GONE to the owner. */
void toec_tcb_gone(struct toec_stack *s, struct toec_tcb *t, enum toec_reason why);
void toec_pend(struct toec_stack *s, struct toec_tcb *t);
/* Moves a flow that waits for its neighbour back to the pending queue. */
void toec_unpark(struct toec_stack *s, struct toec_tcb *t);
void toec_event(struct toec_stack *s, struct toec_tcb *t, enum toec_event ev, toec_u32 arg);

#endif
