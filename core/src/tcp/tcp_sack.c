/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_sack.c - selective acknowledgment (RFC 2018) and DSACK (RFC 2883). Receive side: the bounded
 * list of intervals received beyond a gap (their bytes are already in the receive buffer). Send
 * side: the peer's SACK blocks, which are applied to the record of transmissions (tcp_runs.c).
 */
#include "tcp_sack.h"

#include "tcp_runs.h"
#include "tcp_tables.h"

/* Inserts [start, end) at index `at` of n intervals. The loop runs upwards with a carried element:
 * compilers would turn a move from the end into a memmove(), which core/ does not have. */
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

void toec_dsack_queued(struct toec_tcb *t, toec_u32 start, toec_u32 end)
{
    toec_u32 first = end, last = end;
    unsigned i;

    for (i = 0; i < t->n_ooo; i++) {
        const struct toec_iv *v = &t->ooo[i];
        toec_u32 from = TOEC_SEQ_GT(v->start, start) ? v->start : start;

        if (TOEC_SEQ_LT(from, v->end) && TOEC_SEQ_LT(from, first)) {
            first = from;
            last = TOEC_SEQ_LT(v->end, end) ? v->end : end;
        }
    }
    toec_dsack_note(t, first, last);
}

void toec_ooo_init(struct toec_tcb *t)
{
    t->ooo = t->ooo_own;
    t->ooo_room = TOEC_OOO_OWN;
    t->n_ooo = 0;
}

void toec_ooo_clear(struct toec_stack *s, struct toec_tcb *t)
{
    if (t->ooo_room != TOEC_OOO_OWN)
        toec_pool_put(&s->tcp->gaps, t->ooo);
    toec_ooo_init(t);
}

int toec_ooo_more(struct toec_stack *s, struct toec_tcb *t)
{
    struct toec_iv *more;

    if (t->ooo_room != TOEC_OOO_OWN)
        return 0;
    more = toec_pool_get(&s->tcp->gaps);
    if (!more) {
        TOEC_COUNT(s, tcp_no_record);
        return 0;
    }
    memcpy(more, t->ooo_own, sizeof(t->ooo_own));
    t->ooo = more;
    t->ooo_room = TOEC_OOO_MAX;
    return 1;
}

int toec_ooo_add(struct toec_stack *s, struct toec_tcb *t, toec_u32 start, toec_u32 end)
{
    unsigned i, n = 0;
    unsigned touching = 0;

    for (i = 0; i < t->n_ooo; i++)
        touching += TOEC_SEQ_LE(start, t->ooo[i].end) && TOEC_SEQ_GE(end, t->ooo[i].start);
    if (touching == 0 && t->n_ooo == t->ooo_room && !toec_ooo_more(s, t))
        return -1;
    toec_dsack_queued(t, start, end);
    /* Merge all intervals that overlap or touch; the rest moves up. */
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

toec_u32 toec_ooo_advance(struct toec_stack *s, struct toec_tcb *t, toec_u32 rcv_nxt)
{
    unsigned i, n = 0;
    toec_u32 to = rcv_nxt;

    /* Intervals neither overlap nor touch, so at most one begins at or before rcv_nxt and extends
     * beyond it. In-order data has replaced those entirely below. */
    for (i = 0; i < t->n_ooo; i++) {
        if (TOEC_SEQ_GT(t->ooo[i].start, rcv_nxt))
            t->ooo[n++] = t->ooo[i];
        else if (TOEC_SEQ_GT(t->ooo[i].end, to))
            to = t->ooo[i].end;
    }
    t->n_ooo = (toec_u8)n;
    if (n == 0)
        toec_ooo_clear(s, t);
    if (n == 0 && !toec_dsack_due(t))
        t->flags &= ~TOEC_F_OOO;
    return to;
}

/* ---- duplicates (RFC 2883) ---- */

void toec_dsack_note(struct toec_tcb *t, toec_u32 start, toec_u32 end)
{
    if (!(t->flags & TOEC_F_SACK) || TOEC_SEQ_GE(start, end))
        return;
    t->dsack.start = start;
    t->dsack.end = end;
    t->flags |= TOEC_F_OOO;
}

/* ---- send side: what the peer reports ---- */

/* Returns not 0 when the first block is a DSACK (RFC 2883 4): below SND.UNA, or within the second
 * block. */
static int is_dsack(const struct toec_tcb *t, const struct toec_seg *g, toec_u32 una)
{
    const struct toec_iv *b = g->sack;

    if (TOEC_SEQ_GE(b->start, b->end) || TOEC_SEQ_GT(b->end, t->snd_max) ||
        TOEC_SEQ_LT(b->start, una - t->max_wnd))
        return 0;
    if (TOEC_SEQ_LE(b->end, t->snd_una))
        return 1;
    return g->n_sack > 1 && TOEC_SEQ_GE(b->start, b[1].start) && TOEC_SEQ_LE(b->end, b[1].end);
}

/* Inserts a block into n blocks in ascending order. */
static void put_sorted(struct toec_iv *list, unsigned n, const struct toec_iv *block)
{
    for (; n > 0 && TOEC_SEQ_LT(block->start, list[n - 1].start); n--)
        list[n] = list[n - 1];
    list[n] = *block;
}

void toec_sack_input(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g,
                     toec_u32 una, struct toec_news *n)
{
    struct toec_iv block[4];
    unsigned i, count = 0, skip = 0;

    if (is_dsack(t, g, una)) {
        n->dsack = 1;
        n->dsack_start = g->sack[0].start;
        n->dsack_end = g->sack[0].end;
        skip = 1;
    }
    n->by_sack = 1;
    /* In ascending order, as in RFC 8985 6.2 step 3: the order of the blocks of one ACK is no
     * reordering. Blocks below SND.UNA are obsolete; blocks beyond SND.MAX and empty blocks are
     * invalid. */
    for (i = skip; i < g->n_sack; i++) {
        const struct toec_iv *b = &g->sack[i];

        if (TOEC_SEQ_LT(b->start, b->end) && TOEC_SEQ_LE(b->end, t->snd_max) &&
            TOEC_SEQ_GE(b->start, t->snd_una))
            put_sorted(block, count++, b);
    }
    for (i = 0; i < count; i++)
        toec_runs_sacked(s, t, block[i].start, block[i].end, n);
}
