/* SPDX-License-Identifier: Apache-2.0 */
/* wait.h - the pieces of sleeping that epoll_wait shares with wait.c. Lock held. */
#ifndef TOE_WAIT_H
#define TOE_WAIT_H

#include "libtoe.h"

/* Asks every queue pair for an interrupt and looks at the rings once more: true when something was
 * there. The caller counts itself in tctx.sleepers first. */
TOE_HIDDEN bool twait_arm(void);
/* After sleeping: the interrupt may have been used up, even by a command that was handled before it
 * came. Handles the rings; asks for another one when others sleep. */
TOE_HIDDEN void twait_woken(void);
/* The deadline, or earlier when the TOE is away and must be looked for. */
TOE_HIDDEN uint64_t twait_cap(uint64_t deadline);
/* Time until the deadline in *ts, or NULL for ever. */
TOE_HIDDEN struct timespec *twait_timespec(uint64_t deadline, struct timespec *ts);
/* twait_sleep() of a call that Linux begins again after some signals (recv, not poll; signals.c):
 * kfds has room for one more. 0, or -1 when the call ends. */
TOE_HIDDEN int twait_call(struct twaiter *w, struct pollfd *kfds, nfds_t n, uint64_t deadline);
/* From here on tsig_changed() tells of each change of a signal's handler. */
TOE_HIDDEN void tsig_watch(void);
TOE_HIDDEN void tsig_changed(void);
/* For a sleep: a signalfd of the signals that restart and are not blocked, and a mask with them
 * blocked; -1 when that is not needed or cannot be had. The thread's own, kept. */
TOE_HIDDEN int tsig_sort(sigset_t *mask);
/* The thread ends, or is that of a fork child: its signalfd is given back. */
TOE_HIDDEN void tsig_end(void);
/* twait_sleep(), with room for one more in kfds; *sorted (NULL: not wanted) says whether restarting
 * signals were held back and ended it as readiness does. */
TOE_HIDDEN int twait_sleep_sorted(struct twaiter *w, struct pollfd *kfds, nfds_t n,
                                  uint64_t deadline, bool *sorted);
/* A call that may sleep begins: handlers of signals that run from here on end it (interrupt.c).
 * Lock held, so that those that wait for it are among them. */
TOE_HIDDEN void tsig_begin(void);
/* Not zero once one has run; restarts: once one has that ends a call which Linux restarts, too. */
TOE_HIDDEN const volatile sig_atomic_t *tsig_note(bool restarts);
/* In the handler that stands before the program's, which it is about to call. */
TOE_HIDDEN void tsig_ran(bool restarts, void *context);
/* The system call, unless there is a note (may be NULL): then -1 and EINTR. */
TOE_HIDDEN long tsig_sleep(const volatile sig_atomic_t *note, long number, long a, long b, long c,
                           long d, long e);
/* Ends a wait of this thread that was left by siglongjmp(): it holds what it watched. */
TOE_HIDDEN void twait_end_left(void);
/* In a fork child: the thread's eventfd is shared with the parent; makes do without. */
TOE_HIDDEN void twait_forget(void);

#endif
