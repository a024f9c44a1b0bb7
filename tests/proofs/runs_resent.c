/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs_resent.c - any range of outstanding bytes is retransmitted: each iteration passes a part of
 * one run to resent_part() (runs_resent_part.c proves that), advances, and establishes the
 * assumptions of the next.
 *
 * This is induction: the first iteration begins with any valid record and any range, which includes
 * the state before any later one. One iteration is therefore enough, and the last.
 */
#include "runs.h"

static toec_u32 wanted; /* the end of the range */

toec_u32 resent_part_any(struct toec_tcb *flow, unsigned i, toec_u32 a, toec_u32 b, toec_time now)
{
    toec_u32 max = t.snd_max, to;

    (void)flow;
    (void)now;
    PROVE(in_order());
    PROVE(i < t.rack.n);
    PROVE(TOEC_SEQ_LE(start_of(&t, i), a) && TOEC_SEQ_LT(a, b));
    PROVE(TOEC_SEQ_LE(b, t.rack.run[i].end) && TOEC_SEQ_LE(b, wanted));
    any_runs(nondet_u8(), 0);
    ASSUME(t.snd_max == max);
    to = b + nondet_u8();
    ASSUME(TOEC_SEQ_LE(to, t.snd_max));
    ASSUME(TOEC_SEQ_GE(to, wanted)); /* the last turn */
    return to;
}

void proof(void)
{
    toec_u32 start = nondet_u8(), end = nondet_u8();

    any_record(0);
    start += t.snd_una;
    end += t.snd_una;
    ASSUME(TOEC_SEQ_LT(start, end) && TOEC_SEQ_LE(end, t.snd_max));
    wanted = end;
    toec_runs_resent(&s, &t, start, end, nondet_u64());
    PROVE(sound());
    PROVE(TOEC_SEQ_GE(episode.rtx_end, end)); /* it did not stop short */
}
