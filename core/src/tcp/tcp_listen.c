/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_listen.c - listeners and passive opens (RFC 9293 3.10.7.2), the backlog of half-open flows
 * and the SYN cookies that take over when it is full (RFC 4987 3.6).
 */
#include "tcp_listen.h"

#include "../ip/ip_out.h"
#include "tcp.h"
#include "tcp_bind.h"
#include "tcp_emit.h"
#include "tcp_in.h"
#include "tcp_isn.h"
#include "tcp_open.h"
#include "tcp_opt.h"
#include "tcp_uto.h"

/* A SYN-ACK with a cookie is sent before buffers exist: it advertises a small window and the window
 * scale that the largest buffer needs. */
#define COOKIE_WINDOW  4096u
#define COOKIE_WSCALE  9u
#define COOKIE_NO_WS   15u
#define COOKIE_SACK    16u
#define COOKIE_ECN     32u
#define COOKIE_TS_BITS 63u

/* Returns the listener for port and addr, or (addr 0) a wildcard listener of these families. */
static struct toec_listener *find_exact(struct toec_stack *s, const struct toec_addr *addr,
                                        unsigned families, toec_u16 port)
{
    struct toec_hnode *n =
        toec_htab_first(&s->tcp->listen_tab, toec_word_hash(&s->keys.flow, port, 0));

    for (; n; n = toec_htab_next(n)) {
        struct toec_listener *l = TOEC_CONTAINER(n, struct toec_listener, node);

        if (l->port == port &&
            (addr ? !l->families && toec_addr_eq(&l->addr, addr) : (l->families & families) != 0))
            return l;
    }
    return 0;
}

struct toec_listener *toec_listener_find(struct toec_stack *s, const struct toec_addr *addr,
                                         toec_u16 port)
{
    struct toec_listener *l = find_exact(s, addr, 0, port);

    return l ? l : find_exact(s, 0, toec_addr_is4(addr) ? TOEC_L_IP4 : TOEC_L_IP6, port);
}

unsigned toec_any_families(const struct toec_addr *a, int only6)
{
    if (toec_addr_is_zero(a))
        return only6 ? TOEC_L_IP6 : TOEC_L_IP4 | TOEC_L_IP6;
    return toec_addr_is4(a) && toec_addr_get4(a) == 0 ? TOEC_L_IP4 : 0;
}

/* RFC 9293 MUST-41, MUST-42. */
int toec_listen(struct toec_stack *s, const struct toec_addr *addr, toec_u16 port, void *owner,
                toec_u32 syn_backlog, toec_u32 *id)
{
    struct toec_listener *l;
    unsigned families;

    if (port == 0 || !addr || !id)
        return TOEC_E_INVAL;
    families = toec_any_families(addr, (syn_backlog & TOEC_LISTEN_V6ONLY) != 0);
    syn_backlog &= ~TOEC_LISTEN_V6ONLY;
    if (!families && !toec_addr_is_own(s, addr))
        return TOEC_E_NOTAVAIL;
    if (find_exact(s, families ? 0 : addr, families, port))
        return TOEC_E_INUSE;
    l = toec_pool_get(&s->tcp->listeners);
    if (!l) {
        TOEC_COUNT(s, tcp_no_listener);
        return TOEC_E_NOBUFS;
    }
    memset(l, 0, sizeof(*l));
    l->owner = owner;
    l->addr = *addr;
    l->families = (toec_u8)families;
    l->port = port;
    l->ecn = (toec_u8)s->cfg.ecn;
    l->discover = TOEC_MTU_WANT;
    l->backlog = syn_backlog ? syn_backlog : TOEC_BACKLOG;
    l->live = 1;
    toec_htab_add(&s->tcp->listen_tab, &l->node, toec_word_hash(&s->keys.flow, port, 0));
    *id = toec_pool_index(&s->tcp->listeners, l);
    return 0;
}

int toec_unlisten(struct toec_stack *s, toec_u32 id)
{
    struct toec_listener *l;

    if (id >= s->tcp->listeners.fresh)
        return TOEC_E_INVAL;
    l = toec_pool_at(&s->tcp->listeners, id);
    if (!l->live)
        return TOEC_E_INVAL;
    while (l->half)
        toec_tcb_gone(s, l->half, TOEC_R_ABORTED);
    toec_ao_keys_free(s, &l->ao_keys);
    toec_htab_del(&s->tcp->listen_tab, &l->node);
    l->live = 0;
    toec_pool_put(&s->tcp->listeners, l);
    return 0;
}

