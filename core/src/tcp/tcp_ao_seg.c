/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_ao_seg.c - TCP-AO on segments: traffic keys (RFC 5925 5.2, RFC 5926 3.1), the MAC (RFC
 * 5925 5.1), and checks of incoming segments with and without the option (RFC 5925 7.4, 7.5).
 */
#include "tcp_ao_seg.h"

/* ---- sequence number extensions ---- */

/* Returns the extension of seq, which is less than 2^31 away (RFC 5925 6.2). R5925-08. */
static toec_u32 sne_at(const struct toec_sne *e, toec_u32 seq)
{
    if (TOEC_SEQ_LT(seq, e->seq))
        return e->sne - (toec_u32)(seq > e->seq);
    return e->sne + (toec_u32)(seq < e->seq);
}

static void sne_note(struct toec_sne *e, toec_u32 seq)
{
    if (!TOEC_SEQ_GT(seq, e->seq))
        return;
    e->sne = sne_at(e, seq);
    e->seq = seq;
}

/* ---- keys and codes ---- */

/* Converts a key of another length to the 16 bytes that KDF_AES_128_CMAC needs (RFC 5926 3.1.1.2).
 */
static void cmac_master(const struct toec_ao_key *k, toec_u8 *out)
{
    toec_u8 zero[TOEC_AES_BLOCK];
    struct toec_mac m;

    if (k->len == TOEC_AES_BLOCK) {
        memcpy(out, k->secret, TOEC_AES_BLOCK);
        return;
    }
    memset(zero, 0, sizeof(zero));
    toec_mac_start(&m, TOEC_AO_AES_CMAC, zero, sizeof(zero));
    toec_ao_feed(&m, k->secret, k->len);
    toec_mac_end(&m, out);
}

static unsigned put_addr(toec_u8 *p, const struct toec_addr *a)
{
    if (toec_addr_is4(a)) {
        memcpy(p, a->b + 12, 4);
        return 4;
    }
    memcpy(p, a->b, 16);
    return 16;
}

/* Traffic_Key = KDF_alg(Master_Key, Context, Output_Length): one block (i = 1) is enough for both
 * algorithms. R5926-01, R5926-02; RFC 5925 5.2: R5925-07. */
void toec_ao_traffic_key(const struct toec_ao_key *k, const struct toec_tuple *id, toec_u32 src_isn,
                         toec_u32 dst_isn, toec_u8 out[TOEC_MAC_MOST])
{
    enum toec_ao_alg alg = (enum toec_ao_alg)k->alg;
    toec_u8 in[1 + 6 + 44 + 2] = {1, 'T', 'C', 'P', '-', 'A', 'O'}, master[TOEC_MAC_MOST];
    unsigned n = 7;
    struct toec_mac m;

    n += put_addr(in + n, id->local);
    n += put_addr(in + n, id->remote);
    toec_put16(in + n, id->local_port);
    toec_put16(in + n + 2, id->remote_port);
    toec_put32(in + n + 4, src_isn);
    toec_put32(in + n + 8, dst_isn);
    toec_put16(in + n + 12, toec_mac_len(alg) * 8);
    n += 14;
    if (alg == TOEC_AO_HMAC_SHA1) {
        toec_mac_start(&m, alg, k->secret, k->len);
    } else {
        cmac_master(k, master);
        toec_mac_start(&m, alg, master, TOEC_AES_BLOCK);
        memset(master, 0, sizeof(master));
    }
    toec_ao_feed(&m, in, n);
    memset(out, 0, TOEC_MAC_MOST);
    toec_mac_end(&m, out);
}

/* R5925-01, R5925-02: the extension, the pseudo-header and the header with checksum and MAC set to
 * 0. If the key excludes options, only the AO option is covered. R5926-03, R5926-04: the MAC. */
void toec_ao_cover(struct toec_mac *m, const struct toec_ao_key *k, const toec_u8 *traffic,
                   const struct toec_addr *src, const struct toec_addr *dst, const toec_u8 *h,
                   unsigned at, toec_u32 len, toec_u32 sne)
{
    enum toec_ao_alg alg = (enum toec_ao_alg)k->alg;
    toec_u8 pseudo[4 + 40], header[TOEC_TCP_MAX_LEN];
    unsigned n = 4, hlen = toec_tcp_hlen(h);

    memset(pseudo, 0, sizeof(pseudo));
    toec_put32(pseudo, sne);
    n += put_addr(pseudo + n, src);
    n += put_addr(pseudo + n, dst);
    if (toec_addr_is4(src)) { /* RFC 9293 3.1 */
        pseudo[n + 1] = TOEC_IPPROTO_TCP;
        toec_put16(pseudo + n + 2, len);
        n += 4;
    } else { /* RFC 8200 8.1 */
        toec_put32(pseudo + n, len);
        pseudo[n + 7] = TOEC_IPPROTO_TCP;
        n += 8;
    }
    memcpy(header, h, hlen);
    toec_put_sum(header + TOEC_TCP_SUM, 0);
    memset(header + at + 4, 0, TOEC_AO_MAC);
    toec_mac_start(m, alg, traffic, toec_mac_len(alg));
    toec_ao_feed(m, pseudo, n);
    if (k->no_options) {
        toec_ao_feed(m, header, TOEC_TCP_LEN);
        toec_ao_feed(m, header + at, TOEC_AO_LEN);
    } else {
        toec_ao_feed(m, header, hlen);
    }
}

