/* SPDX-License-Identifier: Apache-2.0 */
/* sockopt_get.c - getsockopt of TOE sockets (socket(7), tcp(7), ip(7)). */
#include <limits.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#include "ancillary.h"
#include "ctx.h"
#include "fdtab.h"
#include "keptopt.h"
#include "lock.h"
#include "name.h"
#include "option.h"
#include "pathopt.h"
#include "record.h"
#include "sock.h"
#include "sockopt.h"
#include "tcpinfo.h"
#include "tsock.h"

/* Values of a new socket on Linux with default sysctls. */
#define DEFAULT_KEEPIDLE  7200
#define DEFAULT_KEEPINTVL 75
#define DEFAULT_KEEPCNT   9
#define DEFAULT_LINGER2   60
#define DEFAULT_SYNCNT    6

/* Returns a value as Linux does: as many bytes as fit, and their number in *len. */
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

struct get_option;
typedef enum verdict get_fn(struct tsock *s, const struct get_option *o, void *value,
                            socklen_t *len);

/* A row of the table of getsockopt(). */
struct get_option {
    int level, name;
    get_fn *get;
    uint16_t at;  /* offset of the stored value in struct tsock */
    int fallback; /* value when the stored one is 0; or the constant */
};

static const void *kept(const struct tsock *s, const struct get_option *o)
{
    return (const uint8_t *)s + o->at;
}

/* ---- getters of rows ---- */

static enum verdict refuse(struct tsock *s, const struct get_option *o, void *value, socklen_t *len)
{
    (void)s, (void)o, (void)value, (void)len;
    return terr(ENOPROTOOPT), WRONG;
}

static enum verdict get_flag(struct tsock *s, const struct get_option *o, void *value,
                             socklen_t *len)
{
    return verdict_of(give_int(value, len, *(const uint8_t *)kept(s, o)));
}

/* Returns whether that variant of SO_TIMESTAMP is in use (sk_getsockopt() of Linux). */
static enum verdict get_stamps(struct tsock *s, const struct get_option *o, void *value,
                               socklen_t *len)
{
    unsigned want = (unsigned)o->fallback, is = s->opts.stamps;

    /* SO_TIMESTAMP_NEW alone does not look at the resolution */
    if (o->name == SO_TIMESTAMP_NEW)
        is &= ~TSTAMP_NS;
    return verdict_of(give_int(value, len, is == want));
}

static enum verdict get_timestamping(struct tsock *s, const struct get_option *o, void *value,
                                     socklen_t *len)
{
    int two[2] = {0}; /* the flags, and the clock to bind to */

    if (o->name == SO_TIMESTAMPING || (s->opts.stamps & TSTAMP_NEW))
        two[0] = (int)s->opts.timestamping;
    return verdict_of(give(value, len, two, sizeof two));
}

static enum verdict get_quickack(struct tsock *s, const struct get_option *o, void *value,
                                 socklen_t *len)
{
    return verdict_of(give_int(value, len, *(const uint8_t *)kept(s, o) != 1));
}

static enum verdict get_number(struct tsock *s, const struct get_option *o, void *value,
                               socklen_t *len)
{
    return verdict_of(give_int(value, len, or_default(*(const int32_t *)kept(s, o), o->fallback)));
}

static enum verdict get_constant(struct tsock *s, const struct get_option *o, void *value,
                                 socklen_t *len)
{
    (void)s;
    return verdict_of(give_int(value, len, o->fallback));
}

static enum verdict get_timeout(struct tsock *s, const struct get_option *o, void *value,
                                socklen_t *len)
{
    return verdict_of(give_timeout(value, len, *(const uint64_t *)kept(s, o)));
}

/* An ICMP error that did not end the connection: reported once, as Linux does (RFC 9293 SHLD-25).
 */
