/* SPDX-License-Identifier: Apache-2.0 */
/* runs_resent.c - any part of what is outstanding goes out again: the walk over it ends, and the
 * record stays sound. */
#include "runs.h"

void proof(void)
{
    toec_u32 start = nondet_u8(), end = nondet_u8();

    any_record(0);
    ASSUME(start < end && end <= t.snd_max - t.snd_una);
    start += t.snd_una;
    end += t.snd_una;
    toec_runs_resent(&t, start, end, nondet_u64());
    PROVE(sound());
}
