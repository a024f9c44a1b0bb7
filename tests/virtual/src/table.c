/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.c - packetdrill's table over libtoe: each member is the call of its name between taking
 * the world and settling it. Descriptors are the kernel's own numbers, as everywhere in libtoe.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <toe/toe.h>

#include "ctx.h"
#include "fdtab.h"
#include "lock.h"
#include "name.h"
#include "options.h"
#include "route.h"
#include "system.h"
#include "world.h"

/* When the call that this thread made last has ended, if it slept in it. */
static __thread uint64_t ended_at;
static __thread int has_slept;

/* Makes libtoe process all pending notifications, as in a program that has just polled. */
static void enter(void)
{
    pthread_mutex_lock(&world.lock);
    if (!world.up)
        return;
    tctx_lock();
    tctx_progress();
    tctx_unlock();
}

/* What was commanded is done, at the present time. */
static void leave(void)
{
    int e = errno;

    world_settle();
    if (!pthread_equal(pthread_self(), world.owner)) {
        ended_at = world.now;
        has_slept = 1;
    }
    if (!world_stays)
        world_leave();
    pthread_mutex_unlock(&world.lock);
    errno = e;
}

#define CALL(type, call)                                                                           \
    do {                                                                                           \
        type r_;                                                                                   \
        (void)u;                                                                                   \
        enter();                                                                                   \
        r_ = call;                                                                                 \
        leave();                                                                                   \
        return r_;                                                                                 \
    } while (0)

/* Numbers that were closed behind libtoe's back: packetdrill's teardown does. */
static void forget_closed(int fd, struct tobj *o)
{
    (void)o;
    if (fcntl(fd, F_GETFD) < 0)
        tfd_clear(fd);
}

static void sweep(void)
{
    tctx_lock();
    tfd_each_number(forget_closed);
    tctx_unlock();
}

static void forget(int fd, struct tobj *o)
{
    (void)o;
    tfd_clear(fd);
}

/* A router's address must be another one than the stack's. */
static void keep_apart(const uint8_t *own, uint8_t *gateway, size_t len)
{
    if (memcmp(own, gateway, len) == 0)
        gateway[len - 1] ^= 3; /* another host of that network */
}

/* Gives the stack an IPv6 address, and a router of its network. */
static void have_ip6(const void *ip)
{
    static const uint8_t none[16];
    struct toec_config *c = &world.knobs.core;

    if (c->ip6 != TOEC_IP6_OFF)
        return; /* --so_flags gave it */
    memcpy(c->ip6_addr, ip, 16);
    c->ip6 = TOEC_IP6_STATIC;
    if (memcmp(c->ip6_gateway, none, 16) == 0)
        memcpy(c->ip6_gateway, ip, 16);
}

/* The stack exists from here on. Its address, unless --so_flags gave it, is the first one that a
 * script uses: that of bind(), or the destination of a packet. NULL: any. */
static int up_at(const void *ip, const void *ip6)
{
    struct toec_config *c = &world.knobs.core;

    if (world.up)
        return 0;
    if (ip && !world.knobs.has_ip)
        memcpy(c->ip, ip, 4);
    if (ip6)
        have_ip6(ip6);
    keep_apart(c->ip, c->gateway, 4);
    if (c->ip6 != TOEC_IP6_OFF)
        keep_apart(c->ip6_addr, c->ip6_gateway, 16);
    return world_up();
}

static int up(void)
{
    return up_at(NULL, NULL);
}

/* Before bind(): the name is the stack's. */
static int up_as(const struct sockaddr *addr, socklen_t len)
{
    struct tname n;

    if (tname_read(addr, len, &n) != 0 || n.wildcard)
        return up();
    return n.v4 ? up_at(&n.ip, NULL) : up_at(NULL, &n.ip6);
}

/* Before a connection to a peer: a stack without an address of its family gets packetdrill's. */
static int up_to(const struct sockaddr *addr, socklen_t len)
{
    static const uint8_t own[16] = {0xfd, 0x3d, 0xfa, 0x7b, 0xd1, 0x7d, [15] = 0x10};
    struct tname n;

    return up_at(NULL, tname_read(addr, len, &n) == 0 && !n.v4 && !n.wildcard ? own : NULL);
}