static int take_soft_error(struct tsock *s)
{
    struct toedev_flow_record r;

    if (s->state != TS_OPEN || !tsock_record(s, &r) || r.soft_error == s->soft_reported)
        return 0;
    s->soft_reported = r.soft_error;
    return (int)r.soft_error;
}

static enum verdict get_error(struct tsock *s, const struct get_option *o, void *value,
                              socklen_t *len)
{
    int v = tsock_take_error(s);

    (void)o;
    return verdict_of(give_int(value, len, v ? v : take_soft_error(s)));
}

static enum verdict get_domain(struct tsock *s, const struct get_option *o, void *value,
                               socklen_t *len)
{
    (void)o;
    return verdict_of(give_int(value, len, s->v6 ? AF_INET6 : AF_INET));
}

static enum verdict get_acceptconn(struct tsock *s, const struct get_option *o, void *value,
                                   socklen_t *len)
{
    (void)o;
    return verdict_of(give_int(value, len, s->state == TS_LISTEN));
}

/* Return the slot's true sizes. */
static enum verdict get_rcvbuf(struct tsock *s, const struct get_option *o, void *value,
                               socklen_t *len)
{
    (void)o;
    return s->rx ? verdict_of(give_int(value, len, (int)(s->rx_mask + 1))) : UNHANDLED;
}

static enum verdict get_sndbuf(struct tsock *s, const struct get_option *o, void *value,
                               socklen_t *len)
{
    (void)o;
    return s->tx ? verdict_of(give_int(value, len, (int)(s->tx_mask + 1))) : UNHANDLED;
}

static enum verdict get_max_pacing(struct tsock *s, const struct get_option *o, void *value,
                                   socklen_t *len)
{
    uint64_t pacing = s->opts.max_pacing ? s->opts.max_pacing : UINT64_MAX;

    (void)o;
    if (*len >= sizeof pacing)
        return verdict_of(give(value, len, &pacing, sizeof pacing));
    return verdict_of(give_int(value, len, (int)pacing_value(pacing)));
}

static enum verdict get_linger(struct tsock *s, const struct get_option *o, void *value,
                               socklen_t *len)
{
    struct linger l = {s->opts.linger_on, s->opts.linger_s};

    (void)o;
    return verdict_of(give(value, len, &l, sizeof l));
}

static enum verdict get_peername(struct tsock *s, const struct get_option *o, void *value,
                                 socklen_t *len)
{
    (void)o;
    return verdict_of(s->state == TS_OPEN || s->state == TS_SHARED ? tsock_name(s, true, value, len)
                                                                   : terr(ENOTCONN));
}

static enum verdict get_info(struct tsock *s, const struct get_option *o, void *value,
                             socklen_t *len)
{
    struct tcp_info info;

    (void)o;
    tsock_tcp_info(s, &info);
    return verdict_of(give(value, len, &info, sizeof info));
}

static enum verdict get_fastopen_key(struct tsock *s, const struct get_option *o, void *value,
                                     socklen_t *len)
{
    (void)o;
    return verdict_of(give(value, len, s->opts.fastopen_key, 16u * s->opts.fastopen_keys));
}

static enum verdict get_defer_accept(struct tsock *s, const struct get_option *o, void *value,
                                     socklen_t *len)
{
    (void)o;
    return verdict_of(give_int(value, len, tdefer_seconds(s->opts.defer)));
}

/* Without a connection, Linux reports the value set, or 536. */
static enum verdict get_maxseg(struct tsock *s, const struct get_option *o, void *value,
                               socklen_t *len)
{
    struct toedev_flow_record r;
    int v = 536;

    (void)o;
    if (s->state == TS_LISTEN && s->opts.maxseg)
        v = s->opts.maxseg;
    else if (tsock_record(s, &r) && r.mss_send)
        v = r.mss_send;
    return verdict_of(give_int(value, len, v));
}

