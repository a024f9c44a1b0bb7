/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_runs.c - the record of transmissions of a flow, described in tcp_rack.h.
 *
 * Its cost is bounded whatever the peer SACKs (CVE-2019-11477, CVE-2019-11478). The record has at
 * most TOEC_RUNS entries. A block is located by bisection and replaces the runs it touches in one
 * move. An ACK has at most four blocks.
 */
#include "tcp_runs.h"

#include "../cc/tcp_record.h"
#include "tcp_tables.h"
#include "tcp_timer.h"

/* The time a run may span, 1/32 SRTT; srtt is stored times 8. */
#define QUANTUM(t) ((t)->srtt >> 8)

static toec_u32 start_of(const struct toec_tcb *t, unsigned i)
{
    return i ? t->rack.run[i - 1].end : t->snd_una;
}

void toec_runs_done(struct toec_stack *s, struct toec_tcb *t)
{
    if (t->rack.record && !(t->cc_ops->flags & TOEC_CC_RECORD))
        toec_record_return(s, t);
}

/* ---- the episode of loss ---- */

/* 2 MSL: that long after the last sign of loss, no segment of the episode and no report about it is
 * in the network any more. */
#define EPISODE_TIME TOEC_TIME_WAIT_T

TOEC_NOINLINE void begin_episode(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    struct toec_episode *e = toec_pool_get(&s->tcp->episodes);

    memset(e, 0, sizeof(*e));
    /* Data delivered so far arrived in order, so it was sent before the outstanding data. */
    e->xmit_ts = (t->rack.n ? t->rack.run[0].sent : toec_stamp(now)) - 1;
    e->end_seq = e->fack = t->snd_una;
    e->rtt = t->srtt >> 3;
    t->rack.episode = e;
}

struct toec_episode *toec_episode_get(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    if (!t->rack.episode)
        begin_episode(s, t, now);
    t->rack.episode->seen_at = toec_ticks(now);
    return t->rack.episode;
}

void toec_episode_put(struct toec_stack *s, struct toec_tcb *t)
{
    if (t->rack.episode)
        toec_pool_put(&s->tcp->episodes, t->rack.episode);
    t->rack.episode = 0;
}

void toec_episode_done(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    const struct toec_episode *e = t->rack.episode;

    if (!e || t->rack.reo_set ||
        (t->flags & (TOEC_F_FAST | TOEC_F_LOSS | TOEC_F_RTX_HEAD | TOEC_F_TLP | TOEC_F_SACKED)))
        return; /* the episode continues with the next data */
    if (toec_ticks(now) - e->seen_at < EPISODE_TIME)
        toec_due(s, t, e->seen_at + EPISODE_TIME, now);
    else
        toec_episode_put(s, t);
}

/* ---- the record ---- */

static void note_marks(struct toec_tcb *t)
{
    if (t->rack.sacked | t->rack.lost)
        t->flags |= TOEC_F_SACKED;
    else
        t->flags &= ~TOEC_F_SACKED;
}

#ifndef RUNS_HELD /* tests/proofs/ uses fewer */
#define RUNS_HELD 16u
#endif

/* Moves n runs between possibly overlapping places, through a buffer on the stack: core/ has no
 * memmove(), and the compiler must not turn this into one. */
static void move_runs(struct toec_run *to, const struct toec_run *from, unsigned n)
{
    struct toec_run hold[RUNS_HELD], *volatile by = hold;
    unsigned part, at;

    for (at = 0; at < n; at += part) {
        unsigned where;

        part = TOEC_MIN(n - at, RUNS_HELD);
        where = to < from ? at : n - at - part; /* upwards: begin with the last */
        memcpy(by, &from[where], part * sizeof(hold[0]));
        memcpy(&to[where], by, part * sizeof(hold[0]));
    }
}

