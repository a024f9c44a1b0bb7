/* SPDX-License-Identifier: Apache-2.0 */
/* server.c - `toehold bench serve`: echoes, receives or sends a stream, answers HTTP. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "common.h"
#include "pattern.h"
#include "server.h"

#define EVENTS   256
#define BACKLOG  4096
#define BUFFER   LOAD_PATTERN_MAX
#define HEAD_MAX 4096u
/* Calls on one connection before the next one is served. */
#define TURN        16
#define SLEEP_MS    100
#define COUNT_BYTES 8u

struct peer {
    int fd;
    bool wants_out, reading, closing; /* closing: close when pending is sent */
    uint64_t in_at, out_at;           /* stream offsets */
    uint8_t *owed;                    /* bytes that wait for room to send */
    size_t owed_from, owed_size;
    char *head; /* http: the received part of a request */
    uint32_t head_size;
    struct peer *next, **at; /* list of the server's peers */
};

struct server {
    const struct load_options *o;
    pthread_t thread;
    int ep, *listeners; /* -1: not open */
    struct peer *peers;
    uint8_t *buffer;
    char *answer; /* http, with its body; close_answer has Connection: close */
    char *close_answer;
    size_t answer_size, close_answer_size;
    uint64_t connections, requests, bytes_in, bytes_out, mismatches;
    int failed;
    bool accept_failed;
};

static void peer_free(struct server *s, struct peer *p)
{
    s->o->calls->close(p->fd);
    free(p->owed);
    free(p->head);
    free(p);
}

static void peer_end(struct server *s, struct peer *p)
{
    *p->at = p->next;
    if (p->next)
        p->next->at = p->at;
    peer_free(s, p);
}

static void peer_watch(struct server *s, struct peer *p, bool in, bool out)
{
    struct epoll_event ev = {.events = (in ? EPOLLIN : 0) | (out ? EPOLLOUT : 0), .data.ptr = p};

    if (p->reading == in && p->wants_out == out)
        return;
    p->reading = in;
    p->wants_out = out;
    s->o->calls->epoll_ctl(s->ep, EPOLL_CTL_MOD, p->fd, &ev);
}

/* The following functions return 0, or -1 when the connection must be closed. */

static int keep(struct peer *p, const void *data, size_t n)
{
    uint8_t *room = malloc(p->owed_size + n);

    if (!room)
        return -1;
    memcpy(room, p->owed + p->owed_from, p->owed_size);
    memcpy(room + p->owed_size, data, n);
    free(p->owed);
    p->owed = room;
    p->owed_from = 0;
    p->owed_size += n;
    return 0;
}

/* Sends what it can and keeps the rest; stops reading until the rest is sent. */
static int give(struct server *s, struct peer *p, const void *data, size_t n)
{
    ssize_t sent = 0;

    if (p->owed_size == 0) {
        sent = s->o->calls->send(p->fd, data, n, MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN)
            return -1;
        sent = sent < 0 ? 0 : sent;
        s->bytes_out += (uint64_t)sent;
    }
    if ((size_t)sent == n)
        return 0;
    peer_watch(s, p, false, true);
    return keep(p, (const uint8_t *)data + sent, n - (size_t)sent);
}

static int give_owed(struct server *s, struct peer *p)
{
    ssize_t n;

    if (p->owed_size == 0)
        return 0;
    n = s->o->calls->send(p->fd, p->owed + p->owed_from, p->owed_size, MSG_NOSIGNAL);
    if (n < 0)
        return errno == EAGAIN ? 0 : -1;
    s->bytes_out += (uint64_t)n;
    p->owed_from += (size_t)n;
    p->owed_size -= (size_t)n;
    if (p->owed_size)
        return 0;
    peer_watch(s, p, true, false);
    return p->closing ? -1 : 0;
}

