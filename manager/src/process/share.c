/* SPDX-License-Identifier: Apache-2.0 */
/* share.c - sockets of connections that several processes use (share.h). */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <toe/fds.h>

#include "epoll.h"
#include "fdtab.h"
#include "flow.h"
#include "internal.h"
#include "qp.h"
#include "ready.h"
#include "share.h"
#include "share_use.h"
#include "tsock.h"

/* The name of the flow's end: abstract, and unique by the number of its inode. */
struct name {
    char mark[16];
    uint64_t inode;
    uint32_t local_ip, remote_ip, scope;
    uint16_t local_port, remote_port;
    uint8_t v6, ip6;
    struct in6_addr local6, remote6;
};

static const char mark[16] = "toehold-connect";

#define NAME_AT   offsetof(struct sockaddr_un, sun_path[1]) /* sun_path[0] is 0: abstract */
#define NAME_SIZE (NAME_AT + sizeof(struct name))
_Static_assert(NAME_SIZE <= sizeof(struct sockaddr_un), "it is an address");

/* ---- names ---- */

void tshare_name(int unix_fd, const struct tsock *s)
{
    struct sockaddr_un a;
    struct stat st;
    struct name n;

    memset(&n, 0, sizeof(n));
    memset(&a, 0, sizeof(a));
    memcpy(n.mark, mark, sizeof(mark));
    n.inode = fstat(unix_fd, &st) == 0 ? st.st_ino : 0;
    n.local_ip = s->local_ip;
    n.remote_ip = s->remote_ip;
    n.scope = s->scope;
    n.local_port = s->local_port;
    n.remote_port = s->remote_port;
    n.v6 = s->v6;
    n.ip6 = s->ip6;
    n.local6 = s->local6;
    n.remote6 = s->remote6;
    a.sun_family = AF_UNIX;
    memcpy((char *)&a + NAME_AT, &n, sizeof(n));
    (void)sys_bind(unix_fd, (struct sockaddr *)&a, NAME_SIZE);
}

/* Reads the name of the peer of a Unix socket. False: it is no end of a relay. */
static bool read_name(int fd, struct name *n)
{
    struct sockaddr_un a;
    socklen_t len = sizeof(a);

    if (sys_getpeername(fd, (struct sockaddr *)&a, &len) < 0 || len != NAME_SIZE ||
        a.sun_family != AF_UNIX)
        return false;
    memcpy(n, (char *)&a + NAME_AT, sizeof(*n));
    return memcmp(n->mark, mark, sizeof(mark)) == 0;
}

static bool has_name(int fd, struct tsock *s)
{
    struct name n;

    if (!read_name(fd, &n))
        return false;
    s->local_ip = n.local_ip;
    s->remote_ip = n.remote_ip;
    s->scope = n.scope;
    s->local_port = n.local_port;
    s->remote_port = n.remote_port;
    s->v6 = n.v6;
    s->ip6 = n.ip6;
    s->local6 = n.local6;
    s->remote6 = n.remote6;
    return true;
}

static void set_time(int fd, int name, uint64_t ns)
{
    struct timeval tv = {(time_t)(ns / NSEC), (suseconds_t)(ns % NSEC / 1000)};

    if (ns)
        sys_setsockopt(fd, SOL_SOCKET, name, &tv, sizeof(tv));
}

void tshare_prepare(int end, const struct tsock *s)
{
    set_time(end, SO_RCVTIMEO, s->opts.rcvtimeo);
    set_time(end, SO_SNDTIMEO, s->opts.sndtimeo);
    if (s->lowat > 1)
        sys_setsockopt(end, SOL_SOCKET, SO_RCVLOWAT, &s->lowat, sizeof(s->lowat));
    if (s->nonblock)
        sys_fcntl(end, F_SETFL, O_RDWR | O_NONBLOCK);
}

/* ---- users ---- */

bool tshare_adopt(int fd)
{
    struct tsock *s;
    struct name n;

    if (!read_name(fd, &n))
        return false;
    s = tsock_new();
    if (!s)
        return false;
    s->state = TS_SHARED;
    s->unasked = tshare_some = true;
    (void)has_name(fd, s);
    if (tshare_is_noted(fd)) {
        s->unasked = false;
        atomic_store_explicit(&s->settled, true, memory_order_relaxed);
    }
    s->nonblock = (sys_fcntl(fd, F_GETFL, 0) & O_NONBLOCK) != 0;
    tfd_set(fd, &s->obj);
    return true;
}

