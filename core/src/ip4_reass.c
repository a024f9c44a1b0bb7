/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip4_reass.c - IPv4 reassembly (RFC 791 3.2, RFC 1122 3.3.2).
 *
 * Each datagram has room for the longest one and a bitmap of its 8-byte blocks, so a fragment costs
 * its length and nothing else, however many there are and in whatever order (FragmentSmack,
 * CVE-2018-5391).
 *
 * Overlap policy: a fragment whose bytes have all been received before is a duplicate and dropped;
 * one that overlaps in part is an attack or a broken sender, and the datagram is dropped as RFC
 * 5722 has it for IPv6. So no byte is ever replaced and no receiver can see other bytes than we do.
 */
#include "stack.h"

#define TIMEOUT   (60 * TOEC_NS_PER_S) /* RFC 1122 3.3.2: fixed, 60 to 120 s */
#define MAX_TOTAL 65535
#define BLOCKS    8192 /* of 8 bytes: the offset field has 13 bits */
/* Payload starts here, so that the Ethernet header and the longest IP header fit before it. */
#define PAYLOAD_AT 76
TOEC_STATIC_ASSERT(payload_at,
                   PAYLOAD_AT >= TOEC_ETH_LEN + TOEC_IP4_MAX_LEN && PAYLOAD_AT % 4 == 0);

struct toec_datagram {
    struct toec_hnode node;
    struct toec_datagram *newer, *older;
    struct toec_timer timer;
    toec_u32 src4;
    toec_u16 id;
    toec_u8 proto;
    toec_u8 ecn;       /* 1 << ECN field of each fragment received, ORed */
    toec_u8 hlen;      /* of the first fragment's IP header; 0: not yet received */
    toec_u32 total;    /* payload bytes; 0: last fragment not yet received */
    toec_u32 end;      /* end of the farthest fragment received */
    toec_u32 received; /* bytes received */
    toec_u32 have[BLOCKS / 32];
    toec_u8 frame[PAYLOAD_AT + MAX_TOTAL];
};

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

static toec_u32 key_hash(const struct toec_stack *s, toec_u32 src4, toec_u32 id, toec_u32 proto)
{
    return toec_word_hash(&s->keys.flow, src4, id << 8 | proto);
}

static struct toec_datagram *find(struct toec_stack *s, toec_u32 src4, toec_u32 id, toec_u32 proto)
{
    struct toec_hnode *node = toec_htab_first(&s->reass.by_key, key_hash(s, src4, id, proto));
    struct toec_datagram *d;

    for (; node; node = toec_htab_next(node)) {
        d = TOEC_CONTAINER(node, struct toec_datagram, node);
        if (d->src4 == src4 && d->id == id && d->proto == proto)
            return d;
    }
    return 0;
}

/* Takes d out of the set; its memory stays until it is put back into the pool. */
static void forget(struct toec_stack *s, struct toec_datagram *d)
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

static void drop(struct toec_stack *s, struct toec_datagram *d)
{
    forget(s, d);
    toec_pool_put(&s->reass.pool, d);
}

static struct toec_datagram *add(struct toec_stack *s, toec_u32 src4, toec_u32 id, toec_u32 proto,
                                 toec_time now)
{
    struct toec_reass *r = &s->reass;
    struct toec_datagram *d = toec_pool_get(&r->pool);

    if (!d) {
        TOEC_COUNT(s, ip4_frag_evicted);
        drop(s, r->oldest);
        d = toec_pool_get(&r->pool);
    }
    memset(d, 0, sizeof(*d) - sizeof(d->frame));
    d->src4 = src4;
    d->id = (toec_u16)id;
    d->proto = (toec_u8)proto;
    d->older = r->newest;
    if (r->newest)
        r->newest->newer = d;
    else
        r->oldest = d;
    r->newest = d;
    toec_htab_add(&r->by_key, &d->node, key_hash(s, src4, id, proto));
    toec_timer_set(s, &d->timer, TOEC_TMR_REASS, now + TIMEOUT);
    return d;
}

/* ---- the bitmap of blocks ---- */

/* Bits of word w that lie in the blocks [first, end). */
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

/* The first fragment's header and what follows it, by its total length, as a frame. */
static void make_packet(const struct toec_datagram *d, struct toec_packet *p, struct toec_ip_in *in)
{
    const toec_u8 *ip = d->frame + PAYLOAD_AT - d->hlen;

    p->data = ip - TOEC_ETH_LEN;
    p->head_len = TOEC_ETH_LEN + toec_ip4_total(ip);
    p->len = p->head_len;
    p->flags = TOEC_RX_REASSEMBLED;
    p->opaque = 0;
    toec_ip4_parse(in, p);
}

