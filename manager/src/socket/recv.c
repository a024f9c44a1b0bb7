/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recv.c - the receive family: from the slot's buffer, or a frame, directly to the caller (SEEDS
 * S1.13, S4.4; tcp(7)).
 */
#include <string.h>

#include "ancillary.h"
#include "ctx.h"
#include "fdtab.h"
#include "flow.h"
#include "frames.h"
#include "host.h"
#include "io.h"
#include "lent_buffers.h"
#include "lock.h"
#include "qp.h"
#include "recv.h"
#include "share_use.h"
#include "sock.h"
#include "stamps.h"
#include "tsock.h"
#include "tzc.h"
#include "urgent.h"
#include "user_memory.h"
#include "wait.h"
#include "zerocopy.h"

/* Copies n bytes at stream offset `pos` to the cursor. Returns false after a fault (EFAULT). */
static bool copy_out(const struct tsock *s, uint32_t pos, uint32_t n, struct tio_cursor *c)
{
    while (n) {
        uint32_t k = n;
        const uint8_t *from;

        while (c->done == c->v->iov_len) {
            c->v++;
            c->done = 0;
        }
        if (k > c->v->iov_len - c->done)
            k = (uint32_t)(c->v->iov_len - c->done);
        from = tframe_at(s, pos, &k);
        if (unlikely(tuser_copy((uint8_t *)c->v->iov_base + c->done, from, k) < 0))
            return false;
        c->done += k;
        pos += k;
        n -= k;
    }
    return true;
}

void trecv_taken(struct tsock *s, uint32_t n)
{
    s->rx_pos += n;
    s->rx_avail -= n;
    if (unlikely(s->timed))
        tstamps_read(s);
    if (unlikely(s->claims & TLOANS))
        tloan_behind(s, n);
    else
        s->rx_unreported += n;
    tframe_read(s);
    /* RECV for a quarter of the buffer at a time. The peer always has the other three quarters, so
     * bytes read but not reported never close the window. */
    if (unlikely(s->rx_unreported > s->rx_mask >> 2))
        tflow_report_read(s);
    if (unlikely(s->state == TS_DEAD))
        tflow_done(s);
}

bool trecv_must_wait(struct tsock *s, ssize_t *r)
{
    *r = 0;
    if (s->eof == TEOF_FIN) /* as Linux, whatever happened to the connection afterwards */
        return false;
    if (s->error && s->state != TS_LISTEN) {
        *r = terr(tsock_take_error(s));
        return false;
    }
    /* after a refused connect() that has reported its error another way, Linux returns EOF */
    if (s->state == TS_LISTEN || s->state == TS_FOREIGN ||
        (s->connect_failed && s->unconnected && !(s->shut & TSHUT_RD))) {
        *r = terr(ENOTCONN);
        return false;
    }
    return !s->eof && !(s->shut & TSHUT_RD);
}

struct rx_call {
    const struct iovec *v;
    struct tio_cursor at;
    size_t want, least; /* least: bytes to return, when blocking */
    size_t got;
    int flags;
    bool fault; /* the caller's memory cannot be written */
};

/* Takes n bytes, after `skip` that are left out. */
static void take_bytes(struct tsock *s, struct rx_call *c, uint32_t n, uint32_t skip)
{
    if (!n)
        return;
    if (likely(!(c->flags & MSG_TRUNC)) && unlikely(!copy_out(s, s->rx_pos + skip, n, &c->at))) {
        c->fault = true; /* the bytes stay: what was got before them is returned, or EFAULT */
        return;
    }
    if (likely(!(c->flags & MSG_PEEK)))
        trecv_taken(s, n + skip);
    c->got += n;
}

/* Takes bytes up to the mark of urgent data. The next read begins after the urgent byte, or with it
 * when it is in line (SO_OOBINLINE). */
static void take_to_mark(struct tsock *s, struct rx_call *c)
{
    uint32_t n = turgent_readable(s), skip = tsock_urgent_skip(s);

    if (turgent_at_mark(s) && c->got) {
        c->least = c->got;
        return;
    }
    if (n > c->want - c->got)
        n = (uint32_t)(c->want - c->got);
    take_bytes(s, c, n, skip);
    if (!n && skip && c->want && !(c->flags & MSG_PEEK))
        trecv_taken(s, skip); /* the urgent byte is passed, although nothing follows it yet */
    if (!(c->flags & MSG_PEEK))
        turgent_passed(s);
    if (c->got && turgent_at_mark(s))
        c->least = c->got;
}

