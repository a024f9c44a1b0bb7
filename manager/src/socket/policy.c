/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy.c - the carrier of a socket, and the reasons logged for sockets that the kernel carries.
 */
#include <string.h>

#include "config.h"
#include "ctx.h"
#include "epoll.h"
#include "fdtab.h"
#include "ip6.h"
#include "lock.h"
#include "log.h"
#include "name.h"
#include "policy.h"
#include "ready.h"
#include "route.h"
#include "tsock.h"

/* By number: why it is not carried; string constants. */
static _Atomic(const char *) reasons[TFD_MAX];

static const char *const why_loopback = "loopback addresses stay with the kernel";
static const char *const why_udp = "only TCP is carried, other protocols stay with the kernel";
static const char *const why_v6 = "IPv6 is not carried: the TOE has none";
static const char *const why_scope = "a link-local address of another interface than the TOE's";
static const char *const why_local = "the address belongs to this host";
static const char *const why_kernel_addr = "bound to an address that is not the TOE's";
static const char *const why_route = "neither on the TOE's network nor behind its gateway";
static const char *const why_other =
    "the kernel does not send there from the TOE's address by its interface";
static const char *const why_cast = "broadcast and multicast addresses are not TCP destinations";
static const char *const why_came = "accepted from an interface of the kernel's";
static const char *const why_down = "no TOE is attached";

void tpolicy_clear(int fd)
{
    if ((unsigned)fd < TFD_MAX && atomic_load_explicit(&reasons[fd], memory_order_relaxed))
        atomic_store_explicit(&reasons[fd], NULL, memory_order_relaxed);
}

int tpolicy_accepted(int listener, int fd)
{
    const char *why = tsock_get(listener) ? why_came : NULL;

    if ((unsigned)fd >= TFD_MAX)
        return fd;
    if ((unsigned)listener < TFD_MAX && !why)
        why = atomic_load_explicit(&reasons[listener], memory_order_relaxed);
    if (atomic_load_explicit(&reasons[fd], memory_order_relaxed) != why)
        atomic_store_explicit(&reasons[fd], why, memory_order_relaxed);
    return fd;
}

const char *toe_why_not(int fd)
{
    if ((unsigned)fd >= TFD_MAX || toe_is_offloaded(fd))
        return NULL;
    return atomic_load_explicit(&reasons[fd], memory_order_relaxed);
}

/* Returns TOEHOLD_REQUIRE; reads the settings if nothing is attached yet. */
static bool require(void)
{
    if (!tctx.configured && tctx.state == TC_COLD) {
        char err[256];
        struct tconfig cfg;

        tctx.configured = tconfig_resolve(&cfg, NULL, err, sizeof(err)) == 0;
        if (tctx.configured)
            tctx.cfg = cfg;
        else
            tctx.cfg.require = cfg.require;
    }
    return tctx.cfg.require;
}

static void log_reason(const char *why)
{
    if (tlog_first(why))
        tlog_info("a socket stays with the kernel: %s", why);
}

bool tpolicy_ring(void)
{
    bool must;

    tctx_lock();
    must = require() || (!tctx.cfg.io_uring && tctx_know());
    if (!must)
        tlog_once("io_uring: what the program does on its rings bypasses the TOE");
    else if (tctx.cfg.require)
        tlog_once("io_uring: refused, as TOEHOLD_REQUIRE asks: a ring bypasses the TOE");
    else
        tlog_once("io_uring: refused with ENOSYS, as the kernel cannot watch sockets of the TOE; "
                  "TOEHOLD_IO_URING=1 allows it to a program that uses rings for files alone");
    tctx_unlock();
    return must;
}

bool tpolicy_pass(int fd, const char *why)
{
    bool must = require();

    if ((unsigned)fd < TFD_MAX)
        atomic_store_explicit(&reasons[fd], why, memory_order_relaxed);
    log_reason(why);
    return must;
}

