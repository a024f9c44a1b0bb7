/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_cwv.c - congestion window validation (RFC 7661), see tcp_cwv.h.
 *
 * pipeACK is the largest volume acknowledged in one round trip during the last max(3 RTT, 1 s). It
 * is stored as the maximum of the previous and of the current half of that period.
 */
#include "tcp_cwv.h"

#include "../tcp/tcb.h"

#define NVP TOEC_MS(300000) /* RFC 7661 4.4.3: five minutes */

static toec_u32 pipeack(const struct toec_cwv *v)
{
    return TOEC_MAX(v->max[0], v->max[1]);
}

void toec_cwv_start(struct toec_tcb *t, toec_time now)
{
    struct toec_cwv *v = &t->stage.cwv;

    memset(v, 0, sizeof(*v));
    v->half_at = v->sample_at = toec_stamp(now);
    v->idle_since = toec_ticks(now);
    v->sample_una = t->snd_una;
}

int toec_cwv_validated(const struct toec_tcb *t)
{
    const struct toec_cwv *v = &t->stage.cwv;

    return v->sampled == TOEC_CWV_DEFINED && pipeack(v) >= t->cwnd / 2;
}

/* R7661-02: determines the phase. A flow that always fills its window is not in the non-validated
 * phase, even if pipeACK is below half of cwnd because slow start doubles the window per round
 * trip. Its losses are handled as in RFC 5681. */
static void set_phase(struct toec_tcb *t, toec_time now)
{
    struct toec_cwv *v = &t->stage.cwv;
    int nv = v->sampled == TOEC_CWV_DEFINED && pipeack(v) < t->cwnd / 2 &&
             (v->nv || !(t->flags & TOEC_F_CWND_LIM));

    if (nv && !v->nv)
        v->nv_since = toec_ticks(now);
    v->nv = (toec_u8)nv;
}

/* R7661-04: halves a window that was not used for so long, repeatedly. */
static void end_of_phase(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    struct toec_cwv *v = &t->stage.cwv;
    toec_u32 iw = toec_cc_initial_window(t);

    while (v->nv && toec_ticks(now) - v->nv_since >= NVP) {
        v->nv_since += NVP;
        if (t->cwnd <= iw) {
            v->nv_since = toec_ticks(now);
            return;
        }
        TOEC_COUNT(s, tcp_idle_restarts);
        if (t->cc.ssthresh < t->cwnd - t->cwnd / 4)
            t->cc.ssthresh = t->cwnd - t->cwnd / 4;
        t->cwnd = TOEC_MAX(t->cwnd / 2, iw);
    }
}

static void shift_periods(struct toec_tcb *t, toec_u32 stamp)
{
    struct toec_cwv *v = &t->stage.cwv;
    toec_u32 half = (t->srtt >> 3) + (t->srtt >> 4); /* 1.5 RTT */

    if (half < 488281u) /* 0.5 s in 2^10 ns */
        half = 488281u;
    if (stamp - v->half_at < half)
        return;
    v->max[0] = stamp - v->half_at < 2u * half ? v->max[1] : 0;
    v->max[1] = 0;
    v->half_at = stamp;
}

void toec_cwv_acked(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    struct toec_cwv *v = &t->stage.cwv;
    toec_u32 stamp = toec_stamp(now), volume;

    if (t->snd_una == t->snd_max)
        v->idle_since = toec_ticks(now);
    v->restarted = 0;
    /* R7661-01: no samples are taken in recovery */
    if ((t->flags & (TOEC_F_FAST | TOEC_F_LOSS)) || stamp - v->sample_at < t->srtt >> 3)
        return;
    if (v->sampled == TOEC_CWV_UNDEFINED) {
        v->sampled = TOEC_CWV_BEGUN; /* the first ACK of a round trip does not complete a sample */
        v->sample_at = stamp;
        return;
    }
    volume = t->snd_una - v->sample_una;
    shift_periods(t, stamp);
    if (volume > v->max[1])
        v->max[1] = volume;
    v->sampled = TOEC_CWV_DEFINED;
    v->sample_at = stamp;
    v->sample_una = t->snd_una;
    set_phase(t, now);
    end_of_phase(s, t, now);
}

toec_u32 toec_cwv_loss(struct toec_tcb *t)
{
    struct toec_episode *e = t->rack.episode;
    struct toec_cwv *v = &t->stage.cwv;
    toec_u32 volume = t->snd_max - t->snd_una; /* R5681-06 */

    /* Data that limited transmit sent beyond the window does not count (RFC 5681 3.2 step 2, RFC
     * 6675 5 (4.2)). */
    if (!(t->flags & (TOEC_F_FAST | TOEC_F_LOSS)) && volume > t->cwnd)
        volume = t->cwnd;
    if (v->nv) { /* R7661-03 */
        volume = TOEC_MIN(TOEC_MAX(volume, pipeack(v)), t->cwnd);
        if (e) { /* otherwise it is not a loss: no adjustment after recovery */
            v->nv_loss = 1;
            e->nv_volume = volume;
            e->nv_resends = t->tally.retransmits;
        }
    }
    return volume;
}

/* RFC 7661 4.4.1: the retransmitted volume exceeded the capacity of the path. */
void toec_cwv_recovered(struct toec_tcb *t)
{
    const struct toec_episode *e = t->rack.episode;
    struct toec_cwv *v = &t->stage.cwv;
    toec_u32 again, fair;

    if (v->nv_loss) {
        again = (t->tally.retransmits - e->nv_resends) * t->mss;
        fair = again < e->nv_volume ? (e->nv_volume - again) / 2 : 0;
        fair = TOEC_MAX(fair, 2u * t->mss);
        if (t->cc.ssthresh > fair)
            t->cc.ssthresh = fair;
    }
    v->nv_loss = 0;
    v->nv = 0;
    v->sampled = TOEC_CWV_UNDEFINED; /* pipeACK is undefined after a recovery */
    v->max[0] = v->max[1] = 0;
    v->sample_una = t->snd_una;
}

void toec_cwv_restart(struct toec_stack *s, struct toec_tcb *t, toec_u32 idle, toec_time now)
{
    struct toec_cwv *v = &t->stage.cwv;
    toec_u32 stamp = toec_stamp(now);

    /* R5681-12 in the form of RFC 7661: after an idle RTO the window is no longer validated. */
    if (idle <= t->rto * 4u)
        return;
    shift_periods(t, stamp);
    v->restarted = 1;
    v->sample_at = stamp;
    v->sample_una = t->snd_una;
    if (!v->nv) {
        v->nv = 1;
        v->nv_since = toec_ticks(now) - idle;
    }
    v->sampled = TOEC_CWV_DEFINED;
    end_of_phase(s, t, now);
}

toec_u64 toec_cwv_rate(const struct toec_tcb *t)
{
    toec_u32 srtt = t->srtt >> 3;

    return srtt ? toec_div64((toec_u64)pipeack(&t->stage.cwv) << 20, srtt) : 0;
}
