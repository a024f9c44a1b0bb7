/* SPDX-License-Identifier: Apache-2.0 */
/* events.h - notifications to the host. */
#ifndef ENGINE_EVENTS_H
#define ENGINE_EVENTS_H

#include "qp.h"

/* Removes the first of the slot's pending notifications and returns its command. */
struct toe_cmd event_next(struct slot *s);
void event_pend(struct slot *s, unsigned what);
/* Writes one command at once. The caller has checked for room. */
void event_put(struct qp *qp, const struct toe_cmd *c);
/* Writes an ERROR the same way. */
void event_error(struct qp *qp, uint16_t reason, uint32_t flow, uint32_t position, uint8_t type);
/* Returns the number of commands that may be written now, less a reserve for what one answer may
 * cause; TOE_RING_BAD as toe_ring_room(). */
uint32_t event_room(struct qp *qp);
/* Returns 1 when there is room for one, by the HW tail last read. */
int event_has_room(struct qp *qp);
/* Counts that there is no room, once until there is room again. */
void event_full(struct qp *qp);
/* Publishes the SW tail: how many commands have been taken. */
void event_sw_tail(struct qp *qp);
/* Sends the last notification of a halted queue pair as soon as possible: status.halted, ERROR if
 * there is room, and an interrupt whether armed or not. */
void event_last(struct qp *qp);
/* Called before the queue pair is freed. Returns 1 when the polling manager can be notified: there
 * is room for COMMON_GONE, or no manager. */
int event_gone(struct qp *qp);
/* Writes pending notifications while there is room, without publishing them: those that must be in
 * the ring before the tail passes a command. Not for direct queue pairs. */
void events_write(struct qp *qp);
/* Writes pending notifications while there is room, publishes them, interrupts. Returns work
 * done. */
unsigned events_flush(struct qp *qp);
/* Returns when moderation must be called again. UINT64_MAX: no need. */
uint64_t events_deadline(const struct qp *qp);

#endif
