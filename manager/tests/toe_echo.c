/* SPDX-License-Identifier: Apache-2.0 */
/*
 * toe_echo.c - an application written against toe.h: an epoll server that echoes its input, and a
 * client that checks the echo. It links to libtoe; nothing is preloaded.
 *
 *   toe_echo server PORT
 *   toe_echo client ADDRESS PORT CONNECTIONS BYTES      each connection sends and gets BYTES
 *
 * Prints "ready" when it listens, and "done CONNECTIONS BYTES" when all bytes were echoed
 * correctly.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <toe/toe.h>

#define EVENTS 64
#define PIECE  16384
#define MAX_FD 65536

struct peer {
    int fd;
    size_t sent, got, total; /* client */
    char held[PIECE];        /* server: read and not yet sent back */
    size_t from, held_n;
};

static int ep;

static int fail(const char *what)
{
    fprintf(stderr, "toe_echo: %s: %s\n", what, strerror(errno));
    return 1;
}

static int add(struct peer *p, int fd, uint32_t events)
{
    struct epoll_event e = {.events = events, .data.ptr = p};

    p->fd = fd;
    return toe_epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
}

static void watch(struct peer *p, uint32_t events)
{
    struct epoll_event e = {.events = events, .data.ptr = p};

    toe_epoll_ctl(ep, EPOLL_CTL_MOD, p->fd, &e);
}

/* ---- server ---- */

static struct peer *served[MAX_FD];

static void leave(struct peer *p)
{
    served[p->fd] = NULL;
    toe_close(p->fd);
    free(p);
}

static void enter(int fd)
{
    struct peer *p = fd < MAX_FD ? calloc(1, sizeof(*p)) : NULL;

    if (!p || add(p, fd, EPOLLIN) < 0) {
        toe_close(fd);
        free(p);
        return;
    }
    served[fd] = p;
}

static void echo(struct peer *p)
{
    for (;;) {
        ssize_t n;

        while (p->from < p->held_n) {
            n = toe_send(p->fd, p->held + p->from, p->held_n - p->from, MSG_NOSIGNAL);
            if (n < 0 && errno == EAGAIN) {
                watch(p, EPOLLOUT);
                return;
            }
            if (n < 0) {
                leave(p);
                return;
            }
            p->from += (size_t)n;
        }
        p->from = p->held_n = 0;
        n = toe_recv(p->fd, p->held, sizeof(p->held), 0);
        if (n < 0 && errno == EAGAIN) {
            watch(p, EPOLLIN);
            return;
        }
        if (n <= 0) {
            leave(p);
            return;
        }
        p->held_n = (size_t)n;
    }
}

static int serve(uint16_t port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
    int l = toe_socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct epoll_event e[EVENTS];
    static struct peer listener;

    if (l < 0 || toe_bind(l, (struct sockaddr *)&a, sizeof(a)) < 0 || toe_listen(l, 1024) < 0)
        return fail("listen");
    if (add(&listener, l, EPOLLIN) < 0 || !toe_is_offloaded(l))
        return fail("the TOE does not carry the listener");
    printf("ready\n");
    fflush(stdout);
    for (;;) {
        int n = toe_epoll_wait(ep, e, EVENTS, -1);

        for (int i = 0; i < n; i++) {
            struct peer *p = e[i].data.ptr;
            int fd;

            if (p != &listener) {
                echo(p);
                continue;
            }
            while ((fd = toe_accept4(l, NULL, NULL, SOCK_NONBLOCK)) >= 0)
                enter(fd);
        }
    }
}

/* ---- client ---- */

static char pattern(const struct peer *p, size_t at)
{
    return (char)((at * 2654435761u >> 16) + (size_t)p->fd);
}

