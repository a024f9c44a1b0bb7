/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nd.c - neighbour discovery (RFC 4861): solicitations, advertisements and redirects. nd_router.c
 * handles routers; neigh.c has the neighbour states, shared with ARP.
 */
#include "nd.h"

#include "ip6_addr.h"
#include "ip6_out.h"
#include "nd_router.h"

#define HOPS 255 /* RFC 4861 7.1: only from this link */

/* ---- options ---- */

int toec_nd_options(struct toec_nd_options *o, const toec_u8 *p, toec_u32 len)
{
    toec_u32 i = 0, n;

    memset(o, 0, sizeof(*o));
    while (i < len) {
        if (len - i < 8)
            return -1;
        n = p[i + 1] * 8u;
        if (n == 0 || n > len - i) /* R4861-09 */
            return -1;
        switch (p[i]) { /* RFC 4861 4.6: the first of duplicate options counts */
        case TOEC_NDOPT_SOURCE_MAC:
            if (!o->source_mac)
                o->source_mac = p + i + 2;
            break;
        case TOEC_NDOPT_TARGET_MAC:
            if (!o->target_mac)
                o->target_mac = p + i + 2;
            break;
        case TOEC_NDOPT_PREFIX:
            if (n == TOEC_NDOPT_PREFIX_LEN && o->prefixes < TOEC_IP6_PREFIXES)
                o->prefix[o->prefixes++] = p + i;
            break;
        case TOEC_NDOPT_MTU:
            if (n == TOEC_NDOPT_MTU_LEN)
                o->mtu = p + i + 4;
            break;
        case TOEC_NDOPT_NONCE:
            o->nonce = p + i + 2; /* at least six bytes, since options are multiples of 8 */
            break;
        default: /* RFC 4861 4.6: unknown ones are ignored */
            break;
        }
        i += n;
    }
    return 0;
}

/* ---- sending; R6980-01: all messages fit the minimum MTU, so they are never fragmented ---- */

static unsigned put_mac(toec_u8 *opt, unsigned type, const toec_u8 *mac)
{
    opt[0] = (toec_u8)type;
    opt[1] = 1;
    memcpy(opt + 2, mac, 6);
    return TOEC_NDOPT_MAC_LEN;
}

static void begin(struct toec_outbuf *o, unsigned type, const struct toec_addr *target)
{
    toec_u8 *m = toec_out_l4(o);

    memset(o, 0, sizeof(*o));
    o->proto = TOEC_NH_ICMP6;
    o->sum_off = TOEC_ICMP6_SUM;
    o->l4_len = TOEC_ND_LEN;
    memset(m, 0, TOEC_ND_TARGET);
    m[TOEC_ICMP6_TYPE] = (toec_u8)type;
    memcpy(m + TOEC_ND_TARGET, target->b, 16);
}

/* The neighbour's timer repeats a lost solicitation. */
void toec_nd_solicit(struct toec_stack *s, const struct toec_addr *target, const toec_u8 *mac)
{
    const struct toec_addr *src = toec_ip6_source(s, target);
    struct toec_addr group;
    struct toec_outbuf o;

    if (!src) /* no own address is known to be unique yet */
        return;
    begin(&o, TOEC_ICMP6_NS, target);
    o.l4_len += (toec_u16)put_mac(toec_out_l4(&o) + TOEC_ND_LEN, TOEC_NDOPT_SOURCE_MAC, s->cfg.mac);
    toec_addr_solicited(&group, target);
    o.src = src;
    o.dst = mac ? target : &group;
    if (toec_ip6_send_to(s, mac, HOPS, &o) == 0)
        TOEC_COUNT(s, nd_solicits_sent);
}

void toec_nd_probe(struct toec_stack *s, const struct toec_own6 *own)
{
    struct toec_addr group, none;
    struct toec_outbuf o;
    toec_u8 *opt = toec_out_l4(&o) + TOEC_ND_LEN;

    begin(&o, TOEC_ICMP6_NS, &own->addr);
    opt[0] = TOEC_NDOPT_NONCE;
    opt[1] = 1;
    memcpy(opt + 2, own->nonce, sizeof(own->nonce));
    o.l4_len += 8;
    memset(&none, 0, sizeof(none));
    toec_addr_solicited(&group, &own->addr);
    o.src = &none;
    o.dst = &group;
    if (toec_ip6_send_to(s, 0, HOPS, &o) == 0)
        TOEC_COUNT(s, nd_solicits_sent);
}

/* Sends an advertisement; to 0: to all nodes. */
static void advertise(struct toec_stack *s, const struct toec_own6 *own, const struct toec_addr *to,
                      const toec_u8 *mac)
{
    struct toec_addr all;
    struct toec_outbuf o;
    toec_u8 *m = toec_out_l4(&o);

    begin(&o, TOEC_ICMP6_NA, &own->addr);
    m[TOEC_ND_FLAGS] = (toec_u8)(TOEC_NA_OVERRIDE | (to ? TOEC_NA_SOLICITED : 0));
    /* R4861-05: always present; required in response to a multicast */
    o.l4_len += (toec_u16)put_mac(m + TOEC_ND_LEN, TOEC_NDOPT_TARGET_MAC, s->cfg.mac);
    toec_addr_group(&all, TOEC_GROUP_NODES);
    o.src = &own->addr;
    o.dst = to ? to : &all;
    if (toec_ip6_send_to(s, to ? mac : 0, HOPS, &o) == 0)
        TOEC_COUNT(s, nd_adverts_sent);
    else
        TOEC_COUNT(s, tx_unresolved_drop);
}

