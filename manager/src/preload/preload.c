/* SPDX-License-Identifier: Apache-2.0 */
/* preload.c - the start of libtoe_preload.so: resolves libc's own functions (preload.h). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>

#include "exec.h"
#include "inherit.h"
#include "internal.h"
#include "preload.h"
#include "preload_fault.h"
#include "preload_ring.h"
#include "signals.h"

/* ---- before the constructor: the system calls ---- */

static int raw_accept(int fd, struct sockaddr *addr, socklen_t *len)
{
    return sys_accept4(fd, addr, len, 0);
}

static ssize_t raw_send(int fd, const void *buf, size_t n, int flags)
{
    return sys_sendto(fd, buf, n, flags, NULL, 0);
}

static ssize_t raw_recv(int fd, void *buf, size_t n, int flags)
{
    return sys_recvfrom(fd, buf, n, flags, NULL, NULL);
}

static int raw_sendmmsg(int fd, struct mmsghdr *msgs, unsigned n, int flags)
{
    return (int)sys_call(SYS_sendmmsg, fd, msgs, n, flags);
}

static int raw_recvmmsg(int fd, struct mmsghdr *msgs, unsigned n, int flags, struct timespec *ts)
{
    return (int)sys_call(SYS_recvmmsg, fd, msgs, n, flags, ts);
}

/* p*v2 takes its position in two registers; 64-bit kernels ignore the second. */
static ssize_t raw_preadv2(int fd, const struct iovec *iov, int n, off_t at, int flags)
{
    return sys_call(SYS_preadv2, fd, iov, n, at, 0, flags);
}

static ssize_t raw_pwritev2(int fd, const struct iovec *iov, int n, off_t at, int flags)
{
    return sys_call(SYS_pwritev2, fd, iov, n, at, 0, flags);
}

static ssize_t raw_splice(int in, loff_t *in_at, int out, loff_t *out_at, size_t n, unsigned flags)
{
    return sys_call(SYS_splice, in, in_at, out, out_at, n, flags);
}

static int raw_execve(const char *path, char *const argv[], char *const envp[])
{
    return (int)sys_call(SYS_execve, path, argv, envp);
}

static int raw_execveat(int dir, const char *path, char *const argv[], char *const envp[],
                        int flags)
{
    return (int)sys_call(SYS_execveat, dir, path, argv, envp, flags);
}

static void raw__exit(int status)
{
    for (;;)
        sys_call(SYS_exit_group, status);
}

static int raw_close_range(unsigned first, unsigned last, int flags)
{
    return (int)sys_call(SYS_close_range, first, last, flags);
}

static int raw_dup2(int fd, int new_fd)
{
    /* dup3() rejects equal numbers; dup2() only checks that the number is open. */
    if (fd == new_fd)
        return sys_fcntl(fd, F_GETFD, 0) < 0 ? -1 : fd;
    return sys_dup3(fd, new_fd, 0);
}

static int raw_fcntl(int fd, int cmd, ...)
{
    va_list args;
    long arg;

    va_start(args, cmd);
    arg = va_arg(args, long);
    va_end(args);
    return sys_fcntl(fd, cmd, arg);
}

static int raw_ioctl(int fd, unsigned long request, ...)
{
    va_list args;
    void *arg;

    va_start(args, request);
    arg = va_arg(args, void *);
    va_end(args);
    return sys_ioctl(fd, request, arg);
}

static int raw_epoll_wait(int ep, struct epoll_event *events, int max, int timeout_ms)
{
    return sys_epoll_pwait(ep, events, max, timeout_ms, NULL);
}

static int raw_epoll_pwait2(int ep, struct epoll_event *events, int max,
                            const struct timespec *timeout, const sigset_t *mask)
{
    return (int)sys_call(SYS_epoll_pwait2, ep, events, max, timeout, mask, (size_t)8);
}

/* Functions that only the C library has, and that resolving names does not need: resolved when they
 * are called. */
