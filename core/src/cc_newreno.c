/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cc_newreno.c - NewReno's window (RFC 5681) and what all algorithms share.
 */
#include "tcp.h"

static const struct toec_cc_ops *const algorithms[TOEC_CC_COUNT] = {
    &toec_cc_cubic,  /* TOEC_CC_CUBIC */
    &toec_cc_newreno /* TOEC_CC_NEWRENO */
};

const struct toec_cc_ops *toec_cc_get(unsigned n)
{
    return n < TOEC_CC_COUNT ? algorithms[n] : 0;
}

toec_u32 toec_cc_slow_start(struct toec_tcb *t, toec_u32 acked)
{
    toec_u32 room;

    if (t->cwnd >= t->cc.ssthresh)
        return acked;
    room = t->cc.ssthresh - t->cwnd;
    if (room > acked)
        room = acked;
    t->cwnd += room;
    return acked - room;
}

static void newreno_init(struct toec_tcb *t)
{
    t->cc.credit = 0;
}

static void newreno_on_ack(struct toec_tcb *t, toec_u32 acked, toec_u32 ticks)
{
    (void)ticks;
    acked = toec_cc_slow_start(t, acked);
    if (acked == 0)
        return;
    /* RFC 5681 (3) by bytes counted (RFC 3465): one SMSS for each cwnd acknowledged. */
    t->cc.credit += acked;
    if (t->cc.credit >= t->cwnd) {
        t->cc.credit -= t->cwnd;
        t->cwnd += t->mss;
    }
}

static void newreno_reduce(struct toec_tcb *t, toec_u32 flight)
{
    toec_u32 floor = 2u * t->mss;

    t->cc.ssthresh = flight / 2 > floor ? flight / 2 : floor; /* RFC 5681 (4) */
    t->cc.credit = 0;
}

static void newreno_on_idle(struct toec_tcb *t)
{
    t->cc.credit = 0;
}

const struct toec_cc_ops toec_cc_newreno = {"newreno",      newreno_init,   newreno_on_ack,
                                            newreno_reduce, newreno_reduce, newreno_on_idle};
