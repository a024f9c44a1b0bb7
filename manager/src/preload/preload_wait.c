/* SPDX-License-Identifier: Apache-2.0 */
/* preload_wait.c - libc's names that wait for descriptors (preload.h). */
#define _GNU_SOURCE
#include <limits.h>

#include "pollset.h"
#include "preload.h"
#include "select.h"

#define MASK_SIZE 8 /* of the kernel's sigset_t */

EXPORT(int, poll, (struct pollfd * fds, nfds_t n, int timeout_ms))
{
    return tpoll_any(fds, n) ? CARRY_BLOCKING(toe_poll(fds, n, timeout_ms))
                             : (waits(), libc.poll(fds, n, timeout_ms));
}
EXPORT_ALIAS(int, __poll, poll, (struct pollfd *, nfds_t, int));

EXPORT(int, ppoll,
       (struct pollfd * fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask))
{
    return tpoll_any(fds, n)
               ? CHECKED(bad_or_null(timeout, sizeof *timeout) || bad_or_null(mask, MASK_SIZE),
                         CARRY_BLOCKING(toe_ppoll(fds, n, timeout, mask)))
               : (waits(), libc.ppoll(fds, n, timeout, mask));
}

EXPORT(int, select, (int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *timeout))
{
    return tselect_any(n, r, w, e) ? CHECKED(bad_or_null(timeout, sizeof *timeout),
                                             CARRY_BLOCKING(toe_select(n, r, w, e, timeout)))
                                   : (waits(), libc.select(n, r, w, e, timeout));
}
EXPORT_ALIAS(int, __select, select, (int, fd_set *, fd_set *, fd_set *, struct timeval *));

EXPORT(int, pselect,
       (int n, fd_set *r, fd_set *w, fd_set *e, const struct timespec *timeout,
        const sigset_t *mask))
{
    return tselect_any(n, r, w, e)
               ? CHECKED(bad_or_null(timeout, sizeof *timeout) || bad_or_null(mask, MASK_SIZE),
                         CARRY_BLOCKING(toe_pselect(n, r, w, e, timeout, mask)))
               : (waits(), libc.pselect(n, r, w, e, timeout, mask));
}

/* ---- epoll: libtoe sees the creation of each instance, as of each socket ---- */

EXPORT(int, epoll_create, (int size))
{
    return CARRY(toe_epoll_create(size));
}

EXPORT(int, epoll_create1, (int flags))
{
    return CARRY(toe_epoll_create1(flags));
}

EXPORT(int, epoll_ctl, (int ep, int op, int fd, struct epoll_event *event))
{
    return is_toe_fd(ep) || is_toe_fd(fd)
               ? CHECKED(op != EPOLL_CTL_DEL && tuser_unreadable(event, sizeof *event),
                         CARRY(toe_epoll_ctl(ep, op, fd, event)))
               : libc.epoll_ctl(ep, op, fd, event);
}

/* Waits with no place for events. As on Linux that is EFAULT only once there is one, except for an
 * address of the kernel's. */
static int wait_without_room(int ep, const struct epoll_event *events, int timeout_ms,
                             const sigset_t *mask)
{
    struct epoll_event one;
    int n;

    if ((intptr_t)events < 0)
        return terr(EFAULT);
    n = toe_epoll_pwait(ep, &one, 1, timeout_ms, mask);
    return n > 0 ? terr(EFAULT) : n;
}

static int wait_on_toe(int ep, struct epoll_event *events, int max, int timeout_ms,
                       const sigset_t *mask)
{
    return unlikely(max > 0 && tuser_unwritable(events, sizeof *events))
               ? wait_without_room(ep, events, timeout_ms, mask)
               : toe_epoll_pwait(ep, events, max, timeout_ms, mask);
}

EXPORT(int, epoll_wait, (int ep, struct epoll_event *events, int max, int timeout_ms))
{
    return is_toe_fd(ep) ? CARRY_BLOCKING(wait_on_toe(ep, events, max, timeout_ms, NULL))
                         : (waits(), libc.epoll_wait(ep, events, max, timeout_ms));
}

EXPORT(int, epoll_pwait,
       (int ep, struct epoll_event *events, int max, int timeout_ms, const sigset_t *mask))
{
    return is_toe_fd(ep) ? CARRY_BLOCKING(wait_on_toe(ep, events, max, timeout_ms, mask))
                         : (waits(), libc.epoll_pwait(ep, events, max, timeout_ms, mask));
}

EXPORT(int, epoll_pwait2,
       (int ep, struct epoll_event *events, int max, const struct timespec *timeout,
        const sigset_t *mask))
{
    return is_toe_fd(ep) ? CHECKED(max > 0 && tuser_unwritable(events, sizeof *events),
                                   CARRY_BLOCKING(toe_epoll_pwait2(ep, events, max, timeout, mask)))
                         : (waits(), libc.epoll_pwait2(ep, events, max, timeout, mask));
}

/* ---- variants of -D_FORTIFY_SOURCE, with the array's true size ---- */

extern void __chk_fail(void) __attribute__((noreturn));

EXPORT(int, __poll_chk, (struct pollfd * fds, nfds_t n, int timeout_ms, size_t size))
{
    if (size / sizeof *fds < n)
        __chk_fail();
    return preload_poll(fds, n, timeout_ms);
}

EXPORT(int, __ppoll_chk,
       (struct pollfd * fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask,
        size_t size))
{
    if (size / sizeof *fds < n)
        __chk_fail();
    return preload_ppoll(fds, n, timeout, mask);
}
