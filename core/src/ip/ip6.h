/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip6.h - IPv6 of one stack: its addresses, routers, prefixes and parameters (the host variables of
 * RFC 4861 6.3.2), all in tables of fixed size, and what the ip6_*.c, nd*.c and mld.c files share.
 */
#ifndef TOEC_IP6_H
#define TOEC_IP6_H

#include "ip.h"
#include "../base/rate.h"
#include "../base/timer.h"
#include "../wire/wire_icmp6.h"

/* ---- own addresses ---- */

#define TOEC_IP6_ADDRS     8 /* link-local, static, and the rest by SLAAC */
#define TOEC_IP6_PREFIXES  8
#define TOEC_IP6_ROUTERS   4
#define TOEC_IP6_REDIRECTS 64

enum toec_own_state {
    TOEC_OWN_FREE = 0,
    TOEC_OWN_TENTATIVE, /* duplicate address detection under way (RFC 4862 5.4) */
    TOEC_OWN_PREFERRED,
    TOEC_OWN_DEPRECATED, /* not for new connections (RFC 4862 5.5.4) */
    TOEC_OWN_DUPLICATE   /* another host has it: not used */
};

struct toec_own6 {
    struct toec_addr addr;
    struct toec_timer timer;
    toec_time preferred_until, valid_until; /* TOEC_NEVER: for ever */
    toec_u8 state;                          /* enum toec_own_state */
    toec_u8 prefix_len;
    toec_u8 automatic;   /* made from a prefix: link-local or SLAAC */
    toec_u8 dad_sent;    /* solicitations sent */
    toec_u8 dad_counter; /* of RFC 7217: how many addresses of this prefix were others' */
    toec_u8 nonce[6];    /* of our solicitation (RFC 7527): what comes back is our own */
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

/* What redirects have taught: a destination and its better next hop (RFC 4861 8.3). */
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
    toec_time reachable;      /* ReachableTime as last drawn, ns */
    toec_time reachable_draw; /* when it is drawn again */
    toec_u32 base_reachable;  /* ms */
    toec_u32 mtu;             /* LinkMTU */
    toec_u32 own_epoch;       /* another one when the own addresses have changed */
    toec_u8 hops;             /* CurHopLimit */
    toec_u8 rs_sent;
    toec_u8 router_hand;  /* round robin among routers that are not known to be reachable */
    toec_u8 mld_left;     /* reports still to send of the last change (RFC 3810 9.1) */
    toec_u16 mld_changed; /* own addresses whose groups are new, a bit each */
    struct toec_rate echo;
    struct toec_rate na; /* advertisements in answer to solicitations */
    struct toec_rate errors[64];
};

/* ---- ip6_addr.c: own addresses ---- */

void toec_ip6_init(struct toec_stack *s, toec_time now);
/* The own address a that packets may be sent to: preferred or deprecated; 0: not ours. */
struct toec_own6 *toec_own_find(struct toec_stack *s, const struct toec_addr *a);
/* ... in any state but free. */
struct toec_own6 *toec_own_any(struct toec_stack *s, const struct toec_addr *a);
/* Our link-local address when it may be used, else 0. */
struct toec_own6 *toec_own_link_local(struct toec_stack *s);
/* Begins to make an address of this prefix ours. */
void toec_own_add(struct toec_stack *s, const struct toec_addr *addr, unsigned len, int automatic,
                  toec_time preferred, toec_time valid, toec_time now);
/* RFC 4862 5.5.3: an autonomous prefix of an advertisement; seconds, 0xffffffff: for ever. */
void toec_slaac(struct toec_stack *s, const struct toec_addr *prefix, unsigned len, toec_u32 valid,
                toec_u32 preferred, toec_time now);
/* Someone else uses or tests this tentative address (RFC 4862 5.4.3, 5.4.4). */
void toec_dad_conflict(struct toec_stack *s, struct toec_own6 *own, toec_time now);
void toec_own_timer(struct toec_stack *s, struct toec_timer *t, toec_time now);
/* Not 0 when dst is a group we listen to (all nodes, solicited-node). */
int toec_own_group(struct toec_stack *s, const struct toec_addr *dst);
/* RFC 6724: 0 when there is none. */
const struct toec_addr *toec_ip6_source(struct toec_stack *s, const struct toec_addr *dst);

/* ---- ip6_in.c, ip6_ext.c ---- */

void toec_ip6_input(struct toec_stack *s, const struct toec_packet *p, int group, toec_time now);
/* Walks the extension headers from in->l4 on and delivers. */
void toec_ip6_walk(struct toec_stack *s, struct toec_ip_in *in, toec_time now);
/* Fills *in from a frame whose IPv6 header has been checked. */
void toec_ip6_parse(struct toec_ip_in *in, const struct toec_packet *p);

/* What becomes of a packet for a header of options: go on, or drop it, telling the sender or not.
 */
