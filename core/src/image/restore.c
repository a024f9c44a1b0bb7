/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restore.c - restores a saved stack (save.h). Values of an image are checked before use: a stack
 * restored from a forged image may hold false data about its peers, but accesses no memory except
 * its own.
 */
#include "restore.h"

#include "../ip/ip6_addr.h"
#include "../ip/nd_router.h"
#include "../tcp/tcp_timer.h"
#include "../tcp/tcp_tw.h"
#include "restore_ao.h"
#include "restore_flow.h"
#include "save_tables.h"

#define DAMAGED "the image is damaged: a record ends too early, or a value is too large"

/* Returns 0 for a tick that has passed. */
toec_time toec_deadline_of(toec_u32 tick, toec_time now)
{
    if ((toec_i32)(tick - toec_ticks(now)) <= 0)
        return 0;
    return toec_tick_time(tick, now);
}

static int take(const struct toec_restoring *r, const struct toec_table *t, void *to)
{
    return toec_image_take(&r->in, t->row, t->count, to);
}

static void arm(struct toec_restoring *r, struct toec_timer *t, enum toec_timer_kind kind)
{
    if (toec_image_number(&r->in, TOEC_TAG_TICK_SET))
        toec_timer_set(
            r->s, t, kind,
            toec_deadline_of((toec_u32)toec_image_number(&r->in, TOEC_TAG_TICK), r->now));
}

static void arm_named(struct toec_restoring *r, struct toec_timer *t, enum toec_timer_kind kind,
                      unsigned tag)
{
    toec_u64 tick = toec_image_number(&r->in, tag);

    toec_timer_cancel(r->s, t);
    if (tick)
        toec_timer_set(r->s, t, kind, toec_deadline_of((toec_u32)(tick - 1), r->now));
}

/* ---- the stack ---- */

static int same_bytes(const struct toec_restoring *r, unsigned tag, const toec_u8 *own, unsigned n)
{
    unsigned len, i;
    const toec_u8 *p = toec_image_find(&r->in, tag, &len);

    if (!p || len != n)
        return 0;
    for (i = 0; i < n && p[i] == own[i]; i++)
        ;
    return i == n;
}

static const char *stack_sound(const struct toec_stack *s)
{
    const struct toec_ip6 *p = &s->ip6;

    if ((s->ip4 | s->arp.tested) != (s->arp.taken ? 0 : toec_get32(s->cfg.ip)))
        return "the image is damaged: it has another IPv4 address than it says";
    if (s->arp.announcements > 2 || s->arp.probes > 3 || (s->ip4 && s->arp.tested))
        return "the image is damaged: its IPv4 address is in no state that there is";
    if (p->base_reachable == 0 || p->retrans == 0 || p->mtu < TOEC_IP6_MIN_MTU ||
        p->router_hand >= TOEC_IP6_ROUTERS || p->rs_sent > 16)
        if (s->cfg.ip6 != TOEC_IP6_OFF)
            return "the image is damaged: its parameters of IPv6 are none that a host has";
    return 0;
}

/* Discards the addresses that toec_init() started to assign. */
static void forget_addresses(struct toec_stack *s)
{
    unsigned i;

    for (i = 0; i < TOEC_IP6_ADDRS; i++) {
        toec_timer_cancel(s, &s->ip6.own[i].timer);
        memset(&s->ip6.own[i], 0, sizeof(s->ip6.own[i]));
    }
    memset(s->ip6.prefix, 0, sizeof(s->ip6.prefix));
    memset(s->ip6.router, 0, sizeof(s->ip6.router));
    s->ip6.own_epoch++;
}

