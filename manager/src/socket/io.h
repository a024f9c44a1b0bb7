/* SPDX-License-Identifier: Apache-2.0 */
/* io.h - what the send and the receive family share: vectors of memory. */
#ifndef LIBTOE_IO_H
#define LIBTOE_IO_H

#include <fcntl.h>
#include <limits.h>

#include "tsock.h"

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
static inline struct tsock *tsock_of_toe(int fd)
{
    struct tsock *s = tsock_get(fd);

    if (!s)
        errno = sys_fcntl(fd, F_GETFD, 0) < 0 ? EBADF : EOPNOTSUPP;
    return s;
}

#endif
