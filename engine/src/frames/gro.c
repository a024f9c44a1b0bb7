/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gro.c - joins received segments, by the rules of Linux (inet_gro_receive(), ipv6_gro_receive(),
 * tcp_gro_receive()). Segments must be TCP without IP options or extension headers, and without TCP
 * options except an equal timestamp. Their headers must be equal except for the sequence number,
 * PSH, lengths, checksums, and an identification that increments (or is constant, with DF). A
 * segment shorter than the first, or with PSH, ends a chain. Each checksum is verified before its
 * segment is joined, since it cannot be verified afterwards.
 */
#include <string.h>

#include "bytes.h"
#include "gro.h"
#include "sums.h"

#define ETH_LEN  14u
#define IP4_LEN  20u
#define IP6_LEN  40u
#define TCP_LEN  20u
#define TS_LEN   12u
#define PROTO    6u
#define TH_PSH   0x08u
#define TH_ACK   0x10u
#define TH_ECE   0x40u
#define IP_LIMIT 65535u /* the IP length has 16 bits */

/* A received frame, parsed. */
struct seg {
    const struct netio_frame *f;
    uint32_t l4, head, end; /* offsets: TCP header, payload, end of the datagram */
    int ip4, plain;         /* plain: may be joined */
};

/* Finds the TCP header. Returns 0, or -1 when it is not where it is expected. */
static int find_tcp(const struct netio_frame *f, struct seg *s)
{
    const uint8_t *ip = f->data + ETH_LEN;

    s->f = f;
    if (f->len < ETH_LEN + IP4_LEN + TCP_LEN)
        return -1;
    s->ip4 = get16(f->data + 12) == 0x0800;
    if (s->ip4) {
        if (ip[0] != 0x45 || ip[9] != PROTO || (get16(ip + 6) & 0x3fff) != 0)
            return -1;
        s->l4 = ETH_LEN + IP4_LEN;
        s->end = ETH_LEN + get16(ip + 2);
    } else {
        if (get16(f->data + 12) != 0x86dd || f->len < ETH_LEN + IP6_LEN + TCP_LEN ||
            ip[0] >> 4 != 6 || ip[6] != PROTO)
            return -1;
        s->l4 = ETH_LEN + IP6_LEN;
        s->end = s->l4 + get16(ip + 4);
    }
    return 0;
}

static void classify(struct seg *s)
{
    const uint8_t *tcp = s->f->data + s->l4;
    static const uint8_t ts[4] = {1, 1, 8, 10};
    uint32_t options = (tcp[12] >> 4) * 4u - TCP_LEN;

    s->plain = 0;
    s->head = s->l4 + TCP_LEN + options;
    if ((tcp[13] & ~(TH_PSH | TH_ECE)) != TH_ACK || (tcp[12] & 15u) != 0 || s->head >= s->end ||
        s->end > s->f->len || s->f->gso_size)
        return;
    if (options == 0 || (options == TS_LEN && memcmp(tcp + TCP_LEN, ts, sizeof(ts)) == 0))
        s->plain = 1;
}

static int same_flow(const struct gro_flow *w, const struct seg *s)
{
    const uint8_t *a = w->frame, *b = s->f->data;

    if (w->l4 != s->l4 || memcmp(a + w->l4, b + s->l4, 4) != 0)
        return 0;
    return s->ip4 ? memcmp(a + ETH_LEN + 12, b + ETH_LEN + 12, 8) == 0
                  : memcmp(a + ETH_LEN + 8, b + ETH_LEN + 8, 32) == 0;
}

/* Verifies the IPv4 header checksum, and the TCP checksum unless the back end has. */
static int sums_right(const uint8_t *frame, uint32_t l4, uint32_t end, uint32_t flags)
{
    const uint8_t *ip = frame + ETH_LEN;
    int ip4 = l4 == ETH_LEN + IP4_LEN;
    uint8_t pseudo[4] = {0, PROTO, 0, 0};
    uint16_t sum;

    if (ip4 && toec_sum(ip, IP4_LEN) != 0xffff)
        return 0;
    if (flags & NETIO_F_L4_CSUM_OK)
        return 1;
    put16(pseudo + 2, end - l4);
    sum = toec_sum_add(toec_sum(pseudo, 4), ip4 ? toec_sum(ip + 12, 8) : toec_sum(ip + 8, 32), 0);
    return toec_sum_add(sum, sums->sum(frame + l4, end - l4), 0) == 0xffff;
}

/* Returns whether the headers, with the sequence number, are those of w's next segment. */
static int follows(struct gro_flow *w, const struct seg *s)
{
    const uint8_t *a = w->frame, *b = s->f->data;
    const uint8_t *at = a + w->l4, *bt = b + s->l4;

    if (s->head != w->head || get32(bt + 4) != w->next || memcmp(a, b, ETH_LEN) != 0 ||
        memcmp(at + 8, bt + 8, 5) != 0 || (at[13] ^ bt[13]) & TH_ECE ||
        memcmp(at + 14, bt + 14, 2) != 0 || memcmp(at + 18, bt + 18, s->head - s->l4 - 18) != 0)
        return 0;
    a += ETH_LEN;
    b += ETH_LEN;
    if (!s->ip4) /* class, flow label, hop limit */
        return memcmp(a, b, 4) == 0 && a[7] == b[7];
    if (a[1] != b[1] || a[8] != b[8] || memcmp(a + 6, b + 6, 2) != 0)
        return 0;
    if (w->chain.count == 1)
        w->id_fixed = (a[6] & 0x40) && get16(b + 4) == get16(a + 4);
    return get16(b + 4) == ((get16(a + 4) + (w->id_fixed ? 0 : w->chain.count)) & 0xffff);
}

