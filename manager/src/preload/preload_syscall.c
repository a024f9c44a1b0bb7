/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preload_syscall.c - syscall(2): libraries make system calls by number too. libuv closes by
 * syscall(SYS_close), sandboxes and vsftpd create their processes by syscall(SYS_clone). A number
 * with a name in this library is carried as that name; all others are passed on.
 *
 * System calls by instructions of the program's own (Go, static liburing) are not seen here.
 */
#define _GNU_SOURCE
#include <grp.h>
#include <linux/sched.h>
#include <stdarg.h>
#include <string.h>
#include <sys/sendfile.h>

#include "fork.h"
#include "inherit.h"
#include "internal.h"
#include "preload.h"
#include "preload_ring.h"
#include "preload_spawn.h"

/* The same on every architecture; older headers lack it. */
#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup 425
#endif

/* NOLINTBEGIN(bugprone-macro-parentheses): names and parameter lists cannot be parenthesised */
#define DECLARED(type, name, parameters) type preload_##name parameters __asm__(#name);
/* NOLINTEND(bugprone-macro-parentheses) */
LIBC_CALLS(DECLARED)
DECLARED(int, epoll_create, (int))
DECLARED(int, epoll_create1, (int))
#undef DECLARED

struct call {
    long n, a[6];
};

static long pass(void *call)
{
    const struct call *c = call;

    return sys_call(c->n, c->a[0], c->a[1], c->a[2], c->a[3], c->a[4], c->a[5]);
}

/* ---- processes ---- */

static long make_child(void *call)
{
    return tfork_by(pass, call);
}

/*
 * A child with a memory of its own is a fork. One that runs on its parent's memory and stack while
 * the parent waits (as vfork()) would return through our frames, so it gets a copy of the memory,
 * and the parent waits until it executes a program. Others (threads, children with a stack of their
 * own) return elsewhere and are passed on.
 */
static bool is_fork(uint64_t flags, bool has_stack)
{
    return !has_stack && !(flags & CLONE_THREAD) &&
           (!(flags & CLONE_VM) || (flags & CLONE_VFORK)) && !tproc_borrowed();
}

static long make_process(struct call *c, bool wait)
{
    return wait ? preload_fork_and_wait(make_child, c) : make_child(c);
}

static long carry_clone(struct call *c)
{
    uint64_t flags = (unsigned long)c->a[0]; /* the first one, on x86-64, arm64 and RISC-V */

    if (!is_fork(flags, c->a[1] != 0))
        return pass(c);
    c->a[0] = (long)(flags & ~(uint64_t)(CLONE_VM | CLONE_VFORK));
    return make_process(c, (flags & CLONE_VFORK) != 0);
}

static long carry_clone3(struct call *c)
{
    union {
        struct clone_args args;
        char room[256]; /* of kernels to come */
    } copy;
    size_t size = (size_t)c->a[1];
    uint64_t flags;

    if (size < CLONE_ARGS_SIZE_VER0 || size > sizeof copy ||
        tuser_copy(&copy, (const void *)c->a[0], size) < 0)
        return pass(c); /* EFAULT, EINVAL or E2BIG */
    flags = copy.args.flags;
    if (!is_fork(flags, copy.args.stack != 0))
        return pass(c);
    copy.args.flags = flags & ~(uint64_t)(CLONE_VM | CLONE_VFORK);
    c->a[0] = (long)&copy;
    return make_process(c, (flags & CLONE_VFORK) != 0);
}

#ifdef SYS_fork
static long carry_fork(struct call *c)
{
    return tproc_borrowed() ? pass(c) : make_child(c);
}

static long carry_vfork(struct call *c)
{
    c->n = SYS_fork;
    return tproc_borrowed() ? pass(c) : make_process(c, true);
}
#endif

/* A worker drops its privileges: it attaches before (preload_user.c). */
static long carry_rights(struct call *c)
{
    if (!tproc_borrowed())
        tctx_before_rights_change();
    return pass(c);
}

/* ---- waiting ---- */

