/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_options.c - the walk over every option area of up to 40 bytes: it ends, and gives parse_one()
 * only options that lie within (tcp_option.c proves the rest).
 */
#include "proof.h"

#include "tcp/tcp_opt.c"

static toec_u8 area[SIZE]; /* proofs.toml: 40 in the long run */

void one(struct toec_seg *g, const toec_u8 *o, unsigned len)
{
    (void)g;
    PROVE(len >= 2);
    READABLE(o, len);
}

void proof(void)
{
    struct toec_seg g;
    unsigned n = nondet_u32();

    ASSUME(n <= sizeof(area));
    ANYTHING(area);
    (void)toec_opt_parse(&g, area + sizeof(area) - n, n);
}
