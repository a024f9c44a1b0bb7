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
/* After EINTR of a wait without time limit, in a call that Linux begins again (recv, not poll):
 * does it go on? errno stays EINTR when not. */
TOE_HIDDEN bool twait_restarts(uint64_t deadline);
/* Ends a wait of this thread that was left by siglongjmp(): it holds what it watched. */
TOE_HIDDEN void twait_end_left(void);
/* In a fork child: the thread's eventfd is shared with the parent; makes do without. */
TOE_HIDDEN void twait_forget(void);

#endif
