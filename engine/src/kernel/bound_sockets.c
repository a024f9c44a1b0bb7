/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bound_sockets.c - finds the socket that holds a port in the kernel (bound_sockets.h).
 *
 * getsockname(2) is no proof: an ended connection still returns its port, which another socket may
 * have by then. bind(2) is a proof: it fails with EINVAL on a bound socket, and with EADDRINUSE on
 * others, since it requests a port that is in use (the guard's).
 *
 * close(2) of a duplicate may be the last one of the socket, if the process has closed its own in
 * the meantime, and may then block for the SO_LINGER time. So a separate thread closes the
 * duplicates.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <toe/number.h>

#include "bound_sockets.h"

#ifndef SO_NETNS_COOKIE /* Linux 5.14 */
#define SO_NETNS_COOKIE 71
#endif
#ifndef SO_BINDTOIFINDEX /* Linux 5.0 */
#define SO_BINDTOIFINDEX 62
#endif

#define END_S 1 /* time for closing the sockets at the end */

#ifndef IP_LOCAL_PORT_RANGE /* Linux 6.3 */
#define IP_LOCAL_PORT_RANGE 51
#endif

struct bound {
    uint8_t ip[4];
    int ip6;
    unsigned ifindex;
    int guard;      /* a bound socket of toed */
    uint16_t taken; /* to this port, network byte order */
    pthread_mutex_t lock;
    pthread_cond_t some;
    pthread_t thread;
    int has_thread, end;
    uint32_t count;
    int old[2 * BOUND_MAX]; /* sockets to close */
};

/* ---- closing ---- */

static void *close_old(void *arg)
{
    struct bound *b = arg;

    pthread_mutex_lock(&b->lock);
    while (!b->end || b->count) {
        int fd;

        if (!b->count) {
            pthread_cond_wait(&b->some, &b->lock);
            continue;
        }
        fd = b->old[--b->count];
        pthread_mutex_unlock(&b->lock);
        close(fd);
        pthread_mutex_lock(&b->lock);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

/* Starts the closing thread when the first socket must be closed. Called with the lock held. */
static int has_closer(struct bound *b)
{
    sigset_t all, old;

    if (b->has_thread)
        return 1;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    b->has_thread = pthread_create(&b->thread, NULL, close_old, b) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return b->has_thread;
}

/* Returns how many sockets may be examined: no more than the list of sockets to close has room
 * for. */
static uint32_t may_look(struct bound *b)
{
    uint32_t room;

    pthread_mutex_lock(&b->lock);
    room = has_closer(b) ? (uint32_t)(sizeof(b->old) / sizeof(b->old[0])) - b->count : 0;
    pthread_mutex_unlock(&b->lock);
    return room < BOUND_MAX ? room : BOUND_MAX;
}

static void put_aside(struct bound *b, int fd)
{
    int full;

    pthread_mutex_lock(&b->lock);
    full = b->count == sizeof(b->old) / sizeof(b->old[0]);
    if (!full)
        b->old[b->count++] = fd;
    pthread_cond_signal(&b->some);
    pthread_mutex_unlock(&b->lock);
    if (full) /* several searches at once */
        close(fd);
}

/* Creates and binds a socket, as bound_make(). force: also where sockets without SO_REUSEADDR have
 * the port, which tcp(7) allows to CAP_NET_ADMIN while TCP_REPAIR is on. */
static int make(const uint8_t *ip, const struct toec_addr *at, unsigned ifindex, uint16_t *port,
                uint32_t within, int reuse, int force)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(*port)};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(*port)};
    struct sockaddr *a = ip ? (struct sockaddr *)&in : (struct sockaddr *)&in6;
    socklen_t len = ip ? sizeof(in) : sizeof(in6);
    int fd = socket(a->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;

    if (fd < 0)
        return -1;
    if (ip) {
        memcpy(&in.sin_addr, ip, 4);
    } else {
        if (at)
            memcpy(&in6.sin6_addr, at, 16);
        if (IN6_IS_ADDR_LINKLOCAL(&in6.sin6_addr))
            in6.sin6_scope_id = ifindex;
    }
    /* IPv6 and IPv4 ports are independent */
    if ((!ip && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on))) ||
        (reuse && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof(reuse))) ||
        (within && setsockopt(fd, IPPROTO_IP, IP_LOCAL_PORT_RANGE, &within, sizeof(within))) ||
        (force && setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &on, sizeof(on))) || bind(fd, a, len) ||
        getsockname(fd, a, &len)) {
        int error = errno;

        close(fd);
        errno = error;
        return -1;
    }
    *port = ntohs(ip ? in.sin_port : in6.sin6_port);
    return fd;
}