static void finish_header(struct gro_flow *w)
{
    uint8_t *ip = w->frame + ETH_LEN;

    if (w->l4 == ETH_LEN + IP4_LEN)
        put16(ip + 2, w->total - ETH_LEN); /* its checksum is verified, and not checked again */
    else
        put16(ip + 4, w->total - ETH_LEN - IP6_LEN);
}

static void deliver_flow(struct gro *g, struct gro_flow *w)
{
    struct toec_packet p;

    p.data = w->frame;
    p.opaque = NULL;
    if (w->chain.count == 1) {
        p.len = p.head_len = w->len;
        p.flags = w->flags & NETIO_F_L4_CSUM_OK ? TOEC_RX_L4_CSUM_OK : 0;
    } else {
        finish_header(w);
        p.len = w->total;
        p.head_len = w->end;
        p.flags = TOEC_RX_L4_CSUM_OK | TOEC_RX_IP_CSUM_OK;
        p.opaque = &w->chain;
    }
    g->deliver(g->arg, &p, w->chain.count == 1 ? w->chain.frame[0] : NULL);
}

static void end_flow(struct gro *g, uint32_t i)
{
    uint8_t which = g->order[i];

    deliver_flow(g, &g->flow[which]);
    g->order[i] = g->order[--g->count];
    g->order[g->count] = which;
}

static void begin_flow(struct gro *g, const struct seg *s)
{
    struct gro_flow *w;

    if (g->count == GRO_FLOWS)
        end_flow(g, 0);
    w = &g->flow[g->order[g->count++]];
    w->frame = s->f->data;
    w->l4 = s->l4;
    w->head = s->head;
    w->end = w->total = s->end;
    w->size = s->end - s->head;
    w->next = get32(w->frame + w->l4 + 4) + w->size;
    w->len = s->f->len;
    w->flags = s->f->flags;
    w->chain.count = 1;
    w->chain.part[0] = (struct netio_ref){w->frame, w->end};
    w->chain.frame[0] = s->f;
}

/* Joins s to w. Returns 0, or -1 when that is not possible. */
static int join(struct gro *g, struct gro_flow *w, const struct seg *s)
{
    uint32_t n = s->end - s->head;

    if (n > w->size || w->total + n > IP_LIMIT + ETH_LEN || w->chain.count == GRO_PARTS ||
        !follows(w, s) || !sums_right(s->f->data, s->l4, s->end, s->f->flags))
        return -1;
    if (w->chain.count == 1 && !sums_right(w->frame, w->l4, w->end, w->flags))
        return -1;
    w->frame[w->l4 + 13] |= s->f->data[s->l4 + 13] & TH_PSH;
    w->chain.frame[w->chain.count] = s->f;
    w->chain.part[w->chain.count++] = (struct netio_ref){s->f->data + s->head, n};
    w->next += n;
    w->total += n;
    g->merged++;
    return 0;
}

static void deliver_frame(struct gro *g, const struct netio_frame *f)
{
    struct toec_packet p = {.data = f->data,
                            .head_len = f->len,
                            .len = f->len,
                            .flags = f->flags & NETIO_F_L4_CSUM_OK ? TOEC_RX_L4_CSUM_OK : 0};

    g->deliver(g->arg, &p, f);
}

void gro_begin(struct gro *g, gro_deliver_fn *deliver, void *arg)
{
    uint8_t i;

    for (i = 0; i < GRO_FLOWS; i++)
        g->order[i] = i;
    g->deliver = deliver;
    g->arg = arg;
    g->count = 0;
    g->merged = 0;
}

void gro_frame(struct gro *g, const struct netio_frame *f)
{
    struct seg s;
    uint32_t i;
    int pushed;

    if (find_tcp(f, &s) != 0) {
        deliver_frame(g, f);
        return;
    }
    classify(&s);
    pushed = f->data[s.l4 + 13] & TH_PSH;
    for (i = 0; i < g->count && !same_flow(&g->flow[g->order[i]], &s); i++)
        ;
    if (i < g->count) {
        struct gro_flow *w = &g->flow[g->order[i]];

        if (s.plain && join(g, w, &s) == 0) {
            /* A shorter segment, or one with PSH, ends the chain. */
            if (s.end - s.head < w->size || pushed)
                end_flow(g, i);
            return;
        }
        end_flow(g, i);
    }
    if (s.plain && !pushed)
        begin_flow(g, &s);
    else
        deliver_frame(g, f);
}

void gro_end(struct gro *g)
{
    while (g->count)
        end_flow(g, 0);
}

void gro_copy(void *dst, const struct toec_packet *p, uint32_t off, uint32_t len)
{
    const struct gro_chain *c = p->opaque;
    uint8_t *to = dst;
    uint32_t i;

    if (!c) {
        memcpy(dst, p->data + off, len);
        return;
    }
    for (i = 0; i < c->count && len; i++) {
        uint32_t n = c->part[i].len;

        if (off >= n) {
            off -= n;
            continue;
        }
        n = n - off < len ? n - off : len;
        memcpy(to, c->part[i].data + off, n);
        to += n;
        len -= n;
        off = 0;
    }
}
