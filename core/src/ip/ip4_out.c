/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip4_out.c - IPv4 output: routing (RFC 1122 3.3.1), header, checksums.
 */
#include "ip4_out.h"

int toec_ip4_is_martian(toec_u32 ip)
{
    /* RFC 1122 3.2.1.3 (a), (g), class D and E */
    return ip >> 24 == 0 || ip >> 24 == 127 || ip >= 0xe0000000u;
}

int toec_ip4_is_broadcast(toec_u32 ip, toec_u32 mask)
{
    toec_u32 host = ip & ~mask;

    return mask != 0 && ~mask > 1 && (host == 0 || host == ~mask);
}

static int on_link(toec_u32 own, toec_u32 mask, toec_u32 ip)
{
    return ((ip ^ own) & mask) == 0;
}

int toec_ip4_on_link_host(toec_u32 own, toec_u32 mask, toec_u32 ip)
{
    return on_link(own, mask, ip) && ip != own && !toec_ip4_is_martian(ip) &&
           !toec_ip4_is_broadcast(ip, mask);
}

/* Routes by toec_config.link. */
static int linked_path(struct toec_stack *s, toec_u32 dst, struct toec_path *path)
{
    struct toec_addr to;

    toec_addr_set4(&to, dst);
    if (dst != s->ip4 && !toec_ip4_is_martian(dst) &&
        !(on_link(s->ip4, s->mask4, dst) && toec_ip4_is_broadcast(dst, s->mask4)) &&
        s->cfg.link->route(s->cfg.user, &to, &path->next_hop) == 0)
        return 0;
    TOEC_COUNT(s, ip4_no_route);
    return TOEC_E_UNREACH;
}

void toec_routes_changed(struct toec_stack *s)
{
    s->route_epoch++;
    s->send_epoch++; /* senders that wait for a neighbour may no longer need it */
}

/* Routes again after a route change. Changes only the next hop of the path. */
static int reroute(struct toec_stack *s, const struct toec_addr *dst, struct toec_path *path)
{
    struct toec_path other;

    if (toec_ip4_path(s, toec_addr_get4(dst), &other) < 0)
        return TOEC_SEND_UNREACH;
    path->epoch = other.epoch;
    if (!toec_addr_eq(&other.next_hop, &path->next_hop)) {
        path->next_hop = other.next_hop;
        path->gen = 0;
    }
    return 0;
}

int toec_ip4_path(struct toec_stack *s, toec_u32 dst, struct toec_path *path)
{
    memset(path, 0, sizeof(*path));
    path->mtu = (toec_u16)s->link_mtu; /* R1122-20: the transport keeps to this */
    path->hlen = TOEC_IP4_LEN;
    path->epoch = s->route_epoch;
    if (s->cfg.link)
        return linked_path(s, dst, path);
    if (toec_ip4_on_link_host(s->ip4, s->mask4, dst) ||
        (s->cfg.local && s->ip4 != 0 && dst == s->ip4)) {
        toec_addr_set4(&path->next_hop, dst);
        return 0;
    }
    if (on_link(s->ip4, s->mask4, dst) || toec_ip4_is_martian(dst) || s->gateway4 == 0) {
        TOEC_COUNT(s, ip4_no_route);
        return TOEC_E_UNREACH;
    }
    toec_addr_set4(&path->next_hop, s->gateway4);
    return 0;
}

toec_u32 toec_send_epoch(const struct toec_stack *s)
{
    return s->send_epoch;
}

int toec_transmit(struct toec_stack *s, const struct toec_tx *tx)
{
    if (TOEC_UNLIKELY(toec_port_transmit(s->cfg.user, tx) < 0)) {
        s->tx_full = 1;
        TOEC_COUNT(s, tx_full);
        return TOEC_SEND_WAIT;
    }
    TOEC_COUNT(s, tx_frames);
    TOEC_COUNT_ADD(s, tx_bytes, tx->hdr_len + tx->len);
    return 0;
}

void toec_ip4_set_sum(toec_u8 *ip, unsigned hlen)
{
    toec_put_sum(ip + TOEC_IP4_SUM, 0);
    toec_put_sum(ip + TOEC_IP4_SUM, (toec_u16)~toec_sum(ip, hlen));
}

