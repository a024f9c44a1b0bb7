/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bind.c - bind(): always the kernel's, so that ports are reserved and chosen there; with the TOE's
 * address, which the kernel does not have, by IP_FREEBIND. What the kernel does not know of, the
 * TOE is asked about: connections of its own that hold the port (bind(2), SO_REUSEADDR of
 * socket(7)).
 */
#include "ctx.h"
#include "fdtab.h"
#include "ip6.h"
#include "lock.h"
#include "name.h"
#include "qp.h"
#include "sock.h"
#include "tsock.h"

/* The undecided socket behind fd, with the lock taken; else NULL and the lock not held. */
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

/* Does the TOE have this address? */
static bool is_toes(const struct tname *at)
{
    struct toedev_ip6 t;

    if (at->v4)
        return ntohl(at->ip) >> 24 != IN_LOOPBACKNET && tctx_know() && at->ip == tctx.ip;
    return !IN6_IS_ADDR_LOOPBACK(&at->ip6) && tctx_know() && tip6_get(&t) && tip6_own(&t, at);
}

/* BIND to each engine: do connections of theirs stand in the way? */
static bool is_held(const struct tsock *s, const struct tname *at)
{
    uint8_t flags = (s->opts.reuseaddr ? TOE_F_BIND_REUSEADDR : 0) |
                    (s->opts.reuseport ? TOE_F_BIND_REUSEPORT : 0);
    struct toedev_ip6 t;
    bool v6 = !at->v4 && tip6_get(&t);

    if (!at->v4 && !v6 && s->opts.v6only)
        return false; /* the TOE has none of IPv6 */
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

static int bind_new(const struct tsock *s, int fd, const struct sockaddr *addr, socklen_t len,
                    struct tname *at)
{
    bool toes = !is_any(at) && is_toes(at);
    struct tname bound;
    int on = 1;

    if (toes && !tctx.shared)
        sys_setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &on, sizeof(on));
    /* upon a socket that is bound the kernel says EINVAL, before it looks at ports */
    if (at->port && (toes || (is_any(at) && tctx_know())) && tsock_kernel_name(fd, &bound) == 0 &&
        !bound.port && is_held(s, at))
        return terr(EADDRINUSE);
    return sys_bind(fd, addr, len);
}

int toe_bind(int fd, const struct sockaddr *addr, socklen_t len)
{
    struct tname at;
    struct tsock *s = tsock_get(fd);
    int r;

    if (s && s->state != TS_FOREIGN && !tsock_is_new(s, fd))
        return terr(EINVAL); /* bound already */
    if (!s || tname_read(addr, len, &at))
        return sys_bind(fd, addr, len);
    s = lock_new(fd);
    if (!s)
        return sys_bind(fd, addr, len);
    tip6_scope(fd, &at);
    r = bind_new(s, fd, addr, len, &at);
    tctx_unlock();
    return r;
}
