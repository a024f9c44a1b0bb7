/* SPDX-License-Identifier: Apache-2.0 */
/* wait.h - sleeping until an object changes (wait.c). Lock held. */
#ifndef LIBTOE_WAIT_H
#define LIBTOE_WAIT_H

#include "tsock.h"

/*
 *     struct twaiter *w = twait_begin(most);
 *     if (!w) return -1;
 *     twait_add(w, obj);                       (so many times at most)
 *     for (;;) {
 *         ... look whether it is done (tobj_events); leave the loop ...
 *         r = twait_sleep(w, kfds, n, deadline, mask);
 *         if (r < 0 || now >= deadline) ...
 *     }
 *     twait_end(w);
 *
 * Waiter and nodes are the thread's, not on its stack: a signal handler may leave a sleep for good
 * by siglongjmp() (iperf3 does at SIGINT). The thread's next wait then ends the one left behind.
 */
struct twaiter {
    int kick_fd;          /* this thread's eventfd */
    bool kicked;          /* a watched object has changed since twait_sleep began */
    bool asleep;          /* in the kernel: a kick must write kick_fd */
    struct twnode *nodes; /* chained by .own */
    struct twnode *room;  /* nodes for twait_add(), `used` of them in use */
    size_t used;
};
struct twnode {
    struct twaiter *waiter;
    struct tobj *obj; /* held */
    struct twnode *prev, *next, *own;
};

#define TWAIT_EXTRA (2 + 2 * TOE_MAX_ENGINES) /* room twait_sleep needs behind kfds[n] */

/* NULL with errno: no descriptor left for the thread's eventfd, or no memory. */
TOE_HIDDEN struct twaiter *twait_begin(size_t most);
TOE_HIDDEN void twait_add(struct twaiter *w, struct tobj *o);
TOE_HIDDEN void twait_end(struct twaiter *w);
/*
 * Sleeps until a watched object changes, one of the n kernel descriptors in kfds is ready (kfds has
 * room for n + TWAIT_EXTRA; may be NULL with n 0), a signal comes, or `deadline` (tclock_ns() time)
 * passes. Polls for busy_poll_us first. Releases the lock during the sleep and handles the rings
 * afterwards. mask as ppoll's, may be NULL. Returns the number of kernel descriptors with revents
 * (kfds[].revents valid), 0 when an object has changed or the deadline has passed, -1 with errno
 * EINTR.
 */
TOE_HIDDEN int twait_sleep(struct twaiter *w, struct pollfd *kfds, nfds_t n, uint64_t deadline,
                           const sigset_t *mask);
/* Sleeps for one object: begin, add, sleep, end. `deadline` as above. 0 or -1 with errno. */
TOE_HIDDEN int twait_one(struct tobj *o, uint64_t deadline);

/* Requests an interrupt of every queue pair and handles the rings once more. True when there were
 * commands. The caller first counts itself in tctx.sleepers. */
TOE_HIDDEN bool twait_arm(void);
/* After a sleep: handles the rings, and requests another interrupt when others sleep. The earlier
 * one may be used up, even by a command that was handled before the interrupt came. */
TOE_HIDDEN void twait_woken(void);
/* Returns the deadline, or the next time to try to attach when the TOE has ended. */
TOE_HIDDEN uint64_t twait_cap(uint64_t deadline);
/* Returns the time until the deadline in *ts, or NULL for TWAIT_FOREVER. */
TOE_HIDDEN struct timespec *twait_timespec(uint64_t deadline, struct timespec *ts);
/* As twait_sleep(), with room for one more in kfds. *sorted (may be NULL): whether restarting
 * signals were held back, and end the sleep as readiness does. */
TOE_HIDDEN int twait_sleep_sorted(struct twaiter *w, struct pollfd *kfds, nfds_t n,
                                  uint64_t deadline, bool *sorted);
/* Ends a wait of this thread that was left by siglongjmp(), to drop its references. */
TOE_HIDDEN void twait_end_left(void);
/* In a fork child: forgets the thread's eventfd, which is shared with the parent. */
TOE_HIDDEN void twait_forget(void);

#endif
