/* SPDX-License-Identifier: Apache-2.0 */
/* fastopen.h - Fast Open (fastopen.c). Lock held. */
#ifndef LIBTOE_FASTOPEN_H
#define LIBTOE_FASTOPEN_H

#include "tsock.h"

struct toe_cmd;
struct tqp;

/* Waits for the TOE to take a CONNECT with FAST. */
TOE_HIDDEN void tfast_settle(struct tsock *s);
/* CONNECT_ESTABLISHED of a flow that CONNECT_READY had named: true. */
TOE_HIDDEN bool tfast_established(struct tqp *qp, const struct toe_cmd *c);
/* CONNECT_READY. */
TOE_HIDDEN void tconnect_ready(struct tqp *qp, const struct toe_cmd *c);
/* A connection that CONNECT_READY had named ends before it is open. */
TOE_HIDDEN void tfast_ended(struct tsock *s, int error);
/* sendto() with MSG_FASTOPEN begins the connection: *kernel as tconnect_begin() of connect.h; 0:
 * data may be sent, -1 with errno. data: there is some, else the SYN waits for none. */
TOE_HIDDEN int tfast_connect(int fd, const struct sockaddr *addr, socklen_t len, bool data,
                             bool *kernel);

#endif
