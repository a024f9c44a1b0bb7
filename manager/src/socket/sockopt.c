/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sockopt.c - setsockopt of what the TOE carries (socket(7), tcp(7), ip(7)); sockopt_get.c asks.
 *
 * Three kinds of options. Those that TCP acts on are kept in struct tsock and told to the TOE.
 * Those that a TOE has no use for (a priority, a kernel filter that is only a hint) are kept by the
 * placeholder, which is a kernel TCP socket and checks their values as Linux does. Those that would
 * promise what the TOE does not do (TLS in the kernel, MD5) are ENOPROTOOPT.
 *
 * Until it is decided who carries a socket (TS_NEW), the kernel is asked first: it checks, it
 * keeps, and what it accepts is remembered for the case that the TOE carries it.
 */
#include <limits.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/time.h>

#include "fdtab.h"
#include "lock.h"
#include "option.h"
#include "pathopt.h"
#include "sockopt.h"
#include "tsock.h"

const char sockopt_cc[SOCKOPT_CCS][16] = {"cubic", "reno", "dctcp", "bbr"};

/* tcp(7): the largest values Linux takes (MAX_TCP_KEEPIDLE and so on). */
#define KEEP_SECONDS_MAX 32767
#define KEEP_COUNT_MAX   127
#define SYN_COUNT_MAX    127
#define DEFER_PERIOD_MAX 120
#define UTO_MAX          1966020 /* RFC 5482: 15 bits of minutes */

static bool read_int(const void *value, socklen_t len, int *out)
{
    if (len < sizeof *out) {
        errno = EINVAL;
        return false;
    }
    if (!value) {
        errno = EFAULT;
        return false;
    }
    memcpy(out, value, sizeof *out);
    return true;
}

static bool read_timeout(const void *value, socklen_t len, uint64_t *ns)
{
    struct timeval tv;

    if (len < sizeof tv) {
        errno = EINVAL;
        return false;
    }
    memcpy(&tv, value, sizeof tv);
    if (tv.tv_usec < 0 || tv.tv_usec >= 1000000) {
        errno = EDOM;
        return false;
    }
    /* Linux: a negative time does not wait at all. */
    *ns = tv.tv_sec < 0 ? 1 : (uint64_t)tv.tv_sec * NSEC + (uint64_t)tv.tv_usec * 1000;
    return true;
}

static enum verdict set_linger(struct tsock *s, const void *value, socklen_t len)
{
    struct linger l;

    if (len < sizeof l)
        return terr(EINVAL), WRONG;
    memcpy(&l, value, sizeof l);
    s->opts.linger_on = l.l_onoff != 0;
    s->opts.linger_s = l.l_onoff ? l.l_linger : 0;
    return DONE;
}

static enum verdict set_max_pacing(struct tsock *s, const void *value, socklen_t len);

static void say_reuse(struct tsock *s)
{
    if (s->state == TS_LISTEN && s->announced)
        tlisten_option(s, TOE_OPT_REUSE, tsock_reuse(s));
    else
        tsock_option(s, TOE_OPT_REUSE, tsock_reuse(s));
}

static enum verdict set_socket_level(struct tsock *s, int name, const void *value, socklen_t len)
{
    int v = 0;