/* For sockets that a TOE can never carry: not refused; logged only with TOEHOLD_REPORT. */
static enum tcarrier outside(int fd, const char *why)
{
    require();
    if ((unsigned)fd < TFD_MAX)
        atomic_store_explicit(&reasons[fd], why, memory_order_relaxed);
    if (tctx.cfg.report)
        log_reason(why);
    return TCARRY_KERNEL;
}

static enum tcarrier pass(int fd, const char *why, int error)
{
    if (!tpolicy_pass(fd, why))
        return TCARRY_KERNEL;
    errno = error;
    return TCARRY_REFUSED;
}

static enum tcarrier no_toe(int fd)
{
    if ((unsigned)fd < TFD_MAX)
        atomic_store_explicit(&reasons[fd], why_down, memory_order_relaxed);
    if (!tctx.cfg.require)
        return TCARRY_KERNEL;
    errno = ENETDOWN;
    return TCARRY_REFUSED;
}

void tpolicy_other(int domain, int kind)
{
    if ((domain != AF_INET && domain != AF_INET6) || (kind != SOCK_STREAM && kind != SOCK_DGRAM))
        return; /* Unix, netlink, raw: nothing to report */
    tctx_lock();
    outside(-1, why_udp);
    tctx_unlock();
}

/* With a shared address, the TOE sends packets that the kernel would send with the same source and
 * interface. */
static bool sends_as_we(const struct toedev_ip6 *t, const struct tway *way)
{
    const struct tname from = {.ip6 = way->source6, .scope = way->interface};

    return way->interface == t->scope && tip6_own(t, &from);
}

static enum tcarrier connect6(int fd, struct tname *to)
{
    struct toedev_ip6 t;
    enum troute route;
    uint32_t scope = 0;
    struct tway way;

    if (to->wildcard || IN6_IS_ADDR_LOOPBACK(&to->ip6))
        return outside(fd, why_loopback);
    if (IN6_IS_ADDR_MULTICAST(&to->ip6))
        return outside(fd, why_cast);
    if (!tctx_need())
        return no_toe(fd);
    if (!tip6_get(&t))
        return pass(fd, why_v6, ENETUNREACH);
    if (tip6_own(&t, to) && !tctx.shared)
        return TCARRY_TOE;
    if (IN6_IS_ADDR_LINKLOCAL(&to->ip6))
        scope = to->scope;
    if (IN6_IS_ADDR_LINKLOCAL(&to->ip6) && (!scope || scope != t.scope))
        return outside(fd, why_scope); /* without an interface the kernel returns EINVAL */
    route = troute_ask6(&to->ip6, scope, &way);
    if (route == TROUTE_LOCAL)
        return outside(fd, why_local);
    if (tctx.shared) {
        to->from = way.source6;
        return sends_as_we(&t, &way) ? TCARRY_TOE : outside(fd, why_other);
    }
    if (scope)
        return TCARRY_TOE; /* the interface of the address is the link */
    if (tip6_on_link(&t, &to->ip6))
        return TCARRY_TOE;
    if ((t.flags & TOEDEV_IP6_ROUTER) && route != TROUTE_ON_LINK)
        return TCARRY_TOE;
    return pass(fd, why_route, ENETUNREACH);
}

enum tcarrier tpolicy_connect(int fd, struct tname *to)
{
    uint32_t host = ntohl(to->ip);
    enum troute route;
    struct tway way;

    if (!to->v4)
        return connect6(fd, to);
    if (host >> 24 == IN_LOOPBACKNET || host == INADDR_ANY)
        return outside(fd, why_loopback);
    if (IN_MULTICAST(host) || host == INADDR_BROADCAST)
        return outside(fd, why_cast);
    if (!tctx_need())
        return no_toe(fd);
    if (to->ip == tctx.ip && !tctx.shared)
        return TCARRY_TOE;
    route = troute_ask(to->ip, &way);
    if (route == TROUTE_LOCAL)
        return outside(fd, why_local);
    if (tctx.shared) /* as in sends_as_we() */
        return way.source == tctx.ip && !way.via6 && way.interface == tip6_interface()
                   ? TCARRY_TOE
                   : outside(fd, why_other);
    if (!((to->ip ^ tctx.ip) & tctx.mask))
        return TCARRY_TOE;
    /* outside the TOE's network: through its gateway, unless the kernel is on that network */
    if (tctx.gw && route != TROUTE_ON_LINK)
        return TCARRY_TOE;
    return pass(fd, why_route, ENETUNREACH);
}

