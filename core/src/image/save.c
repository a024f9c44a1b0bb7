/* SPDX-License-Identifier: Apache-2.0 */
/* save.c - writes a stack as an image, from which another stack continues: see save.h. */
#include "save.h"

#include "../cc/cc_bbr.h"
#include "../cc/cc_bbr1.h"
#include "../cc/cc_cubic.h"
#include "../cc/cc_dctcp.h"
#include "../cc/cc_newreno.h"
#include "../tcp/tcp_delack.h"
#include "../tcp/tcp_eor.h"
#include "save_tables.h"

#define COUNTER_NAME(name, description) {#name, sizeof(#name) - 1},
static const struct counter_name {
    const char *text;
    unsigned len;
} counter_names[] = {TOEC_COUNTERS(COUNTER_NAME)};
#undef COUNTER_NAME

const char *toec_counter_name(unsigned i, unsigned *len)
{
    *len = counter_names[i].len;
    return counter_names[i].text;
}

static toec_u64 name_of(const struct toec_saver *to, void *owner, int listener)
{
    toec_u64 name = 0;

    to->name(to->arg, owner, listener, &name);
    return name;
}

static void fields(struct toec_image_out *o, const struct toec_table *t, const void *from)
{
    toec_image_fields(o, t->row, t->count, from);
}

static void whole(struct toec_image_out *o, unsigned type, const struct toec_table *t,
                  const void *from)
{
    toec_image_begin(o, type);
    fields(o, t, from);
    toec_image_end(o);
}

/* Returns the tick of expiry, at least that of now. */
static toec_u32 tick_of(const struct toec_timer *t, toec_time now)
{
    return TOEC_SEQ_LT(t->tick, toec_ticks(now)) ? toec_ticks(now) : t->tick;
}

static void timer(struct toec_image_out *o, const struct toec_timer *t, toec_time now)
{
    if (!toec_timer_pending(t))
        return;
    toec_image_int(o, TOEC_TAG_TICK, tick_of(t, now));
    toec_image_int(o, TOEC_TAG_TICK_SET, 1);
}

/* Writes one of several timers in a record. */
static void named_timer(struct toec_image_out *o, unsigned tag, const struct toec_timer *t,
                        toec_time now)
{
    if (toec_timer_pending(t))
        toec_image_int(o, tag, (toec_u64)tick_of(t, now) + 1);
}

/* ---- the stack ---- */

static void save_stack(struct toec_image_out *o, const struct toec_stack *s, toec_time now)
{
    toec_image_begin(o, TOEC_REC_STACK);
    toec_image_int(o, TOEC_TAG_VERSION, TOEC_SAVE_VERSION);
    toec_image_int(o, TOEC_TAG_TIME, now);
    toec_image_int(o, TOEC_TAG_FLOWS, s->tcp->flows.used);
    toec_image_bytes(o, TOEC_TAG_MAC, s->cfg.mac, 6);
    toec_image_bytes(o, TOEC_TAG_IP, s->cfg.ip, 4);
    toec_image_int(o, TOEC_TAG_SERIAL, s->tcp->tfo.serial);
    toec_image_int(o, TOEC_TAG_USES, s->tcp->tfo.uses);
    fields(o, &toec_t_stack, s);
    named_timer(o, TOEC_TAG_ANNOUNCE, &s->arp.announce, now);
    named_timer(o, TOEC_TAG_RS, &s->ip6.rs, now);
    named_timer(o, TOEC_TAG_EXPIRY, &s->ip6.expiry, now);
    named_timer(o, TOEC_TAG_MLD, &s->ip6.mld, now);
    toec_image_end(o);
}

static void save_counters(struct toec_image_out *o, const struct toec_stack *s)
{
    unsigned i;

    for (i = 0; i < TOEC_C_MAX; i++) {
        if (s->counters[i] == 0)
            continue;
        toec_image_begin(o, TOEC_REC_COUNTER);
        toec_image_bytes(o, TOEC_TAG_NAME, counter_names[i].text, counter_names[i].len);
        toec_image_int(o, TOEC_TAG_VALUE, s->counters[i]);
        toec_image_end(o);
    }
}