/* Takes the available bytes. */
static void take(struct tsock *s, struct rx_call *c)
{
    size_t n;

    if (unlikely(c->flags & MSG_PEEK)) { /* each peek starts at the same byte */
        c->at = (struct tio_cursor){c->v, 0};
        c->got = 0;
    }
    if (unlikely(s->oob)) {
        take_to_mark(s, c);
        return;
    }
    n = c->want - c->got;
    if (n > s->rx_avail)
        n = s->rx_avail;
    take_bytes(s, c, (uint32_t)n, 0);
}

/* Returns whether a reader works in place, so that no other may take bytes (toe_recv_peek()). */
static bool is_claimed(const struct tsock *s, int flags)
{
    return (s->claims & TCLAIM_RX) && !(flags & MSG_PEEK);
}

static ssize_t recv_wait(struct tsock *s, struct rx_call *c)
{
    uint64_t deadline = 0;
    ssize_t r;

    for (;;) {
        tctx_progress();
        if (unlikely(tsock_kernels(s)))
            return c->got ? (ssize_t)c->got : TIO_KERNEL;
        if (unlikely(is_claimed(s, c->flags)))
            return c->got ? (ssize_t)c->got : terr(EBUSY);
        if (unlikely(!c->want && s->rx_avail))
            return 0;
        take(s, c);
        if (unlikely(c->fault))
            return c->got ? (ssize_t)c->got : terr(EFAULT);
        if (c->got && c->got >= c->least)
            return (ssize_t)c->got;
        if (!trecv_must_wait(s, &r))
            return c->got ? (ssize_t)c->got : r;
        if (unlikely((c->flags & MSG_PEEK) && s->rx_unreported && s->state == TS_OPEN)) {
            tflow_report_read(s); /* the missing bytes may need all of the buffer */
            continue;
        }
        if (s->nonblock || (c->flags & MSG_DONTWAIT))
            return c->got ? (ssize_t)c->got : terr(EAGAIN);
        if (!deadline)
            deadline = tclock_deadline(s->opts.rcvtimeo);
        else if (deadline != TWAIT_FOREVER && tclock_ns() >= deadline)
            return c->got ? (ssize_t)c->got : terr(EAGAIN);
        if (twait_one(&s->obj, deadline) < 0)
            return c->got ? (ssize_t)c->got : -1;
    }
}

/* Returns whether the TOE has written commands that no call has handled yet. A direct TOE has no
 * ring: it runs when a call waits. */
static bool is_more_news(const struct tsock *s)
{
    return s->qp && !s->qp->direct && toe_ring_ready(&s->qp->hw);
}

/* Handles the ring and takes the bytes that it announces: as on Linux, a read returns all that has
 * arrived. */
static void take_news(struct tsock *s, struct rx_call *c)
{
    while (c->got < c->want && !c->fault && is_more_news(s)) {
        tobj_hold(&s->obj);
        tctx_progress();
        if (likely(!tsock_kernels(s) && !is_claimed(s, c->flags)))
            take(s, c);
        tobj_put(&s->obj);
    }
}

static uint8_t *first_byte(const struct iovec *v)
{
    while (!v->iov_len)
        v++;
    return v->iov_base;
}

static ssize_t recv_locked(struct tsock *s, const struct iovec *v, size_t n, int flags,
                           struct msghdr *msg)
{
    struct rx_call c = {.v = v, .at = {v, 0}, .want = n, .least = 1, .flags = flags};
    ssize_t r;

    if (unlikely(flags & MSG_OOB))
        return turgent_recv(s, n ? first_byte(v) : NULL, n, flags);
    if (unlikely(flags & MSG_ERRQUEUE))
        return tzc_errqueue(s, msg);
    if (unlikely(s->lowat > 1))
        c.least = (size_t)s->lowat < n ? (size_t)s->lowat : n;
    if (flags & MSG_WAITALL)
        c.least = n;
    if (unlikely(!n))
        c.least = 1; /* as Linux: a read of 0 bytes waits until there is data */
    if (unlikely(is_claimed(s, flags)))
        return terr(EBUSY);
    take(s, &c);
    if (unlikely(c.got < n && is_more_news(s)))
        take_news(s, &c);
    if (likely(c.got >= c.least))
        return (ssize_t)c.got;
    tobj_hold(&s->obj);
    r = recv_wait(s, &c);
    tobj_put(&s->obj);
    return r;
}

