/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relieve.h - processes that share a listener have one accept queue on Linux: the process that
 * waits gets the oldest connection. Here each has its own. So a flow that a WEAK member has not
 * accepted moves to a member that is not WEAK and has no flow to accept.
 */
#ifndef ENGINE_RELIEVE_H
#define ENGINE_RELIEVE_H

#include "listen.h"

/* Notes that flows of WEAK members may have to move. They move after the commands of all queue
 * pairs, so that an ACCEPT which a host sent before takes effect first. */
void listen_relieve_later(struct listen_group *g);
/* Moves them; called when engine->listen_due is set. */
void listen_relieve(struct engine *e);

#endif
