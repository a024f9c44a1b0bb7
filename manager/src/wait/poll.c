/* SPDX-License-Identifier: Apache-2.0 */
/*
 * poll.c - poll and ppoll over TOE sockets and kernel descriptors together (SEEDS S1.14).
 *
 * The state of TOE sockets is in libtoe; the kernel's ppoll serves the other descriptors. A sleeper
 * is registered with all its TOE sockets, under the lock, before it checks them for the last time,
 * so no change between the check and the sleep is lost (wait.c).
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "announce.h"
#include "ctx.h"
#include "dispatch.h"
#include "fdtab.h"
#include "host.h"
#include "listen_defer.h"
#include "lock.h"
#include "pollset.h"
#include "ready.h"
#include "share_use.h"
#include "tsock.h"
#include "turns.h"
#include "user_memory.h"
#include "wait.h"

#define FEW 32 /* entries that need no allocated memory */

/* What select(2) reports for each of its three sets (Linux fs/select.c, POLLIN_SET and so on). */
#define SELECT_IN     (POLLRDNORM | POLLRDBAND | POLLIN | POLLHUP | POLLERR)
#define SELECT_OUT    (POLLWRBAND | POLLWRNORM | POLLOUT | POLLERR)
#define SELECT_EXCEPT POLLPRI

struct tpoll {
    struct pollfd *fds; /* the caller's */
    nfds_t n;
    bool as_select;
    struct tobj **objs;  /* per entry; NULL: the kernel serves it alone */
    struct pollfd *kfds; /* the kernel's part */
    nfds_t *entry;       /* index in fds of each of kfds */
    nfds_t kn;
    bool *mute; /* select: the kernel reports only events that select does not count */
};

bool tpoll_any(const struct pollfd *fds, nfds_t n)
{
    nfds_t i;

    if (tuser_unreadable(fds, n * sizeof(*fds)))
        return false; /* the kernel returns EFAULT */
    for (i = 0; i < n; i++)
        if (tfd_waits_here(fds[i].fd))
            return true;
    return false;
}

uint64_t tpoll_deadline(uint64_t sec, uint64_t nsec)
{
    uint64_t now = tclock_ns();

    if (sec >= (TWAIT_FOREVER - 1 - now) / NSEC - 1)
        return TWAIT_FOREVER;
    return now + sec * NSEC + nsec;
}

/* Returns the events by which an entry counts. */
static short wanted(const struct tpoll *p, nfds_t i)
{
    short events = p->fds[i].events;
    short in = 0;

    if (!p->as_select)
        return (short)(events | POLLERR | POLLHUP | POLLNVAL);
    if (events & POLLIN)
        in |= SELECT_IN;
    if (events & POLLOUT)
        in |= SELECT_OUT;
    if (events & POLLPRI)
        in |= SELECT_EXCEPT;
    return (short)(in | POLLNVAL);
}

static void look_up(struct tpoll *p)
{
    nfds_t i;

    for (i = 0; i < p->n && unlikely(tshare_some); i++)
        tshare_use(p->fds[i].fd);
    for (i = 0; i < p->n; i++) {
        struct tsock *s;

        /* The first wait for an inherited listener announces it. */
        (void)tinherit_use(p->fds[i].fd);
        s = tsock_get(p->fds[i].fd);
        p->objs[i] = tobj_get(p->fds[i].fd);
        if (s && s->state == TS_LISTEN)
            tsock_use(s);
        else if (p->objs[i] && p->objs[i]->kind == TOBJ_EPOLL)
            tturn_begin((const struct tepoll *)p->objs[i]);
    }
}

/* Fills revents of TOE sockets; returns how many count. */
static int collect_toe(struct tpoll *p)
{
    nfds_t i;
    int count = 0;

    for (i = 0; i < p->n; i++) {
        p->fds[i].revents = 0;
        if (!p->objs[i])
            continue;
        p->fds[i].revents = (short)(tobj_events(p->objs[i]) & (uint16_t)wanted(p, i));
        count += p->fds[i].revents != 0;
    }
    return count;
}

/* Lists the descriptors to ask the kernel about. Called before each wait: a connect() in another
 * thread may have decided the carrier of a socket. */
static void list_kernel(struct tpoll *p)
{
    nfds_t i;

    p->kn = 0;
    for (i = 0; i < p->n; i++) {
        if (p->fds[i].fd < 0 || p->mute[i] || (p->objs[i] && !tobj_kernel_too(p->objs[i])))
            continue;
        p->entry[p->kn] = i;
        p->kfds[p->kn].fd = p->fds[i].fd;
        p->kfds[p->kn].events = p->fds[i].events;
        p->kfds[p->kn].revents = 0;
        p->kn++;
    }
}

