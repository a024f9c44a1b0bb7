/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ooo_advance.c - RCV.NXT moves over any list of received intervals: never back, only to the end of
 * one of them, and the list does not grow.
 */
#include "proof.h"

#include "tcp_sack.c"

#define WINDOW 0x40000000u

static struct toec_tcb t;

void proof(void)
{
    toec_u32 base = nondet_u32(), to;
    unsigned n = nondet_u8(), i;

    ASSUME(n <= TOEC_OOO_MAX);
    ANYTHING(t.ooo);
    t.n_ooo = (toec_u8)n;
    for (i = 0; i < n; i++)
        ASSUME(t.ooo[i].end - base <= WINDOW);
    to = toec_ooo_advance(&t, base);
    PROVE(t.n_ooo <= n);
    PROVE(to - base <= WINDOW);
}
