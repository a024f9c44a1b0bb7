/* SPDX-License-Identifier: Apache-2.0 */
/* tcp_record.c - borrows and returns a flow's record of transmissions; computes the bytes in
 * flight.
 */
#include "tcp_record.h"

#include "../tcp/tcp_tables.h"

void toec_runs_init(struct toec_tcb *t)
{
    t->rack.n = 0;
    t->rack.record = 0;
    t->rack.run = t->rack.own;
    t->rack.room = TOEC_RUNS_OWN;
}

struct toec_record *toec_record_borrow(struct toec_stack *s, struct toec_tcb *t)
{
    struct toec_rack *k = &t->rack;

    if (k->record)
        return k->record;
    k->record = toec_pool_get(&s->tcp->records);
    if (!k->record) {
        TOEC_COUNT(s, tcp_no_record);
        return 0;
    }
    memcpy(k->record->run, k->own, k->n * sizeof(k->own[0]));
    k->run = k->record->run;
    k->room = TOEC_RUNS;
    return k->record;
}

void toec_record_return(struct toec_stack *s, struct toec_tcb *t)
{
    if (t->rack.record)
        toec_pool_put(&s->tcp->records, t->rack.record);
    toec_runs_init(t);
}

toec_u32 toec_pipe(const struct toec_tcb *t)
{
    toec_u32 out = t->snd_max - t->snd_una, left;

    if (t->flags & TOEC_F_SACKED)
        out -= t->rack.sacked + t->rack.lost;
    if (t->flags & TOEC_F_SACK)
        return out;
    /* Without SACK each duplicate ACK shows that one segment has left the network (RFC 6582 3.2).
     * That inflates the window accordingly: at first ssthresh plus three segments (R5681-10). */
    left = (toec_u32)t->dupacks * t->mss;
    return out > left ? out - left : 0;
}
