/* SPDX-License-Identifier: Apache-2.0 */
/* tcp_delack.h - delayed ACKs (RFC 9293 3.8.6.3, RFC 5681 4.2), which data may piggyback. */
#ifndef TOEC_TCP_DELACK_H
#define TOEC_TCP_DELACK_H

#include "tcb.h"

#define TOEC_DELACK_PUSHED 0x80u /* in toec_tcb.delack: one of the segments had PSH */

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

/* Notes that data has arrived, while no delayed ACK is pending. */
TOEC_INLINE void toec_delack_data(struct toec_tcb *t, toec_u32 ticks)
{
    t->delack_at = (toec_u16)(ticks + TOEC_DELACK);
}

/* Returns the ticks since data arrived that found no delayed ACK pending. The value has 16 bits: a
 * pause of 68 s counts from 0 again, and one 40 ms delay may result. */
TOEC_INLINE toec_u32 toec_delack_idle(const struct toec_tcb *t, toec_u32 ticks)
{
    return (toec_u16)(ticks + TOEC_DELACK - t->delack_at);
}

/* Called when the flow sends new data. Data soon after data received is an answer: from now on the
 * ACK waits for the next one, as on Linux (tcp_event_data_sent()). */
TOEC_INLINE void toec_delack_answer(struct toec_tcb *t, toec_time now)
{
    if (!(t->flags & TOEC_F_PINGPONG) && toec_delack_idle(t, toec_ticks(now)) < TOEC_DELACK &&
        t->rcv_nxt - t->irs > 1)
        t->flags |= TOEC_F_PINGPONG;
}

/* Called when the owner has read. If it has read everything and does not answer, the ACK of a
 * pushed segment waits for nothing (tcp_cleanup_rbuf() of Linux). Returns not 0 when it is due. */
TOEC_INLINE int toec_delack_read(const struct toec_tcb *t)
{
    return (t->delack & TOEC_DELACK_PUSHED) && !(t->flags & TOEC_F_PINGPONG) &&
           t->rcv_read == t->rcv_nxt;
}

/* Removes a pending ACK from the queue. The caller then clears TOEC_F_DELACK or frees the flow. */
TOEC_INLINE void toec_delack_forget(struct toec_stack *s, struct toec_tcb *t)
{
    if (t->flags & TOEC_F_DELACK)
        toec_delack_leave(s, t);
}

#endif
