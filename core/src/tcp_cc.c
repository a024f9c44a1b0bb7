/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_cc.c - between the flow and its congestion-control algorithm: the initial window, which ACKs
 * may enlarge the window, what is kept for an undo.
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

int toec_cc_owns_cwnd(const struct toec_tcb *t)
{
    return (t->cc_ops->flags & TOEC_CC_OWN_CWND) != 0;
}

void toec_cc_start(struct toec_tcb *t, toec_time now)
{
    toec_u32 iw = TOEC_IW_SEGMENTS * t->mss, cap = 14600;

    if (cap < 2u * t->mss)
        cap = 2u * t->mss;
    if (iw > cap) /* R6928-01, R5681-01 */
        iw = cap;
    /* RFC 5681 3.1: one segment when SYN or SYN-ACK had to be sent again */
    t->cwnd = t->rexmits ? t->mss : iw;
    t->cc.ssthresh = TOEC_CWND_MAX;
    t->cc_ops->init(t, now);
}

void toec_cc_acked(struct toec_stack *s, struct toec_tcb *t, struct toec_cc_ack *a)
{
    (void)s;
    a->rs = &t->rate.rs;
    a->grow = 0;
    if (!a->recovery && !(t->flags & TOEC_F_FAST) && t->cwnd < TOEC_CWND_MAX &&
        (t->flags & (TOEC_F_CWND_LIM | TOEC_F_LOSS)))
        a->grow = a->acked;
    toec_rate_sample(t);
    t->cc_ops->acked(t, a);
    memset(&t->rate.rs, 0, sizeof(t->rate.rs));
}

void toec_cc_congested(struct toec_tcb *t, enum toec_cc_event why, toec_time now)
{
    if (!(t->flags & (TOEC_F_FAST | TOEC_F_LOSS))) {
        t->cc.prior_cwnd = t->cwnd;
        t->cc.prior_ssthresh = t->cc.ssthresh;
        if (t->cc_ops->save)
            t->cc_ops->save(t);
    }
    /* R5681-06: what is outstanding, not cwnd, which the flow may not have used */
    t->cc_ops->congested(t, why, t->snd_max - t->snd_una, now);
}

void toec_cc_undo(struct toec_tcb *t, toec_time now)
{
    if (t->cwnd < t->cc.prior_cwnd)
        t->cwnd = t->cc.prior_cwnd;
    if (t->cc.ssthresh < t->cc.prior_ssthresh)
        t->cc.ssthresh = t->cc.prior_ssthresh;
    if (t->cc_ops->undo)
        t->cc_ops->undo(t, now);
}

void toec_cc_recovered(struct toec_tcb *t, toec_time now)
{
    if (t->cc_ops->recovered)
        t->cc_ops->recovered(t, now);
}

/* A congestion window not used for an RTO says nothing about the path now (RFC 5681 4.1). */
void toec_cc_restart(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    toec_u32 idle = toec_stamp(now) - t->rtt_start, iw = TOEC_IW_SEGMENTS * t->mss;

    if (idle >> 10 <= t->rto * 4u)
        return;
    if (t->cwnd > iw && !toec_cc_owns_cwnd(t)) {
        TOEC_COUNT(s, tcp_idle_restarts);
        t->cwnd = iw;
    }
    if (t->cc_ops->restart)
        t->cc_ops->restart(t, idle, now);
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
