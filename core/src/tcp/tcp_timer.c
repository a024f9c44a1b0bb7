/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_timer.c - the timers of a flow (RFC 9293 3.8.1 to 3.8.4, RFC 6298) on one wheel timer.
 *
 * The flow's deadlines are ticks in the TCB; the wheel timer is set to the earliest one or before.
 * To postpone a deadline, as every ACK does, only the TCB is written. The wheel timer then fires
 * too early and is set again.
 */
#include "tcp_timer.h"

#include "tcp.h"
#include "tcp_defer.h"
#include "tcp_delack.h"
#include "tcp_emit.h"
#include "tcp_expect.h"
#include "tcp_if.h"
#include "tcp_recover.h"
#include "tcp_runs.h"
#include "tcp_tables.h"
#include "tcp_trace.h"
#include "tcp_tw.h"
#include "tcp_uto.h"

toec_time toec_tick_time(toec_u32 due, toec_time now)
{
    toec_i32 ahead = (toec_i32)(due - toec_ticks(now));

    if (ahead <= 0)
        return now;
    return ((now >> TOEC_TICK_SHIFT) + (toec_u32)ahead) << TOEC_TICK_SHIFT;
}

void toec_due(struct toec_stack *s, struct toec_tcb *t, toec_u32 due, toec_time now)
{
    if ((t->flags & TOEC_F_ARMED) && TOEC_SEQ_LE(t->timer_due, due))
        return;
    t->flags |= TOEC_F_ARMED;
    t->timer_due = due;
    toec_timer_set(s, &t->timer, TOEC_TMR_FLOW, toec_tick_time(due, now));
}

/* ---- RTO (RFC 6298) ---- */

void toec_rtt_timed(struct toec_stack *s, struct toec_tcb *t, toec_u32 rtt)
{
    toec_rtt_sample(t, rtt);
    if (TOEC_UNLIKELY(s->rtt_watch != 0)) {
        struct toec_rtt r;

        r.local = t->local;
        r.remote = t->remote;
        r.local_port = t->local_port;
        r.remote_port = t->remote_port;
        r.rtt = rtt ? rtt : 1;
        s->rtt_watch(s->cfg.user, &r);
    }
}

void toec_watch_rtt(struct toec_stack *s, toec_rtt_fn watch)
{
    s->rtt_watch = watch;
}

/* R1122-25 */
void toec_rtt_sample(struct toec_tcb *t, toec_u32 rtt)
{
    toec_u32 rto, var;

    if (rtt == 0)
        rtt = 1;
    if (t->min_rtt == 0 || rtt < t->min_rtt)
        t->min_rtt = rtt;
    if (t->srtt == 0) { /* R6298-02 */
        t->srtt = rtt << 3;
        t->rttvar = rtt << 1;
    } else { /* R6298-03: with alpha 1/8, beta 1/4, in scaled form */
        toec_i32 err = (toec_i32)(rtt - (t->srtt >> 3));

        t->srtt = (toec_u32)((toec_i32)t->srtt + err);
        if (err < 0)
            err = -err;
        t->rttvar = (toec_u32)((toec_i32)t->rttvar + err - (toec_i32)(t->rttvar >> 2));
    }
    /* K * RTTVAR equals the stored rttvar. The minimum applies to this term rather than to the sum,
     * so that a delayed ACK never causes a timeout. 2^10 ns to ticks of 2^20 ns. */
    var = (t->rttvar >> 10) + 1;
    rto = (t->srtt >> 13) + (var > TOEC_RTO_MIN ? var : TOEC_RTO_MIN) + 1;
    if (rto > TOEC_RTO_MAX)
        rto = TOEC_RTO_MAX;
    t->rto = (toec_u16)((rto + 3) / 4u);
    t->backoff = 0; /* Karn: only a sample ends the backoff */
}

toec_u32 toec_backed_off(const struct toec_tcb *t)
{
    toec_u32 rto = t->rto * 4u;
    unsigned i;

    for (i = 0; i < t->backoff && rto < TOEC_RTO_MAX; i++)
        rto <<= 1;
    return rto < TOEC_RTO_MAX ? rto : TOEC_RTO_MAX;
}

/* Sets the timer to the earlier of the probe and the RTO. If the RTO is earlier, the probe is sent
 * at that time instead (R8985-06): a segment that was only late then causes no window reduction. */
static void set_rtx(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    toec_u32 after = toec_tlp_after(t), at = toec_ticks(now) + 1 + after;

    t->probe_set = after != 0;
    t->rtx_at = t->rack.rto_at;
    if (after && TOEC_SEQ_LT(at, t->rtx_at))
        t->rtx_at = at;
    toec_due(s, t, t->rtx_at, now);
}

void toec_rtx_start(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    t->rack.rto_at = toec_ticks(now) + 1 + toec_backed_off(t);
    if (t->rexmits)
        t->rack.rto_at = toec_uto_clamp(t, t->rack.rto_at, toec_ticks(now));
    t->flags = (t->flags | TOEC_F_RTX) & ~TOEC_F_PERSIST;
    set_rtx(s, t, now);
}

