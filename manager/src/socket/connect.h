/* SPDX-License-Identifier: Apache-2.0 */
/* connect.h - active opens (connect.c). Lock held. */
#ifndef LIBTOE_CONNECT_H
#define LIBTOE_CONNECT_H

#include "tsock.h"

struct toe_cmd;
struct tqp;

/*
 * Decides who carries the connection and begins it. *kernel: the kernel gets the call (0), else 0
 * or -1 with errno. fast: when s->fast is set then, data may be put before it is open.
 */
TOE_HIDDEN int tconnect_begin(struct tsock *s, int fd, const struct sockaddr *addr, socklen_t len,
                              bool fast, bool *kernel);
/* Waits until it is open, or failed; as connect(). */
TOE_HIDDEN int tconnect_wait(struct tsock *s);
/* CONNECT_ESTABLISHED. */
TOE_HIDDEN void tconnect_done(struct tqp *qp, const struct toe_cmd *c);
TOE_HIDDEN void tconnect_failed(uint32_t cookie, int error);

#endif
