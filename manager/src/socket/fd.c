/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fd.c - operations on descriptor numbers: close and dup (fcntl.c has the others).
 */
#include "ctx.h"
#include "dispatch.h"
#include "epoll.h"
#include "fdtab.h"
#include "host.h"
#include "internal.h"
#include "lock.h"
#include "qp.h"
#include "tsock.h"
#include "wait.h"

/*
 * SO_LINGER with a time: sends the FIN, and close waits until the peer has all data (as Linux, also
 * on a non-blocking socket; Linux waits for the ACK of the FIN too, which the TOE does not report).
 * With unread data it does not wait: the connection is reset.
 */
static void linger(struct tsock *s)
{
    uint64_t deadline = tclock_ns() + (uint64_t)s->opts.linger_s * NSEC;

    if (s->rx_avail)
        return;
    if (!(s->shut & TSHUT_WR)) {
        s->shut |= TSHUT_WR;
        tqp_send(s->qp, TOE_CMD_CLOSE, TOE_F_CLOSE_HALF, 0, s->slot, 0, 0);
    }
    s->lingering = 1;
    while (s->state == TS_OPEN && tsock_unacked(s) && tclock_ns() < deadline)
        if (twait_one(&s->obj, deadline) < 0)
            break;
    s->lingering = 0;
}

static void close_locked(int fd, struct tobj *o)
{
    struct tsock *s = (struct tsock *)o;

    twait_end_left();
    if (o->kind == TOBJ_SOCK && unlikely(s->relays))
        trelay_look(s);
    if (o->kind == TOBJ_SOCK && o->refs == 1 && s->state == TS_OPEN) {
        tctx_progress();
        if (unlikely(s->opts.linger_on && s->opts.linger_s > 0))
            linger(s);
    }
    if (tobj_get(fd) != o)
        return; /* closed by another thread while we lingered */
    if (o->kind == TOBJ_EPOLL && o->refs > 1)
        tepoll_fd_closed((struct tepoll *)o, fd);
    tfd_clear(fd);
}

int toe_close(int fd)
{
    struct tobj *o;

    if (tobj_get(fd)) {
        tctx_lock();
        o = tobj_get(fd);
        /* The number leaves the table before the kernel can allocate it again. */
        if (o)
            close_locked(fd, o);
        tctx_unlock();
        if (o && tfd_is_own(fd))
            return 0;
    }
    return sys_close(fd);
}

/* Makes the new number of a duplicate refer to the object of the old one. */
static int adopt_dup(int fd, int new_fd)
{
    struct tobj *o;

    if (new_fd < 0)
        return -1;
    tctx_lock();
    o = tobj_get(fd);
    if (o && new_fd < (int)TFD_MAX)
        tfd_set(new_fd, o);
    tctx_unlock();
    if (new_fd < (int)TFD_MAX)
        return new_fd;
    sys_close(new_fd);
    return terr(EMFILE);
}

int toe_dup(int fd)
{
    return tobj_get(fd) ? adopt_dup(fd, sys_dup(fd)) : sys_dup(fd);
}

int toe_dup3(int fd, int new_fd, int flags)
{
    struct tobj *old;
    int r;

    if (!tobj_get(fd) && !tobj_get(new_fd))
        return sys_dup3(fd, new_fd, flags);
    if (fd == new_fd || (flags & ~O_CLOEXEC))
        return terr(EINVAL);
    if (tfd_is_internal(new_fd))
        return terr(EBUSY);
    if (sys_fcntl(fd, F_GETFD, 0) < 0)
        return -1; /* before new_fd is closed */
    tctx_lock();
    old = tobj_get(new_fd);
    if (old && old != tobj_get(fd))
        close_locked(new_fd, old);
    r = sys_dup3(fd, new_fd, flags);
    if (r >= 0 && tobj_get(fd) && !tobj_get(new_fd))
        tfd_set(new_fd, tobj_get(fd));
    tctx_unlock();
    return r;
}

int toe_dup2(int fd, int new_fd)
{
    if (fd == new_fd) /* nothing changes; the kernel checks that it is open */
        return sys_fcntl(fd, F_GETFD, 0) < 0 ? -1 : fd;
    return toe_dup3(fd, new_fd, 0);
}

int toe_is_offloaded(int fd)
{
    struct tsock *s = tsock_get(fd);

    return s ? s->state != TS_NEW : tepoll_get(fd) != NULL;
}
