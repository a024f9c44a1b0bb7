/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lent_buffers.h - parts of a flow's buffers in the hands of the application (lent_buffers.c). Lock
 * held.
 *
 * While there is a claim the slot is not given back, whatever becomes of the flow: its next owner's
 * bytes would stand where the application writes. When the TOE ends, the memory of the queue pair
 * stays mapped until the last claim on it has ended.
 */
#ifndef LIBTOE_LENT_BUFFERS_H
#define LIBTOE_LENT_BUFFERS_H

#include "tzc.h"

/* The socket's, made when there is none; NULL with ENOBUFS. */
TOE_HIDDEN struct tzc *tzc_get(struct tsock *s);
/* toe_recv_peek(), but EBUSY while somebody else peeks. Takes the lock. */
TOE_HIDDEN ssize_t tclaim_peek_alone(int fd, struct iovec iov[2]);
/* n bytes have been read while some before them are lent. */
TOE_HIDDEN void tloan_behind(struct tsock *s, uint32_t n);
/* What is lent has been read: for a close, which must not find it unread. */
TOE_HIDDEN void tloan_settle(struct tsock *s);
/* The socket ends: its claims too. */
TOE_HIDDEN void tclaim_end(struct tsock *s);
/* Its queue pair is about to be detached without the socket having ended. */
TOE_HIDDEN void tclaim_lost(struct tsock *s, struct tqp *qp);
/* In a fork child: they are the parent's, and the memory is not here. */
TOE_HIDDEN void tclaim_forget(struct tsock *s);

#endif
