/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sockopt.c - setsockopt of TOE sockets (socket(7), tcp(7), ip(7)); sockopt_get.c has getsockopt.
 *
 * There are three kinds of options. Those that TCP acts on are stored in struct tsock and sent to
 * the TOE. Those that have no effect on a TOE (a priority, a kernel filter that is only a hint) are
 * stored in the placeholder, a kernel TCP socket that checks their values as Linux does. Those that
 * request a function the TOE does not have (TLS in the kernel, MD5) fail with ENOPROTOOPT.
 *
 * While a socket is undecided (TS_NEW), the kernel gets the option first, and checks and stores it.
 * libtoe records the values that the kernel accepts, in case the TOE will carry the socket.
 */
#include <limits.h>
#include <linux/net_tstamp.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/time.h>

#include "ancillary.h"
#include "ctx.h"
#include "fdtab.h"
#include "keptopt.h"
#include "lock.h"
#include "notsent.h"
#include "option.h"
#include "pathopt.h"
#include "ready.h"
#include "sockopt.h"
#include "tsock.h"

const char sockopt_cc[SOCKOPT_CCS][16] = {"cubic", "reno", "dctcp", "bbr3", "bbr"};

/* tcp(7): the largest values that Linux accepts (MAX_TCP_KEEPIDLE and so on). */
#define KEEP_SECONDS_MAX 32767
#define KEEP_COUNT_MAX   127
#define SYN_COUNT_MAX    127
#define DEFER_PERIOD_MAX 120
#define LINGER2_MAX      120     /* TCP_FIN_TIMEOUT_MAX */
#define UTO_MAX          1966020 /* RFC 5482: 15 bits of minutes */

/* Flags of SO_TIMESTAMPING: all that Linux knows, and those of sent bytes. */
#define STAMPS_ALL 0x7ffff
#define STAMPS_SENT                                                                                \
    (SOF_TIMESTAMPING_TX_HARDWARE | SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_TX_SCHED |     \
     SOF_TIMESTAMPING_TX_ACK | 0x40000) /* TX_COMPLETION */

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

/* Returns the field of struct tsock that a row of set_options[] refers to. */
static void *kept(struct tsock *s, const struct set_option *o)
{
    return (uint8_t *)s + o->at;
}

/* ---- actions of rows ---- */

/* For options that request a function the TOE does not have. */
static enum verdict refuse(struct tsock *s, const struct set_option *o, const void *value,
                           socklen_t len)
{
    (void)s, (void)o, (void)value, (void)len;
    return terr(ENOPROTOOPT), WRONG;
}

/* For options that can only be read, as on Linux. */
static enum verdict read_only(struct tsock *s, const struct set_option *o, const void *value,
                              socklen_t len)
{
    return refuse(s, o, value, len);
}

/* The placeholder checks and stores it; it does not act on the flow. A placeholder is closed, and
 * so accepts a TCP_WINDOW_CLAMP of 0, which Linux rejects in all other states. */
static enum verdict keep(struct tsock *s, const struct set_option *o, const void *value,
                         socklen_t len)
{
    int v;

    if (o->level != IPPROTO_TCP)
        return UNHANDLED;
    if (!read_int(value, len, &v))
        return WRONG;
    if (o->name == TCP_WINDOW_CLAMP && !v && s->state != TS_NEW && s->state != TS_DEAD)
        return terr(EINVAL), WRONG;
    return UNHANDLED;
}

/* All buffers of a queue pair's slots have one size, so this is only a hint, as on Linux. */
static enum verdict set_hint(struct tsock *s, const struct set_option *o, const void *value,
                             socklen_t len)
{
    int v;

    (void)s, (void)o;
    return read_int(value, len, &v) ? DONE : WRONG;
}

static enum verdict set_linger(struct tsock *s, const struct set_option *o, const void *value,
                               socklen_t len)
{
    struct linger l;

    (void)o;
    if (len < sizeof l)
        return terr(EINVAL), WRONG;
    memcpy(&l, value, sizeof l);
    s->opts.linger_on = l.l_onoff != 0;
    if (l.l_onoff) /* as Linux: switching it off keeps the time */
        s->opts.linger_s = l.l_linger;
    return DONE;
}

