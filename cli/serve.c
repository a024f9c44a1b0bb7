/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve.c - an HTTP server for one text (serve.h). It has room for few connections: when all are in
 * use, the oldest makes room, so that silent ones keep no collector out.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <toe/number.h>

#include "common/exit.h"
#include "common/message.h"
#include "common/verbosity.h"
#include "serve.h"

#define CONNECTIONS  16
#define REQUEST_MAX  4096
#define SEND_SECONDS 2

struct connection {
    int fd;
    size_t n;
    char request[REQUEST_MAX];
};

struct server {
    int fd;
    unsigned count;
    struct connection *c[CONNECTIONS]; /* the oldest first */
    const char *type;
    serve_fn text;
    void *arg;
};

/* ---- the address ---- */

/* Removes a socket that no process listens on. */
static bool remove_stale(const struct sockaddr_un *a)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool stale =
        fd >= 0 && connect(fd, (const struct sockaddr *)a, sizeof *a) != 0 && errno == ECONNREFUSED;
    struct stat st;

    if (fd >= 0)
        close(fd);
    return stale && lstat(a->sun_path, &st) == 0 && S_ISSOCK(st.st_mode) &&
           unlink(a->sun_path) == 0;
}

/* bind(2) follows no link, and the mode comes from the umask: nothing is changed by its path. */
static int bind_private(int fd, const struct sockaddr_un *a)
{
    mode_t old = umask(0117);
    int rc = bind(fd, (const struct sockaddr *)a, sizeof *a);

    if (rc != 0 && errno == EADDRINUSE) {
        if (remove_stale(a))
            rc = bind(fd, (const struct sockaddr *)a, sizeof *a);
        else
            errno = EADDRINUSE;
    }
    umask(old);
    return rc;
}

/* Returns fd if it listens; else closes it and leaves the reason in errno. */
static int listening(int fd, int bound)
{
    int e;

    if (fd >= 0 && bound == 0 && listen(fd, CONNECTIONS) == 0)
        return fd;
    e = errno;
    if (fd >= 0)
        close(fd);
    errno = e;
    return -1;
}

static int listen_unix(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd;

    if (!*path || strlen(path) >= sizeof a.sun_path) {
        errno = *path ? ENAMETOOLONG : EINVAL;
        return -1;
    }
    memcpy(a.sun_path, path, strlen(path) + 1);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return listening(fd, fd < 0 ? -1 : bind_private(fd, &a));
}

/* Splits "ADDRESS:PORT" or "[IPV6]:PORT". */
static bool split(const char *at, char *host, size_t size, const char **port)
{
    const char *colon = strrchr(at, ':'), *begin = at, *end = colon;

    if (!colon || !colon[1] || colon == at)
        return false;
    if (*at == '[') {
        if (colon[-1] != ']')
            return false;
        begin++;
        end--;
    }
    if ((size_t)(end - begin) >= size)
        return false;
    memcpy(host, begin, (size_t)(end - begin));
    host[end - begin] = '\0';
    *port = colon + 1;
    return true;
}

static int listen_tcp(const char *at)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE},
                    *found;
    char host[64], want[TOE_NUMBER_WANT];
    const char *port;
    int fd, rc, one = 1;
    uint64_t number; /* getaddrinfo() takes a port modulo 65536 */

    if (!split(at, host, sizeof host, &port) ||
        !toe_number(port, 1, UINT16_MAX, &number, want, sizeof want) ||
        getaddrinfo(host, port, &hints, &found) != 0) {
        errno = EINVAL;
        return -1;
    }
    fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    rc = fd < 0 ? -1 : setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (rc == 0)
        rc = bind(fd, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return listening(fd, rc);
}

/* ---- connections ---- */

static void drop(struct server *s, unsigned i)
{
    close(s->c[i]->fd);
    free(s->c[i]);
    memmove(&s->c[i], &s->c[i + 1], (--s->count - i) * sizeof s->c[0]);
}

