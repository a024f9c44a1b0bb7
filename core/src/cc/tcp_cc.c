/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_cc.c - connects a flow with its congestion-control algorithm: the initial window, the ACKs
 * that may increase the window, the state saved for an undo.
 */
#include "tcp_cc.h"

#include "../tcp/tcb.h"
#include "cc_bbr.h"
#include "cc_bbr1.h"
#include "cc_cubic.h"
#include "cc_dctcp.h"
#include "cc_newreno.h"
#include "tcp_record.h"

static const struct toec_cc_ops *const algorithms[TOEC_CC_COUNT] = {
    &toec_cc_cubic,   /* TOEC_CC_CUBIC */
    &toec_cc_newreno, /* TOEC_CC_NEWRENO */
    &toec_cc_dctcp,   /* TOEC_CC_DCTCP */
#ifdef TOEC_NO_BBR3
    0,
#else
    &toec_cc_bbr3, /* TOEC_CC_BBR3 */
#endif
    &toec_cc_bbr1 /* TOEC_CC_BBR1 */
};

const struct toec_cc_ops *toec_cc_get(unsigned n)
{
    return n < TOEC_CC_COUNT ? algorithms[n] : 0;
}

int toec_cc_owns_cwnd(const struct toec_tcb *t)
{
    return (t->cc_ops->flags & TOEC_CC_OWN_CWND) != 0;
}

toec_u32 toec_cc_initial_window(const struct toec_tcb *t)
{
    toec_u32 iw = TOEC_IW_SEGMENTS * t->mss, cap = TOEC_MAX(14600u, 2u * t->mss);

    return TOEC_MIN(iw, cap); /* R6928-01, R5681-01 */
}

void toec_cc_place(struct toec_tcb *t)
{
    if (t->cc_ops == &toec_cc_bbr1)
        t->cc.u.bbr1 = &t->rack.record->model.bbr1;
    else
        t->cc.u.bbr = &t->rack.record->model.bbr;
}

/* Initialises the state of algorithm ops; returns 0, or -1 when no record is free for it. */
static int make_state(struct toec_stack *s, struct toec_tcb *t, const struct toec_cc_ops *ops)
{
    struct toec_record *r = 0;

    if (ops->flags & TOEC_CC_RECORD) {
        r = toec_record_borrow(s, t);
        if (!r)
            return -1;
        memset(&r->model, 0, sizeof(r->model));
        memset(&r->rate, 0, sizeof(r->rate));
    }
    if (ops->flags & TOEC_CC_PACED)
        (void)toec_pace_get(s, t);
    t->cc_ops = ops;
    memset(&t->cc.u, 0, sizeof(t->cc.u));
    if (t->rack.episode) { /* saved by another algorithm, or outdated */
        memset(&t->rack.episode->cubic, 0, sizeof(t->rack.episode->cubic));
        t->rack.episode->epoch_set = 0;
    }
    t->cc.hs_phase = TOEC_HS_OVER;
    if (r)
        toec_cc_place(t);
    t->cc.sampling = (ops->flags & TOEC_CC_RATE) != 0;
    return 0;
}

void toec_cc_start(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    if (make_state(s, t, t->cc_ops))
        (void)make_state(s, t, &toec_cc_newreno);
    /* RFC 5681 3.1: one segment when the SYN or SYN-ACK was retransmitted */
    t->cwnd = t->rexmits ? t->mss : toec_cc_initial_window(t);
    t->cc.ssthresh = TOEC_CWND_MAX;
    toec_cwv_start(t, now);
    if (toec_rate_wanted(t))
        toec_rate_start(t, now);
    t->cc_ops->init(t, now);
    toec_pace_update(s, t);
}

int toec_cc_change(struct toec_stack *s, struct toec_tcb *t, const struct toec_cc_ops *ops,
                   toec_time now)
{
    unsigned i;

    if (t->state < TOEC_ESTABLISHED) {
        t->cc_ops = ops; /* toec_cc_start() will initialise it */
        return 0;
    }
    if (make_state(s, t, ops))
        return TOEC_E_NOBUFS;
    toec_cwv_start(t, now); /* an algorithm that owns its cwnd has not maintained this state */
    if (toec_rate_wanted(t)) {
        toec_rate_start(t, now);
        for (i = 0; i < t->rack.n; i++) /* runs sent before rate samples were needed */
            toec_rate_sent(t, &t->rack.run[i].rate, toec_pipe(t), 0, now);
    }
    ops->init(t, now);
    toec_pace_update(s, t);
    return 0;
}

void toec_cc_info(const struct toec_tcb *t, struct toec_info *out)
{
    unsigned n;

    for (n = 0; n < TOEC_CC_COUNT; n++)
        if (algorithms[n] == t->cc_ops)
            out->cc = (toec_u8)n;
    out->pacing_rate = toec_rate_to_bps(toec_pace_rate(t));
    out->max_pacing_rate = toec_rate_to_bps(toec_pace_max(t));
    out->delivery_rate =
        toec_rate_to_bps(toec_rate_wanted(t) ? toec_rate_of(t)->bw : toec_cwv_rate(t));
    if (toec_rate_wanted(t) && toec_rate_of(t)->bw_app_limited)
        out->opts |= TOEC_I_APP_LIMITED;
}

