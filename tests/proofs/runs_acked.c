/* SPDX-License-Identifier: Apache-2.0 */
/* runs_acked.c - any ACK of outstanding bytes: the record keeps its invariants, and the delivered
 * bytes are those acknowledged and not SACKed before. */
#include "runs.h"

void proof(void)
{
    struct toec_news n;
    toec_u32 una = nondet_u8(), sacked;

    any_record(1);
    if (nondet_u8() & 1)
        t.rack.episode = 0;
    ASSUME(una <= t.snd_max - t.snd_una);
    una += t.snd_una;
    n.delivered = 0;
    sacked = t.rack.sacked;
    toec_runs_acked(&t, una, &n);
    PROVE(n.delivered == una - t.snd_una - (sacked - t.rack.sacked));
    t.snd_una = una;
    PROVE(sound());
}
