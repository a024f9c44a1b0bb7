/* SPDX-License-Identifier: Apache-2.0 */
/*
 * splice.c - splice() between a pipe and a socket that the TOE carries, by copying: from the slot's
 * buffer directly into the pipe, and back. The order of waits and checks is that of do_splice() of
 * Linux.
 *
 * No byte is taken from one side before the other has it: peeked bytes are consumed as far as the
 * pipe took them, and a pipe is read into reserved space. No operation on the pipe sleeps while
 * bytes are claimed: a pipe that polls as writable takes a page, an empty one its full capacity.
 */
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "fdtab.h"
#include "lent_buffers.h"
#include "lock.h"
#include "send.h"
#include "share_use.h"
#include "tsock.h"

#define SPLICE_ALL (SPLICE_F_MOVE | SPLICE_F_NONBLOCK | SPLICE_F_MORE | SPLICE_F_GIFT)
#define PAGE       4096u

static bool is_pipe(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

/* Returns whether fd is the kernel's. */
static bool is_kernels(int fd)
{
    struct tsock *s;
    bool is = true;

    if (!tsock_get(fd))
        return true;
    tctx_lock();
    tshare_use(fd);
    s = tsock_get(fd);
    is = !s || tsock_kernels(s);
    tctx_unlock();
    return is;
}

/* Polls the pipe for one event, or POLLHUP and POLLERR. 0: not yet; -1 with errno. */
static int await(int fd, short events, bool wait)
{
    struct pollfd p = {.fd = fd, .events = events};
    struct timespec now = {0, 0};
    int r = sys_ppoll(&p, 1, wait ? NULL : &now, NULL);

    return r < 0 ? -1 : p.revents;
}

/* Shortens two ranges to their first n bytes. */
static void shorten(struct iovec v[2], size_t n)
{
    if (v[0].iov_len > n)
        v[0].iov_len = n;
    n -= v[0].iov_len;
    if (v[1].iov_len > n)
        v[1].iov_len = n;
}

/* ---- into a pipe ---- */

/* Returns the bytes that the pipe takes now without waiting; 0: it is full. */
static size_t room_of(int fd)
{
    int there = 0;

    if (sys_ioctl(fd, FIONREAD, &there) == 0 && !there) {
        int size = sys_fcntl(fd, F_GETPIPE_SZ, 0);

        return size > 0 ? (size_t)size : PAGE;
    }
    return await(fd, POLLOUT, false) & POLLOUT ? PAGE : 0;
}

/* Writes as much of the ranges as the pipe takes. Returns the bytes, or -1 when it took none. */
static ssize_t fill(int fd, const struct iovec v[2], size_t n)
{
    size_t done = 0, room = 1;

    while (done < n && (room = room_of(fd))) {
        size_t k = n - done < room ? n - done : room;
        struct iovec part[2] = {v[0], v[1]};
        ssize_t put;

        for (size_t i = 0, skip = done; i < 2; i++) {
            size_t off = skip < part[i].iov_len ? skip : part[i].iov_len;

            part[i].iov_base = (uint8_t *)part[i].iov_base + off;
            part[i].iov_len -= off;
            skip -= off;
        }
        shorten(part, k);
        put = sys_writev(fd, part, 2); /* raises SIGPIPE itself */
        if (put <= 0)
            return done ? (ssize_t)done : put;
        done += (size_t)put;
    }
    return done ? (ssize_t)done : terr(EAGAIN);
}

static ssize_t to_pipe(int in, int out, size_t n, bool wait)
{
    struct iovec v[2];
    ssize_t r;
    int ready, e;

    for (;;) {
        ready = await(out, POLLOUT, wait);
        if (ready < 0)
            return -1;
        if (ready & POLLERR) {
            tsend_signal(terr(EPIPE), 0); /* no reader */
            return -1;
        }
        if (!(ready & POLLOUT))
            return terr(EAGAIN);
        r = tclaim_peek_alone(in, v);
        if (r <= 0)
            return r;
        if ((size_t)r > n)
            r = (ssize_t)n;
        shorten(v, (size_t)r);
        r = fill(out, v, (size_t)r);
        e = errno;
        (void)toe_recv_consume(in, r > 0 ? (size_t)r : 0);
        errno = e;
        if (r > 0 || e != EAGAIN || !wait)
            return r;
        /* another writer filled the pipe in between */
    }
}

/* ---- out of a pipe ---- */

/* Returns the bytes to read, 0 at the end; -1 with errno. */
static ssize_t stock_of(int fd, bool wait)
{
    for (;;) {
        int there = 0, ready = await(fd, POLLIN, wait);

        if (ready < 0 || sys_ioctl(fd, FIONREAD, &there) < 0)
            return -1;
        if (there)
            return there;
        if (ready & POLLHUP)
            return 0;
        if (!wait)
            return terr(EAGAIN);
    }
}

/* Reads without a sleep, because space is reserved and another reader may have emptied the pipe.
 * Linux before 6.4 has no such read for a pipe. */
static ssize_t read_now(int fd, const struct iovec v[2])
{
    ssize_t r = sys_call(SYS_preadv2, fd, v, 2ul, -1l, -1l, RWF_NOWAIT);

    return r < 0 && errno == EOPNOTSUPP ? sys_readv(fd, v, 2) : r;
}

#define EMPTIED ((ssize_t)-2)

/* Passes one piece of the pipe's n bytes on: as read(), then as send(). EMPTIED: it has none. */
static ssize_t pass(int in, int out, size_t n, int flags)
{
    struct iovec v[2];
    ssize_t r = toe_send_reserve(out, n, v, 0), got;

    if (r <= 0) {
        if (r < 0 && errno == ENOTCONN && !is_kernels(out))
            errno = EPIPE; /* a listener: as of any other write */
        tsend_signal(r, 0);
        return r;
    }
    shorten(v, (size_t)r);
    got = read_now(in, v);
    if (got <= 0) {
        int e = errno;

        (void)toe_send_commit(out, 0, MSG_NOSIGNAL);
        errno = e;
        return got < 0 && e == EAGAIN ? EMPTIED : got;
    }
    return toe_send_commit(out, (size_t)got, flags);
}

static ssize_t from_pipe(int in, int out, size_t n, unsigned flags, bool wait)
{
    size_t done = 0;

    while (done < n) {
        ssize_t there = stock_of(in, wait && !done), r;
        bool more;

        if (there <= 0)
            return done ? (ssize_t)done : there;
        if ((size_t)there > n - done)
            there = (ssize_t)(n - done);
        more = flags & SPLICE_F_MORE;
        r = pass(in, out, (size_t)there, more ? MSG_MORE : 0);
        if (r == EMPTIED) {
            if (wait && !done)
                continue;
            r = -1;
        }
        if (r <= 0)
            return done ? (ssize_t)done : r;
        done += (size_t)r;
    }
    return (ssize_t)done;
}

static ssize_t splice_carried(int in, int out, size_t n, unsigned flags, bool read_end)
{
    bool wait = !(flags & SPLICE_F_NONBLOCK);

    return read_end ? from_pipe(in, out, n, flags, wait) : to_pipe(in, out, n, wait);
}

ssize_t toe_splice(int in, loff_t *in_at, int out, loff_t *out_at, size_t n, unsigned flags)
{
    bool read_end = is_pipe(in), write_end = is_pipe(out);
    int pipe = read_end ? in : out, status;
    ssize_t r;

    if ((is_kernels(in) && is_kernels(out)) || !n)
        return sys_call(SYS_splice, in, in_at, out, out_at, n, flags);
    status = sys_fcntl(pipe, F_GETFL, 0);
    if ((flags & ~SPLICE_ALL) || read_end == write_end)
        return terr(sys_fcntl(in, F_GETFD, 0) < 0 || status < 0 ? EBADF : EINVAL);
    if (read_end ? in_at != NULL : out_at != NULL)
        return terr(ESPIPE);
    if (read_end ? out_at != NULL : in_at != NULL)
        return terr(EINVAL); /* a socket has no position */
    if ((status & O_ACCMODE) == (read_end ? O_WRONLY : O_RDONLY))
        return terr(EBADF);
    if (status & O_NONBLOCK)
        flags |= SPLICE_F_NONBLOCK;
    r = splice_carried(in, out, n, flags, read_end);
    /* the socket may have become shared in the meantime */
    if (r < 0 && errno == ENOTCONN && is_kernels(in) && is_kernels(out))
        return sys_call(SYS_splice, in, in_at, out, out_at, n, flags);
    return r;
}