static int serve_pingpong(struct server *s, struct peer *p, size_t n)
{
    uint64_t before = p->in_at;

    p->in_at += n;
    if (s->o->size)
        s->requests += p->in_at / s->o->size - before / s->o->size;
    if (give(s, p, s->buffer, n) != 0)
        return -1;
    p->closing = s->o->once && p->in_at >= s->o->size;
    return p->closing && !p->owed_size ? -1 : 0;
}

static int serve_sink(struct server *s, struct peer *p, size_t n)
{
    if (s->o->verify && memcmp(load_pattern(p->in_at), s->buffer, n) != 0)
        s->mismatches++;
    p->in_at += n;
    return 0;
}

/* Ends a stream: sends its length, 8 bytes big endian. */
static int send_count(struct server *s, struct peer *p)
{
    uint8_t count[COUNT_BYTES];
    unsigned i;

    for (i = 0; i < COUNT_BYTES; i++)
        count[i] = (uint8_t)(p->in_at >> (56 - 8 * i));
    s->requests++;
    p->closing = true;
    return give(s, p, count, sizeof count) != 0 || !p->owed_size ? -1 : 0;
}

static int answer(struct server *s, struct peer *p, const char *head, size_t n)
{
    static const char wants_close[] = "\r\nConnection: close";

    p->closing = s->o->once || memmem(head, n, wants_close, sizeof wants_close - 1);
    s->requests++;
    return p->closing ? give(s, p, s->close_answer, s->close_answer_size)
                      : give(s, p, s->answer, s->answer_size);
}

/* Answers the complete requests and keeps the rest. */
static int serve_http(struct server *s, struct peer *p, size_t n)
{
    const char *data = (const char *)s->buffer, *end;

    if (p->head_size) {
        if (p->head_size + n > HEAD_MAX)
            return -1;
        memcpy(p->head + p->head_size, data, n);
        data = p->head;
        n += p->head_size;
    }
    while (!p->closing && (end = memmem(data, n, "\r\n\r\n", 4)) != NULL) {
        size_t size = (size_t)(end - data) + 4;

        if (answer(s, p, data, size) != 0)
            return -1;
        data += size;
        n -= size;
    }
    if (p->closing)
        return p->owed_size ? 0 : -1;
    if (n > HEAD_MAX || (n && !p->head && !(p->head = malloc(HEAD_MAX))))
        return -1;
    if (n)
        memmove(p->head, data, n);
    p->head_size = (uint32_t)n;
    return 0;
}

static int readable(struct server *s, struct peer *p)
{
    size_t room = s->o->role == ROLE_HTTP ? HEAD_MAX : BUFFER;
    ssize_t n = s->o->calls->recv(p->fd, s->buffer, room, 0);

    if (n < 0)
        return errno == EAGAIN ? 0 : -1;
    if (n == 0)
        return s->o->role == ROLE_SINK ? send_count(s, p) : -1;
    s->bytes_in += (uint64_t)n;
    switch (s->o->role) {
    case ROLE_PINGPONG:
        return serve_pingpong(s, p, (size_t)n);
    case ROLE_SINK:
        return serve_sink(s, p, (size_t)n);
    case ROLE_HTTP:
        return serve_http(s, p, (size_t)n);
    default:
        return 0; /* bulk: received bytes are ignored */
    }
}

static int send_stream(struct server *s, struct peer *p)
{
    int turn;

    for (turn = 0; turn < TURN; turn++) {
        ssize_t n = s->o->calls->send(p->fd, load_pattern(p->out_at), s->o->message, MSG_NOSIGNAL);

        if (n < 0)
            return errno == EAGAIN ? 0 : -1;
        p->out_at += (uint64_t)n;
        s->bytes_out += (uint64_t)n;
    }
    return 0;
}

static void peer_event(struct server *s, struct peer *p, uint32_t events)
{
    int end = 0;

    if (events & EPOLLOUT)
        end = s->o->role == ROLE_BULK ? send_stream(s, p) : give_owed(s, p);
    if (end == 0 && (events & EPOLLIN))
        end = readable(s, p);
    else if (end == 0 && (events & (EPOLLERR | EPOLLHUP)) && !(events & EPOLLOUT))
        end = -1;
    if (end)
        peer_end(s, p);
}

