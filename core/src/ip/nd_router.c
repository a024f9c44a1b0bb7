/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nd_router.c - routers as a host sees them (RFC 4861 6.3): solicitations, advertisements, default
 * routers, on-link prefixes and redirects. All tables are bounded: entries that do not fit are
 * counted and ignored.
 */
#include "nd_router.h"

#include "ip6_addr.h"
#include "ip6_out.h"

#define RS_INTERVAL_S  4u                     /* RTR_SOLICITATION_INTERVAL */
#define RS_MAX         (3600 * TOEC_NS_PER_S) /* RFC 7559 2: MRT */
#define RS_DELAY_MS    1000u                  /* MAX_RTR_SOLICITATION_DELAY */
#define REDIRECT_TIME  (600 * TOEC_NS_PER_S)
#define MAX_REACHABLE  3600000u /* ms; RFC 4861 6.2.1 */
#define MIN_RETRANS    100u     /* ms: limits the rate that an advertisement can set */
#define MAX_RETRANS    60000u
#define LIFE_FOR_EVER  0xffffffffu
#define HOPS_OF_ROUTER 255

/* ---- time ---- */

static toec_time end_of(toec_u32 seconds, toec_time now)
{
    return seconds == LIFE_FOR_EVER ? TOEC_NEVER : now + seconds * TOEC_NS_PER_S;
}

static void earlier(toec_time *first, toec_time t)
{
    if (t != 0 && t < *first)
        *first = t;
}

/* Sets the timer, shared by all that expires here, to the earliest expiry. */
static void set_expiry(struct toec_stack *s)
{
    toec_time first = TOEC_NEVER;
    unsigned i;

    for (i = 0; i < TOEC_IP6_ROUTERS; i++)
        earlier(&first, s->ip6.router[i].until);
    for (i = 0; i < TOEC_IP6_PREFIXES; i++)
        earlier(&first, s->ip6.prefix[i].until);
    if (first == TOEC_NEVER)
        toec_timer_cancel(s, &s->ip6.expiry);
    else
        toec_timer_set(s, &s->ip6.expiry, TOEC_TMR_IP6_EXPIRY, first);
}

static void expire(toec_time *until, toec_time now)
{
    if (*until != 0 && *until <= now)
        *until = 0;
}

void toec_ip6_expiry_timer(struct toec_stack *s, toec_time now)
{
    unsigned i;

    for (i = 0; i < TOEC_IP6_ROUTERS; i++)
        expire(&s->ip6.router[i].until, now);
    for (i = 0; i < TOEC_IP6_PREFIXES; i++)
        expire(&s->ip6.prefix[i].until, now);
    s->route_epoch++;
    set_expiry(s);
}

/* ---- redirects ---- */

static struct toec_redirect6 *redirect_of(struct toec_stack *s, const struct toec_addr *dst)
{
    return &s->ip6.redirect[toec_addr_hash(&s->keys.flow, dst, 2) % TOEC_IP6_REDIRECTS];
}

/* The table is a cache: another destination with the same hash replaces the entry. */
void toec_redirect_add(struct toec_stack *s, const struct toec_addr *dst,
                       const struct toec_addr *via, toec_time now)
{
    struct toec_redirect6 *r = redirect_of(s, dst);

    r->dst = *dst;
    r->via = *via;
    r->until = now + REDIRECT_TIME;
    s->route_epoch++;
}

const struct toec_addr *toec_redirect_find(struct toec_stack *s, const struct toec_addr *dst)
{
    const struct toec_redirect6 *r = redirect_of(s, dst);

    return r->until != 0 && toec_addr_eq(&r->dst, dst) ? &r->via : 0;
}

static void forget_redirects(struct toec_stack *s, const struct toec_addr *via)
{
    unsigned i;

    for (i = 0; i < TOEC_IP6_REDIRECTS; i++)
        if (s->ip6.redirect[i].until && toec_addr_eq(&s->ip6.redirect[i].via, via))
            s->ip6.redirect[i].until = 0;
}

/* ---- default routers ---- */

static struct toec_router6 *router_find(struct toec_stack *s, const struct toec_addr *addr)
{
    unsigned i;

    for (i = 0; i < TOEC_IP6_ROUTERS; i++)
        if (s->ip6.router[i].until && toec_addr_eq(&s->ip6.router[i].addr, addr))
            return &s->ip6.router[i];
    return 0;
}

