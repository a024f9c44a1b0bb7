/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp.c - TCP's memory, its flows, and the entry point of segments (RFC 9293 3.10.7): finds the
 * flow, TIME-WAIT entry or listener that a segment is for.
 */
#include "tcp.h"

#include "../cc/tcp_record.h"
#include "../ip/ip4_in.h"
#include "../ip/ip4_out.h"
#include "tcp_ao_seg.h"
#include "tcp_bind.h"
#include "tcp_delack.h"
#include "tcp_emit.h"
#include "tcp_eor.h"
#include "tcp_expect.h"
#include "tcp_icmp.h"
#include "tcp_if.h"
#include "tcp_in.h"
#include "tcp_isn.h"
#include "tcp_listen.h"
#include "tcp_opt.h"
#include "tcp_out.h"
#include "tcp_reclaim.h"
#include "tcp_runs.h"
#include "tcp_sack.h"
#include "tcp_tw.h"

/* ---- memory ---- */

static unsigned long round64(unsigned long n)
{
    return (n + 63ul) & ~63ul;
}

#define RECORD_SIZE round64(sizeof(struct toec_record))
#define GAPS_SIZE   round64(TOEC_OOO_MAX * sizeof(struct toec_iv))

static unsigned long tab_size(toec_u32 items)
{
    return round64(toec_htab_buckets(items) * sizeof(struct toec_hnode *));
}

unsigned long toec_tcp_size(const struct toec_config *cfg)
{
    unsigned long n = round64(sizeof(struct toec_tcp));

    n += round64(sizeof(struct toec_tcb)) * cfg->max_flows;
    n += 2 * round64(sizeof(struct toec_tcb *) * (unsigned long)cfg->max_flows);
    n += round64(toec_delack_size(cfg));
    n += (RECORD_SIZE + GAPS_SIZE) * cfg->max_records;
    n += round64(sizeof(struct toec_pace) * (unsigned long)cfg->max_flows);
    n += round64(sizeof(struct toec_episode) * (unsigned long)cfg->max_flows);
    n += round64(sizeof(struct toec_eor) * (unsigned long)cfg->max_flows);
    if (cfg->max_ao_keys) {
        n += round64(sizeof(struct toec_ao) * (unsigned long)cfg->max_ao_keys);
        n += round64(sizeof(struct toec_ao_key) * (unsigned long)cfg->max_ao_keys);
        n += round64(sizeof(struct toec_ao *) * (unsigned long)cfg->max_flows);
    }
    n += round64(round64(sizeof(struct toec_tw)) * cfg->max_time_wait);
    n += round64(round64(sizeof(struct toec_listener)) * cfg->max_listeners);
    n += round64(round64(toec_holders_size()) * toec_holders_most(cfg));
    n += tab_size(toec_holders_most(cfg));
    n += tab_size(cfg->max_flows) + tab_size(cfg->max_time_wait) + tab_size(cfg->max_listeners);
    return n;
}

/* Takes `size` bytes, rounded up to a multiple of 64, from *mem. */
static void *carve(toec_u8 **mem, unsigned long size)
{
    void *p = *mem;

    *mem += round64(size);
    return p;
}

static void carve_pool(toec_u8 **mem, struct toec_pool *pool, struct toec_htab *tab,
                       unsigned long size, toec_u32 total)
{
    toec_u32 buckets = toec_htab_buckets(total);

    size = round64(size);
    toec_pool_init(pool, carve(mem, size * total), (toec_u32)size, total);
    toec_htab_init(tab, carve(mem, buckets * sizeof(struct toec_hnode *)), buckets);
}

