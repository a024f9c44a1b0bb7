/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip4_in.c - IPv4 input (RFC 791, RFC 1122 3.2.1): drops invalid datagrams silently and counts
 * them.
 */
#include "ip4_in.h"

#include "../tcp/tcp_if.h"
#include "ip4_out.h"
#include "ip_out.h"

/*
 * Walks the options. Ignores unknown ones (R1122-08) and those that TCP does not use (RFC 9293
 * MUST-50). Rejects source routing, which allows spoofing (RFC 7126 4.3, 4.4). Returns 0, or -1
 * when dropped and counted.
 */
static int check_options(struct toec_stack *s, const toec_u8 *ip, unsigned hlen)
{
    unsigned i = TOEC_IP4_OPTIONS;

    while (i < hlen && ip[i] != TOEC_IP4OPT_END) {
        if (ip[i] == TOEC_IP4OPT_NOP) {
            i++;
            continue;
        }
        if (i + 1 >= hlen || ip[i + 1] < 2 || i + ip[i + 1] > hlen) {
            TOEC_COUNT(s, ip4_bad_option);
            return -1;
        }
        if (ip[i] == TOEC_IP4OPT_LSRR || ip[i] == TOEC_IP4OPT_SSRR) {
            TOEC_COUNT(s, ip4_source_route);
            return -1;
        }
        i += ip[i + 1];
    }
    return 0;
}

/* Checks lengths, version and checksum (R791-01, R1122-01, R1122-02). Returns 0, or -1 when dropped
 * and counted. */
static int check_header(struct toec_stack *s, const struct toec_packet *p, toec_u32 l3)
{
    const toec_u8 *ip = p->data + l3;
    unsigned hlen, total;

    if (p->head_len < l3 + TOEC_IP4_LEN) {
        TOEC_COUNT(s, ip4_short);
        return -1;
    }
    if (toec_ip4_version(ip) != 4) {
        TOEC_COUNT(s, ip4_bad_version);
        return -1;
    }
    hlen = toec_ip4_hlen(ip);
    total = toec_ip4_total(ip);
    if (hlen < TOEC_IP4_LEN || l3 + hlen > p->head_len) {
        TOEC_COUNT(s, ip4_bad_header_len);
        return -1;
    }
    if (total < hlen || total > p->len - l3) {
        TOEC_COUNT(s, ip4_bad_total_len);
        return -1;
    }
    if (!(p->flags & TOEC_RX_IP_CSUM_OK) &&
        (hlen == TOEC_IP4_LEN ? toec_ip4_sum20(ip) : toec_sum(ip, hlen)) != 0xffff) {
        TOEC_COUNT(s, ip4_bad_checksum);
        return -1;
    }
    return hlen == TOEC_IP4_LEN ? 0 : check_options(s, ip, hlen);
}

/* Checks source and destination (R1122-03, R1122-04). Returns 0, or -1 when dropped and counted. */
static int check_addresses(struct toec_stack *s, const struct toec_ip_in *in, int group)
{
    /* Our own address as the source of a frame from the wire is a "LAND" attack or a loop, never a
     * peer. */
    if (toec_ip4_is_martian(in->src4) ||
        (in->src4 == s->ip4 && !(in->pkt->flags & TOEC_RX_LOCAL)) ||
        (((in->src4 ^ s->ip4) & s->mask4) == 0 && toec_ip4_is_broadcast(in->src4, s->mask4))) {
        TOEC_COUNT(s, ip4_bad_source);
        return -1;
    }
    /* R1122-15: any protocol, including an echo request to a broadcast address */
    if (in->dst4 != s->ip4) {
        TOEC_COUNT(s, ip4_not_ours);
        return -1;
    }
    if (group) { /* R1122-21; RFC 9293 MUST-57 */
        TOEC_COUNT(s, ip4_group_frame);
        return -1;
    }
    return 0;
}