static void save_ip6(struct toec_image_out *o, const struct toec_ip6 *ip6, toec_time now)
{
    unsigned i;

    for (i = 0; i < TOEC_IP6_ADDRS; i++) {
        if (ip6->own[i].state == TOEC_OWN_FREE)
            continue;
        toec_image_begin(o, TOEC_REC_OWN6);
        toec_image_int(o, TOEC_TAG_INDEX, i);
        fields(o, &toec_t_own6, &ip6->own[i]);
        timer(o, &ip6->own[i].timer, now);
        toec_image_end(o);
    }
    for (i = 0; i < TOEC_IP6_PREFIXES; i++)
        if (ip6->prefix[i].until)
            whole(o, TOEC_REC_PREFIX6, &toec_t_prefix6, &ip6->prefix[i]);
    for (i = 0; i < TOEC_IP6_ROUTERS; i++)
        if (ip6->router[i].until)
            whole(o, TOEC_REC_ROUTER6, &toec_t_router6, &ip6->router[i]);
    for (i = 0; i < TOEC_IP6_REDIRECTS; i++)
        if (ip6->redirect[i].until)
            whole(o, TOEC_REC_REDIRECT6, &toec_t_redirect6, &ip6->redirect[i]);
}

static void save_caches(struct toec_image_out *o, const struct toec_stack *s, toec_time now)
{
    const struct toec_pmtu_entry *e;
    toec_u32 i;

    for (i = 0; i < s->neigh.pool.fresh; i++) {
        const struct toec_neigh *n = toec_pool_at(&s->neigh.pool, i);

        if (n->state == TOEC_NEIGH_FREE)
            continue;
        toec_image_begin(o, TOEC_REC_NEIGH);
        fields(o, &toec_t_neigh, n);
        timer(o, &n->timer, now);
        toec_image_end(o);
    }
    for (e = s->pmtu.oldest; e; e = e->newer) {
        toec_image_begin(o, TOEC_REC_PMTU);
        fields(o, &toec_t_pmtu, e);
        timer(o, &e->timer, now);
        toec_image_end(o);
    }
}

static void save_peers(struct toec_image_out *o, const struct toec_tfo_cache *c)
{
    unsigned i;

    for (i = 0; i < TOEC_FO_SETS * TOEC_FO_WAYS; i++) {
        const struct toec_tfo_peer *p = &c->peer[i / TOEC_FO_WAYS][i % TOEC_FO_WAYS];

        if (p->used == 0)
            continue;
        toec_image_begin(o, TOEC_REC_PEER);
        toec_image_int(o, TOEC_TAG_INDEX, i);
        fields(o, &toec_t_peer, p);
        toec_image_end(o);
    }
}

#define PIECE 255u

static void save_waiting(struct toec_image_out *o, const struct toec_wait *w)
{
    toec_u32 i, at;

    for (i = w->begin; i != w->end; i++) {
        const struct toec_waiting *x = &w->item[i % TOEC_WAIT_MAX];

        if (x->len == 0)
            continue;
        toec_image_begin(o, TOEC_REC_WAITING);
        fields(o, &toec_t_waiting, x);
        for (at = 0; at < x->len; at += PIECE)
            toec_image_bytes(o, TOEC_TAG_FRAME + at / PIECE, x->frame + at,
                             TOEC_MIN(PIECE, x->len - at));
        toec_image_end(o);
    }
}

/* ---- TCP-AO ---- */

static void save_keys(struct toec_image_out *o, const struct toec_ao_key *k)
{
    for (; k; k = k->next)
        whole(o, TOEC_REC_AO_KEY, &toec_t_ao_key, k);
}

static unsigned place_of(const struct toec_ao_key *list, const struct toec_ao_key *k)
{
    unsigned n = 0;

    for (; list != k; list = list->next)
        n++;
    return n;
}

