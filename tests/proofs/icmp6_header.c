/* SPDX-License-Identifier: Apache-2.0 */
/* icmp6_header.c - any ICMPv6 message up to its quote: reads stay within the message. */
#include "proof.h"

#include "ip/icmp6.c"

#define HEAD 64

static toec_u8 frame[HEAD];
static struct toec_stack s;
static struct toec_packet p;
static struct toec_ip_in in;
static struct toec_own6 own;

void copy(struct toec_stack *stack, void *dst, const struct toec_packet *from, toec_u32 off,
          toec_u32 len)
{
    (void)stack;
    (void)from;
    PROVE(off >= in.l4_off && len <= in.l4_len && off - in.l4_off <= in.l4_len - len);
    WRITABLE(dst, len);
    __CPROVER_havoc_object(dst);
}

struct toec_own6 *ours(struct toec_stack *stack, const struct toec_addr *a)
{
    (void)stack;
    READABLE(a, sizeof(*a));
    return nondet_u8() ? &own : 0;
}

static void within(struct toec_stack *stack, const struct toec_ip_in *what, toec_time now)
{
    (void)stack;
    (void)now;
    READABLE(what->l4, TOEC_ICMP6_LEN);
}

void answer(struct toec_stack *stack, const struct toec_ip_in *what, toec_time now)
{
    within(stack, what, now);
}

void proof(void)
{
    unsigned n = nondet_u8();

    ASSUME(n >= TOEC_IP6_LEN && n <= HEAD);
    ANYTHING(frame);
    ANYTHING(in);
    p.data = frame + HEAD - n;
    p.head_len = n;
    p.len = nondet_u32();
    ASSUME(p.len >= n && p.len <= 65589);
    in.pkt = &p;
    in.ip = p.data;
    in.l4 = p.data + TOEC_IP6_LEN;
    in.l4_off = TOEC_IP6_LEN;
    in.l4_head = n - TOEC_IP6_LEN;
    ASSUME(in.l4_len >= in.l4_head && in.l4_len <= p.len - in.l4_off);
    toec_icmp6_input(&s, &in, nondet_u64());
}
