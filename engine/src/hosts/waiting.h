/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waiting.h - established flows that no host has accepted, oldest first. A flow that arrives at a
 * WEAK member is parked: its host is not notified, because it does not wait for a connection. All
 * parked flows of a group are in one list, the others in that of their member.
 */
#ifndef ENGINE_WAITING_H
#define ENGINE_WAITING_H

#include "listen.h"

/* Adds a flow of a listener that has been established: parked if the member is WEAK. */
void waiting_add(struct slot *s);
/* Removes it. No effect on a flow that is in neither list. */
void waiting_del(struct slot *s);
/* Notifies the host of a parked flow, which becomes one of its member's list. */
void waiting_announce(struct slot *s);

#endif
