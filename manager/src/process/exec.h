/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec.h - a process becomes another program and keeps its connections.
 *
 * Queue pairs are descriptors and shared memory, which outlive exec. What this side knows of them,
 * of their sockets and of the numbers that lead there is written to a sealed memfd, which the new
 * program's libtoe finds when it starts, and goes on from there: the connections stay the TOE's. A
 * number that exec closes (FD_CLOEXEC) is closed then, as the kernel closes it.
 *
 * A program without libtoe (static, setuid, LD_PRELOAD gone) gets Unix sockets, which lead to the
 * connections through a process of its own that stays behind (handover.h). So does one whose
 * process has children that use connections through it (relay.h).
 */
#ifndef LIBTOE_EXEC_H
#define LIBTOE_EXEC_H

#include "libtoe.h"

struct tobj;

/*
 * Before execve(). adopts: the new program will have libtoe. True: it has been prepared, the lock
 * is held, and when execve() comes back texec_failed() makes all as before and gives the lock back.
 * False: there is nothing to prepare. Not in a child of vfork().
 */
TOE_HIDDEN bool texec_begin(bool adopts);
TOE_HIDDEN void texec_failed(void);
/* At the start of a program: takes over what an exec has left, if there is anything. */
TOE_HIDDEN void texec_adopt(void);

/* Does exec leave it open, and is it a socket of the TOE's? */
TOE_HIDDEN bool texec_outlives(int fd, const struct tobj *o);

#endif