static const char *restore_stack(struct toec_restoring *r)
{
    struct toec_stack *s = r->s;
    toec_u32 link_mtu = s->ip6.mtu;
    const char *wrong;

    if (toec_image_number(&r->in, TOEC_TAG_VERSION) != TOEC_SAVE_VERSION)
        return "the image is of another version than this release reads";
    if (toec_image_number(&r->in, TOEC_TAG_TIME) > r->now)
        return "the image is of a later time than now: both must go by one clock";
    if (!same_bytes(r, TOEC_TAG_MAC, s->cfg.mac, 6) || !same_bytes(r, TOEC_TAG_IP, s->cfg.ip, 4))
        return "the image is of another address";
    r->announced = (toec_u32)toec_image_number(&r->in, TOEC_TAG_FLOWS);
    if (r->announced > s->cfg.max_flows)
        return "the image has more flows than there is room for";
    if (take(r, &toec_t_stack, s))
        return DAMAGED;
    wrong = stack_sound(s);
    if (wrong)
        return wrong;
    s->ip6.mtu = TOEC_MIN(s->ip6.mtu, link_mtu);
    if (s->link_mtu < TOEC_MTU_LEAST || s->link_mtu > s->cfg.mtu)
        s->link_mtu = s->cfg.mtu;
    s->tcp->tfo.serial = (toec_u32)toec_image_number(&r->in, TOEC_TAG_SERIAL);
    s->tcp->tfo.uses = (toec_u32)toec_image_number(&r->in, TOEC_TAG_USES);
    toec_derive_keys(s);
    forget_addresses(s);
    arm_named(r, &s->ip6.rs, TOEC_TMR_IP6_RS, TOEC_TAG_RS);
    arm_named(r, &s->ip6.expiry, TOEC_TMR_IP6_EXPIRY, TOEC_TAG_EXPIRY);
    arm_named(r, &s->ip6.mld, TOEC_TMR_IP6_MLD, TOEC_TAG_MLD);
    arm_named(r, &s->arp.announce, TOEC_TMR_ANNOUNCE, TOEC_TAG_ANNOUNCE);
    if (toec_timer_pending(&s->arp.announce) ? !s->arp.announcements : s->arp.tested != 0)
        return "the image is damaged: its IPv4 address is in no state that there is";
    return 0;
}

static int same_name(unsigned counter, const toec_u8 *is, unsigned n)
{
    unsigned i, len;
    const char *name = toec_counter_name(counter, &len);

    for (i = 0; i < n && i < len && (toec_u8)name[i] == is[i]; i++)
        ;
    return i == n && i == len;
}

/* Ignores a counter that no longer exists. */
static void restore_counter(struct toec_restoring *r)
{
    unsigned n, i;
    const toec_u8 *name = toec_image_find(&r->in, TOEC_TAG_NAME, &n);

    for (i = 0; name && i < TOEC_C_MAX; i++)
        if (same_name(i, name, n))
            r->s->counters[i] = toec_image_number(&r->in, TOEC_TAG_VALUE);
}

static const char *restore_own6(struct toec_restoring *r)
{
    toec_u64 i = toec_image_number(&r->in, TOEC_TAG_INDEX);
    struct toec_own6 *own;

    if (i >= TOEC_IP6_ADDRS || r->s->ip6.own[i].state != TOEC_OWN_FREE ||
        r->s->cfg.ip6 == TOEC_IP6_OFF)
        return "the image is of another IPv6 configuration";
    own = &r->s->ip6.own[i];
    if (take(r, &toec_t_own6, own) || own->state > TOEC_OWN_DUPLICATE || own->prefix_len > 128 ||
        toec_addr_is4(&own->addr))
        return DAMAGED;
    if (own->state != TOEC_OWN_FREE)
        arm(r, &own->timer, TOEC_TMR_IP6_OWN);
    return 0;
}

static const char *restore_prefix6(struct toec_restoring *r)
{
    struct toec_prefix6 p;
    unsigned i;

    if (take(r, &toec_t_prefix6, &p) || p.len > 128)
        return DAMAGED;
    for (i = 0; i < TOEC_IP6_PREFIXES && r->s->ip6.prefix[i].until; i++)
        ;
    if (i < TOEC_IP6_PREFIXES)
        r->s->ip6.prefix[i] = p;
    return 0;
}

static const char *restore_router6(struct toec_restoring *r)
{
    struct toec_router6 p;
    unsigned i;

    if (take(r, &toec_t_router6, &p))
        return DAMAGED;
    for (i = 0; i < TOEC_IP6_ROUTERS && r->s->ip6.router[i].until; i++)
        ;
    if (i < TOEC_IP6_ROUTERS)
        r->s->ip6.router[i] = p;
    return 0;
}

static const char *restore_redirect6(struct toec_restoring *r)
{
    struct toec_redirect6 p;

    if (take(r, &toec_t_redirect6, &p))
        return DAMAGED;
    if (p.until > r->now) {
        toec_redirect_add(r->s, &p.dst, &p.via, r->now);
        r->s->ip6.redirect[toec_addr_hash(&r->s->keys.flow, &p.dst, 2) % TOEC_IP6_REDIRECTS].until =
            p.until;
    }
    return 0;
}

