/* SPDX-License-Identifier: Apache-2.0 */
/* lock.h - the one lock of a process's TOE context, and signals that wait for it (lock.c). */
#ifndef LIBTOE_LOCK_H
#define LIBTOE_LOCK_H

#include "libtoe.h"

/* Not recursive; costs nothing in a process with one thread. */
TOE_HIDDEN void tctx_lock(void);
TOE_HIDDEN void tctx_unlock(void);
/* Releases the lock to other threads for a moment, in a loop that polls the TOE. */
TOE_HIDDEN void tctx_relax(void);
/* Between these, signal handlers are deferred as while the lock is held. Around another lock. */
TOE_HIDDEN void tlock_enter(void);
TOE_HIDDEN void tlock_leave(void);
TOE_HIDDEN bool tlock_inside(void);
/* Called first in a signal handler. Returns true if this thread is inside: then the signal is
 * delivered again once it has left. mask: of the context that the handler returns to. */
TOE_HIDDEN bool tlock_defer(int sig, siginfo_t *info, sigset_t *mask);
/* Returns the deferred signals that stay blocked until this thread has left. */
TOE_HIDDEN void tlock_waiting(sigset_t *set);
/* In a fork child: forgets the deferred signals, which are the parent's. */
TOE_HIDDEN void tlock_forget(void);
/* Creates a detached thread of libtoe's with all signals blocked. Lock held. False: it cannot be
 * created. */
TOE_HIDDEN bool tctx_thread(void *(*run)(void *arg));

#endif
