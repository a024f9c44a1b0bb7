/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ooo_advance.c - RCV.NXT moves over any list of received intervals: never back, over all that
 * begin at or before it, and the list does not grow.
 */
#include "proof.h"

#include "tcp/tcp_sack.c"

#define WINDOW 0x40000000u

static struct toec_stack stack;
static struct toec_tcp tcp;
static struct toec_tcb t;
static struct toec_iv list[TOEC_OOO_MAX];

void proof(void)
{
    toec_u32 base = nondet_u32(), to;
    unsigned n = nondet_u8(), i, k;
    struct toec_iv one;

    ASSUME(n <= SIZE); /* proofs.toml: TOEC_OOO_MAX in the long run */
    stack.tcp = &tcp;
    ANYTHING(list);
    t.ooo = list; /* borrowed: only this flow uses it */
    t.ooo_room = TOEC_OOO_MAX;
    t.n_ooo = (toec_u8)n;
    for (i = 0; i < n; i++)
        ASSUME(t.ooo[i].end - base <= WINDOW);
    k = nondet_u8();
    ASSUME(k < n || n == 0);
    one = t.ooo[k < n ? k : 0];
    to = toec_ooo_advance(&stack, &t, base);
    PROVE(t.n_ooo <= n);
    PROVE(to - base <= WINDOW);
    /* Intervals removed because they begin at or before it are covered. */
    if (n && TOEC_SEQ_LE(one.start, base))
        PROVE(one.end - base <= to - base);
}
