/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip4_header.c - any frame: the checks read only its contiguous bytes and accept only a datagram
 * that lies within the frame.
 */
#include "proof.h"

#include "ip/ip4_in.c"

#define HEAD 80

static toec_u8 frame[HEAD];
static struct toec_stack s;

toec_u16 sum(const void *data, unsigned long n)
{
    READABLE(data, n);
    return nondet_u16();
}

int walk(struct toec_stack *stack, const toec_u8 *ip, unsigned hlen)
{
    (void)stack;
    READABLE(ip, hlen); /* ip4_options.c proves the rest */
    return nondet_u8() ? -1 : 0;
}

void proof(void)
{
    struct toec_packet p;
    struct toec_ip_in in;
    unsigned n = nondet_u8();
    toec_u32 l3 = nondet_u8(); /* behind any number of tags */

    ASSUME(n >= TOEC_ETH_LEN && n <= HEAD && l3 >= TOEC_ETH_LEN && l3 <= n);
    p.len = nondet_u32();
    p.flags = nondet_u8();
    ASSUME(p.len >= n && p.len <= 65549);
    ANYTHING(frame);
    p.data = frame + HEAD - n;
    p.head_len = n;
    if (check_header(&s, &p, l3) < 0)
        return;
    toec_ip4_parse(&in, &p, l3);
    PROVE(in.l4_off >= TOEC_ETH_LEN + TOEC_IP4_LEN && in.l4_off <= p.head_len);
    PROVE(in.l4_len <= p.len - in.l4_off);
    PROVE(in.l4_head <= in.l4_len);
    READABLE(in.l4, in.l4_head);
}