/* Sets what recvmsg() returns beside the bytes. */
static void put_message(struct tsock *s, struct msghdr *msg, size_t n, int flags)
{
    uint32_t end = s->rx_pos + (flags & MSG_PEEK ? (uint32_t)n : 0);

    msg->msg_namelen = 0;
    msg->msg_flags = n ? flags & MSG_OOB : 0;
    if (flags & MSG_OOB)
        msg->msg_controllen = 0;
    else
        tancillary_put(s, msg, n, end);
}

/* Returns TIO_KERNEL, or as recv(). */
static ssize_t receive(int fd, const struct iovec *v, size_t count, int flags, struct msghdr *msg)
{
    ssize_t n = count == 1 ? (ssize_t)v->iov_len : tio_total(v, count);
    struct tsock *s;
    ssize_t r;

    if (unlikely(n < 0))
        return terr(EINVAL);
    tctx_lock();
    s = tsock_get(fd);
    if (likely(s && !tsock_kernels(s))) {
        r = recv_locked(s, v, (size_t)n, flags, msg);
        if (unlikely(msg && r >= 0 && !(flags & MSG_ERRQUEUE)))
            put_message(s, msg, (size_t)r, flags);
    } else if (unlikely(s && s->state == TS_SHARED && (flags & MSG_ERRQUEUE))) {
        /* on a Unix socket MSG_ERRQUEUE would return bytes of the stream */
        r = tzc_errqueue(tflow_of(s), msg);
    } else {
        tshare_use(fd);
        r = TIO_KERNEL;
    }
    tctx_unlock();
    return r;
}

ssize_t toe_recv(int fd, void *buf, size_t n, int flags)
{
    struct iovec v = {buf, n};
    ssize_t r = TIO_KERNEL;

    if (likely(tsock_get(fd)))
        r = receive(fd, &v, 1, flags, NULL);
    return r == TIO_KERNEL ? sys_recvfrom(fd, buf, n, flags, NULL, NULL) : r;
}

ssize_t toe_recvfrom(int fd, void *buf, size_t n, int flags, struct sockaddr *addr, socklen_t *len)
{
    struct iovec v = {buf, n};
    ssize_t r = TIO_KERNEL;

    if (tsock_get(fd))
        r = receive(fd, &v, 1, flags, NULL);
    if (r == TIO_KERNEL)
        return sys_recvfrom(fd, buf, n, flags, addr, len);
    if (r >= 0 && addr && len)
        *len = 0; /* as Linux: data of a stream has no source address */
    return r;
}

ssize_t toe_recvmsg(int fd, struct msghdr *msg, int flags)
{
    ssize_t r = TIO_KERNEL;

    if (tsock_get(fd) && msg->msg_iovlen > TIO_VECTORS)
        return terr(EMSGSIZE);
    if (tsock_get(fd))
        r = receive(fd, msg->msg_iov, msg->msg_iovlen, flags, msg);
    return r == TIO_KERNEL ? sys_recvmsg(fd, msg, flags) : r;
}

ssize_t toe_read(int fd, void *buf, size_t n)
{
    struct iovec v = {buf, n};
    ssize_t r = TIO_KERNEL;

    if (likely(tsock_get(fd)))
        r = likely(n) ? receive(fd, &v, 1, 0, NULL) : 0; /* n 0: at once; recv() waits */
    return r == TIO_KERNEL ? sys_read(fd, buf, n) : r;
}

ssize_t toe_readv(int fd, const struct iovec *iov, int count)
{
    ssize_t r = TIO_KERNEL;

    if (tsock_get(fd))
        r = count < 0                        ? terr(EINVAL)
            : !tio_total(iov, (size_t)count) ? 0
                                             : receive(fd, iov, (size_t)count, 0, NULL);
    return r == TIO_KERNEL ? sys_readv(fd, iov, count) : r;
}
