/* SPDX-License-Identifier: Apache-2.0 */
/* connect.c - opens the sockets of a worker, one by one or all before the measurement. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "connect.h"

/* Limits the connections in SYN-SENT before the measurement, as a listen queue must hold them. */
#define CONNECTING_MAX 128u
#define EVENTS         256

int conn_want_out(struct worker *w, struct conn *c, bool on)
{
    struct epoll_event ev = {.events = EPOLLIN | (on ? EPOLLOUT : 0), .data.ptr = c};

    if (c->wants_out == on)
        return 0;
    c->wants_out = on;
    return w->o->calls->epoll_ctl(w->ep, EPOLL_CTL_MOD, c->fd, &ev) == 0 ? 0 : errno;
}

/* Binds to the next port of --local-ports. */
static int take_port(struct worker *w, int fd)
{
    const struct load_options *o = w->o;
    struct sockaddr_storage own = {.ss_family = o->addr.ss_family};
    uint32_t count = o->port_high - o->port_low + 1;
    uint16_t port = htons((uint16_t)(o->port_low + w->next_port % count));
    int on = 1;

    w->next_port += o->threads;
    if (own.ss_family == AF_INET6)
        ((struct sockaddr_in6 *)&own)->sin6_port = port;
    else
        ((struct sockaddr_in *)&own)->sin_port = port;
    o->calls->setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    return o->calls->bind(fd, (struct sockaddr *)&own, o->addr_len);
}

int conn_open(struct worker *w, struct conn *c)
{
    const struct load_calls *call = w->o->calls;
    struct epoll_event ev = {.events = EPOLLIN | EPOLLOUT, .data.ptr = c};
    struct sockaddr_storage to = load_addr(w->o, w->next_to++ % w->o->ports);
    int on = 1;

    c->out_at = c->in_at = 0;
    c->wants_out = true;
    c->fd = call->socket(w->o->addr.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd < 0)
        return errno;
    if ((w->o->port_low && take_port(w, c->fd) != 0) ||
        call->setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0 ||
        (w->o->zero_copy && !w->o->down &&
         call->setsockopt(c->fd, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof on) != 0))
        return errno;
    if (call->connect(c->fd, (const struct sockaddr *)&to, w->o->addr_len) != 0 &&
        errno != EINPROGRESS)
        return errno;
    if (call->epoll_ctl(w->ep, EPOLL_CTL_ADD, c->fd, &ev) != 0)
        return errno;
    c->state = CONN_CONNECTING;
    return 0;
}

int conn_connected(struct worker *w, struct conn *c)
{
    socklen_t len = sizeof(int);
    int error = 0;

    if (w->o->calls->getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
        return errno;
    if (!error)
        w->tally.connections++;
    return error;
}

void conn_close(struct worker *w, struct conn *c, bool reset)
{
    struct linger now = {.l_onoff = 1, .l_linger = 0};

    if (c->fd < 0)
        return;
    if (reset)
        w->o->calls->setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    w->o->calls->close(c->fd);
    c->fd = -1;
}

static int finish_connect(struct worker *w, struct conn *c)
{
    int error = conn_connected(w, c);

    if (!error)
        error = conn_want_out(w, c, false);
    if (!error)
        c->state = CONN_FREE;
    return error;
}

/* Reports an error once: other threads would report the same. */
static int fail(const struct worker *w, int error, uint32_t open)
{
    bool ports = error == EADDRNOTAVAIL && w->o->mode != LOAD_HTTP;
    const char *advice = error == EMFILE ? "; raise ulimit -n"
                         : ports         ? "; use --ports N for more"
                                         : "";

    if (!__atomic_exchange_n(&w->run->failed, 1, __ATOMIC_RELAXED))
        load_message("cannot connect to %s: %s: %u of %u connections are open%s%s", w->o->where,
                     strerror(error), open, w->active + w->idle,
                     w->o->threads > 1 ? " in a thread" : "", advice);
    return -1;
}

/* Reports the number of open connections once a second. */
static void progress(const struct worker *w, uint32_t done, uint64_t *reported)
{
    uint64_t now = load_clock();

    if (w->o->quiet || w->id != 0 || !isatty(STDERR_FILENO) || now < *reported + LOAD_NS_PER_S)
        return;
    *reported = now;
    fprintf(stderr, "\r\033[K%u of %u connections are open%s\r", done, w->active + w->idle,
            w->o->threads > 1 ? " (first thread)" : "");
}

/* From this number on the end of connecting is reported. */
#define MANY 1000u

/* Opens the connections, up to CONNECTING_MAX at a time. */
int connect_all(struct worker *w)
{
    uint32_t first = w->o->fresh ? w->active : 0, next = first, done = first;
    uint64_t limit = load_clock() + w->o->timeout_ns, reported = limit - w->o->timeout_ns;
    struct epoll_event ev[EVENTS];
    int n, i, error;

    if (w->o->verbose && w->id == 0)
        load_message("opening %u connections, %u threads; %.3f s of warm-up, then %.3f s are "
                     "measured",
                     w->o->connections + w->idle, w->o->threads, (double)w->o->warmup_ns / 1e9,
                     (double)w->o->time_ns / 1e9);
    while (done < w->active + w->idle) {
        while (next < w->active + w->idle && next - done < CONNECTING_MAX) {
            error = conn_open(w, &w->conns[next++]);
            if (error)
                return fail(w, error, done - first);
        }
        n = w->o->calls->epoll_wait(w->ep, ev, EVENTS, w->o->busy ? 0 : 100);
        for (i = 0; i < n; i++) {
            struct conn *c = ev[i].data.ptr;

            if (c->state != CONN_CONNECTING)
                continue; /* an error shows when the connection is used */
            error = finish_connect(w, c);
            if (error)
                return fail(w, error, done - first);
            done++;
            limit = load_clock() + w->o->timeout_ns;
        }
        progress(w, done, &reported);
        if (load_interrupted || load_clock() > limit)
            return fail(w, load_interrupted ? EINTR : ETIMEDOUT, done - first);
    }
    if (!w->o->quiet && w->id == 0 && (done - first >= MANY || w->o->verbose))
        load_message("%u connections are open", done - first);
    return 0;
}
