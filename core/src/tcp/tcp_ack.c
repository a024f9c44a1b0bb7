/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_ack.c - the ACK field (RFC 9293 3.10.7.4, fifth): acknowledged data, the send window, RTT
 * samples, and the state transitions that an ACK causes.
 */
#include "tcp_ack.h"

#include "tcp.h"
#include "tcp_in.h"
#include "tcp_recover.h"
#include "tcp_runs.h"
#include "tcp_sack.h"
#include "tcp_timer.h"
#include "tcp_trace.h"
#include "tcp_tw.h"

/* Takes an RTT sample from the timed segment, else from the echoed timestamp. Returns the sample;
 * 0: none. RFC 9293 MUST-18, R7323-11; RFC 6298 3 (Karn) and RFC 7323 4.1. */
static toec_u32 take_rtt(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g,
                         toec_time now)
{
    toec_u32 rtt = 0, least;

    if (t->flags & TOEC_F_RTT) { /* R6298-07: one segment is timed at any time */
        if (TOEC_SEQ_GE(g->ack, t->rtt_seq)) {
            t->flags &= ~TOEC_F_RTT;
            rtt = toec_stamp(now) - t->rtt_start;
            rtt += rtt == 0;
            toec_rtt_timed(s, t, rtt);
        }
    } else if (g->has_ts && (t->flags & TOEC_F_TS) && g->tsecr && TOEC_SEQ_GT(g->ack, t->rtt_seq)) {
        toec_u32 ticks = toec_ticks(now) - (g->tsecr - t->ts_off);

        if (ticks >= TOEC_RTO_MAX)
            return 0;
        /* One sample per round trip, so that alpha and beta keep the meaning of RFC 6298 (RFC 7323
         * appendix G). A tick is too coarse for the minimum RTT. */
        t->rtt_seq = t->snd_max;
        least = t->min_rtt;
        rtt = (ticks << 10) + (ticks == 0);
        toec_rtt_sample(t, rtt);
        if (least)
            t->min_rtt = least;
    }
    return rtt;
}

/* Ends the persist state when the peer accepts data again after a zero window; the data of the
 * probes is sent again. RFC 9293 SHLD-16, SHLD-17, MAY-7. */
static void leave_persist(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    t->flags &=
        ~(TOEC_F_PERSIST | TOEC_F_RTX | TOEC_F_ZWIN | TOEC_F_RTT | TOEC_F_FAST | TOEC_F_RTX_HEAD);
    t->backoff = 0; /* the delay was due to the peer's window, not to a loss */
    toec_trace_una(s, t, TOEC_T_WINDOW_OPEN, t->snd_wnd);
    t->dupacks = 0;
    toec_runs_purge(t);
    if (t->rack.n && (t->rack.run[0].marks & TOEC_RUN_SACKED))
        toec_runs_unmark(t, TOEC_RUN_SACKED); /* reneged, see toec_rack_rto() */
    if (t->snd_max - t->snd_una <= 1) {
        if (t->snd_max != t->snd_una)
            t->flags |= TOEC_F_PROBED;
        t->snd_nxt = t->snd_max = t->snd_una;
        toec_runs_clear(t);
        if (TOEC_SEQ_GT(t->snd_sml, t->snd_una))
            t->snd_sml = t->snd_una;
    } else { /* the window had shrunk below outstanding data */
        toec_lose_all(s, t, now);
    }
}

/* Updates SND.WND and SND.WL1. SND.WL2 is not stored: it never exceeds SND.UNA, and an ACK here is
 * never below SND.UNA. RFC 9293 MUST-1, MUST-34, REC-1, SHLD-15: 16 unsigned bits, scaled into 32.
 */
static void take_window(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g,
                        toec_u32 acked, toec_time now)
{
    /* A retransmission has an old SEG.SEQ but may carry the newest ACK. Its window is used, as in
     * Linux; otherwise the old window would extend beyond the new SND.UNA. */
    if (TOEC_SEQ_GE(g->seq, t->snd_wl1))
        t->snd_wl1 = g->seq;
    else if (!acked)
        return;
    t->snd_wnd = toec_seg_wnd(t, g);
    if (t->snd_wnd)
        t->uto.shut = 0;
    if (t->snd_wnd > t->max_wnd)
        t->max_wnd = t->snd_wnd;
    if ((t->flags & TOEC_F_PERSIST) && t->snd_wnd)
        leave_persist(s, t, now);
}