/* An open connection for which none was set has the size of the receive buffer. */
static enum verdict get_window_clamp(struct tsock *s, const struct get_option *o, void *value,
                                     socklen_t *len)
{
    const struct tsock *flow = tflow_of(s);
    int v = tkept_value(s, o->level, o->name);

    if (!v && flow->state == TS_OPEN)
        v = (int)(flow->rx_mask + 1);
    return verdict_of(give_int(value, len, v));
}

static enum verdict get_congestion(struct tsock *s, const struct get_option *o, void *value,
                                   socklen_t *len)
{
    struct toedev_flow_record r;
    uint32_t cc = s->opts.cc ? s->opts.cc - 1 : 0;

    (void)o;
    /* Only a flow's record has the TOE's own default. */
    if (tsock_record(s, &r) && r.cc < SOCKOPT_CCS && !s->opts.cc)
        cc = r.cc;
    return verdict_of(give(value, len, sockopt_cc[cc], sizeof sockopt_cc[cc]));
}

static enum verdict get_mtu(struct tsock *s, const struct get_option *o, void *value,
                            socklen_t *len)
{
    int mtu = tpath_mtu(s);

    (void)o;
    return mtu < 0 ? WRONG : verdict_of(give_int(value, len, mtu));
}

/* Accepted sockets share one placeholder, and a shared connection has a Unix socket instead: their
 * values are not there. */
static bool without_placeholder(const struct tsock *s)
{
    return s->accepted || s->state == TS_SHARED;
}

static enum verdict get_mtu_discover(struct tsock *s, const struct get_option *o, void *value,
                                     socklen_t *len)
{
    int set;

    if (!without_placeholder(s))
        return UNHANDLED;
    set = s->opts.discover[o->level == IPPROTO_IPV6];
    return verdict_of(give_int(value, len, set ? set - 1 : IP_PMTUDISC_WANT));
}

static enum verdict get_tos(struct tsock *s, const struct get_option *o, void *value,
                            socklen_t *len)
{
    if (!without_placeholder(s))
        return UNHANDLED;
    return verdict_of(give_int(value, len, s->opts.tos[o->level == IPPROTO_IPV6]));
}

static enum verdict get_v6only(struct tsock *s, const struct get_option *o, void *value,
                               socklen_t *len)
{
    (void)o;
    return without_placeholder(s) ? verdict_of(give_int(value, len, s->opts.v6only)) : UNHANDLED;
}

/* ---- the table ---- */

#define AT(field) offsetof(struct tsock, opts.field)
#define ROW(of, option_name, getter, ...)                                                          \
    {                                                                                              \
        .level = (of), .name = (option_name), .get = getter, __VA_ARGS__                           \
    }

/* Every option that getsockopt() handles specially, as set_options[] of sockopt.c. All others are
 * read from the placeholder. */
