/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handover.h - connections across fork, and for other programs.
 *
 * The flow belongs to the parent's queue pair. At fork each open connection gets a pair of Unix
 * sockets. In the child one of them takes the connection's number. Nothing changes for the parent
 * until the child uses it (share.h): then the parent's number becomes the same Unix socket, and a
 * thread of the parent carries bytes between the other end and the flow (relay.h). So both may read
 * and write in any order, as on Linux. When the parent closes its own the flow stays, for the
 * child.
 *
 * All with the lock held.
 */
#ifndef LIBTOE_HANDOVER_H
#define LIBTOE_HANDOVER_H

#include "libtoe.h"

/* Around fork, in this order; in_child before the table of objects is made the child's own. */
TOE_HIDDEN void thandover_before(void);
TOE_HIDDEN void thandover_in_parent(void);
TOE_HIDDEN void thandover_in_child(void);

/*
 * A connection for another program. Between begin and end the kernel has, in the place of each
 * number that leads to a connection, what a child is to get; the lock is held meanwhile. `pid` is
 * the child, which has executed its program, or 0. asks: the program has libtoe; else what it has
 * is shared at once.
 */
TOE_HIDDEN void thandover_spawn_begin(bool asks);
TOE_HIDDEN void thandover_spawn_end(pid_t pid, bool asks);
/* Before an exec of a program that will not ask for what this child was offered. Takes the lock. */
TOE_HIDDEN void thandover_before_exec(void);
/* Are there connections that a child would be handed? Takes the lock. */
TOE_HIDDEN bool thandover_any(void);
/* fd's connection, if it is one, is about to be passed to another process: its number becomes the
 * Unix socket. 0, or -1 with errno. Takes the lock. */
TOE_HIDDEN int thandover_pass(int fd);
/* For exec_relay.c: as spawn_begin() and spawn_end(), without the lock; is there any? used: by
 * another process, which has it now. */
TOE_HIDDEN bool thandover_lend(bool at_exec);
TOE_HIDDEN void thandover_take_back(bool used);
/* In the process that stays behind, in the place of take_back(): what is lent is the new program's.
 */
TOE_HIDDEN void thandover_carry_lent(void);

#endif
