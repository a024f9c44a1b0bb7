/* SPDX-License-Identifier: Apache-2.0 */
/* inherit.h - listeners, and epoll instances, that came from another program, by exec or
 * SCM_RIGHTS (inherit.c). */
#ifndef LIBTOE_INHERIT_H
#define LIBTOE_INHERIT_H

#include "libtoe.h"

/*
 * Registers fd if it is an epoll instance, so that TOE sockets can be added to it; or if it is a
 * listening socket that no call of this program has created. The TOE serves such a listener from
 * its first use on. Until then it is left unchanged, because it shares its open file with the
 * process it came from, and many programs inherit a listener and never use it. Takes the lock.
 */
TOE_HIDDEN void tinherit(int fd);
/* The same for all descriptors with which the program was started. */
TOE_HIDDEN void tinherit_all(void);
/* Called before the process becomes another user: attaches while it has the right to, if it has
 * listeners, unused inherited ones included. Takes the lock. */
TOE_HIDDEN void tctx_before_rights_change(void);

#endif
