/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip6.h - IPv6 state of a stack: its addresses, routers, prefixes and parameters (the host
 * variables of RFC 4861 6.3.2), all in fixed-size tables, shared by the ip6_*.c, nd*.c and mld.c
 * files.
 */
#ifndef TOEC_IP6_H
#define TOEC_IP6_H

#include "../base/rate.h"
#include "../base/timer.h"
#include "../wire/wire_icmp6.h"
#include "ip.h"

/* ---- own addresses ---- */

#define TOEC_IP6_ADDRS     8 /* link-local, static, the rest by SLAAC */
#define TOEC_IP6_PREFIXES  8
#define TOEC_IP6_ROUTERS   4
#define TOEC_IP6_REDIRECTS 64

enum toec_own_state {
    TOEC_OWN_FREE = 0,
    TOEC_OWN_TENTATIVE, /* duplicate address detection is running (RFC 4862 5.4) */
    TOEC_OWN_PREFERRED,
    TOEC_OWN_DEPRECATED, /* not for new connections (RFC 4862 5.5.4) */
    TOEC_OWN_DUPLICATE   /* another host has it: not used */
};

struct toec_own6 {
    struct toec_addr addr;
    struct toec_timer timer;
    toec_time preferred_until, valid_until; /* TOEC_NEVER: forever */
    toec_u8 state;                          /* enum toec_own_state */
    toec_u8 prefix_len;
    toec_u8 automatic;   /* generated from a prefix: link-local or SLAAC */
    toec_u8 dad_sent;    /* solicitations sent */
    toec_u8 dad_counter; /* of RFC 7217: number of duplicates found for this prefix */
    toec_u8 nonce[6]; /* of our solicitation (RFC 7527), to recognise it when it is looped back */
};

/* On-link prefixes that routers have announced. */
struct toec_prefix6 {
    struct toec_addr prefix;
    toec_time until; /* 0: free */
    toec_u8 len;
};

struct toec_router6 {
    struct toec_addr addr;
    toec_time until; /* 0: free */
};

/* A redirect: a destination and its better next hop (RFC 4861 8.3). */
struct toec_redirect6 {
    struct toec_addr dst, via;
    toec_time until; /* 0: free */
};

struct toec_ip6 {
    struct toec_own6 own[TOEC_IP6_ADDRS];
    struct toec_prefix6 prefix[TOEC_IP6_PREFIXES];
    struct toec_router6 router[TOEC_IP6_ROUTERS];
    struct toec_redirect6 redirect[TOEC_IP6_REDIRECTS];
    struct toec_timer rs, expiry, mld;
    toec_u64 iid_key[2];      /* RFC 7217: secret_key */
    toec_u64 label_key[2];    /* RFC 6437: flow labels */
    toec_time retrans;        /* RetransTimer, ns */
    toec_time reachable;      /* ReachableTime as last randomized, ns */
    toec_time reachable_draw; /* when it is randomized again */
    toec_u32 base_reachable;  /* ms */
    toec_u32 mtu;             /* LinkMTU */
    toec_u32 own_epoch;       /* changes with the own addresses */
    toec_u8 hops;             /* CurHopLimit */
    toec_u8 rs_sent;
    toec_u8 router_hand;  /* round robin among routers not known to be reachable */
    toec_u8 mld_left;     /* remaining reports of the last change (RFC 3810 9.1) */
    toec_u16 mld_changed; /* own addresses with new groups, one bit each */
    struct toec_rate echo;
    struct toec_rate na; /* advertisements in response to solicitations */
    struct toec_rate errors[64];
};

#endif