static const struct get_option get_options[] = {
    ROW(SOL_SOCKET, SO_ERROR, get_error),
    ROW(IPPROTO_TCP, TCP_INFO, get_info),
    ROW(SOL_SOCKET, SO_TYPE, get_constant, .fallback = SOCK_STREAM),
    ROW(SOL_SOCKET, SO_DOMAIN, get_domain),
    ROW(SOL_SOCKET, SO_PROTOCOL, get_constant, .fallback = IPPROTO_TCP),
    ROW(SOL_SOCKET, SO_ACCEPTCONN, get_acceptconn),
    ROW(SOL_SOCKET, SO_KEEPALIVE, get_flag, .at = AT(keepalive)),
    ROW(SOL_SOCKET, SO_REUSEADDR, get_flag, .at = AT(reuseaddr)),
    ROW(SOL_SOCKET, SO_REUSEPORT, get_flag, .at = AT(reuseport)),
    ROW(SOL_SOCKET, SO_OOBINLINE, get_flag, .at = AT(oobinline)),
    ROW(SOL_SOCKET, SO_ZEROCOPY, get_flag, .at = AT(zerocopy)),
    ROW(SOL_SOCKET, SO_TIMESTAMP, get_stamps, .fallback = TSTAMP_ON),
    ROW(SOL_SOCKET, SO_TIMESTAMPNS, get_stamps, .fallback = TSTAMP_ON | TSTAMP_NS),
    ROW(SOL_SOCKET, SO_TIMESTAMP_NEW, get_stamps, .fallback = TSTAMP_ON | TSTAMP_NEW),
    ROW(SOL_SOCKET, SO_TIMESTAMPNS_NEW, get_stamps, .fallback = TSTAMP_ON | TSTAMP_NS | TSTAMP_NEW),
    ROW(SOL_SOCKET, SO_TIMESTAMPING, get_timestamping),
    ROW(SOL_SOCKET, SO_TIMESTAMPING_NEW, get_timestamping),
    ROW(SOL_SOCKET, SO_RCVLOWAT, get_number, .at = offsetof(struct tsock, lowat), .fallback = 1),
    ROW(SOL_SOCKET, SO_RCVBUF, get_rcvbuf),
    ROW(SOL_SOCKET, SO_SNDBUF, get_sndbuf),
    ROW(SOL_SOCKET, SO_MAX_PACING_RATE, get_max_pacing),
    ROW(SOL_SOCKET, SO_LINGER, get_linger),
    ROW(SOL_SOCKET, SO_PEERNAME, get_peername),
    ROW(SOL_SOCKET, SO_RCVTIMEO, get_timeout, .at = AT(rcvtimeo)),
    ROW(SOL_SOCKET, SO_SNDTIMEO, get_timeout, .at = AT(sndtimeo)),
    ROW(IPPROTO_TCP, TCP_NODELAY, get_flag, .at = AT(nodelay)),
    ROW(IPPROTO_TCP, TCP_CORK, get_flag, .at = AT(cork)),
    ROW(IPPROTO_TCP, TCP_QUICKACK, get_quickack, .at = AT(quickack)),
    ROW(IPPROTO_TCP, TCP_MAXSEG, get_maxseg),
    ROW(IPPROTO_TCP, TCP_WINDOW_CLAMP, get_window_clamp),
    ROW(IPPROTO_TCP, TCP_KEEPIDLE, get_number, .at = AT(keepidle), .fallback = DEFAULT_KEEPIDLE),
    ROW(IPPROTO_TCP, TCP_KEEPINTVL, get_number, .at = AT(keepintvl), .fallback = DEFAULT_KEEPINTVL),
    ROW(IPPROTO_TCP, TCP_KEEPCNT, get_number, .at = AT(keepcnt), .fallback = DEFAULT_KEEPCNT),
    ROW(IPPROTO_TCP, TCP_NOTSENT_LOWAT, get_number, .at = AT(notsent_lowat)),
    ROW(IPPROTO_TCP, TCP_USER_TIMEOUT, get_number, .at = AT(user_timeout)),
    ROW(IPPROTO_TCP, TCP_LINGER2, get_number, .at = AT(linger2), .fallback = DEFAULT_LINGER2),
    ROW(IPPROTO_TCP, TCP_SYNCNT, get_number, .at = AT(syncnt), .fallback = DEFAULT_SYNCNT),
    ROW(IPPROTO_TCP, TCP_DEFER_ACCEPT, get_defer_accept),
    ROW(IPPROTO_TCP, TCP_CONGESTION, get_congestion),
    ROW(IPPROTO_TCP, TCP_FASTOPEN, get_number, .at = AT(fastopen)),
    ROW(IPPROTO_TCP, TCP_FASTOPEN_CONNECT, get_flag, .at = AT(fastopen_connect)),
    ROW(IPPROTO_TCP, TCP_FASTOPEN_NO_COOKIE, get_flag, .at = AT(fastopen_no_cookie)),
    ROW(IPPROTO_TCP, TCP_FASTOPEN_KEY, get_fastopen_key),
    ROW(IPPROTO_TCP, TOE_TCP_UTO, get_number, .at = AT(uto)),
    ROW(IPPROTO_TCP, TCP_INQ, get_flag, .at = AT(inq)),
    ROW(IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE, refuse),
    ROW(IPPROTO_TCP, TCP_ULP, refuse),
    ROW(IPPROTO_TCP, TCP_REPAIR, refuse),
    ROW(IPPROTO_IP, IP_MTU, get_mtu),
    ROW(IPPROTO_IP, IP_MTU_DISCOVER, get_mtu_discover),
    ROW(IPPROTO_IP, IP_TOS, get_tos),
    ROW(IPPROTO_IPV6, IPV6_MTU, get_mtu),
    ROW(IPPROTO_IPV6, IPV6_MTU_DISCOVER, get_mtu_discover),
    ROW(IPPROTO_IPV6, IPV6_TCLASS, get_tos),
    ROW(IPPROTO_IPV6, IPV6_V6ONLY, get_v6only),
};

