/* SPDX-License-Identifier: Apache-2.0 */
/* io.h - vectors of memory, for the send and the receive family. */
#ifndef LIBTOE_IO_H
#define LIBTOE_IO_H

#include <fcntl.h>
#include <limits.h>

#include "tsock.h"

/* The number is an undecided socket: pass the call to the kernel. Not an errno return (-1). */
#define TIO_KERNEL ((ssize_t)-2)

#define TIO_VECTORS 1024 /* Linux's UIO_MAXIOV */

/* Returns the total bytes, or -1 with EINVAL when Linux would reject the vector too. */
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

/* A position in a vector. */
struct tio_cursor {
    const struct iovec *v;
    size_t done; /* bytes of *v */
};

/* Returns the socket of fd, or NULL with EBADF, or EOPNOTSUPP when it is the kernel's. Lock held.
 */
static inline struct tsock *tsock_of_toe(int fd)
{
    struct tsock *s = tsock_get(fd);

    if (!s)
        errno = sys_fcntl(fd, F_GETFD, 0) < 0 ? EBADF : EOPNOTSUPP;
    return s;
}

#endif
