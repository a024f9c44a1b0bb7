/* SPDX-License-Identifier: Apache-2.0 */
/*
 * udp_out.c - sends UDP datagrams: one, or a sequence of equal size (UDP_SEGMENT of Linux),
 * fragmented where they exceed the path MTU.
 */
#include "ip4_out.h"
#include "ip6_out.h"
#include "ip_out.h"
#include "stack.h"

#ifndef TOEC_NO_UDP

#define MAX4 65507u /* RFC 768 in RFC 791 */
#define MAX6 65527u

/* Sends o, whose header is complete, in fragments. RFC 791 3.2, RFC 8200 4.5. */
static int send_cut(struct toec_stack *s, struct toec_path *path, struct toec_outbuf *o,
                    toec_u32 mtu, toec_time now)
{
    int is6 = TOEC_PATH_IP6(path), rc;
    toec_u32 room = (mtu - path->hlen - (is6 ? TOEC_FRAG_LEN : 0u)) & ~7u, left = o->len;
    toec_u32 done = 0, id = toec_rand32(s); /* RFC 7739: unpredictable */
    toec_u8 *frag = toec_out_l4(o) - TOEC_OUT_EXT;

    o->ext_len = is6 ? TOEC_FRAG_LEN : 0;
    o->ext_next = TOEC_NH_FRAGMENT;
    for (;;) {
        o->len = TOEC_MIN(left, room - o->l4_len);
        left -= o->len;
        if (is6) {
            frag[0] = TOEC_IPPROTO_UDP;
            frag[1] = 0;
            toec_put16(frag + TOEC_FRAG_OFFSET, done | (left ? TOEC_FRAG_MORE : 0));
            toec_put32(frag + TOEC_FRAG_ID, id);
            rc = toec_ip6_output(s, path, o, now);
        } else {
            rc = toec_ip4_send(s, path, o, done / 8 | (left ? TOEC_IP4_MF : 0), id, now);
        }
        if (rc < 0 || left == 0)
            return rc;
        TOEC_COUNT(s, udp_fragments);
        done += o->l4_len + o->len;
        o->off += o->len;
        o->l4_len = 0; /* only the first fragment has the UDP header */
    }
}

/* Computes the checksum over pseudo-header, UDP header and payload, for datagrams that core/ must
 * complete itself. */
static void finish_sum(struct toec_outbuf *o, const struct toec_addr *src, toec_u16 payload)
{
    toec_u8 *h = toec_out_l4(o), pseudo[40];
    toec_u16 sum;

    memcpy(pseudo, src->b, 16);
    memcpy(pseudo + 16, o->dst->b, 16);
    /* omits the prefix of mapped addresses, which is not part of the sum */
    if (toec_addr_is4(o->dst))
        memset(pseudo, 0, 12), memset(pseudo + 16, 0, 12);
    toec_put32(pseudo + 32, toec_get16(h + TOEC_UDP_LENGTH));
    toec_put32(pseudo + 36, TOEC_IPPROTO_UDP);
    toec_put_sum(h + TOEC_UDP_SUM, 0);
    sum = toec_sum_add(toec_sum(pseudo, sizeof(pseudo)), toec_sum(h, TOEC_UDP_LEN), 0);
    sum = (toec_u16)~toec_sum_add(sum, payload, 0);
    toec_put_sum(h + TOEC_UDP_SUM, sum ? sum : 0xffff); /* RFC 768: 0 would mean no checksum */
}

struct way {
    struct toec_path path;
    struct toec_addr src, dst;
    toec_u16 port;
    toec_u32 mtu;
    int no_df;
};

static int send_one(struct toec_stack *s, const struct toec_udp *u, const struct toec_udp_msg *m,
                    struct way *w, toec_u32 at, toec_u32 len, toec_time now)
{
    struct toec_outbuf o;
    toec_u8 *h = toec_out_l4(&o);
    int cut = w->path.hlen + TOEC_UDP_LEN + len > w->mtu;