/*
 * Returns the acknowledged bytes that may increase the window: 0 unless the flow uses the window.
 * In slow start half of the window must have been acknowledged in a round trip (RFC 7661 4.4.1, as
 * in Linux), since the window doubles in between. In congestion avoidance the window must have
 * limited the last output.
 */
static toec_u32 growing(const struct toec_stack *s, const struct toec_tcb *t,
                        const struct toec_cc_ack *a)
{
    int slow = t->cwnd < t->cc.ssthresh, used;
    toec_u32 most;

    if (a->recovery || (t->flags & TOEC_F_FAST) || t->cwnd >= TOEC_CWND_MAX)
        return 0;
    /* RFC 3168 6.1.2: an ACK with ECE must not increase the window. */
    if (t->ecn.echo)
        return 0;
    /* While pipeACK is undefined (e.g. after a write of one initial window), the phase is the
     * validated one (RFC 7661 4.2), and the data that was outstanding decides. */
    used = toec_cwv_validated(t) || (t->stage.cwv.sampled != TOEC_CWV_DEFINED &&
                                     t->snd_max - t->snd_una + a->acked > t->cwnd / 2);
    if (!(t->flags & (TOEC_F_CWND_LIM | TOEC_F_LOSS)) && !(slow && used))
        return 0;
    if (!slow)
        return a->acked;
    /* Limit for stretch ACKs. After a timeout: one segment, as the acknowledged data may have
     * arrived long before (R3465-01). Otherwise: no limit when paced, else 8 segments (RFC 9406
     * 4.3) or one segmentation offload, which is sent as one burst anyway. */
    if (t->flags & TOEC_F_LOSS)
        most = t->mss;
    else if (toec_pace_rate(t))
        most = a->acked;
    else
        most = TOEC_MAX(8u * t->mss, s->cfg.max_gso);
    return TOEC_MIN(a->acked, most);
}

void toec_cc_acked(struct toec_stack *s, struct toec_tcb *t, struct toec_cc_ack *a)
{
    struct toec_rate_sample *rs = toec_rate_wanted(t) ? &toec_rate_of(t)->rs : 0;

    if (rs && rs->valid)
        toec_rate_sample(t);
    a->rs = rs;
    a->grow = growing(s, t, a);
    if (a->acked && !toec_cc_owns_cwnd(t))
        toec_cwv_acked(s, t, a->now);
    t->cc_ops->acked(t, a);
    if (t->pace)
        toec_pace_update(s, t);
    if (rs && (rs->valid || rs->newly_lost))
        memset(rs, 0, sizeof(*rs));
}

void toec_cc_congested(struct toec_tcb *t, enum toec_cc_event why, toec_time now)
{
    struct toec_episode *e = t->rack.episode;

    /* Without an episode only marks (RFC 3168) cause the reduction, which is never undone. */
    if (e && !(t->flags & (TOEC_F_FAST | TOEC_F_LOSS))) {
        e->prior_cwnd = t->cwnd;
        e->prior_ssthresh = t->cc.ssthresh;
        if (t->cc_ops->save)
            t->cc_ops->save(t);
    }
    t->cc_ops->congested(t, why, toec_cwv_loss(t), now);
}

void toec_cc_undo(struct toec_tcb *t, toec_time now)
{
    const struct toec_episode *e = t->rack.episode;
    int lower = t->cwnd < e->prior_cwnd;

    if (lower)
        t->cwnd = e->prior_cwnd;
    if (t->cc.ssthresh < e->prior_ssthresh)
        t->cc.ssthresh = e->prior_ssthresh;
    t->stage.cwv.nv_loss = 0;
    /* RFC 9438 4.9.2: if the window is already larger by now, the algorithm keeps its state. */
    if (t->cc_ops->undo && (lower || toec_cc_owns_cwnd(t)))
        t->cc_ops->undo(t, now);
}

void toec_cc_recovered(struct toec_tcb *t, toec_time now)
{
    toec_cwv_recovered(t);
    if (t->cc_ops->recovered)
        t->cc_ops->recovered(t, now);
}

void toec_cc_restart(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    toec_u32 idle = toec_ticks(now) - t->stage.cwv.idle_since;

    if (!toec_cc_owns_cwnd(t))
        toec_cwv_restart(s, t, idle, now);
    if (t->pace || t->stage.cwv.restarted)
        toec_pace_update(s, t); /* a kept window must not be sent as one burst (RFC 7661 4.4.2) */
    if (t->cc_ops->restart)
        t->cc_ops->restart(t, idle, now);
}