static enum verdict set_timeout(struct tsock *s, const struct set_option *o, const void *value,
                                socklen_t len)
{
    return read_timeout(value, len, kept(s, o)) ? DONE : WRONG;
}

/* Stores a byte, and sends it to the TOE if the row has an option for it. */
static enum verdict set_flag(struct tsock *s, const struct set_option *o, const void *value,
                             socklen_t len)
{
    int v;

    if (!read_int(value, len, &v))
        return WRONG;
    *(uint8_t *)kept(s, o) = v != 0;
    if (o->option)
        tsock_option(s, o->option, v != 0);
    return DONE;
}

static enum verdict set_quickack(struct tsock *s, const struct set_option *o, const void *value,
                                 socklen_t len)
{
    int v;

    if (!read_int(value, len, &v))
        return WRONG;
    v = v != 0;
    *(uint8_t *)kept(s, o) = (uint8_t)(1 + v);
    tsock_option(s, o->option, (uint32_t)v);
    return DONE;
}

static enum verdict set_reuse(struct tsock *s, const struct set_option *o, const void *value,
                              socklen_t len)
{
    enum verdict verdict = set_flag(s, o, value, len);

    if (verdict == WRONG)
        return verdict;
    if (s->state == TS_LISTEN && s->announced)
        tlisten_option(s, TOE_OPT_REUSE, tsock_reuse(s));
    else
        tsock_option(s, TOE_OPT_REUSE, tsock_reuse(s));
    return verdict;
}

/* An option that Linux takes as 0 or 1 only. */
static enum verdict set_switch(struct tsock *s, const struct set_option *o, const void *value,
                               socklen_t len)
{
    int v;

    if (!read_int(value, len, &v))
        return WRONG;
    if (v < 0 || v > 1)
        return terr(EINVAL), WRONG;
    *(uint8_t *)kept(s, o) = (uint8_t)v;
    return DONE;
}

/* SO_TIMESTAMP and its variants, of which the last one set counts (sock_set_timestamp() of Linux).
 */
static enum verdict set_stamps(struct tsock *s, const struct set_option *o, const void *value,
                               socklen_t len)
{
    uint8_t keeps = s->opts.stamps & TSTAMP_NEW;
    int v;

    if (!read_int(value, len, &v))
        return WRONG;
    s->opts.stamps = v ? (uint8_t)(TSTAMP_ON | o->option) : keeps;
    tancillary_options(s);
    return DONE;
}

/* SO_TIMESTAMPING: stamps of received bytes alone. */
static enum verdict set_timestamping(struct tsock *s, const struct set_option *o, const void *value,
                                     socklen_t len)
{
    int v;

    if (!read_int(value, len, &v))
        return WRONG;
    if (v & ~STAMPS_ALL)
        return terr(EINVAL), WRONG;
    if (v & STAMPS_SENT)
        return terr(ENOPROTOOPT), WRONG;
    s->opts.timestamping = (uint32_t)v;
    s->opts.stamps = (uint8_t)((s->opts.stamps & ~TSTAMP_NEW) | o->option);
    tancillary_options(s);
    return DONE;
}

static enum verdict set_lowat(struct tsock *s, const struct set_option *o, const void *value,
                              socklen_t len)
{
    int v;

    (void)o;
    if (!read_int(value, len, &v))
        return WRONG;
    s->lowat = v < 0 ? INT_MAX : v;
    return DONE;
}

static enum verdict set_congestion(struct tsock *s, const struct set_option *o, const void *value,
                                   socklen_t len)
{
    char name[16]; /* TCP_CA_NAME_MAX */
    size_t n = len < sizeof name - 1 ? len : sizeof name - 1;

    if (len < 1)
        return terr(EINVAL), WRONG;
    memcpy(name, value, n);
    name[n] = '\0';
    for (uint32_t i = 0; i < SOCKOPT_CCS; i++) {
        if (strcmp(name, sockopt_cc[i]) != 0)
            continue;
        s->opts.cc = i + 1;
        tsock_option(s, o->option, i);
        return DONE;
    }
    return terr(ENOENT), WRONG;
}

/* As Linux: an int or a long, all ones for no limit. A flow's own limit ends at 34 Gbit/s. */
static enum verdict set_max_pacing(struct tsock *s, const struct set_option *o, const void *value,
                                   socklen_t len)
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
    tsock_option(s, o->option, pacing_value(s->opts.max_pacing));
    return DONE;
}

