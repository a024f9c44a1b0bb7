/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec.h - a process executes another program and keeps its connections.
 *
 * Queue pairs are descriptors and shared memory, which outlive exec. libtoe writes its state of
 * them, of their sockets and of the numbers of these to a sealed memfd. The new program's libtoe
 * reads it at start and continues from there: the TOE still carries the connections. A number that
 * exec closes (FD_CLOEXEC) is closed at the exec, as by the kernel.
 *
 * A program without libtoe (static, setuid, no LD_PRELOAD) gets Unix sockets, which lead to the
 * connections through a process that stays behind (handover.h). So does a program whose process has
 * children that use connections through it (relay.h).
 */
#ifndef LIBTOE_EXEC_H
#define LIBTOE_EXEC_H

#include "libtoe.h"

struct tobj;

/*
 * Prepares an execve(). adopts: the new program will have libtoe. True: the exec is prepared and
 * the lock is held; if execve() returns, texec_failed() undoes all and releases the lock. False:
 * there is nothing to prepare. Not in a child of vfork().
 */
TOE_HIDDEN bool texec_begin(bool adopts);
TOE_HIDDEN void texec_failed(void);
/* At the start of a program: takes over the state that an exec has left, if any. */
TOE_HIDDEN void texec_adopt(void);

/* Returns whether o is a socket of the TOE and exec leaves fd open. */
TOE_HIDDEN bool texec_outlives(int fd, const struct tobj *o);

#endif
