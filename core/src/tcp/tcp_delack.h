/* SPDX-License-Identifier: Apache-2.0 */
/* tcp_delack.h - delayed ACKs (RFC 9293 3.8.6.3, RFC 5681 4.2), which data may piggyback. */
#ifndef TOEC_TCP_DELACK_H
#define TOEC_TCP_DELACK_H

#include "tcb.h"

/* Return the bytes the queue needs; set up the queue in that memory, aligned to 64 bytes. */
unsigned long toec_delack_size(const struct toec_config *cfg);
void toec_delack_init(struct toec_tcp *tcp, void *mem, unsigned long size);
/* Starts a delayed ACK, due in TOEC_DELACK; none is pending yet. */
void toec_delack_start(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* The delay has expired: makes the ACK due now. */
void toec_delack_expired(struct toec_stack *s, struct toec_tcb *t);
/* Removes the flow from the queue, if it is there. */
void toec_delack_leave(struct toec_stack *s, struct toec_tcb *t);
/* Returns not 0 when a delayed ACK is pending and the flow's own timer covers it. */
int toec_delack_timed(const struct toec_stack *s, const struct toec_tcb *t);
/* Handles expired delayed ACKs; called at each poll, before output. */
void toec_delack_poll(struct toec_stack *s, toec_time now);
/* Returns the next deadline in the queue (TOEC_NEVER: none); called after output. */
toec_time toec_delack_next(struct toec_stack *s, toec_time now);

/* Returns the ticks until the ACK is due; 0: overdue. delack_at has 16 bits (68 s): if a flow is
 * served much later than that, its ACK may be delayed by another TOEC_DELACK. */
TOEC_INLINE toec_u32 toec_delack_left(const struct toec_tcb *t, toec_u32 ticks)
{
    toec_u32 left = (toec_u16)(t->delack_at - (toec_u16)ticks);

    return left <= TOEC_DELACK ? left : 0;
}

/* Removes a pending ACK from the queue. The caller then clears TOEC_F_DELACK or frees the flow. */
TOEC_INLINE void toec_delack_forget(struct toec_stack *s, struct toec_tcb *t)
{
    if (t->flags & TOEC_F_DELACK)
        toec_delack_leave(s, t);
}

#endif
