/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_ack.c - the ACK field (RFC 9293 3.10.7.4, fifth): what is acknowledged, the send window, RTT
 * samples, and what follows for the state.
 */
#include "tcp.h"

/* RFC 9293 MUST-18, R7323-11; RFC 6298 3 (Karn) and RFC 7323 4.1: the timed segment, else the
 * echoed timestamp. Returns the sample, 0: there is none. */
static toec_u32 take_rtt(struct toec_tcb *t, const struct toec_seg *g, toec_time now)
{
    toec_u32 rtt = 0;

    if (t->flags & TOEC_F_RTT) {
        if (TOEC_SEQ_GE(g->ack, t->rtt_seq)) {
            t->flags &= ~TOEC_F_RTT;
            rtt = toec_stamp(now) - t->rtt_start;
            rtt += rtt == 0;
        }
    } else if (g->has_ts && (t->flags & TOEC_F_TS) && g->tsecr) {
        toec_u32 ticks = toec_ticks(now) - (g->tsecr - t->ts_off);

        if (ticks < TOEC_RTO_MAX)
            rtt = (ticks << 10) + (ticks == 0);
    }
    if (rtt)
        toec_rtt_sample(t, rtt);
    return rtt;
}

/* The peer takes data again after a zero window: what the probes sent is sent anew. RFC 9293
 * SHLD-16, SHLD-17, MAY-7. */
static void leave_persist(struct toec_tcb *t)
{
    t->flags &=
        ~(TOEC_F_PERSIST | TOEC_F_RTX | TOEC_F_ZWIN | TOEC_F_RTT | TOEC_F_FAST | TOEC_F_RTX_HEAD);
    t->backoff = 0; /* the peer's window was what lasted so long, not a loss */
    t->dupacks = 0;
    if (t->n_sacked && t->sacked[0].start == t->snd_una)
        toec_sack_clear(t); /* thrown away, see toec_rto_recovery() */
    if (t->snd_max - t->snd_una <= 1) {
        if (t->snd_max != t->snd_una)
            t->flags |= TOEC_F_PROBED;
        t->snd_nxt = t->snd_max = t->snd_una;
        if (TOEC_SEQ_GT(t->snd_sml, t->snd_una))
            t->snd_sml = t->snd_una;
    } else { /* the window had shrunk over data under way */
        t->snd_nxt = t->snd_una;
        t->recover = t->snd_max;
        t->flags |= TOEC_F_LOSS;
    }
}

/* SND.WND, SND.WL1. SND.WL2 needs no keeping: it never exceeds SND.UNA, nor does an ACK here lie
 * below it. RFC 9293 MUST-1, MUST-34, REC-1, SHLD-15: 16 bits without sign, scaled into 32. */
static void take_window(struct toec_tcb *t, const struct toec_seg *g, toec_u32 acked)
{
    /* A retransmission, which has an old SEG.SEQ, may bring the newest ACK: its window counts, as
     * on Linux, or else the old one would be offered beyond the new SND.UNA. */
    if (TOEC_SEQ_GE(g->seq, t->snd_wl1))
        t->snd_wl1 = g->seq;
    else if (!acked)
        return;
    t->snd_wnd = g->wnd << toec_snd_scale(t);
    if (t->snd_wnd)
        t->uto.shut = 0;
    if (t->snd_wnd > t->max_wnd)
        t->max_wnd = t->snd_wnd;
    if ((t->flags & TOEC_F_PERSIST) && t->snd_wnd)
        leave_persist(t);
}

/* Our FIN is acknowledged. Not 0 when the flow is gone. */
static int fin_acked(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    switch (t->state) {
    case TOEC_FIN_WAIT_1:
        t->state = TOEC_FIN_WAIT_2;
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

/* SND.UNA moves to g->ack. */
static void advance(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g,
                    struct toec_cc_ack *a, toec_time now)
{
    toec_u32 acked = g->ack - t->snd_una, data = acked;
    toec_u32 offset = t->snd_una - t->iss - 1;

    a->rtt = take_rtt(t, g, now);
    a->acked = acked;
    a->delivered += acked;
    if (t->flags & TOEC_F_PERSIST)
        t->backoff = 0; /* as in leave_persist() */
    t->rexmits = 0;
    t->reason = 0;
    t->probe_owed = 0;
    t->probes = 0;
    if ((t->flags & TOEC_F_FIN) && TOEC_SEQ_GT(g->ack, t->snd_end))
        data--;
    if (offset + data < offset)
        t->tx_wraps++;
    if (t->flags & TOEC_F_SACKED) {
        a->delivered -= toec_sack_bytes(t, t->snd_una, g->ack);
        toec_sack_ack(t, g->ack);
    }
    t->snd_una = g->ack;
    if (TOEC_SEQ_LT(t->snd_nxt, t->snd_una))
        t->snd_nxt = t->snd_una;
    toec_pm_acked(s, t, now);
    if (t->snd_una == t->snd_max)
        t->flags &= ~(TOEC_F_RTX | TOEC_F_PERSIST);
    else
        toec_rtx_start(s, t, now); /* RFC 6298 5.3 */
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
            t->snd_max++; /* it was taken nevertheless */
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

int toec_ack_input(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g,
                   toec_time now)
{
    struct toec_cc_ack a;
    int dup = 0;

    if (t->flags & TOEC_F_KEEPALIVE)
        t->keep_probes = 0;
    /* A peer that answers probes is alive (RFC 9293 3.8.6.1); when nobody is left to end the
     * connection they end by themselves (RFC 6429). */
    if ((t->flags & (TOEC_F_PERSIST | TOEC_F_USER_GONE)) == TOEC_F_PERSIST)
        t->rexmits = 0;
    if (TOEC_SEQ_LT(g->ack, t->snd_una))
        return 0; /* old: nothing new in it, but its text counts */
    memset(&a, 0, sizeof(a));
    a.now = now;
    a.flight = toec_pipe(t);
    a.recovery = (t->flags & TOEC_F_FAST) != 0;
    if (g->n_sack && (t->flags & TOEC_F_SACK))
        a.delivered = toec_sack_input(s, t, g);
    if (g->ack != t->snd_una) {
        dup = a.delivered != 0;
        advance(s, t, g, &a, now);
    } else if (t->snd_una != t->snd_max && !(t->flags & TOEC_F_PERSIST)) {
        /* RFC 5681 2 has what a duplicate ACK is; with SACK it must bring news (RFC 6675 2) */
        dup = (t->flags & TOEC_F_SACK) ? a.delivered != 0
                                       : g->len == 0 && !(g->flags & TOEC_TH_FIN) &&
                                             g->wnd << toec_snd_scale(t) == t->snd_wnd;
    }
    if (dup)
        t->dup_acks_total++;
    take_window(t, g, a.acked);
    if (t->ecn.flags)
        toec_ecn_ack(s, t, g, &a);
    if (a.acked || dup) {
        toec_ack_recovery(s, t, a.acked, dup, now);
        toec_cc_acked(s, t, &a);
    }
    if ((t->flags & TOEC_F_FIN) && TOEC_SEQ_GT(t->snd_una, t->snd_end) && fin_acked(s, t, now))
        return -1;
    if (TOEC_SEQ_LT(t->snd_max, t->snd_end + ((t->flags & TOEC_F_FIN) != 0)) ||
        (t->flags & (TOEC_F_FAST | TOEC_F_LOSS | TOEC_F_RTX_HEAD)))
        toec_pend(s, t);
    return 0;
}
