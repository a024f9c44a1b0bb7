/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp.h - finds, makes and frees flows, queues those that have work pending, and dispatches
 * segments. The entry points from below are in tcp_if.h.
 */
#ifndef TOEC_TCP_H
#define TOEC_TCP_H

#include "tcp_tables.h"

struct toec_tcb *toec_tcb_find(struct toec_stack *s, toec_u32 hash, const struct toec_tuple *id);
toec_u32 toec_tuple_hash(const struct toec_stack *s, const struct toec_tuple *id);
/* A TCB in CLOSED, in the flow table, or 0 (counted). */
struct toec_tcb *toec_tcb_new(struct toec_stack *s, const struct toec_tuple *id, toec_u32 hash,
                              toec_time now);
void toec_tcb_buffers(struct toec_tcb *t, const struct toec_buffers *b);
/* Not 0 when the sizes are what struct toec_buffers asks for. */
int toec_buffers_ok(const struct toec_buffers *b);
/* Frees a TCB that toec_tcb_new() made and nobody has been told of. */
void toec_tcb_discard(struct toec_stack *s, struct toec_tcb *t);
/* Frees the TCB; tells the owner, when it has one. */
void toec_tcb_gone(struct toec_stack *s, struct toec_tcb *t, enum toec_reason why);
void toec_pend(struct toec_stack *s, struct toec_tcb *t);
/* A flow that waits for its neighbour gets a turn at the next poll. */
void toec_unpark(struct toec_stack *s, struct toec_tcb *t);
void toec_event(struct toec_stack *s, struct toec_tcb *t, enum toec_event ev, toec_u32 arg);

#endif