int bound_make(const uint8_t *ip, const struct toec_addr *at, unsigned ifindex, uint16_t *port,
               uint32_t within, int reuse)
{
    return make(ip, at, ifindex, port, within, reuse, 0);
}

int bound_guard(const uint8_t *ip, const struct toec_addr *at, unsigned ifindex, uint16_t port,
                int reuse)
{
    const int off = 0;
    int fd = bound_make(ip, at, ifindex, &port, 0, reuse);

    if (fd >= 0 || errno != EADDRINUSE)
        return fd;
    fd = make(ip, at, ifindex, &port, 0, 0, 1);
    /* the end of TCP_REPAIR clears SO_REUSEADDR */
    if (fd >= 0 && (setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &off, sizeof(off)) ||
                    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof(reuse)))) {
        close(fd);
        return -1;
    }
    return fd;
}

struct bound *bound_new(const uint8_t ip[4], unsigned ifindex)
{
    struct bound *b = calloc(1, sizeof(*b));
    uint16_t port = 0;

    if (!b)
        return NULL;
    if (ip)
        memcpy(b->ip, ip, sizeof(b->ip));
    b->ip6 = !ip;
    b->ifindex = ifindex;
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->some, NULL);
    b->guard = bound_make(ip, NULL, ifindex, &port, 0, 0);
    if (b->guard < 0) {
        bound_free(b);
        return NULL;
    }
    b->taken = htons(port);
    return b;
}

void bound_free(struct bound *b)
{
    struct timespec until;

    if (!b)
        return;
    pthread_mutex_lock(&b->lock);
    b->end = 1;
    pthread_cond_signal(&b->some);
    pthread_mutex_unlock(&b->lock);
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += END_S;
    if (b->has_thread && pthread_clockjoin_np(b->thread, NULL, CLOCK_MONOTONIC, &until) != 0)
        return; /* the thread blocks in close(2); the process does not wait for it */
    if (b->guard >= 0)
        close(b->guard);
    pthread_cond_destroy(&b->some);
    pthread_mutex_destroy(&b->lock);
    free(b);
}

void bound_close(struct bound *b, int fd)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof(info);

    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
        (info.tcpi_state == TCP_LISTEN || info.tcpi_state == TCP_CLOSE))
        close(fd); /* at once, to free the port */
    else
        put_aside(b, fd);
}

/* ---- one socket ---- */

static int option(int fd, int level, int name, int *value)
{
    socklen_t len = sizeof(*value);

    *value = 0;
    return getsockopt(fd, level, name, value, &len);
}

/* Compares the socket's network namespace with the guard's: by cookie, before Linux 5.14 by the
 * namespace itself. */
static int in_our_namespace(const struct bound *b, int fd)
{
    uint64_t ours = 0, its = 1;
    socklen_t len = sizeof(ours);
    struct stat x, y;
    int of[2], same;

    if (getsockopt(b->guard, SOL_SOCKET, SO_NETNS_COOKIE, &ours, &len) == 0)
        return getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &its, &len) == 0 && its == ours;
    of[0] = ioctl(b->guard, SIOCGSKNS);
    of[1] = ioctl(fd, SIOCGSKNS);
    same = of[0] >= 0 && of[1] >= 0 && fstat(of[0], &x) == 0 && fstat(of[1], &y) == 0 &&
           x.st_dev == y.st_dev && x.st_ino == y.st_ino;
    if (of[0] >= 0)
        close(of[0]);
    if (of[1] >= 0)
        close(of[1]);
    return same;
}

/* Returns whether an IPv6 socket bound to a receives what is sent to `at`. */
static int is_at(const struct sockaddr_in6 *a, const uint8_t at[16])
{
    return IN6_IS_ADDR_UNSPECIFIED(&a->sin6_addr) || memcmp(&a->sin6_addr, at, 16) == 0;
}

