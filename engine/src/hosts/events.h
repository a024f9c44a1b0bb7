/* SPDX-License-Identifier: Apache-2.0 */
/* events.h - notifications to the host. */
#ifndef ENGINE_EVENTS_H
#define ENGINE_EVENTS_H

#include "qp.h"

/* The command for the first of the slot's pending notifications, which is taken off. */
struct toe_cmd event_next(struct slot *s);
void event_pend(struct slot *s, unsigned what);
/* Writes one at once. The caller has made sure of room. */
void event_put(struct qp *qp, const struct toe_cmd *c);
/* ... ERROR. */
void event_error(struct qp *qp, uint16_t reason, uint32_t flow, uint32_t position, uint8_t type);
/* Commands that may be written now, with what one answer may bring about besides; TOE_RING_BAD as
 * toe_ring_room(). */
uint32_t event_room(struct qp *qp);
/* 1 when there is room for one, by the HW tail last read. */
int event_has_room(struct qp *qp);
/* There is none: counted once until there is. */
void event_full(struct qp *qp);
/* Publishes that commands have been taken. */
void event_sw_tail(struct qp *qp);
/* The last that its host hears: status.halted, ERROR where there is room, and an interrupt, armed
 * or not. As soon as it can be said. */
void event_last(struct qp *qp);
/* Before the queue pair is let go: 1 when whoever writes its HW ring knows. */
int event_gone(struct qp *qp);
/* Writes what is pending as far as there is room, publishes, interrupts. Returns work done. */
unsigned events_flush(struct qp *qp);
/* When moderation wants to be called. UINT64_MAX: no need. */
uint64_t events_deadline(const struct qp *qp);

#endif