    switch (name) {
    case SO_LINGER:
        return set_linger(s, value, len);
    case SO_RCVTIMEO:
        return read_timeout(value, len, &s->opts.rcvtimeo) ? DONE : WRONG;
    case SO_SNDTIMEO:
        return read_timeout(value, len, &s->opts.sndtimeo) ? DONE : WRONG;
    case SO_MAX_PACING_RATE:
        return set_max_pacing(s, value, len);
    case SO_ATTACH_FILTER:
    case SO_ATTACH_BPF:
    case SO_TIMESTAMP:
    case SO_TIMESTAMPNS:
    case SO_TIMESTAMPING:
    case SO_BINDTODEVICE:
    case SO_PEEK_OFF:
        return terr(ENOPROTOOPT), WRONG;
    case SO_ERROR:
    case SO_TYPE:
    case SO_DOMAIN:
    case SO_PROTOCOL:
    case SO_ACCEPTCONN:
        return terr(ENOPROTOOPT), WRONG; /* can only be asked */
    case SO_KEEPALIVE:
    case SO_REUSEADDR:
    case SO_REUSEPORT:
    case SO_RCVLOWAT:
    case SO_OOBINLINE:
    case SO_ZEROCOPY:
        break;
    case SO_RCVBUF:
    case SO_SNDBUF:
        /* The buffers of a queue pair's slots are of one size: a wish, as Linux takes it too. */
        return read_int(value, len, &v) ? DONE : WRONG;
    default:
        return UNHANDLED;
    }
    if (!read_int(value, len, &v))
        return WRONG;
    if (name == SO_KEEPALIVE) {
        s->opts.keepalive = v != 0;
        tsock_option(s, TOE_OPT_KEEPALIVE, v != 0);
    } else if (name == SO_REUSEADDR) {
        s->opts.reuseaddr = v != 0;
        say_reuse(s);
    } else if (name == SO_REUSEPORT) {
        s->opts.reuseport = v != 0;
        say_reuse(s);
    } else if (name == SO_OOBINLINE) {
        s->opts.oobinline = v != 0;
    } else if (name == SO_ZEROCOPY) {
        if (v < 0 || v > 1)
            return terr(EINVAL), WRONG;
        s->opts.zerocopy = (uint8_t)v;
    } else {
        s->lowat = v < 0 ? INT_MAX : v;
    }
    return DONE;
}

static enum verdict set_congestion(struct tsock *s, const void *value, socklen_t len)
{
    char name[16]; /* TCP_CA_NAME_MAX */
    size_t n = len < sizeof name - 1 ? len : sizeof name - 1;
    uint32_t i;

    if (len < 1)
        return terr(EINVAL), WRONG;
    memcpy(name, value, n);
    name[n] = '\0';
    for (i = 0; i < SOCKOPT_CCS; i++) {
        if (strcmp(name, sockopt_cc[i]) != 0)
            continue;
        s->opts.cc = i + 1;
        tsock_option(s, TOE_OPT_CC, i);
        return DONE;
    }
    return terr(ENOENT), WRONG;
}

/* As Linux: an int or a long, all ones for no limit. What a flow can be told ends at 34 Gbit/s. */
static enum verdict set_max_pacing(struct tsock *s, const void *value, socklen_t len)
{
    uint64_t rate = 0;
    int v;

    if (len >= sizeof rate) {
        memcpy(&rate, value, sizeof rate);
    } else {
        if (!read_int(value, len, &v))
            return WRONG;
        rate = v == -1 ? UINT64_MAX : (uint32_t)v;
    }
    s->opts.max_pacing = rate == UINT64_MAX ? 0 : rate;
    tsock_option(s, TOE_OPT_MAX_PACING, pacing_value(s->opts.max_pacing));
    return DONE;
}

static enum verdict set_bounded(struct tsock *s, uint16_t option, int v, int max, int32_t *keep)
{
    if (v < 1 || v > max)
        return terr(EINVAL), WRONG;
    *keep = v;
    tsock_option(s, option, (uint32_t)v);
    return DONE;
}

static enum verdict set_flag(struct tsock *s, uint16_t option, int v, uint8_t *keep)
{
    *keep = v != 0;
    tsock_option(s, option, v != 0);
    return DONE;
}

static enum verdict set_fastopen_key(struct tsock *s, const void *value, socklen_t len)
{
    if (len != 16 && len != 32)
        return terr(EINVAL), WRONG;
    s->opts.fastopen_keys = (uint8_t)(len / 16);
    memcpy(s->opts.fastopen_key, value, len);
    if (s->state == TS_LISTEN && s->announced)
        tfast_announce(s);
    return DONE;
}

