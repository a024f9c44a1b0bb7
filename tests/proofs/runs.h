/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs.h - any record of transmissions that satisfies the invariants, for the proofs of tcp_runs.c
 * and tcp_rack.c: each assumes the invariants and proves that its function keeps them. Runs are
 * SIZE at most, so that a full record is among them; the code does not depend on the value of
 * TOEC_RUNS.
 */
#ifndef RUNS_H
#define RUNS_H

#include "proof.h"

#define TOEC_RUNS ((unsigned)SIZE)
#include "cc/tcp_record.c"
#include "tcp/tcp_runs.c"

/* Bytes of a run at most: enough for every order that the edges of runs and of a block can be in,
 * and all that the code does with sequence numbers is to compare and to subtract them. */
#define LONGEST 15u
#define WINDOW  255u

static struct toec_stack s;
static struct toec_tcb t;
static struct toec_record record; /* which the flow has borrowed */
static struct toec_episode episode;
static struct toec_cc_ops algorithm;

/*
 * In order and without a gap up to SND.MAX; a SACKed run is not lost; the sums equal the marks.
 * Runs below SND.UNA may remain while nothing is marked.
 */
static int in_order(void)
{
    const struct toec_rack *k = &t.rack;
    toec_u32 at = t.snd_una, sacked = 0, lost = 0;
    unsigned i, stale = 0;

    if (k->n > TOEC_RUNS || t.snd_max - t.snd_una > WINDOW)
        return 0;
    for (i = 0; i < TOEC_RUNS && i < k->n; i++) {
        const struct toec_run *r = &k->run[i];

        if (r->marks > (TOEC_RUN_LOST | TOEC_RUN_RTX) && r->marks != TOEC_RUN_SACKED)
            return 0;
        if ((r->marks & TOEC_RUN_SACKED) && r->marks != TOEC_RUN_SACKED)
            return 0;
        if (t.snd_una - r->end < WINDOW) {
            stale++;
            if (stale != i + 1 || r->marks & (TOEC_RUN_SACKED | TOEC_RUN_LOST))
                return 0;
            continue;
        }
        if (r->end == at || r->end - at > t.snd_max - at)
            return 0;
        if (r->marks & TOEC_RUN_SACKED)
            sacked += r->end - at;
        if (r->marks & TOEC_RUN_LOST)
            lost += r->end - at;
        at = r->end;
    }
    return at == t.snd_max && sacked == k->sacked && lost == k->lost &&
           (stale == 0 || (sacked | lost) == 0);
}

/* ... and the flow knows whether anything is marked. */
static int sound(void)
{
    return in_order() && !(t.flags & TOEC_F_SACKED) == ((t.rack.sacked | t.rack.lost) == 0);
}

/* Any sound runs from SND.UNA on, with the sums that belong to them. They are built up rather than
 * assumed, which is far easier on the solver. */
static void any_runs(unsigned n, unsigned stale)
{
    struct toec_rack *k = &t.rack;
    toec_u32 at = t.snd_una;
    unsigned i;

    ASSUME(n <= TOEC_RUNS && stale <= n);
    k->n = (toec_u8)n;
    k->sacked = k->lost = 0;
    for (i = 0; i < TOEC_RUNS; i++) {
        toec_u32 len = nondet_u8() & LONGEST, marks = nondet_u8() & 7;

        ASSUME(!(marks & TOEC_RUN_SACKED) || marks == TOEC_RUN_SACKED);
        ASSUME(stale == 0 || !(marks & (TOEC_RUN_SACKED | TOEC_RUN_LOST)));
        k->run[i].marks = marks;
        k->run[i].sent = nondet_u32();
        if (i < stale) {
            k->run[i].end = t.snd_una - len;
        } else if (i < n) {
            ASSUME(len);
            at += len;
            k->run[i].end = at;
            k->sacked += marks & TOEC_RUN_SACKED ? len : 0;
            k->lost += marks & TOEC_RUN_LOST ? len : 0;
        }
    }
    t.snd_max = at;
}

/* Any sound record; fresh: with nothing below SND.UNA. */
static void any_record(int fresh)
{
    t.rack.record = &record;
    t.rack.run = record.run;
    t.rack.room = TOEC_RUNS;
    t.rack.began = nondet_u32();
    ANYTHING(episode);
    t.rack.episode = &episode;
    t.snd_una = nondet_u8() & 1 ? 0u - LONGEST : 0; /* they wrap, or do not */
    t.flags = nondet_u32() & ~TOEC_F_SACKED;
    t.srtt = nondet_u32();
    t.mss = nondet_u8();
    t.cc.sampling = nondet_u8() & 1;
    algorithm.flags = nondet_u8();
    t.cc_ops = &algorithm;
    ASSUME(t.mss >= 1);
    any_runs(nondet_u8(), fresh ? 0 : nondet_u8());
    if (t.rack.sacked | t.rack.lost)
        t.flags |= TOEC_F_SACKED;
}

/* Only what runs_room.c proves of make_room(): it changes nothing, or leaves fewer runs that cover
 * the same bytes with the same sums, none of them below SND.UNA. */
int make_room_any(struct toec_stack *stack, struct toec_tcb *flow, unsigned need)
{
    toec_u32 max = t.snd_max, sacked = t.rack.sacked, lost = t.rack.lost;
    unsigned before = t.rack.n, n = nondet_u8();

    (void)stack;
    (void)flow;
    (void)need;
    ASSUME(n <= before);
    if (n == before) {
        ASSUME(n == 0 || t.snd_una - t.rack.run[0].end >= WINDOW);
        return 0;
    }
    any_runs(n, 0);
    ASSUME(t.snd_max == max && t.rack.sacked == sacked && t.rack.lost == lost);
    return 1;
}

/* The effect of splice(), one run after another; the equivalence is not proved here. */
void splice_by_one(struct toec_rack *k, unsigned at, unsigned del, const struct toec_run *put,
                   unsigned m)
{
    struct toec_run old[TOEC_RUNS];
    unsigned i, n = k->n;

    PROVE(at <= n && del <= n - at && m <= 3 && n - del + m <= TOEC_RUNS);
    for (i = 0; i < TOEC_RUNS; i++)
        old[i] = k->run[i];
    for (i = 0; i < TOEC_RUNS; i++)
        if (i >= at && i < n - del + m)
            k->run[i] = i < at + m ? put[i - at] : old[i - m + del];
    k->n = (toec_u8)(n + m - del);
}

#endif