/* A connection with TCP-AO has at least one key, so there are as many states as keys. */
static void init_ao(struct toec_tcp *tcp, toec_u8 **mem, const struct toec_config *cfg)
{
    unsigned long flows = sizeof(struct toec_ao *) * (unsigned long)cfg->max_flows;
    toec_u32 n = cfg->max_ao_keys;

    if (n == 0)
        return;
    toec_pool_init(&tcp->aos, carve(mem, sizeof(struct toec_ao) * (unsigned long)n),
                   sizeof(struct toec_ao), n);
    toec_pool_init(&tcp->ao_keys, carve(mem, sizeof(struct toec_ao_key) * (unsigned long)n),
                   sizeof(struct toec_ao_key), n);
    tcp->ao_of = carve(mem, flows);
    memset(tcp->ao_of, 0, flows);
}

void toec_tcp_init(struct toec_stack *s, void *mem, toec_time now)
{
    toec_u8 *at = mem;
    struct toec_tcp *tcp = carve(&at, sizeof(*tcp));
    unsigned long owing;

    (void)now;
    memset(tcp, 0, sizeof(*tcp));
    s->tcp = tcp;
    toec_wheel_init(&tcp->pace_wheel, now << TOEC_PACE_SHIFT);
    carve_pool(&at, &tcp->flows, &tcp->flow_tab, sizeof(struct toec_tcb), s->cfg.max_flows);
    carve_pool(&at, &tcp->tws, &tcp->tw_tab, sizeof(struct toec_tw), s->cfg.max_time_wait);
    carve_pool(&at, &tcp->listeners, &tcp->listen_tab, sizeof(struct toec_listener),
               s->cfg.max_listeners);
    carve_pool(&at, &tcp->holders, &tcp->holder_tab, toec_holders_size(),
               toec_holders_most(&s->cfg));
    tcp->pending = carve(&at, sizeof(struct toec_tcb *) * (unsigned long)s->cfg.max_flows);
    tcp->parked = carve(&at, sizeof(struct toec_tcb *) * (unsigned long)s->cfg.max_flows);
    owing = toec_delack_size(&s->cfg);
    toec_delack_init(tcp, carve(&at, owing), owing);
    toec_pool_init(&tcp->records, carve(&at, RECORD_SIZE * s->cfg.max_records),
                   (toec_u32)RECORD_SIZE, s->cfg.max_records);
    toec_pool_init(&tcp->gaps, carve(&at, GAPS_SIZE * s->cfg.max_records), (toec_u32)GAPS_SIZE,
                   s->cfg.max_records);
    toec_pool_init(&tcp->paces,
                   carve(&at, sizeof(struct toec_pace) * (unsigned long)s->cfg.max_flows),
                   sizeof(struct toec_pace), s->cfg.max_flows);
    toec_pool_init(&tcp->episodes,
                   carve(&at, sizeof(struct toec_episode) * (unsigned long)s->cfg.max_flows),
                   sizeof(struct toec_episode), s->cfg.max_flows);
    tcp->eor_of = carve(&at, sizeof(struct toec_eor) * (unsigned long)s->cfg.max_flows);
    init_ao(tcp, &at, &s->cfg);
}

toec_u32 toec_flow_count(const struct toec_stack *s)
{
    return s->tcp->flows.used;
}

void toec_tcp_usage(const struct toec_stack *s, struct toec_usage *out)
{
    out->flows = s->tcp->flows.used;
    out->records = s->tcp->records.used;
    out->gaps = s->tcp->gaps.used;
    out->half_open = s->tcp->half_open;
    out->listeners = s->tcp->listeners.used;
    out->time_wait = s->tcp->tws.used;
    out->ao_keys = s->tcp->ao_keys.used;
}

/* ---- flows ---- */

toec_u32 toec_tuple_hash(const struct toec_stack *s, const struct toec_tuple *id)
{
    return toec_flow_hash(&s->keys.flow, id->local, id->remote, id->local_port, id->remote_port);
}

/* The hash shows the address family. IPv4 has a single local address, so the hot part of the TCB
 * suffices to identify an IPv4 flow. */