void toec_router_set(struct toec_stack *s, const struct toec_addr *addr, toec_u32 lifetime,
                     toec_time now)
{
    struct toec_router6 *r = router_find(s, addr);
    unsigned i;

    if (!r && lifetime == 0)
        return;
    for (i = 0; !r && i < TOEC_IP6_ROUTERS; i++)
        if (s->ip6.router[i].until == 0)
            r = &s->ip6.router[i];
    if (!r) {
        TOEC_COUNT(s, nd_tables_full);
        return;
    }
    if (r->until == 0 || lifetime == 0)
        s->route_epoch++;
    r->addr = *addr;
    r->until = lifetime ? end_of(lifetime, now) : 0;
    set_expiry(s);
}

/*
 * RFC 4861 6.3.6: picks a router that is or may be reachable, otherwise each in turn, so that all
 * are tried.
 */
const struct toec_addr *toec_router_pick(struct toec_stack *s)
{
    struct toec_router6 *any = 0;
    const struct toec_neigh *n;
    unsigned i, at;

    for (i = 0; i < TOEC_IP6_ROUTERS; i++) {
        if (s->ip6.router[i].until == 0)
            continue;
        n = toec_neigh_find(s, &s->ip6.router[i].addr);
        if (n && !n->unresolved)
            return &s->ip6.router[i].addr;
    }
    for (i = 0; i < TOEC_IP6_ROUTERS && !any; i++) {
        at = (s->ip6.router_hand + i) % TOEC_IP6_ROUTERS;
        if (s->ip6.router[at].until)
            any = &s->ip6.router[at];
    }
    return any ? &any->addr : 0;
}

void toec_router_lost(struct toec_stack *s, const struct toec_addr *addr, int for_good,
                      toec_time now)
{
    struct toec_router6 *r = router_find(s, addr);

    if (for_good) { /* RFC 4861 7.2.5: it announced that it is no longer a router */
        toec_router_set(s, addr, 0, now);
    } else if (r) {
        s->ip6.router_hand = (toec_u8)((r - s->ip6.router + 1) % TOEC_IP6_ROUTERS);
    }
    forget_redirects(s, addr);
    s->route_epoch++;
}

/* ---- prefixes ---- */

int toec_ip6_on_link(const struct toec_stack *s, const struct toec_addr *dst)
{
    unsigned i;

    if (toec_addr_is_link_local(dst))
        return 1;
    for (i = 0; i < TOEC_IP6_PREFIXES; i++)
        if (s->ip6.prefix[i].until &&
            toec_addr_match(&s->ip6.prefix[i].prefix, dst, s->ip6.prefix[i].len))
            return 1;
    return 0;
}

void toec_prefix_set(struct toec_stack *s, const struct toec_addr *prefix, unsigned len,
                     toec_u32 lifetime, toec_time now)
{
    struct toec_prefix6 *p = 0, *room = 0;
    unsigned i;

    for (i = 0; i < TOEC_IP6_PREFIXES; i++) {
        struct toec_prefix6 *q = &s->ip6.prefix[i];

        if (q->until == 0)
            room = room ? room : q;
        else if (q->len == len && toec_addr_match(&q->prefix, prefix, len))
            p = q;
    }
    if (!p && lifetime == 0)
        return;
    if (!p)
        p = room;
    if (!p) {
        TOEC_COUNT(s, nd_tables_full);
        return;
    }
    if (p->until == 0 || lifetime == 0)
        s->route_epoch++;
    p->prefix = *prefix;
    p->len = (toec_u8)len;
    p->until = lifetime ? end_of(lifetime, now) : 0;
    set_expiry(s);
}

/* Processes one prefix information option (RFC 4861 6.3.4, R4862-04). */
static void take_prefix(struct toec_stack *s, const toec_u8 *opt, toec_time now)
{
    unsigned len = opt[TOEC_PIO_LEN], flags = opt[TOEC_PIO_FLAGS];
    toec_u32 valid = toec_get32(opt + TOEC_PIO_VALID);
    toec_u32 preferred = toec_get32(opt + TOEC_PIO_PREFERRED);
    struct toec_addr prefix;

    memcpy(prefix.b, opt + TOEC_PIO_PREFIX, 16);
    if (len > 128 || toec_addr_is_link_local(&prefix) || toec_addr_is_multicast(&prefix)) {
        TOEC_COUNT(s, nd_bad_prefix);
        return;
    }
    if (flags & TOEC_PIO_ON_LINK)
        toec_prefix_set(s, &prefix, len, valid, now);
    if (flags & TOEC_PIO_AUTO)
        toec_slaac(s, &prefix, len, valid, preferred, now);
}

