/* SPDX-License-Identifier: Apache-2.0 */
/* sockopt_get.c - getsockopt of what the TOE carries (socket(7), tcp(7), ip(7)). */
#include <limits.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#include "ctx.h"
#include "fdtab.h"
#include "lock.h"
#include "name.h"
#include "option.h"
#include "pathopt.h"
#include "record.h"
#include "sock.h"
#include "sockopt.h"
#include "tcpinfo.h"
#include "tsock.h"

/* Of a Linux system with its default sysctls; what a new socket answers. */
#define DEFAULT_KEEPIDLE  7200
#define DEFAULT_KEEPINTVL 75
#define DEFAULT_KEEPCNT   9
#define DEFAULT_LINGER2   60
#define DEFAULT_SYNCNT    6

/* As Linux: as many bytes as there is room for, and how many these were. */
static int give(void *value, socklen_t *len, const void *from, size_t size)
{
    if (*len > INT_MAX)
        return terr(EINVAL);
    if (*len > size)
        *len = (socklen_t)size;
    memcpy(value, from, *len);
    return 0;
}

static int give_int(void *value, socklen_t *len, int v)
{
    return give(value, len, &v, sizeof v);
}

static int give_timeout(void *value, socklen_t *len, uint64_t ns)
{
    struct timeval tv = {(time_t)(ns / NSEC), (suseconds_t)(ns % NSEC / 1000)};

    return give(value, len, &tv, sizeof tv);
}

static int or_default(int value, int fallback)
{
    return value ? value : fallback;
}

static enum verdict verdict_of(int r)
{
    return r < 0 ? WRONG : DONE;
}

/* An ICMP error that did not end the connection: told once, as Linux does (RFC 9293 SHLD-25). */
static int take_soft_error(struct tsock *s)
{
    struct toedev_flow_record r;

    if (s->state != TS_OPEN || !tsock_record(s, &r) || r.soft_error == s->soft_told)
        return 0;
    s->soft_told = r.soft_error;
    return (int)r.soft_error;
}

static enum verdict get_socket_level(struct tsock *s, int name, void *value, socklen_t *len)
{
    const struct tsock_opts *o = &s->opts;
    struct linger l = {o->linger_on, o->linger_s};
    uint64_t pacing;
    int v;

    switch (name) {
    case SO_ERROR:
        v = tsock_take_error(s);
        if (!v)
            v = take_soft_error(s);
        break;
    case SO_TYPE:
        v = SOCK_STREAM;
        break;
    case SO_DOMAIN:
        v = s->v6 ? AF_INET6 : AF_INET;
        break;
    case SO_PROTOCOL:
        v = IPPROTO_TCP;
        break;
    case SO_ACCEPTCONN:
        v = s->state == TS_LISTEN;
        break;
    case SO_KEEPALIVE:
        v = o->keepalive;
        break;
    case SO_REUSEADDR:
        v = o->reuseaddr;
        break;
    case SO_REUSEPORT:
        v = o->reuseport;
        break;
    case SO_OOBINLINE:
        v = o->oobinline;
        break;
    case SO_ZEROCOPY:
        v = o->zerocopy;
        break;
    case SO_RCVLOWAT:
        v = or_default(s->lowat, 1);
        break;
    case SO_RCVBUF:
        if (!s->rx)
            return UNHANDLED;
        v = (int)(s->rx_mask + 1);
        break;
    case SO_SNDBUF:
        if (!s->tx)
            return UNHANDLED;
        v = (int)(s->tx_mask + 1);
        break;
    case SO_MAX_PACING_RATE:
        pacing = o->max_pacing ? o->max_pacing : UINT64_MAX;
        if (*len >= sizeof pacing)
            return verdict_of(give(value, len, &pacing, sizeof pacing));
        v = (int)pacing_value(pacing);
        break;
    case SO_LINGER:
        return verdict_of(give(value, len, &l, sizeof l));
    case SO_PEERNAME:
        return verdict_of(s->state == TS_OPEN || s->state == TS_SHARED
                              ? tsock_name(s, true, value, len)
                              : terr(ENOTCONN));
    case SO_RCVTIMEO:
        return verdict_of(give_timeout(value, len, o->rcvtimeo));
    case SO_SNDTIMEO:
        return verdict_of(give_timeout(value, len, o->sndtimeo));
    default:
        return UNHANDLED;
    }
    return verdict_of(give_int(value, len, v));
}

static int maximum_segment(struct tsock *s)
{
    struct toedev_flow_record r;

    /* Linux answers 536 where there is no connection, or what was set. */
    if (s->state == TS_LISTEN && s->opts.maxseg)
        return s->opts.maxseg;
    return tsock_record(s, &r) && r.mss_send ? r.mss_send : 536;
}

static enum verdict get_congestion(const struct tsock *s, void *value, socklen_t *len)
{
    struct toedev_flow_record r;
    uint32_t cc = s->opts.cc ? s->opts.cc - 1 : 0;

    /* What the TOE's own default is, only a flow tells. */
    if (tsock_record(s, &r) && r.cc < SOCKOPT_CCS && !s->opts.cc)
        cc = r.cc;
    return verdict_of(give(value, len, sockopt_cc[cc], sizeof sockopt_cc[cc]));
}

static enum verdict get_tcp_level(struct tsock *s, int name, void *value, socklen_t *len)
{
    const struct tsock_opts *o = &s->opts;
    struct tcp_info info;
    int v;

