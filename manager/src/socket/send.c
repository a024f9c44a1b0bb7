/* SPDX-License-Identifier: Apache-2.0 */
/*
 * send.c - the send family: from the caller directly into the slot's buffer (SEEDS S1.13; tcp(7)).
 */
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "attach.h"
#include "batch.h"
#include "connect.h"
#include "ctx.h"
#include "eor.h"
#include "fastopen.h"
#include "fdtab.h"
#include "host.h"
#include "inline.h"
#include "io.h"
#include "lock.h"
#include "notsent.h"
#include "qp.h"
#include "send.h"
#include "share_use.h"
#include "sock.h"
#include "stamps.h"
#include "tsock.h"
#include "tzc.h"
#include "user_memory.h"
#include "wait.h"
#include "zerocopy.h"

#define SENDS_PER_LIFE 64    /* calls between two checks that the TOE is alive */
#define PAGE           4096u /* the smallest page of a machine */

struct tx_call {
    struct tio_cursor at; /* the caller's memory; v NULL: none, or read from in_fd */
    bool file;            /* of sendfile(): in_fd, offset */
    int in_fd;
    off_t *offset;
    size_t want, sent;
    int flags;
    bool zc_notify; /* notify the caller when its memory is free (zerocopy.h) */
    bool numbered;  /* ... of MSG_ZEROCOPY, by number; else by token */
    bool copied;    /* some bytes were copied */
    bool moved;     /* the socket has become the kernel's during the call (share.h) */
    uint64_t token;
};

bool tsend_copy(const struct tsock *s, uint32_t pos, uint32_t n, struct tio_cursor *c)
{
    while (n) {
        uint32_t at = pos & s->tx_mask, k = s->tx_mask + 1 - at;

        while (c->done == c->v->iov_len) {
            c->v++;
            c->done = 0;
        }
        if (k > n)
            k = n;
        if (k > c->v->iov_len - c->done)
            k = (uint32_t)(c->v->iov_len - c->done);
        if (unlikely(tuser_copy(s->tx + at, (const uint8_t *)c->v->iov_base + c->done, k) < 0))
            return false;
        c->done += k;
        pos += k;
        n -= k;
    }
    return true;
}

/* Reads up to n bytes of a file directly into the send buffer. Returns the bytes, 0 at its end, or
 * -1. */
static ssize_t read_in(const struct tsock *s, uint32_t n, const struct tx_call *c)
{
    uint32_t at = s->tx_pos & s->tx_mask, k = s->tx_mask + 1 - at;
    struct iovec v[2] = {{s->tx + at, n < k ? n : k}, {s->tx, n < k ? 0 : n - k}};
    int pieces = v[1].iov_len ? 2 : 1;

    if (c->offset)
        return sys_call(SYS_preadv, c->in_fd, v, pieces, (long)*c->offset, 0l);
    return sys_readv(c->in_fd, v, pieces);
}

void tsend_put(struct tsock *s, uint32_t n, int flags)
{
    uint8_t f = flags & MSG_MORE ? 0 : TOE_F_SEND_PUSH;

    if (unlikely(s->state == TS_CONNECTING))
        s->fast_sent = 1;
    s->tx_pos += n;
    s->tx_free -= n;
    if (unlikely(flags & (MSG_OOB | MSG_EOR))) {
        f |= flags & MSG_OOB ? TOE_F_SEND_URGENT : 0;
        f |= flags & MSG_EOR ? teor_add(s) : 0;
    }
    tbatch_answered(s);
    if (unlikely(s->timed))
        tstamps_posted(s);
    tqp_send(s->qp, TOE_CMD_SEND, f, 0, s->slot, n, 0);
}

/* Returns whether the next n bytes of the cursor can be read. Those that are sent from the caller's
 * memory are not copied, which would find that out. */
static bool is_readable(struct tio_cursor at, uint32_t n)
{
    for (; n; at = (struct tio_cursor){at.v + 1, 0}) {
        const uint8_t *from = (const uint8_t *)at.v->iov_base + at.done;
        size_t left = at.v->iov_len - at.done, k = left < n ? left : n;

        for (size_t i = 0; i < k; i += PAGE)
            if (tuser_read(from + i) < 0)
                return false;
        if (k && tuser_read(from + k - 1) < 0)
            return false;
        n -= (uint32_t)k;
    }
    return true;
}

/* Puts as many bytes as fit. Returns the bytes, or -1 with errno (the caller's memory or the file
 * cannot be read). */
