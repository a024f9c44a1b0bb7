/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connect.c - active opens, with the results of Linux's connect() (SEEDS S1.11, S1.12; connect(2)).
 */
#include <string.h>

#include "connect.h"
#include "ctx.h"
#include "dispatch.h"
#include "epoll.h"
#include "fastopen.h"
#include "fdtab.h"
#include "flow.h"
#include "handle.h"
#include "host.h"
#include "ip6.h"
#include "listen.h"
#include "lock.h"
#include "name.h"
#include "notsent.h"
#include "option_apply.h"
#include "own_port.h"
#include "policy.h"
#include "port_search.h"
#include "qp.h"
#include "ready.h"
#include "sock.h"
#include "tsock.h"
#include "wait.h"

void tconnect_done(struct tqp *qp, const struct toe_cmd *c)
{
    struct tsock *s = thandle_get(toe_cmd_arg0(c));
    uint32_t slot = toe_cmd_flow(c);

    if (tfast_established(qp, c))
        return;
    if (slot >= qp->cfg.slots || qp->slots[slot]) {
        tqp_breach(qp, "a connection on a slot in use", slot);
        return;
    }
    qp->slots[slot] = TSLOT_CLOSING;
    if (!s || s->state != TS_CONNECTING || s->qp != qp) {
        tqp_abort_later(qp, slot); /* closed while connecting */
        return;
    }
    thandle_free(s->handle);
    s->handle = 0;
    s->local_port = htons(toe_cmd_aux(c));
    tflow_open(s, qp, slot);
    if (s->ip6)
        tip6_names(s);
    s->connect_unreported = 1;
    tqp_options_later(qp, slot); /* a caller that waits with poll need not call connect() again */
    tobj_notify(&s->obj, EPOLLOUT | EPOLLWRNORM);
}

void tconnect_port(struct tqp *qp, const struct toe_cmd *c)
{
    struct tsock *s = thandle_get(toe_cmd_arg0(c));
    uint32_t slot = toe_cmd_flow(c);

    if (slot >= qp->cfg.slots) {
        tqp_breach(qp, "the port of a connection on no slot", slot);
        return;
    }
    if (!s || s->state != TS_CONNECTING || s->qp != qp)
        return;
    s->local_port = htons(toe_cmd_aux(c));
    if (s->ip6)
        tip6_local(s, slot);
}

void tconnect_ask_port(struct tsock *s)
{
    struct tqp *qp = s->qp;

    if (s->state == TS_CONNECTING && qp && !s->local_port && !s->fast && !qp->no_port &&
        tqp_send(qp, TOE_CMD_PORT, 0, 0, s->handle, 0, 0))
        tqp_settle(qp);
}

/* Returns whether a failed CONNECT is to be repeated from another port of the socket's range: the
 * TOE takes no ranges (EINVAL), or not this port for this peer. */
static bool may_try_ports(struct tsock *s, int error)
{
    if (!s->within || !s->qp)
        return false;
    if (!s->searches) {
        if (error != EINVAL)
            return false;
        s->qp->no_ranges = true;
        s->searches = true;
        tport_search_begin(&s->search, s->within);
    } else if (error != EADDRINUSE && error != EADDRNOTAVAIL) {
        return false;
    }
    return s->search.left != 0;
}

void tconnect_failed(uint32_t cookie, int error)
{
    struct tsock *s = thandle_get(cookie);

    if (!s || s->state != TS_CONNECTING)
        return;
    if (may_try_ports(s, error)) {
        s->elsewhere = tctx.elsewhere = true;
        return;
    }
    /* Segments to a port that bind() chose reach one engine only: the others refuse it. An engine
     * may have no port of a small range. */
    if (error == EADDRNOTAVAIL && (s->local_port || s->within) && !s->searches &&
        s->asked < tctx.qps_n) {
        s->elsewhere = tctx.elsewhere = true;
        return;
    }
    thandle_free(s->handle);
    s->handle = 0;
    s->qp = NULL;
    s->rx = s->tx = NULL;
    s->fast = s->fast_sent = 0;
    s->connect_failed = 1;
    if (error == EADDRINUSE)
        error = EADDRNOTAVAIL; /* as inet_hash_connect() of Linux: the port, with this peer */
    tflow_gone(s, error ? error : ECONNREFUSED);
}

/* Returns the port of a CONNECT: the socket's own, 0, or a range. A TOE without ranges gets one
 * port of it after the other. */
static uint32_t port_to_ask(struct tsock *s)
{
    if (!s->within) /* else local_port is that of the CONNECT before, if any */
        return ntohs(s->local_port);
    if (s->qp->no_ranges && !s->searches) {
        s->searches = true;
        tport_search_begin(&s->search, s->within);
    }
    return s->searches ? ntohs(tport_search_next(&s->search)) : s->within;
}