/*
 * RFC 3168 5.3: a mark on one fragment marks the datagram, and a mark among fragments of which one
 * is not ECN-capable must not get lost: as in Linux, such a mixture is dropped. Not 0 then.
 */
static int join_ecn(struct toec_datagram *d, toec_u8 *ip)
{
    if ((d->ecn & 1u << TOEC_IP_NOT_ECT) && d->ecn != 1u << TOEC_IP_NOT_ECT)
        return -1;
    if (d->ecn & 1u << TOEC_IP_CE)
        ip[TOEC_IP4_TOS] |= TOEC_IP_CE;
    return 0;
}

static void complete(struct toec_stack *s, struct toec_datagram *d, toec_time now)
{
    toec_u8 *ip = d->frame + PAYLOAD_AT - d->hlen;
    struct toec_packet p;
    struct toec_ip_in in;

    forget(s, d);
    if (join_ecn(d, ip)) {
        TOEC_COUNT(s, ip4_frag_ecn);
        toec_pool_put(&s->reass.pool, d);
        return;
    }
    TOEC_COUNT(s, ip4_reassembled);
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

    TOEC_COUNT(s, ip4_frag_timeout);
    forget(s, d);
    if (d->hlen) { /* RFC 1122 3.3.2: only when the first fragment has been received; it is quoted
                    */
        make_packet(d, &p, &in);
        toec_icmp4_error(s, &in, TOEC_ICMP4_TIME_EXCEEDED, TOEC_ICMP4_EXCEEDED_REASS, now);
    }
    toec_pool_put(&s->reass.pool, d);
}

/* ---- input ---- */

/* Not 0 when the fragment's place agrees with what is known of the datagram's end. */
static int end_agrees(const struct toec_datagram *d, toec_u32 end, int last)
{
    if (d->total)
        return last ? end == d->total : end <= d->total;
    return !last || end >= d->end;
}

static void store(struct toec_stack *s, struct toec_datagram *d, const struct toec_ip_in *in,
                  toec_u32 off)
{
    if (off == 0) {
        d->hlen = (toec_u8)toec_ip4_hlen(in->ip);
        memcpy(d->frame + PAYLOAD_AT - d->hlen, in->ip, d->hlen);
    }
    toec_pkt_copy(s, d->frame + PAYLOAD_AT + off, in->pkt, in->l4_off, in->l4_len);
    d->received += in->l4_len;
    d->ecn |= (toec_u8)(1u << (in->tos & TOEC_IP_ECN));
}

void toec_reass_input(struct toec_stack *s, const struct toec_ip_in *in, toec_time now)
{
    unsigned frag = toec_ip4_frag(in->ip), id = toec_get16(in->ip + TOEC_IP4_ID);
    int last = (frag & TOEC_IP4_MF) == 0;
    toec_u32 off = (frag & TOEC_IP4_OFF_MASK) * 8u, end = off + in->l4_len, blocks_end;
    struct toec_datagram *d;

    TOEC_COUNT(s, ip4_frags_rx);
    /* Beyond 65535 with its header: the "ping of death" (CVE-1999-0128). */
    if (in->l4_len == 0 || (!last && in->l4_len % 8 != 0) ||
        end > MAX_TOTAL - (toec_u32)toec_ip4_hlen(in->ip)) {
        TOEC_COUNT(s, ip4_frag_bad);
        return;
    }
    d = find(s, in->src4, id, in->proto);
    if (!d)
        d = add(s, in->src4, id, in->proto, now);
    blocks_end = (end + 7) / 8;
    if (end_agrees(d, end, last)) {
        switch (overlap(d, off / 8, blocks_end)) {
        case WHOLE:
            TOEC_COUNT(s, ip4_frag_duplicate);
            return;
        case NONE:
            mark(d, off / 8, blocks_end);
            store(s, d, in, off);
            d->end = TOEC_MAX(d->end, end);
            if (last)
                d->total = end;
            if (!d->total || d->received != d->total)
                return;
            if (d->hlen + d->total <= MAX_TOTAL) {
                complete(s, d, now);
                return;
            }
            /* The first fragment's header is longer than that of the last. */
            TOEC_COUNT(s, ip4_frag_bad);
            drop(s, d);
            return;
        case PART:
            break;
        }
    }
    TOEC_COUNT(s, ip4_frag_overlap);
    drop(s, d);
}