/* As Linux: any number, taken as without a sign; 0: no bound. */
static enum verdict set_notsent_lowat(struct tsock *s, const struct set_option *o,
                                      const void *value, socklen_t len)
{
    int v;

    (void)o;
    if (!read_int(value, len, &v))
        return WRONG;
    s->opts.notsent_lowat = (uint32_t)v;
    tnotsent_apply(s);
    if (s->state == TS_OPEN && tnotsent_writable(s)) /* a writer may wait for the mark before */
        tobj_notify(&s->obj, EPOLLOUT | EPOLLWRNORM);
    return DONE;
}

static enum verdict set_range(struct tsock *s, const struct set_option *o, const void *value,
                              socklen_t len)
{
    int v;

    if (!read_int(value, len, &v))
        return WRONG;
    if (v < o->min || v > o->max)
        return terr(EINVAL), WRONG;
    *(int32_t *)kept(s, o) = v;
    tsock_option(s, o->option, (uint32_t)v);
    return DONE;
}

static enum verdict set_linger2(struct tsock *s, const struct set_option *o, const void *value,
                                socklen_t len)
{
    int v;

    if (!read_int(value, len, &v))
        return WRONG;
    if (v > LINGER2_MAX)
        v = LINGER2_MAX;
    s->opts.linger2 = v < 0 ? -1 : v;
    if (v > 0)
        tsock_option(s, o->option, (uint32_t)v);
    return DONE;
}

static enum verdict set_fastopen_key(struct tsock *s, const struct set_option *o, const void *value,
                                     socklen_t len)
{
    (void)o;
    if (len != 16 && len != 32)
        return terr(EINVAL), WRONG;
    s->opts.fastopen_keys = (uint8_t)(len / 16);
    memcpy(s->opts.fastopen_key, value, len);
    if (s->state == TS_LISTEN && s->announced)
        tfast_announce(s);
    return DONE;
}

static enum verdict set_fastopen(struct tsock *s, const struct set_option *o, const void *value,
                                 socklen_t len)
{
    int v;

    (void)o;
    if (!read_int(value, len, &v))
        return WRONG;
    tctx_progress(); /* the connection may have ended */
    if (v < 0 || (s->state != TS_NEW && s->state != TS_LISTEN && s->state != TS_DEAD))
        return terr(EINVAL), WRONG;
    s->opts.fastopen = v;
    if (s->state == TS_LISTEN && s->announced)
        tfast_announce(s);
    return DONE;
}