/* ---- advertisements ---- */

/* RFC 4861 6.3.4: parameters of the link; 0 means unspecified by this router. */
static void take_parameters(struct toec_stack *s, const toec_u8 *ra,
                            const struct toec_nd_options *o)
{
    toec_u32 reachable = toec_get32(ra + TOEC_RA_REACHABLE);
    toec_u32 retrans = toec_get32(ra + TOEC_RA_RETRANS), mtu;

    if (ra[TOEC_RA_HOPS])
        s->ip6.hops = ra[TOEC_RA_HOPS];
    if (reachable && reachable <= MAX_REACHABLE && reachable != s->ip6.base_reachable) {
        s->ip6.base_reachable = reachable;
        s->ip6.reachable_draw = 0;
    }
    if (retrans)
        s->ip6.retrans =
            (toec_time)TOEC_MIN(TOEC_MAX(retrans, MIN_RETRANS), MAX_RETRANS) * TOEC_NS_PER_MS;
    if (o->mtu) {
        mtu = toec_get32(o->mtu);
        if (mtu >= TOEC_IP6_MIN_MTU && mtu <= s->link_mtu && mtu != s->ip6.mtu) {
            s->ip6.mtu = mtu;
            s->pmtu.gen++; /* open flows check before they send again: toec_pm_sync() */
        }
    }
}

void toec_ra_input(struct toec_stack *s, const struct toec_ip_in *in,
                   const struct toec_nd_options *o, toec_time now)
{
    unsigned i;

    if (!toec_addr_is_link_local(&in->src)) { /* R4861-03 */
        TOEC_COUNT(s, nd_bad);
        return;
    }
    if (s->cfg.ip6 != TOEC_IP6_AUTO) {
        TOEC_COUNT(s, icmp_ignored);
        return;
    }
    TOEC_COUNT(s, nd_ra_taken);
    take_parameters(s, in->l4, o);
    toec_nd_learn_router(s, &in->src, o->source_mac, now);
    toec_router_set(s, &in->src, toec_get16(in->l4 + TOEC_RA_LIFETIME), now);
    for (i = 0; i < o->prefixes; i++)
        take_prefix(s, o->prefix[i], now);
    if (toec_get16(in->l4 + TOEC_RA_LIFETIME)) /* RFC 4861 6.3.7: no more solicitations */
        toec_timer_cancel(s, &s->ip6.rs);
}

/* ---- solicitations ---- */

void toec_rs_start(struct toec_stack *s, toec_time now)
{
    if (s->cfg.ip6 != TOEC_IP6_AUTO)
        return;
    s->ip6.rs_sent = 0;
    toec_timer_set(s, &s->ip6.rs, TOEC_TMR_IP6_RS,
                   now + (toec_time)(toec_rand32(s) % RS_DELAY_MS) * TOEC_NS_PER_MS);
}

/* Intervals double up to an hour (RFC 7559), because a router may start long after us. The timer is
 * started once a link-local address is ours, and that address stays usable. */
void toec_rs_timer(struct toec_stack *s, toec_time now)
{
    const struct toec_own6 *own = toec_own_link_local(s);
    toec_time wait = (RS_INTERVAL_S << s->ip6.rs_sent) * TOEC_NS_PER_S;
    struct toec_addr all;
    struct toec_outbuf o;
    toec_u8 *m = toec_out_l4(&o);

    memset(&o, 0, sizeof(o));
    m[TOEC_ICMP6_TYPE] = TOEC_ICMP6_RS;
    m[TOEC_RS_LEN] = TOEC_NDOPT_SOURCE_MAC;
    m[TOEC_RS_LEN + 1] = 1;
    memcpy(m + TOEC_RS_LEN + 2, s->cfg.mac, 6);
    toec_addr_group(&all, TOEC_GROUP_ROUTERS);
    o.src = &own->addr;
    o.dst = &all;
    o.proto = TOEC_NH_ICMP6;
    o.sum_off = TOEC_ICMP6_SUM;
    o.l4_len = TOEC_RS_LEN + TOEC_NDOPT_MAC_LEN;
    if (toec_ip6_send_to(s, 0, HOPS_OF_ROUTER, &o) == 0)
        TOEC_COUNT(s, nd_rs_sent);
    if (wait < RS_MAX)
        s->ip6.rs_sent++;
    toec_timer_set(s, &s->ip6.rs, TOEC_TMR_IP6_RS, now + TOEC_MIN(wait, RS_MAX));
}
