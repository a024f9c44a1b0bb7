/* SPDX-License-Identifier: Apache-2.0 */
/* tcp_option.c - one TCP option of any kind and of each length that fits into a header. */
#include "proof.h"

#include "tcp/tcp_opt.c"

static toec_u8 area[40];

void proof(void)
{
    struct toec_seg g;
    unsigned n = nondet_u32();

    ASSUME(n >= 2 && n <= sizeof(area));
    ASSUME(g.n_sack <= 4);
    ANYTHING(area);
    parse_one(&g, area + sizeof(area) - n, n); /* ends where the memory ends */
    PROVE(g.n_sack <= 4);
}
