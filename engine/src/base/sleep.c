/* SPDX-License-Identifier: Apache-2.0 */
/* sleep.c - sleeping in the kernel, to the nanosecond where it can. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <sys/epoll.h>

#include "round/engine.h"

int engine_epoll(int ep, struct epoll_event *ev, int max, uint64_t ns)
{
    static atomic_int coarse; /* before Linux 5.11, and where a sandbox hides it */
    const struct timespec t = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
    uint64_t ms = ns / NS_PER_MS + (ns % NS_PER_MS != 0); /* late, not spinning */

    if (!atomic_load_explicit(&coarse, memory_order_relaxed)) {
        int n = epoll_pwait2(ep, ev, max, &t, NULL);

        if (n >= 0 || errno != ENOSYS)
            return n;
        atomic_store_explicit(&coarse, 1, memory_order_relaxed);
    }
    return epoll_wait(ep, ev, max, ms < INT_MAX ? (int)ms : INT_MAX);
}
