/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_delack.c - delayed ACKs (RFC 9293 3.8.6.3, RFC 5681 4.2), which data may piggyback.
 *
 * An application that answers a request usually does so at once, and the ACK goes with the answer.
 * A timer per ACK would be set in vain. With many flows, its expiry 40 ms later would also load the
 * flow into the cache again. So flows with a delayed ACK are kept in a queue instead: all wait
 * equally long, so the first entry expires first. When an ACK was sent, its entry is cleared. When
 * the queue is full, the oldest flow gets a timer.
 *
 * A flow stores its position in 16 bits. If the queue has more entries, the position identifies a
 * small group of adjacent entries.
 */
#include "tcp_delack.h"

#include "tcp.h"
#include "tcp_expect.h"
#include "tcp_tables.h"
#include "tcp_timer.h"

/* Prefetch distance, in flows whose ACK is due. */
#define AHEAD 8u

static struct toec_tcb **place(const struct toec_tcp *tcp, toec_u32 at)
{
    return &tcp->owing[at & tcp->owing_mask];
}

/* Returns the flow's entry in the queue, or 0. Unused entries are uninitialised: do not read them.
 */
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

    tcp->owing = mem; /* not cleared: its pages are first touched when used */
    tcp->owing_mask = places - 1;
    while (places >> tcp->owing_shift > 0x10000u)
        tcp->owing_shift++;
}

void toec_delack_expired(struct toec_stack *s, struct toec_tcb *t)
{
    toec_delack_forget(s, t);
    /* No answer came: the next ACK does not wait for one. */
    t->flags = (t->flags & ~(TOEC_F_DELACK | TOEC_F_PINGPONG)) | TOEC_F_ACK_NOW;
    TOEC_COUNT(s, tcp_delayed_acks);
    toec_pend(s, t);
}

/* Removes the oldest entry of a full queue; its flow's own timer takes over. */
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
    toec_delack_data(t, toec_ticks(now));
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

/* Returns the flow whose ACK has been pending longest; 0: none. Skips cleared entries. */
static struct toec_tcb *first(struct toec_tcp *tcp)
{
    while (tcp->owing_head != tcp->owing_tail && !*place(tcp, tcp->owing_head))
        tcp->owing_head++;
    return tcp->owing_head != tcp->owing_tail ? *place(tcp, tcp->owing_head) : 0;
}

void toec_delack_poll(struct toec_stack *s, toec_time now)
{
    unsigned left =
        TOEC_WHEEL_MOST; /* bounded like timers, so that frames are processed in between */
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
