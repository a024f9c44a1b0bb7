/* SPDX-License-Identifier: Apache-2.0 */
/* preload_io.c - libc's names that move data (preload.h). */
#define _GNU_SOURCE
#include "host.h"
#include "pollset.h"
#include "preload.h"
#include "preload_spawn.h"

/* ---- sending ---- */

EXPORT(ssize_t, send, (int fd, const void *buf, size_t n, int flags))
{
    return is_toe_fd(fd) ? CHECKED(bad_buffer(buf, n), CARRY_BLOCKING(toe_send(fd, buf, n, flags)))
                         : libc.send(fd, buf, n, flags);
}
EXPORT_ALIAS(ssize_t, __send, send, (int, const void *, size_t, int));

EXPORT(ssize_t, sendto,
       (int fd, const void *buf, size_t n, int flags, const struct sockaddr *addr, socklen_t len))
{
    return is_toe_fd(fd) ? CHECKED(bad_buffer(buf, n) || bad_or_null(addr, len),
                                   CARRY_BLOCKING(toe_sendto(fd, buf, n, flags, addr, len)))
                         : libc.sendto(fd, buf, n, flags, addr, len);
}

EXPORT(ssize_t, sendmsg, (int fd, const struct msghdr *msg, int flags))
{
    return is_toe_fd(fd) ? CHECKED(bad_message(msg), CARRY_BLOCKING(toe_sendmsg(fd, msg, flags)))
                         : preload_send_rights(fd, msg, flags);
}

/* Sends each message. Stops, as the kernel does, at an error (returned if nothing was sent) or a
 * short message. */
static int send_each(int fd, struct mmsghdr *msgs, unsigned n, int flags)
{
    unsigned i, k;

    for (i = 0; i < n; i++) {
        size_t whole = 0;
        ssize_t sent =
            CHECKED(bad_message(&msgs[i].msg_hdr), toe_sendmsg(fd, &msgs[i].msg_hdr, flags));

        if (sent < 0)
            return i ? (int)i : -1;
        msgs[i].msg_len = (unsigned)sent;
        for (k = 0; k < msgs[i].msg_hdr.msg_iovlen; k++)
            whole += msgs[i].msg_hdr.msg_iov[k].iov_len;
        if ((size_t)sent < whole)
            return (int)i + 1;
    }
    return (int)n;
}

/* The same on a kernel socket, with connections in the control data. */
static int send_rights(int fd, struct mmsghdr *msgs, unsigned n, int flags)
{
    unsigned i;

    for (i = 0; i < n; i++) {
        ssize_t sent = preload_send_rights(fd, &msgs[i].msg_hdr, flags);

        if (sent < 0)
            return i ? (int)i : -1;
        msgs[i].msg_len = (unsigned)sent;
    }
    return (int)n;
}

EXPORT(int, sendmmsg, (int fd, struct mmsghdr *msgs, unsigned n, int flags))
{
    if (is_toe_fd(fd)) /* UIO_MAXIOV bounds the count: __sys_sendmmsg() */
        return CHECKED(bad_messages(msgs, n),
                       CARRY_BLOCKING(send_each(fd, msgs, n < UIO_MAXIOV ? n : UIO_MAXIOV, flags)));
    for (unsigned i = 0; i < n && !tuser_unreadable(msgs, sizeof *msgs); i++)
        if (unlikely(msgs[i].msg_hdr.msg_control) && preload_has_rights(&msgs[i].msg_hdr))
            return send_rights(fd, msgs, n, flags);
    return libc.sendmmsg(fd, msgs, n, flags);
}
EXPORT_ALIAS(int, __sendmmsg, sendmmsg, (int, struct mmsghdr *, unsigned, int));

EXPORT(ssize_t, write, (int fd, const void *buf, size_t n))
{
    return is_toe_fd(fd) ? CHECKED(bad_buffer(buf, n), CARRY_BLOCKING(toe_write(fd, buf, n)))
                         : libc.write(fd, buf, n);
}
EXPORT_ALIAS(ssize_t, __write, write, (int, const void *, size_t));

