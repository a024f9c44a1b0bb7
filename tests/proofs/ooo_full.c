/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ooo_full.c - any interval added to a full list of received intervals: the list stays within its
 * capacity.
 */
#include "proof.h"

#include "tcp/tcp_sack.c"

#define ROOM 16u /* less than TOEC_OOO_MAX: the code is the same, the solver ends */

static struct toec_stack stack;
static struct toec_tcp tcp;
static struct toec_tcb t;
static struct toec_iv list[TOEC_OOO_MAX];

void proof(void)
{
    stack.tcp = &tcp;
    ANYTHING(list);
    t.ooo = list; /* borrowed: only this flow uses it */
    t.ooo_room = ROOM;
    t.n_ooo = ROOM;
    (void)toec_ooo_add(&stack, &t, nondet_u32(), nondet_u32());
    PROVE(t.n_ooo >= 1 && t.n_ooo <= ROOM);
}