/* Writes the 20 bytes of header before an L4 part of len bytes. */
static void emit_header(toec_u8 *ip, const struct toec_stack *s, const struct toec_outbuf *o,
                        toec_u32 frag, toec_u32 id)
{
    ip[TOEC_IP4_VER_IHL] = 0x45;
    ip[TOEC_IP4_TOS] = o->tos;
    toec_put16(ip + TOEC_IP4_TOTAL, TOEC_IP4_LEN + o->l4_len + o->len);
    toec_put16(ip + TOEC_IP4_ID, id);
    toec_put16(ip + TOEC_IP4_FRAG, frag);
    ip[TOEC_IP4_TTL] = (toec_u8)s->cfg.ttl; /* RFC 9293 MUST-49 */
    ip[TOEC_IP4_PROTO] = o->proto;
    toec_put32(ip + TOEC_IP4_SRC, s->ip4);
    memcpy(ip + TOEC_IP4_DST, o->dst->b + 12, 4);
    toec_put_sum(ip + TOEC_IP4_SUM, 0);
    toec_put_sum(ip + TOEC_IP4_SUM, (toec_u16)~toec_ip4_sum20(ip));
}

toec_u16 toec_ip4_pseudo_sum(const toec_u8 *ip, unsigned proto, toec_u32 len)
{
    toec_u32 w[2];

    memcpy(w, ip + TOEC_IP4_SRC, 8);
    return toec_fold64((toec_u64)w[0] + w[1] + toec_hton16((toec_u16)proto) +
                       toec_hton16((toec_u16)len));
}

static void frame(struct toec_stack *s, const toec_u8 *mac, toec_u32 frag, toec_u32 id,
                  struct toec_outbuf *o, struct toec_tx *tx)
{
    toec_u8 *ip = toec_out_l4(o) - TOEC_IP4_LEN, *eth = ip - TOEC_ETH_LEN;
    toec_u32 l4_total = o->l4_len + o->len;

    toec_eth_emit(eth, mac, s->cfg.mac, TOEC_ETHERTYPE_IP4);
    emit_header(ip, s, o, frag, id);
    tx->hdr = eth;
    tx->hdr_len = (toec_u16)(TOEC_ETH_LEN + TOEC_IP4_LEN + o->l4_len);
    tx->csum_start = 0;
    tx->csum_offset = 0;
    if (o->sum_off != TOEC_SUM_NONE) {
        /* ICMP has no pseudo-header; its sum starts at 0 */
        toec_put_sum(toec_out_l4(o) + o->sum_off,
                     o->proto == TOEC_IPPROTO_ICMP ? 0
                                                   : toec_ip4_pseudo_sum(ip, o->proto, l4_total));
        tx->csum_start = TOEC_ETH_LEN + TOEC_IP4_LEN;
        tx->csum_offset = o->sum_off;
    }
    tx->gso_size = o->gso_size;
    tx->owner = o->owner;
    tx->off = o->off;
    tx->len = o->len;
    tx->src = o->psrc;
    tx->local = mac == s->cfg.mac;
}

void toec_ip4_frame(struct toec_stack *s, const toec_u8 *mac, struct toec_outbuf *o,
                    struct toec_tx *tx)
{
    frame(s, mac, TOEC_IP4_DF, 0, o, tx); /* R1191-01 */
}

int toec_ip4_send(struct toec_stack *s, struct toec_path *path, struct toec_outbuf *o,
                  toec_u32 frag, toec_u32 id, toec_time now)
{
    const toec_u8 *mac = 0;
    struct toec_tx tx;
    int rc = 0;

    if (TOEC_UNLIKELY(path->epoch != s->route_epoch))
        rc = reroute(s, o->dst, path);
    if (rc == 0)
        rc = toec_neigh_lookup(s, path, &mac, now);
    if (TOEC_UNLIKELY(rc < 0))
        return rc;
    frame(s, mac, frag, id, o, &tx);
    return toec_transmit(s, &tx);
}

int toec_ip4_output(struct toec_stack *s, struct toec_path *path, struct toec_outbuf *o,
                    toec_time now)
{
    if (TOEC_UNLIKELY(o->no_df)) /* RFC 6864 4.2: a datagram that may be fragmented needs an ID */
        return toec_ip4_send(s, path, o, 0, toec_rand32(s), now);
    return toec_ip4_send(s, path, o, TOEC_IP4_DF, 0, now); /* R1191-01 */
}
