/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epwait.c - epoll_wait over the ready list and the kernel's epoll (SEEDS S1.14, S1.15).
 *
 * A wait first walks the ready list, and checks each entry again before it reports it. It asks the
 * kernel's epoll every KERNEL_TURNS waits and whenever it would sleep. So neither side starves, and
 * a busy TOE costs no system call per wait.
 */
#include <limits.h>

#include "attach.h"
#include "batch.h"
#include "ctx.h"
#include "epoll.h"
#include "fdtab.h"
#include "host.h"
#include "interrupt.h"
#include "listen_defer.h"
#include "lock.h"
#include "qp.h"
#include "tsock.h"
#include "turns.h"
#include "wait.h"

#define KERNEL_TURNS  16
#define SPINS_PER_ASK 32
#define KERNEL_NS     20000

struct epcall {
    struct tepoll *ep;
    int epfd;
    struct epoll_event *out;
    int max, n;
    bool woken;           /* took the kick or an interrupt from the kernel's epoll */
    bool kernel_reported; /* some item was reported by its kernel half */
    const sigset_t *mask;
};

/* Walks the ready list once. Removes items that are no longer ready; level-triggered ones stay. */
static void collect(struct epcall *c)
{
    struct tepoll *ep = c->ep;
    struct tepitem *last = ep->ready_tail, *i = ep->ready_head, *next;
    bool end = !i;

    for (; !end && c->n < c->max; i = next) {
        uint32_t events = tepoll_item_events(i);

        next = i->next_ready;
        end = i == last;
        tepoll_ready_del(i);
        if (unlikely(i->kernel_reported)) {
            i->kernel_reported = false;
            if (events && !(i->events & EPOLLET))
                tepoll_ready_add(i);
            continue;
        }
        if (!events)
            continue;
        c->out[c->n++] = (struct epoll_event){.events = events, .data.u64 = i->data};
        if (i->obj->kind == TOBJ_SOCK)
            tbatch_report((struct tsock *)i->obj);
        if (i->events & EPOLLONESHOT) {
            i->disabled = true;
            if (unlikely(i->mark)) {
                struct epoll_event none = {.data.u64 = tepoll_mark_data(i->mark)};

                sys_epoll_ctl(c->epfd, EPOLL_CTL_MOD, i->fd, &none);
            }
        } else if (!(i->events & EPOLLET)) {
            tepoll_ready_add(i);
        }
    }
    if (unlikely(c->kernel_reported)) /* items not reached for lack of space: the next wait */
        for (i = ep->ready_head; i; i = i->next_ready)
            i->kernel_reported = false;
    c->kernel_reported = false;
}

/* Removes our own events from the n that the kernel appended, and merges those of dual listeners.
 */
static void take_kernel(struct epcall *c, int n)
{
    const struct epoll_event *given = c->out + c->n;

    for (int k = 0; k < n; k++) {
        const struct epoll_event e = given[k];
        struct tepitem *i;
        uint32_t number = (uint32_t)e.data.u64;

        if (likely(!tepoll_is_mark(e.data.u64))) {
            c->out[c->n++] = e;
            continue;
        }
        if (number == TEPOLL_MARK_WAKE)
            c->woken = true;
        if (number == TEPOLL_MARK_GONE)
            for (uint32_t q = 0; q < tctx.qps_n; q++)
                tctx.qps[q]->broken |= tqp_gone(tctx.qps[q]);
        i = number >= TEPOLL_MARK_ITEM ? tepoll_marked_item(number) : NULL;
        if (!i || i->disabled)
            continue;
        if (i->events & EPOLLONESHOT)
            i->disabled = true;
        i->kernel_reported = i->ready;
        c->kernel_reported |= i->kernel_reported;
        c->out[c->n++] = (struct epoll_event){.events = e.events, .data.u64 = i->data};
    }
}

/* Asks the kernel's epoll for up to `room` events, until a time; 0: without sleeping. Releases the
 * lock during the sleep. Returns 0, or -1 with errno. */
static int ask_kernel(struct epcall *c, int room, uint64_t until)
{
    struct epoll_event *buf = c->out + c->n;
    int n, e;

    if (until)
        tctx_unlock();
    n = until ? thost_epoll_until(c->epfd, buf, room, until, c->mask, tsig_note(false))
              : thost_epoll_pwait(c->epfd, buf, room, 0, c->mask);
    e = errno;
    if (until)
        tctx_lock();
    if (n < 0)
        return terr(e);
    take_kernel(c, n);
    if (c->woken) {
        /* The event is edge-triggered, so the thread it was meant for will not see it. This thread
         * handles the rings instead, and wakes another for events that it does not take
         * (toe_epoll_pwait()). */
        c->woken = false;
        c->ep->kicked = false;
        twait_woken();
    }
    return 0;
}

/* Returns whether to ask the kernel now. By the clock with a direct TOE, whose rounds are short. */
static bool kernel_due(struct tepoll *ep, bool by_turns)
{
    uint64_t now;

    if (!tctx.qps_n || !tctx.qps[0]->direct)
        return by_turns;
    now = tctx.qps[0]->now;
    if (now - ep->asked_at < KERNEL_NS)
        return false;
    ep->asked_at = now;
    return true;
}

