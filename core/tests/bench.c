/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench.c - the port functions and a recording TCP for tests of the layers below TCP.
 */
#include <stdlib.h>

#include "bench.h"
#include "ip/ip4_in.h"
#include "tcp/tcp_if.h"
#include "tcp/tcp_tables.h"

const uint8_t own_mac[6] = {2, 0, 0, 0, 0, 1}, peer_mac[6] = {2, 0, 0, 0, 0, 2},
              other_mac[6] = {2, 0, 0, 0, 0, 3}, broadcast_mac[6] = {255, 255, 255, 255, 255, 255};

/* ---- port functions ---- */

int toec_port_transmit(void *user, const struct toec_tx *tx)
{
    struct bench *b = user;
    struct sent *f;

    if (b->tx_room == 0)
        return -1;
    if (b->tx_room > 0)
        b->tx_room--;
    assert_true(b->sent_count < MAX_SENT);
    f = &b->sent[b->sent_count++];
    f->len = tx->hdr_len + tx->len;
    f->local = tx->local;
    assert_true(f->len <= sizeof(f->data));
    memcpy(f->data, tx->hdr, tx->hdr_len);
    if (tx->len && !tx->src) { /* UDP: the payload itself is the owner */
        memcpy(f->data + tx->hdr_len, (const uint8_t *)tx->owner + tx->off, tx->len);
    } else if (tx->len) {
        const uint8_t *from;

        assert_true(tx->off + tx->len <= tx->src->len);
        from = tx->src->flags & TOEC_RX_REASSEMBLED ? tx->src->data : tx->src->opaque;
        memcpy(f->data + tx->hdr_len, from + tx->off, tx->len);
    }
    toec_tx_finish(tx, f->data, f->len);
    return 0;
}

void toec_port_place(void *user, void *owner, toec_u32 off, const struct toec_packet *p,
                     toec_u32 p_off, toec_u32 len)
{
    (void)user, (void)owner, (void)off, (void)p, (void)p_off, (void)len;
    fail_msg("nothing below TCP places payload");
}

toec_u16 toec_port_checksum(void *user, const struct toec_packet *p, toec_u32 p_off, toec_u32 len)
{
    (void)user;
    assert_false(p->flags & TOEC_RX_REASSEMBLED);
    assert_true(p_off + len <= p->len);
    return toec_sum((const uint8_t *)p->opaque + p_off, len);
}

void toec_port_copy(void *user, void *dst, const struct toec_packet *p, toec_u32 p_off,
                    toec_u32 len)
{
    (void)user;
    assert_false(p->flags & TOEC_RX_REASSEMBLED);
    assert_true(p_off + len <= p->len);
    memcpy(dst, (const uint8_t *)p->opaque + p_off, len);
}

/* ---- TCP ---- */

unsigned long toec_tcp_size(const struct toec_config *cfg)
{
    (void)cfg;
    return 64;
}

void toec_tcp_init(struct toec_stack *s, void *mem, toec_time now)
{
    (void)now;
    s->tcp = mem;
}

void toec_tcp_input(struct toec_stack *s, const struct toec_ip_in *in, toec_time now)
{
    struct bench *b = s->cfg.user;

    (void)now;
    b->tcp_inputs++;
    b->tcp_in = *in;
    b->tcp_flags = in->pkt->flags;
    toec_pkt_copy(s, b->tcp_data, in->pkt, in->l4_off, in->l4_len);
}

void toec_tcp_timer(struct toec_stack *s, struct toec_timer *t, enum toec_timer_kind kind,
                    toec_time now)
{
    struct bench *b = s->cfg.user;

    (void)t, (void)kind, (void)now;
    b->tcp_timers++;
}

toec_time toec_tcp_poll(struct toec_stack *s, toec_time now)
{
    (void)s, (void)now;
    return TOEC_NEVER;
}

void toec_tcp_icmp_error(struct toec_stack *s, const struct toec_icmp_err *e, toec_time now)
{
    struct bench *b = s->cfg.user;

    (void)now;
    b->tcp_errors++;
    b->tcp_err = *e;
}

void toec_tcp_usage(const struct toec_stack *s, struct toec_usage *out)
{
    (void)s, (void)out;
}

/* ---- the bench ---- */

const struct toec_addr *mapped(uint32_t ip)
{
    static struct toec_addr a[8];
    static unsigned next;
    struct toec_addr *r = &a[next++ % 8];

    toec_addr_set4(r, ip);
    return r;
}

void bench_config(struct bench *b)
{
    memset(b, 0, sizeof(*b));
    b->now = 5 * SEC;
    b->tx_room = -1;
    b->cfg.user = b;
    memcpy(b->cfg.mac, own_mac, 6);
    poke32(b->cfg.ip, OWN_IP);
    b->cfg.prefix_len = 24;
    poke32(b->cfg.gateway, GW_IP);
    memcpy(b->cfg.secret, "a secret of the tests, 32 bytes.", 32);
}

void bench_start(struct bench *b)
{
    unsigned long size = toec_size(&b->cfg);

    assert_true(size > 0);
    b->mem = aligned_alloc(64, size);
    assert_non_null(b->mem);
    memset(b->mem, 0xa5, size); /* core/ must not count on zeros */
    b->sent = calloc(MAX_SENT, sizeof(*b->sent));
    assert_non_null(b->sent);
    b->s = toec_init(b->mem, size, &b->cfg, b->now);
    assert_non_null(b->s);
}