/* Sends CONNECT through the next queue pair. */
static void ask(struct tsock *s)
{
    uint8_t flags = s->wants_fast ? TOE_F_CONNECT_FAST : 0;
    uint32_t to, port;

    if (flags && s->opts.fastopen_no_cookie)
        flags |= TOE_F_CONNECT_NOCOOKIE;
    s->qp = tctx.qps[tctx.next_qp++ % tctx.qps_n];
    s->asked++;
    s->elsewhere = false;
    to = s->ip6 ? tip6_entry(s->qp, &s->remote6, &s->local6) : ntohl(s->remote_ip);
    if (s->ip6)
        flags |= TOE_F_CONNECT_V6;
    port = port_to_ask(s);
    if (s->within && !port) /* all that is left is reserved */
        tconnect_failed(s->handle, EADDRNOTAVAIL);
    else if (!tqp_send(s->qp, TOE_CMD_CONNECT, flags, ntohs(s->remote_port), s->handle, to, port))
        tconnect_failed(s->handle, ECONNRESET);
    else
        tconnect_options(s);
}

static void ask_elsewhere(struct tsock *s)
{
    if (s->state == TS_CONNECTING && s->elsewhere)
        ask(s);
}

void tconnect_elsewhere(void)
{
    tctx.elsewhere = false;
    thandle_each(ask_elsewhere);
}

/* Starts a connect over the TOE. 0, or -1 with errno. */
static int start(struct tsock *s, const struct tname *to, bool fast)
{
    s->handle = thandle_new(s);
    if (!s->handle)
        return terr(ENOBUFS);
    s->state = TS_CONNECTING;
    s->error = 0;
    s->asked = 0;
    s->searches = false;
    s->eof = s->shut = s->connect_failed = s->unconnected = 0;
    s->fast = s->fast_sent = s->oob = 0;
    s->eor = (struct teor){0};
    tnotsent_bound(s);
    s->wants_fast = fast;
    s->remote_ip = to->ip;
    s->ip6 = !to->v4;
    s->remote6 = to->ip6;
    s->scope = to->scope;
    s->remote_port = to->port;
    s->local_ip = tctx.ip;
    ask(s);
    if (fast)
        tfast_settle(s);
    tepoll_adopt(s); /* last: it may detect the loss of the TOE and free the queue pair */
    return 0;
}

/* Ends a connect() that waited, or that is called again. */
static int finish(struct tsock *s)
{
    int error;

    if (s->state == TS_OPEN) {
        s->connect_unreported = 0;
        return 0;
    }
    error = s->error ? tsock_take_error(s) : ECONNABORTED;
    /* reported: as new (__inet_stream_connect() of Linux), also where it was established since;
     * what was received then is dropped (tcp_disconnect()) */
    s->connect_failed |= s->connect_unreported;
    s->connect_unreported = 0;
    s->unconnected = s->connect_failed;
    if (s->unconnected) {
        tsock_end(s);
        s->eof = s->shut = s->oob = 0;
    }
    return terr(error);
}

int tconnect_wait(struct tsock *s)
{
    uint64_t deadline = tclock_deadline(s->opts.sndtimeo);

    while (s->state == TS_CONNECTING) {
        tctx_progress();
        if (s->state != TS_CONNECTING)
            break;
        if (deadline != TWAIT_FOREVER && tclock_ns() >= deadline)
            return terr(EINPROGRESS);
        if (twait_one(&s->obj, deadline) < 0)
            return -1;
    }
    return finish(s);
}

/* Returns whether an error may be the peer's answer, or that of the path to it. */
static bool is_answer(int error)
{
    return error == ECONNREFUSED || error == ECONNRESET || error == ETIMEDOUT ||
           error == EHOSTUNREACH;
}

int tconnect_result(struct tsock *s, bool nonblock)
{
    if (nonblock && (s->state != TS_DEAD || is_answer(s->error)))
        return terr(EINPROGRESS);
    return tconnect_wait(s);
}

int tconnect_again(struct tsock *s, bool nonblock)
{
    switch ((enum tsock_state)s->state) {
    case TS_CONNECTING:
        return nonblock ? terr(EALREADY) : tconnect_wait(s);
    case TS_OPEN:
        if (!s->connect_unreported)
            return terr(EISCONN);
        return finish(s);
    case TS_LISTEN:
    case TS_SHARED:
    case TS_FOREIGN:
        return terr(EISCONN);
    case TS_DEAD:
        if (s->spoilt)
            return terr(EINVAL); /* as Linux: SS_DISCONNECTING */
        if (s->connect_unreported || (s->connect_failed && !s->unconnected))
            return finish(s);
        return s->connect_failed ? 1 : terr(EISCONN);
    case TS_NEW:
        return s->inherited ? terr(EISCONN) : 1; /* it listens */
    }
    return 1;
}

/* Returns the carrier of a connect() to `to`. *from gets the name that bind() gave to the
 * placeholder, or zeroes. */
static enum tcarrier carrier_of(int fd, struct tname *to, struct tname *from)
{
    enum tcarrier by = tpolicy_connect(fd, to);

