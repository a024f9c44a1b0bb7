/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_rack.c - RACK-TLP (RFC 8985): detects lost segments by comparing their send times with those
 * of segments delivered since; and the tail loss probe, which elicits the ACK needed for that.
 *
 * Used with SACK only (R8985-01). Without SACK, duplicate ACKs are counted (RFC 5681, RFC 6582).
 */
#include "tcp_rack.h"

#include "tcb.h"
#include "tcp_runs.h"
#include "tcp_timer.h"

#define REORDERING_MAX 300u /* tcp_max_reordering of Linux */

/* ---- RACK ---- */

/* RACK_sent_after() of RFC 8985 6.2. */
static int sent_after(toec_u32 t1, toec_u32 seq1, toec_u32 t2, toec_u32 seq2)
{
    return TOEC_SEQ_GT(t1, t2) || (t1 == t2 && TOEC_SEQ_GT(seq1, seq2));
}

/* Returns not 0 when the ACK may be for an earlier transmission than the run's time says, so that
 * its RTT is not valid (R8985-03): of a retransmission for the original, of merged runs for older
 * data. Stamps hold 22 bits of a tick. An ACK of SACKed data echoes a timestamp from before the gap
 * (RFC 7323 4.3); then only the RTT can decide, as in Linux. */
static int ambiguous(const struct toec_tcb *t, const struct toec_run *r, toec_u32 rtt,
                     const struct toec_news *n)
{
    int again = (r->marks & TOEC_RUN_RTX) != 0;

    if (!again && !(r->rate.in_flight & TOEC_TX_MERGED))
        return 0;
    if (again && n->has_ts && !n->by_sack && (toec_i32)((n->tsecr - (r->sent >> 10)) << 10) < 0)
        return 1;
    return (toec_i32)rtt < (toec_i32)t->min_rtt; /* -1: see toec_runs_resent() */
}

/* Updates the reordering distance, in segments: a segment was overtaken by data up to `bytes`
 * beyond its end. Bounded as in Linux (tcp_max_reordering). */
static void note_distance(struct toec_tcb *t, toec_u32 bytes)
{
    toec_u32 segs = bytes / t->mss + 1;

    segs = TOEC_MIN(segs, REORDERING_MAX);
    if (segs > t->rack.reordered)
        t->rack.reordered = (toec_u16)segs;
}

void toec_rack_delivered(struct toec_tcb *t, const struct toec_run *r, toec_u32 end,
                         struct toec_news *n)
{
    struct toec_rack *k = &t->rack;
    struct toec_episode *e = k->episode;
    toec_u32 rtt = n->stamp - r->sent;

    if (!(r->marks & TOEC_RUN_RTX)) {
        if ((r->marks & TOEC_RUN_LOST) && TOEC_SEQ_LE(end, t->recover))
            n->orig = 1; /* a run that the timeout did not mark lost proves nothing */
        if (TOEC_SEQ_LT(end, e->fack)) { /* 6.2 step 3: RACK_detect_reordering() */
            k->reordering = 1;
            t->tally.reorderings++;
            note_distance(t, e->fack - end);
        }
    }
    if (TOEC_SEQ_GT(end, e->fack))
        e->fack = end;
    /* 6.2 step 2: RACK_update(). Uses only the most recently sent segment (R8985-02). */
    if (ambiguous(t, r, rtt, n) || !sent_after(r->sent, end, e->xmit_ts, e->end_seq))
        return;
    e->xmit_ts = r->sent;
    e->end_seq = end;
    e->rtt = rtt;
}

/* Returns not 0 when more than (DupThresh - 1) segments are SACKed, by bytes or by ranges
 * (R6675-01: IsLost(SND.UNA)). */
static int many_sacked(const struct toec_tcb *t)
{
    const struct toec_rack *k = &t->rack;
    unsigned i, pieces = 0;

    if (k->sacked > (TOEC_DUPTHRESH - 1) * (toec_u32)t->mss)
        return 1;
    if (k->sacked < TOEC_DUPTHRESH)
        return 0;
    for (i = 0; i < k->n && pieces < TOEC_DUPTHRESH; i++)
        pieces += k->run[i].marks & TOEC_RUN_SACKED;
    return pieces >= TOEC_DUPTHRESH;
}

