/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_header.c - any TCP segment: reads of the header stay within the contiguous bytes, the options
 * passed to the walker (tcp_options.c) are the rest of the header, the payload lies within the
 * datagram.
 */
#include "proof.h"

#include "../../core/src/tcp/tcp.c"

#define HEAD 64

static toec_u8 segment[HEAD];
static struct toec_stack s;

int options(struct toec_seg *g, const toec_u8 *opt, unsigned len)
{
    (void)g;
    PROVE(len <= 40);
    READABLE(opt, len);
    return nondet_u8() ? -1 : 0;
}

int sum_ok(struct toec_stack *stack, const struct toec_ip_in *in)
{
    (void)stack;
    (void)in;
    return 1;
}

void proof(void)
{
    struct toec_ip_in in;
    struct toec_seg g;
    unsigned n = nondet_u8();

    ASSUME(n <= HEAD && in.l4_len >= n && in.l4_len <= 65535 && in.l4_off <= 600);
    ANYTHING(segment);
    in.l4 = segment + HEAD - n;
    in.l4_head = n;
    if (parse(&s, &in, &g))
        return;
    PROVE(g.off >= in.l4_off + TOEC_TCP_LEN && g.len <= in.l4_len - TOEC_TCP_LEN);
    PROVE(g.off - in.l4_off + g.len == in.l4_len);
}