static ssize_t put(struct tsock *s, struct tx_call *c)
{
    size_t left = c->want - c->sent;
    uint32_t n = left < s->tx_free ? (uint32_t)left : s->tx_free;

    if (unlikely(s->bounded)) {
        uint32_t room = tnotsent_room(s);

        if ((c->flags & MSG_EOR) && teor_full(s))
            room = 0;
        n = n < room ? n : room;
    }
    if (!n)
        return 0;
    if (unlikely(s->timed))
        tstamps_write(s);
    if (likely(c->at.v != NULL)) {
        if (unlikely(c->zc_notify && !is_readable(c->at, n)))
            return terr(EFAULT);
        if (unlikely(c->zc_notify))
            c->copied |= tzc_put(s, n, &c->at);
        else if (unlikely(!tsend_copy(s, s->tx_pos, n, &c->at)))
            return terr(EFAULT);
    } else {
        ssize_t got = read_in(s, n, c);

        if (got <= 0) {
            c->want = c->sent; /* end of the file: done */
            return got;
        }
        n = (uint32_t)got;
        if (c->offset)
            *c->offset += got;
    }
    c->sent += n;
    /* the last byte of the call is the urgent one, or ends the record */
    tsend_put(s, n, c->sent == c->want ? c->flags : c->flags & ~(MSG_OOB | MSG_EOR));
    return n;
}

bool tsend_grow(struct tsock *s)
{
    uint32_t size = s->tx_mask + 1, now;

    if (likely(size == s->qp->cfg.tx_size))
        return false;
    now = tinline_room(s->qp, s->slot, true);
    s->tx_free += now - size;
    s->tx_mask = now - 1;
    return now != size;
}

/* Returns whether the SYN waits for the first bytes (fastopen.c). */
static bool waits_for_data(const struct tsock *s)
{
    return s->state == TS_CONNECTING && s->fast && !s->fast_sent;
}

int tsend_may(struct tsock *s)
{
    if (unlikely(s->claims & TCLAIM_TX))
        return terr(EBUSY);
    if (likely(s->state == TS_OPEN && !(s->shut & TSHUT_WR)))
        return 0;
    if (s->state == TS_CONNECTING && !(s->shut & TSHUT_WR))
        return 0;
    return terr(s->error && (s->state == TS_DEAD || s->abort) ? tsock_take_error(s) : EPIPE);
}

/* Puts what the SYN carries, and waits for the end of the handshake if the caller waits, as
 * tcp_sendmsg_fastopen() of Linux. Returns 0 when the rest can be sent, 1 when the call ends with
 * what it has sent, or -1 with errno. */
static int put_syn(struct tsock *s, struct tx_call *c)
{
    int flags = c->flags;
    ssize_t n;

    if (c->want > s->fast_room)
        c->flags &= ~(MSG_OOB | MSG_EOR);
    n = put(s, c);
    c->flags = flags;
    if (n < 0)
        return -1;
    if (n == 0 && !s->fast_room) /* such a TOE takes no empty SEND: the SYN waits for the next */
        return 1;
    if (n == 0)
        tsend_put(s, 0, c->flags);
    if (s->nonblock || (c->flags & MSG_DONTWAIT))
        return c->sent ? 1 : terr(EINPROGRESS);
    if (tconnect_wait(s) == 0)
        return c->sent == c->want;
    return c->sent && s->state == TS_CONNECTING ? 1 : -1;
}

/* Returns whether a sendfile() has nothing to send: then it neither waits nor fails, whatever the
 * socket's state, for Linux reads first. */
static bool nothing_left(const struct tx_call *c)
{
    struct stat st;
    off_t at;

    if (likely(!c->file))
        return false;
    if (c->sent == c->want)
        return true;
    at = c->offset ? *c->offset : lseek(c->in_fd, 0, SEEK_CUR);
    return at >= 0 && fstat(c->in_fd, &st) == 0 && S_ISREG(st.st_mode) && at >= st.st_size;
}

static ssize_t send_wait(struct tsock *s, struct tx_call *c)
{
    uint64_t deadline = 0;
    ssize_t n = 0;

    if (unlikely(nothing_left(c)))
        return (ssize_t)c->sent;
    for (;;) {
        tctx_progress();
        if (unlikely(tsock_kernels(s))) {
            c->moved = true;
            return (ssize_t)c->sent;
        }
        if (tsend_may(s) < 0)
            return c->sent ? (ssize_t)c->sent : -1;
        if (unlikely(waits_for_data(s))) {
            int r = put_syn(s, c);

            if (r)
                return r > 0 ? (ssize_t)c->sent : -1;
            continue;
        }
        if (s->state == TS_OPEN && (n = put(s, c)) < 0)
            return c->sent ? (ssize_t)c->sent : -1;
        if (c->sent == c->want)
            return (ssize_t)c->sent;
        if (s->state == TS_OPEN && ((s->bounded && n > 0) || tsend_grow(s)))
            continue;
        if (s->nonblock || (c->flags & MSG_DONTWAIT))
            return c->sent ? (ssize_t)c->sent : terr(EAGAIN);
        if (!deadline)
            deadline = tclock_deadline(s->opts.sndtimeo);
        else if (deadline != TWAIT_FOREVER && tclock_ns() >= deadline)
            return c->sent ? (ssize_t)c->sent : terr(EAGAIN);
        if (twait_one(&s->obj, deadline) < 0)
            return c->sent ? (ssize_t)c->sent : -1;
    }
}

