/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_move.h - a passive flow that nobody has accepted, from one slot to another of the same
 * engine.
 */
#ifndef ENGINE_MOVE_H
#define ENGINE_MOVE_H

#include "qp.h"

/*
 * What has come goes along; the new slot's host is told all from the beginning, the old one, if it
 * knew of the flow, that it is STALE. `to` was taken for it from a listener (NULL: there is none).
 * 0, or -1: all is as it was, and `to` free again.
 */
int flow_move(struct slot *s, struct toec_tcb *flow, struct slot *to);

#endif
