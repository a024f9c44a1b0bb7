/* SPDX-License-Identifier: Apache-2.0 */
/* tcp_runs.h - the record of transmissions of a flow, described in tcp_rack.h. */
#ifndef TOEC_TCP_RUNS_H
#define TOEC_TCP_RUNS_H

#include "tcb.h"

/* Returns the flow's borrowed record to the pool, unless congestion control needs it. Nothing has
 * been outstanding for a while. */
void toec_runs_done(struct toec_stack *s, struct toec_tcb *t);
/* Returns the flow's episode, allocated on demand, and notes a sign of loss now. */
struct toec_episode *toec_episode_get(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* Frees the episode, if there is one. */
void toec_episode_put(struct toec_stack *s, struct toec_tcb *t);
/* Frees the episode when it has been over for long, else sets a timer for that. Nothing is
 * outstanding. */
void toec_episode_done(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* Records new data up to `end`; SND.MAX is not updated yet. */
void toec_runs_sent(struct toec_stack *s, struct toec_tcb *t, toec_u32 end, toec_time now);
/* Records a retransmission of outstanding data [start, end). */
void toec_runs_resent(struct toec_stack *s, struct toec_tcb *t, toec_u32 start, toec_u32 end,
                      toec_time now);
/* Records that all data below `una` is acknowledged; SND.UNA is not updated yet. */
void toec_runs_acked(struct toec_tcb *t, toec_u32 una, struct toec_news *n);
/* Marks outstanding data [start, end) as SACKed. */
void toec_runs_sacked(struct toec_stack *s, struct toec_tcb *t, toec_u32 start, toec_u32 end,
                      struct toec_news *n);
/* Marks run i as lost, unless it is SACKed. */
void toec_runs_lose(struct toec_tcb *t, unsigned i, toec_time now);
/* Drops runs below SND.UNA; afterwards the first run begins there. */
void toec_runs_purge(struct toec_tcb *t);
/* Clears the record: nothing is outstanding any more. */
void toec_runs_clear(struct toec_tcb *t);
/* Clears marks (TOEC_RUN_SACKED, TOEC_RUN_LOST) of all runs. */
void toec_runs_unmark(struct toec_tcb *t, unsigned marks);
/* Finds the first range with all marks of `with` and none of `without`: returns 1 with [*start,
 * *end), at most an MSS long, or 0. */
int toec_runs_first(struct toec_tcb *t, unsigned with, unsigned without, toec_u32 *start,
                    toec_u32 *end);

#endif