/* ---- caches ---- */

static const char *restore_neigh(struct toec_restoring *r)
{
    struct toec_neigh is, *n;

    memset(&is, 0, sizeof(is));
    if (take(r, &toec_t_neigh, &is) || is.state == TOEC_NEIGH_FREE || is.state > TOEC_NEIGH_FAILED)
        return DAMAGED;
    if (toec_neigh_find(r->s, &is.addr) || r->s->neigh.pool.used == r->s->neigh.pool.total)
        return 0; /* entries of a cache may be lost */
    n = toec_neigh_add(r->s, &is.addr, TOEC_NEIGH_LEARN, r->now);
    if (n)
        toec_neigh_again(
            r->s, n, &is,
            toec_deadline_of((toec_u32)toec_image_number(&r->in, TOEC_TAG_TICK), r->now));
    return 0;
}

static const char *restore_pmtu(struct toec_restoring *r)
{
    struct toec_pmtu_entry e;
    toec_u32 least;

    if (take(r, &toec_t_pmtu, &e))
        return DAMAGED;
    least = toec_addr_is4(&e.dst) ? TOEC_MTU_LEAST : TOEC_PMTU_MIN6;
    if ((e.mtu && (e.mtu < least || e.mtu > 9216)) || e.udp_mtu > 9216)
        return "the image is damaged: a path MTU is none that there is";
    toec_pmtu_again(r->s, &e,
                    toec_deadline_of((toec_u32)toec_image_number(&r->in, TOEC_TAG_TICK), r->now));
    return 0;
}

static const char *restore_peer(struct toec_restoring *r)
{
    toec_u64 i = toec_image_number(&r->in, TOEC_TAG_INDEX);
    struct toec_tfo_peer p;

    if (take(r, &toec_t_peer, &p) || p.len > TOEC_FO_COOKIE_MAX)
        return DAMAGED;
    if (i < TOEC_FO_SETS * TOEC_FO_WAYS)
        r->s->tcp->tfo.peer[i / TOEC_FO_WAYS][i % TOEC_FO_WAYS] = p;
    return 0;
}

/* Restores a waiting packet; its path is looked up again. */
static const char *restore_waiting(struct toec_restoring *r)
{
    struct toec_wait *w = &r->s->wait;
    struct toec_waiting *x = &w->item[w->end % TOEC_WAIT_MAX];
    unsigned at, n;

    if (w->end - w->begin == TOEC_WAIT_MAX)
        return 0;
    memset(x, 0, sizeof(*x));
    if (take(r, &toec_t_waiting, x) || x->len > TOEC_WAIT_ROOM || x->len < TOEC_ETH_LEN)
        return DAMAGED;
    for (at = 0; at < x->len; at += n) {
        const toec_u8 *p = toec_image_find(&r->in, TOEC_TAG_FRAME + at / 255u, &n);

        if (!p || n != TOEC_MIN(x->len - at, 255u))
            return DAMAGED;
        memcpy(x->frame + at, p, n);
    }
    x->path.hlen = x->path.hlen == TOEC_IP4_LEN ? TOEC_IP4_LEN : TOEC_IP6_LEN;
    x->path.epoch = (toec_u16)(r->s->route_epoch - 1);
    w->end++;
    w->again = 1;
    return 0;
}

/* ---- listeners ---- */

void toec_restore_reach(struct toec_stack *s, toec_u32 index)
{
    struct toec_pool *pool = &s->tcp->listeners;

    while (pool->fresh < index) {
        struct toec_listener *l = toec_pool_at(pool, pool->fresh++);

        memset(l, 0, sizeof(*l));
        pool->used++;
        toec_pool_put(pool, l);
    }
}

static const char *listener_sound(const struct toec_listener *l)
{
    if (l->port == 0 || l->families > (TOEC_L_IP4 | TOEC_L_IP6) || l->fo.n_keys > 2 ||
        l->ecn < TOEC_ECN_OFF || l->ecn > TOEC_ECN_PASSIVE || l->discover > TOEC_MTU_OMIT ||
        l->reuse > TOEC_REUSE_ALL || (l->user_mss && l->user_mss < TOEC_MSS_MIN))
        return "the image is damaged: a listener is none that there is";
    return 0;
}

