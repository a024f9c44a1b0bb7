/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_sack.c - the two bounded interval lists of a flow: what was received beyond a gap (only
 * intervals; the bytes are in place already) and what the peer has SACKed (RFC 2018, RFC 6675).
 */
#include "tcp.h"

/* Puts [start, end) at index `at` of n intervals. Carried along rather than moved from the end, as
 * compilers make that a memmove(), which core/ does not have. */
static void insert(struct toec_iv *list, unsigned n, unsigned at, toec_u32 start, toec_u32 end)
{
    struct toec_iv carry, next;

    carry.start = start;
    carry.end = end;
    for (; at <= n; at++) {
        next = list[at];
        list[at] = carry;
        carry = next;
    }
}

/* ---- receive side: most recent first (RFC 2018 4) ---- */

int toec_ooo_add(struct toec_tcb *t, toec_u32 start, toec_u32 end)
{
    unsigned i, n = 0;
    unsigned touching = 0;

    for (i = 0; i < t->n_ooo; i++)
        touching += TOEC_SEQ_LE(start, t->ooo[i].end) && TOEC_SEQ_GE(end, t->ooo[i].start);
    if (touching == 0 && t->n_ooo == TOEC_OOO_MAX)
        return -1;
    /* Everything that overlaps or touches becomes one interval; the rest moves up. */
    for (i = 0; i < t->n_ooo; i++) {
        struct toec_iv v = t->ooo[i];

        if (TOEC_SEQ_LE(start, v.end) && TOEC_SEQ_GE(end, v.start)) {
            if (TOEC_SEQ_LT(v.start, start))
                start = v.start;
            if (TOEC_SEQ_GT(v.end, end))
                end = v.end;
        } else {
            t->ooo[n++] = v;
        }
    }
    insert(t->ooo, n, 0, start, end);
    t->n_ooo = (toec_u8)(n + 1);
    t->flags |= TOEC_F_OOO;
    return 0;
}

toec_u32 toec_ooo_advance(struct toec_tcb *t, toec_u32 rcv_nxt)
{
    unsigned i, n = 0;
    toec_u32 to = rcv_nxt;

    /* Intervals neither overlap nor touch, so at most one begins at or before rcv_nxt and reaches
     * beyond it; those wholly below have been overtaken by in-order data. */
    for (i = 0; i < t->n_ooo; i++) {
        if (TOEC_SEQ_GT(t->ooo[i].start, rcv_nxt))
            t->ooo[n++] = t->ooo[i];
        else if (TOEC_SEQ_GT(t->ooo[i].end, to))
            to = t->ooo[i].end;
    }
    t->n_ooo = (toec_u8)n;
    if (n == 0)
        t->flags &= ~TOEC_F_OOO;
    return to;
}

/* ---- send side: the scoreboard, ascending ---- */

static void scoreboard_drop(struct toec_tcb *t, unsigned from, unsigned count)
{
    unsigned i, n = 0;

    for (i = 0; i < t->n_sacked; i++) {
        if (i < from || i >= from + count)
            t->sacked[n++] = t->sacked[i];
    }
    t->n_sacked = (toec_u8)n;
    if (n == 0)
        t->flags &= ~TOEC_F_SACKED;
}

/* Adds [start, end); returns the bytes that were not SACKed before. */
static toec_u32 scoreboard_add(struct toec_stack *s, struct toec_tcb *t, toec_u32 start,
                               toec_u32 end)
{
    unsigned first = 0, last;
    toec_u32 had = 0;

    while (first < t->n_sacked && TOEC_SEQ_LT(t->sacked[first].end, start))
        first++;
    last = first;
    while (last < t->n_sacked && TOEC_SEQ_LE(t->sacked[last].start, end)) {
        had += t->sacked[last].end - t->sacked[last].start;
        if (TOEC_SEQ_LT(t->sacked[last].start, start))
            start = t->sacked[last].start;
        if (TOEC_SEQ_GT(t->sacked[last].end, end))
            end = t->sacked[last].end;
        last++;
    }
    if (last == first) {
        if (t->n_sacked == TOEC_OOO_MAX) {
            /* Forgetting a SACK costs a needless retransmission, never data. */
            TOEC_COUNT(s, tcp_scoreboard_full);
            return 0;
        }
        insert(t->sacked, t->n_sacked, first, start, end);
        t->n_sacked++;
    } else {
        if (last - first > 1)
            scoreboard_drop(t, first + 1, last - first - 1);
        t->sacked[first].start = start;
        t->sacked[first].end = end;
    }
    t->flags |= TOEC_F_SACKED;
    return end - start - had;
}

