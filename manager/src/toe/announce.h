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

#endif
