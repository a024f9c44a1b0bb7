/* SPDX-License-Identifier: Apache-2.0 */
/* runs_room.c - make_room() on any record: what make_room_any() of runs.h takes for granted. */
#include "runs.h"

void proof(void)
{
    toec_u32 sacked, lost;
    unsigned before, i = nondet_u8();
    struct toec_run was;

    any_record(0);
    sacked = t.rack.sacked;
    lost = t.rack.lost;
    before = t.rack.n;
    ASSUME(i < before);
    was = t.rack.run[i];
    if (make_room(&s, &t, 1 + (nondet_u8() & 1))) {
        PROVE(t.rack.n < before);
    } else {
        PROVE(t.rack.n == before);
        PROVE(t.rack.run[i].end == was.end && t.rack.run[i].sent == was.sent);
        PROVE(t.rack.run[i].marks == was.marks);
    }
    PROVE(t.rack.n == 0 || t.snd_una - t.rack.run[0].end >= WINDOW);
    PROVE(t.rack.sacked == sacked && t.rack.lost == lost);
    PROVE(sound());
}
