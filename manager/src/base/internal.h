/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - libtoe's own descriptors (control sockets, eventfds), and which process owns
 * this memory.
 *
 * A program may close every number it does not know (daemons do, and Python's subprocess), or fill
 * low numbers by dup2(). So libtoe's own descriptors get high numbers, and under the preload
 * library closing one answers EBADF, as if it were not there.
 */
#ifndef LIBTOE_INTERNAL_H
#define LIBTOE_INTERNAL_H

#include <stdbool.h>

#include "libtoe.h"

/* Moves fd to a high number, close-on-exec, and protects it. Returns the new number; when no high
 * one is available, fd itself, protected. -1 stays -1, so sys_* calls can be wrapped:
 * tfd_internal(sys_...). */
TOE_HIDDEN int tfd_internal(int fd);
/* The same for a number that an exec has left open. */
TOE_HIDDEN int tfd_internal_again(int fd);
/* Ends the protection and closes fd. Ignores -1. Every internal descriptor is closed through here.
 */
TOE_HIDDEN void tfd_internal_close(int fd);
TOE_HIDDEN bool tfd_is_internal(int fd);
/* Returns the first internal number in [from, to], or -1. */
TOE_HIDDEN int tfd_next_internal(unsigned from, unsigned to);

/* Returns whether this is a child by vfork() or clone() that runs on the memory of another process.
 * Changes to its descriptors must not touch our tables, which are its parent's. Costs a system
 * call. */
TOE_HIDDEN bool tproc_borrowed(void);
/* Notes that this memory belongs to the calling process: at start and in a child after fork(). */
TOE_HIDDEN void tproc_own(void);

#endif
