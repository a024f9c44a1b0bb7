/* SPDX-License-Identifier: Apache-2.0 */
/* tcpcraft.c - crafted segments to one stack, and its output: see tcpsim.h. */
#include "tcpsim_parts.h"

#include <stdlib.h>

/* Ethernet and IP from the crafted peer to host 0, with len bytes to follow; their length. */
static uint32_t peer_headers(struct sim *s, uint8_t *f, unsigned proto, uint32_t len)
{
    uint8_t *ip = f + 14;

    memset(f, 0, 54);
    memcpy(f, s->host[0].cfg.mac, 6);
    f[6] = 2;
    f[11] = 2;
    if (sim_ip6) {
        put16(f + 12, 0x86dd);
        put32(ip, 6u << 28 | (uint32_t)s->peer_tos << 20);
        put16(ip + 4, len);
        ip[6] = (uint8_t)proto;
        ip[7] = 64;
        sim_address6(ip + 8, 1);
        sim_address6(ip + 24, 0);
        return 54;
    }
    put16(f + 12, 0x0800);
    ip[0] = 0x45;
    ip[1] = s->peer_tos;
    put16(ip + 2, 20 + len);
    put16(ip + 6, 0x4000);
    ip[8] = 64;
    ip[9] = (uint8_t)proto;
    put32(ip + 12, IP_B);
    put32(ip + 16, IP_A);
    put16(ip + 10, ~sum16(ip, 20, 0));
    return 34;
}

/* Of the pseudo-header: of IPv6 (RFC 8200 8.1) the upper halves of its long fields are 0. */
static uint32_t pseudo_sum(const uint8_t *ip, unsigned proto, uint32_t len)
{
    return sim_ip6 ? sum16(ip + 8, 32, proto + len) : sum16(ip + 12, 8, proto + len);
}

void craft_icmp6(struct sim *s, const uint8_t *src, unsigned hops, const uint8_t *message,
                 uint32_t len)
{
    uint8_t f[54 + 1280], *icmp = f + 54;

    assert_true(sim_ip6 && len <= 1280);
    peer_headers(s, f, 58, len);
    f[21] = (uint8_t)hops;
    if (src)
        memcpy(f + 22, src, 16);
    memcpy(icmp, message, len);
    put16(icmp + 2, 0);
    put16(icmp + 2, ~sum16(icmp, len, pseudo_sum(f + 14, 58, len)));
    sim_input(s, &s->host[0], f, 54 + len);
}

/* A neighbour discovery message of the peer about itself (136) or to host 0 (135). */
static void nd_tell(struct sim *s, unsigned type, unsigned target, uint32_t flags)
{
    uint8_t m[32] = {0};

    m[0] = (uint8_t)type;
    put32(m + 4, flags);
    sim_address6(m + 8, target);
    m[24] = type == 136 ? 2 : 1; /* whose link-layer address follows */
    m[25] = 1;
    m[26] = 2;
    m[31] = 2;
    craft_icmp6(s, 0, 255, m, sizeof(m));
}

/* The crafted peer is 02:00:00:00:00:02 at IP_B. */
void craft_answer(struct sim *s)
{
    static const uint8_t reply[42] = {2,  0, 0, 0, 0, 1, 2, 0, 0, 0, 0,  2, 8, 6,
                                      0,  1, 8, 0, 6, 4, 0, 2, 2, 0, 0,  0, 0, 2,
                                      10, 0, 0, 2, 2, 0, 0, 0, 0, 1, 10, 0, 0, 1};

    if (s->arp_asked && !s->peer_silent) {
        s->arp_asked = 0;
        if (sim_ip6)
            nd_tell(s, 136, 1, 0x60000000); /* solicited, override */
        else
            sim_input(s, &s->host[0], reply, sizeof(reply));
    }
}

void craft_init(struct sim *s)
{
    sim_init(s, 1);
    s->crafted = 1;
    s->impair.delay = 0;
    /* Dialogues count timeouts: the segment size stays fixed unless a test enables the search. */
    s->host[0].cfg.mtu_probing = TOEC_MTU_PROBING_OFF;
}

void craft_start(struct sim *s)
{
    static const uint8_t arp[42] = {2,  0, 0, 0, 0, 1, 2, 0, 0, 0, 0,  2, 8, 6,
                                    0,  1, 8, 0, 6, 4, 0, 1, 2, 0, 0,  0, 0, 2,
                                    10, 0, 0, 2, 0, 0, 0, 0, 0, 0, 10, 0, 0, 1};

    sim_start(s);
    craft_pass(s, 10 * SEC); /* announcements */
    if (sim_ip6)
        nd_tell(s, 135, 0, 0);
    else
        sim_input(s, &s->host[0], arp, sizeof(arp));
    craft_poll(s);
    s->sent_read = s->sent_n;
}

