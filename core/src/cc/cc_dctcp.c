/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cc_dctcp.c - Data Center TCP (RFC 8257): reduces the window in proportion to the share of marked
 * bytes rather than by half. The receive side, which echoes marks exactly, is in tcp_ecn.c.
 *
 * Without ECN there are no marks to measure: such a flow behaves as NewReno (as in Linux).
 */
#include "cc_dctcp.h"

#include "cc_hystart.h"
#include "cc_newreno.h"

#define ONE 1048576u /* alpha and the share of marked bytes: 1 is 2^20 */
#define G   4u       /* RFC 8257 4.2: the gain g is 1/16 */

static struct toec_cc_dctcp *of(struct toec_tcb *t)
{
    return &t->cc.u.dctcp;
}

static void begin_window(struct toec_tcb *t)
{
    of(t)->window_end = t->snd_max;
    of(t)->acked = 0;
    of(t)->marked = 0;
}

static void dctcp_init(struct toec_tcb *t, toec_time now)
{
    if (!(t->ecn.flags & TOEC_ECN_TX)) {
        t->cc_ops = &toec_cc_newreno;
        t->cc_ops->init(t, now);
        return;
    }
    of(t)->alpha = ONE; /* RFC 8257 4.2: the first mark halves the window */
    of(t)->credit = 0;
    toec_hystart_begin(t, &of(t)->hs);
    begin_window(t);
}

/* Updates alpha after a window of data: R8257-02, RFC 8257 3.3, steps 5 to 8. */
static void observe(struct toec_tcb *t)
{
    struct toec_cc_dctcp *d = of(t);
    toec_u32 less = d->alpha >> G, share;

    if (d->acked == 0)
        return;
    share = (toec_u32)toec_div64((toec_u64)d->marked * ONE, d->acked);
    if (less == 0) /* R8257-04: so that alpha reaches 0 in fixed point */
        less = d->alpha ? 1u : 0;
    d->alpha = d->alpha - less + (share >> G);
    if (d->alpha > ONE) /* R8257-04 */
        d->alpha = ONE;
    begin_window(t);
}

static void dctcp_acked(struct toec_tcb *t, const struct toec_cc_ack *a)
{
    struct toec_cc_dctcp *d = of(t);
    toec_u32 acked;

    d->acked += a->delivered;
    d->marked += a->ece_bytes;
    if (TOEC_SEQ_GT(t->snd_una, d->window_end))
        observe(t);
    acked = toec_cc_slow_start(t, &d->hs, a);
    if (acked == 0)
        return;
    d->credit += acked; /* as cc_newreno.c */
    if (d->credit >= t->cwnd) {
        d->credit -= t->cwnd;
        d->credit = TOEC_MIN(d->credit, t->cwnd);
        t->cwnd += t->mss;
    }
}

static void dctcp_congested(struct toec_tcb *t, enum toec_cc_event why, toec_u32 flight,
                            toec_time now)
{
    toec_u32 to = flight / 2; /* R8257-03: a loss is handled as in NewReno */

    (void)now;
    if (why == TOEC_CC_ECN) /* R8257-02: cwnd * (1 - alpha / 2) */
        to = t->cwnd - (toec_u32)(((toec_u64)t->cwnd * of(t)->alpha) >> 21);
    t->cc.ssthresh = TOEC_MAX(to, 2u * t->mss);
    of(t)->credit = 0;
}

const struct toec_cc_ops toec_cc_dctcp = {
    "dctcp", TOEC_CC_ECT, dctcp_init, dctcp_acked, dctcp_congested, 0, 0, 0, 0, 0};
