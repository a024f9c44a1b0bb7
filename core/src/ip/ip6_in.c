/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip6_in.c - IPv6 input (RFC 8200): drops and counts invalid packets, and sends ICMP errors where
 * the RFC requires them.
 */
#include "ip6_in.h"

#include "../tcp/tcp_if.h"
#include "icmp6.h"
#include "ip6_addr.h"
#include "ip6_ext.h"
#include "ip6_reass.h"

#define MAX_HEADERS 8   /* extension headers of a packet (RFC 8504 5.3) */
#define MAX_CHAIN   512 /* their bytes */

/* Checks lengths and version. Returns 0, or -1 when dropped and counted. */
static int check_header(struct toec_stack *s, const struct toec_packet *p, toec_u32 l3)
{
    const toec_u8 *ip = p->data + l3;

    if (p->head_len < l3 + TOEC_IP6_LEN) {
        TOEC_COUNT(s, ip6_short);
        return -1;
    }
    if (toec_ip6_version(ip) != 6) {
        TOEC_COUNT(s, ip6_bad_version);
        return -1;
    }
    if ((toec_u32)toec_ip6_payload(ip) > p->len - l3 - TOEC_IP6_LEN) {
        TOEC_COUNT(s, ip6_bad_length);
        return -1;
    }
    return 0;
}

/* Checks source and destination. Returns 0, or -1 when dropped and counted. */
static int check_addresses(struct toec_stack *s, const struct toec_ip_in *in, int group)
{
    const struct toec_own6 *own = toec_own_any(s, &in->src);

    /* RFC 4291 2.5.3, 2.7; a mapped address would be mistaken for IPv4. Our own address as the
     * source of a frame from the wire is a "LAND" attack or a loop. For a tentative address, it is
     * the packet of the other owner. */
    if (!toec_ip6_is_host(&in->src) ||
        (own && own->state != TOEC_OWN_DUPLICATE && !(in->pkt->flags & TOEC_RX_LOCAL))) {
        TOEC_COUNT(s, ip6_bad_source);
        return -1;
    }
    if (toec_addr_is_multicast(&in->dst)) {
        if (toec_own_group(s, &in->dst))
            return 0;
    } else if (toec_own_find(s, &in->dst)) {
        if (!group)
            return 0;
        TOEC_COUNT(s, ip6_group_frame);
        return -1;
    }
    TOEC_COUNT(s, ip6_not_ours);
    return -1;
}

void toec_ip6_parse(struct toec_ip_in *in, const struct toec_packet *p, toec_u32 l3)
{
    const toec_u8 *ip = p->data + l3;

    in->pkt = p;
    in->ip = ip;
    in->l4 = ip + TOEC_IP6_LEN;
    in->l4_off = l3 + TOEC_IP6_LEN;
    in->l4_len = toec_ip6_payload(ip);
    in->l4_head = TOEC_MIN(p->head_len - in->l4_off, in->l4_len);
    in->src4 = 0;
    in->dst4 = 0;
    memcpy(in->src.b, ip + TOEC_IP6_SRC, 16);
    memcpy(in->dst.b, ip + TOEC_IP6_DST, 16);
    in->proto = ip[TOEC_IP6_NEXT];
    in->tos = (toec_u8)toec_ip6_class(ip);
    in->ttl = ip[TOEC_IP6_HOPS];
    in->fragmented = 0;
}

void toec_ip6_input(struct toec_stack *s, const struct toec_packet *p, toec_u32 l3, int group,
                    toec_time now)
{
    struct toec_ip_in in;

    if (check_header(s, p, l3) < 0)
        return;
    toec_ip6_parse(&in, p, l3);
    if (check_addresses(s, &in, group) < 0)
        return;
    toec_ip6_walk(s, &in, now);
}

/* ---- upper layers ---- */

/* Delivers to the upper layer at in->l4; next_at: offset in the packet of its type. */
static void deliver(struct toec_stack *s, struct toec_ip_in *in, unsigned next_at, toec_time now)
{
    switch (in->proto) {
    case TOEC_IPPROTO_TCP:
        if (toec_addr_is_multicast(&in->dst) || /* RFC 9293 MUST-57, MUST-63 */
            toec_addr_is_zero(&in->src))
            TOEC_COUNT(s, ip6_bad_source);
        else
            toec_tcp_input(s, in, now);
        return;
    case TOEC_NH_ICMP6:
        toec_icmp6_input(s, in, now);
        return;
    case TOEC_IPPROTO_UDP:
        if (toec_udp_input(s, in) < 0)
            toec_icmp6_error(s, in, TOEC_ICMP6_UNREACH, TOEC_ICMP6_UNREACH_PORT, 0, now);
        return;
    case TOEC_NH_NONE:
        TOEC_COUNT(s, ip6_no_next);
        return;
    default: /* R8200-02 */
        TOEC_COUNT(s, ip6_unknown_next);
        toec_icmp6_error(s, in, TOEC_ICMP6_PARAM_PROBLEM, TOEC_ICMP6_PARAM_NEXT, next_at, now);
    }
}