struct toec_tcb *toec_tcb_find(struct toec_stack *s, toec_u32 hash, const struct toec_tuple *id)
{
    struct toec_hnode *n = toec_htab_first(&s->tcp->flow_tab, hash);
    toec_u32 last = toec_addr_get4(id->remote);

    for (; n; n = toec_htab_next(n)) {
        struct toec_tcb *t = TOEC_CONTAINER(n, struct toec_tcb, node);

        if (t->remote_ip == last && t->local_port == id->local_port &&
            t->remote_port == id->remote_port &&
            (!(hash & TOEC_HASH_IP6) ||
             (toec_addr_eq(&t->remote, id->remote) && toec_addr_eq(&t->local, id->local))))
            return t;
    }
    return 0;
}

struct toec_tcb *toec_tcb_new(struct toec_stack *s, const struct toec_tuple *id, toec_u32 hash,
                              toec_time now)
{
    struct toec_tcb *t = toec_pool_get(&s->tcp->flows);

    if (!t && toec_reclaim(s, now) == 0)
        t = toec_pool_get(&s->tcp->flows);
    if (!t) {
        TOEC_COUNT(s, tcp_no_flow);
        return 0;
    }
    memset(t, 0, sizeof(*t));
    t->remote_ip = toec_addr_get4(id->remote);
    t->remote = *id->remote;
    t->local = *id->local;
    t->local_port = id->local_port;
    t->remote_port = id->remote_port;
    toec_runs_init(t);
    toec_ooo_init(t);
    t->state = TOEC_CLOSED;
    t->rto = (toec_u16)(TOEC_RTO_INIT / 4u);
    t->quick = TOEC_QUICKACKS;
    t->keep_idle = 7200;
    t->keep_intvl = 75;
    t->keep_cnt = 9;
    t->linger2 = TOEC_LINGER2_T;
    t->cc_ops = toec_cc_get((unsigned)s->cfg.cc);
    t->ecn.policy = (toec_u8)s->cfg.ecn;
    t->pm.discover = TOEC_MTU_WANT;
    toec_htab_add(&s->tcp->flow_tab, &t->node, hash);
    return t;
}

static toec_u8 log2_of(toec_u32 n)
{
    toec_u8 l = 0;

    while (n > 1) {
        n >>= 1;
        l++;
    }
    return l;
}

void toec_tcb_buffers(struct toec_tcb *t, const struct toec_buffers *b)
{
    t->owner = b->owner;
    t->tx_log = log2_of(b->tx_size);
    t->rx_log = log2_of(b->rx_size);
}

int toec_buffers_ok(const struct toec_buffers *b)
{
    return b->tx_size >= 1024 && b->tx_size <= 16u << 20 && (b->tx_size & (b->tx_size - 1)) == 0 &&
           b->rx_size >= 1024 && b->rx_size <= 16u << 20 && (b->rx_size & (b->rx_size - 1)) == 0;
}

void toec_event(struct toec_stack *s, struct toec_tcb *t, enum toec_event ev, toec_u32 arg)
{
    toec_port_event(s->cfg.user, t->owner, t, ev, arg);
}

/*
 * Flows with pending output wait in a FIFO, so that each gets its turn when transmit has room for
 * few of them; otherwise later flows would starve. Flows whose neighbour is being resolved are kept
 * in a separate list, so that polls do not visit them in vain.
 */
static toec_u32 queue_at(const struct toec_stack *s, toec_u32 n)
{
    toec_u32 at = s->tcp->pending_first + n;

    return at < s->cfg.max_flows ? at : at - s->cfg.max_flows;
}

static void list_put(struct toec_tcb **list, struct toec_tcb *t, toec_u32 at)
{
    t->pend_at = at;
    list[at] = t;
}

void toec_pend(struct toec_stack *s, struct toec_tcb *t)
{
    if (t->flags & TOEC_F_PENDING)
        return;
    t->flags |= TOEC_F_PENDING;
    list_put(s->tcp->pending, t, queue_at(s, s->tcp->pending_n++));
}

