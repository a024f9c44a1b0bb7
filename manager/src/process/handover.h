/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handover.h - connections across fork, and for other programs.
 *
 * The flow belongs to the parent's queue pair. At fork each open connection gets a pair of Unix
 * sockets. In the child one of them takes the connection's number. Nothing changes for the parent
 * until the child uses it (share.h). Then the parent's number becomes the same Unix socket, and a
 * thread of the parent carries bytes between the other end and the flow (relay.h). So both may read
 * and write in any order, as on Linux. When the parent closes its number, the flow stays for the
 * child.
 *
 * All with the lock held.
 */
#ifndef LIBTOE_HANDOVER_H
#define LIBTOE_HANDOVER_H

#include "libtoe.h"

/* Around fork, in this order; in_child runs before the table of objects becomes the child's own. */
TOE_HIDDEN void thandover_before(void);
TOE_HIDDEN void thandover_in_parent(void);
TOE_HIDDEN void thandover_in_child(void);

/*
 * Hand connections to another program. Between begin and end each number of a connection is in the
 * kernel the Unix socket for the child; the lock is held in between. `pid` is the child, which has
 * executed its program, or 0. asks: the program has libtoe; otherwise its connections are shared at
 * once.
 */
TOE_HIDDEN void thandover_spawn_begin(bool asks);
TOE_HIDDEN void thandover_spawn_end(pid_t pid, bool asks);
/* Before an exec of a program that will not ask for this child's offered connections. Takes the
 * lock. */
TOE_HIDDEN void thandover_before_exec(void);
/* Returns whether there are connections to hand to a child. Takes the lock. */
TOE_HIDDEN bool thandover_any(void);
/* Before fd is passed to another process: if it is a connection, its number becomes the Unix
 * socket. 0, or -1 with errno. Takes the lock. */
TOE_HIDDEN int thandover_pass(int fd);
/* For exec_relay.c: as spawn_begin() and spawn_end(), without taking the lock. lend() returns
 * whether there is any connection. used: another process has them now. */
TOE_HIDDEN bool thandover_lend(bool at_exec);
TOE_HIDDEN void thandover_take_back(bool used);
/* In the process that stays behind, instead of take_back(): lent connections are the new program's.
 */
TOE_HIDDEN void thandover_carry_lent(void);

#endif