/* Handles the ACK of our FIN; returns not 0 when the flow was freed. */
static int fin_acked(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    switch (t->state) {
    case TOEC_FIN_WAIT_1:
        toec_state_set(s, t, TOEC_FIN_WAIT_2);
        if (t->flags & TOEC_F_USER_GONE)
            toec_keep_start(s, t, TOEC_MS(t->linger2 * 1000ull), now);
        return 0;
    case TOEC_CLOSING:
        toec_tw_enter(s, t, now);
        return 1;
    case TOEC_LAST_ACK:
        toec_tcb_gone(s, t, TOEC_R_OK);
        return 1;
    default:
        return 0;
    }
}

/* R6582-04: in fast recovery without SACK, only the first partial ACK restarts the timer. When each
 * round trip repairs only one of many losses, a timeout is faster. */
static int later_partial(const struct toec_tcb *t)
{
    return (t->flags & (TOEC_F_FAST | TOEC_F_SACK)) == TOEC_F_FAST && t->rack.episode->partial &&
           TOEC_SEQ_LT(t->snd_una, t->recover);
}

/* Advances SND.UNA to g->ack. */
static void advance(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g,
                    struct toec_cc_ack *a, toec_time now)
{
    toec_u32 acked = g->ack - t->snd_una, data = acked;
    toec_u32 offset = t->snd_una - t->iss - 1;

    a->rtt = take_rtt(s, t, g, now);
    a->acked = acked;
    if (t->flags & TOEC_F_PERSIST)
        t->backoff = 0; /* as in leave_persist() */
    t->rexmits = 0;
    t->rare &= (toec_u8)~TOEC_RARE_SOFT;
    t->probe_owed = 0;
    if ((t->flags & TOEC_F_FIN) && TOEC_SEQ_GT(g->ack, t->snd_end))
        data--;
    if (offset + data < offset)
        t->tx_wraps++;
    t->snd_una = g->ack; /* R2018-08: nothing else frees the owner's send buffer */
    if (TOEC_SEQ_LT(t->snd_nxt, t->snd_una))
        t->snd_nxt = t->snd_una;
    if (toec_pm_watches(&t->pm))
        toec_pm_acked(s, t, now);
    if (t->snd_una == t->snd_max) /* R6298-09 */
        t->flags &= ~(TOEC_F_RTX | TOEC_F_PERSIST);
    else if (!later_partial(t)) /* R6298-10 */
        toec_rtx_start(s, t, now);
    toec_path_confirm(s, &t->path, now);
    if (data)
        toec_event(s, t, TOEC_EV_ACKED, data);
}

/* R5961-03; RFC 9293 MAY-12. */
int toec_ack_check(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g,
                   toec_time now)
{
    if (t->flags & TOEC_F_PROBED) {
        if (g->ack == t->snd_max + 1 && t->snd_max == t->snd_una)
            t->snd_max++; /* the peer accepted the probe's byte */
        if (t->snd_max != t->snd_una)
            t->flags &= ~TOEC_F_PROBED;
    }
    if (TOEC_SEQ_GT(g->ack, t->snd_max) || TOEC_SEQ_LT(g->ack, t->snd_una - t->max_wnd)) {
        TOEC_COUNT(s, tcp_bad_ack); /* RFC 5961 5.2 */
        toec_challenge(s, t, now);
        return -1;
    }
    return 0;
}

/* Returns not 0 for a duplicate ACK as defined by RFC 5681 2. */
static int is_duplicate(const struct toec_tcb *t, const struct toec_seg *g)
{
    return g->ack == t->snd_una && g->len == 0 && !(g->flags & TOEC_TH_FIN) && g->n_sack == 0 &&
           g->wnd << toec_snd_scale(t) == t->snd_wnd;
}

/* Returns not 0 when this ACK must be checked against the record of transmissions. */
static int look_closely(const struct toec_tcb *t, const struct toec_seg *g)
{
    return (t->flags & (TOEC_F_SACKED | TOEC_F_FAST | TOEC_F_LOSS | TOEC_F_TLP)) ||
           (g->n_sack && (t->flags & TOEC_F_SACK)) || (t->cc.sampling && g->ack != t->snd_una);
}