static struct peer *new_peer(struct server *s, int fd)
{
    bool bulk = s->o->role == ROLE_BULK;
    struct peer *p = calloc(1, sizeof *p);
    struct epoll_event ev = {.events = EPOLLIN | (bulk ? EPOLLOUT : 0), .data.ptr = p};

    if (p && s->o->calls->epoll_ctl(s->ep, EPOLL_CTL_ADD, fd, &ev) == 0) {
        p->fd = fd;
        p->reading = true;
        p->wants_out = bulk;
        return p;
    }
    free(p);
    return NULL;
}

/* Reports once that connections cannot be accepted; they wait in the listen queue. */
static void cannot_accept(struct server *s, int error)
{
    if (error == EAGAIN || error == EINTR || error == ECONNABORTED || s->accept_failed)
        return;
    s->accept_failed = true;
    load_message("cannot accept after %llu connections: %s%s", (unsigned long long)s->connections,
                 strerror(error), error == EMFILE ? "; raise ulimit -n" : "");
}

static void accept_peers(struct server *s, int listener)
{
    int fd, on = 1, turn;

    for (turn = 0; turn < EVENTS; turn++) {
        struct peer *p;

        fd = s->o->calls->accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            cannot_accept(s, errno);
            return;
        }
        s->connections++;
        s->o->calls->setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        p = new_peer(s, fd);
        if (!p) {
            s->o->calls->close(fd);
            continue;
        }
        p->next = s->peers;
        p->at = &s->peers;
        if (p->next)
            p->next->at = &p->next;
        s->peers = p;
    }
}