/* When a flow in the middle leaves, because it ends or toec_output_flow() has sent, the first entry
 * moves into its place; all others keep theirs. */
static void unpend(struct toec_stack *s, struct toec_tcb *t)
{
    struct toec_tcp *tcp = s->tcp;

    if (!(t->flags & TOEC_F_PENDING))
        return;
    if (t->flags & TOEC_F_PARKED) {
        list_put(tcp->parked, tcp->parked[--tcp->parked_n], t->pend_at);
    } else if (t->pend_at == queue_at(s, tcp->pending_n - 1)) {
        tcp->pending_n--; /* the last entry */
    } else {
        list_put(tcp->pending, tcp->pending[tcp->pending_first], t->pend_at);
        tcp->pending_first = queue_at(s, 1);
        tcp->pending_n--;
    }
    t->flags &= ~(TOEC_F_PENDING | TOEC_F_PARKED);
}

static void park(struct toec_stack *s, struct toec_tcb *t)
{
    unpend(s, t);
    t->flags |= TOEC_F_PENDING | TOEC_F_PARKED;
    list_put(s->tcp->parked, t, s->tcp->parked_n++);
}

void toec_unpark(struct toec_stack *s, struct toec_tcb *t)
{
    if (!(t->flags & TOEC_F_PARKED))
        return;
    unpend(s, t);
    toec_pend(s, t);
}

/* A neighbour was resolved or has failed: all parked flows try again. */
static void unpark_all(struct toec_stack *s)
{
    struct toec_tcp *tcp = s->tcp;

    while (tcp->parked_n)
        toec_unpark(s, tcp->parked[tcp->parked_n - 1]);
}

void toec_tcb_discard(struct toec_stack *s, struct toec_tcb *t)
{
    if (t->rare & TOEC_RARE_AO)
        toec_ao_free(s, toec_ao_detach(s, t));
    toec_delack_forget(s, t);
    toec_htab_del(&s->tcp->flow_tab, &t->node);
    toec_pace_put(s, t);
    toec_record_return(s, t);
    toec_episode_put(s, t);
    toec_ooo_clear(s, t);
    toec_pool_put(&s->tcp->flows, t);
}

void toec_tcb_gone(struct toec_stack *s, struct toec_tcb *t, enum toec_reason why)
{
    if (t->rare & TOEC_RARE_HALF)
        toec_half_open_del(s, t);
    if (t->rare & TOEC_RARE_AO)
        toec_ao_free(s, toec_ao_detach(s, t));
    if (t->fo.flags & TOEC_FO_SYN)
        toec_tfo_end(s, t, 0, 0);
    unpend(s, t);
    toec_timer_cancel(s, &t->timer);
    toec_delack_forget(s, t);
    toec_pace_put(s, t);
    toec_htab_del(&s->tcp->flow_tab, &t->node);
    if (t->pm.reuse != TOEC_REUSE_GIVEN)
        toec_port_leave(s, &t->local, t->local_port, t->pm.reuse);
    t->state = TOEC_CLOSED;
    toec_event(s, t, TOEC_EV_GONE, (toec_u32)why);
    toec_record_return(s, t);
    toec_episode_put(s, t);
    toec_ooo_clear(s, t);
    toec_pool_put(&s->tcp->flows, t);
}

/* ---- segments ---- */

/* Parses the header into *g; returns 0, or -1 when the segment is dropped (counted). RFC 9293
 * MUST-3. */
