/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turns.h - processes that share a listener may take turns at it, by a lock around accept() or
 * poll(). Linux has one accept queue for all; here each process has its own, and the TOE gives
 * connections to processes that wait. So such a listener is WEAK except in the turn of its process:
 * from a wait for a connection until one is accepted and no other thread waits. Lock held.
 */
#ifndef LIBTOE_TURNS_H
#define LIBTOE_TURNS_H

#include "announce.h"

struct tepoll;

/* Begins the turn at the listeners that an epoll instance watches, directly or by other
 * instances. */
TOE_HIDDEN void tturn_begin_watched(const struct tepoll *ep);
static inline void tturn_begin(const struct tepoll *ep)
{
    if (unlikely(tlisten_some_weak))
        tturn_begin_watched(ep);
}
/* Ends the turn at all listeners for which no thread waits. */
TOE_HIDDEN void tturn_end_all(void);
static inline void tturn_end(void)
{
    if (unlikely(tlisten_in_turns))
        tturn_end_all();
}

#endif