    memset(&o, 0, sizeof(o));
    o.src = &w->src;
    o.dst = &w->dst;
    o.proto = TOEC_IPPROTO_UDP;
    o.tos = m->tos;
    o.l4_len = TOEC_UDP_LEN;
    o.owner = m->payload;
    o.off = m->off + at;
    o.len = len;
    o.no_df = (toec_u8)(w->no_df || !m->dont_fragment);
    o.sum_off = TOEC_UDP_SUM;
    toec_put16(h + TOEC_UDP_SPORT, u->local_port);
    toec_put16(h + TOEC_UDP_DPORT, w->port);
    toec_put16(h + TOEC_UDP_LENGTH, TOEC_UDP_LEN + len);
    toec_put_sum(h + TOEC_UDP_SUM, 0);
    if (m->no_check && !TOEC_PATH_IP6(&w->path)) {
        o.sum_off = TOEC_SUM_NONE;
    } else if (cut) {
        finish_sum(&o, &w->src, m->sum);
        o.sum_off = TOEC_SUM_NONE;
    }
    return cut ? send_cut(s, &w->path, &o, w->mtu, now) : toec_ip_output(s, &w->path, &o, now);
}

static int find_way(struct toec_stack *s, const struct toec_udp *u, const struct toec_udp_msg *m,
                    struct way *w)
{
    toec_u32 known;

    w->dst = m->to ? *m->to : u->remote;
    w->port = m->to ? m->to_port : u->remote_port;
    if (w->port == 0 || (u->connected && m->to))
        return TOEC_E_INVAL;
    if (u->families && !(u->families & (toec_addr_is4(&w->dst) ? TOEC_UDP_IP4 : TOEC_UDP_IP6)))
        return TOEC_E_INVAL;
    if (!u->families && toec_addr_is4(&u->local) != toec_addr_is4(&w->dst))
        return TOEC_E_INVAL;
    w->src = u->local;
    if (u->families && toec_source_for(s, &w->dst, &w->src) < 0)
        return TOEC_E_NOTAVAIL;
    if (toec_path_to(s, &w->dst, &w->path) < 0)
        return TOEC_E_UNREACH;
    /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): toec_path_to() has set it */
    w->mtu = w->path.mtu;
    known = toec_pmtu_get_udp(s, &w->dst, &w->no_df);
    if (known && known < w->mtu)
        w->mtu = known;
    return 0;
}

/* Returns 0, or the error of a datagram that cannot be sent. */
static int check(const struct toec_udp_msg *m, const struct way *w, toec_u32 each)
{
    int cut = w->path.hlen + TOEC_UDP_LEN + each > w->mtu;

    if (each > (TOEC_PATH_IP6(&w->path) ? MAX6 : MAX4) || (cut && m->dont_fragment))
        return TOEC_E_MSGSIZE;
    if (m->segment && cut)
        return TOEC_E_INVAL; /* as Linux: segments are not fragmented */
    if (m->segment && m->len > TOEC_UDP_SEGMENTS * (toec_u32)m->segment)
        return TOEC_E_INVAL;
    if (m->no_check && TOEC_PATH_IP6(&w->path))
        return TOEC_E_INVAL; /* R8200-10 */
    if (cut && !m->has_sum && !m->no_check)
        return TOEC_E_INVAL;
    return 0;
}

int toec_udp_send(struct toec_stack *s, struct toec_udp *u, const struct toec_udp_msg *m,
                  toec_time now)
{
    toec_u32 each = m->segment && m->segment < m->len ? m->segment : m->len, at = 0;
    struct way w;
    int r = find_way(s, u, m, &w);

    if (r == 0)
        r = check(m, &w, each);
    if (r)
        return r;
    u->last = w.dst;
    u->last_port = w.port;
    u->has_last = 1;
    do {
        toec_u32 len = TOEC_MIN(each, m->len - at);

        r = send_one(s, u, m, &w, at, len, now);
        if (r == TOEC_SEND_UNREACH && at == 0)
            return TOEC_E_HOSTUNREACH;
        if (r < 0)
            return at ? (int)at : TOEC_E_AGAIN;
        TOEC_COUNT(s, udp_tx);
        at += len;
    } while (at < m->len);
    return (int)at;
}

#endif
