/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait.c - sleeping until a socket changes (SEEDS S1.15): poll the rings for a while, then arm the
 * interrupt, check the rings once more, and sleep in the kernel.
 *
 * No wake-up is lost. The thread that handles HW commands, this one or another, holds the lock and
 * kicks the waiters of changed objects. Sleeping threads are counted in tctx.sleepers, so that a
 * drain by another thread arms the interrupt again (tctx_progress()).
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "ctx.h"
#include "fdtab.h"
#include "host.h"
#include "inline.h"
#include "internal.h"
#include "interrupt.h"
#include "listen_defer.h"
#include "lock.h"
#include "qp.h"
#include "signals.h"
#include "wait.h"

#define LOST_CAP_NS   (100 * 1000000ull) /* interval of attempts to attach after a loss */
#define SPINS_PER_ASK 32                 /* polls of the rings per poll of the kernel */

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static __thread int own_kick_fd = -1;
static __thread struct twaiter own_waiter;
static __thread struct twnode *own_nodes;
static __thread size_t own_nodes_n;

#define NODES_AT_LEAST 16

static void thread_ends(void *fd_plus_1)
{
    tfd_internal_close((int)(intptr_t)fd_plus_1 - 1);
    own_kick_fd = -1;
    tsig_end();
    tctx_lock();
    twait_end(&own_waiter);
    tctx_unlock();
    free(own_nodes);
    own_nodes = NULL;
    own_nodes_n = 0;
}

static void make_key(void)
{
    pthread_key_create(&key, thread_ends);
}

void twait_forget(void)
{
    own_waiter.nodes = NULL; /* the child has emptied their lists */
    tsig_end();
    if (own_kick_fd < 0)
        return;
    pthread_setspecific(key, NULL);
    tfd_internal_close(own_kick_fd);
    own_kick_fd = -1;
}

static bool make_room(size_t most)
{
    size_t n = most < NODES_AT_LEAST ? NODES_AT_LEAST : most;
    struct twnode *room;

    if (likely(most <= own_nodes_n))
        return true;
    room = malloc(n * sizeof(*room));
    if (!room)
        return false;
    free(own_nodes);
    own_nodes = room;
    own_nodes_n = n;
    return true;
}

void twait_end_left(void)
{
    if (unlikely(own_waiter.nodes))
        twait_end(&own_waiter);
}

struct twaiter *twait_begin(size_t most)
{
    struct twaiter *w = &own_waiter;

    twait_end_left();
    if (!make_room(most))
        return NULL;
    memset(w, 0, sizeof(*w));
    w->room = own_nodes;
    tsig_begin();
    if (unlikely(own_kick_fd < 0)) {
        own_kick_fd = tfd_internal(sys_eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        if (own_kick_fd < 0)
            return NULL;
        pthread_once(&key_once, make_key);
        pthread_setspecific(key, (void *)(intptr_t)(own_kick_fd + 1));
    }
    w->kick_fd = own_kick_fd;
    return w;
}

void twait_add(struct twaiter *w, struct tobj *o)
{
    struct twnode *n = &w->room[w->used++];

    tobj_hold(o);
    n->waiter = w;
    n->obj = o;
    n->prev = NULL;
    n->next = o->waiters;
    if (o->waiters)
        o->waiters->prev = n;
    o->waiters = n;
    n->own = w->nodes;
    w->nodes = n;
}

void twait_end(struct twaiter *w)
{
    struct twnode *n = w->nodes;

    w->nodes = NULL;
    while (n) {
        struct twnode *own = n->own;

        if (n->prev)
            n->prev->next = n->next;
        else
            n->obj->waiters = n->next;
        if (n->next)
            n->next->prev = n->prev;
        tobj_put(n->obj);
        n = own;
    }
}

static int ask_kernel(struct pollfd *fds, nfds_t n)
{
    struct timespec now = {0, 0};

    return n ? sys_ppoll(fds, n, &now, NULL) : 0;
}

/* Polls for busy_poll_us. Returns 1 when there is an event, 0 when not, -1 with errno. */
static int busy_poll(struct twaiter *w, struct pollfd *kfds, nfds_t n, uint64_t deadline,
                     int *ready, const volatile sig_atomic_t *note)
{
    uint64_t end = tclock_ns() + tctx.cfg.busy_poll_us * 1000ull;

    if (end > deadline)
        end = deadline;
    for (unsigned spin = 1;; spin++) {
        tctx_progress();
        if (w->kicked)
            return 1;
        if (spin % SPINS_PER_ASK == 0) {
            *ready = ask_kernel(kfds, n);
            if (*ready)
                return *ready < 0 ? -1 : 1;
        }
        if (tclock_ns() >= end)
            return 0;
        tctx_relax();
        if (*note)
            return terr(EINTR);
    }
}

bool twait_arm(void)
{
    uint32_t n;

    for (uint32_t q = 0; q < tctx.qps_n; q++)
        tqp_arm(tctx.qps[q]);
    n = tctx_progress();
    for (uint32_t q = 0; q < tctx.qps_n; q++)
        if (tctx.qps[q]->direct)
            n += tinline_prepare(tctx.qps[q]);
    return n != 0;
}

void twait_woken(void)
{
    for (uint32_t q = 0; q < tctx.qps_n; q++)
        tctx.qps[q]->armed = false;
    tctx.sleep_until = UINT64_MAX;
    tctx_progress();
}

uint64_t twait_cap(uint64_t deadline)
{
    uint64_t cap;

    for (uint32_t q = 0; q < tctx.qps_n; q++)
        if (tctx.qps[q]->direct)
            deadline = tinline_cap(tctx.qps[q], deadline);
    if (likely(tctx.state != TC_LOST || !tctx.listeners))
        return deadline;
    cap = tclock_ns() + LOST_CAP_NS;
    return deadline < cap ? deadline : cap;
}

struct timespec *twait_timespec(uint64_t deadline, struct timespec *ts)
{
    uint64_t now, left;

