/* SPDX-License-Identifier: Apache-2.0 */
/* rack_walks.c - RACK's walks over any record: they end, keep the record's invariants, and count
 * what they find lost; the number reported is at most what is outstanding. */
#include "runs.h"

#include "tcp/tcp_rack.c"

void proof(void)
{
    struct toec_info info;
    toec_u32 lost, found;
    int again;

    any_record(1);
    t.min_rtt = nondet_u32();
    t.rexmits = nondet_u8();
    lost = t.rack.lost;
    switch (nondet_u8()) {
    case 0:
        found = toec_rack_detect(&s, &t, nondet_u64(), &again);
        PROVE(found == t.rack.lost - lost && found <= t.snd_max - t.snd_una);
        break;
    case 1:
        toec_rack_rto(&s, &t, nondet_u64());
        PROVE(t.rack.n == 0 || t.rack.run[0].marks & TOEC_RUN_LOST);
        break;
    default:
        info.retrans_out = 0;
        toec_rack_info(&t, &info);
        PROVE(info.retrans_out <= t.snd_max - t.snd_una);
    }
    PROVE(sound());
}