/* ---- out ---- */

/* RFC 5925 7.4. R5925-09, R5925-10: KeyID of the current key, RNextKeyID of the key requested from
 * the peer. */
void toec_ao_sign(struct toec_stack *s, struct toec_ao *ao, struct toec_outbuf *o, unsigned at)
{
    toec_u8 *h = toec_out_l4(o), syn_key[TOEC_MAC_MOST], mac[TOEC_MAC_MOST];
    const struct toec_ao_key *k = ao->current;
    const toec_u8 *traffic = k->tx;
    toec_u32 seq = toec_tcp_seq(h);
    struct toec_mac m;

    h[at] = TOEC_TCPOPT_AO;
    h[at + 1] = TOEC_AO_LEN;
    h[at + 2] = k->send_id;
    h[at + 3] = ao->rnext->recv_id;
    if ((toec_tcp_flags(h) & (TOEC_TH_SYN | TOEC_TH_ACK)) == TOEC_TH_SYN) {
        struct toec_tuple id; /* the peer's ISN is not known */

        id.local = o->src;
        id.remote = o->dst;
        id.local_port = toec_tcp_sport(h);
        id.remote_port = toec_tcp_dport(h);
        toec_ao_traffic_key(k, &id, seq, 0, syn_key);
        traffic = syn_key;
    }
    sne_note(&ao->snd, seq);
    toec_ao_cover(&m, k, traffic, o->src, o->dst, h, at, o->l4_len + o->len, sne_at(&ao->snd, seq));
    if (o->len)
        s->cfg.ao->sent(s->cfg.user, o->owner, o->off, o->len, &m);
    toec_mac_end(&m, mac);
    memcpy(h + at + 4, mac, TOEC_AO_MAC);
}

/* ---- in ---- */

/* Returns not 0 when the MAC is correct. Takes constant time. */
static int mac_ok(struct toec_stack *s, const struct toec_seg *g, const struct toec_ao_key *k,
                  const toec_u8 *traffic, toec_u32 sne)
{
    toec_u8 mac[TOEC_MAC_MOST];
    struct toec_mac m;
    unsigned i, differ = 0;

    toec_ao_cover(&m, k, traffic, g->id.remote, g->id.local, g->header,
                  (unsigned)(g->ao - g->header), toec_tcp_hlen(g->header) + g->len, sne);
    if (g->len && (g->pkt->flags & TOEC_RX_REASSEMBLED))
        toec_ao_feed(&m, g->pkt->data + g->off, g->len);
    else if (g->len)
        s->cfg.ao->received(s->cfg.user, g->pkt, g->off, g->len, &m);
    toec_mac_end(&m, mac);
    for (i = 0; i < TOEC_AO_MAC; i++)
        differ |= mac[i] ^ g->ao[4 + i];
    return differ == 0;
}

/* Checks the MAC of a SYN, whose sender does not know our ISN (dst_isn 0), or of an answer to our
 * SYN (dst_isn: our ISN). */
static int first_mac_ok(struct toec_stack *s, const struct toec_seg *g, const struct toec_ao_key *k,
                        toec_u32 dst_isn)
{
    toec_u8 traffic[TOEC_MAC_MOST];
    struct toec_tuple id;

    id.local = g->id.remote;
    id.remote = g->id.local;
    id.local_port = g->id.remote_port;
    id.remote_port = g->id.local_port;
    toec_ao_traffic_key(k, &id, g->seq, dst_isn, traffic);
    return mac_ok(s, g, k, traffic, 0);
}

static int is_syn(const struct toec_seg *g)
{
    return (g->flags & (TOEC_TH_SYN | TOEC_TH_ACK)) == TOEC_TH_SYN;
}

/* R5925-12: exactly one AO option and none of RFC 2385; both MACs have 96 bits. */
static int option_ok(const struct toec_seg *g)
{
    return g->ao_n == 1 && g->ao[1] == TOEC_AO_LEN;
}

/* Switches to the key that the peer requests by RNextKeyID, if there is one (RFC 5925 7.5, 5;
 * R5925-11). */