void bench_stop(struct bench *b)
{
    free(b->mem);
    free(b->sent);
}

void bench_init(struct bench *b)
{
    bench_config(b);
    bench_start(b);
    bench_pass(b, 3 * SEC);
    bench_forget_sent(b);
}

void bench_input(struct bench *b, const void *frame, uint32_t len)
{
    uint32_t head = b->head_len && b->head_len < len ? b->head_len : len;
    /* Exactly as long as promised, so that a read beyond it is found by the sanitizer. */
    uint8_t *all = malloc(len ? len : 1), *data = malloc(head ? head : 1);
    struct toec_packet p;

    memcpy(all, frame, len);
    memcpy(data, frame, head);
    memset(&p, 0, sizeof(p));
    p.data = data;
    p.head_len = head;
    p.len = len;
    p.opaque = all;
    toec_input(b->s, &p, b->now);
    free(all);
    free(data);
}

toec_time bench_poll(struct bench *b)
{
    return toec_poll(b->s, b->now);
}

void bench_pass(struct bench *b, toec_time ns)
{
    toec_time end = b->now + ns, next;

    for (;;) {
        next = toec_poll(b->s, b->now);
        if (next > end)
            break;
        assert_true(next > b->now || b->s->tx_full);
        b->now = next > b->now ? next : b->now + 1;
    }
    b->now = end;
    toec_poll(b->s, b->now);
}

const struct sent *bench_next(struct bench *b)
{
    if (b->sent_read == b->sent_count)
        return 0;
    return &b->sent[b->sent_read++];
}

void bench_forget_sent(struct bench *b)
{
    b->sent_count = b->sent_read = 0;
}

uint64_t bench_counter(const struct bench *b, enum toec_counter c)
{
    return toec_counters(b->s)[c];
}

/* ---- frames ---- */

void poke16(uint8_t *p, uint32_t v)
{
    p[0] = v >> 8 & 255;
    p[1] = v & 255;
}

void poke32(uint8_t *p, uint32_t v)
{
    poke16(p, v >> 16);
    poke16(p + 2, v & 0xffff);
}

uint32_t peek16(const uint8_t *p)
{
    return p[0] * 256u + p[1];
}

uint32_t peek32(const uint8_t *p)
{
    return peek16(p) * 65536u + peek16(p + 2);
}

uint16_t naive_sum(const uint8_t *p, size_t n)
{
    uint64_t sum = 0;
    size_t i;

    for (i = 0; i < n; i++)
        sum += i % 2 ? p[i] : p[i] * 256u;
    while (sum > 0xffff)
        sum = sum % 65536 + sum / 65536;
    return 0xffff - sum;
}

static void make_eth(uint8_t *f, const uint8_t *dst, const uint8_t *src, uint32_t type)
{
    memcpy(f, dst, 6);
    memcpy(f + 6, src, 6);
    poke16(f + 12, type);
}

uint32_t make_arp(uint8_t *f, int op, const uint8_t *sha, uint32_t spa, const uint8_t *tha,
                  uint32_t tpa)
{
    memset(f, 0, 60);
    make_eth(f, op == 1 ? broadcast_mac : own_mac, sha, 0x0806);
    poke16(f + 14, 1);
    poke16(f + 16, 0x0800);
    f[18] = 6;
    f[19] = 4;
    poke16(f + 20, op);
    memcpy(f + 22, sha, 6);
    poke32(f + 28, spa);
    if (tha)
        memcpy(f + 32, tha, 6);
    poke32(f + 38, tpa);
    return 60;
}

void fix_ip4(uint8_t *f)
{
    uint32_t hlen = (f[14] & 15) * 4;

    poke16(f + 24, 0);
    poke16(f + 24, naive_sum(f + 14, hlen));
}

uint32_t make_ip4(uint8_t *f, const struct ip4_spec *spec, const void *payload, uint32_t len)
{
    uint32_t hlen = 20 + spec->options_len;

    make_eth(f, own_mac, peer_mac, 0x0800);
    memset(f + 14, 0, 20);
    f[14] = 0x40 | hlen / 4;
    poke16(f + 16, hlen + len);
    poke16(f + 18, spec->id);
    poke16(f + 20, spec->frag);
    f[22] = spec->ttl ? spec->ttl : 64;
    f[23] = spec->proto;
    poke32(f + 26, spec->src);
    poke32(f + 30, spec->dst);
    if (spec->options_len)
        memcpy(f + 34, spec->options, spec->options_len);
    if (len)
        memcpy(f + 14 + hlen, payload, len);
    fix_ip4(f);
    return 14 + hlen + len;
}

uint32_t make_icmp(uint8_t *p, int type, int code, uint32_t rest, const void *data, uint32_t len)
{
    p[0] = type;
    p[1] = code;
    poke16(p + 2, 0);
    poke32(p + 4, rest);
    if (len)
        memcpy(p + 8, data, len);
    poke16(p + 2, naive_sum(p, 8 + len));
    return 8 + len;
}

void bench_learn(struct bench *b, const uint8_t *mac, uint32_t ip)
{
    uint8_t f[64];

    bench_input(b, f, make_arp(f, 1, mac, ip, 0, OWN_IP));
    bench_forget_sent(b);
}