static void pd_free(void *u)
{
    (void)u;
    enter();
    world_cancel();
    world_down();
    tctx_lock();
    tfd_each_number(forget);
    tctx_unlock();
    troute_forget();
    pthread_mutex_unlock(&world.lock);
}

static int do_socket(int domain, int type, int protocol)
{
    sweep();
    return toe_socket(domain, type, protocol);
}

static int pd_socket(void *u, int domain, int type, int protocol)
{
    CALL(int, do_socket(domain, type, protocol));
}

static int do_bind(int fd, const struct sockaddr *addr, socklen_t len)
{
    return up_as(addr, len) ? -1 : toe_bind(fd, addr, len);
}

static int pd_bind(void *u, int fd, const struct sockaddr *addr, socklen_t len)
{
    CALL(int, do_bind(fd, addr, len));
}

static int pd_listen(void *u, int fd, int backlog)
{
    CALL(int, up() ? -1 : system_listen(fd, backlog));
}

static int do_accept(int fd, struct sockaddr *addr, socklen_t *len)
{
    sweep();
    return toe_accept(fd, addr, len);
}

static int pd_accept(void *u, int fd, struct sockaddr *addr, socklen_t *len)
{
    CALL(int, do_accept(fd, addr, len));
}

static int pd_connect(void *u, int fd, const struct sockaddr *addr, socklen_t len)
{
    CALL(int, up_to(addr, len) ? -1 : toe_connect(fd, addr, len));
}

static ssize_t pd_read(void *u, int fd, void *buf, size_t n)
{
    CALL(ssize_t, toe_read(fd, buf, n));
}

static ssize_t pd_readv(void *u, int fd, const struct iovec *iov, int count)
{
    CALL(ssize_t, toe_readv(fd, iov, count));
}

static ssize_t pd_recv(void *u, int fd, void *buf, size_t n, int flags)
{
    CALL(ssize_t, toe_recv(fd, buf, n, flags));
}

static ssize_t pd_recvfrom(void *u, int fd, void *buf, size_t n, int flags, struct sockaddr *from,
                           socklen_t *len)
{
    CALL(ssize_t, toe_recvfrom(fd, buf, n, flags, from, len));
}

static ssize_t pd_recvmsg(void *u, int fd, struct msghdr *msg, int flags)
{
    CALL(ssize_t, toe_recvmsg(fd, msg, flags));
}

static ssize_t pd_write(void *u, int fd, const void *buf, size_t n)
{
    CALL(ssize_t, toe_write(fd, buf, n));
}

static ssize_t pd_writev(void *u, int fd, const struct iovec *iov, int count)
{
    CALL(ssize_t, toe_writev(fd, iov, count));
}

static ssize_t pd_send(void *u, int fd, const void *buf, size_t n, int flags)
{
    CALL(ssize_t, toe_send(fd, buf, n, flags));
}

static ssize_t pd_sendto(void *u, int fd, const void *buf, size_t n, int flags,
                         const struct sockaddr *to, socklen_t len)
{
    CALL(ssize_t, up_to(to, len) || system_client_may(fd, flags & MSG_FASTOPEN)
                      ? -1
                      : toe_sendto(fd, buf, n, flags, to, len));
}

static ssize_t pd_sendmsg(void *u, int fd, const struct msghdr *msg, int flags)
{
    CALL(ssize_t,
         up_to(msg->msg_name, msg->msg_namelen) || system_client_may(fd, flags & MSG_FASTOPEN)
             ? -1
             : toe_sendmsg(fd, msg, flags));
}

static int pd_fcntl(void *u, int fd, int cmd, ...)
{
    va_list ap;
    long arg;

    va_start(ap, cmd);
    arg = va_arg(ap, long);
    va_end(ap);
    CALL(int, toe_fcntl(fd, cmd, arg));
}

static int pd_ioctl(void *u, int fd, unsigned long request, ...)
{
    va_list ap;
    void *arg;

    va_start(ap, request);
    arg = va_arg(ap, void *);
    va_end(ap);
    CALL(int, toe_ioctl(fd, request, arg));
}

static int pd_close(void *u, int fd)
{
    CALL(int, toe_close(fd));
}

