/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lent_buffers.c - toe_send_reserve/commit, toe_recv_peek/consume and toe_recv_borrow/return: the
 * application works in the slot's buffers itself, or reads the frames in place (SEEDS S4.4).
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "ctx.h"
#include "fdtab.h"
#include "flow.h"
#include "frames.h"
#include "host.h"
#include "inline.h"
#include "io.h"
#include "lent_buffers.h"
#include "lock.h"
#include "qp.h"
#include "recv.h"
#include "send.h"
#include "tsock.h"
#include "tzc.h"
#include "urgent.h"
#include "wait.h"
#include "zerocopy.h"

struct tzc *tzc_get(struct tsock *s)
{
    if (likely(s->zc != NULL))
        return s->zc;
    s->zc = calloc(1, sizeof(*s->zc));
    if (s->zc) /* now, as the loss of a TOE under a claim has no caller that could get ENOBUFS */
        s->zc->spare = calloc(1, sizeof(*s->zc->spare));
    if (s->zc && !s->zc->spare) {
        free(s->zc);
        s->zc = NULL;
    }
    if (!s->zc)
        errno = ENOBUFS;
    return s->zc;
}

/* ---- the memory under them ---- */

static void kept_put(struct tzc *zc)
{
    struct tkept *k = zc->kept;

    zc->kept = NULL;
    if (!k || --k->users)
        return;
    munmap(k->area, k->size);
    free(k);
}

void tclaim_lost(struct tsock *s, struct tqp *qp)
{
    if (!s->claims || qp->inside) /* a TOE in this process cannot be lost */
        return;
    if (!qp->kept) {
        qp->kept = s->zc->spare;
        s->zc->spare = NULL;
        *qp->kept = (struct tkept){.area = qp->area, .size = qp->layout.total};
    }
    qp->kept->users++;
    s->zc->kept = qp->kept;
}

static void unclaim(struct tsock *s, uint8_t claim)
{
    s->claims &= (uint8_t)~claim;
    if (s->claims)
        return;
    kept_put(s->zc);
    if (unlikely(s->state == TS_DEAD))
        tflow_done(s);
}

void tclaim_end(struct tsock *s)
{
    s->claims = 0;
    s->rx_held = 0;
    if (!s->zc)
        return;
    kept_put(s->zc);
    free(s->zc->loans);
    free(s->zc->spare);
    tzc_free(s->zc);
    s->zc = NULL;
}

void tclaim_forget(struct tsock *s)
{
    if (s->zc)
        s->zc->kept = NULL;
    tclaim_end(s);
}

/* ---- common to all calls ---- */

/* Sets iov to n bytes of a ring from position pos on. */
static void ranges(uint8_t *ring, uint32_t mask, uint32_t pos, uint32_t n, struct iovec iov[2])
{
    uint32_t at = pos & mask, first = mask + 1 - at;

    if (first > n)
        first = n;
    iov[0] = (struct iovec){n ? ring + at : NULL, first};
    iov[1] = (struct iovec){n > first ? ring : NULL, n - first};
}

static bool may_wait(const struct tsock *s, int flags)
{
    return !s->nonblock && !(flags & MSG_DONTWAIT);
}

/* Sleeps once until the socket changes. 0, or -1 with errno. *deadline is 0 at first. */
static int wait_once(struct tsock *s, uint64_t *deadline, uint64_t limit)
{
    if (!*deadline)
        *deadline = tclock_deadline(limit);
    else if (*deadline != TWAIT_FOREVER && tclock_ns() >= *deadline)
        return terr(EAGAIN);
    return twait_one(&s->obj, *deadline);
}

/* ---- sending ---- */

