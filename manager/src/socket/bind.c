/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bind.c - bind(): always in the kernel, which reserves and chooses ports; by IP_FREEBIND for the
 * TOE's address, which the kernel does not have. The TOE is asked about its own connections that
 * use the port, of which the kernel does not know (bind(2), SO_REUSEADDR of socket(7)).
 */
#include <string.h>

#include "ctx.h"
#include "fdtab.h"
#include "ip6.h"
#include "lock.h"
#include "name.h"
#include "own_port.h"
#include "policy.h"
#include "port_search.h"
#include "qp.h"
#include "sock.h"
#include "tsock.h"

#ifndef IP_LOCAL_PORT_RANGE
#define IP_LOCAL_PORT_RANGE 51
#endif
#define CHOICES 16 /* ports of the kernel's choice before every one is tried */

/* Returns the undecided socket of fd with the lock held; else NULL without the lock. */
static struct tsock *lock_new(int fd)
{
    struct tsock *s;

    if (!tsock_get(fd))
        return NULL;
    tctx_lock();
    s = tsock_get(fd);
    if (s && tsock_is_new(s, fd))
        return s;
    tctx_unlock();
    return NULL;
}

static bool is_any(const struct tname *at)
{
    return at->wildcard || (at->v4 && at->ip == htonl(INADDR_ANY));
}

/* Sends BIND to each engine. Returns whether connections of theirs prevent the bind. reuse: flags
 * of BIND. */
static bool is_held(const struct tsock *s, const struct tname *at, uint8_t reuse)
{
    uint8_t flags = reuse;
    struct toedev_ip6 t;
    bool v6 = !at->v4 && tip6_get(&t);

    if (!at->v4 && !v6 && s->opts.v6only)
        return false; /* the TOE has no IPv6 address */
    if (v6)
        flags |= TOE_F_BIND_V6 | (s->opts.v6only ? TOE_F_BIND_V6ONLY : 0);
    tctx.bind_refused = false;
    for (uint32_t q = 0; q < tctx.qps_n && !tctx.bind_refused; q++) {
        struct tqp *qp = tctx.qps[q];
        uint32_t where = v6 ? tip6_entry(qp, &at->ip6, NULL) : ntohl(at->ip);

        if (!qp->no_bind && tqp_send(qp, TOE_CMD_BIND, flags, ntohs(at->port), 0, where, 0))
            tqp_settle(qp);
    }
    return tctx.bind_refused;
}

static void copy_option(int from, int to, int level, int name)
{
    uint32_t v;
    socklen_t len = sizeof(v);

    if (sys_getsockopt(from, level, name, &v, &len) == 0)
        sys_setsockopt(to, level, name, &v, len);
}

/* Returns a port that the kernel chooses for a socket like fd, network byte order; 0 with errno. */
static uint16_t choose(const struct tsock *s, int fd, const struct sockaddr *addr, socklen_t len)
{
    int other = sys_socket(s->v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), error;
    struct tname n = {0};

    if (other < 0)
        return 0;
    copy_option(fd, other, IPPROTO_IP, IP_FREEBIND);
    copy_option(fd, other, IPPROTO_IP, IP_LOCAL_PORT_RANGE);
    copy_option(fd, other, SOL_SOCKET, SO_BINDTOIFINDEX);
    if (s->v6)
        copy_option(fd, other, IPPROTO_IPV6, IPV6_V6ONLY);
    if (sys_bind(other, addr, len) == 0)
        (void)tsock_kernel_name(other, &n);
    error = errno;
    sys_close(other);
    errno = error;
    return n.port;
}

/* Tries every ephemeral port: the TOE uses so many that the kernel's choice finds none. */
static int bind_any(struct tsock *s, int fd, const struct sockaddr *addr, socklen_t len,
                    struct tname *want)
{
    struct tport_search search;

    tport_search_begin(&search, tport_range(fd));
    while ((want->port = tport_search_next(&search)) != 0) {
        if (is_held(s, want, 0))
            continue;
        if (tport_bind(s, fd, addr, len, want->port) == 0)
            return 0;
        if (errno != EADDRINUSE)
            return -1;
    }
    return terr(EADDRINUSE);
}

/* Binds to a port that neither the kernel nor the TOE uses. As on Linux, even with SO_REUSEADDR
 * none in TIME-WAIT is chosen (inet_csk_find_open_port()). The port may be taken between the two
 * calls of bind(): then another one is chosen. */
static int bind_chosen(struct tsock *s, int fd, const struct sockaddr *addr, socklen_t len,
                       const struct tname *at)
{
    struct tname want = *at;

    for (int i = 0; i < CHOICES; i++) {
        want.port = choose(s, fd, addr, len);
        if (!want.port)
            return -1;
        if (is_held(s, &want, 0))
            continue;
        if (tport_bind(s, fd, addr, len, want.port) == 0)
            return 0;
        if (errno != EADDRINUSE)
            return -1;
    }
    return bind_any(s, fd, addr, len, &want);
}

/* Returns whether bind() leaves the choice of the port to connect() (IP_BIND_ADDRESS_NO_PORT). */
static bool chooses_later(int fd)
{
    int on = 0;
    socklen_t len = sizeof(on);

    return sys_getsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, &len) == 0 && on;
}

/* Lets the kernel bind to an address that it does not have. */
static void allow_address(struct tsock *s, int fd)
{
    int on = 0;
    socklen_t len = sizeof(on);

    if (sys_getsockopt(fd, IPPROTO_IP, IP_FREEBIND, &on, &len) == 0 && on)
        return;
    on = 1;
    s->freebound = sys_setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &on, sizeof(on)) == 0;
}

static int bind_new(struct tsock *s, int fd, const struct sockaddr *addr, socklen_t len,
                    struct tname *at)
{
    bool toes = !is_any(at) && tpolicy_toes(at);
    uint8_t reuse = (s->opts.reuseaddr ? TOE_F_BIND_REUSEADDR : 0) |
                    (s->opts.reuseport ? TOE_F_BIND_REUSEPORT : 0);
    struct tname bound;

    if (toes && !tctx.shared)
        allow_address(s, fd);
    /* on a bound socket the kernel returns EINVAL before it checks ports */
    if ((toes || (is_any(at) && tctx_know())) && tsock_kernel_name(fd, &bound) == 0 &&
        (!bound.port || s->released)) {
        if (!at->port && !chooses_later(fd))
            return bind_chosen(s, fd, addr, len, at);
        if (at->port && is_held(s, at, reuse))
            return terr(EADDRINUSE);
    }
    return sys_bind(fd, addr, len);
}

int toe_bind(int fd, const struct sockaddr *addr, socklen_t len)
{
    struct tname at;
    struct tsock *s = tsock_get(fd);
    int r;

    if (s && s->state != TS_FOREIGN && !tsock_is_new(s, fd))
        return terr(EINVAL); /* bound already */
    if (!s || tname_read(addr, len, &at)) {
        r = sys_bind(fd, addr, len);
        if (r < 0 && !s)
            tpolicy_bind_failed(fd, addr, len);
        return r;
    }
    s = lock_new(fd);
    if (!s)
        return sys_bind(fd, addr, len);
    tip6_scope(fd, &at);
    r = bind_new(s, fd, addr, len, &at);
    if (r == 0)
        s->released = 0;
    tctx_unlock();
    return r;
}
