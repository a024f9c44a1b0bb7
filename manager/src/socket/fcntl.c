/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fcntl.c - fcntl and ioctl of TOE sockets (fcntl(2), tcp(7), socket(7)).
 *
 * The flags of an open file are stored in the object, not in the placeholder: placeholders of
 * accepted connections are duplicates of one and share its flags in the kernel.
 */
#include <linux/sockios.h>
#include <sys/ioctl.h>

#include "ctx.h"
#include "fcntl_flags.h"
#include "fdtab.h"
#include "lock.h"
#include "notsent.h"
#include "share_use.h"
#include "tsock.h"
#include "urgent.h"

static int get_flags(const struct tsock *s, int fd)
{
    int kernel = tfd_is_own(fd) ? O_RDWR : sys_fcntl(fd, F_GETFL, 0);

    if (kernel < 0 || s->state == TS_SHARED)
        return kernel;
    return (kernel & ~O_NONBLOCK) | (s->nonblock ? O_NONBLOCK : 0);
}

void tsock_note_flags(const struct tsock *s, int fd)
{
    if (s->dual) {
        sys_fcntl(fd, F_SETFL, O_NONBLOCK);
        sys_fcntl(fd, F_SETSIG, s->nonblock ? 0 : SIGIO);
    } else {
        sys_fcntl(fd, F_SETFL, s->nonblock ? O_NONBLOCK : 0);
    }
}

static int set_flags(struct tsock *s, int fd, long flags)
{
    /* Signals at readiness (O_ASYNC) are not supported; Linux returns EINVAL for such files. */
    if (flags & O_ASYNC)
        return terr(EINVAL);
    s->nonblock = (flags & O_NONBLOCK) != 0;
    if (s->state == TS_LISTEN && !tfd_is_own(fd))
        tsock_note_flags(s, fd);
    /* The kernel may still connect an undecided socket. */
    return tsock_kernels(s) ? sys_fcntl(fd, F_SETFL, flags) : 0;
}

/* Duplicates fd; the new number refers to the same object. */
static int duplicate(struct tobj *o, int fd, int cmd, long lowest)
{
    int copy = sys_fcntl(fd, cmd, lowest);

    if (copy >= (int)TFD_MAX) {
        sys_close(copy);
        return terr(EMFILE);
    }
    if (copy >= 0)
        tfd_set(copy, o);
    return copy;
}

/* Sets the owner, which gets SIGURG. The kernel checks which process or thread is allowed. */
static int set_owner(struct tsock *s, int fd, int cmd, long arg)
{
    const struct f_owner_ex *ex = (const struct f_owner_ex *)arg;
    int r = sys_fcntl(fd, cmd, arg);

    if (!s || r < 0)
        return r;
    s->owner_tid = cmd == F_SETOWN_EX && ex->type == F_OWNER_TID;
    s->owner = cmd == F_SETOWN ? (int)arg : ex->type == F_OWNER_PGRP ? -ex->pid : ex->pid;
    return r;
}

/* Returns our own value: in the kernel, placeholders of accepted connections share one owner. */
static int get_owner(const struct tsock *s, struct f_owner_ex *out)
{
    struct f_owner_ex ex = {s->owner_tid   ? F_OWNER_TID
                            : s->owner < 0 ? F_OWNER_PGRP
                                           : F_OWNER_PID,
                            s->owner < 0 ? -s->owner : s->owner};

    if (!out)
        return terr(EFAULT);
    *out = ex;
    return 0;
}

static int fcntl_locked(struct tobj *o, int fd, int cmd, long arg)
{
    struct tsock *s = o->kind == TOBJ_SOCK ? (struct tsock *)o : NULL;

    switch (cmd) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
        return duplicate(o, fd, cmd, arg);
    case F_GETFL:
        return s ? get_flags(s, fd) : sys_fcntl(fd, cmd, arg);
    case F_SETFL:
        return s ? set_flags(s, fd, arg) : sys_fcntl(fd, cmd, arg);
    case F_SETOWN:
    case F_SETOWN_EX:
        return set_owner(s, fd, cmd, arg);
    case F_GETOWN:
        return s ? s->owner : sys_fcntl(fd, cmd, arg);
    case F_GETOWN_EX:
        return s ? get_owner(s, (struct f_owner_ex *)arg) : sys_fcntl(fd, cmd, arg);
    default:
        return sys_fcntl(fd, cmd, arg);
    }
}

int toe_fcntl(int fd, int cmd, long arg)
{
    struct tobj *o;
    int r;

    if (!tobj_get(fd))
        return sys_fcntl(fd, cmd, arg);
    tctx_lock();
    o = tobj_get(fd);
    r = o ? fcntl_locked(o, fd, cmd, arg) : sys_fcntl(fd, cmd, arg);
    tctx_unlock();
    return r;
}

static int give(void *arg, uint32_t value)
{
    if (!arg)
        return terr(EFAULT);
    *(int *)arg = (int)value;
    return 0;
}

/* FIOSETOWN, SIOCSPGRP: F_SETOWN under other names. */
static int set_owner_by(struct tsock *s, int fd, unsigned long request, void *arg)
{
    int r = sys_ioctl(fd, request, arg);

    if (r == 0) {
        s->owner = *(int *)arg;
        s->owner_tid = false;
    }
    return r;
}

static int ioctl_locked(struct tsock *s, int fd, unsigned long request, void *arg)
{
    switch (request) {
    case FIONREAD: /* SIOCINQ */
        if (s->state == TS_LISTEN)
            return terr(EINVAL);
        tctx_progress();
        return give(arg, s->oob ? turgent_queued(s) : s->rx_avail);
    case TIOCOUTQ: /* SIOCOUTQ */
        if (s->state == TS_LISTEN)
            return terr(EINVAL);
        tctx_progress();
        return give(arg, tsock_unacked(s));
    case SIOCOUTQNSD:
        if (s->state == TS_LISTEN)
            return terr(EINVAL);
        return give(arg, tnotsent_bytes(s));
    case SIOCATMARK:
        tctx_progress();
        return give(arg, turgent_at_mark(s));
    case FIOSETOWN:
    case SIOCSPGRP:
        return set_owner_by(s, fd, request, arg);
    case FIOGETOWN:
    case SIOCGPGRP: /* placeholders of accepted connections share the kernel's */
        return give(arg, (uint32_t)s->owner);
    case FIONBIO:
        if (!arg)
            return terr(EFAULT);
        return set_flags(s, fd, *(int *)arg ? O_NONBLOCK : 0);
    case FIOASYNC:
        if (!arg)
            return terr(EFAULT);
        return *(int *)arg ? terr(EINVAL) : 0;
    default:
        return sys_ioctl(fd, request, arg);
    }
}

int toe_ioctl(int fd, unsigned long request, void *arg)
{
    struct tsock *s;
    int r;

    if (!tsock_get(fd))
        return sys_ioctl(fd, request, arg);
    tctx_lock();
    tshare_use(fd);
    s = tsock_get(fd);
    if (!s || tsock_kernels(s)) {
        if (s && (request == FIOSETOWN || request == SIOCSPGRP))
            r = set_owner_by(s, fd, request, arg);
        else
            r = sys_ioctl(fd, request, arg);
        if (s && r == 0 && request == FIONBIO)
            s->nonblock = *(int *)arg != 0;
    } else {
        r = ioctl_locked(s, fd, request, arg);
    }
    tctx_unlock();
    return r;
}
