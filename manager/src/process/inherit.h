/* SPDX-License-Identifier: Apache-2.0 */
/* inherit.h - listeners, and epoll instances, that came from another program, by exec or
 * SCM_RIGHTS (inherit.c). */
#ifndef LIBTOE_INHERIT_H
#define LIBTOE_INHERIT_H

#include "libtoe.h"

/*
 * fd may be an epoll instance: TOE sockets can be added to it. Or it may be a listening socket that
 * no call of this program has made: then it is served by the TOE as any other from its first use
 * on. Until then nothing happens to it, because its open file is also that of the process it came
 * from: many programs inherit a listener and never look at it. Takes the lock.
 */
TOE_HIDDEN void tinherit(int fd);
/* The same of all descriptors that the program was started with. */
TOE_HIDDEN void tinherit_all(void);
/* The process is about to become another user: while it may, attaches where it has listeners,
 * inherited ones that have not been used included. Takes the lock. */
TOE_HIDDEN void tctx_before_rights_change(void);

#endif
