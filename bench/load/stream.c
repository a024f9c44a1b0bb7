/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c - bulk: a stream up to `serve sink`, which returns its byte count, or down from `serve
 * bulk`. */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <time.h>

#include <linux/errqueue.h>

#include "common.h"
#include "connect.h"
#include "schedule.h"
#include "stream.h"

/* Calls on one connection before the next one is served. */
#define TURN        16
#define LOANS       256 /* borrows per turn; each has a few frames */
#define COUNT_BYTES 8u
#define CONTROL     128

static void count_bytes(struct worker *w, ssize_t n)
{
    w->tally.bytes += (uint64_t)n;
    if (!worker_in_window(w, w->now))
        return;
    w->tally.bytes_in_window += (uint64_t)n;
    w->tally.interval_bytes += (uint64_t)n;
}

static void stream_over(struct worker *w, struct conn *c, bool reset)
{
    conn_close(w, c, reset);
    worker_lost(w, c);
    worker_over(w, c);
    w->tally.answered++;
}

void stream_begin(struct worker *w, struct conn *c)
{
    int error;

    c->state = CONN_STREAM;
    worker_under_way(w, c);
    w->tally.sent++;
    error = conn_want_out(w, c, !w->o->down);
    if (error)
        worker_failed(w, c, error);
}

/* Ends our stream; the sink answers with its byte count. */
static int end_up(struct worker *w, struct conn *c)
{
    int error;

    if (w->o->calls->shutdown(c->fd, SHUT_WR) != 0)
        return errno;
    error = conn_want_out(w, c, false);
    c->state = CONN_COUNTED;
    c->in_left = COUNT_BYTES;
    c->in_at = 0;
    return error;
}

/* Counts completions of MSG_ZEROCOPY sends. The pattern never changes, so no send waits for them.
 */
static void take_completions(struct worker *w, struct conn *c)
{
    for (;;) {
        char control[CONTROL];
        struct msghdr msg = {.msg_control = control, .msg_controllen = sizeof control};
        struct sock_extended_err e;
        struct cmsghdr *h;

        if (w->o->calls->recvmsg(c->fd, &msg, MSG_ERRQUEUE) < 0)
            return;
        h = CMSG_FIRSTHDR(&msg);
        if (!h || h->cmsg_len < CMSG_LEN(sizeof e))
            continue;
        memcpy(&e, CMSG_DATA(h), sizeof e);
        if (e.ee_origin != SO_EE_ORIGIN_ZEROCOPY)
            continue;
        w->tally.zc_completed += (uint64_t)e.ee_data - e.ee_info + 1;
        if (e.ee_code & SO_EE_CODE_ZEROCOPY_COPIED)
            w->tally.zc_copied += (uint64_t)e.ee_data - e.ee_info + 1;
    }
}

static int send_up(struct worker *w, struct conn *c)
{
    int turn;

    for (turn = 0; turn < TURN; turn++) {
        ssize_t n;

        if (c->out_left == 0 && w->stopping)
            return end_up(w, c);
        if (c->out_left == 0)
            c->out_left = w->o->message;
        n = w->o->calls->send(c->fd, load_pattern(c->out_at), c->out_left,
                              MSG_NOSIGNAL | (w->o->zero_copy ? MSG_ZEROCOPY : 0));
        /* ENOBUFS: Linux limits the sends without completion; retry after completions */
        if (n < 0)
            return errno == EAGAIN || (errno == ENOBUFS && w->o->zero_copy) ? 0 : errno;
        c->out_at += (uint64_t)n;
        c->out_left -= (size_t)n;
        count_bytes(w, n);
    }
    return 0;
}

/* Borrows received bytes, verifies them in place, and returns them at once. Returns as recv(). */
static ssize_t check_borrowed(struct worker *w, struct conn *c, int *failed)
{
    struct iovec iov[2];
    uint64_t loan;
    ssize_t n = w->o->calls->borrow(c->fd, w->o->message, iov, &loan, 0);

    if (n <= 0)
        return n;
    if (w->o->verify &&
        (memcmp(load_pattern(c->in_at), iov[0].iov_base, iov[0].iov_len) != 0 ||
         memcmp(load_pattern(c->in_at + iov[0].iov_len), iov[1].iov_base, iov[1].iov_len) != 0))
        *failed = FAIL_MISMATCH;
    (void)w->o->calls->give_back(c->fd, loan);
    return n;
}

static int borrow_down(struct worker *w, struct conn *c)
{
    int turn, failed = 0;

    for (turn = 0; turn < LOANS; turn++) {
        ssize_t n = check_borrowed(w, c, &failed);

        if (n <= 0)
            return n == 0 ? FAIL_EOF : errno == EAGAIN ? 0 : errno;
        if (failed)
            return failed;
        c->in_at += (uint64_t)n;
        count_bytes(w, n);
    }
    return 0;
}

static int receive_down(struct worker *w, struct conn *c)
{
    int turn;

    for (turn = 0; turn < TURN; turn++) {
        ssize_t n = w->o->calls->recv(c->fd, w->buffer, w->o->message, 0);

        if (n <= 0)
            return n == 0 ? FAIL_EOF : errno == EAGAIN ? 0 : errno;
        if (w->o->verify && memcmp(load_pattern(c->in_at), w->buffer, (size_t)n) != 0)
            return FAIL_MISMATCH;
        c->in_at += (uint64_t)n;
        count_bytes(w, n);
        if ((size_t)n < w->o->message)
            break;
    }
    return 0;
}

/* Receives the sink's count, 8 bytes big endian, and then its FIN. */
static int receive_count(struct worker *w, struct conn *c)
{
    ssize_t n = w->o->calls->recv(c->fd, w->buffer, COUNT_BYTES + 1, 0), i;

    if (n < 0)
        return errno == EAGAIN ? 0 : errno;
    if ((size_t)n > c->in_left)
        return FAIL_LENGTH;
    for (i = 0; i < n; i++)
        c->in_at = c->in_at << 8 | w->buffer[i];
    c->in_left -= (size_t)n;
    if (n > 0)
        return 0;
    if (c->in_left)
        return FAIL_EOF;
    if (c->in_at != c->out_at)
        return FAIL_COUNT;
    stream_over(w, c, false);
    return 0;
}

/* A sink sends nothing during the stream, so a readable socket means its FIN. */
static int peer_gone(struct worker *w, struct conn *c)
{
    ssize_t n = w->o->calls->recv(c->fd, w->buffer, 1, 0);

    if (n < 0)
        return errno == EAGAIN ? 0 : errno;
    return n == 0 ? FAIL_EOF : FAIL_LENGTH;
}

void stream_event(struct worker *w, struct conn *c, uint32_t events)
{
    int error = 0;

    w->now = load_clock();
    if (w->o->zero_copy && !w->o->down && (events & EPOLLERR)) {
        take_completions(w, c);
        events &= ~(uint32_t)EPOLLERR; /* a closed connection also has EPOLLHUP */
    }
    if (c->state == CONN_COUNTED)
        error = receive_count(w, c);
    else if (w->o->down)
        error = w->o->zero_copy ? borrow_down(w, c) : receive_down(w, c);
    else if (events & (EPOLLERR | EPOLLHUP | EPOLLIN))
        error = peer_gone(w, c);
    else
        error = send_up(w, c);
    if (error)
        worker_failed(w, c, error);
}

void streams_end(struct worker *w)
{
    uint32_t i;

    for (i = 0; i < w->active; i++)
        if (w->conns[i].state == CONN_STREAM && w->o->down)
            stream_over(w, &w->conns[i], true);
}
