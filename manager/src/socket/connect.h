/* SPDX-License-Identifier: Apache-2.0 */
/* connect.h - what connect.c and fastopen.c have of each other. Lock held. */
#ifndef TOE_CONNECT_H
#define TOE_CONNECT_H

#include "ctx.h"

/*
 * Decides who carries the connection and begins it. *kernel: the kernel gets the call (0), else 0
 * or -1 with errno. fast: when s->fast is set then, data may be put before it is open.
 */
TOE_HIDDEN int tconnect_begin(struct tsock *s, int fd, const struct sockaddr *addr, socklen_t len,
                              bool fast, bool *kernel);
/* Waits until it is open, or failed; as connect(). */
TOE_HIDDEN int tconnect_wait(struct tsock *s);

/* ---- fastopen.c ---- */

/* Waits for the TOE to take a CONNECT with FAST. */
TOE_HIDDEN void tfast_settle(struct tsock *s);
/* CONNECT_ESTABLISHED of a flow that CONNECT_READY had named: true. */
TOE_HIDDEN bool tfast_established(struct tqp *qp, const struct toe_cmd *c);

#endif
