/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ooo_add.c - any interval into any list of received intervals: the list stays within its bound,
 * and two intervals of it neither overlap nor touch if that held before.
 */
#include "proof.h"

#include "tcp/tcp_sack.c"

#define WINDOW 0x40000000u

static struct toec_stack stack;
static struct toec_tcp tcp;
static struct toec_tcb t;
static struct toec_iv list[TOEC_OOO_MAX];

static int apart(const struct toec_iv *a, const struct toec_iv *b)
{
    return TOEC_SEQ_LT(a->end, b->start) || TOEC_SEQ_LT(b->end, a->start);
}

static int sound(toec_u32 base)
{
    unsigned i, k;

    for (i = 0; i < t.n_ooo && i < SIZE + 1; i++) {
        if (t.ooo[i].start - base >= WINDOW || t.ooo[i].end - base > WINDOW ||
            t.ooo[i].end - base <= t.ooo[i].start - base)
            return 0;
        for (k = 0; k < i; k++)
            if (!apart(&t.ooo[i], &t.ooo[k]))
                return 0;
    }
    return 1;
}

void proof(void)
{
    toec_u32 base = nondet_u32(), start = nondet_u32(), end = nondet_u32();
    unsigned n = nondet_u8();

    ASSUME(n <= SIZE);
    ASSUME(start - base < end - base && end - base <= WINDOW);
    stack.tcp = &tcp;
    ANYTHING(list);
    t.ooo = list; /* borrowed: only this flow uses it */
    t.ooo_room = TOEC_OOO_MAX;
    t.n_ooo = (toec_u8)n;
    ASSUME(sound(base));
    (void)toec_ooo_add(&stack, &t, start, end);
    PROVE(t.n_ooo >= 1 && t.n_ooo <= n + 1);
    PROVE(sound(base));
}