static int pd_shutdown(void *u, int fd, int how)
{
    CALL(int, toe_shutdown(fd, how));
}

static int do_getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
    if (world.up)
        device_fresh_records();
    return toe_getsockopt(fd, level, name, value, len);
}

static int pd_getsockopt(void *u, int fd, int level, int name, void *value, socklen_t *len)
{
    CALL(int, do_getsockopt(fd, level, name, value, len));
}

static int do_setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
    if (level == IPPROTO_TCP && name == TCP_FASTOPEN)
        system_take_key(fd);
    if (level == IPPROTO_TCP && name == TCP_FASTOPEN_CONNECT && system_client_may(fd, 1) != 0)
        return -1;
    return toe_setsockopt(fd, level, name, value, len);
}

static int pd_setsockopt(void *u, int fd, int level, int name, const void *value, socklen_t len)
{
    CALL(int, do_setsockopt(fd, level, name, value, len));
}

static int pd_poll(void *u, struct pollfd *fds, nfds_t n, int timeout)
{
    CALL(int, toe_poll(fds, n, timeout));
}

int toevt_send(const void *packet, size_t n)
{
    const uint8_t *ip = packet;
    int r = -1;

    enter();
    if (n >= 20 && ip[0] >> 4 == 4)
        r = up_at(ip + 16, NULL);
    else if (n >= 40 && ip[0] >> 4 == 6)
        r = up_at(NULL, ip + 24);
    if (r == 0)
        r = link_in(world.wire, packet, n);
    if (r == 0)
        world_trace('<', packet, n);
    leave();
    return r;
}

static int pd_netdev_send(void *u, const void *packet, size_t n)
{
    (void)u;
    return toevt_send(packet, n);
}

static int sent_something(void *arg)
{
    (void)arg;
    return world.up && wire_holds(world.wire);
}

size_t toevt_receive(void *packet, size_t room, uint64_t until, uint64_t *at)
{
    size_t n = 0;

    enter();
    if (world_run(until, sent_something, NULL) > 0)
        n = wire_take(world.wire, packet, room, at);
    leave();
    return n;
}

/* packetdrill calls until it gets a packet: if none can ever come, the test has failed and would
 * not end. */
static int pd_netdev_receive(void *u, void *packet, size_t *n, long long *time_usecs)
{
    uint64_t at = 0;

    (void)u;
    *n = toevt_receive(packet, *n, TOEVT_NEVER, &at);
    if (*n == 0) {
        fprintf(stderr, "toehold: a packet is expected, and the stack will never send one\n");
        exit(EXIT_FAILURE);
    }
    *time_usecs = (long long)(at / NS_PER_US);
    return 0;
}

static int pd_usleep(void *u, useconds_t usecs)
{
    (void)u;
    enter();
    world_run(world.now + usecs * NS_PER_US, NULL, NULL);
    leave();
    return 0;
}

/* Each read costs a microsecond, so that a caller that spins until some time gets there. A thread
 * that reads the clock after its call gets the time at which the call ended. */
static int pd_gettimeofday(void *u, struct timeval *tv, struct timezone *tz)
{
    uint64_t now;

    (void)u;
    (void)tz;
    enter();
    if (has_slept) {
        has_slept = 0;
        now = ended_at;
    } else {
        world_run(world.now + NS_PER_US, NULL, NULL);
        now = world.now;
    }
    leave();
    has_slept = 0;
    tv->tv_sec = (time_t)(now / NS_PER_S);
    tv->tv_usec = (suseconds_t)(now % NS_PER_S / NS_PER_US);
    return 0;
}

static int do_epoll_create(int size)
{
    sweep();
    return toe_epoll_create(size);
}

static int pd_epoll_create(void *u, int size)
{
    CALL(int, do_epoll_create(size));
}

static int pd_epoll_ctl(void *u, int ep, int op, int fd, struct epoll_event *ev)
{
    CALL(int, toe_epoll_ctl(ep, op, fd, ev));
}

static int pd_epoll_wait(void *u, int ep, struct epoll_event *ev, int max, int timeout)
{
    CALL(int, toe_epoll_wait(ep, ev, max, timeout));
}

static int pd_pipe(void *u, int fds[2])
{
    CALL(int, pipe(fds));
}

