/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ccbench.h - a congestion-control algorithm by itself: a TCB without a connection, ACKs made by
 * the test. Times in seconds, windows in segments where double.
 */
#ifndef CCBENCH_H
#define CCBENCH_H

#include "tcpsim.h"

#include "cc/tcp_record.h"
#include "tcp/tcp.h"

#define MSS 1448u

struct ccbench {
    struct toec_tcb t;
    struct toec_record record;
    struct toec_episode episode;
    struct toec_pace pace;
    struct toec_rate_sample rs;
    toec_time now;
};

/* The flow is paced, and has its own record and episode, not borrowed ones. */
static inline void ccb_record(struct ccbench *b)
{
    toec_runs_init(&b->t);
    b->t.rack.record = &b->record;
    b->t.rack.run = b->record.run;
    b->t.rack.room = TOEC_RUNS;
    b->t.rack.episode = &b->episode;
    b->t.pace = &b->pace;
}

static inline void ccb_init(struct ccbench *b, const struct toec_cc_ops *ops, unsigned segs,
                            double rtt)
{
    memset(b, 0, sizeof(*b));
    b->now = 5 * SEC;
    b->t.mss = MSS;
    b->t.cwnd = segs * MSS;
    b->t.snd_una = b->t.snd_max = b->t.snd_nxt = 1000;
    b->t.srtt = (toec_u32)(rtt * 1e9 / 1024) << 3;
    b->t.cc.ssthresh = TOEC_CWND_MAX;
    b->t.cc_ops = ops;
    ccb_record(b);
    if (ops->flags & TOEC_CC_RECORD)
        b->t.cc.u.bbr = &b->record.bbr;
    ops->init(&b->t, b->now);
}

static inline void ccb_pass(struct ccbench *b, double seconds)
{
    b->now += (toec_time)(seconds * 1e9);
}

/* An ACK of `acked` bytes, `grow` of which may enlarge the window, with an RTT sample. */
static inline void ccb_ack(struct ccbench *b, toec_u32 acked, toec_u32 grow, double rtt)
{
    struct toec_cc_ack a;

    memset(&a, 0, sizeof(a));
    a.now = b->now;
    a.acked = a.delivered = acked;
    a.grow = grow;
    a.rtt = (toec_u32)(rtt * 1e9 / 1024);
    a.rs = &b->rs;
    b->t.snd_una += acked;
    if (TOEC_SEQ_LT(b->t.snd_max, b->t.snd_una))
        b->t.snd_max = b->t.snd_una;
    b->t.cc_ops->acked(&b->t, &a);
}

/* Congestion with the window in flight; cwnd falls as recovery would make it. */
static inline void ccb_congest(struct ccbench *b, enum toec_cc_event why)
{
    b->t.snd_max = b->t.snd_una + b->t.cwnd;
    toec_cc_congested(&b->t, why, b->now);
    b->t.cwnd = why == TOEC_CC_RTO ? b->t.mss : b->t.cc.ssthresh;
}

static inline double ccb_segs(const struct ccbench *b)
{
    return (double)b->t.cwnd / MSS;
}

#endif
