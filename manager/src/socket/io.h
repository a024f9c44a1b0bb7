/* SPDX-License-Identifier: Apache-2.0 */
/* io.h - what the send and the receive family share. */
#ifndef TOE_IO_H
#define TOE_IO_H

#include <fcntl.h>
#include <limits.h>

#include "ctx.h"

/* The number is an undecided socket: the kernel gets the call. Not an errno return (-1). */
#define TIO_KERNEL ((ssize_t)-2)

#define TIO_VECTORS 1024 /* Linux's UIO_MAXIOV */

/* Bytes in all, or -1 with EINVAL when the vector is not acceptable to Linux either. */
static inline ssize_t tio_total(const struct iovec *v, size_t count)
{
    size_t sum = 0;

    if (count > TIO_VECTORS)
        return terr(EINVAL);
    for (size_t i = 0; i < count; i++) {
        if (v[i].iov_len > SSIZE_MAX - sum)
            return terr(EINVAL);
        sum += v[i].iov_len;
    }
    return (ssize_t)sum;
}

/* A walk over a vector. */
struct tio_cursor {
    const struct iovec *v;
    size_t done; /* of *v */
};

/* The socket of fd, or NULL with EBADF, or EOPNOTSUPP when it is the kernel's. Lock held. */
static inline struct tsock *tsock_carried(int fd)
{
    struct tsock *s = tsock_get(fd);

    if (!s)
        errno = sys_fcntl(fd, F_GETFD, 0) < 0 ? EBADF : EOPNOTSUPP;
    return s;
}

/* ---- send.c, recv.c. Lock held. ---- */

/* Can bytes be sent, now or later? 0, or -1 with errno. */
TOE_HIDDEN int tsend_may(struct tsock *s);
/* There is not room enough: is there more now? Of an open socket without reserved bytes. */
TOE_HIDDEN bool tsend_grow(struct tsock *s);
/* The next n bytes of the send buffer are there: they go. */
TOE_HIDDEN void tsend_put(struct tsock *s, uint32_t n, int flags);
/* n bytes from the cursor, copied to stream offset `pos` of the send buffer. */
TOE_HIDDEN void tsend_copy(const struct tsock *s, uint32_t pos, uint32_t n, struct tio_cursor *c);
/* toe_send_ref(). Takes the lock. */
TOE_HIDDEN ssize_t tsend_ref(int fd, const struct iovec *v, size_t count, int flags,
                             uint64_t token);
/* What send() does besides when it fails with EPIPE. Lock not held. */
TOE_HIDDEN void tsend_signal(ssize_t r, int flags);

/* Nothing to read: false with what a recv() returns in *r (and errno), or true, to wait. */
TOE_HIDDEN bool trecv_must_wait(struct tsock *s, ssize_t *r);
/* n bytes of the stream have been read. */
TOE_HIDDEN void trecv_taken(struct tsock *s, uint32_t n);

#endif
