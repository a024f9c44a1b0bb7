/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_tw.c - TIME-WAIT (RFC 9293 3.6, RFC 1337, RFC 6191), kept in separate small entries: a closed
 * flow frees its TCB and buffers at once.
 */
#include "tcp_tw.h"

#include "tcp.h"
#include "tcp_bind.h"
#include "tcp_emit.h"
#include "tcp_opt.h"
#include "tcp_timer.h"

struct toec_tw *toec_tw_find(struct toec_stack *s, toec_u32 hash, const struct toec_tuple *id)
{
    struct toec_hnode *n = toec_htab_first(&s->tcp->tw_tab, hash);

    for (; n; n = toec_htab_next(n)) {
        struct toec_tw *w = TOEC_CONTAINER(n, struct toec_tw, node);

        if (toec_addr_eq(&w->remote, id->remote) && toec_addr_eq(&w->local, id->local) &&
            w->local_port == id->local_port && w->remote_port == id->remote_port)
            return w;
    }
    return 0;
}

int toec_flow_waits(struct toec_stack *s, const struct toec_tcb *t)
{
    const struct toec_tw *w;
    struct toec_tuple id;

    id.local = &t->local;
    id.remote = &t->remote;
    id.local_port = t->local_port;
    id.remote_port = t->remote_port;
    w = toec_tw_find(s, t->node.hash, &id);
    return w ? w->reuse : -1;
}

static void queue_del(struct toec_tcp *tcp, struct toec_tw *w)
{
    if (w->prev)
        w->prev->next = w->next;
    else
        tcp->tw_first = w->next;
    if (w->next)
        w->next->prev = w->prev;
    else
        tcp->tw_last = w->prev;
}

/* All entries wait equally long, so the order of entry is the order of expiry. */
static void queue_add(struct toec_stack *s, struct toec_tw *w, toec_time now)
{
    struct toec_tcp *tcp = s->tcp;

    w->next = 0;
    w->prev = tcp->tw_last;
    if (tcp->tw_last)
        tcp->tw_last->next = w;
    else
        tcp->tw_first = w;
    tcp->tw_last = w;
    if (!toec_timer_pending(&tcp->tw_timer))
        toec_timer_set(s, &tcp->tw_timer, TOEC_TMR_TW,
                       toec_tick_time(w->since + TOEC_TIME_WAIT_T, now));
}

void toec_tw_free(struct toec_stack *s, struct toec_tw *w)
{
    queue_del(s->tcp, w);
    toec_port_leave(s, &w->local, w->local_port, w->reuse);
    if (w->ao)
        toec_ao_free(s, w->ao);
    toec_htab_del(&s->tcp->tw_tab, &w->node);
    toec_pool_put(&s->tcp->tws, w);
}

/* RFC 9293 MUST-13. */
void toec_tw_enter(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    struct toec_tw *w = toec_pool_get(&s->tcp->tws);

    if (!w && s->tcp->tw_first) {
        TOEC_COUNT(s, tcp_tw_recycled);
        toec_tw_free(s, s->tcp->tw_first);
        w = toec_pool_get(&s->tcp->tws);
    }
    if (w) {
        w->local = t->local;
        w->remote = t->remote;
        w->local_port = t->local_port;
        w->remote_port = t->remote_port;
        w->snd_nxt = t->snd_max;
        w->rcv_nxt = t->rcv_nxt;
        w->wnd = 0;
        if (TOEC_SEQ_GT(t->rcv_adv, t->rcv_nxt))
            w->wnd = (toec_u16)((t->rcv_adv - t->rcv_nxt) >> toec_rcv_scale(t));
        w->has_ts = (t->flags & TOEC_F_TS) != 0;
        w->ts_recent = t->ts_recent;
        w->ts_off = t->ts_off;
        w->reuse = t->pm.reuse;
        t->pm.reuse = TOEC_REUSE_GIVEN; /* the entry now holds the port */
        w->acked_at = toec_ticks(now) - TOEC_CHALLENGE_T;
        w->ao = (t->rare & TOEC_RARE_AO) ? toec_ao_detach(s, t) : 0;
        toec_htab_add(&s->tcp->tw_tab, &w->node, t->node.hash);
        w->since = toec_ticks(now);
        queue_add(s, w, now);
    }
    toec_tcb_gone(s, t, TOEC_R_OK);
}

void toec_tw_again(struct toec_stack *s, const struct toec_tw *is, toec_u32 hash, toec_time now)
{
    struct toec_tw *w = toec_pool_get(&s->tcp->tws);

    if (!w) { /* the pool is smaller than before: replace the oldest entry */
        TOEC_COUNT(s, tcp_tw_recycled);
        toec_tw_free(s, s->tcp->tw_first);
        w = toec_pool_get(&s->tcp->tws);
    }
    *w = *is;
    toec_port_hold(s, &w->local, w->local_port, w->reuse);
    toec_htab_add(&s->tcp->tw_tab, &w->node, hash);
    queue_add(s, w, now);
}

