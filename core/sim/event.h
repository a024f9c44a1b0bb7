/* SPDX-License-Identifier: Apache-2.0 */
/* event.h - the event queue of the network. */
#ifndef SIM_EVENT_H
#define SIM_EVENT_H

#include "net.h"

/* Adds an event; events at equal times keep their order. */
void event_push(struct net *n, toec_time at, enum event_kind kind, void *what);
/* Removes the earliest event up to `until`. Returns 0 when there is none. */
int event_pop(struct net *n, toec_time until, struct event *out);

#endif