static const char *restore_listener(struct toec_restoring *r)
{
    struct toec_tcp *tcp = r->s->tcp;
    toec_u64 index = toec_image_number(&r->in, TOEC_TAG_INDEX);
    struct toec_listener *l;
    const char *wrong;

    if (index >= tcp->listeners.total)
        return "the image has more listeners than there is room for";
    if (index < tcp->listeners.fresh || r->flows || r->flow)
        return "the image is damaged: its listeners are in no order";
    toec_restore_reach(r->s, (toec_u32)index);
    l = toec_pool_at(&tcp->listeners, (toec_u32)index);
    tcp->listeners.fresh++;
    tcp->listeners.used++;
    memset(l, 0, sizeof(*l));
    if (take(r, &toec_t_listener, l))
        return DAMAGED;
    wrong = listener_sound(l);
    if (wrong)
        return wrong;
    if (r->by->listener(r->by->arg, toec_image_number(&r->in, TOEC_TAG_OWNER), (toec_u32)index,
                        &l->addr, l->port, &l->owner))
        return "the image has a listener that the host does not know";
    l->live = 1;
    toec_htab_add(&tcp->listen_tab, &l->node, toec_word_hash(&r->s->keys.flow, l->port, 0));
    return 0;
}

/* ---- TIME-WAIT ---- */

static const char *restore_tw(struct toec_restoring *r)
{
    struct toec_tw w;
    struct toec_tuple id;
    toec_u32 hash;

    memset(&w, 0, sizeof(w));
    if (take(r, &toec_t_tw, &w) || w.reuse > TOEC_REUSE_ALL)
        return DAMAGED;
    id.local = &w.local;
    id.remote = &w.remote;
    id.local_port = w.local_port;
    id.remote_port = w.remote_port;
    hash = toec_tuple_hash(r->s, &id);
    if (toec_tw_find(r->s, hash, &id))
        return "the image is damaged: a pair is twice in TIME-WAIT";
    toec_tw_again(r->s, &w, hash, r->now);
    r->tw = r->s->tcp->tw_last;
    return 0;
}

/* ---- all of it ---- */

static const char *restore_record(struct toec_restoring *r)
{
    switch (r->in.type) {
    case TOEC_REC_COUNTER:
        restore_counter(r);
        return 0;
    case TOEC_REC_OWN6:
        return restore_own6(r);
    case TOEC_REC_PREFIX6:
        return restore_prefix6(r);
    case TOEC_REC_ROUTER6:
        return restore_router6(r);
    case TOEC_REC_REDIRECT6:
        return restore_redirect6(r);
    case TOEC_REC_NEIGH:
        return restore_neigh(r);
    case TOEC_REC_PMTU:
        return restore_pmtu(r);
    case TOEC_REC_PEER:
        return restore_peer(r);
    case TOEC_REC_WAITING:
        return restore_waiting(r);
    case TOEC_REC_LISTENER:
        return restore_listener(r);
    case TOEC_REC_FLOW:
        return toec_restore_flow(r);
    case TOEC_REC_TW:
        return restore_tw(r);
    case TOEC_REC_AO_KEY:
    case TOEC_REC_AO:
    case TOEC_REC_AO_LISTENER:
        return toec_restore_ao(r);
    default:
        return toec_restore_part(r);
    }
}

const char *toec_restore(struct toec_stack *s, const void *image, unsigned long n,
                         const struct toec_restorer *by, toec_time now)
{
    struct toec_restoring r;
    const char *wrong;
    int got;

    memset(&r, 0, sizeof(r));
    r.s = s;
    r.by = by;
    r.now = now;
    toec_image_open(&r.in, image, n);
    if (toec_image_next(&r.in) != 1 || r.in.type != TOEC_REC_STACK)
        return "this is no image of a stack";
    wrong = restore_stack(&r);
    while (!wrong) {
        got = toec_image_next(&r.in);
        if (got != 1)
            return got ? DAMAGED : "the image ends too early";
        if (r.in.type == TOEC_REC_END)
            break;
        wrong = restore_record(&r);
    }
    if (!wrong)
        wrong = toec_restore_flow_end(&r);
    if (!wrong && r.keys)
        wrong = "the image is damaged: it has keys without an owner";
    if (!wrong && r.flows != r.announced)
        wrong = "the image is damaged: it has fewer flows than it says";
    if (!wrong && toec_timer_pending(&s->ip6.rs) && !toec_own_link_local(s))
        wrong = "the image is damaged: routers are asked for from no address";
    return wrong;
}