enum toec_opt_verdict { TOEC_OPTS_OK, TOEC_OPTS_DROP, TOEC_OPTS_REPORT, TOEC_OPTS_BAD };
/*
 * Looks at the options of the header at ext, of len bytes. *at: offset in the header of the option
 * meant by the verdict.
 */
enum toec_opt_verdict toec_ip6_options(const toec_u8 *ext, unsigned len, int multicast,
                                       unsigned *at);
/*
 * RFC 7112: not 0 when len bytes, which begin with a header of type `next`, hold the rest of the
 * chain and the whole upper-layer header.
 */
int toec_ip6_chain_whole(unsigned next, const toec_u8 *p, toec_u32 len);

/* ---- ip6_out.c ---- */

int toec_ip6_path(struct toec_stack *s, const struct toec_addr *dst, struct toec_path *path);
int toec_ip6_output(struct toec_stack *s, struct toec_path *path, struct toec_outbuf *o,
                    toec_time now);
toec_u16 toec_ip6_pseudo_sum(const toec_u8 *ip, unsigned proto, toec_u32 len);
/* Builds the frame: headers in o->room, the rest in *tx. */
void toec_ip6_frame(struct toec_stack *s, const toec_u8 *mac, unsigned hops, struct toec_outbuf *o,
                    struct toec_tx *tx);
/* Sends to a group or, with mac, to a neighbour that need not be known. hops: the hop limit. */
int toec_ip6_send_to(struct toec_stack *s, const toec_u8 *mac, unsigned hops,
                     struct toec_outbuf *o);

/* ---- icmp6.c ---- */

void toec_icmp6_init(struct toec_stack *s);
void toec_icmp6_input(struct toec_stack *s, const struct toec_ip_in *in, toec_time now);
/* As toec_icmp4_error(). rest: pointer of a parameter problem. RFC 4443 2.4 (e) is kept. */
void toec_icmp6_error(struct toec_stack *s, const struct toec_ip_in *in, unsigned type,
                      unsigned code, toec_u32 rest, toec_time now);

/* ---- nd.c, nd_router.c ---- */

/* An ICMPv6 message of types 133 to 137 whose checksum is right. */
void toec_nd_input(struct toec_stack *s, const struct toec_ip_in *in, toec_time now);
/* Asks for a neighbour: everyone, or mac alone when it is not 0. */
void toec_nd_solicit(struct toec_stack *s, const struct toec_addr *target, const toec_u8 *mac);
/* Duplicate address detection: asks whether someone has our tentative address. */
void toec_nd_probe(struct toec_stack *s, const struct toec_own6 *own);
void toec_nd_advertise(struct toec_stack *s, const struct toec_own6 *own);

/* This address is a router's; mac 0: not told. */
void toec_nd_learn_router(struct toec_stack *s, const struct toec_addr *addr, const toec_u8 *mac,
                          toec_time now);

/* Options of a discovery message that core/ reads; 0: absent. */
struct toec_nd_options {
    const toec_u8 *source_mac, *target_mac, *nonce;
    const toec_u8 *mtu;
    const toec_u8 *prefix[TOEC_IP6_PREFIXES];
    unsigned prefixes;
};
/* Parses them; -1 when one has length 0 or goes beyond the end. */
int toec_nd_options(struct toec_nd_options *o, const toec_u8 *p, toec_u32 len);

void toec_ra_input(struct toec_stack *s, const struct toec_ip_in *in,
                   const struct toec_nd_options *o, toec_time now);
/* The router to send to when dst is not on the link; 0: there is none. */
const struct toec_addr *toec_router_pick(struct toec_stack *s);
int toec_ip6_on_link(const struct toec_stack *s, const struct toec_addr *dst);
void toec_rs_start(struct toec_stack *s, toec_time now);
void toec_rs_timer(struct toec_stack *s, toec_time now);
void toec_ip6_expiry_timer(struct toec_stack *s, toec_time now);
/* This neighbour does not answer, or is no router any more. */
void toec_router_lost(struct toec_stack *s, const struct toec_addr *addr, int for_good,
                      toec_time now);
/* lifetime in seconds, 0: no longer, 0xffffffff: for ever. */
void toec_router_set(struct toec_stack *s, const struct toec_addr *addr, toec_u32 lifetime,
                     toec_time now);
void toec_prefix_set(struct toec_stack *s, const struct toec_addr *prefix, unsigned len,
                     toec_u32 lifetime, toec_time now);
void toec_redirect_add(struct toec_stack *s, const struct toec_addr *dst,
                       const struct toec_addr *via, toec_time now);
const struct toec_addr *toec_redirect_find(struct toec_stack *s, const struct toec_addr *dst);

/* ---- mld.c ---- */

/* The group of own[i] is new: reports. */
void toec_mld_join(struct toec_stack *s, unsigned i, toec_time now);
void toec_mld_leave(struct toec_stack *s, const struct toec_addr *own);
void toec_mld_query(struct toec_stack *s, const struct toec_ip_in *in, toec_time now);
void toec_mld_timer(struct toec_stack *s, toec_time now);

#endif