/* Adds the kernel's results. */
static int collect_kernel(struct tpoll *p)
{
    nfds_t k;
    int count = 0;

    for (k = 0; k < p->kn; k++) {
        nfds_t i = p->entry[k];
        short got = p->kfds[k].revents;

        if (!got || (p->objs[i] && !tobj_kernel_too(p->objs[i])))
            continue;
        if (!(got & wanted(p, i))) {
            p->mute[i] = true;
            continue;
        }
        count += p->fds[i].revents == 0;
        p->fds[i].revents |= got & wanted(p, i);
    }
    return count;
}

/* Checks all entries once, without waiting. Lock held. */
static int look(struct tpoll *p)
{
    struct timespec now = {0, 0};
    int count;

    tctx_progress();
    count = collect_toe(p);
    list_kernel(p);
    if (p->kn && sys_ppoll(p->kfds, p->kn, &now, NULL) > 0)
        count += collect_kernel(p);
    return count;
}

/* Lock held. */
static int wait_for(struct tpoll *p, uint64_t deadline, const sigset_t *mask)
{
    struct twaiter *w = twait_begin(p->n);
    nfds_t i;
    int count, r;

    if (!w)
        return -1;
    for (i = 0; i < p->n; i++)
        if (p->objs[i])
            twait_add(w, p->objs[i]);
    for (;;) {
        tctx_progress();
        count = collect_toe(p);
        if (count)
            break;
        list_kernel(p);
        r = twait_sleep(w, p->kfds, p->kn, deadline, mask);
        count = collect_toe(p);
        if (r > 0)
            count += collect_kernel(p);
        if (count)
            break;
        if (r < 0) {
            count = -1;
            break;
        }
        if (deadline != TWAIT_FOREVER && tclock_ns() >= deadline)
            break;
    }
    r = errno;
    twait_end(w);
    errno = r;
    return count;
}

static int run(struct tpoll *p, uint64_t deadline, const sigset_t *mask)
{
    int count;

    tctx_lock();
    tlisten_begun_by_wait();
    look_up(p);
    if (deadline == 0)
        tlisten_settle();
    count = look(p);
    if (!count && deadline != 0)
        count = wait_for(p, deadline, mask);
    tctx_unlock();
    return count;
}

/* Allocates space for n entries in one block; NULL with ENOMEM. */
static void *allocate(struct tpoll *p)
{
    size_t n = p->n;
    char *memory =
        malloc(n * (sizeof(struct tobj *) + sizeof *p->entry + sizeof *p->kfds + sizeof *p->mute) +
               TWAIT_EXTRA * sizeof *p->kfds);
    char *at = memory;

    if (!memory)
        return NULL;
    p->objs = (struct tobj **)at;
    at += n * sizeof(struct tobj *);
    p->entry = (nfds_t *)at;
    at += n * sizeof *p->entry;
    p->kfds = (struct pollfd *)at;
    at += (n + TWAIT_EXTRA) * sizeof *p->kfds;
    p->mute = (bool *)at;
    return memory;
}

int tpoll_wait(struct pollfd *fds, nfds_t n, bool as_select, uint64_t deadline,
               const sigset_t *mask)
{
    struct tobj *objs[FEW];
    nfds_t entry[FEW];
    struct pollfd kfds[FEW + TWAIT_EXTRA];
    bool mute[FEW];
    struct tpoll p = {fds, n, as_select, objs, kfds, entry, 0, mute};
    void *memory = NULL;
    int r;

    if (n > FEW) {
        memory = allocate(&p);
        if (!memory)
            return terr(ENOMEM);
    }
    memset(p.mute, 0, n * sizeof *p.mute);
    r = run(&p, deadline, mask);
    free(memory);
    return r;
}

/* Calls the kernel's ppoll, which writes the remaining time into its timeout; libc's does not. */
static int kernel_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
                        const sigset_t *mask)
{
    struct timespec copy;

    if (timeout)
        copy = *timeout;
    return thost_ppoll(fds, n, timeout ? &copy : NULL, mask, NULL);
}

int toe_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
    struct rlimit limit;
    uint64_t deadline = TWAIT_FOREVER;

    /* More entries than the limit of descriptors is EINVAL, before fds is read. */
    if (n > FD_SETSIZE && (getrlimit(RLIMIT_NOFILE, &limit) < 0 || n > limit.rlim_cur))
        return terr(EINVAL);
    if (!tpoll_any(fds, n))
        return kernel_ppoll(fds, n, timeout, mask);
    if (timeout) {
        if (timeout->tv_sec < 0 || timeout->tv_nsec < 0 || timeout->tv_nsec >= (long)NSEC)
            return terr(EINVAL);
        deadline = timeout->tv_sec || timeout->tv_nsec
                       ? tpoll_deadline((uint64_t)timeout->tv_sec, (uint64_t)timeout->tv_nsec)
                       : 0;
    }
    return tpoll_wait(fds, n, false, deadline, mask);
}

int toe_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
    struct timespec ts = {timeout_ms / 1000, timeout_ms % 1000 * 1000000l};

    return toe_ppoll(fds, n, timeout_ms < 0 ? NULL : &ts, NULL);
}
