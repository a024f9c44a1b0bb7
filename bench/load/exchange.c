/* SPDX-License-Identifier: Apache-2.0 */
/* exchange.c - requests and answers: pingpong, conns and http. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "connect.h"
#include "exchange.h"
#include "schedule.h"

/* The compared part of a body, in bytes. */
#define BODY_COMPARED (1u << 20)

static void answered(struct worker *w, struct conn *c)
{
    worker_answered(w, c);
    if (!w->o->fresh) {
        worker_again(w, c);
        return;
    }
    if (w->o->close == CLOSE_WAIT) {
        c->state = CONN_ENDING;
        return;
    }
    conn_close(w, c, w->o->close == CLOSE_RST);
    worker_again(w, c);
}

/* Sends the rest of the request. */
static void send_request(struct worker *w, struct conn *c)
{
    const struct load_options *o = w->o;
    int error;

    while (c->out_left) {
        const void *from = o->request ? (const void *)(o->request + o->request_size - c->out_left)
                                      : load_pattern(c->out_at);
        ssize_t n = o->calls->send(c->fd, from, c->out_left, MSG_NOSIGNAL);

        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0) {
            worker_failed(w, c, errno);
            return;
        }
        c->out_left -= (size_t)n;
        c->out_at += (size_t)n;
        if (worker_in_window(w, w->now)) {
            w->tally.bytes_in_window += (uint64_t)n;
            w->tally.interval_bytes += (uint64_t)n;
        }
    }
    error = conn_want_out(w, c, c->out_left > 0);
    if (error)
        worker_failed(w, c, error);
}

/* Sends the request over an open connection, if there is one. */
static void start(struct worker *w, struct conn *c)
{
    const struct load_options *o = w->o;

    c->state = CONN_REQUESTED;
    c->out_left = o->request ? o->request_size : o->size;
    c->in_left = o->request ? 0 : o->size;
    w->tally.sent++;
    if (!c->out_left) { /* conns without an exchange */
        int error = conn_want_out(w, c, false);

        if (error)
            worker_failed(w, c, error);
        else
            answered(w, c);
        return;
    }
    send_request(w, c);
}

void exchange_begin(struct worker *w, struct conn *c, uint64_t started)
{
    int error;

    c->started = started;
    worker_under_way(w, c);
    if (!w->o->fresh) {
        start(w, c);
        return;
    }
    error = conn_open(w, c);
    if (error)
        worker_failed(w, c, error);
}

/* Compares the head of an answer with what is expected. Returns 0 or a FAIL_*. */
static int check_answer(struct worker *w, const struct http_answer *a)
{
    w->tally.statuses[a->status]++;
    if ((uint32_t)a->status != w->o->expect_status)
        return FAIL_STATUS;
    if (w->expect_length < 0)
        w->expect_length = (int64_t)a->length;
    return (int64_t)a->length == w->expect_length ? 0 : FAIL_LENGTH;
}

/* Compares a body with the first one. The first answer that reaches an offset defines its bytes. */
static int check_body(struct worker *w, uint64_t at, const char *body, size_t n)
{
    size_t same;

    if (!w->o->verify || at >= BODY_COMPARED)
        return 0;
    n = n < BODY_COMPARED - at ? n : BODY_COMPARED - at;
    if (!w->first_body)
        w->first_body = malloc(BODY_COMPARED);
    if (!w->first_body)
        return ENOMEM;
    same = at + n <= w->first_known ? n : (size_t)(w->first_known - at);
    if (memcmp(w->first_body + at, body, same) != 0)
        return FAIL_MISMATCH;
    memcpy(w->first_body + at + same, body + same, n - same);
    if (at + n > w->first_known)
        w->first_known = at + n;
    return 0;
}

static int take_http(struct worker *w, struct conn *c, const char *data, size_t n)
{
    struct http_answer *a = &c->http;
    size_t used, body_size;
    const char *body;
    uint64_t at;
    int rc, error;

    at = a->length - a->left;
    rc = http_take(a, data, n, &used, &body, &body_size);
    if (rc < 0)
        return FAIL_HTTP;
    error = check_body(w, a->until_end ? a->length - body_size : at, body, body_size);
    if (!error && rc == 1)
        error = used < n ? FAIL_LENGTH : check_answer(w, a);
    if (!error && rc == 1) {
        http_next(a);
        answered(w, c);
    }
    return error;
}

static int take_echo(struct worker *w, struct conn *c, const uint8_t *data, size_t n)
{
    if (n > c->in_left)
        return FAIL_LENGTH;
    if (w->o->verify && memcmp(load_pattern(c->in_at), data, n) != 0)
        return FAIL_MISMATCH;
    c->in_at += n;
    c->in_left -= n;
    if (c->in_left == 0 && c->out_left == 0)
        answered(w, c);
    return 0;
}

/* Handles the peer's FIN. It is expected after an answer without a length and with --close wait. */
static int at_end(struct worker *w, struct conn *c)
{
    int error = FAIL_EOF;

    if (c->state == CONN_REQUESTED && c->http.until_end && w->o->fresh) {
        error = check_answer(w, &c->http);
        if (error)
            return error;
        http_next(&c->http);
        answered(w, c);
    }
    if (c->state != CONN_ENDING)
        return error;
    conn_close(w, c, false);
    worker_again(w, c);
    return 0;
}

static int receive(struct worker *w, struct conn *c)
{
    ssize_t n = w->o->calls->recv(c->fd, w->buffer, WORKER_BUFFER, 0);

    w->now = load_clock();
    if (n < 0)
        return errno == EAGAIN ? 0 : errno;
    if (n == 0)
        return at_end(w, c);
    if (worker_in_window(w, w->now)) {
        w->tally.bytes_in_window += (uint64_t)n;
        w->tally.interval_bytes += (uint64_t)n;
    }
    if (c->state != CONN_REQUESTED)
        return w->o->request ? FAIL_HTTP : FAIL_LENGTH;
    return w->o->request ? take_http(w, c, (const char *)w->buffer, (size_t)n)
                         : take_echo(w, c, w->buffer, (size_t)n);
}

void exchange_event(struct worker *w, struct conn *c, uint32_t events)
{
    int error = 0;

    if (c->state == CONN_CONNECTING) {
        error = conn_connected(w, c);
        if (error)
            worker_failed(w, c, error);
        else
            start(w, c);
        return;
    }
    if (c->out_left && (events & EPOLLOUT))
        send_request(w, c);
    if (c->fd >= 0 && (events & (EPOLLIN | EPOLLERR | EPOLLHUP)))
        error = receive(w, c);
    if (error)
        worker_failed(w, c, error);
}