void toec_tw_expire(struct toec_stack *s, toec_time now)
{
    struct toec_tcp *tcp = s->tcp;
    toec_u32 ticks = toec_ticks(now);

    while (tcp->tw_first && ticks - tcp->tw_first->since >= TOEC_TIME_WAIT_T)
        toec_tw_free(s, tcp->tw_first);
    if (tcp->tw_first)
        toec_timer_set(s, &tcp->tw_timer, TOEC_TMR_TW,
                       toec_tick_time(tcp->tw_first->since + TOEC_TIME_WAIT_T, now));
}

int toec_tw_reusable(const struct toec_tw *w, toec_time now)
{
    return w->has_ts && toec_ticks(now) - w->since > TOEC_MS(1000);
}

toec_u32 toec_tw_reopen(struct toec_stack *s, struct toec_tw *w, toec_u32 iss)
{
    toec_u32 least = w->snd_nxt + 65536u;

    TOEC_COUNT(s, tcp_tw_reopened);
    toec_tw_free(s, w);
    return TOEC_SEQ_LT(iss, least) ? least : iss;
}

static void tw_ack(struct toec_stack *s, struct toec_tw *w, const struct toec_seg *g, toec_time now)
{
    toec_u8 opt[12];
    unsigned n = 0;

    w->acked_at = toec_ticks(now);
    if (w->has_ts)
        n = toec_opt_ts(opt, toec_ticks(now) + w->ts_off, w->ts_recent);
    toec_send_bare(s, g, w->snd_nxt, w->rcv_nxt, TOEC_TH_ACK, w->wnd, opt, n, now);
}

/* A RST ends TIME-WAIT when it has the expected number and, with PAWS, no older timestamp, as on
 * Linux: a peer that has forgotten the connection answers our ACKs to its new SYN so, and would
 * otherwise stay locked out for 2 MSL. toec_config.rfc1337 forbids this assassination: R1337-01. */
static void tw_rst(struct toec_stack *s, struct toec_tw *w, const struct toec_seg *g, int stale)
{
    if (s->cfg.rfc1337 || stale || g->seq != w->rcv_nxt) {
        TOEC_COUNT(s, tcp_tw_rst_ignored);
        return;
    }
    TOEC_COUNT(s, tcp_rst_received);
    toec_tw_free(s, w);
}

/* RFC 9293 SHLD-4, MAY-2. */
int toec_tw_input(struct toec_stack *s, struct toec_tw *w, const struct toec_seg *g, toec_u32 *iss,
                  toec_time now)
{
    int stale = w->has_ts && g->has_ts && TOEC_SEQ_LT(g->tsval, w->ts_recent);
    int newer = (w->has_ts && g->has_ts && TOEC_SEQ_GT(g->tsval, w->ts_recent)) ||
                (!stale && TOEC_SEQ_GT(g->seq, w->rcv_nxt));

    if (g->flags & TOEC_TH_RST) {
        tw_rst(s, w, g, stale);
        return 0;
    }
    /* RFC 6191 2, RFC 9293 3.6.1: a SYN that is certainly newer opens a new incarnation. Without a
     * listener it is refused like any other SYN: its sender learns of the refusal at once. */
    if (newer && (g->flags & (TOEC_TH_SYN | TOEC_TH_ACK)) == TOEC_TH_SYN) {
        if (iss)
            *iss = toec_tw_reopen(s, w, *iss);
        return 1;
    }
    /* A retransmitted FIN shows that the peer has not received our ACK: restart the 2 MSL. */
    if ((g->flags & TOEC_TH_FIN) && !stale && g->seq + g->len + 1 == w->rcv_nxt) {
        queue_del(s->tcp, w);
        w->since = toec_ticks(now);
        queue_add(s, w, now);
        tw_ack(s, w, g, now);
        return 0;
    }
    /* An ACK with the expected numbers needs no answer. Anything else is acknowledged, at a limited
     * rate, so that two ends in TIME-WAIT cannot cause an ACK loop. */
    if (!(g->flags & (TOEC_TH_SYN | TOEC_TH_FIN)) && g->len == 0 && g->seq == w->rcv_nxt && !stale)
        return 0;
    if (toec_ticks(now) - w->acked_at >= TOEC_CHALLENGE_T / 2)
        tw_ack(s, w, g, now);
    else
        TOEC_COUNT(s, tcp_challenge_limited);
    return 0;
}
