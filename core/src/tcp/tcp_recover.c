/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_recover.c - loss recovery: when to enter and leave it, how much data may be in flight, what
 * to retransmit next. With SACK, RACK (RFC 8985) detects losses, and PRR (RFC 9937, which obsoletes
 * RFC 6937) moves the window to ssthresh. Without SACK, duplicate ACKs are counted (RFC 5681, RFC
 * 6582). After a timeout F-RTO (RFC 5682) first checks whether it was spurious.
 *
 * RACK replaces RFC 6675. What remains of it: pipe (R6675-02) is the outstanding data that is
 * neither SACKed nor marked lost. NextSeg() (R6675-03) is toec_next_rtx(): rule 1, lost data; rule
 * 2, new data; rule 4, the rescue retransmission. Rule 3 never applies: all holes below SACKed data
 * are marked lost at once unless reordering was seen, and then the reordering window delays them.
 */
#include "tcp_recover.h"

#include "../cc/tcp_record.h"
#include "tcp.h"
#include "tcp_runs.h"
#include "tcp_timer.h"
#include "tcp_trace.h"
#include "tcp_undo.h"

/* ---- PRR ---- */

static void prr_begin(struct toec_tcb *t, toec_u32 delivered)
{
    struct toec_episode *e = t->rack.episode;

    /* RFC 9937 6: data SACKed before this ACK does not count as delivered in this recovery. */
    e->prr_flight = t->snd_max - t->snd_una - t->rack.sacked + delivered;
    e->prr_delivered = 0;
    e->prr_out = 0;
}

/* R6937-01; safe: SND.UNA has advanced and no further loss was detected. */
static void prr(struct toec_tcb *t, toec_u32 delivered, int safe)
{
    struct toec_episode *e = t->rack.episode;
    toec_u32 pipe = toec_pipe(t), ssthresh = t->cc.ssthresh, count, owed;

    if (toec_cc_owns_cwnd(t))
        return;
    e->prr_delivered += delivered;
    if (pipe > ssthresh) {
        toec_u32 flight = e->prr_flight ? e->prr_flight : 1;

        count = (toec_u32)toec_div64((toec_u64)e->prr_delivered * ssthresh + flight - 1, flight);
        count = count > e->prr_out ? count - e->prr_out : 0;
    } else {
        owed = e->prr_delivered > e->prr_out ? e->prr_delivered - e->prr_out : 0;
        count = owed > delivered ? owed : delivered;
        if (safe)
            count += t->mss; /* R6937-02: recovery makes progress: grow as in slow start */
        if (count > ssthresh - pipe)
            count = ssthresh - pipe;
    }
    /* Allow the fast retransmit itself, and always one segment when nothing is in flight. */
    if (count < t->mss && (e->prr_out == 0 || pipe == 0))
        count = t->mss;
    t->cwnd = pipe + count;
}

/* ---- fast recovery ---- */

static void begin_recovery(struct toec_tcb *t, toec_time now)
{
    struct toec_episode *e = t->rack.episode;

    t->recover = t->snd_max; /* R6675-04, R6582-01, R6582-05 */
    e->reduced = toec_stamp(now);
    e->rescued = 0;
    e->partial = 0;
    t->flags &= ~TOEC_F_TLP; /* the probe's loss is part of this episode */
}

static void enter_fast(struct toec_stack *s, struct toec_tcb *t, toec_u32 delivered, toec_time now)
{
    TOEC_COUNT(s, tcp_fast_recoveries);
    if (toec_ecn_is_cut(t)) {
        /* R3168-04: the window was already cut for marks in this window of data; an undo of the
         * loss must not undo that cut */
        t->rack.episode->undo.on = 0;
        begin_recovery(t, now);
    } else {
        toec_undo_save(t, 0);
        toec_cc_congested(t, TOEC_CC_LOSS, now);
        begin_recovery(t, now);
        toec_ecn_cut(t);
    }
    t->flags |= TOEC_F_FAST;
    toec_trace_una(s, t, TOEC_T_RECOVERY, t->cc.ssthresh);
    if (t->flags & TOEC_F_SACK) {
        prr_begin(t, delivered);
        return;
    }
    t->flags |= TOEC_F_RTX_HEAD;
    if (!toec_cc_owns_cwnd(t))
        t->cwnd = t->cc.ssthresh;
}

