/* SPDX-License-Identifier: Apache-2.0 */
/* inherit.h - listeners, and epoll instances, that came from another program, by exec or
 * SCM_RIGHTS. */
#ifndef TOE_INHERIT_H
#define TOE_INHERIT_H

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
/* The program accepts from fd or watches it: if it is such a listener, it is decided now who
 * carries it. 0, or -1 with errno. fd may lead to nothing of ours afterwards. Lock held. */
TOE_HIDDEN int tinherit_use(int fd);
/* The program asks for its name: it means to serve it, maybe in children. From here on it keeps the
 * port open, and who connects waits there (WEAK). Takes the lock. */
TOE_HIDDEN void tinherit_look(int fd);
/* The other way: a listener is about to be passed to another process, which is likely to serve it.
 * Takes the lock. */
TOE_HIDDEN void tlisten_pass(int fd);
/* Are there some that have not been used? Lock held. */
TOE_HIDDEN bool tinherit_waits(void);

#endif
