/* SPDX-License-Identifier: Apache-2.0 */
/* fork.h - forks that are not a child of the program (fork.c). */
#ifndef LIBTOE_FORK_H
#define LIBTOE_FORK_H

#include "libtoe.h"

/* A program is about to be started otherwise than by fork(): listeners that this process has not
 * used may be for it to serve. Takes the lock. */
TOE_HIDDEN void tfork_lends_listeners(void);
/* A listener is about to be passed to another process, which is likely to serve it. Takes the lock.
 */
TOE_HIDDEN void tlisten_pass(int fd);
/* Between these no other thread's fork() happens; the caller's own does, and ends it in the child.
 * The lock is not held. */
TOE_HIDDEN void tfork_alone_begin(void);
TOE_HIDDEN void tfork_alone_end(void);
/* fork() of another copy of this process, where nothing of libtoe changes. */
TOE_HIDDEN int tfork_copy(void);

#endif
