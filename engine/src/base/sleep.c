/* SPDX-License-Identifier: Apache-2.0 */
/* sleep.c - see sleep.h. Sleeps with nanosecond timeouts where the kernel supports them. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "sleep.h"

int engine_epoll(int ep, struct epoll_event *ev, int max, uint64_t ns)
{
    static atomic_int coarse; /* before Linux 5.11, or blocked by a sandbox */
    const struct timespec t = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
    uint64_t ms = ns / NS_PER_MS + (ns % NS_PER_MS != 0); /* rounded up: late, not spinning */

    if (!atomic_load_explicit(&coarse, memory_order_relaxed)) {
        int n = epoll_pwait2(ep, ev, max, &t, NULL);

        if (n >= 0 || errno != ENOSYS)
            return n;
        atomic_store_explicit(&coarse, 1, memory_order_relaxed);
    }
    return epoll_wait(ep, ev, max, ms < INT_MAX ? (int)ms : INT_MAX);
}

void engine_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

void engine_rest(uint64_t ns)
{
    uint64_t until = ns ? engine_clock() + ns : 0;

    do {
        engine_relax();
    } while (until && engine_clock() < until);
}

void wake_fd_write(int fd)
{
    uint64_t one = 1;

    /* Fails only when the counter is full, and then the thread is being woken already. */
    if (write(fd, &one, sizeof(one)) < 0)
        return;
}