/* Waits in virtual time for the pipe, which toe_splice() would wait for in the kernel. */
static int await_pipe(int fd, short events)
{
    struct pollfd p = {.fd = fd, .events = events};
    struct stat st;
    int status = fcntl(fd, F_GETFL);

    if (fstat(fd, &st) != 0 || !S_ISFIFO(st.st_mode) || status < 0 || (status & O_NONBLOCK))
        return 0; /* toe_splice() judges the descriptor */
    return toe_poll(&p, 1, -1) < 0 ? -1 : 0;
}

/* packetdrill gives a pointer to 0 where it means no offset. */
static ssize_t do_splice(int in, loff_t *in_off, int out, loff_t *out_off, size_t n, unsigned flags)
{
    if (n && !(flags & SPLICE_F_NONBLOCK) && (await_pipe(in, POLLIN) || await_pipe(out, POLLOUT)))
        return -1;
    return toe_splice(in, in_off && *in_off ? in_off : NULL, out,
                      out_off && *out_off ? out_off : NULL, n, flags);
}

static ssize_t pd_splice(void *u, int in, loff_t *in_off, int out, loff_t *out_off, size_t n,
                         unsigned flags)
{
    CALL(ssize_t, do_splice(in, in_off, out, out_off, n, flags));
}

ssize_t toevt_sendfile(void *u, int out, int in, off_t *at, size_t n)
{
    CALL(ssize_t, toe_sendfile(out, in, at, n));
}

/* packetdrill's table has no member for it: packetdrill calls libc's, whose name this object takes
 * when it is preloaded (README.md). */
#pragma GCC visibility push(default)
ssize_t sendfile(int out, int in, off_t *at, size_t n)
{
    return toevt_sendfile(NULL, out, in, at, n);
}

ssize_t sendfile64(int out, int in, off64_t *at, size_t n)
{
    return toevt_sendfile(NULL, out, in, at, n);
}
#pragma GCC visibility pop

static const struct packetdrill_interface table = {
    .free = pd_free,
    .socket = pd_socket,
    .bind = pd_bind,
    .listen = pd_listen,
    .accept = pd_accept,
    .connect = pd_connect,
    .read = pd_read,
    .readv = pd_readv,
    .recv = pd_recv,
    .recvfrom = pd_recvfrom,
    .recvmsg = pd_recvmsg,
    .write = pd_write,
    .writev = pd_writev,
    .send = pd_send,
    .sendto = pd_sendto,
    .sendmsg = pd_sendmsg,
    .fcntl = pd_fcntl,
    .ioctl = pd_ioctl,
    .close = pd_close,
    .shutdown = pd_shutdown,
    .getsockopt = pd_getsockopt,
    .setsockopt = pd_setsockopt,
    .poll = pd_poll,
    .netdev_send = pd_netdev_send,
    .netdev_receive = pd_netdev_receive,
    .usleep = pd_usleep,
    .gettimeofday = pd_gettimeofday,
    .epoll_create = pd_epoll_create,
    .epoll_ctl = pd_epoll_ctl,
    .epoll_wait = pd_epoll_wait,
    .pipe = pd_pipe,
    .splice = pd_splice,
};

int toevt_init(const char *flags, struct packetdrill_interface *out, char *err, size_t err_size)
{
    int r;

    pthread_mutex_lock(&world.lock);
    world_down();
    world.owner = pthread_self();
    world.now = WORLD_ORIGIN;
    knobs_default(&world.knobs);
    r = knobs_set(&world.knobs, flags, 0, err, err_size);
    *out = table;
    out->userdata = &world;
    pthread_mutex_unlock(&world.lock);
    return r;
}

void packetdrill_interface_init(const char *flags, struct packetdrill_interface *out)
{
    char err[256], all[4096];
    unsigned mtu = options_mtu("/proc/self/cmdline");

    /* the last one given counts */
    snprintf(all, sizeof(all), "mtu=%u %s", mtu ? mtu : 1500, flags ? flags : "");
    if (toevt_init(all, out, err, sizeof(err)) == 0)
        return;
    fprintf(stderr, "toehold: --so_flags: %s\n", err);
    exit(EXIT_FAILURE);
}