/*
 * Returns whether the TOE has written commands, or has ended. A program that only sends would not
 * learn of the end of the connection before the buffer is full. So each call checks the ring, and
 * some calls check the TOE. An answer to an event that epoll_wait() has just reported checks
 * neither, to save the access to the ring's cache line.
 */
static bool is_news(const struct tsock *s)
{
    struct tqp *qp = s->qp;

    if (unlikely(++qp->sends % SENDS_PER_LIFE == 0 && tqp_gone(qp)))
        qp->broken = true;
    return toe_ring_ready(&qp->hw) || qp->broken;
}

static ssize_t send_locked(struct tsock *s, struct tx_call *c)
{
    ssize_t r;

    if (likely(s->state == TS_OPEN) && !tbatch_unanswered(s) && unlikely(is_news(s)))
        tctx_progress();
    if (likely(s->state == TS_OPEN)) {
        if (likely(!(s->shut & TSHUT_WR) && !(s->claims & TCLAIM_TX))) {
            if (put(s, c) < 0)
                return -1;
            if (likely(c->sent == c->want))
                return (ssize_t)c->sent;
        }
    }
    tobj_hold(&s->obj);
    r = send_wait(s, c);
    tobj_put(&s->obj);
    return r;
}

void tsend_signal(ssize_t r, int flags)
{
    if (likely(r != -1 || errno != EPIPE || (flags & MSG_NOSIGNAL)))
        return;
    if (!atomic_load_explicit(&tctx.ended, memory_order_relaxed))
        raise(SIGPIPE);
    errno = EPIPE;
}

/* Sends, and has the caller notified when its memory is free. */
static ssize_t send_notified(struct tsock *s, struct tx_call *c)
{
    ssize_t r;

    tobj_hold(&s->obj);
    r = tzc_may(s, c->numbered);
    if (r == 0) {
        r = send_locked(s, c);
        tzc_sent(s, r > 0, c->numbered, c->token, c->copied);
    }
    tobj_put(&s->obj);
    return r;
}

/* Sends through the kernel the rest that was not sent before the socket became the kernel's. */
static ssize_t send_rest(int fd, struct tx_call *c)
{
    ssize_t r = 0;

    if (!c->at.v && c->sent < c->want)
        r = sys_sendfile(fd, c->in_fd, c->offset, c->want - c->sent);
    while (c->at.v && c->sent < c->want && r >= 0) {
        size_t n = c->at.v->iov_len - c->at.done;

        r = sys_sendto(fd, (const char *)c->at.v->iov_base + c->at.done, n, c->flags | MSG_NOSIGNAL,
                       NULL, 0);
        c->sent += r > 0 ? (size_t)r : 0;
        if (r >= 0 && (size_t)r < n)
            break;
        c->at = (struct tio_cursor){c->at.v + 1, 0};
    }
    if (!c->at.v && r > 0)
        c->sent += (size_t)r;
    return c->sent ? (ssize_t)c->sent : r;
}

/* Returns TIO_KERNEL, or as send(). */
static ssize_t transmit(int fd, struct tx_call *c)
{
    struct tsock *s;
    ssize_t r;

    tctx_lock();
    s = tsock_get(fd);
    if (unlikely(!s || tsock_kernels(s))) {
        tshare_use(fd);
        r = TIO_KERNEL;
    } else if (unlikely((c->flags & MSG_ZEROCOPY) && s->opts.zerocopy && c->want && c->at.v)) {
        c->zc_notify = c->numbered = true;
        r = send_notified(s, c);
    } else {
        r = likely(!c->zc_notify) ? send_locked(s, c) : send_notified(s, c);
    }
    tctx_unlock();
    if (unlikely(c->moved))
        r = send_rest(fd, c);
    tsend_signal(r, c->flags); /* the lock is not held: the handler may make any call */
    return r;
}

static ssize_t transmit_v(int fd, const struct iovec *v, size_t count, int flags)
{
    ssize_t n = count == 1 ? (ssize_t)v->iov_len : tio_total(v, count);
    struct tx_call c = {.at = {v, 0}, .want = (size_t)n, .flags = flags};

    if (unlikely(n < 0))
        return terr(EINVAL);
    return transmit(fd, &c);
}

