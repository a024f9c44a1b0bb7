/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - descriptors that libtoe keeps for itself (control sockets, eventfds), and whose
 * process this is.
 *
 * A program may close every number it does not know (daemons do, and Python's subprocess), or fill
 * low numbers by dup2(). So libtoe's own descriptors get high numbers, and under the preload
 * library closing one answers EBADF, as if it were not there.
 */
#ifndef LIBTOE_INTERNAL_H
#define LIBTOE_INTERNAL_H

#include <stdbool.h>

#include "libtoe.h"

/* Moves fd to a high number, close-on-exec, and protects it. The new number; when no high one is to
 * be had, fd itself, protected. -1 stays -1, so sys_* calls can be wrapped: tfd_internal(sys_...).
 */
TOE_HIDDEN int tfd_internal(int fd);
/* The same of a number that an exec has left open. */
TOE_HIDDEN int tfd_internal_again(int fd);
/* Ends the protection and closes it. -1 is ignored. Every internal descriptor ends through here. */
TOE_HIDDEN void tfd_internal_close(int fd);
TOE_HIDDEN bool tfd_is_internal(int fd);
/* The first internal number in [from, to], or -1. */
TOE_HIDDEN int tfd_next_internal(unsigned from, unsigned to);

/* Is this a child by vfork() or clone() that runs on the memory of another process? What it does to
 * its descriptors must not touch our tables, which are its parent's. Costs a system call. */
TOE_HIDDEN bool tproc_borrowed(void);
/* Notes that this memory belongs to the calling process: at start and in a child after fork(). */
TOE_HIDDEN void tproc_own(void);

#endif
