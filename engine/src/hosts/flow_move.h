/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_move.h - moves a passive flow that is not yet accepted to another slot of the same engine.
 */
#ifndef ENGINE_MOVE_H
#define ENGINE_MOVE_H

#include "qp.h"

/*
 * Moves the flow with the data received so far. The new slot's host gets all notifications from the
 * start; the old slot's host, if it knew of the flow, gets STALE. `to` was taken from a listener
 * for this flow (NULL: there is none). Returns 0, or -1 with nothing changed and `to` freed.
 */
int flow_move(struct slot *s, struct toec_tcb *flow, struct slot *to);

#endif
