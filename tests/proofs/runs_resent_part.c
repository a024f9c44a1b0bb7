/* SPDX-License-Identifier: Apache-2.0 */
/* runs_resent_part.c - any part of any run goes out again: the record stays sound, full or not, and
 * what has been noted is the part, or as far as the record could tell. */
#include "runs.h"

void proof(void)
{
    toec_u32 a = nondet_u8(), b = nondet_u8(), to;
    unsigned i = nondet_u8();

    any_record(1);
    ASSUME(i < t.rack.n);
    a += start_of(&t, i);
    b += start_of(&t, i);
    ASSUME(TOEC_SEQ_LT(a, b) && TOEC_SEQ_LE(b, t.rack.run[i].end));
    to = resent_part(&t, i, a, b, nondet_u64());
    note_marks(&t);
    PROVE(TOEC_SEQ_GE(to, b) && TOEC_SEQ_LE(to, t.snd_max));
    PROVE(sound());
}
