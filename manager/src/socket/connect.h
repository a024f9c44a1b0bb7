/* SPDX-License-Identifier: Apache-2.0 */
/* connect.h - active opens (connect.c). Lock held. */
#ifndef LIBTOE_CONNECT_H
#define LIBTOE_CONNECT_H

#include "tsock.h"

struct toe_cmd;
struct tqp;

/*
 * Decides the carrier of the connection and begins it. Returns 0, or -1 with errno. *kernel: pass
 * the call to the kernel (and 0 is returned). fast: if s->fast is set afterwards, data may be put
 * before the connection is open.
 */
TOE_HIDDEN int tconnect_begin(struct tsock *s, int fd, const struct sockaddr *addr, socklen_t len,
                              bool fast, bool *kernel);
/* Waits until it is open or has failed; returns as connect(). */
TOE_HIDDEN int tconnect_wait(struct tsock *s);
/* Returns the result of a connect() that has just begun. As on Linux, one that does not wait leaves
 * the peer's answer to the next call, even if it is there already. */
TOE_HIDDEN int tconnect_result(struct tsock *s, bool nonblock);
/* Returns the result of a connect() on a socket that has begun one, or listens; 1: it may begin a
 * connection. */
TOE_HIDDEN int tconnect_again(struct tsock *s, bool nonblock);
/* Handles CONNECT_ESTABLISHED. */
TOE_HIDDEN void tconnect_done(struct tqp *qp, const struct toe_cmd *c);
TOE_HIDDEN void tconnect_failed(uint32_t cookie, int error);
/* Handles CONNECT_PORT. */
TOE_HIDDEN void tconnect_port(struct tqp *qp, const struct toe_cmd *c);
/* Asks the TOE for the local port that it chose for a connection without an answer. */
TOE_HIDDEN void tconnect_ask_port(struct tsock *s);

#endif