void craft_listen(struct sim *s)
{
    craft_init(s);
    craft_start(s);
    sim_listen(s, 0, 80, 0, 0);
}

struct tseg seg_make(uint16_t sport, uint16_t dport, unsigned flags, uint32_t seq, uint32_t ack)
{
    struct tseg g;

    memset(&g, 0, sizeof(g));
    g.sport = sport;
    g.dport = dport;
    g.flags = flags;
    g.seq = seq;
    g.ack = ack;
    g.wnd = 65535;
    g.mss = -1;
    g.wscale = -1;
    g.fo_len = -1;
    g.payload_seed = (uint32_t)sport << 16 | dport;
    return g;
}

void craft_send_raw(struct sim *s, const uint8_t *tcp, uint32_t len)
{
    static uint8_t f[54 + 16384];
    uint32_t l4 = peer_headers(s, f, 6, len);

    assert_true(len <= 16384);
    memcpy(f + l4, tcp, len);
    put16(f + l4 + 16, 0);
    put16(f + l4 + 16, ~sum16(f + l4, len, pseudo_sum(f + 14, 6, len)));
    sim_input(s, &s->host[0], f, l4 + len);
}

static uint32_t seg_write(uint8_t *t, const struct tseg *g)
{
    uint8_t *o = t + 20;
    uint32_t i, hlen;

    put16(t, g->sport);
    put16(t + 2, g->dport);
    put32(t + 4, g->seq);
    put32(t + 8, g->ack);
    t[13] = (uint8_t)g->flags;
    put16(t + 14, g->wnd);
    put32(t + 16, 0);
    put16(t + 18, g->urg);
    if (g->mss >= 0) {
        *o++ = 2;
        *o++ = 4;
        put16(o, (uint32_t)g->mss);
        o += 2;
    }
    if (g->sack_ok) {
        *o++ = 4;
        *o++ = 2;
    }
    if (g->has_ts) {
        *o++ = 8;
        *o++ = 10;
        put32(o, g->tsval);
        put32(o + 4, g->tsecr);
        o += 8;
    }
    if (g->wscale >= 0) {
        *o++ = 3;
        *o++ = 3;
        *o++ = (uint8_t)g->wscale;
    }
    if (g->fo_len >= 0) {
        *o++ = 34;
        *o++ = (uint8_t)(2 + g->fo_len);
        memcpy(o, g->fo, (size_t)g->fo_len);
        o += g->fo_len;
    }
    if (g->uto) {
        *o++ = 28;
        *o++ = 4;
        put16(o, g->uto);
        o += 2;
    }
    if (g->n_sack) {
        *o++ = 5;
        *o++ = (uint8_t)(2 + 8 * g->n_sack);
        for (i = 0; i < g->n_sack; i++) {
            put32(o, g->sack[i][0]);
            put32(o + 4, g->sack[i][1]);
            o += 8;
        }
    }
    while ((o - t) & 3)
        *o++ = 1;
    hlen = (uint32_t)(o - t);
    t[12] = (uint8_t)(hlen / 4 << 4);
    if (g->payload)
        memcpy(o, g->payload, g->len);
    else
        stream_fill(o, g->payload_seed, g->payload_at, g->len);
    return hlen + g->len;
}

void craft_send(struct sim *s, const struct tseg *g)
{
    static uint8_t t[16384];

    craft_send_raw(s, t, seg_write(t, g));
}

void craft_say(struct sim *s, const struct tseg *g)
{
    craft_send(s, g);
    craft_poll(s);
}

/* RFC 4443 2.4: as much of the packet as fits; here the TCP header. */
static void craft_error6(struct sim *s, unsigned type, unsigned code, uint32_t rest,
                         const uint8_t *tcp)
{
    uint8_t m[8 + 40 + 20] = {0}, *in = m + 8;

    m[0] = (uint8_t)type;
    m[1] = (uint8_t)code;
    put32(m + 4, rest);
    in[0] = 0x60;
    put16(in + 4, 960);
    in[6] = 6;
    in[7] = 60;
    sim_address6(in + 8, 0);
    sim_address6(in + 24, 1);
    memcpy(in + 40, tcp, 20);
    craft_icmp6(s, 0, 64, m, sizeof(m));
}

