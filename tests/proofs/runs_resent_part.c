/* SPDX-License-Identifier: Apache-2.0 */
/* runs_resent_part.c - any part of any run is retransmitted: the record keeps its invariants, full
 * or not, and notes the part, or as much of it as a full record can represent. */
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
