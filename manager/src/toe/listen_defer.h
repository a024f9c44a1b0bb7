/* SPDX-License-Identifier: Apache-2.0 */
/* listen_defer.h - listeners that stay WEAK until the program waits for something (listen_defer.c).
 * Lock held, except where noted. */
#ifndef LIBTOE_LISTEN_DEFER_H
#define LIBTOE_LISTEN_DEFER_H

#include "libtoe.h"

/*
 * Where flows stay on the queue pair on which they arrived, flows that arrive before a program
 * forks the children that will accept them would wait there for ever. So a listener on such a TOE
 * is WEAK at first and gets no flows, until the program accepts from it, watches it or waits for
 * something else, or a second has passed. A fork leaves it to the children.
 */
extern TOE_HIDDEN bool tlisten_later; /* there are such listeners */
/* Begins them; handles commands while it waits. */
TOE_HIDDEN void tlisten_begin_now(void);
/* Called when this process is about to wait. True: the caller must check its conditions again. */
static inline bool tlisten_begun_by_wait(void)
{
    if (likely(!tlisten_later))
        return false;
    tlisten_begin_now();
    return true;
}
/* Called when the program waits, or reads fd and may have to wait. Take the lock. */
TOE_HIDDEN void tlisten_goes_on(void);
TOE_HIDDEN void tlisten_reads(int fd);

/* Counts one more deferred listener. */
TOE_HIDDEN void tlisten_defer(void);
/* Leaves all deferred listeners to the children that this process is about to fork. */
TOE_HIDDEN void tlisten_leave_to_children(void);
/* In a fork child: forgets the parent's thread, which does not exist here. */
TOE_HIDDEN void tlisten_later_forget(void);

#endif
