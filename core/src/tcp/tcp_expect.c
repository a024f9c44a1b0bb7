/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_expect.c - prefetches the memory that a batch of frames will touch, before the first of them
 * is processed. With many flows their TCBs are not in the cache, and processing frame by frame
 * would cause a dozen cache misses for each. Here the misses of a whole batch overlap.
 *
 * Frames are parsed only far enough to find their flow, without validation; toec_input() validates
 * them. A wrong guess costs a cache line.
 */
#include "tcp_expect.h"

#include "tcp_tables.h"

/* The part of a TCB that in-order traffic touches comes first. */
#define LINES ((TOEC_TCB_HOT + 63) / 64)

/* Computes the hash of the flow that p may belong to and the length of its payload; returns 0 when
 * p is not TCP, or its headers are incomplete. */
static int flow_of(const struct toec_stack *s, const struct toec_packet *p, toec_u32 *hash,
                   toec_u32 *len)
{
    struct toec_addr src, dst;
    const toec_u8 *ip = p->data + TOEC_ETH_LEN, *tcp;
    toec_u32 in, header;

    if (p->head_len < TOEC_ETH_LEN + TOEC_IP4_LEN + TOEC_TCP_LEN)
        return 0;
    switch (toec_eth_type(p->data)) {
    case TOEC_ETHERTYPE_IP4:
        if (ip[TOEC_IP4_VER_IHL] != 0x45 || ip[TOEC_IP4_PROTO] != TOEC_IPPROTO_TCP)
            return 0;
        toec_addr_set4(&src, toec_get32(ip + TOEC_IP4_SRC));
        toec_addr_set4(&dst, toec_get32(ip + TOEC_IP4_DST));
        tcp = ip + TOEC_IP4_LEN;
        in = toec_get16(ip + TOEC_IP4_TOTAL) - TOEC_IP4_LEN;
        break;
    case TOEC_ETHERTYPE_IP6:
        if (p->head_len < TOEC_ETH_LEN + TOEC_IP6_LEN + TOEC_TCP_LEN ||
            ip[TOEC_IP6_NEXT] != TOEC_IPPROTO_TCP)
            return 0;
        memcpy(src.b, ip + TOEC_IP6_SRC, sizeof(src.b));
        memcpy(dst.b, ip + TOEC_IP6_DST, sizeof(dst.b));
        tcp = ip + TOEC_IP6_LEN;
        in = toec_get16(ip + TOEC_IP6_PAYLOAD);
        break;
    default:
        return 0;
    }
    *hash = toec_flow_hash(&s->keys.flow, &dst, &src, toec_get16(tcp + TOEC_TCP_DPORT),
                           toec_get16(tcp + TOEC_TCP_SPORT));
    header = toec_tcp_hlen(tcp);
    *len = in > header && in <= p->len ? in - header : 0;
    return 1;
}

void toec_fetch_flow(const struct toec_tcb *t)
{
    const toec_u8 *at = (const toec_u8 *)t;
    unsigned i;

    for (i = 0; i < LINES; i++)
        TOEC_PREFETCH(at + 64 * i);
}

void toec_fetch_timed(const struct toec_tcb *t)
{
    TOEC_PREFETCH(&t->node);
    TOEC_PREFETCH(&t->rtx_at);
    TOEC_PREFETCH(&t->timer.pprev);
    TOEC_PREFETCH(&t->probe_set);
    TOEC_PREFETCH(&t->rack.record);
}

static void fetch(const struct toec_hnode *n)
{
    toec_fetch_flow(TOEC_CONTAINER(n, const struct toec_tcb, node));
}

void toec_expect_flow(const struct toec_stack *s, const struct toec_tcb *flow)
{
    (void)s;
    toec_fetch_flow(flow);
}

void toec_expect(const struct toec_stack *s, const struct toec_packet *p, unsigned n,
                 struct toec_expected *out)
{
    const struct toec_htab *tab = &s->tcp->flow_tab;
    toec_u32 hash[TOEC_EXPECT_MAX];
    unsigned i, known = 0;

    for (i = 0; i < n; i++) {
        out[i].owner = 0;
        if (!flow_of(s, &p[i], &hash[i], &out[i].len))
            continue;
        known |= 1u << i;
        TOEC_PREFETCH(&tab->bucket[hash[i] & tab->mask]);
    }
    for (i = 0; i < n; i++)
        if ((known >> i & 1) && tab->bucket[hash[i] & tab->mask])
            fetch(tab->bucket[hash[i] & tab->mask]);
    for (i = 0; i < n; i++) {
        struct toec_hnode *node = known >> i & 1 ? toec_htab_first(tab, hash[i]) : 0;
        const struct toec_tcb *t;

        if (!node)
            continue;
        if (node != tab->bucket[hash[i] & tab->mask])
            fetch(node);
        t = TOEC_CONTAINER(node, struct toec_tcb, node);
        out[i].owner = t->owner;
        out[i].off = t->rcv_nxt - t->irs - 1;
    }
}
