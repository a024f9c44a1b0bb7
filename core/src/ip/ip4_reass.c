/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip4_reass.c - IPv4 reassembly (RFC 791 3.2, RFC 1122 3.3.2).
 *
 * Each datagram has room for the longest possible one (R1122-17) and a bitmap of its 8-byte blocks.
 * So the cost of a fragment depends only on its length, not on the number or order of fragments
 * (FragmentSmack, CVE-2018-5391).
 *
 * Overlap policy: a fragment whose bytes have all been received is a duplicate and is dropped. A
 * partial overlap is an attack or a broken sender, and the whole datagram is dropped, as RFC 5722
 * requires for IPv6. So no byte is ever replaced, and no other receiver sees different bytes.
 */
#include "ip4_reass.h"

#include "ip4_in.h"
#include "ip4_out.h"
#include "ip6_reass.h"
#include "stack.h"

#ifdef TOEC_NO_REASSEMBLY
unsigned long toec_reass_size(const struct toec_config *cfg)
{
    (void)cfg;
    return 0;
}
void toec_reass_init(struct toec_stack *s, void *mem)
{
    (void)mem;
    memset(&s->reass, 0, sizeof(s->reass));
}
void toec_reass_timer(struct toec_stack *s, struct toec_timer *t, toec_time now)
{
    (void)s;
    (void)t;
    (void)now;
}
void toec_reass_input(struct toec_stack *s, const struct toec_ip_in *in, toec_time now)
{
    (void)in;
    (void)now;
    TOEC_COUNT(s, ip4_frags_rx);
}
#else

#define TIMEOUT    (60 * TOEC_NS_PER_S) /* R1122-18: fixed, 60 to 120 s */
#define MAX_TOTAL  TOEC_REASS_TOTAL
#define PAYLOAD_AT TOEC_REASS_HEAD
TOEC_STATIC_ASSERT(payload_at,
                   PAYLOAD_AT >= TOEC_ETH_LEN + TOEC_IP4_MAX_LEN && PAYLOAD_AT % 4 == 0);

static unsigned long datagram_size(void)
{
    return (sizeof(struct toec_datagram) + 63) & ~63ul;
}

unsigned long toec_reass_size(const struct toec_config *cfg)
{
    return cfg->max_datagrams * datagram_size() +
           toec_htab_buckets(cfg->max_datagrams) * sizeof(struct toec_hnode *);
}

void toec_reass_init(struct toec_stack *s, void *mem)
{
    struct toec_reass *r = &s->reass;
    toec_u32 n = s->cfg.max_datagrams;
    toec_u8 *buckets = (toec_u8 *)mem + n * datagram_size();

    memset(r, 0, sizeof(*r));
    toec_pool_init(&r->pool, mem, (toec_u32)datagram_size(), n);
    toec_htab_init(&r->by_key, (struct toec_hnode **)(void *)buckets, toec_htab_buckets(n));
}

/* ---- the set of datagrams ---- */

/* The families cannot collide: IPv4 addresses are mapped. */
static toec_u32 key_hash(const struct toec_stack *s, const struct toec_ip_in *in, toec_u32 id,
                         unsigned proto)
{
    return toec_flow_hash(&s->keys.flow, &in->dst, &in->src, (toec_u16)(id >> 16), (toec_u16)id) ^
           proto;
}

static struct toec_datagram *find(struct toec_stack *s, const struct toec_ip_in *in, toec_u32 id,
                                  unsigned proto)
{
    struct toec_hnode *node = toec_htab_first(&s->reass.by_key, key_hash(s, in, id, proto));
    struct toec_datagram *d;

    for (; node; node = toec_htab_next(node)) {
        d = TOEC_CONTAINER(node, struct toec_datagram, node);
        if (d->id == id && d->proto == proto && toec_addr_eq(&d->src, &in->src) &&
            toec_addr_eq(&d->dst, &in->dst))
            return d;
    }
    return 0;
}

void toec_reass_forget(struct toec_stack *s, struct toec_datagram *d)
{
    struct toec_reass *r = &s->reass;

    toec_timer_cancel(s, &d->timer);
    toec_htab_del(&r->by_key, &d->node);
    if (d->older)
        d->older->newer = d->newer;
    else
        r->oldest = d->newer;
    if (d->newer)
        d->newer->older = d->older;
    else
        r->newest = d->older;
}