static void accept_one(struct server *s)
{
    int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct connection *c;

    if (fd < 0)
        return;
    if (s->count == CONNECTIONS)
        drop(s, 0);
    c = calloc(1, sizeof *c);
    if (!c) {
        close(fd);
        return;
    }
    c->fd = fd;
    s->c[s->count++] = c;
}

static bool send_all(int fd, const char *data, size_t size)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    ssize_t n;

    while (size) {
        n = send(fd, data, size, MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN && poll(&p, 1, SEND_SECONDS * 1000) == 1)
            continue;
        if (n <= 0)
            return false;
        data += n;
        size -= (size_t)n;
    }
    return true;
}

static void answer(int fd, const char *status, const char *type, const char *text, size_t size,
                   bool body)
{
    char head[256];
    int n = snprintf(head, sizeof head,
                     "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
                     "Connection: close\r\n\r\n",
                     status, type, size);

    if (send_all(fd, head, (size_t)n) && body)
        (void)send_all(fd, text, size);
}

static bool is_target(const char *target)
{
    size_t n = strcspn(target, " ?");

    return (n == 1 && *target == '/') || (n == 8 && memcmp(target, "/metrics", 8) == 0);
}

static void respond(struct server *s, const struct connection *c)
{
    static const char wrong[] = "GET /metrics\n";
    bool head = strncmp(c->request, "HEAD ", 5) == 0;
    const char *plain = "text/plain; charset=utf-8";
    size_t size;
    char *text;

    if (!head && strncmp(c->request, "GET ", 4) != 0) {
        answer(c->fd, "405 Method Not Allowed", plain, wrong, sizeof wrong - 1, true);
        return;
    }
    if (!is_target(strchr(c->request, ' ') + 1)) {
        answer(c->fd, "404 Not Found", plain, wrong, sizeof wrong - 1, !head);
        return;
    }
    text = s->text(s->arg, &size);
    cli_detail("%s /metrics: %zu bytes", head ? "HEAD" : "GET", text ? size : 0);
    if (text)
        answer(c->fd, "200 OK", s->type, text, size, !head);
    free(text);
}

/* Reads more of a request. Returns whether the connection has ended. */
static bool serve_one(struct server *s, struct connection *c)
{
    ssize_t n = recv(c->fd, c->request + c->n, sizeof c->request - 1 - c->n, 0);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (n <= 0)
        return true; /* ended, or a head that is too long */
    c->n += (size_t)n;
    c->request[c->n] = '\0';
    if (!strstr(c->request, "\r\n\r\n"))
        return false;
    respond(s, c);
    return true;
}

static void serve_round(struct server *s)
{
    struct pollfd p[CONNECTIONS + 1] = {{.fd = s->fd, .events = POLLIN}};
    unsigned i;

    for (i = 0; i < s->count; i++)
        p[i + 1] = (struct pollfd){.fd = s->c[i]->fd, .events = POLLIN};
    if (poll(p, s->count + 1, -1) < 0)
        return;
    for (i = s->count; i-- > 0;)
        if (p[i + 1].revents && serve_one(s, s->c[i]))
            drop(s, i);
    if (p[0].revents)
        accept_one(s); /* last: it moves connections */
}

int serve_text(const char *at, const char *type, serve_fn text, void *arg)
{
    bool is_unix = strncmp(at, "unix:", 5) == 0;
    struct server s = {.type = type, .text = text, .arg = arg};

    s.fd = is_unix ? listen_unix(at + 5) : listen_tcp(at);
    if (s.fd < 0) {
        cli_message("metrics: --listen %s: %s; want ADDRESS:PORT, [IPV6]:PORT or unix:PATH", at,
                    strerror(errno));
        return errno == EINVAL ? CLI_USAGE : CLI_FAILURE;
    }
    cli_notice("metrics at %s", at);
    for (;;)
        serve_round(&s);
}
