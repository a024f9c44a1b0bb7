/* SPDX-License-Identifier: Apache-2.0 */
/* tcp_option_writers.c - what is written never exceeds its room, and is a multiple of 4. */
#include "proof.h"

#include "tcp/tcp_opt.c"

static toec_u8 area[40];
static struct toec_tcb t;
static struct toec_iv list[TOEC_OOO_MAX];

void proof(void)
{
    unsigned room = nondet_u32(), n;

    n = toec_opt_syn(area, nondet_u32(), nondet_u16(), nondet_u8(), nondet_u32(), nondet_u32());
    PROVE(n <= sizeof(area) && n % 4 == 0);
    ASSUME(room <= sizeof(area));
    ASSUME(t.n_ooo <= TOEC_OOO_MAX);
    ANYTHING(list);
    t.ooo = list;
    t.dsack.end = nondet_u8();
    n = nondet_u8();
    ASSUME(n >= 1 && n <= TOEC_OOO_MAX); /* it is called only if there are blocks to report */
    t.n_ooo = (toec_u8)n;
    n = toec_opt_sack(area + sizeof(area) - room, &t, room);
    PROVE(n <= room && n % 4 == 0);
}
