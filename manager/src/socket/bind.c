/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bind.c - bind(): always in the kernel, which reserves and chooses ports; by IP_FREEBIND for the
 * TOE's address, which the kernel does not have. The TOE is asked about its own connections that
 * use the port, of which the kernel does not know (bind(2), SO_REUSEADDR of socket(7)).
 */
#include "ctx.h"
#include "fdtab.h"
#include "ip6.h"
#include "lock.h"
#include "name.h"
#include "policy.h"
#include "qp.h"
#include "sock.h"
#include "tsock.h"

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

/* Sends BIND to each engine. Returns whether connections of theirs prevent the bind. */
static bool is_held(const struct tsock *s, const struct tname *at)
{
    uint8_t flags = (s->opts.reuseaddr ? TOE_F_BIND_REUSEADDR : 0) |
                    (s->opts.reuseport ? TOE_F_BIND_REUSEPORT : 0);
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

static int bind_new(const struct tsock *s, int fd, const struct sockaddr *addr, socklen_t len,
                    struct tname *at)
{
    bool toes = !is_any(at) && tpolicy_toes(at);
    struct tname bound;
    int on = 1;

    if (toes && !tctx.shared)
        sys_setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &on, sizeof(on));
    /* on a bound socket the kernel returns EINVAL before it checks ports */
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
