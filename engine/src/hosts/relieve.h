/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relieve.h - processes that share a listener have one accept queue on Linux: the process that
 * waits gets the oldest connection. Here each has its own, so flows that no host has accepted move
 * to members that wait: those that are not WEAK and have no flow to accept.
 */
#ifndef ENGINE_RELIEVE_H
#define ENGINE_RELIEVE_H

#include "listen.h"

/* Moves flows of a group to members that wait. Not within a call of core/. */
void listen_relieve_group(struct listen_group *g);
/* Notes that flows may have to move; they move after the commands of all queue pairs. */
void listen_relieve_later(struct listen_group *g);
/* Moves flows of all groups for which that is noted, or whose time has come; called when
 * engine->listen_due is set or at engine->listen_check. */
void listen_relieve(struct engine *e);
/* Notes that a queue pair without a free slot has one again. */
void listen_has_room(const struct qp *qp);
/* Notes that the hosts of a queue pair's members are there: they have accepted or released a
 * flow. */
void listen_heard(struct qp *qp);

#endif