void craft_icmp(struct sim *s, unsigned type, unsigned code, uint32_t rest,
                const struct tseg *quoted)
{
    uint8_t f[54 + 36], tcp[2048];
    uint8_t *icmp = f + 34, *in = icmp + 8;

    seg_write(tcp, quoted);
    if (sim_ip6) {
        craft_error6(s, type, code, rest, tcp);
        return;
    }
    memset(f, 0, sizeof(f));
    peer_headers(s, f, 1, 36);
    icmp[0] = (uint8_t)type;
    icmp[1] = (uint8_t)code;
    put32(icmp + 4, rest);
    in[0] = 0x45;
    put16(in + 2, 1000);
    put16(in + 6, 0x4000);
    in[8] = 64;
    in[9] = 6;
    put32(in + 12, IP_A);
    put32(in + 16, IP_B);
    put16(in + 10, ~sum16(in, 20, 0));
    memcpy(in + 20, tcp, 8);
    put16(icmp + 2, ~sum16(icmp, 36, 0));
    sim_input(s, &s->host[0], f, 34 + 36);
}

void craft_poll(struct sim *s)
{
    sim_poll(s, &s->host[0]);
}

void craft_pass(struct sim *s, toec_time ns)
{
    sim_run(s, ns);
}

void craft_forget(struct sim *s)
{
    while (s->sent_n)
        free(s->sent[--s->sent_n]);
    s->sent_read = 0;
}

static void parse_options(const uint8_t *o, uint32_t n, struct tseg *g)
{
    uint32_t i = 0, j;

    while (i < n && o[i] != 0) {
        if (o[i] == 1) {
            i++;
            continue;
        }
        switch (o[i]) {
        case 2:
            g->mss = (int)get16(o + i + 2);
            break;
        case 3:
            g->wscale = o[i + 2];
            break;
        case 4:
            g->sack_ok = 1;
            break;
        case 5:
            g->n_sack = (o[i + 1] - 2u) / 8;
            for (j = 0; j < g->n_sack; j++) {
                g->sack[j][0] = get32(o + i + 2 + 8 * j);
                g->sack[j][1] = get32(o + i + 6 + 8 * j);
            }
            break;
        case 8:
            g->has_ts = 1;
            g->tsval = get32(o + i + 2);
            g->tsecr = get32(o + i + 6);
            break;
        case 28:
            g->uto = get16(o + i + 2);
            break;
        case 34:
            g->fo_len = o[i + 1] - 2;
            memcpy(g->fo, o + i + 2, (size_t)g->fo_len);
            break;
        default:
            break;
        }
        assert_true(o[i + 1] >= 2);
        i += o[i + 1];
    }
}

int craft_next(struct sim *s, struct tseg *g)
{
    while (s->sent_read < s->sent_n) {
        const struct frame *f = s->sent[s->sent_read++];
        const uint8_t *ip = f->data + 14, *t = ip + (sim_ip6 ? 40 : 20);
        uint32_t hlen, total;
        uint8_t own[16];

        if (get16(f->data + 12) != (sim_ip6 ? 0x86ddu : 0x0800u) || ip[sim_ip6 ? 6 : 9] != 6)
            continue;
        total = sim_ip6 ? get16(ip + 4) : get16(ip + 2) - 20u;
        hlen = (t[12] >> 4) * 4u;
        /* RFC 9293 MUST-2: the checksum of everything sent; MUST-44, MUST-45: from one address */
        assert_int_equal(sum16(t, total, pseudo_sum(ip, 6, total)), 0xffff);
        sim_address6(own, 0);
        if (sim_ip6)
            assert_memory_equal(ip + 8, own, 16);
        else
            assert_int_equal(get32(ip + 12), IP_A);
        *g =
            seg_make((uint16_t)get16(t), (uint16_t)get16(t + 2), t[13], get32(t + 4), get32(t + 8));
        g->wnd = get16(t + 14);
        g->urg = (uint16_t)get16(t + 18);
        g->len = total - hlen;
        g->payload = t + hlen;
        g->tos = sim_ip6 ? (uint8_t)(get16(ip) >> 4) : ip[1];
        g->df = sim_ip6 || (ip[6] & 0x40) != 0;
        parse_options(t + 20, hlen - 20, g);
        return 1;
    }
    return 0;
}

struct tseg craft_expect(struct sim *s)
{
    struct tseg g;

    if (!craft_next(s, &g)) {
        memset(&g, 0, sizeof(g));
        fail_msg("a segment should have been sent");
    }
    return g;
}

void craft_expect_none(struct sim *s)
{
    struct tseg g;

    if (craft_next(s, &g))
        fail_msg("unexpected segment: flags %x seq %u ack %u len %u", g.flags, g.seq, g.ack, g.len);
}