void toec_half_open_add(struct toec_stack *s, struct toec_tcb *t, struct toec_listener *l)
{
    struct toec_half *h = &t->stage.half;

    t->rare |= TOEC_RARE_HALF;
    h->listener = l;
    h->next = l->half;
    h->prev = &l->half;
    if (l->half)
        l->half->stage.half.prev = &h->next;
    l->half = t;
    l->half_open++;
    s->tcp->half_open++;
}

void toec_half_open_del(struct toec_stack *s, struct toec_tcb *t)
{
    struct toec_half *h = &t->stage.half;

    *h->prev = h->next;
    if (h->next)
        h->next->stage.half.prev = h->prev;
    h->listener->half_open--;
    s->tcp->half_open--;
    t->rare &= (toec_u8)~TOEC_RARE_HALF;
}

/* Creates a flow in SYN-RECEIVED for SYN g, with buffers; returns 0 when refused (counted). */
static struct toec_tcb *open_flow(struct toec_stack *s, struct toec_listener *l,
                                  const struct toec_seg *g, toec_u32 iss, toec_u32 irs,
                                  toec_time now)
{
    struct toec_buffers bufs;
    struct toec_open info;
    struct toec_path path;
    struct toec_tcb *t;

    memset(&path, 0, sizeof(path));
    if (toec_path_to(s, g->id.remote, &path))
        return 0;
    t = toec_tcb_new(s, &g->id, g->hash, now);
    if (!t)
        return 0;
    info.local = *g->id.local;
    info.remote = *g->id.remote;
    info.local_port = g->id.local_port;
    info.remote_port = g->id.remote_port;
    info.hash = g->hash;
    memset(&bufs, 0, sizeof(bufs));
    if (g->ao_n && toec_ao_open(s, t, l, g)) {
        toec_tcb_discard(s, t);
        return 0;
    }
    if (toec_port_open(s->cfg.user, l->owner, &info, &bufs) || !toec_buffers_ok(&bufs)) {
        TOEC_COUNT(s, tcp_open_refused);
        toec_tcb_discard(s, t);
        return 0;
    }
    toec_tcb_buffers(t, &bufs);
    t->pm.reuse = l->reuse;
    toec_port_hold(s, &t->local, t->local_port, t->pm.reuse);
    t->path = path;
    t->ecn.policy = l->ecn;
    t->state = TOEC_SYN_RECEIVED;
    t->ts_off = toec_ts_offset(s, &g->id);
    toec_take_iss(t, iss);
    toec_take_irs(t, irs, toec_ticks(now));
    if (t->rare & TOEC_RARE_AO)
        toec_ao_derive(t, toec_ao_of(s, t));
    t->pm.discover = l->discover;
    t->pm.user_mss = l->user_mss;
    t->ecn.tos = l->tos;
    toec_take_options(t, g);
    toec_pm_start(s, t);
    toec_half_open_add(s, t, l);
    return t;
}

/* ---- SYN cookies ---- */

/* Encodes the options of the peer's SYN in the low bits of our timestamp, which the peer echoes. */
static toec_u32 cookie_ts(const struct toec_seg *g, int ecn, toec_time now)
{
    toec_u32 ticks = toec_ticks(now), ts;

    ts = (ticks & ~COOKIE_TS_BITS) | (g->has_wscale ? g->wscale : COOKIE_NO_WS) |
         (g->sack_ok ? COOKIE_SACK : 0) | (ecn ? COOKIE_ECN : 0);
    return TOEC_SEQ_GT(ts, ticks) ? ts - COOKIE_TS_BITS - 1 : ts;
}

static void send_cookie(struct toec_stack *s, struct toec_listener *l, const struct toec_seg *g,
                        toec_time now)
{
    toec_u8 opt[40];
    unsigned opts = 0, n, mss, flags = TOEC_TH_SYN | TOEC_TH_ACK;
    int ecn = g->has_ts && toec_ecn_grants(l->ecn, g);
    toec_u32 tsval = 0;
    struct toec_path path;

    memset(&path, 0, sizeof(path));
    if (toec_path_to(s, g->id.remote, &path))
        return;
    if (g->has_ts) {
        opts = TOEC_I_TIMESTAMPS;
        if (g->sack_ok)
            opts |= TOEC_I_SACK;
        if (g->has_wscale)
            opts |= TOEC_I_WSCALE;
        if (ecn)
            flags |= TOEC_TH_ECE;
        tsval = cookie_ts(g, ecn, now) + toec_ts_offset(s, &g->id);
    }
    mss = toec_own_mss(&path);
    if (l->user_mss && l->user_mss < mss)
        mss = l->user_mss;
    n = toec_opt_syn(opt, opts, mss, COOKIE_WSCALE, tsval, g->tsval);
    l->overflowed = 1;
    l->overflow_at = toec_ticks(now);
    TOEC_COUNT(s, tcp_cookies_sent);
    toec_send_bare(s, g, toec_cookie_make(s, g, now), g->seq + 1, flags, COOKIE_WINDOW, opt, n,
                   now);
}

