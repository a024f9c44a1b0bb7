/* SPDX-License-Identifier: Apache-2.0 */
/* fastopen.h - Fast Open (fastopen.c). Lock held. */
#ifndef LIBTOE_FASTOPEN_H
#define LIBTOE_FASTOPEN_H

#include "tsock.h"

struct toe_cmd;
struct tqp;

/* Waits until the TOE has taken a CONNECT with FAST. */
TOE_HIDDEN void tfast_settle(struct tsock *s);
/* Handles CONNECT_ESTABLISHED. True: of a flow already known by CONNECT_READY. */
TOE_HIDDEN bool tfast_established(struct tqp *qp, const struct toe_cmd *c);
/* Handles CONNECT_READY. */
TOE_HIDDEN void tconnect_ready(struct tqp *qp, const struct toe_cmd *c);
/* Ends a connection known by CONNECT_READY before it is open. */
TOE_HIDDEN void tfast_ended(struct tsock *s, int error);
/* Begins the connection of a sendto() with MSG_FASTOPEN, or finishes one that has begun
 * (tcp_sendmsg_fastopen() of Linux). Returns 0 when data may be sent, or -1 with errno; *kernel as
 * tconnect_begin() of connect.h. */
TOE_HIDDEN int tfast_connect(int fd, const struct sockaddr *addr, socklen_t len, int flags,
                             bool *kernel);

#endif
