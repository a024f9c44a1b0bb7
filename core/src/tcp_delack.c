/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_delack.c - delayed ACKs (RFC 9293 3.8.6.3, RFC 5681 4.2) that an answer may take along.
 *
 * A program that answers what it gets does so at once or nearly, and the ACK goes with the answer.
 * A timer for it is then set for nothing, and 40 ms later, with many flows, a flow is brought into
 * the cache again for nothing. So a flow that owes one stands in a short queue first. Whose ACK has
 * gone leaves it; who owes it still in the next tick, or is the oldest when the queue is full, has
 * its timer set. All wait equally long, so the first in the queue is due first.
 */
#include "tcp.h"

#define AT(tcp, i) ((tcp)->owing[(i) % TOEC_OWING])

/* Ticks until it is due; 0: it has been. */
static toec_u32 left_of(const struct toec_tcb *t, toec_time now)
{
    toec_u32 left = (toec_u16)(t->delack_at - (toec_u16)toec_ticks(now));

    return left <= TOEC_DELACK ? left : 0;
}

static void set_timer(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    toec_u32 left = left_of(t, now);

    if (left)
        toec_due(s, t, toec_ticks(now) + left, now);
    else
        toec_delack_expired(s, t);
}

void toec_delack_expired(struct toec_stack *s, struct toec_tcb *t)
{
    t->flags = (t->flags & ~TOEC_F_DELACK) | TOEC_F_ACK_NOW;
    TOEC_COUNT(s, tcp_delayed_acks);
    toec_pend(s, t);
}

void toec_delack_start(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    struct toec_tcp *tcp = s->tcp;
    toec_u32 due = toec_ticks(now) + TOEC_DELACK;

    t->flags |= TOEC_F_DELACK;
    t->delack_at = (toec_u16)due;
    toec_delack_forget(s, t); /* its place is that of an earlier one */
    if ((t->flags & TOEC_F_ARMED) && TOEC_SEQ_LE(t->timer_due, due))
        return;
    if (tcp->owing_tail - tcp->owing_head == TOEC_OWING) {
        struct toec_tcb *first = AT(tcp, tcp->owing_head++);

        if (first && (first->flags & TOEC_F_DELACK))
            set_timer(s, first, now);
    }
    t->owing_at = (toec_u8)(tcp->owing_tail % TOEC_OWING);
    AT(tcp, tcp->owing_tail++) = t;
}

void toec_delack_forget(struct toec_stack *s, struct toec_tcb *t)
{
    if (s->tcp->owing[t->owing_at] == t)
        s->tcp->owing[t->owing_at] = 0;
}

toec_time toec_delack_poll(struct toec_stack *s, toec_time now)
{
    struct toec_tcp *tcp = s->tcp;

    for (; tcp->owing_head != tcp->owing_tail; tcp->owing_head++) {
        struct toec_tcb *t = AT(tcp, tcp->owing_head);

        if (t && (t->flags & TOEC_F_DELACK)) {
            if (left_of(t, now) == TOEC_DELACK)
                return toec_tick_time(toec_ticks(now) + TOEC_DELACK, now);
            set_timer(s, t, now);
        }
        AT(tcp, tcp->owing_head) = 0;
    }
    return TOEC_NEVER;
}
