/* SPDX-License-Identifier: Apache-2.0 */
/* runs_sent.c - new data goes out: the record stays sound, full or not. */
#include "runs.h"

void proof(void)
{
    toec_u32 len = nondet_u8() & LONGEST, end;

    any_record(0);
    if (nondet_u8() & 1)
        t.rack.episode = 0;
    ASSUME(len);
    end = t.snd_max + len;
    toec_runs_sent(&s, &t, end, nondet_u64());
    t.snd_max = end;
    PROVE(sound());
}