/* Handles a lost retransmission, which is a second sign of congestion (RFC 5681 4.3). This happens
 * at most once per round trip, as the retransmission was sent after the first sign (R5681-15). */
static void lost_again(struct toec_stack *s, struct toec_tcb *t, toec_u32 delivered, toec_time now)
{
    toec_u32 flight = t->snd_max - t->snd_una, before = t->cc.ssthresh, floor = 2u * t->mss;

    TOEC_COUNT(s, tcp_lost_retransmits);
    toec_undo_save(t, 0);
    toec_cc_congested(t, TOEC_CC_LOSS, now);
    /* Reduce by the algorithm's own factor, but applied to ssthresh: the outstanding data includes
     * data SACKed since and may be far more than the window. */
    if (!toec_cc_owns_cwnd(t) && before < flight) {
        t->cc.ssthresh = (toec_u32)toec_div64((toec_u64)before * t->cc.ssthresh, flight);
        if (t->cc.ssthresh < floor)
            t->cc.ssthresh = floor;
    }
    begin_recovery(t, now);
    toec_ecn_cut(t);
    toec_trace_una(s, t, TOEC_T_CWND_CUT, t->cc.ssthresh);
    if (t->flags & TOEC_F_FAST)
        prr_begin(t, delivered);
    else if (t->cwnd > t->cc.ssthresh && !toec_cc_owns_cwnd(t))
        t->cwnd = t->cc.ssthresh;
}

static void leave_recovery(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    int fast = (t->flags & TOEC_F_FAST) != 0;
    toec_u32 flight = t->snd_max - t->snd_una;

    t->flags &= ~(TOEC_F_FAST | TOEC_F_LOSS | TOEC_F_RTX_HEAD);
    t->dupacks = 0;
    t->rack.episode->frto = TOEC_FRTO_OFF;
    toec_rack_recovered(t);
    toec_cc_recovered(t, now);
    toec_trace_una(s, t, TOEC_T_RECOVERED, t->cc.ssthresh);
    if (!fast || toec_cc_owns_cwnd(t))
        return;
    t->cwnd = t->cc.ssthresh;
    if (!(t->flags & TOEC_F_SACK)) { /* R6582-03: no burst when little is outstanding */
        flight = (flight > t->mss ? flight : t->mss) + t->mss;
        if (t->cwnd > flight)
            t->cwnd = flight;
    }
}

/* A probe has repaired a loss that was not detected otherwise: reduces the window as if fast
 * recovery had taken place (R8985-08). */
static void probe_repaired(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    TOEC_COUNT(s, tcp_tail_repairs);
    t->rack.episode->undo.on = 0; /* of an earlier episode; this reduction is not undone */
    toec_cc_congested(t, TOEC_CC_LOSS, now);
    toec_ecn_cut(t);
    toec_trace_una(s, t, TOEC_T_CWND_CUT, t->cc.ssthresh);
    if (toec_cc_owns_cwnd(t))
        return;
    if (t->cc.ssthresh <
        t->rack.episode->tlp_flight / 2) /* the data outstanding when the probe was sent */
        t->cc.ssthresh = t->rack.episode->tlp_flight / 2;
    if (t->cwnd > t->cc.ssthresh)
        t->cwnd = t->cc.ssthresh;
    toec_cc_recovered(t, now);
}

/* ---- an ACK ---- */