bool tpolicy_toes(const struct tname *at)
{
    struct toedev_ip6 t;

    if (at->v4)
        return ntohl(at->ip) >> 24 != IN_LOOPBACKNET && tctx_know() && at->ip == tctx.ip;
    return !IN6_IS_ADDR_LOOPBACK(&at->ip6) && tctx_know() && tip6_get(&t) && tip6_own(&t, at);
}

/* A bound address is the promise that packets have it as their source (bind(2)). */
enum tcarrier tpolicy_source(int fd, const struct tname *from)
{
    if (from->wildcard || (from->v4 && from->ip == htonl(INADDR_ANY)) || tpolicy_toes(from))
        return TCARRY_TOE;
    return pass(fd, why_kernel_addr, EADDRNOTAVAIL);
}

void tpolicy_bind_failed(int fd, const struct sockaddr *addr, socklen_t len)
{
    int type = 0, error = errno;
    socklen_t size = sizeof(type);
    struct tname at;

    if (error == EADDRNOTAVAIL && !tname_read(addr, len, &at) &&
        sys_getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_DGRAM) {
        tctx_lock();
        if (tpolicy_toes(&at))
            tlog_once("a UDP socket cannot be bound to the TOE's address, where only TCP is "
                      "carried: bind it to an address of the kernel's or to a wildcard, or run "
                      "toed with --ip shared");
        tctx_unlock();
    }
    errno = error;
}

/* Decides for an IPv6 address, or :: of an IPv6-only socket. */
static enum tcarrier listen6(int fd, const struct tname *at)
{
    struct toedev_ip6 t;

    if (IN6_IS_ADDR_LOOPBACK(&at->ip6))
        return outside(fd, why_loopback);
    if (!tctx_know() || !tip6_get(&t))
        return outside(fd, why_v6);
    if (at->wildcard)
        return TCARRY_BOTH;
    if (!tip6_own(&t, at))
        return pass(fd, why_kernel_addr, EADDRNOTAVAIL);
    return tctx.shared ? TCARRY_BOTH : TCARRY_TOE; /* as for IPv4, below */
}

enum tcarrier tpolicy_listen(int fd, const struct tname *at, bool v6only)
{
    if (!at->v4 && (!at->wildcard || v6only))
        return listen6(fd, at);
    if (!at->wildcard && ntohl(at->ip) >> 24 == IN_LOOPBACKNET)
        return outside(fd, why_loopback);
    if (!tctx_know())
        return no_toe(fd);
    /* this host too can connect to a shared address, through the kernel */
    if (at->wildcard || (at->ip == tctx.ip && tctx.shared))
        return TCARRY_BOTH;
    if (at->ip == tctx.ip)
        return TCARRY_TOE;
    return pass(fd, why_kernel_addr, EADDRNOTAVAIL);
}

void tsock_to_kernel(struct tsock *s, int fd)
{
    tepoll_abandon(s);
    tobj_notify(&s->obj, EPOLLIN | EPOLLOUT); /* pollers check again: now the kernel serves it */
    tobj_hold(&s->obj);
    do
        tfd_clear(fd);
    while (s->obj.refs > 1 && (fd = tfd_find(&s->obj, -1)) >= 0);
    s->state = TS_NEW;
    tobj_put(&s->obj);
}

void tpolicy_families(struct tfamilies *f)
{
    struct toedev_ip6 t;

    tctx_lock();
    if (tctx_know()) {
        f->ip4 |= tctx.ip != 0;
        f->ip6 |= tip6_get(&t) && t.count;
    }
    tctx_unlock();
}
