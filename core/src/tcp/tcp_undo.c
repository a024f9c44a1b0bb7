/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_undo.c - detects spurious retransmissions and undoes the window reduction. Four signs show
 * that the data had only been late: the echoed timestamp of the original (Eifel, RFC 3522), an ACK
 * after a timeout for data not retransmitted (F-RTO, RFC 5682), a DSACK for each retransmission
 * (RFC 3708), and that all arrived before anything was retransmitted. The window is then restored
 * (RFC 4015).
 */
#include "tcp_undo.h"

#include "../cc/tcp_record.h"
#include "tcp_runs.h"
#include "tcp_timer.h"
#include "tcp_trace.h"

void toec_undo_save(struct toec_tcb *t, int rto)
{
    struct toec_undo *u = &t->rack.episode->undo;

    if (t->flags & (TOEC_F_FAST | TOEC_F_LOSS)) {
        u->end = t->snd_max;
        u->eifel = 0;
        return;
    }
    u->on = 1;
    u->una = t->snd_una;
    u->end = t->snd_max;
    u->rtx = 0;
    u->stamped = 0;
    u->eifel = 1;
    u->rto = rto != 0;
}

/* Returns not 0 when the echoed timestamp of the next ACK of new data can show whether a copy sent
 * before this retransmission has arrived (Eifel). It does only for the segment at SND.UNA, whose
 * arrival that ACK reports, and which was sent once before. Otherwise the ACK may be due to the
 * retransmission of an earlier loss, which is older, too. */
static int shows_original(struct toec_tcb *t, toec_u32 start)
{
    toec_runs_purge(t);
    return start == t->snd_una && t->rack.n && !(t->rack.run[0].marks & TOEC_RUN_RTX);
}

void toec_undo_resent(struct toec_tcb *t, toec_u32 start, toec_time now)
{
    struct toec_undo *u = &t->rack.episode->undo;

    if (!u->on)
        return;
    if (u->rtx < 65535u)
        u->rtx++;
    if (!u->stamped) {
        u->stamped = 1;
        u->stamp = toec_ticks(now);
        u->eifel = u->eifel && shows_original(t, start);
    }
}

/* Restores the window. R5682-04, after a timeout: as in RFC 4015. */
static void undo(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    struct toec_undo *u = &t->rack.episode->undo;

    if (u->rto)
        TOEC_COUNT(s, tcp_spurious_timeouts);
    else
        TOEC_COUNT(s, tcp_spurious_recoveries);
    t->tally.undone++;
    toec_cc_undo(t, now);
    toec_trace_una(s, t, TOEC_T_UNDO, t->cwnd);
    u->on = 0;
    t->ecn.flags &= (toec_u8)~TOEC_ECN_CUT; /* the cut was due to the loss and is undone */
    if (!u->rto)
        t->rack.reordering = 1; /* the only other cause of the apparent loss */
    if (!(t->flags & (TOEC_F_FAST | TOEC_F_LOSS)))
        return;
    t->flags &= ~(TOEC_F_FAST | TOEC_F_LOSS | TOEC_F_RTX_HEAD);
    t->rack.episode->frto = TOEC_FRTO_OFF;
    t->dupacks = 0;
    t->backoff = 0;
    toec_runs_unmark(t, TOEC_RUN_LOST);
    toec_rack_recovered(t);
    if (t->snd_una != t->snd_max)
        toec_rtx_start(s, t, now); /* without backoff, and a probe may come first again */
}

/* Returns not 0 when the first ACK of new data after the first retransmission echoes a timestamp
 * older than that retransmission. */
static int eifel(struct toec_tcb *t, toec_u32 acked, const struct toec_news *n)
{
    struct toec_undo *u = &t->rack.episode->undo;

    if (!u->eifel || !u->stamped || !acked)
        return 0;
    u->eifel = 0;
    return n->has_ts && (t->flags & (TOEC_F_FAST | TOEC_F_LOSS)) && TOEC_SEQ_LT(n->tsecr, u->stamp);
}

/* Returns not 0 when DSACKs have reported every retransmission as a duplicate (R2883-02). */
static int all_duplicates(struct toec_tcb *t, const struct toec_news *n)
{
    struct toec_undo *u = &t->rack.episode->undo;
    toec_u32 segs;

    if (!n->dsack || !u->rtx || TOEC_SEQ_LE(n->dsack_end, u->una) ||
        TOEC_SEQ_GT(n->dsack_end, u->end))
        return 0;
    segs = (n->dsack_end - n->dsack_start + t->mss - 1) / t->mss;
    u->rtx = (toec_u16)(segs < u->rtx ? u->rtx - segs : 0);
    return u->rtx == 0;
}

/* Returns not 0 when all data marked lost in this fast recovery has arrived, and nothing was
 * retransmitted: the ACK that began the recovery and the one of the late data came together. */
static int none_resent(const struct toec_tcb *t)
{
    return (t->flags & (TOEC_F_FAST | TOEC_F_SACK)) == (TOEC_F_FAST | TOEC_F_SACK) &&
           !t->rack.episode->undo.stamped && t->rack.lost == 0;
}

int toec_undo_ack(struct toec_stack *s, struct toec_tcb *t, toec_u32 acked,
                  const struct toec_news *n)
{
    if (!t->rack.episode->undo.on ||
        !(eifel(t, acked, n) || all_duplicates(t, n) || none_resent(t)))
        return 0;
    undo(s, t, n->now);
    return 1;
}

/* Returns not 0 when there is a full segment of new data within the peer's window. */
static int can_send_new(const struct toec_tcb *t)
{
    toec_u32 end = t->snd_max + t->mss;

    return TOEC_SEQ_GE(t->snd_end, end) && TOEC_SEQ_GE(t->snd_una + t->snd_wnd, end);
}

int toec_frto_ack(struct toec_stack *s, struct toec_tcb *t, toec_u32 acked, int dup,
                  const struct toec_news *n)
{
    struct toec_episode *e = t->rack.episode;

    if (e->frto == TOEC_FRTO_WAIT) {
        /* RFC 5682 2.1 (2a): a duplicate ACK, or an ACK of all data, does not show whether the
         * timeout was spurious. With SACK (3.1 (2), R5682-02) a duplicate only updates the
         * scoreboard. */
        if (acked && TOEC_SEQ_LT(t->snd_una, t->recover) && can_send_new(t)) {
            /* (2b), R5682-01: two new segments, including slow start's growth for this ACK */
            e->frto = TOEC_FRTO_NEW;
            if (!toec_cc_owns_cwnd(t))
                t->cwnd = toec_pipe(t) + t->mss;
        } else if (acked || (dup && !(t->flags & TOEC_F_SACK))) {
            e->frto = TOEC_FRTO_OFF;
        }
    } else if (e->frto == TOEC_FRTO_NEW && (acked || dup)) {
        e->frto = TOEC_FRTO_OFF;
        if (n->orig && e->undo.on) { /* (3b): data that was not retransmitted has arrived */
            undo(s, t, n->now);
            return 1;
        }
        if (t->cwnd > 3u * t->mss && !toec_cc_owns_cwnd(t)) /* (3a) */
            t->cwnd = 3u * t->mss;
    }
    return 0;
}
