/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sock.c - sockets before they are connections: socket, listen; and names, shutdown, errors
 * (SEEDS S1.14).
 *
 * A socket begins as a kernel socket. Its carrier is decided at listen() and connect().
 */
#include <string.h>

#include "announce.h"
#include "connect.h"
#include "ctx.h"
#include "epoll.h"
#include "fcntl_flags.h"
#include "fdtab.h"
#include "flow.h"
#include "handle.h"
#include "inherited.h"
#include "inline.h"
#include "ip6.h"
#include "listen.h"
#include "lock.h"
#include "name.h"
#include "policy.h"
#include "qp.h"
#include "ready.h"
#include "share_use.h"
#include "sock.h"
#include "tsock.h"

int toe_socket(int domain, int type, int protocol)
{
    int kind = type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC), fd;
    bool ours = (domain == AF_INET || domain == AF_INET6) && kind == SOCK_STREAM &&
                (protocol == 0 || protocol == IPPROTO_TCP);
    struct tsock *s;

    if (unlikely(tinline_inside))
        return sys_socket(domain, type, protocol);
    if (!ours)
        tpolicy_other(domain, kind);
    fd = sys_socket(domain, type, protocol);
    if (fd < 0 || fd >= (int)TFD_MAX)
        return fd;
    tpolicy_clear(fd);
    if (!ours)
        return fd;
    tctx_lock();
    s = tsock_new();
    if (s) {
        s->nonblock = (type & SOCK_NONBLOCK) != 0;
        s->v6 = domain == AF_INET6;
        tfd_set(fd, &s->obj);
    }
    tctx_unlock();
    if (!s) {
        sys_close(fd);
        return terr(ENOMEM);
    }
    return fd;
}

/* Begins in the state of a socket that was shut down: only the TOE can carry it. */
int toe_own_socket(int domain, int type, int protocol)
{
    int kind = type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC), fd = -1;
    struct tsock *s;

    if (domain != AF_INET && domain != AF_INET6)
        return terr(EAFNOSUPPORT);
    if (kind != SOCK_STREAM || (protocol != 0 && protocol != IPPROTO_TCP))
        return terr(EPROTONOSUPPORT);
    tctx_lock();
    s = tsock_new();
    if (s) {
        s->nonblock = (type & SOCK_NONBLOCK) != 0;
        s->v6 = domain == AF_INET6;
        s->state = TS_DEAD;
        s->connect_failed = s->unconnected = 1;
        s->obj.refs = 1;
        fd = tfd_own_new(&s->obj);
        tobj_put(&s->obj); /* without a number this frees it */
    } else {
        errno = ENOMEM;
    }
    tctx_unlock();
    return fd;
}

bool tsock_is_new(const struct tsock *s, int fd)
{
    return s->state == TS_NEW ||
           (s->state == TS_DEAD && s->unconnected && !s->accepted && !tfd_is_own(fd));
}

static bool v6only(int fd)
{
    int on = 0;
    socklen_t len = sizeof(on);

    return sys_getsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, &len) == 0 && on;
}

/*
 * Handles a listener that the TOE cannot serve: the kernel must not serve it either. A listener
 * from another process also belongs to that process, which a shutdown would affect. So it stays in
 * the kernel, and where the TOE is required only the call fails.
 */
static int not_served(struct tsock *s, int fd, int error)
{
    if (!s->inherited) {
        sys_shutdown(fd, SHUT_RDWR);
        return terr(error);
    }
    if (tctx.cfg.require)
        return terr(error);
    tsock_to_kernel(s, fd);
    return 0;
}