/* Replaces `del` runs at index `at` by m runs; there is room. */
static void splice(struct toec_rack *k, unsigned at, unsigned del, const struct toec_run *put,
                   unsigned m)
{
    if (del != m)
        move_runs(&k->run[at + m], &k->run[at + del], k->n - at - del);
    if (m)
        memcpy(&k->run[at], put, m * sizeof(put[0]));
    k->n = (toec_u8)(k->n + m - del);
}

/* Returns the index of the first run that ends beyond seq. */
static unsigned find(const struct toec_rack *k, toec_u32 seq)
{
    unsigned lo = 0, hi = k->n;

    while (lo < hi) {
        unsigned mid = (lo + hi) / 2;

        if (TOEC_SEQ_GT(k->run[mid].end, seq))
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

void toec_runs_purge(struct toec_tcb *t)
{
    struct toec_rack *k = &t->rack;
    struct toec_episode *e = k->episode;
    unsigned i = 0;

    while (i < k->n && TOEC_SEQ_LE(k->run[i].end, t->snd_una))
        i++;
    if (i == 0)
        return;
    if (e) { /* Delivered while ACKs bypassed the record: in order, so the last was sent last. */
        e->xmit_ts = k->run[i - 1].sent;
        e->end_seq = k->run[i - 1].end;
        e->rtt = t->srtt >> 3;
    }
    splice(k, 0, i, 0, 0);
}

void toec_runs_clear(struct toec_tcb *t)
{
    t->rack.n = 0;
    t->rack.sacked = t->rack.lost = 0;
    note_marks(t);
}

/* Merges neighbours with equal marks that were all sent within `quantum` of the first. */
static void compact(struct toec_rack *k, toec_u32 quantum)
{
    toec_u32 first = k->run[0].sent;
    unsigned i, n = 0;

    for (i = 1; i < k->n; i++) {
        struct toec_run *a = &k->run[n], *b = &k->run[i];
        toec_u32 apart = b->sent - first;

        if ((toec_i32)apart < 0)
            apart = 0u - apart;
        if (a->marks == b->marks && apart <= quantum) {
            a->end = b->end;
            a->rate.in_flight |= TOEC_TX_MERGED;
            if (TOEC_SEQ_GT(b->sent, a->sent))
                a->sent = b->sent;
        } else {
            if (++n != i)
                k->run[n] = *b;
            first = b->sent;
        }
    }
    k->n = (toec_u8)(n + 1);
}

/* Counts neighbours with equal marks: an upper bound of the runs that compact() can save. */
static unsigned alike(const struct toec_rack *k)
{
    unsigned i, n = 0;

    for (i = 1; i < k->n; i++)
        n += k->run[i].marks == k->run[i - 1].marks;
    return n;
}

/* Makes room for `need` more runs, as far as possible. Returns 0 when nothing has moved: a record
 * filled by a hostile peer's SACKs has hardly any mergeable neighbours, so it is only scanned, not
 * rewritten at every ACK. */
static int make_room(struct toec_stack *s, struct toec_tcb *t, unsigned need)
{
    struct toec_rack *k = &t->rack;
    unsigned before = k->n, most;

    toec_runs_purge(t);
    if (k->n + need > k->room && !k->record && toec_record_borrow(s, t))
        return 1;
    if (k->n + need > k->room) {
        most = alike(k);
        if (most > need)
            compact(k, QUANTUM(t) * 4);
        if (most && k->n + need > k->room)
            compact(k, 0x7fffffffu);
    }
    return k->n != before;
}

/* ---- sent ---- */

/* Begins a new run for new data up to `end`. */
TOEC_NOINLINE void begin_run(struct toec_stack *s, struct toec_tcb *t, toec_u32 end, toec_time now)
{
    struct toec_rack *k = &t->rack;
    struct toec_episode *e = k->episode;
    struct toec_run *r = &k->run[k->n];
    toec_u32 stamp = toec_stamp(now), absorbs = 0;

    if (t->snd_una == t->snd_max) {
        k->n = 0;
        r = k->run;
        if (e) {
            e->xmit_ts = stamp - 1; /* all delivered data was sent before */
            e->rtt = t->srtt >> 3;
        }
    } else if (k->n == k->room) {
        if (make_room(s, t, 1)) {
            r = &k->run[k->n];
        } else { /* no equal neighbours: the last run absorbs the data and loses its marks */
            r--;
            k->n--;
            if (r->marks & TOEC_RUN_SACKED)
                k->sacked -= t->snd_max - start_of(t, k->n);
            if (r->marks & TOEC_RUN_LOST)
                k->lost -= t->snd_max - start_of(t, k->n);
            note_marks(t);
            absorbs = TOEC_TX_MERGED; /* its time is later than that of older data in it */
            TOEC_COUNT(s, tcp_scoreboard_full);
        }
    }
    k->began = stamp;
    /* The next retransmission must begin a new run. If it joined an earlier one, older
     * retransmissions would appear to be sent after this data, and their delivery would mark this
     * data lost. */
    if (e)
        e->rtx_end = end;
    r->end = end;
    r->sent = stamp;
    r->marks = 0;
    r->rate.in_flight = 0;
    if (toec_rate_wanted(t))
        toec_rate_sent(t, &r->rate, toec_pipe(t), end - t->snd_max, now);
    r->rate.in_flight |= absorbs;
    k->n++;
}

void toec_runs_sent(struct toec_stack *s, struct toec_tcb *t, toec_u32 end, toec_time now)
{
    struct toec_rack *k = &t->rack;
    toec_u32 stamp = toec_stamp(now);

    if (t->snd_una != t->snd_max && k->n && k->run[k->n - 1].marks == 0 &&
        stamp - k->began <= QUANTUM(t)) {
        k->run[k->n - 1].end = end;
        k->run[k->n - 1].sent = stamp;
        return;
    }
    begin_run(s, t, end, now);
}

/* Returns the stamp of a retransmission. New data sent earlier within the same stamp must not
 * appear to be sent later (with equal stamps RACK_sent_after() compares sequence numbers). */
static toec_u32 stamp_again(const struct toec_rack *k, toec_time now)
{
    toec_u32 stamp = toec_stamp(now);

    return stamp + (k->n && k->run[k->n - 1].sent == stamp);
}

/* Returns the number of parts of runs a and b that remain outside [start, end), which begins in a
 * and ends in b: 0 to 2. */
static unsigned parts_beside(const struct toec_tcb *t, unsigned a, toec_u32 start, unsigned b,
                             toec_u32 end)
{
    return (unsigned)(TOEC_SEQ_LT(start_of(t, a), start) + TOEC_SEQ_LT(end, t->rack.run[b].end));
}

/* Returns not 0 when [start, end) can replace runs a to b as one run. */
static int fits(const struct toec_tcb *t, unsigned a, toec_u32 start, unsigned b, toec_u32 end)
{
    return t->rack.n + parts_beside(t, a, start, b, end) <= t->rack.room + b - a;
}

/* Records the retransmission of [a, b), all in run i; returns the end of the recorded part. */
static toec_u32 resent_part(struct toec_tcb *t, unsigned i, toec_u32 a, toec_u32 b, toec_time now)
{
    struct toec_rack *k = &t->rack;
    struct toec_episode *e = k->episode;
    struct toec_run *r = &k->run[i], put[3], *mid;
    toec_u32 from = start_of(t, i), stamp = stamp_again(k, now);
    unsigned m = 0;

    if (r->marks & TOEC_RUN_SACKED)
        return b;
    /* Join the retransmission that was sent just before. */
    if (from == a && i && r[-1].marks == TOEC_RUN_RTX && e->rtx_end == a &&
        stamp - e->rtx_began <= QUANTUM(t)) {
        if (r->marks & TOEC_RUN_LOST)
            k->lost -= b - a;
        r[-1].end = b;
        r[-1].sent = stamp;
        if (b == r->end)
            splice(k, i, 1, 0, 0);
        return b;
    }
    if (from != a) {
        put[m] = *r;
        put[m++].end = a;
    }
    mid = &put[m++];
    *mid = *r;
    if (b != r->end)
        put[m++] = *r;
    if (k->n + m - 1 > k->room) { /* no room to split the run: mark all of it */
        mid = put;
        b = r->end;
        a = from;
        m = 1;
    }
    mid->end = b;
    mid->sent = stamp;
    mid->marks = TOEC_RUN_RTX;
    if (toec_rate_wanted(t))
        toec_rate_sent(t, &mid->rate, toec_pipe(t), b - a, now);
    if (r->marks & TOEC_RUN_LOST)
        k->lost -= b - a;
    splice(k, i, 1, put, m);
    e->rtx_began = stamp;
    return b;
}

void toec_runs_resent(struct toec_stack *s, struct toec_tcb *t, toec_u32 start, toec_u32 end,
                      toec_time now)
{
    struct toec_rack *k = &t->rack;
    struct toec_episode *e = toec_episode_get(s, t, now);

    toec_runs_purge(t);
    k->began = toec_stamp(now) - QUANTUM(t) - 1; /* new data must begin a new run, too */
    while (TOEC_SEQ_LT(start, end)) {
        toec_u32 to = end;
        unsigned i = find(k, start);

        if (i == k->n)
            break;
        if (!fits(t, i, start, i, end) && make_room(s, t, 2))
            i = find(k, start);
        if (TOEC_SEQ_LT(k->run[i].end, to))
            to = k->run[i].end;
        start = resent_part(t, i, start, to, now);
        e->rtx_end = start;
    }
    note_marks(t);
}

/* ---- delivered ---- */

/* Notes the time of r, the most recently sent run delivered by this ACK so far. */
static void time_run(const struct toec_run *r, struct toec_news *n)
{
    int twice = (r->marks & TOEC_RUN_RTX) || (r->rate.in_flight & TOEC_TX_MERGED);

    n->timed = 1;
    n->run_sent = r->sent;
    n->run_rtt = twice ? 0 : n->stamp - r->sent;
}

/* Reports the delivery of `bytes` of r up to `end`. */
static void delivered(struct toec_tcb *t, const struct toec_run *r, toec_u32 end, toec_u32 bytes,
                      struct toec_news *n)
{
    n->delivered += bytes;
    if (t->rack.episode)
        toec_rack_delivered(t, r, end, n);
    if (toec_rate_wanted(t))
        toec_rate_delivered(t, &r->rate, bytes, r->sent, (r->marks & TOEC_RUN_RTX) != 0, n->now);
    else if (t->cc.sampling && !(n->timed && TOEC_SEQ_LT(r->sent, n->run_sent)))
        time_run(r, n);
}

void toec_runs_acked(struct toec_tcb *t, toec_u32 una, struct toec_news *n)
{
    struct toec_rack *k = &t->rack;
    toec_u32 from = t->snd_una;
    unsigned i, gone = 0;

    for (i = 0; i < k->n && TOEC_SEQ_LT(from, una); i++) {
        const struct toec_run *r = &k->run[i];
        toec_u32 to = TOEC_SEQ_LT(una, r->end) ? una : r->end;

        if (r->marks & TOEC_RUN_SACKED) {
            k->sacked -= to - from;
        } else {
            if (r->marks & TOEC_RUN_LOST)
                k->lost -= to - from;
            delivered(t, r, to, to - from, n);
        }
        if (to == r->end)
            gone = i + 1;
        from = to;
    }
    if (gone)
        splice(k, 0, gone, 0, 0);
    note_marks(t);
}

/* Replaces runs a up to b by one SACKed run that covers [start, end), and by the remaining parts of
 * its neighbours. */
void toec_runs_sacked(struct toec_stack *s, struct toec_tcb *t, toec_u32 start, toec_u32 end,
                      struct toec_news *n)
{
    struct toec_rack *k = &t->rack;
    unsigned a = find(k, start), b, m = 0;
    struct toec_run put[3], mid;
    toec_u32 from;

    if (a == k->n)
        return;
    if ((k->run[a].marks & TOEC_RUN_SACKED) && TOEC_SEQ_LE(end, k->run[a].end))
        return; /* already known, like most blocks of most ACKs */
    if (!fits(t, a, start, find(k, end - 1), end)) {
        if (!n->compacted && make_room(s, t, 2))
            a = find(k, start);
        n->compacted = 1;
        if (!fits(t, a, start, find(k, end - 1), end)) {
            TOEC_COUNT(s, tcp_scoreboard_full);
            return;
        }
    }
    from = start_of(t, a);
    if (a && from == start && (k->run[a - 1].marks & TOEC_RUN_SACKED)) {
        a--;
    } else if (TOEC_SEQ_LT(from, start) && !(k->run[a].marks & TOEC_RUN_SACKED)) {
        put[m] = k->run[a];
        put[m++].end = start;
        from = start;
    }
    mid = k->run[a];
    mid.marks = TOEC_RUN_SACKED;
    for (b = a; b < k->n && TOEC_SEQ_LT(b == a ? from : k->run[b - 1].end, end); b++) {
        const struct toec_run *r = &k->run[b];
        toec_u32 at = b == a ? from : k->run[b - 1].end;
        toec_u32 to = TOEC_SEQ_LT(end, r->end) ? end : r->end;

        if (TOEC_SEQ_LT(at, start))
            at = start;
        if (r->marks & TOEC_RUN_SACKED) {
            mid.end = r->end;
            continue;
        }
        mid.end = to;
        if (r->marks & TOEC_RUN_LOST)
            k->lost -= to - at;
        k->sacked += to - at;
        n->sacked += to - at;
        delivered(t, r, to, to - at, n);
    }
    put[m++] = mid;
    if (TOEC_SEQ_GT(k->run[b - 1].end, mid.end))
        put[m++] = k->run[b - 1];
    else if (b < k->n && (k->run[b].marks & TOEC_RUN_SACKED))
        put[m - 1].end = k->run[b++].end;
    splice(k, a, b - a, put, m);
    t->flags |= TOEC_F_SACKED;
}

/* ---- marks ---- */

void toec_runs_lose(struct toec_tcb *t, unsigned i, toec_time now)
{
    struct toec_run *r = &t->rack.run[i];
    toec_u32 bytes = r->end - start_of(t, i);

    if (r->marks & (TOEC_RUN_LOST | TOEC_RUN_SACKED))
        return;
    r->marks |= TOEC_RUN_LOST;
    t->rack.lost += bytes;
    t->tally.lost_total += (bytes + t->mss - 1) / t->mss;
    t->flags |= TOEC_F_SACKED;
    if (toec_rate_wanted(t))
        toec_rate_lost(t, &r->rate, bytes, now);
}

void toec_runs_unmark(struct toec_tcb *t, unsigned marks)
{
    struct toec_rack *k = &t->rack;
    unsigned i;

    toec_runs_purge(t);
    for (i = 0; i < k->n; i++)
        k->run[i].marks &= ~marks;
    if (marks & TOEC_RUN_SACKED)
        k->sacked = 0;
    if (marks & TOEC_RUN_LOST)
        k->lost = 0;
    note_marks(t);
}

int toec_runs_first(struct toec_tcb *t, unsigned with, unsigned without, toec_u32 *start,
                    toec_u32 *end)
{
    struct toec_rack *k = &t->rack;
    unsigned i = 0;

    toec_runs_purge(t);
    while (i < k->n && ((k->run[i].marks & with) != with || (k->run[i].marks & without)))
        i++;
    if (i == k->n)
        return 0;
    *start = start_of(t, i);
    do {
        *end = k->run[i++].end;
        if (*end - *start >= t->mss) {
            *end = *start + t->mss;
            break;
        }
    } while (i < k->n && (k->run[i].marks & with) == with && !(k->run[i].marks & without));
    return 1;
}
