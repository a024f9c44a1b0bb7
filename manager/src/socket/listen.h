/* SPDX-License-Identifier: Apache-2.0 */
/* listen.h - listeners: the accept queue (listen.c). Lock held. */
#ifndef LIBTOE_LISTEN_H
#define LIBTOE_LISTEN_H

#include "tsock.h"

struct toe_cmd;
struct tqp;

/* Handles LISTEN_ESTABLISHED. */
TOE_HIDDEN void tlisten_established(struct tqp *qp, const struct toe_cmd *c);
/* Handles the ERROR of a LISTEN; reason: an errno. */
TOE_HIDDEN void tlisten_refused(struct tsock *s, int reason);
TOE_HIDDEN void tlisten_end(struct tsock *s);
/* Removes a connection from the accept queue: another process that listens there has got it. */
TOE_HIDDEN void tlisten_stale(struct tsock *s);
TOE_HIDDEN void tlisten_drop_queue(struct tsock *s);
/* Returns the oldest connection of the accept queue, with the queue's reference; NULL: none. */
TOE_HIDDEN struct tsock *tlisten_dequeue(struct tsock *s);

#endif