/* Waits for space: 0, or -1 with errno. */
static int room(struct tsock *s, int flags)
{
    uint64_t deadline = 0;

    tctx_progress();
    for (;;) {
        if (tsock_kernels(s) || s->state == TS_LISTEN ||
            (s->state == TS_CONNECTING && s->fast)) /* its SYN waits for a send */
            return terr(ENOTCONN);
        if (tsend_may(s) < 0)
            return -1;
        if (s->state == TS_OPEN && (s->tx_free || tsend_grow(s)))
            return 0;
        if (!may_wait(s, flags))
            return terr(EAGAIN);
        if (wait_once(s, &deadline, s->opts.sndtimeo) < 0)
            return -1;
        tctx_progress();
    }
}

static ssize_t reserve(struct tsock *s, size_t n, struct iovec iov[2], int flags)
{
    int r;

    if (!tzc_get(s))
        return -1;
    tobj_hold(&s->obj);
    r = room(s, flags);
    if (r == 0) {
        uint32_t k;

        if (n > s->tx_free)
            (void)tsend_grow(s);
        k = n < s->tx_free ? (uint32_t)n : s->tx_free;

        ranges(s->tx, s->tx_mask, s->tx_pos, k, iov);
        if (k) {
            s->claims |= TCLAIM_TX;
            s->zc->reserved = k;
        }
        n = k;
    }
    tobj_put(&s->obj);
    return r < 0 ? -1 : (ssize_t)n;
}

ssize_t toe_send_reserve(int fd, size_t n, struct iovec iov[2], int flags)
{
    struct tsock *s;
    ssize_t r = -1;

    if (flags & ~MSG_DONTWAIT)
        return terr(EINVAL);
    if (!iov)
        return terr(EFAULT);
    tctx_lock();
    s = tsock_of_toe(fd);
    if (s)
        r = reserve(s, n, iov, flags);
    tctx_unlock();
    tsend_signal(r, MSG_NOSIGNAL);
    return r;
}

static ssize_t commit(struct tsock *s, size_t n, int flags)
{
    if (!(s->claims & TCLAIM_TX) || n > s->zc->reserved)
        return terr(EINVAL);
    s->zc->reserved = 0;
    if (s->state == TS_OPEN)
        tctx_progress();
    unclaim(s, TCLAIM_TX);
    if (!n)
        return 0;
    if (tsend_may(s) < 0)
        return -1;
    tsend_put(s, (uint32_t)n, flags);
    return (ssize_t)n;
}

ssize_t toe_send_commit(int fd, size_t n, int flags)
{
    struct tsock *s;
    ssize_t r = -1;

    if (flags & ~(MSG_MORE | MSG_OOB | MSG_NOSIGNAL))
        return terr(EINVAL);
    tctx_lock();
    s = tsock_of_toe(fd);
    if (s)
        r = commit(s, n, flags);
    tctx_unlock();
    tsend_signal(r, flags);
    return r;
}

/* ---- receiving ---- */

/* Returns the bytes that a recv() could return now. *skip: bytes of the stream before them that it
 * would leave out. */
static uint32_t readable(const struct tsock *s, uint32_t *skip)
{
    *skip = unlikely(s->oob) ? tsock_urgent_skip(s) : 0;
    return unlikely(s->oob) ? turgent_readable(s) : s->rx_avail;
}

/* Returns whether n bytes are enough to return. */
static bool is_enough(const struct tsock *s, uint32_t n)
{
    uint32_t least = s->lowat > 1 ? (uint32_t)s->lowat : 1;
    uint32_t half = (s->rx_mask + 1) >> 1; /* as in readable() of ready.c */

    if (n && (s->oob || s->eof || s->error || (s->shut & TSHUT_RD)))
        return true; /* no more will follow, or not together with these */
    return n >= (least < half ? least : half);
}