/* Makes the TOE listen; the kernel's socket does already. 0, or -1 with errno. */
static int listen_toe(struct tsock *s, int fd, const struct tname *at, bool dual)
{
    struct toedev_ip6 t;

    s->handle = thandle_new(s);
    if (!s->handle)
        return terr(ENOBUFS);
    s->dual = dual;
    s->local_ip = at->ip;
    s->local6 = at->ip6;
    s->scope = at->scope;
    s->opts.v6only = s->v6 && v6only(fd);
    /* on a TOE without IPv6, :: is any IPv4 address */
    s->ip6 = s->v6 && !at->v4 && tip6_get(&t);
    s->local_port = at->port;
    s->state = TS_LISTEN;
    tctx.listeners++;
    tsock_note_flags(s, fd);
    if (tctx_attached()) /* else announced at its first use, maybe in a child */
        tlisten_begin(s);
    if (s->error) {
        int e = tsock_take_error(s);

        tlisten_end(s);
        s->state = TS_NEW;
        return not_served(s, fd, e);
    }
    tepoll_adopt(s);
    return 0;
}

static int listen_again(struct tsock *s, int fd, int backlog)
{
    if (s->state != TS_LISTEN)
        return terr(EINVAL);
    s->backlog = backlog;
    if (s->announced)
        tlisten_announce(s, s->weak);
    return sys_listen(fd, backlog);
}

int tsock_listens(struct tsock *s, int fd, int backlog)
{
    struct tname at;
    enum tcarrier by;

    if (tsock_kernel_name(fd, &at) < 0)
        return -1;
    s->backlog = backlog;
    by = tpolicy_listen(fd, &at, s->v6 && v6only(fd));
    if (by == TCARRY_REFUSED)
        return not_served(s, fd, errno);
    if (by == TCARRY_KERNEL) {
        tsock_to_kernel(s, fd);
        return 0;
    }
    return listen_toe(s, fd, &at, by == TCARRY_BOTH);
}

static int listen_new(struct tsock *s, int fd, int backlog)
{
    /* also chooses a port if bind() has not, and rejects one in use */
    if (sys_listen(fd, backlog) < 0)
        return -1;
    s->released = 0;
    s->used |= s->inherited;
    return tsock_listens(s, fd, backlog);
}

/* Handles listen() after a failed connect() or the shutdown of a listener. */
static int listen_again_as_new(struct tsock *s, int fd, int backlog)
{
    int error = s->error, r;

    s->state = TS_NEW;
    s->error = 0;
    s->eof = s->shut = s->oob = s->connect_failed = s->unconnected = 0;
    s->announced = s->weak = s->used = s->ip6 = 0;
    sys_fcntl(fd, F_SETFL, s->nonblock ? O_NONBLOCK : 0);
    r = listen_new(s, fd, backlog);
    if (r < 0) {
        s->state = TS_DEAD;
        s->error = error;
        s->unconnected = s->connect_failed = 1;
    }
    return r;
}

int toe_listen(int fd, int backlog)
{
    struct tsock *s;
    int r;

    if (!tsock_get(fd))
        return sys_listen(fd, backlog);
    tctx_lock();
    s = tsock_get(fd);
    if (!s)
        r = sys_listen(fd, backlog);
    else if (s->state == TS_NEW)
        r = listen_new(s, fd, backlog);
    else if (tsock_is_new(s, fd))
        r = listen_again_as_new(s, fd, backlog);
    else
        r = listen_again(s, fd, backlog);
    tctx_unlock();
    return r;
}

static int shutdown_open(struct tsock *s, int how)
{
    s->connect_unreported = 0; /* as Linux (inet_shutdown()) */
    if (how != SHUT_WR)
        s->shut |= TSHUT_RD;
    if (how != SHUT_RD && !(s->shut & TSHUT_WR)) {
        s->shut |= TSHUT_WR;
        tqp_send(s->qp, TOE_CMD_CLOSE, TOE_F_CLOSE_HALF, 0, s->slot, 0, 0);
    }
    tobj_notify(&s->obj, tsock_events(s));
    return 0;
}