/* ---- extension headers ---- */

/* Returns the offset in the packet of the header at in->l4. */
static unsigned here(const struct toec_ip_in *in)
{
    return (unsigned)(in->l4 - in->ip);
}

/* Returns not 0 when the options let the packet pass; otherwise drops and counts it, and reports it
 * if required. */
static int options_pass(struct toec_stack *s, const struct toec_ip_in *in, unsigned len,
                        toec_time now)
{
    unsigned at = 0;

    switch (toec_ip6_options(in->l4, len, toec_addr_is_multicast(&in->dst), &at)) {
    case TOEC_OPTS_OK:
        return 1;
    case TOEC_OPTS_REPORT:
        TOEC_COUNT(s, ip6_unknown_option);
        toec_icmp6_error(s, in, TOEC_ICMP6_PARAM_PROBLEM, TOEC_ICMP6_PARAM_OPTION, here(in) + at,
                         now);
        return 0;
    case TOEC_OPTS_DROP:
        TOEC_COUNT(s, ip6_unknown_option);
        return 0;
    default:
        TOEC_COUNT(s, ip6_bad_option);
        return 0;
    }
}

/*
 * Checks one extension header other than fragment. Returns its length, or 0 when the packet is
 * dropped. No routing header is supported: with segments left it is rejected, type 0 too (R8200-12,
 * RFC 5095 3).
 */
static unsigned pass_header(struct toec_stack *s, const struct toec_ip_in *in, toec_time now)
{
    unsigned len;

    if (in->l4_head < TOEC_EXT_MIN || toec_ext_len(in->l4) > in->l4_head) {
        TOEC_COUNT(s, ip6_bad_ext);
        return 0;
    }
    len = toec_ext_len(in->l4);
    if (in->proto != TOEC_NH_ROUTING)
        return options_pass(s, in, len, now) ? len : 0;
    if (in->l4[TOEC_EXT_SEGMENTS] == 0)
        return len;
    TOEC_COUNT(s, ip6_routing);
    toec_icmp6_error(s, in, TOEC_ICMP6_PARAM_PROBLEM, TOEC_ICMP6_PARAM_FIELD,
                     here(in) + TOEC_EXT_ROUTING_TYPE, now);
    return 0;
}

/* R8200-06 (RFC 6946): a fragment that is the whole packet is processed independently of others. */
static int is_atomic(const toec_u8 *frag)
{
    return (toec_get16(frag + TOEC_FRAG_OFFSET) & ~6u) == 0;
}

void toec_ip6_walk(struct toec_stack *s, struct toec_ip_in *in, toec_time now)
{
    unsigned next_at = TOEC_IP6_NEXT, headers = 0, len;

    /* R8200-01: in the order of the packet; hop-by-hop only first */
    for (;; headers++) {
        switch (in->proto) {
        case TOEC_NH_HOP_BY_HOP:
            if (headers) {
                TOEC_COUNT(s, ip6_unknown_next);
                toec_icmp6_error(s, in, TOEC_ICMP6_PARAM_PROBLEM, TOEC_ICMP6_PARAM_NEXT, next_at,
                                 now);
                return;
            }
            /* fall through */
        case TOEC_NH_ROUTING:
        case TOEC_NH_DEST_OPTS:
            len = pass_header(s, in, now);
            if (len == 0)
                return;
            break;
        case TOEC_NH_FRAGMENT:
            if (in->l4_head < TOEC_FRAG_LEN) {
                TOEC_COUNT(s, ip6_bad_ext);
                return;
            }
            in->fragmented = 1;
            len = TOEC_FRAG_LEN;
            if (is_atomic(in->l4)) {
                TOEC_COUNT(s, ip6_frag_atomic);
                break;
            }
            if (in->pkt->flags & TOEC_RX_REASSEMBLED) { /* fragments of fragments */
                TOEC_COUNT(s, ip6_frag_bad);
                return;
            }
            toec_reass6_input(s, in, next_at, now);
            return;
        default:
            deliver(s, in, next_at, now);
            return;
        }
        if (headers == MAX_HEADERS || here(in) + len > TOEC_IP6_LEN + MAX_CHAIN) {
            TOEC_COUNT(s, ip6_chain_long);
            return;
        }
        next_at = here(in) + TOEC_EXT_NEXT;
        in->proto = in->l4[TOEC_EXT_NEXT];
        in->l4 += len;
        in->l4_off += len;
        in->l4_len -= len;
        in->l4_head -= len;
    }
}
