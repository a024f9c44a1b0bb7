/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preload_ring.c - io_uring (io_uring_setup(2)): the kernel executes the operations on a program's
 * rings, and has only placeholders for TOE sockets. So the creation of a ring is logged, once. With
 * TOEHOLD_REQUIRE it fails as on a kernel without io_uring: many programs then use epoll.
 *
 * A ring is created by syscall(2), or by liburing, which makes the system call directly.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "fdtab.h"
#include "internal.h"
#include "policy.h"
#include "preload.h"
#include "preload_ring.h"

#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup 425 /* the same on every architecture */
#endif

/* Checks whether a ring may be created. 0, or -1 with errno. */
static int ring_wanted(void)
{
    int saved = errno, must;

    if (tproc_borrowed())
        return 0;
    must = tpolicy_ring();
    errno = must ? ENOSYS : saved;
    return must ? -1 : 0;
}

/* Takes six arguments, as the C library does, which does not know their number either. */
static void take_six(va_list from, long to[6])
{
    for (unsigned i = 0; i < 6; i++)
        to[i] = va_arg(from, long);
}

#if defined(__x86_64__)
long raw_syscall(long n, ...)
{
    long a[6], r;
    va_list args;

    va_start(args, n);
    take_six(args, a);
    va_end(args);
    {
        register long r10 __asm__("r10") = a[3];
        register long r8 __asm__("r8") = a[4];
        register long r9 __asm__("r9") = a[5];

        __asm__ volatile("syscall"
                         : "=a"(r)
                         : "a"(n), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
                         : "rcx", "r11", "memory");
    }
    return (unsigned long)r > -4096ul ? (errno = (int)-r, -1) : r;
}
#else
/* Calls the C library's syscall(), resolved at the first call, which may precede the constructor.
 */
long raw_syscall(long n, ...)
{
    static long (*_Atomic known)(long, ...);
    long (*next)(long, ...) = known;
    long a[6];
    va_list args;

    if (!next) {
        void *found = dlsym(RTLD_NEXT, "syscall");

        if (!found)
            return terr(ENOSYS);
        __builtin_memcpy(&next, &found, sizeof found);
        known = next;
    }
    va_start(args, n);
    take_six(args, a);
    va_end(args);
    return next(n, a[0], a[1], a[2], a[3], a[4], a[5]);
}
#endif

EXPORT(long, syscall, (long n, ...))
{
    long a[6];
    va_list args;

    va_start(args, n);
    take_six(args, a);
    va_end(args);
    if (unlikely(n == SYS_io_uring_setup) && ring_wanted() < 0)
        return -1;
    return libc.syscall(n, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* Resolves a function of liburing. RTLD_NEXT does not search a library that was loaded by dlopen()
 * with RTLD_LOCAL, so that is tried by name. */
static void *liburing(const char *name)
{
    static const char *const libraries[] = {"liburing.so.2", "liburing.so.1"};
    void *found = dlsym(RTLD_NEXT, name);

    for (unsigned i = 0; !found && i < 2; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);

        if (!library)
            continue;
        found = dlsym(library, name);
        dlclose(library);
    }
    return found;
}

/* NOLINTBEGIN(bugprone-macro-parentheses): names and parameter lists cannot be parenthesised */
/* liburing returns a failure as the negative errno. */
#define RING(name, parameters, arguments)                                                          \
    EXPORT(int, name, parameters)                                                                  \
    {                                                                                              \
        int(*next) parameters;                                                                     \
        void *found = liburing(#name);                                                             \
                                                                                                   \
        if (!found || ring_wanted() < 0)                                                           \
            return -ENOSYS;                                                                        \
        __builtin_memcpy(&next, &found, sizeof found);                                             \
        return next arguments;                                                                     \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

RING(io_uring_queue_init, (unsigned n, void *ring, unsigned flags), (n, ring, flags))
RING(io_uring_queue_init_params, (unsigned n, void *ring, void *params), (n, ring, params))
RING(io_uring_queue_init_mem, (unsigned n, void *ring, void *params, void *buf, size_t size),
     (n, ring, params, buf, size))
RING(io_uring_setup, (unsigned n, void *params), (n, params))
