/* SPDX-License-Identifier: Apache-2.0 */
/* preload_fd.c - libc's names that close, copy and set descriptors (preload.h). */
#define _GNU_SOURCE
#include <linux/close_range.h>
#include <stdarg.h>

#include <sys/ioctl.h>

#include "fdtab.h"
#include "internal.h"
#include "preload.h"
#include "preload_stdio.h"

/* Returns whether fd is libtoe's. False in a child of vfork(), which runs on its parent's memory:
 * it closes or moves its own descriptor before exec, not the connection. */
static bool ours(int fd)
{
    return is_toe_fd(fd) && !tproc_borrowed();
}

EXPORT(int, close, (int fd))
{
    if (unlikely(tfd_is_internal(fd)))
        return terr(EBADF);
    if (ours(fd))
        return CARRY(toe_close(fd));
    return libc.close(fd);
}
EXPORT_ALIAS(int, __close, close, (int));

/* Closes a range without internal descriptors in the kernel. */
static int close_between(unsigned first, unsigned last, int flags)
{
    return first <= last ? libc.close_range(first, last, flags) : 0;
}

static void close_carried(unsigned first, unsigned last)
{
    unsigned fd;

    for (fd = first; fd < TFD_MAX && fd <= last; fd++)
        if (is_toe_fd((int)fd) && !tfd_is_internal((int)fd))
            toe_close((int)fd);
}

EXPORT(int, close_range, (unsigned first, unsigned last, int flags))
{
    int keep, r;

    /* The kernel alone handles invalid arguments, descriptors that are only marked, and those of a
     * child of vfork(). */
    if (first > last || (flags & ~(CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC)) ||
        (flags & CLOSE_RANGE_CLOEXEC) || tproc_borrowed())
        return libc.close_range(first, last, flags);
    close_carried(first, last);
    while ((keep = tfd_next_internal(first, last)) >= 0) {
        if ((unsigned)keep > first) {
            r = close_between(first, (unsigned)keep - 1, flags);
            if (r < 0)
                return r;
        }
        if ((unsigned)keep == last)
            return 0;
        first = (unsigned)keep + 1;
    }
    return close_between(first, last, flags);
}

EXPORT(void, closefrom, (int first))
{
    preload_close_range(first < 0 ? 0 : (unsigned)first, ~0u, 0);
}

EXPORT(int, dup, (int fd))
{
    return ours(fd) ? CARRY(toe_dup(fd)) : libc.dup(fd);
}

static int followed(int new_fd)
{
    if (new_fd >= 0 && new_fd <= STDERR_FILENO)
        preload_stdio_moved(new_fd);
    return new_fd;
}

EXPORT(int, dup2, (int fd, int new_fd))
{
    if (unlikely(tfd_is_internal(new_fd)) && !tproc_borrowed())
        return terr(EBADF);
    return ours(fd) || ours(new_fd) ? followed(CARRY(toe_dup2(fd, new_fd))) : libc.dup2(fd, new_fd);
}
EXPORT_ALIAS(int, __dup2, dup2, (int, int));

EXPORT(int, dup3, (int fd, int new_fd, int flags))
{
    if (unlikely(tfd_is_internal(new_fd)) && !tproc_borrowed())
        return terr(EBADF);
    return ours(fd) || ours(new_fd) ? followed(CARRY(toe_dup3(fd, new_fd, flags)))
                                    : libc.dup3(fd, new_fd, flags);
}

EXPORT(int, fcntl, (int fd, int cmd, ...))
{
    va_list args;
    long arg;

    va_start(args, cmd);
    arg = va_arg(args, long);
    va_end(args);
    return ours(fd) ? CARRY(toe_fcntl(fd, cmd, arg)) : libc.fcntl(fd, cmd, arg);
}
EXPORT_ALIAS(int, fcntl64, fcntl, (int, int, ...));
EXPORT_ALIAS(int, __fcntl, fcntl, (int, int, ...));

EXPORT(int, ioctl, (int fd, unsigned long request, ...))
{
    va_list args;
    void *arg;

    va_start(args, request);
    arg = va_arg(args, void *);
    va_end(args);
    return is_toe_fd(fd) ? CARRY(toe_ioctl(fd, request, arg)) : libc.ioctl(fd, request, arg);
}

/* libc's function would ask the placeholder. */
EXPORT(int, sockatmark, (int fd))
{
    int at = 0;
    int r = is_toe_fd(fd) ? CARRY(toe_ioctl(fd, SIOCATMARK, &at)) : libc.ioctl(fd, SIOCATMARK, &at);

    return r < 0 ? r : at;
}
