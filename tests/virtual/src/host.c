/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.c - the machine under libtoe in virtual time, in the place of manager/src/toe/host.c and
 * route.c: sleeping runs the engine and lets time pass.
 */
#include "host.h"
#include "route.h"
#include "world.h"

uint64_t tclock_ns(void)
{
    return world.now;
}

struct polled {
    struct pollfd *fds;
    nfds_t n;
    int ep, max;
    struct epoll_event *events;
    int count;
};

static int poll_ready(void *arg)
{
    struct polled *p = arg;
    struct timespec now = {0, 0};

    if (p->count)
        return 1;
    p->count = p->n ? sys_ppoll(p->fds, p->n, &now, NULL) : 0;
    return p->count != 0;
}

static int epoll_ready(void *arg)
{
    struct polled *p = arg;

    if (p->count) /* edge-triggered: what has been taken does not come again */
        return 1;
    p->count = sys_epoll_pwait(p->ep, p->events, p->max, 0, NULL);
    return p->count != 0;
}

/* A deadlock ends the wait: no test may hang. */
static int wait_for(struct polled *p, uint64_t deadline, int (*ready)(void *arg))
{
    int r;

    world_settle();
    r = world_sleep(deadline, ready, p);
    return r > 0 ? p->count : r;
}

int thost_ppoll(struct pollfd *fds, nfds_t n, struct timespec *ts, const sigset_t *mask,
                const volatile sig_atomic_t *note)
{
    struct polled p = {.fds = fds, .n = n};
    uint64_t deadline = NEVER;

    (void)mask, (void)note;
    if (ts)
        deadline = world.now + (uint64_t)ts->tv_sec * NSEC + (uint64_t)ts->tv_nsec;
    return wait_for(&p, deadline, poll_ready);
}

int thost_epoll_pwait(int ep, struct epoll_event *ev, int max, int timeout_ms, const sigset_t *mask)
{
    struct polled p = {.ep = ep, .events = ev, .max = max};

    (void)mask;
    return wait_for(&p, timeout_ms < 0 ? NEVER : world.now + (uint64_t)timeout_ms * 1000000,
                    epoll_ready);
}

int thost_epoll_until(int ep, struct epoll_event *ev, int max, uint64_t deadline,
                      const sigset_t *mask, const volatile sig_atomic_t *note)
{
    int ms = deadline == TWAIT_FOREVER ? -1
             : deadline <= world.now   ? 0
                                       : (int)((deadline - world.now + 999999) / 1000000);

    (void)note;
    return thost_epoll_pwait(ep, ev, max, ms, mask);
}

void thost_yield(unsigned looks)
{
    (void)looks;
    world_settle();
}

int thost_attach(int fd, const char *path)
{
    (void)path;
    return world_attach(fd);
}

/* Does not consult the machine's kernel: everything outside the TOE's network is behind its
 * gateway. */
enum troute troute_ask(uint32_t ip, struct tway *way)
{
    (void)ip;
    *way = (struct tway){0};
    return TROUTE_NONE;
}

enum troute troute_ask6(const struct in6_addr *ip, uint32_t scope, struct tway *way)
{
    *way = (struct tway){0};
    (void)ip;
    (void)scope;
    return TROUTE_NONE;
}

void troute_forget(void)
{
}
