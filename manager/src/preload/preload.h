/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preload.h - declarations shared by the files of libtoe_preload.so.
 *
 * The library defines libc's names and precedes libc in the symbol search order. A call on a
 * descriptor in libtoe's table goes to toe_*. For any other descriptor it costs one bounded lookup,
 * and is forwarded to the next object that defines the name (struct libc), so other preloaded
 * libraries keep working and blocking calls remain cancellation points.
 */
#ifndef LIBTOE_PRELOAD_H
#define LIBTOE_PRELOAD_H

#include <limits.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "fdtab.h"
#include "listen_defer.h"
#include "user_memory.h"

/* Each name that is forwarded: return type, name, parameters. */
#define LIBC_CALLS(X)                                                                              \
    X(int, socket, (int, int, int))                                                                \
    X(int, bind, (int, const struct sockaddr *, socklen_t))                                        \
    X(int, listen, (int, int))                                                                     \
    X(int, accept, (int, struct sockaddr *, socklen_t *))                                          \
    X(int, accept4, (int, struct sockaddr *, socklen_t *, int))                                    \
    X(int, connect, (int, const struct sockaddr *, socklen_t))                                     \
    X(int, shutdown, (int, int))                                                                   \
    X(int, getsockname, (int, struct sockaddr *, socklen_t *))                                     \
    X(int, getpeername, (int, struct sockaddr *, socklen_t *))                                     \
    X(int, getsockopt, (int, int, int, void *, socklen_t *))                                       \
    X(int, setsockopt, (int, int, int, const void *, socklen_t))                                   \
    X(ssize_t, send, (int, const void *, size_t, int))                                             \
    X(ssize_t, sendto, (int, const void *, size_t, int, const struct sockaddr *, socklen_t))       \
    X(ssize_t, sendmsg, (int, const struct msghdr *, int))                                         \
    X(int, sendmmsg, (int, struct mmsghdr *, unsigned, int))                                       \
    X(ssize_t, recv, (int, void *, size_t, int))                                                   \
    X(ssize_t, recvfrom, (int, void *, size_t, int, struct sockaddr *, socklen_t *))               \
    X(ssize_t, recvmsg, (int, struct msghdr *, int))                                               \
    X(int, recvmmsg, (int, struct mmsghdr *, unsigned, int, struct timespec *))                    \
    X(ssize_t, read, (int, void *, size_t))                                                        \
    X(ssize_t, readv, (int, const struct iovec *, int))                                            \
    X(ssize_t, write, (int, const void *, size_t))                                                 \
    X(ssize_t, writev, (int, const struct iovec *, int))                                           \
    X(ssize_t, preadv2, (int, const struct iovec *, int, off_t, int))                              \
    X(ssize_t, pwritev2, (int, const struct iovec *, int, off_t, int))                             \
    X(ssize_t, sendfile, (int, int, off_t *, size_t))                                              \
    X(ssize_t, splice, (int, loff_t *, int, loff_t *, size_t, unsigned))                           \
    X(int, close, (int))                                                                           \
    X(int, close_range, (unsigned, unsigned, int))                                                 \
    X(int, dup, (int))                                                                             \
    X(int, dup2, (int, int))                                                                       \
    X(int, dup3, (int, int, int))                                                                  \
    X(int, fcntl, (int, int, ...))                                                                 \
    X(int, ioctl, (int, unsigned long, ...))                                                       \
    X(int, poll, (struct pollfd *, nfds_t, int))                                                   \
    X(int, ppoll, (struct pollfd *, nfds_t, const struct timespec *, const sigset_t *))            \
    X(int, select, (int, fd_set *, fd_set *, fd_set *, struct timeval *))                          \
    X(int, pselect,                                                                                \
      (int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *))              \
    X(long, syscall, (long, ...))                                                                  \
    X(int, epoll_ctl, (int, int, int, struct epoll_event *))                                       \
    X(int, epoll_wait, (int, struct epoll_event *, int, int))                                      \
    X(int, epoll_pwait, (int, struct epoll_event *, int, int, const sigset_t *))                   \
    X(int, epoll_pwait2,                                                                           \
      (int, struct epoll_event *, int, const struct timespec *, const sigset_t *))                 \
    X(FILE *, fdopen, (int, const char *))                                                         \
    X(FILE *, freopen, (const char *, const char *, FILE *))                                       \
    X(FILE *, freopen64, (const char *, const char *, FILE *))                                     \
    X(int, fileno, (FILE *))                                                                       \
    X(int, fileno_unlocked, (FILE *))                                                              \
    X(int, vdprintf, (int, const char *, va_list))                                                 \
    X(int, __vdprintf_chk, (int, int, const char *, va_list))                                      \
    X(int, execve, (const char *, char *const[], char *const[]))                                   \
    X(int, execvpe, (const char *, char *const[], char *const[]))                                  \
    X(int, fexecve, (int, char *const[], char *const[]))                                           \
    X(int, execveat, (int, const char *, char *const[], char *const[], int))                       \
    X(void, _exit, (int))                                                                          \
    X(pid_t, vfork, (void))                                                                        \
    X(int, posix_spawn,                                                                            \
      (pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,       \
       char *const[], char *const[]))                                                              \
    X(int, posix_spawnp,                                                                           \
      (pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,       \
       char *const[], char *const[]))