static int shutdown_locked(struct tsock *s, int fd, int how)
{
    if (how != SHUT_RD && how != SHUT_WR && how != SHUT_RDWR)
        return terr(EINVAL);
    switch ((enum tsock_state)s->state) {
    case TS_SHARED:
        return sys_shutdown(fd, how);
    case TS_NEW:
        s->inherited &= how == SHUT_WR; /* otherwise it no longer listens */
        return sys_shutdown(fd, how);
    case TS_OPEN:
        return shutdown_open(s, how);
    case TS_LISTEN:
        if (how == SHUT_WR)
            return 0;
        tlisten_end(s);
        sys_shutdown(fd, how);
        break;
    case TS_CONNECTING:
        tsock_end(s);
        s->error = ECONNRESET;
        break;
    case TS_DEAD: /* Linux marks the socket all the same (inet_shutdown()) */
        s->shut |= (how != SHUT_WR ? TSHUT_RD : 0) | (how != SHUT_RD ? TSHUT_WR : 0);
        s->spoilt |= s->connect_unreported || (s->connect_failed && !s->unconnected);
        return terr(ENOTCONN);
    case TS_FOREIGN:
        return terr(ENOTCONN);
    }
    /* as Linux (inet_shutdown()): an unconnected socket, which may connect again */
    s->state = TS_DEAD;
    s->connect_failed = s->unconnected = 1;
    tobj_notify(&s->obj, tsock_events(s));
    return 0;
}

int toe_shutdown(int fd, int how)
{
    struct tsock *s;
    int r;

    if (!tsock_get(fd))
        return sys_shutdown(fd, how);
    tctx_lock();
    tshare_use(fd);
    s = tsock_get(fd);
    if (s && (s->state == TS_OPEN || s->state == TS_CONNECTING))
        tctx_progress();
    r = s ? shutdown_locked(s, fd, how) : sys_shutdown(fd, how);
    tctx_unlock();
    return r;
}

/* Returns the name of a socket after a connect() that failed and was reported: the placeholder's,
 * and the port of the attempt (Linux's tcp_disconnect() forgets the address alone). */
static int name_after_failure(const struct tsock *s, int fd, struct sockaddr *addr, socklen_t *len)
{
    struct sockaddr_storage a;
    socklen_t size = sizeof(a), room;
    struct tname n;

    if (!s->connect_failed || !s->local_port || !addr || !len || (int)*len < 0 ||
        sys_getsockname(fd, (struct sockaddr *)&a, &size) < 0 ||
        tname_read((struct sockaddr *)&a, size, &n) || n.port)
        return 1;
    tname_set_port((struct sockaddr *)&a, s->local_port);
    room = *len < size ? *len : size;
    memcpy(addr, &a, room);
    *len = size;
    return 0;
}

/* Returns a name of a TOE socket; 1: pass the call to the kernel. */
static int name_of(int fd, bool peer, struct sockaddr *addr, socklen_t *len)
{
    struct tsock *s;
    int r = 1;

    if (!tsock_get(fd))
        return 1;
    tctx_lock();
    s = tsock_get(fd);
    if (s && peer && (s->state == TS_OPEN || s->state == TS_CONNECTING))
        tctx_progress(); /* the connection may have ended, or be there */
    if (s && !peer)
        tconnect_ask_port(s);
    if (s && !peer && s->state == TS_DEAD && tsock_is_new(s, fd))
        r = name_after_failure(s, fd, addr, len);
    if (s && s->state != TS_NEW && (peer || (s->state != TS_LISTEN && !tsock_is_new(s, fd)))) {
        if (!peer)
            r = tsock_name(s, false, addr, len);
        else if ((s->state == TS_OPEN && !s->abort) || s->state == TS_SHARED)
            r = tsock_name(s, true, addr, len);
        else
            r = terr(ENOTCONN);
    }
    tctx_unlock();
    return r;
}

int toe_getsockname(int fd, struct sockaddr *addr, socklen_t *len)
{
    int r;

    tinherit_look(fd);
    r = name_of(fd, false, addr, len);
    return r == 1 ? sys_getsockname(fd, addr, len) : r;
}

int toe_getpeername(int fd, struct sockaddr *addr, socklen_t *len)
{
    int r = name_of(fd, true, addr, len);

    return r == 1 ? sys_getpeername(fd, addr, len) : r;
}

int tsock_take_error(struct tsock *s)
{
    int e = s->error;

    s->error = 0;
    return e;
}