static int parse(struct toec_stack *s, const struct toec_ip_in *in, struct toec_seg *g)
{
    const toec_u8 *h = in->l4;
    unsigned hlen;

    if (in->l4_len < TOEC_TCP_LEN || in->l4_head < TOEC_TCP_LEN) {
        TOEC_COUNT(s, tcp_bad_header);
        return -1;
    }
    hlen = toec_tcp_hlen(h);
    if (hlen < TOEC_TCP_LEN || hlen > in->l4_len || hlen > in->l4_head) {
        TOEC_COUNT(s, tcp_bad_header);
        return -1;
    }
    if (!toec_ip_l4_sum_ok(s, in)) {
        TOEC_COUNT(s, tcp_bad_checksum);
        return -1;
    }
    g->pkt = in->pkt;
    g->header = h;
    g->id.local = &in->dst;
    g->id.remote = &in->src;
    g->id.local_port = toec_tcp_dport(h);
    g->id.remote_port = toec_tcp_sport(h);
    g->seq = toec_tcp_seq(h);
    g->ack = toec_tcp_ack(h);
    g->flags = toec_tcp_flags(h);
    g->wnd = toec_tcp_wnd(h);
    g->off = in->l4_off + hlen;
    g->len = in->l4_len - hlen;
    g->tos = in->tos;
    g->mss = 0;
    g->has_ts = 0;
    g->sack_ok = 0;
    g->unscaled = 0;
    g->has_wscale = 0;
    g->wscale = 0;
    g->n_sack = 0;
    g->urg = toec_get16(h + TOEC_TCP_URG);
    g->uto = 0;
    g->has_fo = 0;
    g->fo_len = 0;
    g->ao_n = 0;
    g->auth = 0;
    if (toec_opt_parse(g, h + TOEC_TCP_LEN, hlen - TOEC_TCP_LEN)) {
        TOEC_COUNT(s, tcp_bad_option);
        return -1;
    }
    if (g->flags & TOEC_TH_SYN)
        toec_opt_without(g, s->cfg.tcp_without);
    return 0;
}

void toec_tcp_segment(struct toec_stack *s, struct toec_seg *g, toec_time now)
{
    struct toec_tcb *t;
    struct toec_tw *w;
    struct toec_listener *l;
    toec_u32 iss;

    TOEC_COUNT(s, tcp_rx);
    /* A segment from ourselves is forged (land attack, RFC 9293 MUST-63); port 0 is reserved
     * (RFC 6335 6). */
    if ((toec_addr_eq(g->id.remote, g->id.local) && !(g->pkt->flags & TOEC_RX_LOCAL)) ||
        g->id.local_port == 0 || g->id.remote_port == 0) {
        TOEC_COUNT(s, tcp_bad_source);
        return;
    }
    g->hash = toec_tuple_hash(s, &g->id);
    t = toec_tcb_find(s, g->hash, &g->id);
    if (t) {
        if (TOEC_UNLIKELY(((t->rare & TOEC_RARE_AO) | g->ao_n) != 0) &&
            toec_ao_refuses(s, g, t, 0, 0))
            return;
        toec_segment(s, t, g, now);
        return;
    }
    iss = toec_isn(s, &g->id, now);
    w = toec_tw_find(s, g->hash, &g->id);
    l = toec_listener_find(s, g->id.local, g->id.local_port);
    if ((g->ao_n | s->cfg.max_ao_keys) && toec_ao_refuses(s, g, 0, w, l))
        return;
    if (w && !toec_tw_input(s, w, g, l ? &iss : 0, now))
        return;
    if (l) {
        toec_listen_input(s, l, g, iss, now);
        return;
    }
    if (g->flags & TOEC_TH_RST)
        return; /* RFC 9293 3.10.7.1: an RST is never answered */
    TOEC_COUNT(s, tcp_no_port_rst);
    toec_send_rst(s, g, now);
}

void toec_tcp_input(struct toec_stack *s, const struct toec_ip_in *in, toec_time now)
{
    struct toec_seg g;

    if (parse(s, in, &g)) {
        TOEC_COUNT(s, tcp_rx);
        return;
    }
    toec_tcp_segment(s, &g, now);
}