static void save_ao(struct toec_image_out *o, const struct toec_ao *ao)
{
    save_keys(o, ao->keys);
    toec_image_begin(o, TOEC_REC_AO);
    fields(o, &toec_t_ao, ao);
    toec_image_int(o, TOEC_TAG_CURRENT, place_of(ao->keys, ao->current));
    toec_image_int(o, TOEC_TAG_RNEXT, place_of(ao->keys, ao->rnext));
    toec_image_end(o);
}

static void save_listeners(struct toec_image_out *o, const struct toec_stack *s,
                           const struct toec_saver *to)
{
    toec_u32 i;

    for (i = 0; i < s->tcp->listeners.fresh; i++) {
        const struct toec_listener *l = toec_pool_at(&s->tcp->listeners, i);

        if (!l->live)
            continue;
        toec_image_begin(o, TOEC_REC_LISTENER);
        toec_image_int(o, TOEC_TAG_INDEX, i);
        toec_image_int(o, TOEC_TAG_OWNER, name_of(to, l->owner, 1));
        fields(o, &toec_t_listener, l);
        toec_image_end(o);
        if (!l->ao_keys)
            continue;
        save_keys(o, l->ao_keys);
        toec_image_begin(o, TOEC_REC_AO_LISTENER);
        toec_image_int(o, TOEC_TAG_INDEX, i);
        toec_image_end(o);
    }
}

/* ---- a flow ---- */

static void save_cc(struct toec_image_out *o, const struct toec_tcb *t)
{
    if (t->cc_ops == &toec_cc_newreno)
        whole(o, TOEC_REC_NEWRENO, &toec_t_newreno, &t->cc.u.newreno);
    else if (t->cc_ops == &toec_cc_cubic)
        whole(o, TOEC_REC_CUBIC, &toec_t_cubic, &t->cc.u.cubic);
    else if (t->cc_ops == &toec_cc_dctcp)
        whole(o, TOEC_REC_DCTCP, &toec_t_dctcp, &t->cc.u.dctcp);
    else if (t->cc_ops == &toec_cc_bbr1 && t->cc.u.bbr1)
        whole(o, TOEC_REC_BBR1, &toec_t_bbr1, t->cc.u.bbr1);
    else if (t->cc_ops == &toec_cc_bbr3 && t->cc.u.bbr)
        whole(o, TOEC_REC_BBR, &toec_t_bbr, t->cc.u.bbr);
    if (t->rack.record && toec_rate_wanted(t))
        whole(o, TOEC_REC_RATE, &toec_t_rate, toec_rate_of(t));
}

static void save_flight(struct toec_image_out *o, const struct toec_tcb *t, toec_time now)
{
    unsigned i;

    if (t->pace) {
        toec_image_begin(o, TOEC_REC_PACE);
        fields(o, &toec_t_pace, t->pace);
        timer(o, &t->pace->timer, now << TOEC_PACE_SHIFT);
        toec_image_end(o);
    }
    if (t->rack.episode)
        whole(o, TOEC_REC_EPISODE, &toec_t_episode, t->rack.episode);
    for (i = 0; i < t->rack.n; i++) {
        struct toec_run run;

        run = t->rack.run[i];
        if (!toec_rate_wanted(t)) /* not filled then */
            memset(&run.rate, 0, sizeof(run.rate));
        whole(o, TOEC_REC_RUN, &toec_t_run, &run);
    }
    for (i = 0; i < t->n_ooo; i++)
        whole(o, TOEC_REC_GAP, &toec_t_gap, &t->ooo[i]);
}

/* Writes an ACK in the queue of tcp_delack.c as if the flow's timer were set for it. */
static void settle_delack(struct toec_tcb *t, toec_time now)
{
    toec_u32 due = toec_ticks(now) + toec_delack_left(t, toec_ticks(now));

    if (!(t->flags & TOEC_F_DELACK) ||
        ((t->flags & TOEC_F_ARMED) && TOEC_SEQ_LE(t->timer_due, due)))
        return;
    t->flags |= TOEC_F_ARMED;
    t->timer_due = due;
}