void toec_ip4_parse(struct toec_ip_in *in, const struct toec_packet *p, toec_u32 l3)
{
    const toec_u8 *ip = p->data + l3;
    unsigned hlen = toec_ip4_hlen(ip);

    in->pkt = p;
    in->ip = ip;
    in->l4 = ip + hlen;
    in->l4_off = l3 + hlen;
    in->l4_len = toec_ip4_total(ip) - hlen;
    in->l4_head = TOEC_MIN(p->head_len - in->l4_off, in->l4_len);
    in->src4 = toec_ip4_src(ip);
    in->dst4 = toec_ip4_dst(ip);
    toec_addr_set4(&in->src, in->src4);
    toec_addr_set4(&in->dst, in->dst4);
    in->proto = ip[TOEC_IP4_PROTO];
    in->tos = ip[TOEC_IP4_TOS];
    in->ttl = ip[TOEC_IP4_TTL];
    in->fragmented = 0;
}

void toec_ip4_input(struct toec_stack *s, const struct toec_packet *p, toec_u32 l3, int group,
                    toec_time now)
{
    struct toec_ip_in in;

    if (check_header(s, p, l3) < 0)
        return;
    toec_ip4_parse(&in, p, l3);
    if (check_addresses(s, &in, group) < 0)
        return;
    /* R1122-07: a datagram for us is never dropped for its TTL. */
    if (TOEC_UNLIKELY(toec_ip4_frag(in.ip) & (TOEC_IP4_MF | TOEC_IP4_OFF_MASK)))
        toec_reass_input(s, &in, now);
    else
        toec_ip4_deliver(s, &in, now);
}

void toec_ip4_deliver(struct toec_stack *s, const struct toec_ip_in *in, toec_time now)
{
    switch (in->proto) {
    case TOEC_IPPROTO_TCP:
        toec_tcp_input(s, in, now);
        return;
    case TOEC_IPPROTO_ICMP:
        toec_icmp4_input(s, in, now);
        return;
    case TOEC_IPPROTO_UDP:
        if (toec_udp_input(s, in) < 0) /* R1122-12, R1122-22 */
            toec_icmp4_error(s, in, TOEC_ICMP4_UNREACH, TOEC_ICMP4_UNREACH_PORT, now);
        return;
    default:
        TOEC_COUNT(s, ip4_unknown_proto);
        toec_icmp4_error(s, in, TOEC_ICMP4_UNREACH, TOEC_ICMP4_UNREACH_PROTO, now);
    }
}

int toec_ip_l4_sum_ok(struct toec_stack *s, const struct toec_ip_in *in)
{
    toec_u16 sum;

    if (in->pkt->flags & TOEC_RX_L4_CSUM_OK)
        return 1;
    sum = toec_ip_pseudo_sum(in->ip, in->proto, in->l4_len);
    return toec_sum_add(sum, toec_pkt_checksum(s, in->pkt, in->l4_off, in->l4_len), 0) == 0xffff;
}

void toec_pkt_place(struct toec_stack *s, void *owner, toec_u32 off, const struct toec_packet *p,
                    toec_u32 p_off, toec_u32 len)
{
    toec_port_place(s->cfg.user, owner, off, p, p_off, len);
}

toec_u16 toec_pkt_checksum(struct toec_stack *s, const struct toec_packet *p, toec_u32 p_off,
                           toec_u32 len)
{
    if (p->flags & TOEC_RX_REASSEMBLED)
        return toec_sum(p->data + p_off, len);
    return toec_port_checksum(s->cfg.user, p, p_off, len);
}

void toec_pkt_copy(struct toec_stack *s, void *dst, const struct toec_packet *p, toec_u32 p_off,
                   toec_u32 len)
{
    if (p->flags & TOEC_RX_REASSEMBLED)
        memcpy(dst, p->data + p_off, len);
    else
        toec_port_copy(s->cfg.user, dst, p, p_off, len);
}
