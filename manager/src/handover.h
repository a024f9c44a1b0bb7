/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handover.h - connections across fork: the child of a server that forks per connection talks to
 * its peer through the parent.
 *
 * The flow belongs to the parent's queue pair. At fork each open connection gets a pair of Unix
 * sockets. In the child one of them takes the connection's number, so that all the child does with
 * it is the kernel's. When the parent closes its own last descriptor while the child's end is open,
 * a thread of the parent carries bytes between the other end and the flow until both ways have
 * ended. Linux keeps such a connection open for the child in the same way.
 *
 * All with the lock held.
 */
#ifndef TOE_HANDOVER_H
#define TOE_HANDOVER_H

#include "libtoe.h"

/* Around fork, in this order; in_child before the table of objects is made the child's own. */
TOE_HIDDEN void thandover_before(void);
TOE_HIDDEN void thandover_in_parent(void);
TOE_HIDDEN void thandover_in_child(void);

/* The last descriptor of s is about to be closed. True: a child still uses the connection; s lives
 * on, and fd leads no longer to it. */
TOE_HIDDEN bool thandover_close(struct tsock *s, int fd);
/*
 * A connection for another program. Between begin and end the kernel has, in the place of each
 * number that leads to a connection, what a child is to get; the lock is held meanwhile. `pid` is
 * the child, which has executed its program, or 0: one that has it as its standard input or output
 * is served at once, and others when the connection is closed here.
 */
TOE_HIDDEN void thandover_spawn_begin(void);
TOE_HIDDEN void thandover_spawn_end(pid_t pid);
/* After a fork() whose child has executed another program. Takes the lock. */
TOE_HIDDEN void thandover_executed(pid_t pid);
/* Are there connections that a child would be handed? Takes the lock. */
TOE_HIDDEN bool thandover_any(void);
struct relay;
/* A new end of fd's connection for another process, to be closed here; -1 with errno. When that
 * process has it, or is not to have it, settle() tells: it is served, or all is as before. Both
 * take the lock. */
TOE_HIDDEN int thandover_offer(int fd, struct relay **r);
TOE_HIDDEN void thandover_settle(struct relay *r, bool passed);
/* fork.c: between these no other thread's fork() happens; the caller's own does, and ends it in the
 * child. The lock is not held. */
TOE_HIDDEN void tfork_alone_begin(void);
TOE_HIDDEN void tfork_alone_end(void);
/* handover_watch.c: around a fork that thandover_before() has prepared, the lock held; and before a
 * wait for a child, without it. */
TOE_HIDDEN void thandover_watch_before(void);
TOE_HIDDEN void thandover_watch_in_parent(void);
TOE_HIDDEN void thandover_watch_in_child(void);
TOE_HIDDEN void thandover_waits(void);
/* Has it made ends for the child? */
TOE_HIDDEN bool thandover_made(void);
/*
 * exec_relay.c: before an exec of a program without libtoe. A process stays behind that has the
 * connections from the exec on, and the numbers that lead there are Unix sockets. False: there is
 * none to be left, or no process. come_back(): the exec has failed.
 */
TOE_HIDDEN bool thandover_stay_behind(void);
TOE_HIDDEN void thandover_come_back(void);
/* What these two need: as spawn_begin() and spawn_end(), without the lock; is there any? */
TOE_HIDDEN bool thandover_lend(void);
TOE_HIDDEN void thandover_take_back(void);
/* In the process that stays behind: serves all that is lent, each by a thread; how many. */
TOE_HIDDEN unsigned thandover_serve_lent(int done_fd);
/* fork() of another copy of this process, where nothing of libtoe changes. */
TOE_HIDDEN int tfork_copy(void);
/* s ends: its end of the pair too. */
TOE_HIDDEN void thandover_end(struct tsock *s);

#endif