void toec_nd_advertise(struct toec_stack *s, const struct toec_own6 *own)
{
    advertise(s, own, 0, 0);
}

/* ---- learning neighbours ---- */

/*
 * RFC 4861 7.2.3, 6.3.4, 8.3: stores the Ethernet address that a sender announces. A new or changed
 * one is verified when it is used. Returns the entry, or 0.
 */
static struct toec_neigh *learn(struct toec_stack *s, const struct toec_addr *addr,
                                const toec_u8 *mac, toec_time now)
{
    struct toec_neigh *n = toec_neigh_find(s, addr);

    if (toec_mac_is_group(mac) || toec_mac_is_zero(mac))
        return n;
    if (!n) {
        n = toec_neigh_add(s, addr, TOEC_NEIGH_LEARN, now);
        if (!n) {
            TOEC_COUNT(s, nd_not_learned);
            return 0;
        }
    } else if (!n->unresolved && toec_mac_eq(n->mac, mac)) {
        return n;
    } else if (!n->unresolved) {
        TOEC_COUNT(s, neigh_changed);
    }
    memcpy(n->mac, mac, 6);
    toec_neigh_stale(s, n, now);
    return n;
}

void toec_nd_learn_router(struct toec_stack *s, const struct toec_addr *addr, const toec_u8 *mac,
                          toec_time now)
{
    struct toec_neigh *n = mac ? learn(s, addr, mac, now) : toec_neigh_find(s, addr);

    if (n)
        n->router = 1;
}

/* ---- solicitations ---- */

/* R4861-01: the checks of RFC 4861 7.1.1 beyond those of all messages. */
static int solicit_valid(const struct toec_ip_in *in, const struct toec_addr *target,
                         const struct toec_nd_options *o)
{
    struct toec_addr group;

    if (toec_addr_is_multicast(target))
        return 0;
    if (!toec_addr_is_zero(&in->src))
        return 1;
    toec_addr_solicited(&group, target);
    return toec_addr_eq(&in->dst, &group) && !o->source_mac;
}

static void on_solicit(struct toec_stack *s, const struct toec_ip_in *in,
                       const struct toec_nd_options *o, toec_time now)
{
    struct toec_addr target;
    struct toec_own6 *own;
    int probe = toec_addr_is_zero(&in->src);
    const toec_u8 *mac = o->source_mac ? o->source_mac : in->pkt->data + TOEC_ETH_SRC;

    memcpy(target.b, in->l4 + TOEC_ND_TARGET, 16);
    if (!solicit_valid(in, &target, o)) {
        TOEC_COUNT(s, nd_bad);
        return;
    }
    own = toec_own_any(s, &target);
    if (!own || own->state == TOEC_OWN_DUPLICATE) {
        TOEC_COUNT(s, nd_not_ours);
        return;
    }
    if (own->state == TOEC_OWN_TENTATIVE) {
        /* R4862-03: no answer; others only probe or ask for the address. Our own probe looped back
         * is no duplicate (RFC 7527 4.2) */
        if (probe && !(o->nonce && toec_mac_eq(o->nonce, own->nonce)))
            toec_dad_conflict(s, own, now);
        return;
    }
    if (!probe && o->source_mac &&
        (toec_addr_is_link_local(&in->src) || toec_ip6_on_link(s, &in->src)))
        (void)learn(s, &in->src, o->source_mac, now);
    if (!toec_rate_allow(&s->ip6.na, now)) {
        TOEC_COUNT(s, nd_limited);
        return;
    }
    advertise(s, own, probe ? 0 : &in->src, mac);
}

/* ---- advertisements ---- */

/* R4861-07: the table of RFC 4861 7.2.5. */
static void update(struct toec_stack *s, struct toec_neigh *n, unsigned flags, const toec_u8 *mac,
                   toec_time now)
{
    int differs = mac && (n->unresolved || !toec_mac_eq(n->mac, mac));

    if (n->unresolved) {
        if (!mac)
            return;
    } else if (differs && !(flags & TOEC_NA_OVERRIDE)) {
        if (n->state == TOEC_NEIGH_REACHABLE)
            toec_neigh_stale(s, n, now);
        return;
    } else if (differs) {
        TOEC_COUNT(s, neigh_changed);
    }
    if (differs)
        memcpy(n->mac, mac, 6);
    if (flags & TOEC_NA_SOLICITED)
        toec_neigh_reachable(s, n, now);
    else if (differs)
        toec_neigh_stale(s, n, now);
    if (n->router && !(flags & TOEC_NA_ROUTER))
        toec_router_lost(s, &n->addr, 1, now);
    n->router = (flags & TOEC_NA_ROUTER) != 0;
}