void toec_reass_free(struct toec_stack *s, struct toec_datagram *d)
{
    toec_pool_put(&s->reass.pool, d);
}

static void drop(struct toec_stack *s, struct toec_datagram *d)
{
    toec_reass_forget(s, d);
    toec_reass_free(s, d);
}

struct toec_datagram *toec_reass_get(struct toec_stack *s, const struct toec_ip_in *in, toec_u32 id,
                                     unsigned proto, toec_time now)
{
    struct toec_reass *r = &s->reass;
    struct toec_datagram *d = find(s, in, id, proto);

    if (d)
        return d;
    d = toec_pool_get(&r->pool);
    if (!d) {
        TOEC_COUNT(s, ip4_frag_evicted);
        drop(s, r->oldest);
        d = toec_pool_get(&r->pool);
    }
    memset(d, 0, sizeof(*d) - sizeof(d->frame));
    d->src = in->src;
    d->dst = in->dst;
    d->id = id;
    d->proto = (toec_u16)proto;
    d->older = r->newest;
    if (r->newest)
        r->newest->newer = d;
    else
        r->oldest = d;
    r->newest = d;
    toec_htab_add(&r->by_key, &d->node, key_hash(s, in, id, proto));
    toec_timer_set(s, &d->timer, TOEC_TMR_REASS, now + TIMEOUT);
    return d;
}

/* ---- the bitmap of blocks ---- */

/* Returns the bits of word w that are in the blocks [first, end). */
static toec_u32 word_mask(toec_u32 w, toec_u32 first, toec_u32 end)
{
    toec_u32 mask = 0xffffffffu;

    if (w == first / 32)
        mask &= 0xffffffffu << (first % 32);
    if (w == (end - 1) / 32)
        mask &= 0xffffffffu >> (31 - (end - 1) % 32);
    return mask;
}

enum overlap { NONE, PART, WHOLE };

static enum overlap overlap(const struct toec_datagram *d, toec_u32 first, toec_u32 end)
{
    int some = 0, all = 1;
    toec_u32 w, mask, got;

    for (w = first / 32; w <= (end - 1) / 32; w++) {
        mask = word_mask(w, first, end);
        got = d->have[w] & mask;
        some |= got != 0;
        all &= got == mask;
    }
    return !some ? NONE : all ? WHOLE : PART;
}

static void mark(struct toec_datagram *d, toec_u32 first, toec_u32 end)
{
    toec_u32 w;

    for (w = first / 32; w <= (end - 1) / 32; w++)
        d->have[w] |= word_mask(w, first, end);
}

/* ---- completion and failure ---- */

void toec_reass_packet(const struct toec_datagram *d, struct toec_packet *p, toec_u32 len)
{
    p->data = d->frame + PAYLOAD_AT - d->hlen - TOEC_ETH_LEN;
    p->head_len = TOEC_ETH_LEN + len;
    p->len = p->head_len;
    p->flags = TOEC_RX_REASSEMBLED;
    p->opaque = 0;
}

/* Makes a frame of the first fragment's header and the bytes after it, by its total length. */
static void make_packet(const struct toec_datagram *d, struct toec_packet *p, struct toec_ip_in *in)
{
    toec_reass_packet(d, p, toec_ip4_total(d->frame + PAYLOAD_AT - d->hlen));
    toec_ip4_parse(in, p, TOEC_ETH_LEN);
}

/*
 * R3168-08: a CE mark on one fragment marks the datagram. A mark must not be lost when some
 * fragments are not ECN-capable: as in Linux, such a mixture is dropped.
 */
int toec_reass_ecn(const struct toec_datagram *d)
{
    if ((d->ecn & 1u << TOEC_IP_NOT_ECT) && d->ecn != 1u << TOEC_IP_NOT_ECT)
        return -1;
    return (d->ecn & 1u << TOEC_IP_CE) ? (int)TOEC_IP_CE : 0;
}

static void complete(struct toec_stack *s, struct toec_datagram *d, toec_time now)
{
    toec_u8 *ip = d->frame + PAYLOAD_AT - d->hlen;
    int ecn = toec_reass_ecn(d);
    struct toec_packet p;
    struct toec_ip_in in;

    toec_reass_forget(s, d);
    if (ecn < 0) {
        TOEC_COUNT(s, ip4_frag_ecn);
        toec_reass_free(s, d);
        return;
    }
    TOEC_COUNT(s, ip4_reassembled);
    ip[TOEC_IP4_TOS] |= (toec_u8)ecn;
    toec_put16(ip + TOEC_IP4_TOTAL, d->hlen + d->total);
    toec_put16(ip + TOEC_IP4_FRAG, 0);
    toec_ip4_set_sum(ip, d->hlen);
    make_packet(d, &p, &in);
    toec_ip4_deliver(s, &in, now);
    toec_pool_put(&s->reass.pool, d);
}

