/* SPDX-License-Identifier: Apache-2.0 */
/* runs_sacked.c - any block of what is outstanding is SACKed: the record stays sound, and what is
 * new of it is counted once. */
#include "runs.h"

void proof(void)
{
    struct toec_news n;
    toec_u32 start = nondet_u8(), end = nondet_u8(), sacked;

    any_record(1);
    ASSUME(start < end && end <= t.snd_max - t.snd_una);
    start += t.snd_una;
    end += t.snd_una;
    n.delivered = n.sacked = 0;
    sacked = t.rack.sacked;
    toec_runs_sacked(&s, &t, start, end, &n);
    PROVE(n.sacked == t.rack.sacked - sacked && n.delivered == n.sacked);
    PROVE(n.sacked <= end - start);
    PROVE(sound());
}
