/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.c - the machine under libtoe: its clock, its sleep, the connection to its TOE. route.c
 * belongs to it too. tests/virtual/ replaces both by a machine whose time is an argument.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/un.h>
#include <time.h>

#include "host.h"
#include "interrupt.h"

/* A TOE that polls on another CPU answers in a few microseconds. */
#define AWAKE_LOOKS  32
#define NAP_FIRST_NS 20000u
#define NAP_MAX_NS   1000000u

uint64_t tclock_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * NSEC + (uint64_t)ts.tv_nsec;
}

int thost_ppoll(struct pollfd *fds, nfds_t n, struct timespec *ts, const sigset_t *mask,
                const volatile sig_atomic_t *note)
{
    return (int)tsig_sleep(note, SYS_ppoll, (long)fds, (long)n, (long)ts, (long)mask, 8);
}

int thost_epoll_pwait(int ep, struct epoll_event *ev, int max, int timeout_ms, const sigset_t *mask)
{
    return sys_epoll_pwait(ep, ev, max, timeout_ms, mask);
}

/* Returns the same in whole milliseconds, rounded up; -1: no limit. */
static int until_ms(uint64_t left, uint64_t deadline)
{
    uint64_t ms = left / (NSEC / 1000) + (left % (NSEC / 1000) != 0);

    if (deadline == TWAIT_FOREVER)
        return -1;
    return ms < INT_MAX ? (int)ms : INT_MAX;
}

int thost_epoll_until(int ep, struct epoll_event *ev, int max, uint64_t deadline,
                      const sigset_t *mask, const volatile sig_atomic_t *note)
{
    static int missing; /* before Linux 5.11, and under valgrind of Debian 12 */
    uint64_t now = tclock_ns(), left = deadline > now ? deadline - now : 0;
    struct timespec ts = {(time_t)(left / NSEC), (long)(left % NSEC)};
    int n;

    if (!__atomic_load_n(&missing, __ATOMIC_RELAXED)) {
        n = (int)tsig_sleep(note, SYS_epoll_pwait2, ep, (long)ev, max,
                            deadline == TWAIT_FOREVER ? 0 : (long)&ts, (long)mask);
        if (n >= 0 || errno != ENOSYS)
            return n;
        __atomic_store_n(&missing, 1, __ATOMIC_RELAXED);
    }
    return (int)tsig_sleep(note, SYS_epoll_pwait, ep, (long)ev, max, until_ms(left, deadline),
                           (long)mask);
}

/* Never sched_yield(): where programs wait for CPU time, a thread that yields gets its next turn
 * long after the TOE has answered, and one that sleeps soon after it has woken. */
void thost_yield(unsigned looks)
{
    uint64_t ns = NAP_FIRST_NS;
    struct timespec nap = {0, 0};

    if (looks < AWAKE_LOOKS)
        return;
    for (looks -= AWAKE_LOOKS; looks && ns < NAP_MAX_NS; looks--)
        ns *= 2;
    nap.tv_nsec = (long)ns;
    nanosleep(&nap, NULL);
}

int thost_attach(int fd, const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};

    memcpy(a.sun_path, path, strlen(path) + 1);
    return sys_connect(fd, (struct sockaddr *)&a, sizeof(a));
}