void toec_reass_timer(struct toec_stack *s, struct toec_timer *t, toec_time now)
{
    struct toec_datagram *d = TOEC_CONTAINER(t, struct toec_datagram, timer);
    struct toec_packet p;
    struct toec_ip_in in;

    toec_reass_forget(s, d);
    if (d->proto == TOEC_REASS_IP6) {
        toec_reass6_timeout(s, d, now);
        return;
    }
    TOEC_COUNT(s, ip4_frag_timeout);
    if (d->hlen) { /* R1122-19: only when the first fragment, which is quoted, has been received */
        make_packet(d, &p, &in);
        toec_icmp4_error(s, &in, TOEC_ICMP4_TIME_EXCEEDED, TOEC_ICMP4_EXCEEDED_REASS, now);
    }
    toec_pool_put(&s->reass.pool, d);
}

/* ---- input ---- */

/* Returns not 0 when the position of the fragment agrees with the known end of the datagram. */
static int end_agrees(const struct toec_datagram *d, toec_u32 end, int last)
{
    if (d->total)
        return last ? end == d->total : end <= d->total;
    return !last || end >= d->end;
}

enum toec_reass_result toec_reass_put(struct toec_stack *s, struct toec_datagram *d,
                                      const struct toec_ip_in *in, toec_u32 off, int last)
{
    toec_u32 end = off + in->l4_len, blocks_end = (end + 7) / 8;

    if (!end_agrees(d, end, last))
        return TOEC_REASS_OVERLAP;
    switch (overlap(d, off / 8, blocks_end)) {
    case WHOLE:
        return TOEC_REASS_AGAIN;
    case PART:
        return TOEC_REASS_OVERLAP;
    case NONE:
        break;
    }
    mark(d, off / 8, blocks_end);
    toec_pkt_copy(s, d->frame + PAYLOAD_AT + off, in->pkt, in->l4_off, in->l4_len);
    d->received += in->l4_len;
    d->ecn |= (toec_u8)(1u << (in->tos & TOEC_IP_ECN));
    d->end = TOEC_MAX(d->end, end);
    if (last)
        d->total = end;
    return d->total && d->received == d->total ? TOEC_REASS_WHOLE : TOEC_REASS_STORED;
}

void toec_reass_input(struct toec_stack *s, const struct toec_ip_in *in, toec_time now)
{
    unsigned frag = toec_ip4_frag(in->ip), hlen = toec_ip4_hlen(in->ip);
    int last = (frag & TOEC_IP4_MF) == 0;
    toec_u32 off = (frag & TOEC_IP4_OFF_MASK) * 8u;
    enum toec_reass_result r;
    struct toec_datagram *d;

    TOEC_COUNT(s, ip4_frags_rx);
    /* R791-02: more than 65535 bytes with its header is the "ping of death" (CVE-1999-0128). */
    if (in->l4_len == 0 || (!last && in->l4_len % 8 != 0) || off + in->l4_len > MAX_TOTAL - hlen) {
        TOEC_COUNT(s, ip4_frag_bad);
        return;
    }
    d = toec_reass_get(s, in, toec_get16(in->ip + TOEC_IP4_ID), in->proto, now);
    r = toec_reass_put(s, d, in, off, last);
    if (r == TOEC_REASS_AGAIN) {
        TOEC_COUNT(s, ip4_frag_duplicate);
        return;
    }
    if (r == TOEC_REASS_OVERLAP) {
        TOEC_COUNT(s, ip4_frag_overlap);
        drop(s, d);
        return;
    }
    if (off == 0) {
        d->hlen = (toec_u16)hlen;
        memcpy(d->frame + PAYLOAD_AT - hlen, in->ip, hlen);
    }
    if (r != TOEC_REASS_WHOLE)
        return;
    if (d->hlen + d->total <= MAX_TOTAL) {
        complete(s, d, now);
        return;
    }
    /* The header of the first fragment is longer than that of the last one. */
    TOEC_COUNT(s, ip4_frag_bad);
    drop(s, d);
}
#endif