static enum verdict get_carried(struct tsock *s, int level, int name, void *value, socklen_t *len)
{
    if (level == IPPROTO_IPV6 && !s->v6)
        return UNHANDLED; /* the kernel's AF_INET socket returns the error */
    for (size_t i = 0; i < sizeof get_options / sizeof get_options[0]; i++)
        if (get_options[i].name == name && get_options[i].level == level)
            return get_options[i].get(s, &get_options[i], value, len);
    return UNHANDLED;
}

/* Returns whether an option controls calls, and so belongs to the Unix socket. */
static bool is_unix_sockets(int level, int name)
{
    return level == SOL_SOCKET && name != SO_DOMAIN && name != SO_PROTOCOL && name != SO_PEERNAME &&
           name != SO_MAX_PACING_RATE;
}

static int placeholder_get(const struct tsock *s, int fd, int level, int name, void *value,
                           socklen_t *len)
{
    bool shared = s && s->state == TS_SHARED;

    if (!tfd_is_own(fd) && (shared ? level != SOL_SOCKET : s && s->accepted))
        return tkept_get(s, level, name, value, len);
    return tfd_is_own(fd) ? terr(ENOPROTOOPT) : sys_getsockopt(fd, level, name, value, len);
}

/* Returns TOE_TCP_CARRIER, of any socket. */
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

/* Options of any socket, whatever its carrier. */
static const struct {
    int level, name;
    int (*get)(int fd, void *value, socklen_t *len);
} any_options[] = {
    {IPPROTO_TCP, TOE_TCP_CARRIER, get_carrier},
};

int toe_getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
    enum verdict verdict = UNHANDLED;
    struct tsock *s;
    int r;

    for (size_t i = 0; i < sizeof any_options / sizeof any_options[0]; i++)
        if (any_options[i].name == name && any_options[i].level == level)
            return any_options[i].get(fd, value, len);
    if (!tsock_get(fd))
        return sys_getsockopt(fd, level, name, value, len);
    tctx_lock();
    s = tsock_get(fd);
    if (s && s->freebound && value && len && tsockopt_is_freebind(level, name) &&
        (s->v6 || level == IPPROTO_IP)) {
        verdict = verdict_of(give_int(value, len, 0));
    } else if (s && s->state != TS_NEW) {
        if ((level == SOL_SOCKET && name == SO_ERROR) || (level == IPPROTO_TCP && name == TCP_INFO))
            tctx_progress(); /* handles pending commands; there is no wait that would */
        if (!value || !len)
            verdict = (terr(EFAULT), WRONG);
        else if (s->state == TS_SHARED && is_unix_sockets(level, name))
            verdict = UNHANDLED;
        else
            verdict = get_carried(s, level, name, value, len);
    }
    r = verdict == WRONG       ? -1
        : verdict == UNHANDLED ? placeholder_get(s, fd, level, name, value, len)
                               : 0;
    tctx_unlock();
    return r;
}
