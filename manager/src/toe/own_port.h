/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_port.h - the port of a socket that was bound to port 0 (own_port.c). As on Linux, which does
 * not set SOCK_BINDPORT_LOCK there, it is the socket's only until its connection ends. Lock held.
 */
#ifndef LIBTOE_OWN_PORT_H
#define LIBTOE_OWN_PORT_H

#include "tsock.h"

/* Binds fd to addr with this port, network byte order, as if bind() to port 0 had chosen it.
 * Returns 0, or -1 with errno: EADDRINUSE when the port is not free any more. */
TOE_HIDDEN int tport_bind(struct tsock *s, int fd, const struct sockaddr *addr, socklen_t len,
                          uint16_t port);
/* Releases the port of a socket whose connection has ended; its address stays bound. */
TOE_HIDDEN void tport_release(struct tsock *s);
/* Returns IP_LOCAL_PORT_RANGE as CONNECT has it: first | last << 16, or 0. */
TOE_HIDDEN uint32_t tport_range(int fd);

#endif