    if (deadline == TWAIT_FOREVER)
        return NULL;
    now = tclock_ns();
    left = deadline > now ? deadline - now : 0;
    ts->tv_sec = (time_t)(left / NSEC);
    ts->tv_nsec = (long)(left % NSEC);
    return ts;
}

static nfds_t add_own(const struct twaiter *w, struct pollfd *p)
{
    nfds_t n = 0;

    p[n++] = (struct pollfd){.fd = w->kick_fd, .events = POLLIN};
    for (uint32_t q = 0; q < tctx.qps_n; q++) {
        p[n++] = (struct pollfd){.fd = tctx.qps[q]->irq_fd, .events = POLLIN};
        p[n++] = (struct pollfd){.fd = tctx.qps[q]->ctl_fd, .events = POLLIN};
    }
    return n;
}

/* Empties the eventfds that woke us; notes the end of the TOE. */
static void take_own(struct pollfd *p, nfds_t n, uint32_t generation)
{
    uint64_t count;

    if (p[0].revents)
        (void)!sys_read(p[0].fd, &count, sizeof(count));
    if (generation != tctx.generation)
        return; /* another thread has attached again: the other descriptors are stale */
    for (nfds_t i = 1; i + 1 < n && (i - 1) / 2 < tctx.qps_n; i += 2) {
        struct tqp *qp = tctx.qps[(i - 1) / 2];

        if (p[i].revents)
            (void)!sys_read(qp->irq_fd, &count, sizeof(count));
        if (p[i + 1].revents && !qp->inside)
            qp->broken = true;
    }
}

/* If restarting signals must be distinguished from others: adds their signalfd to `all`, and blocks
 * them by the mask. */
static nfds_t hold_back(struct pollfd *all, nfds_t n, sigset_t *held, bool *sorted)
{
    int fd = sorted ? tsig_sort(held) : -1;

    if (fd < 0)
        return n;
    *sorted = true;
    all[n] = (struct pollfd){.fd = fd, .events = POLLIN};
    return n + 1;
}

static int sleep_on(struct twaiter *w, struct pollfd *kfds, nfds_t n, uint64_t deadline,
                    const sigset_t *mask, bool *sorted)
{
    sigset_t held;
    struct pollfd own[TWAIT_EXTRA], *all = kfds ? kfds : own;
    struct timespec ts, *timeout;
    uint32_t generation;
    int r = 0, e = 0, ours = 0;
    nfds_t extra;

    w->kicked = false;
    tctx_progress();
    if (w->kicked)
        return 0;
    if (tctx_may_poll()) {
        int busy;

        tctx.polling = true;
        busy = busy_poll(w, kfds, n, deadline, &r, tsig_note(sorted));
        tctx.polling = false;

        if (busy)
            return busy < 0 ? -1 : r;
    }
    tctx.sleepers++;
    twait_arm();
    if (w->kicked) {
        tctx.sleepers--;
        return 0;
    }
    n = hold_back(all, n, &held, sorted);
    extra = add_own(w, all + n);
    generation = tctx.generation;
    w->asleep = true;
    timeout = twait_timespec(twait_cap(deadline), &ts);
    tctx_unlock();
    r = thost_ppoll(all, n + extra, timeout, sorted && *sorted ? &held : mask, tsig_note(sorted));
    e = errno;
    tctx_lock();
    w->asleep = false;
    tctx.sleepers--;
    if (r > 0) {
        for (nfds_t i = 0; i < extra; i++)
            ours += all[n + i].revents != 0;
        take_own(all + n, extra, generation);
    }
    twait_woken();
    return r < 0 ? terr(e) : r - ours;
}

int twait_sleep(struct twaiter *w, struct pollfd *kfds, nfds_t n, uint64_t deadline,
                const sigset_t *mask)
{
    return sleep_on(w, kfds, n, deadline, mask, NULL);
}

int twait_sleep_sorted(struct twaiter *w, struct pollfd *kfds, nfds_t n, uint64_t deadline,
                       bool *sorted)
{
    return sleep_on(w, kfds, n, deadline, NULL, sorted);
}

int twait_one(struct tobj *o, uint64_t deadline)
{
    struct pollfd k[1 + TWAIT_EXTRA];
    struct twaiter *w;
    int r;

    if (tlisten_begun_by_wait())
        return 0;
    w = twait_begin(1);
    if (!w)
        return -1;
    twait_add(w, o);
    r = twait_call(w, k, 0, deadline);
    twait_end(w);
    return r;
}
