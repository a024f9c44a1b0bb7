/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_recover.c - loss recovery (RFC 5681, RFC 6675 with SACK, RFC 6582 without, RFC 3042): when to
 * enter, what to send next, how much may be on its way.
 */
#include "tcp.h"

/* Outstanding, not SACKed bytes of [from, to). */
static toec_u32 unsacked(const struct toec_tcb *t, toec_u32 from, toec_u32 to)
{
    if (TOEC_SEQ_GE(from, to))
        return 0;
    return to - from - ((t->flags & TOEC_F_SACKED) ? toec_sack_bytes(t, from, to) : 0);
}

toec_u32 toec_pipe(const struct toec_tcb *t)
{
    if (t->flags & TOEC_F_SACK) {
        toec_u32 lost;

        if (!(t->flags & TOEC_F_FAST))
            return unsacked(t, t->snd_una, t->snd_nxt);
        /* RFC 6675 4, SetPipe: what is not lost, and what was sent again. */
        lost = toec_sack_lost(t);
        return unsacked(t, lost, t->snd_max) + unsacked(t, t->snd_una, t->high_rxt);
    }
    /* Without SACK each duplicate ACK says that one segment has left (RFC 6582 3.2). */
    if (t->snd_nxt - t->snd_una <= (toec_u32)t->dupacks * t->mss)
        return 0;
    return t->snd_nxt - t->snd_una - (toec_u32)t->dupacks * t->mss;
}

static void enter_fast(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    TOEC_COUNT(s, tcp_fast_recoveries);
    t->recover = t->snd_max;
    toec_cc_congested(t, TOEC_CC_LOSS, now);
    if (!toec_cc_owns_cwnd(t))
        t->cwnd = t->cc.ssthresh;
    t->high_rxt = t->snd_una;
    t->lost_mark = t->snd_una;
    t->head_mark = t->snd_max;
    t->flags = (t->flags | TOEC_F_FAST | TOEC_F_RTX_HEAD) & ~TOEC_F_RESCUE;
    toec_ecn_cut(t);
}

static void leave_fast(struct toec_tcb *t, toec_time now)
{
    toec_u32 flight = t->snd_max - t->snd_una;

    t->flags &= ~(TOEC_F_FAST | TOEC_F_RTX_HEAD);
    t->dupacks = 0;
    toec_cc_recovered(t, now);
    if (toec_cc_owns_cwnd(t))
        return;
    t->cwnd = t->cc.ssthresh;
    /* RFC 6582 3.2 (3): no burst when little is outstanding; with SACK pipe bounds it already */
    if (!(t->flags & TOEC_F_SACK)) {
        flight = (flight > t->mss ? flight : t->mss) + t->mss;
        if (t->cwnd > flight)
            t->cwnd = flight;
    }
}

static void in_fast(struct toec_tcb *t, toec_u32 acked, int dup, toec_time now)
{
    if (TOEC_SEQ_GE(t->snd_una, t->recover)) {
        leave_fast(t, now);
        return;
    }
    if (acked) {
        if (TOEC_SEQ_LT(t->high_rxt, t->snd_una))
            t->high_rxt = t->snd_una;
        if (!(t->flags & TOEC_F_SACK)) {
            /* Partial ACK (RFC 6582 3.2 (3)): the next hole starts here; deflate by what was
             * acknowledged and add one segment back. */
            toec_u32 segs = acked / t->mss;

            if (segs > 1)
                t->dupacks = t->dupacks > segs - 1 ? (toec_u8)(t->dupacks - (segs - 1)) : 0;
            t->flags |= TOEC_F_RTX_HEAD;
        }
    } else if (dup && t->dupacks < 255) {
        t->dupacks++;
    }
}

static void in_open(struct toec_stack *s, struct toec_tcb *t, toec_u32 acked, int dup,
                    toec_time now)
{
    int lost;

    if (acked)
        t->dupacks = 0;
    if (!dup)
        return;
    if (t->dupacks < 255)
        t->dupacks++;
    if (t->flags & TOEC_F_SACK)
        lost = t->dupacks >= TOEC_DUPTHRESH || TOEC_SEQ_GT(toec_sack_lost(t), t->snd_una);
    else /* RFC 6582 3.2 (2): duplicates of data resent by a timeout are no news */
        lost = t->dupacks >= TOEC_DUPTHRESH && TOEC_SEQ_GT(t->snd_una, t->recover);
    if (lost)
        enter_fast(s, t, now);
    /* else limited transmit (RFC 3042): the pipe is one segment smaller, so output sends one */
}

/*
 * Without the send time of each segment (RFC 8985), but in its spirit: fewer than DupThresh SACKed
 * segments, or SACKs of what was sent after the first segment's retransmission, mean loss as well,
 * unless a quarter of a round trip shows that it was reordering.
 */
static void start_reo(struct toec_stack *s, struct toec_tcb *t, enum toec_reo what, toec_time now)
{
    if (t->reo) {
        if ((toec_u8)what > t->reo)
            t->reo = (toec_u8)what;
        return;
    }
    t->reo = (toec_u8)what;
    t->reo_at = toec_ticks(now) + 1 + (t->srtt >> 15);
    toec_due(s, t, t->reo_at, now);
}