/* The kernel's mask has 8 bytes, the C library's 128. Returns NULL for none, and a bad pointer as
 * it is: the call returns EFAULT. */
static const sigset_t *mask_of(long kernels, sigset_t *room)
{
    if (!kernels || tuser_unreadable((const void *)kernels, 8))
        return (const sigset_t *)kernels;
    sigemptyset(room);
    memcpy(room, (const void *)kernels, 8);
    return room;
}

static long carry_ppoll(const long a[6])
{
    sigset_t room;

    return preload_ppoll((struct pollfd *)a[0], (nfds_t)a[1], (const struct timespec *)a[2],
                         mask_of(a[3], &room));
}

static long carry_pselect(const long a[6])
{
    const long *mask = (const long *)a[5]; /* its address and its size */
    sigset_t room;

    return preload_pselect(
        (int)a[0], (fd_set *)a[1], (fd_set *)a[2], (fd_set *)a[3], (const struct timespec *)a[4],
        tuser_unreadable(mask, 16) ? (const sigset_t *)mask : mask_of(mask[0], &room));
}

static long carry_epoll_pwait(const long a[6])
{
    sigset_t room;

    return preload_epoll_pwait((int)a[0], (struct epoll_event *)a[1], (int)a[2], (int)a[3],
                               mask_of(a[4], &room));
}

static long carry_epoll_pwait2(const long a[6])
{
    sigset_t room;

    return preload_epoll_pwait2((int)a[0], (struct epoll_event *)a[1], (int)a[2],
                                (const struct timespec *)a[3], mask_of(a[4], &room));
}

/* ---- the table ---- */

static long carry_exit(struct call *c)
{
    preload__exit((int)c->a[0]);
    return pass(c);
}

#define INT(i)  ((int)a[i])
#define SIZE(i) ((size_t)a[i])
#define LEN(i)  ((socklen_t)a[i])
#define PTR(i)  ((void *)a[i])

