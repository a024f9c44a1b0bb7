/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip6_walk.c - any IPv6 packet of up to 128 contiguous bytes and of any length: the header's
 * checks, then the walk over its extension headers, which passes to options, fragments and upper
 * layers only bytes within the packet (their own proofs do the rest).
 */
#include "proof.h"

#include "ip/ip6_in.c"

/* proofs.toml: 64 in the long run */
#define HEAD (TOEC_ETH_LEN + TOEC_IP6_LEN + SIZE)

static toec_u8 frame[HEAD];
static struct toec_stack s;
static struct toec_packet p;

static void within(const struct toec_ip_in *in)
{
    PROVE(in->l4_head <= in->l4_len);
    PROVE(in->l4_off <= p.len && in->l4_len <= p.len - in->l4_off);
    READABLE(in->l4, in->l4_head);
}

enum toec_opt_verdict options(const toec_u8 *ext, unsigned len, int multicast, unsigned *at)
{
    (void)multicast;
    (void)at;
    READABLE(ext, len);
    return (enum toec_opt_verdict)(nondet_u8() & 3);
}

void fragment(struct toec_stack *stack, const struct toec_ip_in *in, unsigned next_at,
              toec_time now)
{
    (void)stack;
    (void)now;
    within(in);
    PROVE(in->l4_head >= TOEC_FRAG_LEN);
    READABLE(in->ip + next_at, 1);
}

void upper(struct toec_stack *stack, struct toec_ip_in *in, unsigned next_at, toec_time now)
{
    (void)stack;
    (void)now;
    within(in);
    READABLE(in->ip + next_at, 1);
}

void proof(void)
{
    struct toec_ip_in in;
    unsigned n = nondet_u8();

    ASSUME(n >= TOEC_ETH_LEN && n <= HEAD);
    p.len = nondet_u32();
    ASSUME(p.len >= n && p.len <= 65589);
    ANYTHING(frame);
    p.data = frame + HEAD - n;
    p.head_len = n;
    p.flags = nondet_u8();
    if (check_header(&s, &p, TOEC_ETH_LEN) < 0)
        return;
    toec_ip6_parse(&in, &p, TOEC_ETH_LEN);
    within(&in);
    toec_ip6_walk(&s, &in, nondet_u64());
}