/* Returns 1 when the echo is complete, 0 to continue, -1 on an error. */
static int exchange(struct peer *p, uint32_t events)
{
    char buf[PIECE];
    ssize_t n;

    while ((events & EPOLLOUT) && p->sent < p->total) {
        size_t k = p->total - p->sent < PIECE ? p->total - p->sent : PIECE;

        for (size_t i = 0; i < k; i++)
            buf[i] = pattern(p, p->sent + i);
        n = toe_send(p->fd, buf, k, MSG_NOSIGNAL);
        if (n < 0)
            break;
        p->sent += (size_t)n;
        if (p->sent == p->total)
            watch(p, EPOLLIN);
    }
    while ((n = toe_recv(p->fd, buf, sizeof(buf), 0)) > 0) {
        for (ssize_t i = 0; i < n; i++)
            if (buf[i] != pattern(p, p->got + (size_t)i))
                return -1;
        p->got += (size_t)n;
    }
    if (p->got == p->total)
        return 1;
    return n < 0 && errno == EAGAIN ? 0 : -1;
}

static int open_all(struct peer *peers, const struct sockaddr_in *to, int n, size_t bytes)
{
    for (int i = 0; i < n; i++) {
        int fd = toe_socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

        if (fd < 0 ||
            (toe_connect(fd, (const struct sockaddr *)to, sizeof(*to)) < 0 && errno != EINPROGRESS))
            return fail("connect");
        peers[i].total = bytes;
        if (add(&peers[i], fd, EPOLLIN | EPOLLOUT) < 0 || !toe_is_offloaded(fd))
            return fail("the TOE does not carry the connection");
    }
    return 0;
}

/* Handles one event. Returns 1 when the connection is done, 0 to continue, -1 with errno. */
static int one(struct peer *p, uint32_t events)
{
    int error = 0, r;
    socklen_t len = sizeof(error);

    if (events & EPOLLERR) {
        toe_getsockopt(p->fd, SOL_SOCKET, SO_ERROR, &error, &len);
        errno = error;
        return -1;
    }
    r = exchange(p, events);
    if (r > 0)
        toe_close(p->fd);
    return r;
}

static int ask(struct peer *peers, const struct sockaddr_in *to, int n, size_t bytes)
{
    struct epoll_event e[EVENTS];
    int done = 0;

    if (open_all(peers, to, n, bytes) != 0)
        return 1;
    while (done < n) {
        int k = toe_epoll_wait(ep, e, EVENTS, 20000);

        if (k <= 0)
            return fail("nothing happens");
        for (int i = 0; i < k; i++) {
            int r = one(e[i].data.ptr, e[i].events);

            if (r < 0)
                return fail("a connection failed, or its answer is not what was sent");
            done += r;
        }
    }
    printf("done %d %zu\n", n, bytes);
    return 0;
}

static int client(char **argv)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[1]))};
    int n = atoi(argv[2]), r;
    struct peer *peers;

    if (inet_pton(AF_INET, argv[0], &a.sin_addr) != 1 || n < 1) {
        fprintf(stderr, "toe_echo: %s is not an IPv4 address, or %s no number\n", argv[0], argv[2]);
        return 2;
    }
    peers = calloc((size_t)n, sizeof(*peers));
    r = peers ? ask(peers, &a, n, strtoul(argv[3], NULL, 10)) : fail("memory");
    free(peers);
    return r;
}

int main(int argc, char **argv)
{
    int r;

    if (argc < 3 || (strcmp(argv[1], "server") && (strcmp(argv[1], "client") || argc < 6))) {
        fprintf(stderr, "usage: toe_echo server PORT\n"
                        "       toe_echo client ADDRESS PORT CONNECTIONS BYTES\n");
        return 2;
    }
    if (toe_init(NULL) < 0) {
        fprintf(stderr, "toe_echo: %s\n", toe_last_error());
        return 1;
    }
    ep = toe_epoll_create1(0);
    if (ep < 0)
        return fail("epoll");
    if (!strcmp(argv[1], "server"))
        return serve((uint16_t)atoi(argv[2]));
    r = client(argv + 2);
    toe_close(ep);
    toe_terminate();
    return r;
}
