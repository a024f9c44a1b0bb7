/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ooo_full.c - any interval into a full list of received intervals: no more than the list holds.
 */
#include "proof.h"

#include "tcp_sack.c"

static struct toec_tcb t;

void proof(void)
{
    ANYTHING(t.ooo);
    t.n_ooo = TOEC_OOO_MAX;
    (void)toec_ooo_add(&t, nondet_u32(), nondet_u32());
    PROVE(t.n_ooo >= 1 && t.n_ooo <= TOEC_OOO_MAX);
}