void toec_reo_expired(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    enum toec_reo what = (enum toec_reo)t->reo;

    t->reo = TOEC_REO_NONE;
    if (!t->n_sacked)
        return;
    if (what == TOEC_REO_HEAD) {
        if (!(t->flags & (TOEC_F_FAST | TOEC_F_LOSS)))
            return;
        TOEC_COUNT(s, tcp_lost_retransmits);
        t->flags |= TOEC_F_RTX_HEAD;
    } else {
        if (t->flags & TOEC_F_LOSS)
            return;
        if (!(t->flags & TOEC_F_FAST))
            enter_fast(s, t, now);
        t->lost_mark = t->sacked[t->n_sacked - 1].start;
    }
    toec_pend(s, t);
}

/* New SACKs have come: what do they say beyond what IsLost() has concluded? */
static void watch_holes(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    const struct toec_iv *top = &t->sacked[t->n_sacked - 1];

    if ((t->flags & TOEC_F_FAST) && TOEC_SEQ_GT(top->end, t->head_mark))
        start_reo(s, t, TOEC_REO_HEAD, now);
    else if (t->flags & TOEC_F_LOSS)
        start_reo(s, t, TOEC_REO_HEAD, now);
    else if (TOEC_SEQ_LT(toec_sack_lost(t), top->start))
        start_reo(s, t, TOEC_REO_HOLES, now);
}

void toec_ack_recovery(struct toec_stack *s, struct toec_tcb *t, toec_u32 acked, int dup,
                       toec_time now)
{
    if (acked) {
        t->head_mark = t->snd_max; /* of the next hole; when it was resent is not known */
        t->reo = TOEC_REO_NONE;
    }
    if (t->flags & TOEC_F_FAST) {
        in_fast(t, acked, dup, now);
    } else if (t->flags & TOEC_F_LOSS) {
        if (TOEC_SEQ_GE(t->snd_una, t->recover)) {
            t->flags &= ~TOEC_F_LOSS;
            t->dupacks = 0;
            toec_cc_recovered(t, now);
        }
    } else {
        in_open(s, t, acked, dup, now);
    }
    if (t->n_sacked && dup)
        watch_holes(s, t, now);
}

void toec_rto_recovery(struct toec_tcb *t, toec_time now)
{
    /* RFC 5681 3.1: ssthresh falls at the first timeout of a segment and is then held. */
    if (t->rexmits == 1)
        toec_cc_congested(t, TOEC_CC_RTO, now);
    if (!toec_cc_owns_cwnd(t))
        t->cwnd = t->mss; /* R5681-05 */
    t->recover = t->snd_max;
    t->dupacks = 0;
    t->flags = (t->flags | TOEC_F_LOSS) & ~(TOEC_F_FAST | TOEC_F_RTX_HEAD);
    t->snd_nxt = t->snd_una;
    t->high_rxt = t->snd_una;
    t->reo = TOEC_REO_NONE;
    t->probe_owed = 0;
    toec_ecn_cut(t);
    /* The peer may have thrown away what it SACKed (RFC 2018 8): it has when the first byte not
     * acknowledged is SACKed; and when a timeout did not help, it is assumed to have. */
    if (t->n_sacked && (t->rexmits > 1 || t->sacked[0].start == t->snd_una))
        toec_sack_clear(t);
}

void toec_lose_all(struct toec_tcb *t, toec_time now)
{
    (void)now;
    t->flags = (t->flags | TOEC_F_LOSS) & ~(TOEC_F_FAST | TOEC_F_RTX_HEAD | TOEC_F_RTT);
    t->recover = t->snd_max;
    t->snd_nxt = t->snd_una;
    t->dupacks = 0;
}

/* RFC 6675 4, NextSeg() rules 1, 3 and 4 (new data, rule 2, goes between: `new_data`). */
static int next_sack(struct toec_tcb *t, int new_data, toec_u32 *start, toec_u32 *end)
{
    toec_u32 from = TOEC_SEQ_GT(t->high_rxt, t->snd_una) ? t->high_rxt : t->snd_una;
    toec_u32 lost = toec_sack_lost(t), top;

    if (toec_sack_hole(t, from, lost, start, end))
        return 1;
    if (new_data || !t->n_sacked)
        return 0;
    top = t->sacked[t->n_sacked - 1].start;
    if (toec_sack_hole(t, from, top, start, end))
        return 1;
    if (t->flags & TOEC_F_RESCUE)
        return 0;
    top = t->sacked[t->n_sacked - 1].end;
    if (!TOEC_SEQ_LT(top, t->snd_max))
        return 0;
    t->flags |= TOEC_F_RESCUE;
    *start = t->snd_max - top > t->mss ? t->snd_max - t->mss : top;
    *end = t->snd_max;
    return 1;
}

int toec_next_rtx(struct toec_tcb *t, int new_data, toec_u32 *start, toec_u32 *end)
{
    if (t->flags & TOEC_F_RTX_HEAD) {
        if (t->snd_una == t->snd_max)
            return 0;
        return toec_sack_hole(t, t->snd_una, t->snd_max, start, end);
    }
    if (t->flags & TOEC_F_FAST)
        return (t->flags & TOEC_F_SACK) ? next_sack(t, new_data, start, end) : 0;
    /* After a timeout: everything again from snd_nxt on, but for what the peer holds. */
    if (TOEC_SEQ_LT(t->snd_nxt, t->snd_max)) {
        if (toec_sack_hole(t, t->snd_nxt, t->snd_max, start, end))
            return 1;
        t->snd_nxt = t->snd_max;
    }
    return 0;
}