/* Number, and what carries it. */
#define CARRIED(X)                                                                                 \
    X(read, preload_read(INT(0), PTR(1), SIZE(2)))                                                 \
    X(write, preload_write(INT(0), PTR(1), SIZE(2)))                                               \
    X(readv, preload_readv(INT(0), PTR(1), INT(2)))                                                \
    X(writev, preload_writev(INT(0), PTR(1), INT(2)))                                              \
    X(preadv2, preload_preadv2(INT(0), PTR(1), INT(2), a[3], INT(5)))                              \
    X(pwritev2, preload_pwritev2(INT(0), PTR(1), INT(2), a[3], INT(5)))                            \
    X(recvfrom, preload_recvfrom(INT(0), PTR(1), SIZE(2), INT(3), PTR(4), PTR(5)))                 \
    X(sendto, preload_sendto(INT(0), PTR(1), SIZE(2), INT(3), PTR(4), LEN(5)))                     \
    X(recvmsg, preload_recvmsg(INT(0), PTR(1), INT(2)))                                            \
    X(sendmsg, preload_sendmsg(INT(0), PTR(1), INT(2)))                                            \
    X(recvmmsg, preload_recvmmsg(INT(0), PTR(1), (unsigned)a[2], INT(3), PTR(4)))                  \
    X(sendmmsg, preload_sendmmsg(INT(0), PTR(1), (unsigned)a[2], INT(3)))                          \
    X(sendfile, preload_sendfile(INT(0), INT(1), PTR(2), SIZE(3)))                                 \
    X(splice, preload_splice(INT(0), PTR(1), INT(2), PTR(3), SIZE(4), (unsigned)a[5]))             \
    X(socket, preload_socket(INT(0), INT(1), INT(2)))                                              \
    X(bind, preload_bind(INT(0), PTR(1), LEN(2)))                                                  \
    X(listen, preload_listen(INT(0), INT(1)))                                                      \
    X(accept, preload_accept(INT(0), PTR(1), PTR(2)))                                              \
    X(accept4, preload_accept4(INT(0), PTR(1), PTR(2), INT(3)))                                    \
    X(connect, preload_connect(INT(0), PTR(1), LEN(2)))                                            \
    X(shutdown, preload_shutdown(INT(0), INT(1)))                                                  \
    X(getsockname, preload_getsockname(INT(0), PTR(1), PTR(2)))                                    \
    X(getpeername, preload_getpeername(INT(0), PTR(1), PTR(2)))                                    \
    X(getsockopt, preload_getsockopt(INT(0), INT(1), INT(2), PTR(3), PTR(4)))                      \
    X(setsockopt, preload_setsockopt(INT(0), INT(1), INT(2), PTR(3), LEN(4)))                      \
    X(close, preload_close(INT(0)))                                                                \
    X(close_range, preload_close_range((unsigned)a[0], (unsigned)a[1], INT(2)))                    \
    X(dup, preload_dup(INT(0)))                                                                    \
    X(dup3, preload_dup3(INT(0), INT(1), INT(2)))                                                  \
    X(fcntl, preload_fcntl(INT(0), INT(1), a[2]))                                                  \
    X(ioctl, preload_ioctl(INT(0), (unsigned long)a[1], a[2]))                                     \
    X(ppoll, carry_ppoll(a))                                                                       \
    X(pselect6, carry_pselect(a))                                                                  \
    X(epoll_create1, preload_epoll_create1(INT(0)))                                                \
    X(epoll_ctl, preload_epoll_ctl(INT(0), INT(1), INT(2), PTR(3)))                                \
    X(epoll_pwait, carry_epoll_pwait(a))                                                           \
    X(epoll_pwait2, carry_epoll_pwait2(a))                                                         \
    X(clone, carry_clone(c))                                                                       \
    X(clone3, carry_clone3(c))                                                                     \
    X(execve, preload_execve(PTR(0), PTR(1), PTR(2)))                                              \
    X(execveat, preload_execveat(INT(0), PTR(1), PTR(2), PTR(3), INT(4)))                          \
    X(exit_group, carry_exit(c))                                                                   \
    X(setuid, carry_rights(c))                                                                     \
    X(setgid, carry_rights(c))                                                                     \
    X(setreuid, carry_rights(c))                                                                   \
    X(setregid, carry_rights(c))                                                                   \
    X(setresuid, carry_rights(c))                                                                  \
    X(setresgid, carry_rights(c))                                                                  \
    X(setgroups, carry_rights(c))                                                                  \
    X(io_uring_setup, preload_ring_wanted() < 0 ? -1 : pass(c))

/* Newer architectures lack these. */
#if defined(__x86_64__)
#define CARRIED_BEFORE(X)                                                                          \
    X(poll, preload_poll(PTR(0), (nfds_t)a[1], INT(2)))                                            \
    X(select, preload_select(INT(0), PTR(1), PTR(2), PTR(3), PTR(4)))                              \
    X(epoll_create, preload_epoll_create(INT(0)))                                                  \
    X(epoll_wait, preload_epoll_wait(INT(0), PTR(1), INT(2), INT(3)))                              \
    X(dup2, preload_dup2(INT(0), INT(1)))                                                          \
    X(fork, carry_fork(c))                                                                         \
    X(vfork, carry_vfork(c))
#else
#define CARRIED_BEFORE(X)
#endif

/* The numbers that are carried; others return what the C library returns. */
static long carry(struct call *c)
{
    const long *a = c->a;

    switch (c->n) {
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a name to paste */
#define X(name, call)                                                                              \
    case SYS_##name:                                                                               \
        return (call);
        CARRIED(X)
        CARRIED_BEFORE(X)
#undef X
    default:
        return libc.syscall(c->n, a[0], a[1], a[2], a[3], a[4], a[5]);
    }
}

EXPORT(long, syscall, (long n, ...))
{
    struct call c = {.n = n};
    va_list args;

    /* six, as the C library takes them, which does not know their number either */
    va_start(args, n);
    for (unsigned i = 0; i < 6; i++)
        c.a[i] = va_arg(args, long);
    va_end(args);
    return carry(&c);
}