/* NOLINTBEGIN(bugprone-macro-parentheses): names and parameter lists cannot be parenthesised */
#define FOUND_LATER(type, name, failed, parameters, arguments)                                     \
    static type raw_##name parameters                                                              \
    {                                                                                              \
        type(*next) parameters;                                                                    \
        void *found = dlsym(RTLD_NEXT, #name);                                                     \
                                                                                                   \
        if (!found)                                                                                \
            return failed;                                                                         \
        __builtin_memcpy(&next, &found, sizeof found);                                             \
        return next arguments;                                                                     \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

FOUND_LATER(FILE *, fdopen, (errno = ENOSYS, NULL), (int fd, const char *mode), (fd, mode))
FOUND_LATER(FILE *, freopen, (errno = ENOSYS, NULL),
            (const char *path, const char *mode, FILE *file), (path, mode, file))
FOUND_LATER(FILE *, freopen64, (errno = ENOSYS, NULL),
            (const char *path, const char *mode, FILE *file), (path, mode, file))
FOUND_LATER(int, vdprintf, terr(ENOSYS), (int fd, const char *format, va_list args),
            (fd, format, args))
FOUND_LATER(int, __vdprintf_chk, terr(ENOSYS), (int fd, int flag, const char *format, va_list args),
            (fd, flag, format, args))
FOUND_LATER(int, execvpe, terr(ENOSYS), (const char *file, char *const argv[], char *const envp[]),
            (file, argv, envp))
FOUND_LATER(int, fexecve, terr(ENOSYS), (int fd, char *const argv[], char *const envp[]),
            (fd, argv, envp))
FOUND_LATER(int, posix_spawn, ENOSYS,
            (pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions,
             const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]),
            (pid, path, actions, attributes, argv, envp))
FOUND_LATER(int, posix_spawnp, ENOSYS,
            (pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions,
             const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]),
            (pid, path, actions, attributes, argv, envp))

/* As fileno() of the C library; a cookie file has no number. */
static int raw_fileno(FILE *file)
{
    return file->_fileno < 0 ? terr(EBADF) : file->_fileno;
}

TOE_HIDDEN struct libc libc = {
    .socket = sys_socket,
    .bind = sys_bind,
    .listen = sys_listen,
    .accept = raw_accept,
    .accept4 = sys_accept4,
    .connect = sys_connect,
    .shutdown = sys_shutdown,
    .getsockname = sys_getsockname,
    .getpeername = sys_getpeername,
    .getsockopt = sys_getsockopt,
    .setsockopt = sys_setsockopt,
    .send = raw_send,
    .sendto = sys_sendto,
    .sendmsg = sys_sendmsg,
    .sendmmsg = raw_sendmmsg,
    .recv = raw_recv,
    .recvfrom = sys_recvfrom,
    .recvmsg = sys_recvmsg,
    .recvmmsg = raw_recvmmsg,
    .read = sys_read,
    .readv = sys_readv,
    .write = sys_write,
    .writev = sys_writev,
    .preadv2 = raw_preadv2,
    .pwritev2 = raw_pwritev2,
    .sendfile = sys_sendfile,
    .splice = raw_splice,
    .close = sys_close,
    .close_range = raw_close_range,
    .dup = sys_dup,
    .dup2 = raw_dup2,
    .dup3 = sys_dup3,
    .fcntl = raw_fcntl,
    .ioctl = raw_ioctl,
    .syscall = sys_call,
    .poll = toe_poll,
    .ppoll = toe_ppoll,
    .select = toe_select,
    .pselect = toe_pselect,
    .epoll_ctl = sys_epoll_ctl,
    .epoll_wait = raw_epoll_wait,
    .epoll_pwait = sys_epoll_pwait,
    .epoll_pwait2 = raw_epoll_pwait2,
    .fdopen = raw_fdopen,
    .freopen = raw_freopen,
    .freopen64 = raw_freopen64,
    .fileno = raw_fileno,
    .fileno_unlocked = raw_fileno,
    .vdprintf = raw_vdprintf,
    .__vdprintf_chk = raw___vdprintf_chk,
    .execve = raw_execve,
    .execvpe = raw_execvpe,
    .fexecve = raw_fexecve,
    .execveat = raw_execveat,
    ._exit = raw__exit,
    .vfork = fork,
    .posix_spawn = raw_posix_spawn,
    .posix_spawnp = raw_posix_spawnp,
};

/* ---- start ---- */

/* Resolves names, and registers inherited listeners. Queue pairs are created later, at the first
 * socket that can use them: most processes of a preloaded shell script never open one. */
__attribute__((constructor)) static void start(void)
{
    void *found;

    tproc_own();
    pthread_atfork(NULL, NULL, tproc_own);
#define X(type, name, parameters)                                                                  \
    found = dlsym(RTLD_NEXT, #name);                                                               \
    if (found)                                                                                     \
        __builtin_memcpy(&libc.name, &found, sizeof found);
    LIBC_CALLS(X)
#undef X
    preload_fault_start();
    tsig_watch();
    texec_adopt();
    tinherit_all();
}
