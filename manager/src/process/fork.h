/* SPDX-License-Identifier: Apache-2.0 */
/* fork.h - forks by libtoe, and other ways to start programs (fork.c). */
#ifndef LIBTOE_FORK_H
#define LIBTOE_FORK_H

#include "libtoe.h"

/* Called before a program is started by other means than fork(): it may be the one to serve
 * listeners that this process has not used. Takes the lock. */
TOE_HIDDEN void tfork_lends_listeners(void);
/* Called before a listener is passed to another process, which is likely to serve it. Takes the
 * lock. */
TOE_HIDDEN void tlisten_pass(int fd);
/* Exclude forks by other threads in between. The caller's own fork() is allowed, and ends the
 * exclusion in the child. The lock is not held. */
TOE_HIDDEN void tfork_alone_begin(void);
TOE_HIDDEN void tfork_alone_end(void);
/*
 * Creates a child by a system call that pthread_atfork() does not see, such as syscall(SYS_clone):
 * make(arg) makes the call. Connections and listeners behave as after fork(). Returns what make()
 * returned.
 */
TOE_HIDDEN long tfork_by(long (*make)(void *arg), void *arg);
/* Forks a copy of this process with libtoe's state unchanged. */
TOE_HIDDEN int tfork_copy(void);

#endif
