/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lent_buffers.h - parts of a flow's buffers that the application uses directly (lent_buffers.c).
 * Lock held.
 *
 * While there is a claim the slot is not released, even after the flow has ended: its next owner's
 * bytes would share the memory that the application writes. When the TOE ends, the memory of the
 * queue pair stays mapped until the last claim on it has ended.
 */
#ifndef LIBTOE_LENT_BUFFERS_H
#define LIBTOE_LENT_BUFFERS_H

#include "tzc.h"

/* Returns the socket's tzc, allocated at the first call; NULL with ENOBUFS. */
TOE_HIDDEN struct tzc *tzc_get(struct tsock *s);
/* As toe_recv_peek(), but EBUSY while there is another peek. Takes the lock. */
TOE_HIDDEN ssize_t tclaim_peek_alone(int fd, struct iovec iov[2]);
/* Records n bytes read while some before them are lent. */
TOE_HIDDEN void tloan_behind(struct tsock *s, uint32_t n);
/* Counts lent bytes as read, for a close, which must not find them unread. */
TOE_HIDDEN void tloan_settle(struct tsock *s);
/* Ends the claims of a socket that ends. */
TOE_HIDDEN void tclaim_end(struct tsock *s);
/* Keeps the memory of the claims: the queue pair is about to be detached before the socket ends. */
TOE_HIDDEN void tclaim_lost(struct tsock *s, struct tqp *qp);
/* In a fork child: forgets the claims, which are the parent's; the memory is not mapped here. */
TOE_HIDDEN void tclaim_forget(struct tsock *s);

#endif
