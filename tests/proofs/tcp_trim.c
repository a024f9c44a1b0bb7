/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_trim.c - any segment that passed the checks of RFC 9293 3.10.7.4, cut to any window: what is
 * left begins at or after RCV.NXT, ends within the window, and is part of what came.
 */
#include "proof.h"

#include "tcp/tcp_in.c"

static struct toec_tcb t;

void proof(void)
{
    struct toec_seg g;
    toec_u32 len = nondet_u16(), off = nondet_u16(), seq = nondet_u32(), window = nondet_u32(),
             edge;

    ASSUME(window <= 0x3fffffff);
    t.rcv_nxt = nondet_u32();
    t.rcv_adv = t.rcv_nxt + window;
    g.seq = seq;
    g.len = len;
    g.off = off;
    /* Wholly within half the space: what seq_acceptable() leaves. */
    ASSUME(seq - (t.rcv_nxt - 0x40000000) <= 0x40000000 + window);
    edge = t.rcv_adv;
    toec_trim(&t, &g);
    PROVE(g.len <= len && g.off >= off && g.off + g.len <= off + len);
    PROVE(g.seq - seq == g.off - off || g.len == 0);
    if (g.len) {
        PROVE(g.seq - t.rcv_nxt <= window);
        PROVE(g.seq + g.len - t.rcv_nxt <= edge - t.rcv_nxt);
    }
}
