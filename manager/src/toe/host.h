/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.h - the machine under libtoe (host.c; tests/virtual/ has another). Functions that may sleep
 * are called without the lock.
 */
#ifndef LIBTOE_HOST_H
#define LIBTOE_HOST_H

#include "libtoe.h"

/* CLOCK_MONOTONIC in nanoseconds. */
TOE_HIDDEN uint64_t tclock_ns(void);
/* As sys_ppoll() and sys_epoll_pwait(), on that clock. note: of tsig_note(), or NULL. */
TOE_HIDDEN int thost_ppoll(struct pollfd *fds, nfds_t n, struct timespec *ts, const sigset_t *mask,
                           const volatile sig_atomic_t *note);
TOE_HIDDEN int thost_epoll_pwait(int ep, struct epoll_event *ev, int max, int timeout_ms,
                                 const sigset_t *mask);
/* As epoll_pwait2(), until a time of that clock; UINT64_MAX: no limit. */
TOE_HIDDEN int thost_epoll_until(int ep, struct epoll_event *ev, int max, uint64_t deadline,
                                 const sigset_t *mask, const volatile sig_atomic_t *note);
/* Gives the TOE a chance to run while this thread polls for its commands. looks counts the calls of
 * one wait from 0: the thread sleeps after the first ones. */
TOE_HIDDEN void thost_yield(unsigned looks);
/* Connects the Unix socket fd to toed, which listens at path. 0, or -1 with errno. */
TOE_HIDDEN int thost_attach(int fd, const char *path);
static inline uint64_t tclock_deadline(uint64_t ns) /* 0: no limit */
{
    return ns ? tclock_ns() + ns : TWAIT_FOREVER;
}

#endif
