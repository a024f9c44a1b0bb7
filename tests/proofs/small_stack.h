/* SPDX-License-Identifier: Apache-2.0 */
/*
 * small_stack.h - instead of core/'s stack.h: a stack of what the tables of IPv6 use of it. Where a
 * pointer may be into any of a table's entries, CBMC takes the whole object apart that has the
 * table: one of 36 KiB is not done in minutes.
 */
#ifndef SMALL_STACK_H
#define SMALL_STACK_H

#define TOEC_STACK_H
#include <toe/core.h>

#include "base/hash.h"
#include "ip/ip.h"
#include "ip/ip6.h"
#include "ip/neigh.h"
#include "ip/stack_timer.h"

/* Tables of as many entries as the proof goes up to. */
#undef TOEC_IP6_ADDRS
#undef TOEC_IP6_PREFIXES
#undef TOEC_IP6_ROUTERS
#undef TOEC_GIVEN_MAX
#define TOEC_GIVEN_MAX    SIZE
#define TOEC_IP6_ADDRS    SIZE
#define TOEC_IP6_PREFIXES SIZE
#define TOEC_IP6_ROUTERS  (SIZE < 4 ? SIZE : 4)

struct small_ip6 {
#ifdef OWN_ADDRESSES
    struct toec_own6 own[TOEC_IP6_ADDRS];
#endif
    struct toec_prefix6 prefix[TOEC_IP6_PREFIXES];
    struct toec_router6 router[TOEC_IP6_ROUTERS];
    struct toec_redirect6 redirect[1];
    struct toec_timer rs, expiry;
    toec_u64 iid_key[2];
    toec_time retrans, reachable, reachable_draw;
    toec_u32 base_reachable, mtu, own_epoch;
    toec_u8 hops, rs_sent, router_hand;
};

struct toec_stack {
    toec_u32 link_mtu;
    struct {
        toec_u8 mac[6], ip6_addr[16], ip6_gateway[16], ip6_secret[16], secret[32];
        toec_u32 mtu;
        toec_u8 ip6, ip6_prefix_len, ttl;
        const struct toec_link_ops *link;
    } cfg;
    struct {
        struct toec_flow_key flow;
    } keys;
    struct {
        toec_u32 gen;
    } pmtu;
    toec_u16 route_epoch;
    toec_u32 send_epoch;
    struct small_ip6 ip6;
};

static unsigned counted;
#define TOEC_COUNT(s, name) ((void)(s), counted++)

toec_u32 toec_rand32(struct toec_stack *s);

/* Byte by byte: what a whole object is given at once, CBMC takes apart at every look. */
static void any_address(struct toec_addr *a)
{
    unsigned i;

    for (i = 0; i < 16; i++)
        a->b[i] = nondet_u8();
}

#endif
