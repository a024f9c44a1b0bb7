/* SPDX-License-Identifier: Apache-2.0 */
/* takeover_talk.c - messages between a toed and the one that takes over (takeover_talk.h). */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <toe/fds.h>

#include "base/clock.h"
#include "base/takeover_image.h"
#include "takeover_talk.h"

#define SEND_TIME (5 * NS_PER_S)

/* Header of a message of the image. */
struct image_head {
    char word[8]; /* "IMAGE" */
    uint64_t bytes;
    uint32_t fds, version;
};

/* Waits for the event. Returns -1 with errno, ETIMEDOUT after `until`. */
static int wait_for(int fd, short event, uint64_t until)
{
    struct pollfd p = {fd, event, 0};
    uint64_t now;
    int n;

    do {
        now = engine_clock();
        n = poll(&p, 1, now < until ? (int)((until - now) / NS_PER_MS) + 1 : 0);
    } while (n < 0 && errno == EINTR);
    if (n == 0)
        errno = ETIMEDOUT;
    return n > 0 ? 0 : -1;
}

int talk_send(int to, const void *data, size_t n, const int *fds, uint32_t fd_count)
{
    TOE_FDS_ROOM(FDS_MOST) control;
    struct iovec iov = {(void *)data, n};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
    uint64_t until = engine_clock() + SEND_TIME;
    ssize_t sent;

    toe_fds_put(&msg, &control, fds, fd_count);
    while ((sent = sendmsg(to, &msg, MSG_NOSIGNAL | MSG_DONTWAIT)) < 0 &&
           (errno == EINTR || errno == EAGAIN))
        if (wait_for(to, POLLOUT, until) != 0)
            return -1;
    return sent == (ssize_t)n ? 0 : -1;
}

static void keep_fds(struct msghdr *msg, int *fds, uint32_t *fd_count)
{
    uint32_t room = fds ? *fd_count : 0;
    size_t came = toe_fds_take(msg, fds, room);

    if (fds)
        *fd_count = came < room ? (uint32_t)came : room;
}

ssize_t talk_receive(int from, void *data, size_t room, int *fds, uint32_t *fd_count,
                     uint64_t until)
{
    TOE_FDS_ROOM(253) control;
    struct iovec iov = {data, room};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = &control,
                         .msg_controllen = sizeof(control)};
    ssize_t n;

    if (wait_for(from, POLLIN, until) != 0)
        return -1;
    n = recvmsg(from, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (n >= 0)
        keep_fds(&msg, fds, fd_count);
    if (n >= 0 && msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
        while (fds && *fd_count)
            close(fds[--*fd_count]);
        errno = msg.msg_flags & MSG_CTRUNC ? EMFILE : EMSGSIZE;
        return -1;
    }
    if (n < 0 && errno == ECONNRESET)
        n = 0;
    return n;
}

int talk_is(const char *text, ssize_t n, const char *word)
{
    return n == (ssize_t)strlen(word) && memcmp(text, word, (size_t)n) == 0;
}

/* ---- the image ---- */

#define TOO_MANY                                                                                   \
    "the running toed has more descriptors than this process may have (RLIMIT_NOFILE): raise the " \
    "hard limit"

static int write_all(int fd, const uint8_t *p, size_t n)
{
    while (n) {
        ssize_t done = write(fd, p, n);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return -1;
        p += done;
        n -= (size_t)done;
    }
    return 0;
}

int talk_send_image(int to, const struct takeover *t)
{
    struct image_head head = {
        .word = "IMAGE", .bytes = t->n, .fds = t->fd_count, .version = TAKEOVER_VERSION};
    int memory = memfd_create("toed-image", MFD_CLOEXEC), rc = -1;
    uint32_t at, n;

    if (memory >= 0 && write_all(memory, t->bytes, t->n) == 0)
        rc = talk_send(to, &head, sizeof(head), &memory, 1);
    for (at = 0; rc == 0 && at < t->fd_count; at += n) {
        n = t->fd_count - at < FDS_MOST ? t->fd_count - at : FDS_MOST;
        rc = talk_send(to, "FDS", 3, t->fds + at, n);
    }
    if (memory >= 0)
        close(memory);
    return rc;
}