/* R8985-04 */
toec_u32 toec_rack_reo_wnd(const struct toec_tcb *t)
{
    const struct toec_rack *k = &t->rack;
    toec_u64 wnd;

    if (!k->reordering && ((t->flags & (TOEC_F_FAST | TOEC_F_LOSS)) || many_sacked(t)))
        return 0;
    wnd = ((toec_u64)t->min_rtt * (k->reo_more + 1u)) >> 2;
    return wnd < t->srtt >> 3 ? (toec_u32)wnd : t->srtt >> 3;
}

toec_u32 toec_rack_detect(struct toec_stack *s, struct toec_tcb *t, toec_time now, int *again)
{
    struct toec_rack *k = &t->rack;
    struct toec_episode *e = k->episode;
    toec_u32 stamp = toec_stamp(now), due = e->rtt + toec_rack_reo_wnd(t), before = k->lost;
    toec_i32 wait = 0;
    unsigned i;

    *again = 0;
    for (i = 0; i < k->n; i++) {
        const struct toec_run *r = &k->run[i];
        toec_i32 left;

        if ((r->marks & (TOEC_RUN_SACKED | TOEC_RUN_LOST)) ||
            !sent_after(e->xmit_ts, e->end_seq, r->sent, r->end))
            continue;
        left = (toec_i32)(r->sent + due - stamp);
        if (left <= 0) {
            *again |= (r->marks & TOEC_RUN_RTX) && TOEC_SEQ_GE(r->sent, e->reduced);
            toec_runs_lose(t, i, now);
        } else if (left > wait) {
            wait = left;
        }
    }
    k->reo_set = wait != 0;
    if (wait) { /* R8985-05: the remaining time, rounded up to a tick */
        e->reo_at = toec_ticks(now + ((toec_time)(toec_u32)wait << 10)) + 1;
        toec_due(s, t, e->reo_at, now);
    }
    return k->lost - before;
}

void toec_rack_rto(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    struct toec_rack *k = &t->rack;
    toec_u32 stamp = toec_stamp(now), due = k->episode->rtt + toec_rack_reo_wnd(t);
    int sack = (t->flags & TOEC_F_SACK) != 0;
    unsigned i;

    toec_runs_purge(t);
    /* The peer may have discarded data that it SACKed (RFC 2018 8). As in RFC 6675 5.1, the marks
     * are kept unless there is a sign of that: the first unacknowledged byte is SACKed, or a
     * timeout did not help (R2018-07). */
    if (k->sacked && (t->rexmits > 1 || (k->run[0].marks & TOEC_RUN_SACKED))) {
        TOEC_COUNT(s, tcp_reneging);
        toec_runs_unmark(t, TOEC_RUN_SACKED);
        sack = 0;
    }
    /* R8985-09; without SACK only the timeout is known, so all data is marked lost. */
    for (i = 0; i < k->n; i++) {
        if (i == 0 || !sack || (toec_i32)(k->run[i].sent + due - stamp) <= 0)
            toec_runs_lose(t, i, now);
    }
    k->reo_set = 0;
}

void toec_rack_recovered(struct toec_tcb *t)
{
    struct toec_rack *k = &t->rack;

    if (k->reo_persist && --k->reo_persist == 0)
        k->reo_more = 0;
}

void toec_rack_dsack(struct toec_stack *s, struct toec_tcb *t, const struct toec_news *n)
{
    struct toec_rack *k = &t->rack;
    struct toec_episode *e = k->episode;
    toec_u32 segs = (n->dsack_end - n->dsack_start + t->mss - 1) / t->mss;

    TOEC_COUNT(s, tcp_dsack_received);
    t->tally.dsacks += segs;
    /* More duplicates than retransmissions: the network duplicates segments, or the peer reports
     * false ones. */
    if (t->tally.rtx_dsacks + segs > t->tally.rtx_total) {
        TOEC_COUNT(s, tcp_dsack_ignored);
        return;
    }
    t->tally.rtx_dsacks += segs;
    /* Probes are duplicates by design and show nothing about reordering. */
    if (((t->flags & TOEC_F_TLP) && e->tlp_rtx && n->dsack_end == e->tlp_end) ||
        (e->rescued && n->dsack_end == e->rescue_end))
        return;
    if (e->dsack_set && TOEC_SEQ_GE(t->snd_una, e->dsack_round))
        e->dsack_set = 0;
    if (e->dsack_set)
        return;
    e->dsack_set = 1;
    e->dsack_round = t->snd_max;
    k->reo_persist = 16;
    if (k->reo_more < 254)
        k->reo_more++;
}