EXPORT(ssize_t, writev, (int fd, const struct iovec *iov, int n))
{
    return is_toe_fd(fd) ? CHECKED(n > 0 && bad_vector(iov, (size_t)n),
                                   CARRY_BLOCKING(toe_writev(fd, iov, n)))
                         : libc.writev(fd, iov, n);
}

/* A socket has no position: -1 means "as writev", any other is ESPIPE. preadv and pwritev, which do
 * not accept -1, are left to the kernel, because the placeholder is a socket too. */
static ssize_t write_at(int fd, const struct iovec *iov, int n, off_t at, int flags)
{
    struct msghdr msg = {.msg_iov = (struct iovec *)iov, .msg_iovlen = (size_t)n};

    if (at != -1)
        return terr(ESPIPE);
    if (n < 0)
        return terr(EINVAL);
    return toe_sendmsg(fd, &msg, flags & RWF_NOWAIT ? MSG_DONTWAIT : 0);
}

EXPORT(ssize_t, pwritev2, (int fd, const struct iovec *iov, int n, off_t at, int flags))
{
    return is_toe_fd(fd) ? CHECKED(n > 0 && bad_vector(iov, (size_t)n),
                                   CARRY_BLOCKING(write_at(fd, iov, n, at, flags)))
                         : libc.pwritev2(fd, iov, n, at, flags);
}
EXPORT_ALIAS(ssize_t, pwritev64v2, pwritev2, (int, const struct iovec *, int, off_t, int));

EXPORT(ssize_t, sendfile, (int out, int in, off_t *at, size_t n))
{
    return is_toe_fd(out) ? CARRY_BLOCKING(toe_sendfile(out, in, at, n))
                          : libc.sendfile(out, in, at, n);
}
EXPORT_ALIAS(ssize_t, sendfile64, sendfile, (int, int, off_t *, size_t));

EXPORT(ssize_t, splice, (int in, loff_t *in_at, int out, loff_t *out_at, size_t n, unsigned flags))
{
    return is_toe_fd(in) || is_toe_fd(out)
               ? CARRY_BLOCKING(toe_splice(in, in_at, out, out_at, n, flags))
               : libc.splice(in, in_at, out, out_at, n, flags);
}

/* ---- receiving ---- */

EXPORT(ssize_t, recv, (int fd, void *buf, size_t n, int flags))
{
    return is_toe_fd(fd)
               ? CHECKED(bad_room(buf, n, flags), CARRY_BLOCKING(toe_recv(fd, buf, n, flags)))
               : (reads(fd), libc.recv(fd, buf, n, flags));
}
EXPORT_ALIAS(ssize_t, __recv, recv, (int, void *, size_t, int));

EXPORT(ssize_t, recvfrom,
       (int fd, void *buf, size_t n, int flags, struct sockaddr *addr, socklen_t *len))
{
    return is_toe_fd(fd)
               ? CHECKED(bad_room(buf, n, flags) || (addr && tuser_unwritable(len, sizeof *len)),
                         CARRY_BLOCKING(toe_recvfrom(fd, buf, n, flags, addr, len)))
               : (reads(fd), libc.recvfrom(fd, buf, n, flags, addr, len));
}

EXPORT(ssize_t, recvmsg, (int fd, struct msghdr *msg, int flags))
{
    ssize_t r;

    if (is_toe_fd(fd))
        return CHECKED(bad_to_receive(msg, flags), CARRY_BLOCKING(toe_recvmsg(fd, msg, flags)));
    reads(fd);
    r = libc.recvmsg(fd, msg, flags);
    if (unlikely(r >= 0 && msg->msg_controllen))
        preload_take_rights(msg);
    return r;
}