/* TCP_FASTOPEN_CONNECT, of a closed socket; TCP_FASTOPEN_NO_COOKIE, of a listener too. */
static enum verdict set_fastopen_flag(struct tsock *s, const struct set_option *o,
                                      const void *value, socklen_t len)
{
    int v;

    if (!read_int(value, len, &v))
        return WRONG;
    tctx_progress(); /* the connection may have ended */
    if (v < 0 || v > 1 ||
        (s->state != TS_NEW && s->state != TS_DEAD &&
         (o->name != TCP_FASTOPEN_NO_COOKIE || s->state != TS_LISTEN)))
        return terr(EINVAL), WRONG;
    *(uint8_t *)kept(s, o) = (uint8_t)v;
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

/* Sets it on the kernel's half of the listener too. */
static enum verdict set_defer_accept(struct tsock *s, const struct set_option *o, const void *value,
                                     socklen_t len)
{
    int v;

    if (!read_int(value, len, &v))
        return WRONG;
    s->opts.defer = tdefer_times(v);
    if (s->state == TS_LISTEN && s->announced)
        tlisten_option(s, o->option, s->opts.defer);
    return UNHANDLED;
}

/* As Linux: rejected once the socket is bound. */
static enum verdict set_v6only(struct tsock *s, const struct set_option *o, const void *value,
                               socklen_t len)
{
    (void)o, (void)value, (void)len;
    return s->state != TS_NEW ? (terr(EINVAL), WRONG) : UNHANDLED;
}

/* ---- the table ---- */

#define AT(field) offsetof(struct tsock, opts.field)
#define ROW(of, option_name, action, ...)                                                          \
    {                                                                                              \
        .level = (of), .name = (option_name), .set = action, __VA_ARGS__                           \
    }

/*
 * Every option that setsockopt() handles specially. scripts/compatibility generates
 * docs/COMPATIBILITY.md from these rows, so a row begins with level and name. Its action gives the
 * entry of the page: refuse, read_only, keep, or an effect. All other options are passed to the
 * placeholder. Programs set the first rows most often.
 */
static const struct set_option set_options[] = {
    ROW(IPPROTO_TCP, TCP_NODELAY, set_flag, .option = TOE_OPT_NODELAY, .at = AT(nodelay)),
    ROW(IPPROTO_TCP, TCP_CORK, set_flag, .option = TOE_OPT_CORK, .at = AT(cork)),
    ROW(IPPROTO_TCP, TCP_QUICKACK, set_quickack, .option = TOE_OPT_QUICKACK, .at = AT(quickack)),
    ROW(IPPROTO_TCP, TCP_KEEPIDLE, set_range, .option = TOE_OPT_KEEPIDLE, .at = AT(keepidle),
        .min = 1, .max = KEEP_SECONDS_MAX),
    ROW(IPPROTO_TCP, TCP_KEEPINTVL, set_range, .option = TOE_OPT_KEEPINTVL, .at = AT(keepintvl),
        .min = 1, .max = KEEP_SECONDS_MAX),
    ROW(IPPROTO_TCP, TCP_KEEPCNT, set_range, .option = TOE_OPT_KEEPCNT, .at = AT(keepcnt), .min = 1,
        .max = KEEP_COUNT_MAX),
    ROW(IPPROTO_TCP, TCP_SYNCNT, set_range, .option = TOE_OPT_SYNCNT, .at = AT(syncnt), .min = 1,
        .max = SYN_COUNT_MAX),
    ROW(IPPROTO_TCP, TCP_USER_TIMEOUT, set_range, .option = TOE_OPT_USER_TIMEOUT,
        .at = AT(user_timeout), .max = INT_MAX),
    ROW(IPPROTO_TCP, TOE_TCP_UTO, set_range, .option = TOE_OPT_ADV_UTO, .at = AT(uto),
        .max = UTO_MAX),
    ROW(IPPROTO_TCP, TCP_LINGER2, set_linger2, .option = TOE_OPT_LINGER2),
    ROW(IPPROTO_TCP, TCP_CONGESTION, set_congestion, .option = TOE_OPT_CC),
    ROW(IPPROTO_TCP, TCP_DEFER_ACCEPT, set_defer_accept, .option = TOE_OPT_DEFER_ACCEPT),
    ROW(IPPROTO_TCP, TCP_FASTOPEN, set_fastopen),
    ROW(IPPROTO_TCP, TCP_FASTOPEN_CONNECT, set_fastopen_flag, .at = AT(fastopen_connect)),
    ROW(IPPROTO_TCP, TCP_FASTOPEN_NO_COOKIE, set_fastopen_flag, .at = AT(fastopen_no_cookie)),
    ROW(IPPROTO_TCP, TCP_FASTOPEN_KEY, set_fastopen_key),
    ROW(IPPROTO_TCP, TCP_MAXSEG, tpath_set_maxseg, .option = TOE_OPT_MAXSEG),
    ROW(IPPROTO_TCP, TCP_NOTSENT_LOWAT, set_notsent_lowat, .option = TOE_OPT_NOTSENT_LOWAT),
    ROW(IPPROTO_TCP, TCP_WINDOW_CLAMP, keep),
    ROW(IPPROTO_TCP, TCP_ULP, refuse),
    ROW(IPPROTO_TCP, TCP_MD5SIG, refuse),
    ROW(IPPROTO_TCP, TCP_MD5SIG_EXT, refuse),
    ROW(IPPROTO_TCP, TCP_REPAIR, refuse),
    ROW(IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE, refuse),
    ROW(IPPROTO_TCP, TCP_INQ, set_switch, .at = AT(inq)),
    ROW(IPPROTO_TCP, TCP_INFO, read_only),
    ROW(SOL_SOCKET, SO_KEEPALIVE, set_flag, .option = TOE_OPT_KEEPALIVE, .at = AT(keepalive)),
    ROW(SOL_SOCKET, SO_LINGER, set_linger),
    ROW(SOL_SOCKET, SO_REUSEADDR, set_reuse, .at = AT(reuseaddr)),
    ROW(SOL_SOCKET, SO_REUSEPORT, set_reuse, .at = AT(reuseport)),
    ROW(SOL_SOCKET, SO_RCVTIMEO, set_timeout, .at = AT(rcvtimeo)),
    ROW(SOL_SOCKET, SO_SNDTIMEO, set_timeout, .at = AT(sndtimeo)),
    ROW(SOL_SOCKET, SO_RCVLOWAT, set_lowat),
    ROW(SOL_SOCKET, SO_OOBINLINE, set_flag, .at = AT(oobinline)),
    ROW(SOL_SOCKET, SO_ZEROCOPY, set_switch, .at = AT(zerocopy)),
    ROW(SOL_SOCKET, SO_MAX_PACING_RATE, set_max_pacing, .option = TOE_OPT_MAX_PACING),
    ROW(SOL_SOCKET, SO_RCVBUF, set_hint),
    ROW(SOL_SOCKET, SO_SNDBUF, set_hint),
    ROW(SOL_SOCKET, SO_PRIORITY, keep),
    ROW(SOL_SOCKET, SO_ATTACH_FILTER, refuse),
    ROW(SOL_SOCKET, SO_ATTACH_BPF, refuse),
    ROW(SOL_SOCKET, SO_TIMESTAMP, set_stamps),
    ROW(SOL_SOCKET, SO_TIMESTAMPNS, set_stamps, .option = TSTAMP_NS),
    ROW(SOL_SOCKET, SO_TIMESTAMP_NEW, set_stamps, .option = TSTAMP_NEW),
    ROW(SOL_SOCKET, SO_TIMESTAMPNS_NEW, set_stamps, .option = TSTAMP_NS | TSTAMP_NEW),
    ROW(SOL_SOCKET, SO_TIMESTAMPING, set_timestamping),
    ROW(SOL_SOCKET, SO_TIMESTAMPING_NEW, set_timestamping, .option = TSTAMP_NEW),
    ROW(SOL_SOCKET, SO_BINDTODEVICE, refuse),
    ROW(SOL_SOCKET, SO_PEEK_OFF, refuse),
    ROW(SOL_SOCKET, SO_ERROR, read_only),
    ROW(SOL_SOCKET, SO_TYPE, read_only),
    ROW(SOL_SOCKET, SO_DOMAIN, read_only),
    ROW(SOL_SOCKET, SO_PROTOCOL, read_only),
    ROW(SOL_SOCKET, SO_ACCEPTCONN, read_only),
    ROW(IPPROTO_IP, IP_TOS, tpath_set_tos, .option = TOE_OPT_TOS),
    ROW(IPPROTO_IP, IP_MTU_DISCOVER, tpath_set_discover, .option = TOE_OPT_MTU_DISCOVER),
    ROW(IPPROTO_IP, IP_TTL, keep),
    ROW(IPPROTO_IPV6, IPV6_TCLASS, tpath_set_tos, .option = TOE_OPT_TOS),
    ROW(IPPROTO_IPV6, IPV6_MTU_DISCOVER, tpath_set_discover, .option = TOE_OPT_MTU_DISCOVER),
    ROW(IPPROTO_IPV6, IPV6_V6ONLY, set_v6only),
};

static const struct set_option *row_of(int level, int name)
{
    for (size_t i = 0; i < sizeof set_options / sizeof set_options[0]; i++)
        if (set_options[i].name == name && set_options[i].level == level)
            return &set_options[i];
    return NULL;
}

/* Returns whether a value has the size of an int at least, which Linux checks first, also of an
 * option that it does not have (sk_setsockopt(), do_tcp_setsockopt()). */
static bool takes_int(int level, int name)
{
    if (level == SOL_SOCKET)
        return name != SO_BINDTODEVICE;
    return level == IPPROTO_TCP && name != TCP_CONGESTION && name != TCP_ULP &&
           name != TCP_FASTOPEN_KEY;
}

static enum verdict set_carried(struct tsock *s, int level, int name, const void *value,
                                socklen_t len)
{
    static const struct set_option other_tcp = {.level = IPPROTO_TCP, .set = keep};
    const struct set_option *o;

    if (len > INT_MAX || (len < sizeof(int) && takes_int(level, name)))
        return terr(EINVAL), WRONG;
    if (len && !value)
        return terr(EFAULT), WRONG;
    if (level == IPPROTO_IPV6 && !s->v6)
        return UNHANDLED; /* the kernel's AF_INET socket returns the error */
    o = row_of(level, name);
    if (o)
        return o->set(s, o, value, len);
    return level == IPPROTO_TCP ? keep(s, &other_tcp, value, len) : UNHANDLED;
}

/* Returns whether only the kernel's socket stores an option. */
static bool is_kept(int level, int name)
{
    const struct set_option *o = row_of(level, name);

    return !o || o->set == keep;
}

/* Returns whether a listener's connections begin with its value, which is stored for them:
 * sk_clone_lock() of Linux resets the priority. */
static bool is_cloned(int level, int name)
{
    return is_kept(level, name) && !(level == SOL_SOCKET && name == SO_PRIORITY);
}

/* Records for the TOE an option that the kernel has accepted for an undecided socket. Options that
 * the TOE does not support are no error here, because the kernel may carry the socket. */
static void remember(struct tsock *s, int fd, int level, int name, const void *value, socklen_t len)
{
    int before = errno, v;

    if (level == IPPROTO_IPV6 && name == IPV6_V6ONLY && read_int(value, len, &v))
        s->opts.v6only = v != 0;
    else if (set_carried(s, level, name, value, len) == UNHANDLED && is_cloned(level, name))
        (void)tkept_note(s, fd, level, name);
    errno = before;
}

/* Sets an option of the placeholder, which a number of libtoe's own does not have, and accepted
 * connections share. */
static int placeholder_set(struct tsock *s, int fd, int level, int name, const void *value,
                           socklen_t len)
{
    int r;

    if (tfd_is_own(fd))
        return terr(ENOPROTOOPT);
    if (s->accepted)
        return tkept_set(s, level, name, value, len, is_kept(level, name));
    r = sys_setsockopt(fd, level, name, value, len);
    if (r == 0 && is_cloned(level, name))
        (void)tkept_note(s, fd, level, name);
    return r;
}

int tsockopt_other(const struct tsock *s)
{
    return sys_socket(s->v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

/* Sets an option of a shared connection. Options that control calls (SO_RCVTIMEO) belong to the
 * Unix socket, the others to the flow, if it is in this process. Another kernel socket checks
 * options of TCP and IP that the TOE does not know. */
static int set_shared(struct tsock *s, int fd, int level, int name, const void *value,
                      socklen_t len)
{
    enum verdict verdict = set_carried(s, level, name, value, len);
    int r;

    if (verdict != WRONG && s->flow)
        (void)set_carried(s->flow, level, name, value, len);
    if (verdict == WRONG || (verdict == DONE && level != SOL_SOCKET))
        return verdict == WRONG ? -1 : 0;
    if (level == SOL_SOCKET) {
        /* tshare_note() uses this option of the Unix socket */
        r = name == SO_MAX_PACING_RATE ? 0 : sys_setsockopt(fd, level, name, value, len);
        return verdict == DONE ? 0 : r;
    }
    return tkept_set(s, level, name, value, len, is_kept(level, name));
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
            remember(s, fd, level, name, value, len);
        else if (s && level == IPPROTO_TCP && name == TCP_CONGESTION &&
                 (errno == ENOENT || errno == EPERM) &&
                 set_carried(s, level, name, value, len) == DONE)
            r = 0; /* the kernel may lack the algorithm, or not allow it to this user */
    } else {
        verdict = set_carried(s, level, name, value, len);
        if (verdict == DONE && s->state == TS_LISTEN && s->dual) /* for the kernel's connections */
            (void)sys_setsockopt(fd, level, name, value, len);
        r = verdict == WRONG       ? -1
            : verdict == UNHANDLED ? placeholder_set(s, fd, level, name, value, len)
                                   : 0;
    }
    if (s && r == 0 && tsockopt_is_freebind(level, name))
        s->freebound = 0;
    tctx_unlock();
    return r;
}