static bool all_at_exec, some_unasked;

static void use_one(int fd, struct tobj *o)
{
    struct tsock *s = (struct tsock *)o;

    if (o->kind == TOBJ_SOCK && s->unasked &&
        !(all_at_exec && (sys_fcntl(fd, F_GETFD, 0) & FD_CLOEXEC)))
        tshare_ask(s);
}

void tshare_use_all(bool at_exec)
{
    all_at_exec = at_exec;
    tfd_each_number(use_one);
}

static void look_at(struct tobj *o)
{
    some_unasked |= o->kind == TOBJ_SOCK && ((struct tsock *)o)->unasked;
}

bool tshare_any_unasked(void)
{
    some_unasked = false;
    tfd_each(look_at);
    return some_unasked;
}

ssize_t tshare_hear(int unix_fd, void *buf, size_t n, struct tshare_ask *ask)
{
    TOE_FDS_ROOM(2) room;
    struct iovec v = {buf, n};
    struct msghdr m = {
        .msg_iov = &v, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof(room)};
    int fds[2] = {-1, -1};
    ssize_t r;

    *ask = (struct tshare_ask){-1, -1};
    r = sys_recvmsg(unix_fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (r <= 0 || toe_fds_take(&m, fds, 2) != 2)
        return r;
    ask->end = tfd_internal(fds[0]);
    ask->answer = tfd_internal(fds[1]);
    /* The byte of the ask is the last: the kernel ends a read at a byte with descriptors. */
    return r > 1 ? r - 1 : terr(EAGAIN);
}

void tshare_answer(int answer, int end)
{
    TOE_FDS_ROOM(1) room;
    char byte = 0;
    struct iovec v = {&byte, 1};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};

    toe_fds_put(&m, &room, &end, 1);
    (void)sys_sendmsg(answer, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* ---- sockets ---- */

/* Detaches the flow from this socket. */
static void let_go(struct tsock *s)
{
    s->qp = NULL;
    s->rx = s->tx = NULL;
    s->rx_avail = s->rx_unreported = s->rx_held = 0;
    s->framed = false;
    s->claims = 0;
    s->oob = 0;
    s->epoll_reported = 0;
}

void tshare_inherit(struct tsock *s)
{
    if (s->qp)
        s->qp->slots[s->slot] = NULL;
    let_go(s);
    s->error = 0;
    s->relays = 0;
    s->state = TS_SHARED;
    s->unasked = tshare_some = true;
}

void tshare_orphan(struct tsock *s)
{
    tflow_part(s);
    if (s->state == TS_SHARED)
        return;
    if (s->qp)
        s->qp->slots[s->slot] = NULL;
    let_go(s);
    s->state = TS_FOREIGN;
}

static const struct tsock *wanted;
static bool found;

static void look_for(int fd, struct tobj *o)
{
    found |= o == &wanted->obj && !tfd_is_internal(fd) && !tfd_is_own(fd);
}

bool tshare_has_number(const struct tsock *s)
{
    wanted = s;
    found = false;
    tfd_each_number(look_for);
    return found;
}

void tshare_divide(struct tsock *s, bool nonblock, struct tsock *flow, int end)
{
    *flow = *s;
    flow->obj = (struct tobj){.kind = TOBJ_SOCK};
    flow->relays = 0;
    flow->face = s;
    flow->child_end = 0;
    if (flow->qp)
        flow->qp->slots[flow->slot] = flow;
    let_go(s);
    s->zc = NULL; /* sends not acknowledged yet move with the flow */
    s->error = 0;
    s->flow = flow;
    s->state = TS_SHARED;
    atomic_store_explicit(&s->settled, true, memory_order_relaxed);
    if (s->nonblock != nonblock) /* changed here; changes by others are in the shared file */
        sys_fcntl(end, F_SETFL, s->nonblock ? O_RDWR | O_NONBLOCK : O_RDWR);
    tshare_replace_all(s, end);
    tepoll_to_kernel(s);
    tobj_notify(&s->obj, EPOLLIN | EPOLLOUT); /* waiters check again: now the kernel serves it */
}