/* ---- TLP ---- */

/*
 * RFC 8985 7.2: two round trips, plus the peer's maximum ACK delay for a single segment (R8985-06).
 * No probe in recovery, with SACKed data outstanding, without SACK, after a timeout, or while one
 * is in flight (R8985-07). rtx_at bounds it by the RTO.
 */
toec_u32 toec_tlp_after(const struct toec_tcb *t)
{
    if ((t->flags & (TOEC_F_SACK | TOEC_F_SACKED | TOEC_F_FAST | TOEC_F_LOSS | TOEC_F_TLP)) !=
            TOEC_F_SACK ||
        t->state < TOEC_ESTABLISHED || t->srtt == 0 || (t->rexmits | t->backoff))
        return 0;
    /* Two ticks of margin for the clock and the peer's scheduling. */
    return (t->srtt >> 12) + 2 + (t->snd_max - t->snd_una <= t->mss ? TOEC_TLP_DELACK : 0);
}

void toec_tlp_sent(struct toec_stack *s, struct toec_tcb *t, int again, toec_time now)
{
    struct toec_episode *e = toec_episode_get(s, t, now);

    t->flags |= TOEC_F_TLP;
    e->tlp_rtx = again != 0;
    e->tlp_end = t->snd_max;
    e->tlp_flight = t->snd_max - t->snd_una;
}

int toec_tlp_ack(struct toec_tcb *t, toec_u32 ack, int dup, const struct toec_news *n)
{
    const struct toec_episode *e = t->rack.episode;

    if (TOEC_SEQ_LT(ack, e->tlp_end))
        return 0;
    if (!e->tlp_rtx || (n->dsack && n->dsack_end == e->tlp_end)) {
        t->flags &= ~TOEC_F_TLP; /* the original arrived, whether or not the probe did */
    } else if (TOEC_SEQ_GT(ack, e->tlp_end)) {
        t->flags &= ~TOEC_F_TLP; /* no duplicate was reported: the probe repaired a loss */
        return 1;
    } else if (dup) {
        t->flags &= ~TOEC_F_TLP; /* the second ACK for the same data: both arrived */
    }
    return 0;
}

/* ---- information for toec_info ---- */

static enum toec_ca_state ca_state(const struct toec_tcb *t)
{
    if (t->flags & TOEC_F_LOSS)
        return TOEC_CA_LOSS;
    if (t->flags & TOEC_F_FAST)
        return TOEC_CA_RECOVERY;
    if (toec_ecn_is_cut(t))
        return TOEC_CA_CWR;
    return t->rack.sacked || t->dupacks ? TOEC_CA_DISORDER : TOEC_CA_OPEN;
}

void toec_rack_info(const struct toec_tcb *t, struct toec_info *out)
{
    const struct toec_rack *k = &t->rack;
    toec_u32 from = t->snd_una, left = (toec_u32)t->dupacks * t->mss;
    unsigned i;

    for (i = 0; i < k->n; i++) {
        const struct toec_run *r = &k->run[i];

        if (TOEC_SEQ_LE(r->end, from))
            continue; /* acknowledged but not yet dropped from the record */
        if (r->marks == TOEC_RUN_RTX)
            out->retrans_out += r->end - from;
        from = r->end;
    }
    out->ca_state = (toec_u8)ca_state(t);
    out->sacked = t->flags & TOEC_F_SACK ? k->sacked : TOEC_MIN(left, out->in_flight);
    /* A tail loss probe is a retransmission of data that was not considered lost. */
    out->lost = k->lost + (t->flags & (TOEC_F_FAST | TOEC_F_LOSS) ? out->retrans_out : 0);
    out->lost_total = t->tally.lost_total;
    out->dsacks = t->tally.dsacks;
    out->reord_seen = t->tally.reorderings;
    out->undone = t->tally.undone;
    out->bytes_retrans = t->tally.rtx_bytes;
    out->reordering = (toec_u16)TOEC_MAX(k->reordered, TOEC_DUPTHRESH);
    out->timeouts = t->rexmits;
    out->backoff = t->backoff;
}
