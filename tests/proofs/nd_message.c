/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nd_message.c - any message of neighbour discovery in up to 96 bytes: reads of its fixed part and
 * of its options stay within it (nd_options.c proves the walk over them). Tables are not included.
 */
#include "proof.h"

#include "ip/nd.c"

#define HEAD 96

static toec_u8 message[HEAD], ether[TOEC_ETH_LEN];
static struct toec_stack s;
static struct toec_packet p;
static struct toec_own6 own;
static struct toec_neigh known;

int options(struct toec_nd_options *o, const toec_u8 *at, toec_u32 len)
{
    READABLE(at, len);
    o->prefixes = 0;
    o->source_mac = len >= 8 && nondet_u8() ? at + 2 : 0;
    o->target_mac = len >= 8 && nondet_u8() ? at + len - 6 : 0;
    o->nonce = len >= 8 && nondet_u8() ? at + 2 : 0;
    o->mtu = 0;
    return nondet_u8() ? 0 : -1;
}

struct toec_own6 *ours(struct toec_stack *stack, const struct toec_addr *a)
{
    (void)stack;
    READABLE(a, sizeof(*a));
    return nondet_u8() ? &own : 0;
}

struct toec_neigh *look_up(struct toec_stack *stack, const struct toec_addr *a)
{
    (void)stack;
    READABLE(a, sizeof(*a));
    return nondet_u8() ? &known : 0;
}

struct toec_neigh *add(struct toec_stack *stack, const struct toec_addr *a,
                       enum toec_neigh_want want, toec_time now)
{
    (void)want;
    (void)now;
    return look_up(stack, a);
}

void answer(struct toec_stack *stack, const struct toec_own6 *from, const struct toec_addr *to,
            const toec_u8 *mac)
{
    (void)stack;
    (void)from;
    (void)to;
    READABLE(mac, 6);
}

void proof(void)
{
    struct toec_ip_in in;
    unsigned n = nondet_u8();

    ASSUME(n >= TOEC_ICMP6_LEN && n <= HEAD);
    ANYTHING(message);
    ANYTHING(ether);
    ANYTHING(in);
    ANYTHING(own);
    ANYTHING(known);
    p.data = ether;
    in.pkt = &p;
    in.l4 = message + HEAD - n;
    in.l4_head = n;
    ASSUME(in.l4_len >= n && in.l4_len <= 65535);
    toec_nd_input(&s, &in, nondet_u64());
}
