/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip6_out.c - IPv6 output: next hop (RFC 4861 5.2), header, flow label (RFC 6437), checksum.
 */
#include "ip6_out.h"

#include "ip4_out.h"
#include "ip6_addr.h"
#include "nd_router.h"

/* Returns not 0 when dst is the unicast address of another host. */
static int is_other(struct toec_stack *s, const struct toec_addr *dst)
{
    return toec_ip6_is_host(dst) && !toec_addr_is_zero(dst) && !toec_own_any(s, dst) &&
           s->cfg.ip6 != TOEC_IP6_OFF;
}

int toec_ip6_path(struct toec_stack *s, const struct toec_addr *dst, struct toec_path *path)
{
    const struct toec_addr *via;

    memset(path, 0, sizeof(*path));
    path->mtu = (toec_u16)s->ip6.mtu;
    path->hlen = TOEC_IP6_LEN;
    path->epoch = s->route_epoch;
    if (s->cfg.local && !s->cfg.link && s->cfg.ip6 != TOEC_IP6_OFF && toec_own_find(s, dst)) {
        path->next_hop = *dst;
        return 0;
    }
    if (s->cfg.link && is_other(s, dst)) {
        if (s->cfg.link->route(s->cfg.user, dst, &path->next_hop) == 0)
            return 0;
    } else if (is_other(s, dst)) {
        via = toec_redirect_find(s, dst);
        if (!via)
            via = toec_ip6_on_link(s, dst) ? dst : toec_router_pick(s);
        if (via) {
            path->next_hop = *via;
            return 0;
        }
    }
    TOEC_COUNT(s, ip6_no_route);
    return TOEC_E_UNREACH;
}

/* Routes again after a change of routers or redirects. Changes only the next hop of the path. */
static int reroute(struct toec_stack *s, const struct toec_addr *dst, struct toec_path *path)
{
    struct toec_path fresh;

    if (toec_ip6_path(s, dst, &fresh) < 0)
        return TOEC_SEND_UNREACH;
    path->epoch = fresh.epoch;
    if (toec_addr_eq(&path->next_hop, &fresh.next_hop))
        return 0;
    path->next_hop = fresh.next_hop;
    path->gen = 0;
    return 0;
}

/* R6437-01: the label is the same for all packets of a flow, differs between flows, and reveals
 * nothing. */
static toec_u32 flow_label(const struct toec_stack *s, const struct toec_outbuf *o,
                           const toec_u8 *l4)
{
    toec_u8 m[37];

    memcpy(m, o->src->b, 16);
    memcpy(m + 16, o->dst->b, 16);
    memset(m + 32, 0, 5);
    m[36] = o->proto;
    if ((o->proto == TOEC_IPPROTO_TCP || o->proto == TOEC_IPPROTO_UDP) && o->l4_len >= 4)
        memcpy(m + 32, l4, 4); /* both ports */
    return (toec_u32)toec_siphash(s->ip6.label_key, m, sizeof(m)) & 0xfffffu;
}

toec_u16 toec_ip6_pseudo_sum(const toec_u8 *ip, unsigned proto, toec_u32 len)
{
    /* RFC 8200 8.1: only the low words of length and next header are ever set */
    return toec_sum_add(
        toec_sum(ip + TOEC_IP6_SRC, 32),
        toec_fold64((toec_u64)toec_hton16((toec_u16)proto) + toec_hton16((toec_u16)len)), 0);
}

/* o->ext_len bytes of extension header precede the L4 header. */
void toec_ip6_frame(struct toec_stack *s, const toec_u8 *mac, unsigned hops, struct toec_outbuf *o,
                    struct toec_tx *tx)
{
    toec_u8 *l4 = toec_out_l4(o), *ip = l4 - o->ext_len - TOEC_IP6_LEN, *eth = ip - TOEC_ETH_LEN;
    toec_u32 l4_total = o->l4_len + o->len;

    toec_eth_emit(eth, mac, s->cfg.mac, TOEC_ETHERTYPE_IP6);
    toec_put32(ip, 6u << 28 | (toec_u32)o->tos << 20 | flow_label(s, o, l4));
    toec_put16(ip + TOEC_IP6_PAYLOAD, o->ext_len + l4_total);
    ip[TOEC_IP6_NEXT] = o->ext_len ? (toec_u8)o->ext_next : o->proto;
    ip[TOEC_IP6_HOPS] = (toec_u8)hops;
    memcpy(ip + TOEC_IP6_SRC, o->src->b, 16);
    memcpy(ip + TOEC_IP6_DST, o->dst->b, 16);
    tx->hdr = eth;
    tx->hdr_len = (toec_u16)(TOEC_ETH_LEN + TOEC_IP6_LEN + o->ext_len + o->l4_len);
    tx->csum_start = 0;
    tx->csum_offset = 0;
    if (o->sum_off != TOEC_SUM_NONE) {
        toec_put_sum(l4 + o->sum_off, toec_ip6_pseudo_sum(ip, o->proto, l4_total));
        tx->csum_start = (toec_u16)(TOEC_ETH_LEN + TOEC_IP6_LEN + o->ext_len);
        tx->csum_offset = o->sum_off;
    }
    tx->gso_size = o->gso_size;
    tx->owner = o->owner;
    tx->off = o->off;
    tx->len = o->len;
    tx->src = o->psrc;
    tx->local = mac == s->cfg.mac;
}

static int emit(struct toec_stack *s, const toec_u8 *mac, unsigned hops, struct toec_outbuf *o)
{
    struct toec_tx tx;

    toec_ip6_frame(s, mac, hops, o, &tx);
    return toec_transmit(s, &tx);
}

int toec_ip6_output(struct toec_stack *s, struct toec_path *path, struct toec_outbuf *o,
                    toec_time now)
{
    const toec_u8 *mac = 0;
    int rc = 0;

    if (TOEC_UNLIKELY(path->epoch != s->route_epoch))
        rc = reroute(s, o->dst, path);
    if (rc == 0)
        rc = toec_neigh_lookup(s, path, &mac, now);
    if (TOEC_UNLIKELY(rc < 0))
        return rc;
    return emit(s, mac, s->ip6.hops, o);
}

int toec_ip6_send_to(struct toec_stack *s, const toec_u8 *mac, unsigned hops, struct toec_outbuf *o)
{
    toec_u8 group[6];

    if (!mac) {
        toec_mac_of_group(group, o->dst);
        mac = group;
    }
    return emit(s, mac, hops, o);
}
