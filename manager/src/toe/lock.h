/* SPDX-License-Identifier: Apache-2.0 */
/* lock.h - the one lock of a process's TOE context, and signals that wait for it (lock.c). */
#ifndef LIBTOE_LOCK_H
#define LIBTOE_LOCK_H

#include "libtoe.h"

/* Not recursive; free of cost in a process with one thread. */
TOE_HIDDEN void tctx_lock(void);
TOE_HIDDEN void tctx_unlock(void);
/* Gives it to others for a moment, in a loop that looks at the TOE again. */
TOE_HIDDEN void tctx_relax(void);
/* Between these as while it is held, for handlers of signals: around another lock. */
TOE_HIDDEN void tlock_enter(void);
TOE_HIDDEN void tlock_leave(void);
TOE_HIDDEN bool tlock_inside(void);
/* In a handler, before it does anything: is this thread inside? Then the signal comes again when it
 * is not. mask: of the context that the handler returns to. */
TOE_HIDDEN bool tlock_defer(int sig, siginfo_t *info, sigset_t *mask);
/* Of those that wait for this thread to be outside, the ones that are blocked until then. */
TOE_HIDDEN void tlock_waiting(sigset_t *set);
/* In a fork child: they are the parent's. */
TOE_HIDDEN void tlock_forget(void);
/* A thread of our own, detached, without the program's signals. Lock held. False: there is none. */
TOE_HIDDEN bool tctx_thread(void *(*run)(void *arg));

#endif
