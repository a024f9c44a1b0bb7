/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connload.c - opens short connections at a steady rate: each sends a request, must get exactly
 * the expected answer, and is closed by the side that was chosen. The result is one line of JSON.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "argument.h"

#define AT_ONCE   1000 /* connections under way at most */
#define MAX_REPLY 4096

static const char usage[] =
    "usage: connload ADDRESS PORT PER_SECOND COUNT server|client ANSWER REQUEST\n"
    "  The answer to REQUEST must end with ANSWER; then the server closes, or the client does.\n";

struct load {
    struct sockaddr_in to;
    uint64_t per_second, count;
    bool client_closes;
    const char *answer, *request;
    int epoll;
    uint64_t started, open, done, wrong, failed;
    int first_errno;
};

struct connection {
    int fd;
    bool sent, complete;
    size_t got;
    char reply[MAX_REPLY];
};

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void finish(struct load *l, struct connection *c, uint64_t *outcome)
{
    if (outcome == &l->failed && !l->first_errno)
        l->first_errno = errno;
    close(c->fd);
    free(c);
    l->open--;
    ++*outcome;
}

static void start(struct load *l)
{
    struct epoll_event ev = {.events = EPOLLIN | EPOLLOUT};
    struct connection *c = calloc(1, sizeof(*c));

    if (!c) {
        perror("connload");
        exit(1);
    }
    l->started++;
    l->open++;
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    ev.data.ptr = c;
    if (c->fd < 0 ||
        (connect(c->fd, (struct sockaddr *)&l->to, sizeof(l->to)) != 0 && errno != EINPROGRESS) ||
        epoll_ctl(l->epoll, EPOLL_CTL_ADD, c->fd, &ev) != 0)
        finish(l, c, &l->failed);
}

static bool ends_with_answer(const struct load *l, const struct connection *c)
{
    size_t n = strlen(l->answer);

    return c->got >= n && memcmp(c->reply + c->got - n, l->answer, n) == 0;
}

static void send_request(struct load *l, struct connection *c)
{
    struct epoll_event ev = {.events = EPOLLIN, .data.ptr = c};
    size_t n = strlen(l->request);

    /* A request is far smaller than an empty send buffer. */
    if (send(c->fd, l->request, n, MSG_NOSIGNAL) != (ssize_t)n ||
        epoll_ctl(l->epoll, EPOLL_CTL_MOD, c->fd, &ev) != 0) {
        finish(l, c, &l->failed);
        return;
    }
    c->sent = true;
}

static void receive(struct load *l, struct connection *c)
{
    ssize_t n = recv(c->fd, c->reply + c->got, sizeof(c->reply) - c->got, 0);

    if (n < 0) {
        if (errno != EAGAIN)
            finish(l, c, &l->failed);
        return;
    }
    c->got += (size_t)n;
    c->complete = ends_with_answer(l, c);
    if (n == 0)
        finish(l, c, c->complete && !l->client_closes ? &l->done : &l->wrong);
    else if (c->complete && l->client_closes)
        finish(l, c, &l->done);
    else if (c->got == sizeof(c->reply))
        finish(l, c, &l->wrong);
}

static void handle(struct load *l, const struct epoll_event *ev)
{
    struct connection *c = ev->data.ptr;

    if (!c->sent && (ev->events & EPOLLOUT))
        send_request(l, c);
    else
        receive(l, c);
}

static void run(struct load *l)
{
    struct epoll_event events[256];
    uint64_t begin = now_ns();
    int n;

    while (l->started < l->count || l->open) {
        uint64_t due = (now_ns() - begin) * l->per_second / 1000000000u + 1;

        while (l->started < l->count && l->started < due && l->open < AT_ONCE)
            start(l);
        if (!l->open && l->started == l->count)
            break; /* the last ones failed as they began */
        n = epoll_wait(l->epoll, events, 256, l->started < l->count ? 1 : 10000);
        if (n == 0 && l->started == l->count) {
            fprintf(stderr, "connload: %" PRIu64 " connections are stuck\n", l->open);
            l->failed += l->open;
            break;
        }
        for (int i = 0; i < n; i++)
            handle(l, &events[i]);
    }
}

int main(int argc, char **argv)
{
    struct load l = {.to.sin_family = AF_INET};

    if (argc != 8 || inet_pton(AF_INET, argv[1], &l.to.sin_addr) != 1) {
        fputs(usage, stderr);
        return 2;
    }
    l.to.sin_port = htons(port_argument(argv[2]));
    l.per_second = argument("PER_SECOND", argv[3], 1, 1000000000);
    l.count = argument("COUNT", argv[4], 1, UINT32_MAX);
    l.client_closes = strcmp(argv[5], "client") == 0;
    l.answer = argv[6];
    l.request = argv[7];
    l.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (l.epoll < 0) {
        perror("connload: epoll_create1");
        return 1;
    }
    run(&l);
    printf("{\"done\": %" PRIu64 ", \"wrong\": %" PRIu64 ", \"failed\": %" PRIu64
           ", \"first_error\": \"%s\"}\n",
           l.done, l.wrong, l.failed, l.first_errno ? strerror(l.first_errno) : "");
    return 0;
}