struct libc {
/* NOLINTNEXTLINE(bugprone-macro-parentheses): types and names cannot be in parentheses */
#define X(type, name, parameters) type(*name) parameters;
    LIBC_CALLS(X)
#undef X
};

/* Filled once, before main(). Until then (a constructor of another library makes a call) the
 * entries make the system calls, so that no call ever has to wait for dlsym(). */
extern TOE_HIDDEN struct libc libc;

/*
 * EXPORT(type, name, parameters) begins the definition of libc's `name`. The compiler sees another
 * name, because libc's headers declare some names with types that only they can use.
 */
#define EXPORT(type, name, parameters)                                                             \
    type preload_##name parameters __asm__(#name) __attribute__((visibility("default")));          \
    type preload_##name parameters

/* Exports the function `target` under one more name. */
#define EXPORT_ALIAS(type, name, target, parameters)                                               \
    type preload_##name parameters __asm__(#name)                                                  \
        __attribute__((alias(#target), visibility("default")))

/* Returns whether the descriptor is libtoe's. */
static inline bool is_toe_fd(int fd)
{
    return unlikely(tobj_get(fd) != NULL);
}

/* Called when the program is about to wait, or to read, which may wait (listen_defer.c). */
static inline void waits(void)
{
    if (unlikely(tlisten_later))
        tlisten_goes_on();
}

static inline void reads(int fd)
{
    if (unlikely(tlisten_later))
        tlisten_reads(fd);
}

/* The value of a toe_* call. Restores errno unless the call failed: a system call that succeeds
 * leaves errno unchanged, and programs rely on that. */
#define CARRY(call)                                                                                \
    __extension__({                                                                                \
        int errno_before_ = errno;                                                                 \
        __typeof__(call) result_ = (call);                                                         \
        if (result_ >= 0)                                                                          \
            errno = errno_before_;                                                                 \
        result_;                                                                                   \
    })

/* The same for a call that blocks: a cancellation point (pthreads(7)) at its beginning. */
#define CARRY_BLOCKING(call)                                                                       \
    __extension__({                                                                                \
        pthread_testcancel();                                                                      \
        CARRY(call);                                                                               \
    })

/* EFAULT where the pointer cannot be the program's memory, else the value of the call. */
#define CHECKED(bad, call)                                                                         \
    __extension__({                                                                                \
        __typeof__(call) checked_;                                                                 \
        if (unlikely(bad))                                                                         \
            checked_ = terr(EFAULT);                                                               \
        else                                                                                       \
            checked_ = (call);                                                                     \
        checked_;                                                                                  \
    })

/* Of an argument that may be NULL. */
static inline bool bad_or_null(const void *p, size_t n)
{
    return p && tuser_unreadable(p, n);
}

/* Of an address that the call reads; the C library's NULL is bad too. */
static inline bool bad_address(const struct sockaddr *addr, socklen_t len)
{
    return tuser_bad(addr) ||
           tuser_unreadable(addr,
                            len < sizeof(struct sockaddr_in6) ? len : sizeof(struct sockaddr_in6));
}

/* Of an address of a peer or a socket, which the call fills in, and its length. */
static inline bool bad_name(struct sockaddr *addr, socklen_t *len)
{
    return tuser_unwritable(len, sizeof *len) ||
           tuser_unwritable(addr, *len < sizeof(struct sockaddr_in6) ? *len
                                                                     : sizeof(struct sockaddr_in6));
}

/* Of a buffer of n bytes. */
static inline bool bad_buffer(const void *p, size_t n)
{
    return n && tuser_bad(p);
}

/* Of an array of n pieces, and of each piece. */
static inline bool bad_vector(const struct iovec *v, size_t n)
{
    if (tuser_unreadable(v, (n < IOV_MAX ? n : IOV_MAX) * sizeof *v))
        return true;
    for (size_t i = 0; i < n && i < IOV_MAX; i++)
        if (unlikely(bad_buffer(v[i].iov_base, v[i].iov_len)))
            return true;
    return false;
}

static inline bool bad_messages(struct mmsghdr *m, unsigned n)
{
    return tuser_unwritable(m, (n < IOV_MAX ? n : IOV_MAX) * sizeof *m);
}

static inline bool bad_message(const struct msghdr *m)
{
    return tuser_unreadable(m, sizeof *m) || bad_vector(m->msg_iov, m->msg_iovlen);
}

/* Of what receives: with MSG_TRUNC a stream's bytes are discarded, and the buffer is not touched.
 */
static inline bool bad_room(const void *p, size_t n, int flags)
{
    return !(flags & MSG_TRUNC) && bad_buffer(p, n);
}

static inline bool bad_to_receive(struct msghdr *m, int flags)
{
    return tuser_unwritable(m, sizeof *m) ||
           (!(flags & MSG_TRUNC) && bad_vector(m->msg_iov, m->msg_iovlen));
}

#endif
