/* SPDX-License-Identifier: Apache-2.0 */
/* listen_defer.h - listeners that stay WEAK until the program waits for something (listen_defer.c).
 * Lock held, except where said. */
#ifndef LIBTOE_LISTEN_DEFER_H
#define LIBTOE_LISTEN_DEFER_H

#include "libtoe.h"

/*
 * Where flows stay with the queue pair that they came to, those that come before a program forks
 * the children that are to accept them would wait in it for ever. So a listener there is WEAK at
 * first, and gets none: until it is accepted from or watched, or the program waits for something
 * else, or a second has passed. A fork leaves it to the children.
 */
extern TOE_HIDDEN bool tlisten_later; /* there are such listeners */
/* They begin; commands are handled meanwhile. */
TOE_HIDDEN void tlisten_begin_now(void);
/* This process waits for something. True: what was looked at before is to be looked at again. */
static inline bool tlisten_begun_by_wait(void)
{
    if (likely(!tlisten_later))
        return false;
    tlisten_begin_now();
    return true;
}
/* The program waits; or does so if it has to for what it reads. Take the lock. */
TOE_HIDDEN void tlisten_goes_on(void);
TOE_HIDDEN void tlisten_reads(int fd);

/* One more listener is deferred. */
TOE_HIDDEN void tlisten_defer(void);
/* All deferred listeners are left to children that this process is about to have. */
TOE_HIDDEN void tlisten_leave_to_children(void);
/* In the child of a fork: the parent's thread is not here. */
TOE_HIDDEN void tlisten_later_forget(void);

#endif