/* Waits for bytes. Returns their number, 0 at the end of the stream, -1 with errno. */
static ssize_t bytes(struct tsock *s, uint32_t *skip, int flags)
{
    uint64_t deadline = 0;
    ssize_t r;

    tctx_progress();
    for (;;) {
        uint32_t n = readable(s, skip);

        if (tsock_kernels(s))
            return terr(ENOTCONN);
        if (n && is_enough(s, n))
            return n;
        if (!trecv_must_wait(s, &r))
            return r;
        if (s->rx_unreported && s->state == TS_OPEN)
            tflow_report_read(s); /* SO_RCVLOWAT bytes may need all of the buffer */
        if (!may_wait(s, flags))
            return n ? (ssize_t)n : terr(EAGAIN);
        if (wait_once(s, &deadline, s->opts.rcvtimeo) < 0) {
            n = readable(s, skip); /* others may have read in the meantime */
            return n ? (ssize_t)n : -1;
        }
        tctx_progress();
    }
}

/* Returns how many of the n bytes from stream offset pos on are in the first two pieces. */
static uint32_t pieces(const struct tsock *s, uint32_t pos, uint32_t n, struct iovec iov[2])
{
    uint32_t first = n, second;

    if (likely(!s->framed)) {
        ranges(s->rx, s->rx_mask, pos, n, iov);
        return n;
    }
    iov[0] = (struct iovec){.iov_base = tframe_at(s, pos, &first)};
    iov[0].iov_len = first;
    second = n - first;
    iov[1] = (struct iovec){.iov_base = second ? tframe_at(s, pos + first, &second) : NULL};
    iov[1].iov_len = second;
    return first + second;
}

/* alone: fails while there is another peek. */
static ssize_t peek(struct tsock *s, struct iovec iov[2], int flags, bool alone)
{
    uint32_t skip;
    ssize_t n;

    if (!tzc_get(s))
        return -1;
    tobj_hold(&s->obj);
    n = bytes(s, &skip, flags);
    if (n > 0 && alone && (s->claims & TCLAIM_RX))
        n = terr(EBUSY);
    if (n == 0)
        iov[0] = iov[1] = (struct iovec){NULL, 0};
    /* A peek returns all bytes, so bytes in more than two pieces must be copied together. */
    if (n > 0 && pieces(s, s->rx_pos + skip, (uint32_t)n, iov) < (uint32_t)n) {
        tinline_gather(s->qp, s->slot, s->rx_pos + skip);
        (void)pieces(s, s->rx_pos + skip, (uint32_t)n, iov);
    }
    if (n > 0) {
        s->claims |= TCLAIM_RX;
        s->zc->peeked = (uint32_t)n;
        s->zc->skip = skip;
    }
    tobj_put(&s->obj);
    return n;
}

static ssize_t peek_at(int fd, struct iovec iov[2], int flags, bool alone)
{
    struct tsock *s;
    ssize_t r = -1;

    tctx_lock();
    s = tsock_of_toe(fd);
    if (s)
        r = peek(s, iov, flags, alone);
    tctx_unlock();
    return r;
}

ssize_t toe_recv_peek(int fd, struct iovec iov[2], int flags)
{
    if (flags & ~MSG_DONTWAIT)
        return terr(EINVAL);
    return iov ? peek_at(fd, iov, flags, false) : terr(EFAULT);
}

ssize_t tclaim_peek_alone(int fd, struct iovec iov[2])
{
    return peek_at(fd, iov, 0, true);
}

static ssize_t consume(struct tsock *s, size_t n)
{
    struct tzc *zc = s->zc;

    if (!(s->claims & TCLAIM_RX) || n > zc->peeked)
        return terr(EINVAL);
    /* no accounting for a TOE that has ended in the meantime */
    if (n && !zc->kept)
        trecv_taken(s, (uint32_t)n + zc->skip);
    if (unlikely(s->oob))
        turgent_passed(s);
    zc->peeked = zc->skip = 0;
    unclaim(s, TCLAIM_RX);
    return (ssize_t)n;
}

ssize_t toe_recv_consume(int fd, size_t n)
{
    struct tsock *s;
    ssize_t r = -1;

    tctx_lock();
    s = tsock_of_toe(fd);
    if (s)
        r = consume(s, n);
    tctx_unlock();
    return r;
}