/* libtoe's own numbers are for connections only: open listeners as descriptors. */
static int make_listener(struct server *s, uint32_t i)
{
    const struct load_calls *call = s->o->calls;
    struct epoll_event ev = {.events = EPOLLIN, .data.ptr = &s->listeners[i]};
    struct sockaddr_storage at = load_addr(s->o, i);
    int on = 1, fd;

    if (call == &load_libtoe_own)
        call = &load_libtoe;
    fd = call->socket(at.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    s->listeners[i] = fd;
    call->setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (s->o->threads > 1)
        call->setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    if (call->bind(fd, (const struct sockaddr *)&at, s->o->addr_len) != 0 ||
        call->listen(fd, BACKLOG) != 0)
        return -1;
    return call->epoll_ctl(s->ep, EPOLL_CTL_ADD, fd, &ev);
}

static int make_listeners(struct server *s)
{
    uint32_t i;

    s->ep = s->o->calls->epoll_create1(EPOLL_CLOEXEC);
    if (s->ep < 0)
        return -1;
    for (i = 0; i < s->o->ports; i++)
        if (make_listener(s, i) != 0)
            return -1;
    return 0;
}

/* Builds "HTTP/1.1 200 OK" with a body of pattern bytes. */
static char *make_answer(const struct load_options *o, const char *more, size_t *size)
{
    char *text = malloc(256 + (size_t)o->size);
    int n;

    if (!text)
        return NULL;
    n = snprintf(text, 256,
                 "HTTP/1.1 200 OK\r\nServer: toehold-bench\r\n"
                 "Content-Type: application/octet-stream\r\nContent-Length: %u\r\n%s\r\n",
                 o->size, more);
    memcpy(text + n, load_pattern(0), o->size);
    *size = (size_t)n + o->size;
    return text;
}

static int server_init(struct server *s, const struct load_options *o)
{
    uint32_t i;

    s->o = o;
    s->ep = -1;
    s->listeners = malloc(o->ports * sizeof *s->listeners);
    for (i = 0; s->listeners && i < o->ports; i++)
        s->listeners[i] = -1;
    s->buffer = malloc(BUFFER);
    s->answer = make_answer(o, "", &s->answer_size);
    s->close_answer = make_answer(o, "Connection: close\r\n", &s->close_answer_size);
    if (!s->listeners || !s->buffer || !s->answer || !s->close_answer) {
        load_message("no memory");
        return -1;
    }
    if (make_listeners(s) == 0)
        return 0;
    load_message("cannot listen on %s: %s", o->where, strerror(errno));
    return -1;
}

static void server_free(struct server *s)
{
    struct peer *p, *next;
    uint32_t i;

    for (p = s->peers; p; p = next) {
        next = p->next;
        peer_free(s, p);
    }
    for (i = 0; s->listeners && i < s->o->ports; i++)
        if (s->listeners[i] >= 0)
            s->o->calls->close(s->listeners[i]);
    if (s->ep >= 0)
        s->o->calls->close(s->ep);
    free(s->listeners);
    free(s->buffer);
    free(s->answer);
    free(s->close_answer);
}

static void *serve(void *arg)
{
    struct server *s = arg;
    struct epoll_event ev[EVENTS];
    int n, i;

    while (!load_interrupted) {
        n = s->o->calls->epoll_wait(s->ep, ev, EVENTS, s->o->busy ? 0 : SLEEP_MS);
        if (n < 0 && errno != EINTR) {
            load_message("epoll_wait: %s", strerror(errno));
            s->failed = 1;
            break;
        }
        for (i = 0; i < n; i++) {
            int *listener = ev[i].data.ptr;

            if (listener >= s->listeners && listener < s->listeners + s->o->ports)
                accept_peers(s, *listener);
            else
                peer_event(s, ev[i].data.ptr, ev[i].events);
        }
    }
    return NULL;
}

static int print_counts(const struct load_options *o, const struct server *servers)
{
    static const char *const roles[] = {"pingpong", "sink", "bulk", "http"};
    struct server sum = {0};
    uint32_t i;
    json_t *j;

    for (i = 0; i < o->threads; i++) {
        sum.connections += servers[i].connections;
        sum.requests += servers[i].requests;
        sum.bytes_in += servers[i].bytes_in;
        sum.bytes_out += servers[i].bytes_out;
        sum.mismatches += servers[i].mismatches;
    }
    j = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}", "role", roles[o->role], "connections",
                  (json_int_t)sum.connections, "requests", (json_int_t)sum.requests,
                  "bytes_received", (json_int_t)sum.bytes_in, "bytes_sent",
                  (json_int_t)sum.bytes_out, "mismatches", (json_int_t)sum.mismatches);
    json_dumpf(j, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(j);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    load_message("cannot write: %s", strerror(errno));
    return -1;
}

static int run_servers(const struct load_options *o, struct server *servers)
{
    uint32_t i;
    int failed, error;

    for (i = 1; i < o->threads; i++) {
        error = pthread_create(&servers[i].thread, NULL, serve, &servers[i]);
        if (error) {
            load_message("cannot start thread %u: %s", i, strerror(error));
            exit(LOAD_FAILURE);
        }
    }
    fprintf(stderr, "toehold bench: serving on %s\n", o->where);
    serve(&servers[0]);
    failed = servers[0].failed;
    for (i = 1; i < o->threads; i++) {
        pthread_join(servers[i].thread, NULL);
        failed |= servers[i].failed;
    }
    if (o->json && print_counts(o, servers) != 0)
        failed = 1;
    return failed ? LOAD_FAILURE : LOAD_OK;
}

int load_server(const struct load_options *o)
{
    struct server *servers = calloc(o->threads, sizeof *servers);
    uint32_t i, made = 0;
    int rc = servers ? LOAD_OK : LOAD_FAILURE;

    for (; rc == LOAD_OK && made < o->threads; made++)
        rc = server_init(&servers[made], o) ? LOAD_FAILURE : LOAD_OK;
    if (rc == LOAD_OK)
        rc = run_servers(o, servers);
    for (i = 0; i < made; i++)
        server_free(&servers[i]);
    free(servers);
    return rc;
}
