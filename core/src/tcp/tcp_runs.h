/* SPDX-License-Identifier: Apache-2.0 */
/* tcp_runs.h - the record of transmissions of a flow; tcp_rack.h says what it is. */
#ifndef TOEC_TCP_RUNS_H
#define TOEC_TCP_RUNS_H

#include "tcb.h"

/* Nothing is outstanding, and nothing was for a while: returns it, unless it is needed still. */
void toec_runs_done(struct toec_stack *s, struct toec_tcb *t);
/* There are signs of loss: what is remembered of them. */
struct toec_episode *toec_episode_get(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* The flow ends. */
void toec_episode_put(struct toec_stack *s, struct toec_tcb *t);
/* Nothing is outstanding: forgets the episode when it is long over, else sets a timer for it. */
void toec_episode_done(struct toec_stack *s, struct toec_tcb *t, toec_time now);
/* New data up to `end` goes out; SND.MAX has not moved yet. */
void toec_runs_sent(struct toec_stack *s, struct toec_tcb *t, toec_u32 end, toec_time now);
/* [start, end), of what is outstanding, goes out again. */
void toec_runs_resent(struct toec_stack *s, struct toec_tcb *t, toec_u32 start, toec_u32 end,
                      toec_time now);
/* Everything below `una` is acknowledged; SND.UNA has not moved yet. */
void toec_runs_acked(struct toec_tcb *t, toec_u32 una, struct toec_news *n);
/* [start, end), of what is outstanding, is SACKed. */
void toec_runs_sacked(struct toec_stack *s, struct toec_tcb *t, toec_u32 start, toec_u32 end,
                      struct toec_news *n);
/* Run i, not SACKed, is taken for lost. */
void toec_runs_lose(struct toec_tcb *t, unsigned i, toec_time now);
/* Drops what lies below SND.UNA; afterwards the first run begins there. */
void toec_runs_purge(struct toec_tcb *t);
/* Nothing is outstanding any more. */
void toec_runs_clear(struct toec_tcb *t);
/* Takes marks (TOEC_RUN_SACKED, TOEC_RUN_LOST) off all runs. */
void toec_runs_unmark(struct toec_tcb *t, unsigned marks);
/* The first range with all of `with` and none of `without` among its marks: 1 with [*start, *end),
 * at most an MSS long, or 0. */
int toec_runs_first(struct toec_tcb *t, unsigned with, unsigned without, toec_u32 *start,
                    toec_u32 *end);

#endif