/* Counts duplicate ACKs, without SACK. */
static void in_open_reno(struct toec_stack *s, struct toec_tcb *t, toec_u32 acked, int dup,
                         toec_time now)
{
    if (acked)
        t->dupacks = 0;
    if (!dup)
        return;
    if (t->dupacks < 255)
        t->dupacks++;
    /* R5681-09; R6582-01: ignore duplicate ACKs caused by retransmissions after a timeout */
    if (t->dupacks >= TOEC_DUPTHRESH && t->recover != t->snd_una && !toec_is_out(t, t->recover))
        enter_fast(s, t, 0, now);
    /* else limited transmit (R3042-01, R5681-11): the pipe is one segment smaller, so output sends
     * one; cwnd stays as it is (R3042-02) */
}

static void in_fast_reno(struct toec_tcb *t, toec_u32 acked, int dup)
{
    if (acked) {
        /* R6582-02: a partial ACK. The next hole starts here; deflate by what was acknowledged and
         * add one segment back. */
        toec_u32 segs = acked / t->mss;

        if (segs > 1)
            t->dupacks = t->dupacks > segs - 1 ? (toec_u8)(t->dupacks - (segs - 1)) : 0;
        t->flags |= TOEC_F_RTX_HEAD;
        t->rack.episode->partial = 1;
    } else if (dup && t->dupacks < 255) {
        t->dupacks++;
    }
}

/* Retransmits the data marked lost, without notifying congestion control. */
static void repair(struct toec_tcb *t, toec_time now)
{
    begin_recovery(t, now);
    t->rack.episode->frto = TOEC_FRTO_OFF;
    t->rack.episode->undo.on = 0;
    t->dupacks = 0;
    t->flags = (t->flags | TOEC_F_LOSS) & ~(TOEC_F_FAST | TOEC_F_RTX_HEAD | TOEC_F_RTT);
}

/* Runs RACK on the outstanding data and enters recovery if needed. Returns the bytes found lost. */
static toec_u32 look_for_losses(struct toec_stack *s, struct toec_tcb *t, toec_u32 delivered,
                                toec_time now)
{
    int again;
    toec_u32 lost = toec_rack_detect(s, t, now, &again);

    if (t->rack.lost && !(t->flags & (TOEC_F_FAST | TOEC_F_LOSS)) && toec_pm_probe_lost(s, t, now))
        repair(t, now);
    else if (t->rack.lost && !(t->flags & (TOEC_F_FAST | TOEC_F_LOSS)))
        enter_fast(s, t, delivered, now);
    else if (again)
        lost_again(s, t, delivered, now);
    return lost;
}

void toec_ack_recovery(struct toec_stack *s, struct toec_tcb *t, toec_u32 acked, int dup,
                       const struct toec_news *n)
{
    int sack = (t->flags & TOEC_F_SACK) != 0;
    toec_u32 lost;

    if (n->dsack)
        toec_rack_dsack(s, t, n);
    if (n->repaired && !(t->flags & (TOEC_F_FAST | TOEC_F_LOSS)))
        probe_repaired(s, t, n->now);
    if (!toec_undo_ack(s, t, acked, n) && (t->flags & (TOEC_F_FAST | TOEC_F_LOSS))) {
        if ((t->flags & TOEC_F_LOSS) && toec_frto_ack(s, t, acked, dup, n))
            return;
        if (TOEC_SEQ_GE(t->snd_una, t->recover)) {
            leave_recovery(s, t, n->now);
            if (t->snd_una != t->snd_max)
                toec_rtx_start(s, t, n->now); /* a probe may come first again */
        } else if ((t->flags & TOEC_F_FAST) && !sack) {
            in_fast_reno(t, acked, dup);
        } else if (!sack) {
            /* After a timeout: duplicates may report the arrival of F-RTO's new data. If no new
             * data was sent, they are due to older segments and are not counted. */
            dup = dup && t->dupacks < 255 && TOEC_SEQ_GT(t->snd_max, t->recover);
            t->dupacks = acked ? 0 : (toec_u8)(t->dupacks + dup);
        }
    } else if (!sack) {
        in_open_reno(s, t, acked, dup, n->now);
    }
    if (!sack || t->snd_una == t->snd_max)
        return;
    lost = look_for_losses(s, t, n->delivered, n->now);
    if ((t->flags & TOEC_F_FAST) && n->delivered)
        prr(t, n->delivered, acked && !lost);
}