/* Checks by getsockname(2) that the socket has the port at our address. *family: its family. */
static int is_named(const struct bound *b, int fd, const uint8_t at[16], uint16_t port, int *family)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    struct sockaddr_storage a = {0};
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
    socklen_t size = sizeof(a);
    int v6only;

    if (getsockname(fd, (struct sockaddr *)&a, &size))
        return 0;
    *family = a.ss_family;
    memcpy(&in6, &a, sizeof(in6));
    if (b->ip6)
        return a.ss_family == AF_INET6 && in6.sin6_port == htons(port) && is_at(&in6, at);
    if (a.ss_family == AF_INET) {
        memcpy(&in, &a, sizeof(in));
        return in.sin_port == htons(port) &&
               (in.sin_addr.s_addr == INADDR_ANY || memcmp(&in.sin_addr, b->ip, 4) == 0);
    }
    if (a.ss_family != AF_INET6 || in6.sin6_port != htons(port) ||
        option(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6only) || v6only)
        return 0;
    return IN6_IS_ADDR_UNSPECIFIED(&in6.sin6_addr) ||
           (memcmp(&in6.sin6_addr, mapped, 12) == 0 &&
            memcmp(in6.sin6_addr.s6_addr + 12, b->ip, 4) == 0);
}

/* Checks the TCP state: neither connecting to a peer, which leaves the port available to others,
 * nor closing. */
static int is_in_state(int fd, int want)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof(info);

    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len))
        return 0;
    return info.tcpi_state == TCP_LISTEN || (want == BOUND_HELD && info.tcpi_state == TCP_CLOSE);
}

static int has_port(const struct bound *b, int fd, int family)
{
    const struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = b->taken};
    const struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = b->taken};
    int rc = family == AF_INET ? bind(fd, (const struct sockaddr *)&in, sizeof(in))
                               : bind(fd, (const struct sockaddr *)&in6, sizeof(in6));

    return rc != 0 && errno == EINVAL;
}

/* Checks that the socket is not bound to an interface. With a link-local address it is, and the
 * interface must be ours. */
static int has_interface(const struct bound *b, int fd, const uint8_t at[16])
{
    int interface;

    if (option(fd, SOL_SOCKET, SO_BINDTOIFINDEX, &interface))
        return 0;
    return !interface ||
           (b->ip6 && at[0] == 0xfe && (at[1] & 0xc0) == 0x80 && (unsigned)interface == b->ifindex);
}

int bound_is(struct bound *b, int fd, const uint8_t at[16], uint16_t port, int want)
{
    int protocol, family = AF_UNSPEC;

    /* check what can change before bind(): a bound socket stays bound */
    return !option(fd, SOL_SOCKET, SO_PROTOCOL, &protocol) && protocol == IPPROTO_TCP &&
           is_named(b, fd, at, port, &family) && in_our_namespace(b, fd) &&
           has_interface(b, fd, at) && has_port(b, fd, family) &&
           is_named(b, fd, at, port, &family) && has_interface(b, fd, at) && is_in_state(fd, want);
}

/* ---- a process ---- */

static int find(struct bound *b, int pidfd, DIR *dir, const uint8_t at[16], uint16_t port, int want)
{
    uint32_t left = may_look(b);
    char target[32], last[32] = "";
    struct dirent *d;

    while (left && (d = readdir(dir))) {
        ssize_t n = readlinkat(dirfd(dir), d->d_name, target, sizeof(target) - 1);
        uint64_t number;
        int fd;

        if (n < 8 || memcmp(target, "socket:[", 8) != 0)
            continue;
        target[n] = 0;
        if (strcmp(target, last) == 0)
            continue; /* a duplicate of the previous one, as libtoe's connections are */
        memcpy(last, target, sizeof(last));
        if (!toe_number(d->d_name, 0, INT_MAX, &number, NULL, 0))
            continue;
        fd = (int)syscall(SYS_pidfd_getfd, pidfd, (int)number, 0);
        if (fd < 0)
            continue;
        if (bound_is(b, fd, at, port, want))
            return fd;
        put_aside(b, fd);
        left--;
    }
    return -1;
}

int bound_find(struct bound *b, int pid, const uint8_t at[16], uint16_t port, int want)
{
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), found;
    char path[64];
    DIR *dir;

    if (pidfd < 0)
        return -1;
    snprintf(path, sizeof(path), "/proc/%d/fd", pid);
    dir = opendir(path);
    found = dir ? find(b, pidfd, dir, at, port, want) : -1;
    if (dir)
        closedir(dir);
    close(pidfd);
    return found;
}