static int refuse(char *err, size_t err_size, const char *why)
{
    snprintf(err, err_size, "--take-over: %s", why);
    return -1;
}

static int read_image(int memory, struct takeover *t, const struct image_head *head)
{
    size_t at = 0;

    t->bytes = malloc(head->bytes);
    t->fds = malloc((head->fds + 1) * sizeof(int));
    if (!t->bytes || !t->fds)
        return -1;
    t->n = t->room = head->bytes;
    t->fd_room = head->fds;
    while (at < t->n) {
        ssize_t got = pread(memory, t->bytes + at, t->n - at, (off_t)at);

        if (got <= 0)
            return -1;
        at += (size_t)got;
    }
    return 0;
}

static int read_fds(int from, struct takeover *t, uint64_t until)
{
    char word[8];

    errno = EPROTO;
    while (t->fd_count < t->fd_room) {
        uint32_t n = t->fd_room - t->fd_count;

        if (!talk_is(word, talk_receive(from, word, sizeof(word), t->fds + t->fd_count, &n, until),
                     "FDS") ||
            n == 0)
            return -1;
        t->fd_count += n;
    }
    return 0;
}

int talk_receive_image(int from, struct takeover *t, char *err, size_t err_size)
{
    uint64_t until = engine_clock() + TAKEOVER_TIME;
    struct image_head head;
    uint32_t one = 1;
    int memory = -1, rc;
    ssize_t n = talk_receive(from, &head, sizeof(head), &memory, &one, until);

    if (n != sizeof(head) || memcmp(head.word, "IMAGE", 6) != 0 || one != 1 ||
        head.version != TAKEOVER_VERSION) {
        if (one == 1 && memory >= 0)
            close(memory);
        return refuse(err, err_size,
                      n < 0 && errno == EMFILE ? TOO_MANY
                                               : "the running toed has not sent what it has");
    }
    rc = read_image(memory, t, &head);
    close(memory);
    if (rc != 0 || read_fds(from, t, until) != 0)
        return refuse(err, err_size,
                      rc == 0 && errno == EMFILE
                          ? TOO_MANY
                          : "what the running toed has did not arrive whole");
    return 0;
}

/* ---- options ---- */

struct text {
    char *at;
    size_t left;
};

__attribute__((format(printf, 2, 3))) static void line(struct text *t, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start() is above */
    n = vsnprintf(t->at, t->left, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= t->left)
        return;
    t->at += n;
    t->left -= (size_t)n;
}

void talk_options(const struct options *o, char *text, size_t size)
{
    struct text t = {text, size};
    char a[INET6_ADDRSTRLEN] = "", b[INET6_ADDRSTRLEN] = "";

    text[0] = 0;
    line(&t, "netif %s\n", o->netif);
    inet_ntop(AF_INET, o->ip, a, sizeof(a));
    inet_ntop(AF_INET, o->gateway, b, sizeof(b));
    line(&t, "ip %s%s/%u", o->shared ? "shared " : "", a, o->prefix_len);
    if (o->vlan) /* on this line, so that a toed of an earlier release can be taken over from */
        line(&t, " in VLAN %u", o->vlan);
    line(&t, "%s", "\n");
    line(&t, "gateway %s\n", b);
    inet_ntop(AF_INET6, o->ip6, a, sizeof(a));
    inet_ntop(AF_INET6, o->gateway6, b, sizeof(b));
    line(&t, "ip6 %s/%u\n", o->has_ip6 ? a : "off", o->prefix_len6);
    line(&t, "ip6-auto %s\n", o->ip6_auto ? "on" : "off");
    line(&t, "gateway6 %s\n", b);
    if (o->has_mac)
        line(&t, "mac %02x:%02x:%02x:%02x:%02x:%02x\n", o->mac[0], o->mac[1], o->mac[2], o->mac[3],
             o->mac[4], o->mac[5]);
    else
        line(&t, "mac %s\n", "the interface's");
    if (o->mtu)
        line(&t, "mtu %u\n", o->mtu);
    else
        line(&t, "mtu %s\n", "the interface's");
    line(&t, "engines %u\n", o->engines);
}
