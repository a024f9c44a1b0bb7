/* SPDX-License-Identifier: Apache-2.0 */
/* inherit.c - sockets that came from another program (inherit.h). */
#include <dirent.h>
#include <limits.h>
#include <linux/tcp.h>
#include <stdio.h>
#include <string.h>

#include <toe/number.h>

#include "ctx.h"
#include "epoll.h"
#include "fdtab.h"
#include "inherit.h"
#include "lock.h"
#include "share.h"
#include "sockopt.h"
#include "tsock.h"

#define STATE_CLOSE 7 /* TCP_CLOSE of netinet/tcp.h, which excludes linux/tcp.h */

static int ask(int fd, int level, int name)
{
    int v = 0;
    socklen_t len = sizeof v;

    return sys_getsockopt(fd, level, name, &v, &len) == 0 ? v : -1;
}

/* Returns whether a TCP socket neither listens nor has a connection, nor had one. */
static bool is_undecided(int fd)
{
    struct tcp_info info;
    socklen_t len = sizeof info;

    memset(&info, 0, sizeof info);
    return sys_getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
           info.tcpi_state == STATE_CLOSE;
}

/* listens: else its carrier is decided here, at listen() or connect(), as for a new socket. */
static void adopt(int fd, int domain, bool listens)
{
    struct tsock *s = tsock_new();
    int saved = errno;

    if (!s)
        return;
    s->v6 = domain == AF_INET6;
    /* tsock_note_flags(): if the kernel serves it too, its flag is not the program's */
    s->nonblock = (sys_fcntl(fd, F_GETFL, 0) & O_NONBLOCK) && sys_fcntl(fd, F_GETSIG, 0) != SIGIO;
    s->opts.nodelay = ask(fd, IPPROTO_TCP, TCP_NODELAY) > 0;
    s->opts.keepalive = ask(fd, SOL_SOCKET, SO_KEEPALIVE) > 0;
    s->opts.reuseaddr = ask(fd, SOL_SOCKET, SO_REUSEADDR) > 0;
    s->opts.reuseport = ask(fd, SOL_SOCKET, SO_REUSEPORT) > 0;
    s->opts.defer = tdefer_times(ask(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT));
    s->opts.v6only = s->v6 && ask(fd, IPPROTO_IPV6, IPV6_V6ONLY) > 0;
    s->inherited = listens;
    tfd_set(fd, &s->obj);
    errno = saved;
}

static bool some_wait;

static void look_for_waiting(struct tobj *o)
{
    const struct tsock *s = (const struct tsock *)o;

    some_wait |= o->kind == TOBJ_SOCK && s->state == TS_NEW && s->inherited;
}

/* Returns whether there are inherited listeners that have not been used. */
static bool inherited_waits(void)
{
    some_wait = false;
    tfd_each(look_for_waiting);
    return some_wait;
}

static bool is_epoll(int fd)
{
    static const char name[] = "anon_inode:[eventpoll]";
    char path[32], to[sizeof name];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return readlink(path, to, sizeof to) == (ssize_t)sizeof name - 1 &&
           memcmp(to, name, sizeof name - 1) == 0;
}

static void adopt_epoll(int fd)
{
    struct tepoll *ep;

    tctx_lock();
    ep = tobj_get(fd) ? NULL : tepoll_new(fd);
    if (ep)
        ep->kernel_used = true;
    tctx_unlock();
}

void tinherit(int fd)
{
    int domain, saved = errno;
    bool listens = false;

    if ((unsigned)fd < TFD_MAX && !tobj_get(fd) && ask(fd, SOL_SOCKET, SO_DOMAIN) == AF_UNIX) {
        tctx_lock();
        if (!tobj_get(fd))
            (void)tshare_adopt(fd);
        tctx_unlock();
    } else if ((unsigned)fd < TFD_MAX && !tobj_get(fd) &&
               ask(fd, SOL_SOCKET, SO_PROTOCOL) == IPPROTO_TCP &&
               ((listens = ask(fd, SOL_SOCKET, SO_ACCEPTCONN) == 1) || is_undecided(fd))) {
        domain = ask(fd, SOL_SOCKET, SO_DOMAIN);
        tctx_lock();
        if ((domain == AF_INET || domain == AF_INET6) && !tobj_get(fd))
            adopt(fd, domain, listens);
        tctx_unlock();
    } else if ((unsigned)fd < TFD_MAX && !tobj_get(fd) && is_epoll(fd)) {
        adopt_epoll(fd);
    }
    errno = saved;
}

void tinherit_all(void)
{
    DIR *dir = opendir("/proc/self/fd");
    const struct dirent *e;
    int saved = errno;
    uint64_t fd;

    while (dir && (e = readdir(dir)))
        if (toe_number(e->d_name, 0, INT_MAX, &fd, NULL, 0)) /* not "." and ".." */
            tinherit((int)fd);
    if (dir)
        closedir(dir);
    errno = saved;
}

void tctx_before_rights_change(void)
{
    tctx_lock();
    if (tctx.state == TC_COLD && (tctx.listeners || inherited_waits()))
        tctx_need();
    tctx_unlock();
}
