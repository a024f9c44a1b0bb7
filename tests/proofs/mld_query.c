/* SPDX-License-Identifier: Apache-2.0 */
/* mld_query.c - any query for multicast listeners: read within, answered within the longest time.
 */
#include "proof.h"

#include "ip/mld.c"

static toec_u8 message[TOEC_ICMP6_LEN];
static struct toec_stack s;
static toec_time asked;

/* icmp6_header.c: the first eight bytes of a message are present. */
void timer(struct toec_stack *stack, struct toec_timer *t, enum toec_timer_kind kind, toec_time at)
{
    PROVE(stack == &s && t == &s.ip6.mld && kind == TOEC_TMR_IP6_MLD);
    PROVE(at >= asked && at - asked < (toec_time)MAX_QUERY_MS * TOEC_NS_PER_MS);
}

void proof(void)
{
    struct toec_ip_in in;

    ANYTHING(s);
    ANYTHING(in);
    ANYTHING(message);
    in.l4 = message;
    asked = nondet_u64();
    ASSUME(asked < (toec_time)1 << 62);
    toec_mld_query(&s, &in, asked);
}
