/* SPDX-License-Identifier: Apache-2.0 */
/* share.c - sockets of connections that several processes use (share.h). */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "ctx.h"
#include "internal.h"
#include "share.h"

/* The name of the flow's end: abstract, and its own by the number of its inode. */
struct name {
    char mark[16];
    uint64_t inode;
    uint32_t local_ip, remote_ip, scope;
    uint16_t local_port, remote_port;
    uint8_t v6, ip6;
    struct in6_addr local6, remote6;
};

static const char mark[16] = "toehold-connect";

bool tshare_some;

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

/* Who has a Unix socket that leads to a relay reads it there. */
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

/* ---- asking ---- */

/* One byte with descriptors. */
struct parcel {
    struct iovec v;
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))];
    char byte;
};

static struct msghdr pack(struct parcel *p, const int *fds, size_t n)
{
    struct msghdr m = {.msg_iov = &p->v, .msg_iovlen = 1};

    memset(p, 0, sizeof(*p));
    p->v = (struct iovec){&p->byte, 1};
    m.msg_control = p->control;
    m.msg_controllen = CMSG_SPACE(n * sizeof(int));
    if (fds) {
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);

        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(n * sizeof(int));
        memcpy(CMSG_DATA(c), fds, n * sizeof(int));
    }
    return m;
}

/* How many descriptors have come, at most two. */
static size_t unpack(struct msghdr *m, int fds[2])
{
    const struct cmsghdr *c = m->msg_controllen ? CMSG_FIRSTHDR(m) : NULL;
    size_t n = 0;

    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
        n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    if (n)
        memcpy(fds, CMSG_DATA(c), n * sizeof(int));
    return n;
}

static struct tsock *replaced; /* for replace_number() */
static int replaced_by;

void tshare_replace(int fd, int end)
{
    int close_on_exec = sys_fcntl(fd, F_GETFD, 0) & FD_CLOEXEC;

    sys_dup3(end, fd, close_on_exec ? O_CLOEXEC : 0);
}

static void replace_number(int fd, struct tobj *o)
{
    if (o == &replaced->obj && !tfd_is_internal(fd) && !tfd_is_own(fd))
        tshare_replace(fd, replaced_by);
}

/* All the program's numbers of s. */
static void replace(struct tsock *s, int end)
{
    replaced = s;
    replaced_by = end;
    tfd_each_number(replace_number);
}

/* An option of no use to a Unix socket; its users' own is kept elsewhere (sockopt.c). */
#define NOTE_OPTION SO_MAX_PACING_RATE
#define NOTE        0x70e5a4edu

void tshare_note(int end)
{
    uint32_t v = NOTE;

    sys_setsockopt(end, SOL_SOCKET, NOTE_OPTION, &v, sizeof(v));
}

static bool is_noted(int end)
{
    uint32_t v = 0;
    socklen_t len = sizeof(v);

    return sys_getsockopt(end, SOL_SOCKET, NOTE_OPTION, &v, &len) == 0 && v == NOTE;
}

/* Until it is served; the process that should do so ends this too, by its end. */
static void await(struct tsock *s, int answer)
{
    struct pollfd p = {.fd = answer, .events = POLLIN};
    struct parcel parcel;
    struct msghdr m = pack(&parcel, NULL, 1);
    int fds[2];

    tctx_unlock();
    while (sys_ppoll(&p, 1, NULL, NULL) < 0 && errno == EINTR)
        ;
    tctx_lock();
    if (sys_recvmsg(answer, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0 || unpack(&m, fds) != 1)
        return;
    replace(s, fds[0]);
    sys_close(fds[0]);
}

void tshare_ask(struct tsock *s)
{
    int fd = tfd_find(&s->obj, -1), ends[2], saved = errno;
    struct parcel parcel;
    struct msghdr m;

    s->unasked = false;
    atomic_store_explicit(&s->settled, true, memory_order_relaxed);
    tepoll_to_kernel(s);
    tobj_hold(&s->obj);
    if (fd >= 0 && !is_noted(fd) &&
        syscall(SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0) {
        int fds[2] = {fd, ends[1]};

        m = pack(&parcel, fds, 2);
        if (sys_sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
            sys_close(ends[1]);
        } else {
            sys_close(ends[1]);
            await(s, ends[0]);
            tshare_note(tfd_find(&s->obj, -1));
        }
        sys_close(ends[0]);
    }
    tobj_put(&s->obj);
    errno = saved;
}

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
    if (is_noted(fd)) {
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
    struct parcel parcel;
    struct msghdr m = pack(&parcel, NULL, 2);
    int fds[2] = {-1, -1};
    ssize_t r;

    *ask = (struct tshare_ask){-1, -1};
    parcel.v = (struct iovec){buf, n};
    r = sys_recvmsg(unix_fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (r <= 0 || unpack(&m, fds) != 2)
        return r;
    ask->end = tfd_internal(fds[0]);
    ask->answer = tfd_internal(fds[1]);
    /* Its byte is the last: the kernel ends a read with what brings descriptors. */
    return r > 1 ? r - 1 : terr(EAGAIN);
}

void tshare_answer(int answer, int end)
{
    struct parcel parcel;
    struct msghdr m = pack(&parcel, &end, 1);

    (void)sys_sendmsg(answer, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* ---- sockets ---- */

/* The flow is not this socket's any more. */
static void let_go(struct tsock *s)
{
    s->qp = NULL;
    s->rx = s->tx = NULL;
    s->rx_avail = s->rx_unsaid = s->rx_held = 0;
    s->framed = false;
    s->claims = 0;
    s->oob = 0;
    s->told_round = 0;
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
    tshare_part(s);
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
    s->zc = NULL; /* what waits to be acknowledged goes with the flow */
    s->error = 0;
    s->flow = flow;
    s->state = TS_SHARED;
    atomic_store_explicit(&s->settled, true, memory_order_relaxed);
    if (s->nonblock != nonblock) /* it was changed here; what the others changed is there */
        sys_fcntl(end, F_SETFL, s->nonblock ? O_RDWR | O_NONBLOCK : O_RDWR);
    replace(s, end);
    tepoll_to_kernel(s);
    tobj_notify(&s->obj, EPOLLIN | EPOLLOUT); /* who waits looks again: the kernel answers now */
}

void tshare_part(struct tsock *s)
{
    if (s->flow)
        s->flow->face = NULL;
    if (s->face)
        s->face->flow = NULL;
    s->flow = s->face = NULL;
}
