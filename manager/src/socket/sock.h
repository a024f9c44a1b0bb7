/* SPDX-License-Identifier: Apache-2.0 */
/* sock.h - sockets before they are connections (sock.c). Lock held. */
#ifndef LIBTOE_SOCK_H
#define LIBTOE_SOCK_H

#include "tsock.h"

/* Decides the carrier of an undecided socket that listens in the kernel. 0, or -1 with errno. */
TOE_HIDDEN int tsock_listens(struct tsock *s, int fd, int backlog);
/* Returns whether s is as new after a failed connect() or the shutdown of a listener; the kernel
 * socket still has its bind(). False for one that began as a duplicate of another's placeholder. */
TOE_HIDDEN bool tsock_is_new(const struct tsock *s, int fd);
/* Returns and clears the pending error (SO_ERROR). */
TOE_HIDDEN int tsock_take_error(struct tsock *s);

#endif
