/* SPDX-License-Identifier: Apache-2.0 */
/* runs_marks.c - sets, clears and finds marks: the record keeps its invariants, and results lie
 * within the outstanding bytes. */
#include "runs.h"

void proof(void)
{
    toec_u32 start, end;
    unsigned i = nondet_u8(), with = nondet_u8() & 7, without = nondet_u8() & 7;

    any_record(0);
    switch (nondet_u8()) {
    case 0:
        toec_runs_purge(&t);
        ASSUME(i < t.rack.n);
        toec_runs_lose(&t, i, nondet_u64());
        break;
    case 1:
        toec_runs_unmark(&t, with & (TOEC_RUN_SACKED | TOEC_RUN_LOST));
        break;
    case 2:
        t.snd_max = t.snd_una;
        toec_runs_clear(&t);
        break;
    default:
        if (!toec_runs_first(&t, with, without, &start, &end))
            break;
        PROVE(start - t.snd_una < end - t.snd_una && end - t.snd_una <= t.snd_max - t.snd_una);
        PROVE(end - start <= t.mss);
    }
    PROVE(sound());
}
