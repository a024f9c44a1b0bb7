/* SPDX-License-Identifier: Apache-2.0 */
/* arp.c - any ARP frame. The table of neighbours is not included. */
#include "proof.h"

#include "../../core/src/ip/arp.c"

#define HEAD 64

static toec_u8 frame[HEAD];
static struct toec_stack s;
static struct toec_neigh known;

struct toec_neigh *look_up(struct toec_stack *stack, const struct toec_addr *addr)
{
    (void)stack;
    READABLE(addr, sizeof(*addr));
    return nondet_u8() ? &known : 0;
}

struct toec_neigh *add(struct toec_stack *stack, const struct toec_addr *addr,
                       enum toec_neigh_want want, toec_time now)
{
    (void)stack;
    (void)want;
    (void)now;
    READABLE(addr, sizeof(*addr));
    return nondet_u8() ? &known : 0;
}

void proof(void)
{
    struct toec_packet p;
    unsigned n = nondet_u8();
    toec_u32 l3 = nondet_u8(); /* behind any number of tags */

    ASSUME(n >= TOEC_ETH_LEN && n <= HEAD && l3 >= TOEC_ETH_LEN && l3 <= n);
    ANYTHING(frame);
    ANYTHING(s);
    ANYTHING(known);
    p.data = frame + HEAD - n;
    p.head_len = p.len = n;
    toec_arp_input(&s, &p, l3, nondet_u64());
}