    switch (name) {
    case TCP_INFO:
        tsock_tcp_info(s, &info);
        return verdict_of(give(value, len, &info, sizeof info));
    case TCP_FASTOPEN_KEY:
        return verdict_of(give(value, len, o->fastopen_key, 16u * o->fastopen_keys));
    case TCP_CONGESTION:
        return get_congestion(s, value, len);
    case TCP_NODELAY:
        v = o->nodelay;
        break;
    case TCP_CORK:
        v = o->cork;
        break;
    case TCP_QUICKACK:
        v = o->quickack;
        break;
    case TCP_MAXSEG:
        v = maximum_segment(s);
        break;
    case TCP_KEEPIDLE:
        v = or_default(o->keepidle, DEFAULT_KEEPIDLE);
        break;
    case TCP_KEEPINTVL:
        v = or_default(o->keepintvl, DEFAULT_KEEPINTVL);
        break;
    case TCP_KEEPCNT:
        v = or_default(o->keepcnt, DEFAULT_KEEPCNT);
        break;
    case TCP_USER_TIMEOUT:
        v = o->user_timeout;
        break;
    case TCP_LINGER2:
        v = or_default(o->linger2, DEFAULT_LINGER2);
        break;
    case TCP_SYNCNT:
        v = or_default(o->syncnt, DEFAULT_SYNCNT);
        break;
    case TCP_DEFER_ACCEPT:
        v = tdefer_seconds(o->defer);
        break;
    case TOE_TCP_UTO:
        v = o->uto;
        break;
    case TCP_FASTOPEN:
        v = o->fastopen;
        break;
    case TCP_FASTOPEN_CONNECT:
        v = o->fastopen_connect;
        break;
    case TCP_FASTOPEN_NO_COOKIE:
        v = o->fastopen_no_cookie;
        break;
    case TCP_INQ:
    case TCP_ZEROCOPY_RECEIVE:
    case TCP_ULP:
    case TCP_REPAIR:
        return terr(ENOPROTOOPT), WRONG;
    default:
        return UNHANDLED;
    }
    return verdict_of(give_int(value, len, v));
}

/* Accepted sockets share one placeholder, so what it keeps may be another's. */
static enum verdict get_own_path(const struct tsock *s, int level, int name, void *value,
                                 socklen_t *len)
{
    int six = level == IPPROTO_IPV6;

    if (!s->accepted || (level != IPPROTO_IP && !(six && s->v6)))
        return UNHANDLED;
    if (name == (six ? IPV6_MTU_DISCOVER : IP_MTU_DISCOVER))
        return verdict_of(
            give_int(value, len, s->opts.discover ? s->opts.discover - 1 : IP_PMTUDISC_WANT));
    if (name == (six ? IPV6_TCLASS : IP_TOS))
        return verdict_of(give_int(value, len, s->opts.tos));
    return UNHANDLED;
}

static enum verdict get_mtu(const struct tsock *s, void *value, socklen_t *len)
{
    int mtu = tpath_mtu(s);

    return mtu < 0 ? WRONG : verdict_of(give_int(value, len, mtu));
}

/* The Unix socket has what calls go by. */
static bool is_unix_sockets(int level, int name)
{
    return level == SOL_SOCKET && name != SO_DOMAIN && name != SO_PROTOCOL && name != SO_PEERNAME &&
           name != SO_MAX_PACING_RATE;
}

static int placeholder_get(const struct tsock *s, int fd, int level, int name, void *value,
                           socklen_t *len)
{
    int other, r;

    if (s && s->state == TS_SHARED && level != SOL_SOCKET) {
        other = tsockopt_other(s);
        r = sys_getsockopt(other, level, name, value, len);
        sys_close(other);
        return r;
    }
    return tfd_is_own(fd) ? terr(ENOPROTOOPT) : sys_getsockopt(fd, level, name, value, len);
}

/* TOE_TCP_CARRIER, of any socket. */
static int get_carrier(int fd, void *value, socklen_t *len)
{
    const struct tsock *s = tsock_get(fd);
    const char *why = toe_why_not(fd);
    char text[128];
    int type;
    socklen_t size = sizeof(type);

    if (!value || !len)
        return terr(EFAULT);
    if (!tfd_is_own(fd) && sys_getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0)
        return -1;
    if (s)
        snprintf(text, sizeof(text), "%s",
                 s->state == TS_NEW                 ? "undecided"
                 : s->state == TS_LISTEN && s->dual ? "toe and kernel"
                                                    : "toe");
    else
        snprintf(text, sizeof(text), "kernel%s%s", why ? ": " : "", why ? why : "");
    return give(value, len, text, strlen(text) + 1);
}

int toe_getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
    enum verdict verdict = UNHANDLED;
    struct tsock *s;
    int r;

    if (unlikely(level == IPPROTO_TCP && name == TOE_TCP_CARRIER))
        return get_carrier(fd, value, len);
    if (!tsock_get(fd))
        return sys_getsockopt(fd, level, name, value, len);
    tctx_lock();
    s = tsock_get(fd);
    if (s && s->state != TS_NEW) {
        if (level == SOL_SOCKET && name == SO_ERROR)
            tctx_progress(); /* what has come, also when nobody waited for it */
        if (!value || !len)
            verdict = (terr(EFAULT), WRONG);
        else if (s->state == TS_SHARED && is_unix_sockets(level, name))
            verdict = UNHANDLED;
        else if (level == SOL_SOCKET)
            verdict = get_socket_level(s, name, value, len);
        else if (level == IPPROTO_TCP)
            verdict = get_tcp_level(s, name, value, len);
        else if ((level == IPPROTO_IP && name == IP_MTU) ||
                 (level == IPPROTO_IPV6 && name == IPV6_MTU))
            verdict = get_mtu(s, value, len);
        else
            verdict = get_own_path(s, level, name, value, len);
    }
    r = verdict == WRONG       ? -1
        : verdict == UNHANDLED ? placeholder_get(s, fd, level, name, value, len)
                               : 0;
    tctx_unlock();
    return r;
}
