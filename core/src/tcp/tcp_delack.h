/* SPDX-License-Identifier: Apache-2.0 */
/* tcp_delack.h - delayed ACKs (RFC 9293 3.8.6.3, RFC 5681 4.2) that an answer may take along. */
#ifndef TOEC_TCP_DELACK_H
#define TOEC_TCP_DELACK_H

#include "tcb.h"

/* What the queue needs, and the queue in so much memory, aligned to 64 bytes. */
unsigned long toec_delack_size(const struct toec_config *cfg);
void toec_delack_init(struct toec_tcp *tcp, void *mem, unsigned long size);
/* An ACK is owed, TOEC_DELACK from now at the latest. None was. */
void toec_delack_start(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* The time has come. */
void toec_delack_expired(struct toec_stack *s, struct toec_tcb *t);
void toec_delack_leave(struct toec_stack *s, struct toec_tcb *t);
/* It is owed, and the flow's timer is to see to it. */
int toec_delack_timed(const struct toec_stack *s, const struct toec_tcb *t);
/* At each poll, before output: whose time has come. */
void toec_delack_poll(struct toec_stack *s, toec_time now);
/* After it: when the next one's comes (TOEC_NEVER: there is none, beside those with a timer). */
toec_time toec_delack_next(struct toec_stack *s, toec_time now);

/* Ticks until it is due; 0: it has been. delack_at has 16 bits, 68 s: who is served much later than
 * that may have it TOEC_DELACK later still. */
TOEC_INLINE toec_u32 toec_delack_left(const struct toec_tcb *t, toec_u32 ticks)
{
    toec_u32 left = (toec_u16)(t->delack_at - (toec_u16)ticks);

    return left <= TOEC_DELACK ? left : 0;
}

/* It goes, and TOEC_F_DELACK will be cleared; or the flow will be gone. */
TOEC_INLINE void toec_delack_forget(struct toec_stack *s, struct toec_tcb *t)
{
    if (t->flags & TOEC_F_DELACK)
        toec_delack_leave(s, t);
}

#endif
