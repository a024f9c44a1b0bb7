/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs_borrow.c - a flow that uses its embedded runs makes room: it borrows a record and copies the
 * same runs, or keeps its own if no record is free; it returns what it borrowed.
 */
#include "runs.h"

static struct toec_tcp tcp;

void proof(void)
{
    struct toec_run was;
    unsigned before, i = nondet_u8(), lent = nondet_u8() & 1;

    any_record(1);
    before = t.rack.n;
    ASSUME(before <= TOEC_RUNS_OWN && i < before);
    memcpy(t.rack.own, record.run, sizeof(t.rack.own));
    t.rack.run = t.rack.own;
    t.rack.record = 0;
    t.rack.room = TOEC_RUNS_OWN;
    was = t.rack.own[i];
    s.tcp = &tcp;
    toec_pool_init(&tcp.records, &record, sizeof(record), lent ? 0 : 1);
    if (toec_record_borrow(&s, &t)) {
        PROVE(!lent && t.rack.run == record.run && t.rack.room == TOEC_RUNS);
    } else {
        PROVE(lent && t.rack.run == t.rack.own && t.rack.room == TOEC_RUNS_OWN);
    }
    PROVE(t.rack.n == before && t.rack.run[i].end == was.end && t.rack.run[i].marks == was.marks);
    PROVE(sound());
    toec_record_return(&s, &t);
    PROVE(tcp.records.used == 0 && t.rack.run == t.rack.own && t.rack.n == 0);
}