/* ---- lending ---- */

static struct tloan *loan(const struct tzc *zc, uint64_t number)
{
    return &zc->loans[number & (TLOANS_MAX - 1)];
}

/* Appends a loan. borrow() has left space. */
static void append(struct tsock *s, uint32_t n, bool lent)
{
    struct tzc *zc = s->zc;

    *loan(zc, zc->first_loan + zc->loans_count++) = (struct tloan){n, lent};
    s->rx_held += n;
}

void tloan_behind(struct tsock *s, uint32_t n)
{
    struct tzc *zc = s->zc;
    struct tloan *last = loan(zc, zc->first_loan + zc->loans_count - 1);

    if (last->lent) {
        append(s, n, false);
    } else {
        last->n += n;
        s->rx_held += n;
    }
}

void tloan_settle(struct tsock *s)
{
    s->rx_unreported += s->rx_held;
    s->rx_held = 0;
}

static ssize_t borrow(struct tsock *s, size_t n, struct iovec iov[2], uint64_t *number, int flags)
{
    struct tzc *zc = tzc_get(s);
    uint32_t skip;
    ssize_t r;

    if (!zc)
        return -1;
    if (!zc->loans && !(zc->loans = calloc(TLOANS_MAX, sizeof(*zc->loans))))
        return terr(ENOBUFS);
    /* As recv(): handles the rings if the bytes available are not enough. */
    r = readable(s, &skip);
    tobj_hold(&s->obj);
    if (!r || !is_enough(s, (uint32_t)r))
        r = bytes(s, &skip, flags);
    if (r > 0 && (s->claims & TCLAIM_RX))
        r = terr(EBUSY);
    else if (r > 0 && zc->loans_count > TLOANS_MAX - 3) /* entries: skipped, lent, read next */
        r = terr(ENOBUFS);
    if (r > 0) {
        r = n < (size_t)r ? (ssize_t)n : r;
        if (skip)
            trecv_taken(s, skip);
        r = pieces(s, s->rx_pos, (uint32_t)r, iov);
        *number = zc->first_loan + zc->loans_count;
        s->claims |= TLOANS;
        append(s, (uint32_t)r, true);
        s->rx_pos += (uint32_t)r;
        s->rx_avail -= (uint32_t)r;
        if (unlikely(s->oob))
            turgent_passed(s);
    }
    tobj_put(&s->obj);
    return r;
}

ssize_t toe_recv_borrow(int fd, size_t n, struct iovec iov[2], uint64_t *number, int flags)
{
    struct tsock *s;
    ssize_t r = -1;

    if (flags & ~MSG_DONTWAIT)
        return terr(EINVAL);
    if (!iov || !number)
        return terr(EFAULT);
    tctx_lock();
    s = tsock_of_toe(fd);
    if (s)
        r = n ? borrow(s, n, iov, number, flags) : 0;
    tctx_unlock();
    return r;
}

static int give_back(struct tsock *s, uint64_t number)
{
    struct tzc *zc = s->zc;
    uint32_t n = 0;

    if (!(s->claims & TLOANS) || number - zc->first_loan >= zc->loans_count ||
        !loan(zc, number)->lent)
        return terr(EINVAL);
    loan(zc, number)->lent = false;
    while (zc->loans_count && !loan(zc, zc->first_loan)->lent) {
        n += loan(zc, zc->first_loan++)->n;
        zc->loans_count--;
    }
    s->rx_held -= n;
    s->rx_unreported += n;
    tframe_read(s);
    if (s->rx_unreported > s->rx_mask >> 2)
        tflow_report_read(s);
    if (!zc->loans_count)
        unclaim(s, TLOANS);
    return 0;
}

int toe_recv_return(int fd, uint64_t number)
{
    struct tsock *s;
    int r = -1;

    tctx_lock();
    s = tflow_of(tsock_of_toe(fd));
    if (s)
        r = give_back(s, number);
    tctx_unlock();
    return r;
}