static enum verdict set_fastopen(struct tsock *s, int name, int v)
{
    if (name == TCP_FASTOPEN) {
        if (v < 0 || (s->state != TS_NEW && s->state != TS_LISTEN))
            return terr(EINVAL), WRONG;
        s->opts.fastopen = v;
        if (s->state == TS_LISTEN && s->announced)
            tfast_announce(s);
        return DONE;
    }
    if (v < 0 || v > 1 ||
        (s->state != TS_NEW && (name != TCP_FASTOPEN_NO_COOKIE || s->state != TS_LISTEN)))
        return terr(EINVAL), WRONG;
    if (name == TCP_FASTOPEN_CONNECT)
        s->opts.fastopen_connect = (uint8_t)v;
    else
        s->opts.fastopen_no_cookie = (uint8_t)v;
    if (s->state == TS_LISTEN && s->announced && s->opts.fastopen)
        tfast_announce(s);
    return DONE;
}

/* secs_to_retrans() and retrans_to_secs() of Linux: 1 s at first, doubled each time, two minutes at
 * most. */
static int defer_next(int period)
{
    return period < DEFER_PERIOD_MAX / 2 ? 2 * period : DEFER_PERIOD_MAX;
}

uint8_t tdefer_times(int seconds)
{
    uint8_t times = 0;

    for (int period = 1, sum = 0; sum < seconds && times < UINT8_MAX; period = defer_next(period)) {
        sum += period;
        times++;
    }
    return times;
}

int tdefer_seconds(uint8_t times)
{
    int sum = 0;

    for (int period = 1; times--; period = defer_next(period))
        sum += period;
    return sum;
}

static enum verdict set_tcp_level(struct tsock *s, int name, const void *value, socklen_t len)
{
    int v;

    if (name == TCP_CONGESTION)
        return set_congestion(s, value, len);
    if (name == TCP_ULP || name == TCP_MD5SIG || name == TCP_MD5SIG_EXT || name == TCP_REPAIR ||
        name == TCP_ZEROCOPY_RECEIVE || name == TCP_INQ || name == TCP_INFO)
        return terr(ENOPROTOOPT), WRONG;
    if (name == TCP_FASTOPEN_KEY)
        return set_fastopen_key(s, value, len);
    if (!read_int(value, len, &v))
        return WRONG;
    switch (name) {
    case TCP_FASTOPEN:
    case TCP_FASTOPEN_CONNECT:
    case TCP_FASTOPEN_NO_COOKIE:
        return set_fastopen(s, name, v);
    case TCP_DEFER_ACCEPT:
        s->opts.defer = tdefer_times(v);
        if (s->state == TS_LISTEN && s->announced)
            tlisten_option(s, TOE_OPT_DEFER_ACCEPT, s->opts.defer);
        return UNHANDLED; /* the kernel's half has it too */
    case TCP_SYNCNT:
        return set_bounded(s, TOE_OPT_SYNCNT, v, SYN_COUNT_MAX, &s->opts.syncnt);
    case TOE_TCP_UTO:
        if (v < 0 || v > UTO_MAX)
            return terr(EINVAL), WRONG;
        s->opts.uto = v;
        tsock_option(s, TOE_OPT_ADV_UTO, (uint32_t)v);
        return DONE;
    case TCP_NODELAY:
        return set_flag(s, TOE_OPT_NODELAY, v, &s->opts.nodelay);
    case TCP_CORK:
        return set_flag(s, TOE_OPT_CORK, v, &s->opts.cork);
    case TCP_QUICKACK:
        return set_flag(s, TOE_OPT_QUICKACK, v & 1, &s->opts.quickack);
    case TCP_KEEPIDLE:
        return set_bounded(s, TOE_OPT_KEEPIDLE, v, KEEP_SECONDS_MAX, &s->opts.keepidle);
    case TCP_KEEPINTVL:
        return set_bounded(s, TOE_OPT_KEEPINTVL, v, KEEP_SECONDS_MAX, &s->opts.keepintvl);
    case TCP_KEEPCNT:
        return set_bounded(s, TOE_OPT_KEEPCNT, v, KEEP_COUNT_MAX, &s->opts.keepcnt);
    case TCP_USER_TIMEOUT:
        if (v < 0)
            return terr(EINVAL), WRONG;
        s->opts.user_timeout = v;
        tsock_option(s, TOE_OPT_USER_TIMEOUT, (uint32_t)v);
        return DONE;
    case TCP_LINGER2:
        s->opts.linger2 = v;
        if (v > 0)
            tsock_option(s, TOE_OPT_LINGER2, (uint32_t)v);
        return DONE;
    default:
        return UNHANDLED;
    }
}

