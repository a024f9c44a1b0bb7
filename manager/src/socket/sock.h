/* SPDX-License-Identifier: Apache-2.0 */
/* sock.h - sockets before they are connections (sock.c). Lock held. */
#ifndef LIBTOE_SOCK_H
#define LIBTOE_SOCK_H

#include "tsock.h"

/* A listener of the kernel's that is undecided: decides who carries it. 0, or -1 with errno. */
TOE_HIDDEN int tsock_listens(struct tsock *s, int fd, int backlog);
/* After a connect() that failed, or the shutdown of a listener: as new, and the kernel's socket
 * still has what bind() gave it. Not one that began as a duplicate of another's placeholder. */
TOE_HIDDEN bool tsock_is_new(const struct tsock *s, int fd);
/* The pending error, cleared (SO_ERROR). */
TOE_HIDDEN int tsock_take_error(struct tsock *s);

#endif