void toec_reo_expired(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    t->rack.reo_set = 0;
    toec_runs_purge(t);
    if (!look_for_losses(s, t, 0, now))
        return;
    TOEC_COUNT(s, tcp_reo_timeouts);
    if (t->flags & TOEC_F_FAST)
        prr(t, 0, 0);
    toec_pend(s, t);
}

/* ---- timeouts ---- */

void toec_rto_recovery(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    int fresh = !(t->flags & (TOEC_F_FAST | TOEC_F_LOSS));

    (void)toec_episode_get(s, t, now);
    /* R5681-05: ssthresh falls at the first timeout of a segment and is then held. */
    if (t->rexmits == 1) {
        toec_undo_save(t, 1);
        toec_cc_congested(t, TOEC_CC_RTO, now);
    }
    if (!toec_cc_owns_cwnd(t))
        t->cwnd = t->mss;
    begin_recovery(t, now);
    toec_ecn_cut(t);
    t->dupacks = 0;
    t->probe_owed = 0;
    /* R5682-03: during the repair of an earlier loss, ACKs show nothing about this timeout. */
    t->rack.episode->frto = fresh || t->rexmits > 1 ? TOEC_FRTO_WAIT : TOEC_FRTO_OFF;
    toec_rack_rto(s, t, now);
    /* R6298-11: the first segment is sent whatever pipe is; R6675-06: even if it was retransmitted
     * before */
    t->flags = (t->flags | TOEC_F_LOSS | TOEC_F_RTX_HEAD) & ~TOEC_F_FAST;
}

void toec_lose_all(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    unsigned i;

    (void)toec_episode_get(s, t, now);
    toec_runs_purge(t);
    for (i = 0; i < t->rack.n; i++)
        toec_runs_lose(t, i, now);
    t->rack.reo_set = 0;
    repair(t, now);
}

/* ---- retransmissions ---- */

/* R6675-07: selects the rescue retransmission. Nothing is marked lost and there is no new data, but
 * the last data has not been SACKed for more than a round trip. Once per recovery, and not at once
 * as RFC 6675 would allow, because the data may still be in flight. */
static int rescue(struct toec_tcb *t, toec_u32 *start, toec_u32 *end, toec_time now)
{
    const struct toec_rack *k = &t->rack;
    struct toec_episode *e = k->episode;
    const struct toec_run *last = &k->run[k->n - 1];
    toec_u32 from = k->n > 1 ? last[-1].end : t->snd_una;

    if (e->rescued || !k->sacked || k->n == 0 || last->marks ||
        (toec_i32)(toec_stamp(now) - last->sent - e->rtt - (e->rtt >> 2)) <= 0)
        return 0;
    e->rescued = 1;
    e->rescue_end = t->snd_max;
    *start = t->snd_max - from > t->mss ? t->snd_max - t->mss : from;
    *end = t->snd_max;
    return 1;
}

int toec_next_rtx(struct toec_tcb *t, int new_data, toec_u32 *start, toec_u32 *end, toec_time now)
{
    if (t->flags & TOEC_F_RTX_HEAD)
        return toec_runs_first(t, 0, TOEC_RUN_SACKED, start, end);
    if (t->rack.episode->frto == TOEC_FRTO_NEW)
        return 0; /* new data only: the next ACK decides */
    if (t->rack.lost)
        return toec_runs_first(t, TOEC_RUN_LOST, TOEC_RUN_SACKED, start, end);
    if (new_data || (t->flags & (TOEC_F_FAST | TOEC_F_SACK)) != (TOEC_F_FAST | TOEC_F_SACK))
        return 0;
    return rescue(t, start, end, now);
}
