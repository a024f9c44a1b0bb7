/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.h - which connection of a worker begins an exchange, when, and what became of it. */
#ifndef LOAD_SCHEDULE_H
#define LOAD_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "state.h"

/* Returns when request `number` of the open loop is due. */
uint64_t worker_due_at(const struct worker *w, uint64_t number);
/* Returns whether t is within the measured time. */
bool worker_in_window(const struct worker *w, uint64_t t);
/* Count an exchange (or a stream) that begins, and that ends in any way. */
void worker_under_way(struct worker *w, struct conn *c);
void worker_over(struct worker *w, struct conn *c);
/* Records the latency of an answered exchange. */
void worker_answered(struct worker *w, struct conn *c);
/* Marks the connection free, and queues it, or with --at-once the next in turn. */
void worker_again(struct worker *w, struct conn *c);
/* Queues the connection whose turn it is (--at-once), if one is free. */
void worker_next_in_turn(struct worker *w);
/* Marks the connection dead. Returns whether no connection of any thread is left. */
bool worker_lost(struct worker *w, struct conn *c);
/* Closes a connection that failed; what: errno or FAIL_*. */
void worker_failed(struct worker *w, struct conn *c, int what);

#endif
