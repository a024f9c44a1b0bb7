/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_delack.c - delayed ACKs (RFC 9293 3.8.6.3, RFC 5681 4.2) that an answer may take along.
 *
 * A program that answers what it gets does so at once or nearly, and the ACK goes with the answer.
 * A timer for it is then set for nothing, and 40 ms later, with many flows, a flow is brought into
 * the cache again for nothing. So a flow that owes one stands in a queue instead: all wait equally
 * long, so the first is due first. Whose ACK has gone leaves its place empty. Should the queue be
 * full, the oldest has a timer set.
 *
 * A flow knows its place by 16 bits: where there are more places, it is one of a few that lie
 * beside each other.
 */
#include "tcp_delack.h"

#include "tcp.h"
#include "tcp_expect.h"
#include "tcp_tables.h"
#include "tcp_timer.h"

/* Of flows whose time has come, how far ahead they are fetched. */
#define AHEAD 8u

static struct toec_tcb **place(const struct toec_tcp *tcp, toec_u32 at)
{
    return &tcp->owing[at & tcp->owing_mask];
}

/* Where it stands in the queue; 0: nowhere. Places that are not in use were never written. */
static struct toec_tcb **place_of(const struct toec_tcp *tcp, const struct toec_tcb *t)
{
    toec_u32 first = (toec_u32)t->owing_at << tcp->owing_shift, used, i;

    used = tcp->owing_tail - tcp->owing_head;
    for (i = first; i < first + (1u << tcp->owing_shift); i++)
        if (((i - tcp->owing_head) & tcp->owing_mask) < used && tcp->owing[i] == t)
            return &tcp->owing[i];
    return 0;
}

unsigned long toec_delack_size(const struct toec_config *cfg)
{
    toec_u32 most = TOEC_MAX(cfg->max_flows, TOEC_OWING_LEAST);

    return toec_htab_buckets(most) * sizeof(struct toec_tcb *);
}

void toec_delack_init(struct toec_tcp *tcp, void *mem, unsigned long size)
{
    toec_u32 places = (toec_u32)(size / sizeof(struct toec_tcb *));

    tcp->owing = mem; /* pages of it are touched when they are used */
    tcp->owing_mask = places - 1;
    while (places >> tcp->owing_shift > 0x10000u)
        tcp->owing_shift++;
}

void toec_delack_expired(struct toec_stack *s, struct toec_tcb *t)
{
    toec_delack_forget(s, t);
    t->flags = (t->flags & ~TOEC_F_DELACK) | TOEC_F_ACK_NOW;
    TOEC_COUNT(s, tcp_delayed_acks);
    toec_pend(s, t);
}

/* The queue is full. */
static void pass_first(struct toec_stack *s, toec_time now)
{
    struct toec_tcb *t = *place(s->tcp, s->tcp->owing_head++);
    toec_u32 left;

    if (!t)
        return;
    left = toec_delack_left(t, toec_ticks(now));
    if (left)
        toec_due(s, t, toec_ticks(now) + left, now);
    else
        toec_delack_expired(s, t);
}

void toec_delack_start(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    struct toec_tcp *tcp = s->tcp;

    t->flags |= TOEC_F_DELACK;
    t->delack_at = (toec_u16)(toec_ticks(now) + TOEC_DELACK);
    if (tcp->owing_tail - tcp->owing_head > tcp->owing_mask)
        pass_first(s, now);
    t->owing_at = (toec_u16)((tcp->owing_tail & tcp->owing_mask) >> tcp->owing_shift);
    *place(tcp, tcp->owing_tail++) = t;
}

void toec_delack_leave(struct toec_stack *s, struct toec_tcb *t)
{
    struct toec_tcp *tcp = s->tcp;
    struct toec_tcb **at = place_of(tcp, t);

    if (!at)
        return;
    *at = 0;
    if (at == place(tcp, tcp->owing_tail - 1))
        tcp->owing_tail--;
}

int toec_delack_timed(const struct toec_stack *s, const struct toec_tcb *t)
{
    return (t->flags & TOEC_F_DELACK) && !place_of(s->tcp, t);
}

/* Who owes one for the longest time; 0: nobody does. */
static struct toec_tcb *first(struct toec_tcp *tcp)
{
    while (tcp->owing_head != tcp->owing_tail && !*place(tcp, tcp->owing_head))
        tcp->owing_head++;
    return tcp->owing_head != tcp->owing_tail ? *place(tcp, tcp->owing_head) : 0;
}

void toec_delack_poll(struct toec_stack *s, toec_time now)
{
    unsigned left = TOEC_WHEEL_MOST; /* as timers: frames have their turn in between */
    struct toec_tcp *tcp = s->tcp;
    struct toec_tcb *t;

    while ((t = first(tcp)) != 0 && !toec_delack_left(t, toec_ticks(now)) && left-- > 0) {
        tcp->owing_head++;
        if (tcp->owing_tail - tcp->owing_head > AHEAD && *place(tcp, tcp->owing_head + AHEAD))
            toec_fetch_flow(*place(tcp, tcp->owing_head + AHEAD));
        toec_delack_expired(s, t);
    }
}

toec_time toec_delack_next(struct toec_stack *s, toec_time now)
{
    const struct toec_tcb *t = first(s->tcp);
    toec_u32 left;

    if (!t)
        return TOEC_NEVER;
    left = toec_delack_left(t, toec_ticks(now));
    return left ? toec_tick_time(toec_ticks(now) + left, now) : now;
}
