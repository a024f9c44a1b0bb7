/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cc_newreno.c - NewReno's window (RFC 5681, RFC 6582), with the byte counting of RFC 3465.
 */
#include "cc_newreno.h"

#include "cc_hystart.h"

static void newreno_init(struct toec_tcb *t, toec_time now)
{
    (void)now;
    toec_hystart_begin(t, &t->cc.u.newreno.hs);
}

static void newreno_acked(struct toec_tcb *t, const struct toec_cc_ack *a)
{
    toec_u32 acked = toec_cc_slow_start(t, &t->cc.u.newreno.hs, a);

    if (acked == 0)
        return;
    /* R5681-04: one SMSS per acknowledged cwnd (RFC 5681 (3) in bytes), at most one per ACK */
    t->cc.u.newreno.credit += acked;
    if (t->cc.u.newreno.credit >= t->cwnd) {
        t->cc.u.newreno.credit -= t->cwnd;
        if (t->cc.u.newreno.credit > t->cwnd)
            t->cc.u.newreno.credit = t->cwnd;
        t->cwnd += t->mss;
    }
}

static void newreno_congested(struct toec_tcb *t, enum toec_cc_event why, toec_u32 flight,
                              toec_time now)
{
    toec_u32 floor = 2u * t->mss;

    (void)why;
    (void)now;
    t->cc.ssthresh = flight / 2 > floor ? flight / 2 : floor; /* RFC 5681 (4): R5681-05 */
    t->cc.u.newreno.credit = 0;
}

const struct toec_cc_ops toec_cc_newreno = {
    "reno", 0, newreno_init, newreno_acked, newreno_congested, 0, 0, 0, 0, 0};