toec_u32 toec_sack_input(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g)
{
    toec_u32 added = 0;
    unsigned i;

    for (i = 0; i < g->n_sack; i++) {
        toec_u32 start = g->sack[i].start, end = g->sack[i].end;

        /* A block below SND.UNA reports a duplicate (RFC 2883); anything beyond what was sent, or
         * empty, is no report at all. */
        if (TOEC_SEQ_GE(start, end) || TOEC_SEQ_GT(end, t->snd_max) || TOEC_SEQ_LE(end, t->snd_una))
            continue;
        if (TOEC_SEQ_LT(start, t->snd_una))
            continue;
        added += scoreboard_add(s, t, start, end);
    }
    return added;
}

void toec_sack_ack(struct toec_tcb *t, toec_u32 una)
{
    unsigned n = 0;

    while (n < t->n_sacked && TOEC_SEQ_LE(t->sacked[n].end, una))
        n++;
    if (n)
        scoreboard_drop(t, 0, n);
    if (t->n_sacked && TOEC_SEQ_LT(t->sacked[0].start, una))
        t->sacked[0].start = una;
}

void toec_sack_clear(struct toec_tcb *t)
{
    t->n_sacked = 0;
    t->flags &= ~TOEC_F_SACKED;
}

toec_u32 toec_sack_bytes(const struct toec_tcb *t, toec_u32 from, toec_u32 to)
{
    toec_u32 sum = 0;
    unsigned i;

    for (i = 0; i < t->n_sacked; i++) {
        toec_u32 a = t->sacked[i].start, b = t->sacked[i].end;

        if (TOEC_SEQ_LT(a, from))
            a = from;
        if (TOEC_SEQ_GT(b, to))
            b = to;
        if (TOEC_SEQ_LT(a, b))
            sum += b - a;
    }
    return sum;
}

toec_u32 toec_sack_lost(const struct toec_tcb *t)
{
    toec_u32 bytes = 0, lost = t->snd_una;
    unsigned i = t->n_sacked, above = 0;

    /* RFC 6675 4, IsLost: DupThresh discontiguous SACKed sequences above, or more than
     * (DupThresh - 1) * SMSS bytes of them. */
    while (i > 0) {
        i--;
        above++;
        bytes += t->sacked[i].end - t->sacked[i].start;
        if (above >= TOEC_DUPTHRESH || bytes > (TOEC_DUPTHRESH - 1) * (toec_u32)t->mss) {
            lost = t->sacked[i].start;
            break;
        }
    }
    if ((t->flags & TOEC_F_FAST) && TOEC_SEQ_GT(t->lost_mark, lost))
        lost = t->lost_mark; /* the reordering timer knew it sooner */
    return lost;
}

int toec_sack_hole(const struct toec_tcb *t, toec_u32 from, toec_u32 to, toec_u32 *start,
                   toec_u32 *end)
{
    unsigned i;

    for (i = 0; i < t->n_sacked && TOEC_SEQ_LT(from, to); i++) {
        if (TOEC_SEQ_LT(from, t->sacked[i].start)) {
            *start = from;
            *end = TOEC_SEQ_LT(t->sacked[i].start, to) ? t->sacked[i].start : to;
            return 1;
        }
        if (TOEC_SEQ_LT(from, t->sacked[i].end))
            from = t->sacked[i].end;
    }
    if (TOEC_SEQ_GE(from, to))
        return 0;
    *start = from;
    *end = to;
    return 1;
}