    memset(from, 0, sizeof(*from));
    if (by != TCARRY_TOE || tfd_is_own(fd) || tsock_kernel_name(fd, from) < 0)
        return by;
    return tpolicy_source(fd, from);
}

/* Makes s a kernel socket again, after a connect() over the TOE that failed. */
static void back_to_kernel(struct tsock *s, int fd)
{
    if (s->state != TS_NEW)
        sys_fcntl(fd, F_SETFL, s->nonblock ? O_NONBLOCK : 0);
    tsock_to_kernel(s, fd);
}

int tconnect_begin(struct tsock *s, int fd, const struct sockaddr *addr, socklen_t len, bool fast,
                   bool *kernel)
{
    struct tname to, from;
    int wrong = addr ? tname_read(addr, len, &to) : EINVAL;

    *kernel = true;
    if (wrong && tfd_is_own(fd)) {
        *kernel = false;
        return terr(wrong);
    }
    if (wrong)
        return 0; /* the kernel reports the error */
    if ((addr->sa_family == AF_INET6) != s->v6) {
        *kernel = !tfd_is_own(fd); /* which reports the error: EAFNOSUPPORT, or EINVAL by length */
        return *kernel ? 0 : terr(EAFNOSUPPORT);
    }
    if (to.v4 && s->opts.v6only && s->state == TS_NEW)
        return 0; /* also of an IPv4 address on an IPv6-only socket */
    if (!tfd_is_own(fd))
        tip6_scope(fd, &to);
    switch (carrier_of(fd, &to, &from)) {
    case TCARRY_KERNEL:
    case TCARRY_BOTH:
        if (tfd_is_own(fd)) {
            *kernel = false;
            return terr(ENETUNREACH);
        }
        back_to_kernel(s, fd);
        return 0;
    case TCARRY_REFUSED:
        *kernel = false;
        return -1;
    case TCARRY_TOE:
        break;
    }
    *kernel = false;
    if (!to.port)
        return terr(ECONNREFUSED); /* port 0: as on Linux, whose SYN is answered by a reset */
    s->local_port = s->released ? 0 : from.port;
    s->within = tfd_is_own(fd) || s->local_port ? 0 : tport_range(fd);
    s->local6 = IN6_IS_ADDR_UNSPECIFIED(&from.ip6) ? to.from : from.ip6;
    return start(s, &to, fast);
}

/* connect() to AF_UNSPEC dissolves the association (connect(2)): resets the connection, or ends the
 * listener, and makes the socket as new. */
static int disconnect(struct tsock *s, int fd)
{
    if (s->state == TS_OPEN || s->state == TS_CONNECTING)
        s->error = ECONNRESET;
    if (s->state == TS_LISTEN) {
        tlisten_end(s);
        sys_shutdown(fd, SHUT_RD); /* the kernel's half: the same, for a listener */
        s->state = TS_DEAD;
    } else {
        s->abort = s->state == TS_OPEN;
        tsock_end(s);
        s->abort = 0;
    }
    s->eof = s->shut = s->oob = s->connect_unreported = s->spoilt = 0;
    s->connect_failed = s->unconnected = 1;
    tport_release(s);
    tobj_notify(&s->obj, tsock_events(s));
    return 0;
}

static int connect_new(struct tsock *s, int fd, const struct sockaddr *addr, socklen_t len,
                       bool *kernel)
{
    if (tconnect_begin(s, fd, addr, len, s->opts.fastopen_connect, kernel) < 0)
        return -1;
    /* TCP_FASTOPEN_CONNECT with a cookie: the program sees a connected socket, and the SYN is sent
     * with its first data */
    if (*kernel || s->fast)
        return 0;
    return tconnect_result(s, s->nonblock);
}

static int connect_locked(struct tsock *s, int fd, const struct sockaddr *addr, socklen_t len,
                          bool *kernel)
{
    int r;

    tctx_progress();
    if (addr && len >= sizeof(sa_family_t) && addr->sa_family == AF_UNSPEC && s->state != TS_NEW &&
        s->state != TS_SHARED && s->state != TS_FOREIGN)
        return disconnect(s, fd);
    if (s->state == TS_CONNECTING && s->fast && !s->fast_sent)
        return terr(EISCONN);
    r = tconnect_again(s, s->nonblock);
    if (r <= 0)
        return r;
    return connect_new(s, fd, addr, len, kernel);
}

int toe_connect(int fd, const struct sockaddr *addr, socklen_t len)
{
    bool kernel = false;
    struct tsock *s;
    int r = 0;

    if (!tsock_get(fd))
        return sys_connect(fd, addr, len);
    tctx_lock();
    s = tsock_get(fd);
    if (!s) {
        kernel = true;
    } else {
        tobj_hold(&s->obj);
        r = connect_locked(s, fd, addr, len, &kernel);
        tobj_put(&s->obj);
    }
    tctx_unlock();
    return kernel ? sys_connect(fd, addr, len) : r;
}