/* Makes a paced flow pending: its next burst may be sent. */
static void pace_expired(void *user, struct toec_timer *timer, enum toec_timer_kind kind,
                         toec_time now)
{
    (void)kind;
    (void)now;
    toec_pend(user, TOEC_CONTAINER(timer, struct toec_pace, timer)->flow);
}

/* Prefetches flows that are due soon: after so many others they are no longer in the cache. */
static void fetch_ahead(const struct toec_stack *s)
{
    const struct toec_tcp *tcp = s->tcp;

    toec_fetch_flow(tcp->pending[queue_at(s, TOEC_FETCH_AHEAD)]);
    TOEC_PREFETCH(tcp->pending[queue_at(s, TOEC_FETCH_AHEAD * 2 / 3)]->owner);
    if (s->cfg.expect_send) {
        const struct toec_tcb *t = tcp->pending[queue_at(s, TOEC_FETCH_AHEAD / 3)];

        if (t->state >= TOEC_ESTABLISHED && TOEC_SEQ_LT(t->snd_nxt, t->snd_end))
            s->cfg.expect_send(s->cfg.user, t->owner, t->snd_nxt - t->iss - 1);
    }
}

/* Takes a flow whose turn ended with r out of the pending list, unless transmit has no room. */
static void end_turn(struct toec_stack *s, struct toec_tcb *t, int r, toec_time now)
{
    if (r == TOEC_SEND_WAIT) {
        park(s, t);
        toec_watch(s, t, now); /* if the neighbour is never resolved, R2 ends the flow */
        return;
    }
    unpend(s, t);
    if (r == TOEC_SEND_UNREACH)
        toec_unreachable(s, t, now);
}

static void output_pending(struct toec_stack *s, toec_time now)
{
    struct toec_tcp *tcp = s->tcp;
    toec_u32 left;

    if (tcp->epoch != toec_send_epoch(s)) {
        tcp->epoch = toec_send_epoch(s);
        unpark_all(s);
    }
    /* Each pending flow gets one turn; toec_tcp_output() frees no flow and adds none. */
    for (left = tcp->pending_n; left > 0 && !s->tx_full; left--) {
        struct toec_tcb *t = tcp->pending[tcp->pending_first];
        toec_u64 sent = s->counters[TOEC_C_tcp_tx];
        int r;

        if (tcp->pending_n > TOEC_FETCH_AHEAD)
            fetch_ahead(s);
        r = toec_tcp_output(s, t, now);

        if (r == TOEC_SEND_WAIT && s->tx_full) {
            /* If it sent anything, it has had its turn and goes to the end of the queue: the flows
             * behind it must not wait until all its data is sent. */
            if (s->counters[TOEC_C_tcp_tx] != sent) {
                unpend(s, t);
                toec_pend(s, t);
            }
        } else {
            end_turn(s, t, r, now);
        }
    }
}

void toec_output_flow(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    int r;

    /* With transmit full, others wait for room: this one waits behind them. */
    if ((t->flags & (TOEC_F_PENDING | TOEC_F_PARKED)) != TOEC_F_PENDING || s->tx_full)
        return;
    r = toec_tcp_output(s, t, now);
    if (r != TOEC_SEND_WAIT || !s->tx_full)
        end_turn(s, t, r, now);
}

void toec_output(struct toec_stack *s, toec_time now)
{
    s->tx_full = 0;
    output_pending(s, now);
}

toec_time toec_tcp_poll(struct toec_stack *s, toec_time now)
{
    struct toec_tcp *tcp = s->tcp;
    toec_time next, owed;

    toec_delack_poll(s, now);
    toec_wheel_run(&tcp->pace_wheel, now << TOEC_PACE_SHIFT, pace_expired, s);
    output_pending(s, now);
    next = toec_wheel_next(&tcp->pace_wheel, now << TOEC_PACE_SHIFT);
    next = next == TOEC_NEVER ? TOEC_NEVER : next >> TOEC_PACE_SHIFT;
    owed = toec_delack_next(s, now);
    return TOEC_MIN(next, owed);
}