void toec_syn_soon(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    if (t->rexmits || !(t->flags & TOEC_F_RTX) || (t->fo.flags & TOEC_FO_SYN))
        return;
    t->rack.rto_at = t->rtx_at = toec_ticks(now) + 1 + TOEC_MS(2);
    toec_due(s, t, t->rtx_at, now);
}

void toec_tlp_restart(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    if (t->probe_set)
        set_rtx(s, t, now);
}

/* RFC 9293 MUST-36, MUST-37, SHLD-29, SHLD-30. */
void toec_persist_start(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    t->rtx_at = toec_ticks(now) + 1 + toec_backed_off(t);
    if (!t->uto.shut) {
        t->uto.shut = 1;
        t->uto.shut_at = toec_ticks(now);
        toec_trace_una(s, t, TOEC_T_WINDOW_CLOSED, t->snd_wnd);
    }
    t->rtx_at = toec_uto_clamp(t, t->rtx_at, toec_ticks(now));
    t->flags |= TOEC_F_RTX | TOEC_F_PERSIST;
    toec_due(s, t, t->rtx_at, now);
}

void toec_keep_start(struct toec_stack *s, struct toec_tcb *t, toec_u32 ticks, toec_time now)
{
    t->keep_at = toec_ticks(now) + ticks;
    t->flags |= TOEC_F_KEEP_T;
    toec_due(s, t, t->keep_at, now);
}

/* ---- expiry ---- */

static void give_up(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    enum toec_reason why = toec_silence(t);

    TOEC_COUNT(s, tcp_timed_out);
    if (t->state == TOEC_SYN_SENT || t->state == TOEC_SYN_RECEIVED)
        toec_tcb_gone(s, t, why);
    else
        toec_tcb_reset(s, t, why, now);
}

/* Counts a timeout; returns not 0 when the flow was aborted. RFC 9293 MUST-19, MUST-20, MUST-22,
 * SHLD-10. */
static int count_timeout(struct toec_stack *s, struct toec_tcb *t, int persist, toec_time now)
{
    toec_u32 ticks = toec_ticks(now);

    if (t->rexmits == 0)
        t->stalled_at = ticks - toec_backed_off(t);
    if (t->rexmits < 255) /* a long user timeout may allow more */
        t->rexmits++;
    if (toec_is_over(t, persist, ticks)) {
        give_up(s, t, now);
        return 1;
    }
    if (t->rexmits >= TOEC_R1)
        toec_path_doubt(s, &t->path, now); /* RFC 9293 3.8.3 (b): the next hop may have failed */
    if (t->backoff < 16)                   /* R6298-12 */
        t->backoff++;
    return 0;
}

/* Handles RFC 6298 5.4 to 5.7 (R6298-12), a tail loss probe or a zero-window probe; returns not 0
 * when the flow was freed. */
static int on_rtx(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    int persist = (t->flags & TOEC_F_PERSIST) != 0;

    if (t->fo.flags & TOEC_FO_SYN)
        return toec_tfo_timeout(s, t, now);
    if (t->state == TOEC_SYN_SENT)
        toec_tfo_lost(s, t, now);
    t->flags &= ~(TOEC_F_RTX | TOEC_F_PERSIST);
    if (persist)
        t->flags |= TOEC_F_ZWIN;
    if (t->probe_set && !persist) {
        t->probe_set = 0;
        if (toec_tlp_after(t)) {
            TOEC_COUNT(s, tcp_tail_probes);
            toec_trace(s, t, TOEC_T_TAIL_PROBE, t->snd_max - t->iss, 0);
            t->probe_owed = 1;
            toec_pend(s, t);
        } else if (TOEC_SEQ_GE(toec_ticks(now), t->rack.rto_at)) {
            return on_rtx(s, t, now); /* SACKs have arrived: only RACK's timer and the RTO apply */
        }
        t->flags |= TOEC_F_RTX;
        if (t->probe_owed) /* RFC 8985 7.3: the RTO restarts */
            t->rack.rto_at = toec_ticks(now) + 1 + toec_backed_off(t);
        t->rtx_at = t->rack.rto_at;
        return 0;
    }
    if (toec_defer_timeout(s, t, now))
        return 0;
    if (count_timeout(s, t, persist, now))
        return 1;
    toec_unpark(s, t);
    if (t->state >= TOEC_ESTABLISHED && (persist || t->snd_wnd == 0)) {
        TOEC_COUNT(s, tcp_window_probes);
        toec_trace_una(s, t, TOEC_T_WINDOW_PROBE, t->rexmits);
        t->flags |= TOEC_F_ZWIN;
    } else {
        TOEC_COUNT(s, tcp_timeouts);
        toec_trace_una(s, t, TOEC_T_TIMEOUT, t->rexmits);
        t->flags &= ~TOEC_F_RTT;
        if (t->state >= TOEC_ESTABLISHED) {
            toec_rto_recovery(s, t, now); /* output counts the retransmissions */
            toec_pm_timeout(s, t, now);
        } else {
            t->tally.retransmits++;
            t->snd_nxt = t->iss; /* retransmit the SYN or SYN-ACK */
        }
    }
    toec_pend(s, t);
    return 0;
}