static enum verdict set_carried(struct tsock *s, int level, int name, const void *value,
                                socklen_t len)
{
    if (len > INT_MAX)
        return terr(EINVAL), WRONG;
    if (len && !value)
        return terr(EFAULT), WRONG;
    if (level == SOL_SOCKET)
        return set_socket_level(s, name, value, len);
    if (level == IPPROTO_TCP && name != TCP_MAXSEG)
        return set_tcp_level(s, name, value, len);
    if (level == IPPROTO_IPV6 && name == IPV6_V6ONLY && s->state != TS_NEW)
        return terr(EINVAL), WRONG; /* as Linux, once it is bound */
    tpath_set(s, level, name, value, len);
    return UNHANDLED;
}

/* The kernel has taken it for an undecided socket: remember it for the TOE. What the TOE does not
 * know is no error here, because the kernel may carry the socket. */
static void remember(struct tsock *s, int level, int name, const void *value, socklen_t len)
{
    int before = errno, v;

    if (level == IPPROTO_IPV6 && name == IPV6_V6ONLY && read_int(value, len, &v))
        s->opts.v6only = v != 0;
    else
        (void)set_carried(s, level, name, value, len);
    errno = before;
}

/* A number of our own has no placeholder. */
static int placeholder_set(int fd, int level, int name, const void *value, socklen_t len)
{
    return tfd_is_own(fd) ? terr(ENOPROTOOPT) : sys_setsockopt(fd, level, name, value, len);
}

int tsockopt_other(const struct tsock *s)
{
    return sys_socket(s->v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

/* What calls go by is the Unix socket's (SO_RCVTIMEO), the rest the flow's, where it is here. What
 * the TOE does not know of TCP and IP another socket of the kernel's judges. */
static int set_shared(struct tsock *s, int fd, int level, int name, const void *value,
                      socklen_t len)
{
    enum verdict verdict = set_carried(s, level, name, value, len);
    int r, other;

    if (verdict != WRONG && s->flow)
        (void)set_carried(s->flow, level, name, value, len);
    if (verdict == WRONG || (verdict == DONE && level != SOL_SOCKET))
        return verdict == WRONG ? -1 : 0;
    if (level == SOL_SOCKET) {
        /* where that says something to libtoe (tshare_note()) */
        r = name == SO_MAX_PACING_RATE ? 0 : sys_setsockopt(fd, level, name, value, len);
        return verdict == DONE ? 0 : r;
    }
    other = tsockopt_other(s);
    r = sys_setsockopt(other, level, name, value, len);
    sys_close(other);
    return r;
}

int toe_setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
    struct tsock *s;
    enum verdict verdict;
    int r;

    if (!tsock_get(fd))
        return sys_setsockopt(fd, level, name, value, len);
    tctx_lock();
    s = tsock_get(fd);
    if (s && s->state == TS_SHARED) {
        int before = errno;

        r = set_shared(s, fd, level, name, value, len);
        errno = r < 0 ? errno : before;
    } else if (!s || s->state == TS_NEW) {
        r = sys_setsockopt(fd, level, name, value, len);
        if (s && r == 0)
            remember(s, level, name, value, len);
        else if (s && level == IPPROTO_TCP && name == TCP_CONGESTION &&
                 (errno == ENOENT || errno == EPERM) &&
                 set_carried(s, level, name, value, len) == DONE)
            r = 0; /* the TOE has an algorithm that this kernel has not, or not for everyone */
    } else {
        verdict = set_carried(s, level, name, value, len);
        r = verdict == WRONG       ? -1
            : verdict == UNHANDLED ? placeholder_set(fd, level, name, value, len)
                                   : 0;
    }
    tctx_unlock();
    return r;
}