/* Polls the rings, and from time to time the kernel. 0, or -1 with errno. */
static int busy_poll(struct epcall *c, uint64_t deadline)
{
    uint64_t end = tctx_now() + tctx.cfg.busy_poll_us * 1000ull;

    if (end > deadline)
        end = deadline;
    for (unsigned spin = 1; tctx_now() < end; spin++) {
        tctx_relax();
        if (tctx_progress() || c->ep->ready_head)
            collect(c);
        if (!c->n && c->ep->kernel_used && kernel_due(c->ep, spin % SPINS_PER_ASK == 0) &&
            ask_kernel(c, c->max, 0) < 0)
            return -1;
        if (c->n)
            return 0;
        if (unlikely(*tsig_note(false)))
            return terr(EINTR);
    }
    return 0;
}

/* Sleeps once. 0, or -1 with errno. */
static int sleep_once(struct epcall *c, uint64_t deadline)
{
    struct tepoll *ep = c->ep;
    int r = 0, e;

    tepoll_wire(ep, c->epfd);
    tctx.sleepers++;
    ep->sleepers++;
    twait_arm();
    if (!ep->ready_head)
        r = ask_kernel(c, c->max, twait_cap(deadline));
    ep->sleepers--;
    tctx.sleepers--;
    ep->kicked = false;
    e = errno;
    twait_woken();
    errno = e;
    return r;
}

/* Waits for `most` nanoseconds; TWAIT_FOREVER: no limit. */
static int wait_locked(struct epcall *c, uint64_t most)
{
    struct tepoll *ep = c->ep;
    uint64_t deadline;
    bool polled = false;

    tsig_begin();
    tbatch_begin();
    tturn_begin(ep);
    if (most == 0)
        tlisten_settle();
    tctx_progress();
    if (ep->kernel_used && kernel_due(ep, ++ep->turns >= KERNEL_TURNS)) {
        ep->turns = 0;
        if (ask_kernel(c, (c->max + 1) / 2, 0) < 0)
            return -1;
    }
    collect(c);
    if (c->n)
        return c->n;
    if (most == 0) {
        ep->turns = 0;
        if (!ep->kernel_used)
            return 0;
        return ask_kernel(c, c->max, 0) < 0 ? -1 : c->n;
    }
    deadline = most == TWAIT_FOREVER ? TWAIT_FOREVER : tctx_now() + most;
    for (;;) {
        if (!polled && tctx_may_poll()) {
            int r;

            polled = tctx.polling = true;
            r = busy_poll(c, deadline);
            tctx.polling = false;
            if (r < 0)
                return -1;
            if (c->n)
                return c->n;
        }
        tturn_begin(ep); /* another thread may have accepted a connection */
        if (sleep_once(c, deadline) < 0)
            return -1;
        collect(c);
        if (c->n || (deadline != TWAIT_FOREVER && tctx_now() >= deadline))
            return c->n;
    }
}

/* Waits on an instance of libtoe; -2 when epfd is none. */
static int wait_on(int epfd, struct epoll_event *events, int max, uint64_t most,
                   const sigset_t *mask)
{
    struct epcall c = {.epfd = epfd, .out = events, .max = max, .mask = mask};
    int r;

    if (unlikely(!tepoll_get(epfd) || max <= 0 || !events))
        return -2;
    tctx_lock();
    c.ep = tepoll_get(epfd);
    if (unlikely(!c.ep)) {
        tctx_unlock();
        return -2;
    }
    tobj_hold(&c.ep->obj);
    if (unlikely(c.ep->unasked))
        tepoll_ask(c.ep);
    tlisten_begun_by_wait();
    r = wait_locked(&c, most);
    if (unlikely(c.ep->sleepers && c.ep->ready_head))
        tepoll_wake(c.ep); /* more events than this call takes: wake the next thread */
    tobj_put(&c.ep->obj);
    tctx_unlock();
    return r;
}

int toe_epoll_pwait(int epfd, struct epoll_event *events, int max, int timeout_ms,
                    const sigset_t *mask)
{
    uint64_t most = timeout_ms < 0 ? TWAIT_FOREVER : (uint64_t)timeout_ms * 1000000;
    int r = wait_on(epfd, events, max, most, mask);

    return likely(r != -2) ? r : thost_epoll_pwait(epfd, events, max, timeout_ms, mask);
}

int toe_epoll_pwait2(int epfd, struct epoll_event *events, int max, const struct timespec *timeout,
                     const sigset_t *mask)
{
    uint64_t most = TWAIT_FOREVER, now;
    int r;

    if (timeout) {
        if (timeout->tv_sec < 0 || timeout->tv_nsec < 0 || timeout->tv_nsec >= (long)NSEC)
            return terr(EINVAL);
        if (timeout->tv_sec < INT_MAX)
            most = (uint64_t)timeout->tv_sec * NSEC + (uint64_t)timeout->tv_nsec;
    }
    r = wait_on(epfd, events, max, most, mask);
    if (likely(r != -2))
        return r;
    now = tclock_ns();
    return thost_epoll_until(epfd, events, max, most == TWAIT_FOREVER ? most : now + most, mask,
                             NULL);
}

int toe_epoll_wait(int epfd, struct epoll_event *events, int max, int timeout_ms)
{
    return toe_epoll_pwait(epfd, events, max, timeout_ms, NULL);
}
