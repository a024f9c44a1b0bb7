/* SPDX-License-Identifier: Apache-2.0 */
/* record.h - flow records in the shared area, read by tools. */
#ifndef ENGINE_RECORD_H
#define ENGINE_RECORD_H

#include "qp.h"

/* Returns the record, which the host may overwrite at any time. */
static inline struct toedev_flow_record *record_of(const struct slot *s)
{
    return (void *)(s->qp->area + s->qp->layout.records + (uint64_t)s->index * TOEDEV_RECORD);
}
void record_write(struct slot *s);
/* Returns the local port of a written record, as the host may have overwritten it. */
uint16_t record_port(const struct slot *s);
void record_touch(struct slot *s);
/* Refreshes the records that are due, a bounded number. */
void records_refresh(struct engine *e);
uint64_t records_deadline(const struct engine *e);

/* Makes a flow that is about to be announced free for its host to accept (claim). */
void record_unclaim(const struct slot *s);
/* Claims an announced flow that is about to move away. 0: its host has accepted it. */
int record_claim(const struct slot *s);

#endif