ssize_t tsend_ref(int fd, const struct iovec *v, size_t count, int flags, uint64_t token)
{
    ssize_t n = tio_total(v, count);
    struct tx_call c = {
        .at = {v, 0}, .want = (size_t)n, .flags = flags, .zc_notify = true, .token = token};
    ssize_t r;

    if (n <= 0)
        return n;
    r = transmit(fd, &c);
    if (r != TIO_KERNEL)
        return r;
    return terr(tsock_get(fd) ? ENOTCONN : sys_fcntl(fd, F_GETFD, 0) < 0 ? EBADF : EOPNOTSUPP);
}

/* Implements sendto() and sendmsg() with MSG_FASTOPEN: connect() and send() in one. */
static ssize_t transmit_fast(int fd, const struct iovec *v, size_t count, int flags,
                             const struct sockaddr *addr, socklen_t len)
{
    ssize_t n = count == 1 ? (ssize_t)v->iov_len : tio_total(v, count);
    struct tsock *s;
    bool kernel;
    int r;

    if (n < 0)
        return terr(EINVAL);
    tctx_lock();
    s = tsock_get(fd);
    if (s)
        tobj_hold(&s->obj);
    r = tfast_connect(fd, addr, len, flags, &kernel);
    if (s)
        tobj_put(&s->obj);
    tctx_unlock();
    if (kernel)
        return TIO_KERNEL;
    return r < 0 ? r : transmit_v(fd, v, count, flags & ~MSG_FASTOPEN);
}

ssize_t toe_send(int fd, const void *buf, size_t n, int flags)
{
    return toe_sendto(fd, buf, n, flags, NULL, 0);
}

ssize_t toe_sendto(int fd, const void *buf, size_t n, int flags, const struct sockaddr *addr,
                   socklen_t len)
{
    struct iovec v = {(void *)(uintptr_t)buf, n};
    ssize_t r = TIO_KERNEL;

    /* an address on a connected stream is ignored, as Linux does */
    if (likely(tsock_get(fd)))
        r = unlikely(flags & MSG_FASTOPEN) ? transmit_fast(fd, &v, 1, flags, addr, len)
                                           : transmit_v(fd, &v, 1, flags);
    return r == TIO_KERNEL ? sys_sendto(fd, buf, n, flags, addr, len) : r;
}

ssize_t toe_sendmsg(int fd, const struct msghdr *msg, int flags)
{
    ssize_t r = TIO_KERNEL;

    if (tsock_get(fd) && msg->msg_iovlen > TIO_VECTORS)
        return terr(EMSGSIZE);
    if (tsock_get(fd))
        r = unlikely(flags & MSG_FASTOPEN) ? transmit_fast(fd, msg->msg_iov, msg->msg_iovlen, flags,
                                                           msg->msg_name, msg->msg_namelen)
                                           : transmit_v(fd, msg->msg_iov, msg->msg_iovlen, flags);
    return r == TIO_KERNEL ? sys_sendmsg(fd, msg, flags) : r;
}

ssize_t toe_write(int fd, const void *buf, size_t n)
{
    struct iovec v = {(void *)(uintptr_t)buf, n};
    ssize_t r = TIO_KERNEL;

    if (likely(tsock_get(fd)))
        r = transmit_v(fd, &v, 1, 0);
    return r == TIO_KERNEL ? sys_write(fd, buf, n) : r;
}

ssize_t toe_writev(int fd, const struct iovec *iov, int count)
{
    ssize_t r = TIO_KERNEL;

    if (likely(tsock_get(fd)))
        r = count < 0                        ? terr(EINVAL)
            : !tio_total(iov, (size_t)count) ? 0 /* in any state (vfs_writev() of Linux) */
                                             : transmit_v(fd, iov, (size_t)count, 0);
    return r == TIO_KERNEL ? sys_writev(fd, iov, count) : r;
}

/* Checks the source of a sendfile() into a TOE socket. One that is no file would block under the
 * lock. */
static int check_source(int in_fd, const off_t *offset)
{
    struct stat st;

    if (tobj_get(in_fd))
        return terr(EINVAL);
    if (offset)
        return *offset < 0 ? terr(EINVAL) : 0; /* preadv rejects files that cannot seek */
    if (fstat(in_fd, &st) < 0)
        return -1;
    return S_ISREG(st.st_mode) || S_ISBLK(st.st_mode) ? 0 : terr(EINVAL);
}

ssize_t toe_sendfile(int fd, int in_fd, off_t *offset, size_t n)
{
    struct tx_call c = {.file = true, .in_fd = in_fd, .offset = offset, .want = n};
    ssize_t r = TIO_KERNEL;

    if (tsock_get(fd))
        r = check_source(in_fd, offset) < 0 ? -1 : transmit(fd, &c);
    return r == TIO_KERNEL ? sys_sendfile(fd, in_fd, offset, n) : r;
}
