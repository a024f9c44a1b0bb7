/* SPDX-License-Identifier: Apache-2.0 */
/* announce.h - LISTEN: announces listeners to the TOE (announce.c). Lock held. */
#ifndef LIBTOE_ANNOUNCE_H
#define LIBTOE_ANNOUNCE_H

#include "tsock.h"

/* Sends LISTEN and the listener's options to all queue pairs. */
TOE_HIDDEN void tlisten_announce(struct tsock *s, bool weak);
/* Sends the first LISTEN: WEAK where another process may serve the listener. */
TOE_HIDDEN void tlisten_begin(struct tsock *s);
/* Makes the listener WEAK. Connections not yet accepted go to the first process that serves it
 * (STALE), unless this process accepts them before. */
TOE_HIDDEN void tlisten_weaken(struct tsock *s);
/* Announces the listener if that is not done yet (one inherited by fork), as this process is about
 * to serve it. poll, select, epoll and accept call it for each of their sockets. */
TOE_HIDDEN void tsock_use(struct tsock *s);

/* Listeners that other processes may share, chained by turn_next, and whether this process uses one
 * that is WEAK now (turns.h). */
extern TOE_HIDDEN struct tsock *tlisten_in_turns;
extern TOE_HIDDEN bool tlisten_some_weak;
/* In a fork child: lists an inherited listener that epoll instances watch. */
TOE_HIDDEN void tlisten_inherit(struct tsock *s);
/* After an exec: lists a listener of the old program. */
TOE_HIDDEN void tlisten_restore(struct tsock *s);
/* Announces a listener that is registered in an epoll instance. The turn of this process begins
 * with epoll_wait(). */
TOE_HIDDEN void tsock_watch(struct tsock *s);
/* Waits until connections for the turns that have begun are in the HW ring. For calls that look
 * without waiting. */
TOE_HIDDEN void tlisten_settle(void);
/* Makes it WEAK: this process does not wait for a connection any more. */
TOE_HIDDEN void tlisten_turn_end(struct tsock *s);
/* Called before it is freed. */
TOE_HIDDEN void tlisten_no_turns(struct tsock *s);

#endif