/* As recvmmsg(2): checks the timeout only after each message. */
static int receive_each(int fd, struct mmsghdr *msgs, unsigned n, int flags,
                        const struct timespec *timeout)
{
    uint64_t deadline = TWAIT_FOREVER;
    bool one = flags & MSG_WAITFORONE;
    unsigned i;

    if (timeout) {
        if (timeout->tv_sec < 0 || timeout->tv_nsec < 0 || timeout->tv_nsec >= (long)NSEC)
            return terr(EINVAL);
        deadline = tpoll_deadline((uint64_t)timeout->tv_sec, (uint64_t)timeout->tv_nsec);
    }
    flags &= ~MSG_WAITFORONE;
    for (i = 0; i < n; i++) {
        ssize_t got = CHECKED(bad_to_receive(&msgs[i].msg_hdr, flags),
                              toe_recvmsg(fd, &msgs[i].msg_hdr, flags));

        if (got < 0)
            return i ? (int)i : -1;
        msgs[i].msg_len = (unsigned)got;
        if (one)
            flags |= MSG_DONTWAIT;
        if (deadline != TWAIT_FOREVER && tclock_ns() >= deadline)
            return (int)i + 1;
    }
    return (int)n;
}

EXPORT(int, recvmmsg,
       (int fd, struct mmsghdr *msgs, unsigned n, int flags, struct timespec *timeout))
{
    int r;

    if (is_toe_fd(fd))
        return CHECKED(bad_messages(msgs, n) || bad_or_null(timeout, sizeof *timeout),
                       CARRY_BLOCKING(receive_each(fd, msgs, n, flags, timeout)));
    reads(fd);
    r = libc.recvmmsg(fd, msgs, n, flags, timeout);
    for (int i = 0; i < r; i++)
        if (unlikely(msgs[i].msg_hdr.msg_controllen))
            preload_take_rights(&msgs[i].msg_hdr);
    return r;
}

EXPORT(ssize_t, read, (int fd, void *buf, size_t n))
{
    return is_toe_fd(fd) ? CHECKED(bad_buffer(buf, n), CARRY_BLOCKING(toe_read(fd, buf, n)))
                         : (reads(fd), libc.read(fd, buf, n));
}
EXPORT_ALIAS(ssize_t, __read, read, (int, void *, size_t));

EXPORT(ssize_t, readv, (int fd, const struct iovec *iov, int n))
{
    return is_toe_fd(fd)
               ? CHECKED(n > 0 && bad_vector(iov, (size_t)n), CARRY_BLOCKING(toe_readv(fd, iov, n)))
               : (reads(fd), libc.readv(fd, iov, n));
}

static ssize_t read_at(int fd, const struct iovec *iov, int n, off_t at, int flags)
{
    struct msghdr msg = {.msg_iov = (struct iovec *)iov, .msg_iovlen = (size_t)n};

    if (at != -1)
        return terr(ESPIPE);
    if (n < 0)
        return terr(EINVAL);
    return toe_recvmsg(fd, &msg, flags & RWF_NOWAIT ? MSG_DONTWAIT : 0);
}

EXPORT(ssize_t, preadv2, (int fd, const struct iovec *iov, int n, off_t at, int flags))
{
    return is_toe_fd(fd) ? CHECKED(n > 0 && bad_vector(iov, (size_t)n),
                                   CARRY_BLOCKING(read_at(fd, iov, n, at, flags)))
                         : libc.preadv2(fd, iov, n, at, flags);
}
EXPORT_ALIAS(ssize_t, preadv64v2, preadv2, (int, const struct iovec *, int, off_t, int));

/* ---- variants of -D_FORTIFY_SOURCE, with the buffer's true size ---- */

extern void __chk_fail(void) __attribute__((noreturn));

EXPORT(ssize_t, __read_chk, (int fd, void *buf, size_t n, size_t size))
{
    if (n > size)
        __chk_fail();
    return preload_read(fd, buf, n);
}

EXPORT(ssize_t, __recv_chk, (int fd, void *buf, size_t n, size_t size, int flags))
{
    if (n > size)
        __chk_fail();
    return preload_recv(fd, buf, n, flags);
}

EXPORT(ssize_t, __recvfrom_chk,
       (int fd, void *buf, size_t n, size_t size, int flags, struct sockaddr *addr, socklen_t *len))
{
    if (n > size)
        __chk_fail();
    return preload_recvfrom(fd, buf, n, flags, addr, len);
}
