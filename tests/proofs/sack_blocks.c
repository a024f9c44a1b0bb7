/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sack_blocks.c - any SACK blocks of an ACK: they are sorted within their array, and those passed
 * to the record of transmissions lie within the outstanding bytes.
 */
#include "proof.h"

#include "tcp/tcp_sack.c"

static struct toec_stack s;
static struct toec_tcb t;
static toec_u32 last;
static unsigned told;

void sacked(struct toec_stack *stack, struct toec_tcb *flow, toec_u32 start, toec_u32 end,
            struct toec_news *n)
{
    (void)stack;
    (void)flow;
    (void)n;
    PROVE(TOEC_SEQ_LT(start, end) && TOEC_SEQ_LE(end, t.snd_max));
    PROVE(TOEC_SEQ_GE(start, t.snd_una));
    PROVE(told == 0 || TOEC_SEQ_GE(start, last)); /* in order */
    PROVE(++told <= 4);
    last = start;
}

void proof(void)
{
    struct toec_seg g;
    struct toec_news n;
    toec_u32 before = nondet_u32();

    t.snd_una = nondet_u32();
    t.snd_max = nondet_u32();
    t.max_wnd = nondet_u32();
    ASSUME(t.snd_max - t.snd_una <= 0x40000000u && t.max_wnd <= 0x40000000u);
    ASSUME(t.snd_una - before <= 0x40000000u);
    ASSUME(g.n_sack >= 1 && g.n_sack <= SIZE);
    toec_sack_input(&s, &t, &g, before, &n);
}