static void heed_rnext(struct toec_stack *s, struct toec_ao *ao, const struct toec_seg *g)
{
    struct toec_ao_key *k;

    if (g->ao[3] == ao->current->send_id)
        return;
    k = toec_ao_find(ao->keys, g->ao[3], -1);
    if (!k)
        return;
    TOEC_COUNT(s, tcp_ao_key_changes);
    ao->current = k;
}

/* Checks a segment of a connection with keys, also in TIME-WAIT (t is 0 then). R5925-14: drops any
 * segment, even a RST, that has no option, an unknown KeyID or a wrong MAC. */
static int connection_refuses(struct toec_stack *s, struct toec_seg *g, struct toec_ao *ao,
                              struct toec_tcb *t)
{
    struct toec_ao_key *k;
    int ok;

    if (!(g->ao_n & TOEC_AO_COUNT)) {
        TOEC_COUNT(s, tcp_ao_missing);
        ao->missing++;
        return -1;
    }
    if (!option_ok(g)) {
        TOEC_COUNT(s, tcp_ao_bad_option);
        ao->bad++;
        return -1;
    }
    k = toec_ao_find(ao->keys, -1, g->ao[2]);
    if (!k) {
        TOEC_COUNT(s, tcp_ao_no_key);
        ao->no_key++;
        return -1;
    }
    if (is_syn(g))
        ok = first_mac_ok(s, g, k, 0);
    else if (t && t->state == TOEC_SYN_SENT)
        ok = first_mac_ok(s, g, k, t->iss);
    else
        ok = mac_ok(s, g, k, k->rx, sne_at(&ao->rcv, g->seq));
    if (!ok) {
        TOEC_COUNT(s, tcp_ao_bad_mac);
        ao->bad++;
        return -1;
    }
    TOEC_COUNT(s, tcp_ao_good);
    ao->good++;
    g->auth = ao;
    if (t && t->state == TOEC_SYN_SENT) {
        if (!(g->flags & TOEC_TH_SYN))
            return 0;
        t->irs = g->seq;
        toec_ao_derive(t, ao);
    } else if (!is_syn(g)) {
        sne_note(&ao->rcv, g->seq);
    }
    heed_rnext(s, ao, g);
    return 0;
}

/* RFC 5925 7.5 for a listener: R5925-15: a peer that matches a key must use the option. */
static int listener_refuses(struct toec_stack *s, struct toec_seg *g, struct toec_listener *l)
{
    struct toec_ao_key *k;

    if (!(g->ao_n & TOEC_AO_COUNT)) {
        for (k = l->ao_keys; k; k = k->next)
            if (toec_ao_matches(k, &g->id)) {
                TOEC_COUNT(s, tcp_ao_missing);
                return -1;
            }
        g->ao_n = 0;
        return 0;
    }
    if (!is_syn(g)) { /* for an unknown connection (RFC 5925 7.7) */
        TOEC_COUNT(s, tcp_ao_no_flow);
        return -1;
    }
    if (!option_ok(g)) {
        TOEC_COUNT(s, tcp_ao_bad_option);
        return -1;
    }
    for (k = l->ao_keys; k; k = k->next)
        if (k->recv_id == g->ao[2] && toec_ao_matches(k, &g->id))
            break;
    if (!k) {
        TOEC_COUNT(s, tcp_ao_no_key);
        return -1;
    }
    if (!first_mac_ok(s, g, k, 0)) {
        TOEC_COUNT(s, tcp_ao_bad_mac);
        return -1;
    }
    TOEC_COUNT(s, tcp_ao_good);
    return 0;
}

int toec_ao_refuses(struct toec_stack *s, struct toec_seg *g, struct toec_tcb *t, struct toec_tw *w,
                    struct toec_listener *l)
{
    if (t && (t->rare & TOEC_RARE_AO))
        return connection_refuses(s, g, toec_ao_of(s, t), t);
    if (!s->cfg.max_ao_keys) { /* RFC 9293 MUST-6: ignore an unsupported option */
        g->ao_n = 0;
        return 0;
    }
    if (w && w->ao && !(l && is_syn(g) && (g->ao_n & TOEC_AO_COUNT)))
        return connection_refuses(s, g, w->ao, 0);
    if (l && (!w || is_syn(g)))
        return listener_refuses(s, g, l);
    if (!(g->ao_n & TOEC_AO_COUNT)) {
        g->ao_n = 0;
        return 0;
    }
    /* There is no key for it. No RST: its MAC would need both ISNs (RFC 5925 7.7). */
    if (t)
        TOEC_COUNT(s, tcp_ao_no_key);
    else
        TOEC_COUNT(s, tcp_ao_no_flow);
    return -1;
}