static void on_advert(struct toec_stack *s, const struct toec_ip_in *in,
                      const struct toec_nd_options *o, toec_time now)
{
    unsigned flags = in->l4[TOEC_ND_FLAGS];
    struct toec_addr target;
    struct toec_own6 *own;
    struct toec_neigh *n;

    memcpy(target.b, in->l4 + TOEC_ND_TARGET, 16);
    /* R4861-02: RFC 4861 7.1.2 */
    if (toec_addr_is_multicast(&target) ||
        (toec_addr_is_multicast(&in->dst) && (flags & TOEC_NA_SOLICITED)) ||
        (o->target_mac && (toec_mac_is_group(o->target_mac) || toec_mac_is_zero(o->target_mac)))) {
        TOEC_COUNT(s, nd_bad);
        return;
    }
    own = toec_own_any(s, &target);
    if (own) {
        if (own->state == TOEC_OWN_TENTATIVE) /* R4862-03 */
            toec_dad_conflict(s, own, now);
        else
            TOEC_COUNT(s, nd_conflict);
        return;
    }
    n = toec_neigh_find(s, &target);
    if (n) /* RFC 4861 7.2.5: without an entry, the advertisement is unsolicited */
        update(s, n, flags, o->target_mac, now);
}

/* ---- redirects ---- */

/* R4861-08: RFC 4861 8.1. Accepted only from the router that is the current next hop. */
static int redirect_valid(struct toec_stack *s, const struct toec_ip_in *in,
                          const struct toec_addr *target, const struct toec_addr *dst)
{
    struct toec_path path;

    if (!toec_addr_is_link_local(&in->src) || toec_addr_is_multicast(dst) || toec_own_any(s, dst) ||
        toec_own_any(s, target) || (!toec_addr_is_link_local(target) && !toec_addr_eq(target, dst)))
        return 0;
    return toec_ip6_path(s, dst, &path) == 0 && toec_addr_eq(&path.next_hop, &in->src);
}

static void on_redirect(struct toec_stack *s, const struct toec_ip_in *in, toec_time now)
{
    struct toec_nd_options o;
    struct toec_addr target, dst;

    if (in->l4_head < TOEC_ND_REDIR ||
        toec_nd_options(&o, in->l4 + TOEC_ND_REDIR, in->l4_head - TOEC_ND_REDIR) < 0) {
        TOEC_COUNT(s, nd_bad);
        return;
    }
    memcpy(target.b, in->l4 + TOEC_ND_TARGET, 16);
    memcpy(dst.b, in->l4 + TOEC_ND_REDIR_TO, 16);
    if (!redirect_valid(s, in, &target, &dst)) {
        TOEC_COUNT(s, nd_bad);
        return;
    }
    TOEC_COUNT(s, nd_redirects);
    if (o.target_mac)
        (void)learn(s, &target, o.target_mac, now);
    if (!toec_addr_eq(&target, &dst))
        toec_nd_learn_router(s, &target, 0, now);
    toec_redirect_add(s, &dst, &target, now);
}

/* ---- input ---- */

/* Returns the number of bytes before the options. */
static toec_u32 fixed_part(unsigned type)
{
    switch (type) {
    case TOEC_ICMP6_RS:
        return TOEC_RS_LEN;
    case TOEC_ICMP6_RA:
        return TOEC_RA_LEN;
    default:
        return TOEC_ND_LEN;
    }
}

void toec_nd_input(struct toec_stack *s, const struct toec_ip_in *in, toec_time now)
{
    unsigned type = in->l4[TOEC_ICMP6_TYPE];
    toec_u32 fixed = fixed_part(type);
    struct toec_nd_options o;

    TOEC_COUNT(s, nd_rx);
    /* Checks of all messages (RFC 4861 6.1, 7.1, 8.1); R4861-10: RFC 6980 5, no fragments. */
    if (in->ttl != HOPS || in->l4[TOEC_ICMP6_CODE] != 0 || in->fragmented ||
        in->l4_head != in->l4_len || in->l4_len < fixed) {
        TOEC_COUNT(s, nd_bad);
        return;
    }
    if (type == TOEC_ICMP6_REDIRECT) {
        on_redirect(s, in, now);
        return;
    }
    if (toec_nd_options(&o, in->l4 + fixed, in->l4_len - fixed) < 0) {
        TOEC_COUNT(s, nd_bad);
        return;
    }
    switch (type) {
    case TOEC_ICMP6_NS:
        on_solicit(s, in, &o, now);
        return;
    case TOEC_ICMP6_NA:
        on_advert(s, in, &o, now);
        return;
    case TOEC_ICMP6_RA:
        toec_ra_input(s, in, &o, now);
        return;
    default: /* RFC 4861 6.2.6: solicitations are for routers */
        TOEC_COUNT(s, icmp_ignored);
    }
}