/* Handles a keep-alive (RFC 9293 3.8.4) or the end of FIN-WAIT-2; returns not 0 when the flow was
 * freed. RFC 9293 MUST-26, MUST-28, MUST-29, SHLD-12. */
static int on_keep(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    toec_u32 idle = toec_ticks(now) - t->rcv_at, wait = TOEC_MS_LEAST(t->keep_idle * 1000ull);
    toec_u32 limit;

    t->flags &= ~TOEC_F_KEEP_T;
    if (t->state == TOEC_FIN_WAIT_2 && (t->flags & TOEC_F_USER_GONE)) {
        TOEC_COUNT(s, tcp_fin_wait2_timeout);
        toec_tcb_gone(s, t, TOEC_R_TIMEDOUT);
        return 1;
    }
    if (!(t->flags & TOEC_F_KEEPALIVE) || t->state < TOEC_ESTABLISHED)
        return 0;
    if (t->snd_una != t->snd_max || idle < wait) {
        /* for unacknowledged data the retransmission timer is responsible */
        toec_keep_start(s, t, idle < wait ? wait - idle : wait, now);
        t->keep_probes = 0;
        return 0;
    }
    limit = toec_user_timeout(t); /* as in Linux: the user timeout replaces the count */
    if (limit ? t->keep_probes && idle >= limit : t->keep_probes >= t->keep_cnt) {
        TOEC_COUNT(s, tcp_keepalive_dead);
        toec_tcb_reset(s, t, toec_silence(t), now);
        return 1;
    }
    t->keep_probes++;
    TOEC_COUNT(s, tcp_keepalive_probes);
    toec_trace_una(s, t, TOEC_T_KEEPALIVE, t->keep_probes);
    t->flags |= TOEC_F_PROBE;
    toec_pend(s, t);
    toec_keep_start(s, t, TOEC_MS_LEAST(t->keep_intvl * 1000ull), now);
    return 0;
}

void toec_flow_timer(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    toec_u32 ticks = toec_ticks(now);

    t->flags &= ~TOEC_F_ARMED;
    if ((t->flags & TOEC_F_DELACK) && !toec_delack_left(t, ticks))
        toec_delack_expired(s, t);
    if ((t->flags & TOEC_F_CORK_T) && TOEC_SEQ_GE(ticks, t->cork_at)) {
        t->flags = (t->flags & ~TOEC_F_CORK_T) | TOEC_F_UNCORK;
        toec_pend(s, t);
    }
    if (t->rack.reo_set && TOEC_SEQ_GE(ticks, t->rack.episode->reo_at))
        toec_reo_expired(s, t, now);
    if ((t->flags & TOEC_F_RTX) && TOEC_SEQ_GE(ticks, t->rtx_at) && on_rtx(s, t, now))
        return;
    if ((t->flags & TOEC_F_KEEP_T) && TOEC_SEQ_GE(ticks, t->keep_at) && on_keep(s, t, now))
        return;
    /* Set the timer for the remaining deadlines. */
    if (toec_delack_timed(s, t))
        toec_due(s, t, ticks + toec_delack_left(t, ticks), now);
    if (t->flags & TOEC_F_CORK_T)
        toec_due(s, t, t->cork_at, now);
    if (t->rack.reo_set)
        toec_due(s, t, t->rack.episode->reo_at, now);
    if (t->flags & TOEC_F_RTX) {
        toec_due(s, t, t->rtx_at, now);
    } else if (t->snd_una ==
               t->snd_max) { /* output sets a timer, so the flow has been idle since, or is paced */
        toec_runs_done(s, t);
        toec_episode_done(s, t, now);
    }
    if (t->flags & TOEC_F_KEEP_T)
        toec_due(s, t, t->keep_at, now);
}

/* Handles an expired flow timer and prefetches the next one. Also prefetches the rest of this
 * flow's TCB if it is among the first that will send; output_pending(), which runs after all
 * timers, prefetches the others. */
static void flow_expired(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    if (t->timer.ahead)
        toec_fetch_timed(TOEC_CONTAINER(t->timer.ahead, struct toec_tcb, timer));
    toec_flow_timer(s, t, now);
    if ((t->flags & TOEC_F_PENDING) && s->tcp->pending_n <= TOEC_FETCH_AHEAD)
        toec_fetch_flow(t);
}

void toec_tcp_timer(struct toec_stack *s, struct toec_timer *timer, enum toec_timer_kind kind,
                    toec_time now)
{
    if (kind == TOEC_TMR_TW)
        toec_tw_expire(s, now);
    else
        flow_expired(s, TOEC_CONTAINER(timer, struct toec_tcb, timer), now);
}
