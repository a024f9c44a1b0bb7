/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preload_ring.c - io_uring (io_uring_setup(2)): the kernel executes the operations on a program's
 * rings, and has only placeholders for TOE sockets: it reports hang-ups of placeholders, and
 * success for a connect that the peer refused. So the creation of a ring fails as on a kernel
 * without io_uring, and programs use epoll. TOEHOLD_IO_URING=1 lets it pass, for programs that
 * use rings for files alone; with TOEHOLD_REQUIRE it is refused even then.
 *
 * A ring is created by syscall(2), or by liburing, which makes the system call directly.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/syscall.h>

#include "fdtab.h"
#include "internal.h"
#include "policy.h"
#include "preload.h"
#include "preload_ring.h"

int preload_ring_wanted(void)
{
    int saved = errno, must;

    if (tproc_borrowed())
        return 0;
    must = tpolicy_ring();
    errno = must ? ENOSYS : saved;
    return must ? -1 : 0;
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
        if (!found || preload_ring_wanted() < 0)                                                   \
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
