/* SPDX-License-Identifier: Apache-2.0 */
/* send.h - the send family (send.c). Lock held, except where noted. */
#ifndef LIBTOE_SEND_H
#define LIBTOE_SEND_H

#include "io.h"

/* Checks whether bytes can be sent, now or later. 0, or -1 with errno. */
TOE_HIDDEN int tsend_may(struct tsock *s);
/* Requests a larger send buffer when space is short. Returns whether there is more space now. For
 * an open socket without reserved bytes. */
TOE_HIDDEN bool tsend_grow(struct tsock *s);
/* Sends the next n bytes of the send buffer, which are in place. */
TOE_HIDDEN void tsend_put(struct tsock *s, uint32_t n, int flags);
/* Copies n bytes from the cursor to stream offset `pos` of the send buffer. Returns false after a
 * fault (EFAULT). */
TOE_HIDDEN bool tsend_copy(const struct tsock *s, uint32_t pos, uint32_t n, struct tio_cursor *c);
/* toe_send_ref(). Takes the lock. */
TOE_HIDDEN ssize_t tsend_ref(int fd, const struct iovec *v, size_t count, int flags,
                             uint64_t token);
/* Raises SIGPIPE when send() failed with EPIPE, unless flags forbid it. Lock not held. */
TOE_HIDDEN void tsend_signal(ssize_t r, int flags);

#endif