/* Applies an ACK to the record of transmissions. Returns not 0 when it is a duplicate: without SACK
 * as in RFC 5681 (bare), with SACK when it SACKs new data (RFC 6675 2). */
TOEC_NOINLINE int closely(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g,
                          struct toec_cc_ack *a, struct toec_news *n, int bare)
{
    toec_u32 una = t->snd_una;

    memset(n, 0, sizeof(*n));
    n->now = a->now;
    n->stamp = toec_stamp(a->now);
    n->has_ts = g->has_ts && (t->flags & TOEC_F_TS) && g->tsecr;
    n->tsecr = g->tsecr - t->ts_off;
    if ((t->flags & TOEC_F_SACK) ? g->n_sack != 0 : bare)
        (void)toec_episode_get(s, t, a->now);
    toec_runs_purge(t);
    if (t->rack.episode && t->rack.sacked == 0)
        t->rack.episode->fack = una;
    toec_runs_acked(t, g->ack, n);
    if (g->ack != una)
        advance(s, t, g, a, a->now);
    if (g->n_sack && (t->flags & TOEC_F_SACK))
        toec_sack_input(s, t, g, una, n);
    if (t->flags & TOEC_F_TLP)
        n->repaired = (toec_u8)toec_tlp_ack(t, g->ack, bare, n);
    a->delivered = n->delivered;
    a->run_rtt = n->run_rtt;
    return (t->flags & TOEC_F_SACK) ? n->sacked != 0 : bare;
}

/* Ends the hold of data sent without push (MSG_MORE): it lasts until the next ACK, as on Linux
 * (tcp_data_snd_check()). Text that acknowledges nothing does not end it. */
TOEC_NOINLINE void release_more(struct toec_tcb *t, const struct toec_seg *g, toec_u32 acked)
{
    if (TOEC_SEQ_GT(t->snd_end, t->snd_max) && (acked || !g->len))
        t->flags |= TOEC_F_UNCORK;
}

int toec_ack_input(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g,
                   toec_time now)
{
    struct toec_cc_ack a;
    struct toec_news n;
    int dup = 0, look;

    if (t->flags & TOEC_F_KEEPALIVE)
        t->keep_probes = 0;
    /* A peer that answers probes is alive (RFC 9293 3.8.6.1). After a full close, when no
     * application can end the connection, the probes are limited (RFC 6429). */
    if ((t->flags & (TOEC_F_PERSIST | TOEC_F_USER_GONE)) == TOEC_F_PERSIST)
        t->rexmits = 0;
    if (TOEC_SEQ_LT(g->ack, t->snd_una))
        return 0; /* an old ACK acknowledges nothing new, but the segment's text is processed */
    memset(&a, 0, sizeof(a));
    a.now = now;
    a.recovery = (t->flags & TOEC_F_FAST) != 0;
    if (t->snd_una != t->snd_max && !(t->flags & TOEC_F_PERSIST))
        dup = is_duplicate(t, g);
    look = look_closely(t, g) || dup;
    if (look) {
        dup = closely(s, t, g, &a, &n, dup);
        if (dup) /* the counter is far behind in the TCB: touch it only when needed */
            t->tally.dup_acks++;
    } else if (g->ack != t->snd_una) {
        advance(s, t, g, &a, now);
        a.delivered = a.acked;
        t->dupacks = 0;
    }
    take_window(s, t, g, a.acked, now);
    if (t->ecn.flags & TOEC_ECN_TX)
        toec_ecn_ack(s, t, g, &a);
    if (look && t->rack.episode)
        toec_ack_recovery(s, t, a.acked, dup, &n);
    if (a.delivered || dup)
        toec_cc_acked(s, t, &a);
    if ((t->flags & TOEC_F_FIN) && TOEC_SEQ_GT(t->snd_una, t->snd_end) && fin_acked(s, t, now))
        return -1;
    if (TOEC_SEQ_LT(t->snd_max, t->snd_end + ((t->flags & TOEC_F_FIN) != 0)) ||
        (t->flags & (TOEC_F_FAST | TOEC_F_LOSS | TOEC_F_RTX_HEAD))) {
        if (!(t->flags & (TOEC_F_PUSH | TOEC_F_CORK)))
            release_more(t, g, a.acked);
        toec_pend(s, t);
    }
    return 0;
}