/* Handles an ACK for a listener: the last segment of a cookie handshake, or a stray one (RST). */
static void take_cookie(struct toec_stack *s, struct toec_listener *l, struct toec_seg *g,
                        toec_time now)
{
    unsigned mss = 0;
    struct toec_tcb *t;
    int ecn = 0;

    /* Cookies are accepted only for a time after one was sent, so that guessing needs a SYN flood.
     */
    if (l->overflowed && toec_ticks(now) - l->overflow_at < TOEC_COOKIE_AGES << TOEC_COOKIE_TICK)
        mss = toec_cookie_check(s, g, now);
    if (mss == 0) {
        if (l->overflowed)
            TOEC_COUNT(s, tcp_cookies_bad);
        toec_send_rst(s, g, now);
        return;
    }
    g->mss = (toec_u16)mss;
    if (g->has_ts) {
        toec_u32 bits = g->tsecr - toec_ts_offset(s, &g->id);

        g->sack_ok = (bits & COOKIE_SACK) != 0;
        ecn = (bits & COOKIE_ECN) != 0 && l->ecn != TOEC_ECN_OFF;
        g->has_wscale = (bits & 15u) != COOKIE_NO_WS;
        g->wscale = (toec_u8)(bits & 15u);
    }
    t = open_flow(s, l, g, g->ack - 1, g->seq - 1, now);
    if (!t)
        return;
    TOEC_COUNT(s, tcp_cookies_taken);
    if (ecn)
        toec_ecn_start(s, t);
    if (g->has_wscale)
        t->scales = (toec_u8)(g->wscale << 4 | COOKIE_WSCALE);
    t->rcv_adv = t->rcv_nxt + TOEC_MIN(COOKIE_WINDOW, 1u << t->rx_log);
    t->snd_nxt = t->snd_max = t->iss + 1;
    toec_segment(s, t, g, now);
}

/* ---- segments ---- */

/* Returns not 0 when no further half-open flow may be created (RFC 4987 3.6). The half-open flows
 * of all listeners may use at most half of the otherwise free TCBs; the rest is for flows from
 * cookies.
 */
static int backlog_full(const struct toec_tcp *tcp, const struct toec_listener *l)
{
    toec_u32 half_open = tcp->half_open;

    return l->half_open >= l->backlog ||
           (half_open && half_open >= tcp->flows.total - tcp->flows.used);
}

void toec_listen_input(struct toec_stack *s, struct toec_listener *l, struct toec_seg *g,
                       toec_u32 iss, toec_time now)
{
    struct toec_tcb *t;

    if (g->flags & TOEC_TH_RST)
        return;
    if (g->flags & TOEC_TH_ACK) {
        if (g->flags & TOEC_TH_SYN)
            toec_send_rst(s, g, now);
        else
            take_cookie(s, l, g, now);
        return;
    }
    if (!(g->flags & TOEC_TH_SYN) || (g->flags & TOEC_TH_FIN)) {
        TOEC_COUNT(s, tcp_no_ack_bit);
        return;
    }
    TOEC_COUNT(s, tcp_syn_received);
    /* A peer that has proved to have the key (TCP-AO) needs no cookie. */
    if (!g->ao_n && backlog_full(s->tcp, l)) {
        send_cookie(s, l, g, now);
        return;
    }
    t = open_flow(s, l, g, iss, g->seq, now);
    if (!t)
        return;
    toec_ecn_take_syn(s, t, g);
    t->snd_wnd = g->wnd;
    t->snd_wl1 = g->seq;
    /* Text on the SYN is accepted only with Fast Open. Otherwise it is not acknowledged, and the
     * peer sends it again. */
    if (g->uto)
        toec_uto_input(t, g);
    if (!(t->rare & TOEC_RARE_AO))
        toec_tfo_open(s, l, t, g, now);
    toec_pend(s, t);
}
