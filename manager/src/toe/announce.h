/* SPDX-License-Identifier: Apache-2.0 */
/* announce.h - LISTEN: a listener is made known to the TOE (announce.c). Lock held. */
#ifndef LIBTOE_ANNOUNCE_H
#define LIBTOE_ANNOUNCE_H

#include "tsock.h"

/* Sends LISTEN and the listener's options to all queue pairs. */
TOE_HIDDEN void tlisten_announce(struct tsock *s, bool weak);
/* The first LISTEN: WEAK where another process may be the one to serve it. */
TOE_HIDDEN void tlisten_begin(struct tsock *s);
/* The listener becomes WEAK. Connections not yet accepted go to the first process that serves it
 * (STALE), unless they are accepted here before. */
TOE_HIDDEN void tlisten_weaken(struct tsock *s);
/* This process means to serve the listener: announces it to the TOE if that is not done (a listener
 * inherited by fork). poll, select, epoll and accept call it on what they look at. */
TOE_HIDDEN void tsock_use(struct tsock *s);

#endif