/* In an image, a reason other than 0 implies a soft error. */
static void settle_reason(struct toec_tcb *t)
{
    if (!(t->rare & TOEC_RARE_SOFT))
        t->reason = 0;
    t->rare &= (toec_u8)~TOEC_RARE_SOFT;
}

/* Writes the boundaries that are not acknowledged. */
static void save_eor(struct toec_image_out *o, const struct toec_stack *s, const struct toec_tcb *t)
{
    const struct toec_eor *e = toec_eor_of(s, t);
    toec_u32 i;

    for (i = 0; i < e->n; i++) {
        if (TOEC_SEQ_LE(e->at[i], t->snd_una))
            continue;
        toec_image_begin(o, TOEC_REC_EOR);
        toec_image_int(o, TOEC_TAG_VALUE, e->at[i]);
        toec_image_end(o);
    }
}

static void save_flow(struct toec_image_out *o, const struct toec_tcb *of,
                      const struct toec_stack *s, const struct toec_saver *to, toec_time now)
{
    struct toec_tcb t;
    unsigned cc = 0;

    t = *of;
    settle_delack(&t, now);
    settle_reason(&t);
    t.flags &= ~TOEC_F_PARKED;
    t.rare &= (toec_u8)~TOEC_RARE_EOR; /* set by the records that follow; unknown to old releases */
    while (toec_cc_get(cc) != t.cc_ops)
        cc++;
    toec_image_begin(o, TOEC_REC_FLOW);
    fields(o, &toec_t_flow, &t);
    toec_image_int(o, TOEC_TAG_OWNER, name_of(to, t.owner, 0));
    toec_image_int(o, TOEC_TAG_CC, cc);
    toec_image_int(o, TOEC_TAG_RECORD, t.rack.record != 0);
    toec_image_int(o, TOEC_TAG_GAPS, t.ooo_room != TOEC_OOO_OWN);
    if (t.rare & TOEC_RARE_HALF)
        toec_image_int(o, TOEC_TAG_LISTENER,
                       toec_pool_index(&s->tcp->listeners, t.stage.half.listener) + 1u);
    toec_image_end(o);
    if (!(t.rare & TOEC_RARE_HALF))
        whole(o, TOEC_REC_CWV, &toec_t_cwv, &t.stage.cwv);
    save_cc(o, of);
    save_flight(o, of, now);
    if (of->rare & TOEC_RARE_AO)
        save_ao(o, toec_ao_of(s, of));
    if (of->rare & TOEC_RARE_EOR)
        save_eor(o, s, of);
}

/* Saves the flows in use. These are in CLOSED only within a call (tcp.c). */
static toec_u32 save_flows(struct toec_image_out *o, const struct toec_stack *s,
                           const struct toec_saver *to, toec_time now)
{
    toec_u32 i, n = 0;

    for (i = 0; i < s->tcp->flows.fresh && !o->failed; i++) {
        const struct toec_tcb *t = toec_pool_at(&s->tcp->flows, i);

        if (t->state == TOEC_CLOSED)
            continue;
        save_flow(o, t, s, to, now);
        n++;
    }
    return n;
}

int toec_save(const struct toec_stack *s, const struct toec_saver *to, toec_time now)
{
    struct toec_image_out o;
    const struct toec_tw *w;

    toec_image_start(&o, to->put, to->arg);
    save_stack(&o, s, now);
    save_counters(&o, s);
    save_ip6(&o, &s->ip6, now);
    save_caches(&o, s, now);
    save_peers(&o, &s->tcp->tfo);
    save_waiting(&o, &s->wait);
    save_listeners(&o, s, to);
    if (save_flows(&o, s, to, now) != s->tcp->flows.used)
        return TOEC_E_NOBUFS;
    for (w = s->tcp->tw_first; w; w = w->next) {
        whole(&o, TOEC_REC_TW, &toec_t_tw, w);
        if (w->ao)
            save_ao(&o, w->ao);
    }
    toec_image_begin(&o, TOEC_REC_END);
    toec_image_end(&o);
    return o.failed ? TOEC_E_NOBUFS : 0;
}
