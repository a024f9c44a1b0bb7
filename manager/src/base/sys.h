/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sys.h - the kernel, called directly. libtoe never calls libc's socket functions, because under
 * libtoe_preload.so those names lead back into libtoe. Each sys_* has the arguments, the result and
 * the errno of the call it is named after.
 */
#ifndef LIBTOE_SYS_H
#define LIBTOE_SYS_H

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* As syscall(2): the result, or -1 with errno. */
__attribute__((visibility("hidden"))) long sys_call(long n, ...);

static inline int sys_socket(int domain, int type, int protocol)
{
    return (int)sys_call(SYS_socket, domain, type, protocol);
}
static inline int sys_bind(int fd, const struct sockaddr *a, socklen_t n)
{
    return (int)sys_call(SYS_bind, fd, a, n);
}
static inline int sys_listen(int fd, int backlog)
{
    return (int)sys_call(SYS_listen, fd, backlog);
}
static inline int sys_accept4(int fd, struct sockaddr *a, socklen_t *n, int flags)
{
    return (int)sys_call(SYS_accept4, fd, a, n, flags);
}
static inline int sys_connect(int fd, const struct sockaddr *a, socklen_t n)
{
    return (int)sys_call(SYS_connect, fd, a, n);
}
static inline int sys_getsockname(int fd, struct sockaddr *a, socklen_t *n)
{
    return (int)sys_call(SYS_getsockname, fd, a, n);
}
static inline int sys_getpeername(int fd, struct sockaddr *a, socklen_t *n)
{
    return (int)sys_call(SYS_getpeername, fd, a, n);
}
static inline int sys_getsockopt(int fd, int level, int name, void *v, socklen_t *n)
{
    return (int)sys_call(SYS_getsockopt, fd, level, name, v, n);
}
static inline int sys_setsockopt(int fd, int level, int name, const void *v, socklen_t n)
{
    return (int)sys_call(SYS_setsockopt, fd, level, name, v, n);
}
static inline int sys_shutdown(int fd, int how)
{
    return (int)sys_call(SYS_shutdown, fd, how);
}
static inline int sys_close(int fd)
{
    return (int)sys_call(SYS_close, fd);
}
static inline ssize_t sys_read(int fd, void *b, size_t n)
{
    return sys_call(SYS_read, fd, b, n);
}
static inline ssize_t sys_write(int fd, const void *b, size_t n)
{
    return sys_call(SYS_write, fd, b, n);
}
static inline ssize_t sys_readv(int fd, const struct iovec *v, int n)
{
    return sys_call(SYS_readv, fd, v, n);
}
static inline ssize_t sys_writev(int fd, const struct iovec *v, int n)
{
    return sys_call(SYS_writev, fd, v, n);
}
static inline ssize_t sys_pread(int fd, void *b, size_t n, off_t at)
{
    return sys_call(SYS_pread64, fd, b, n, at);
}
static inline ssize_t sys_sendto(int fd, const void *b, size_t n, int flags,
                                 const struct sockaddr *a, socklen_t al)
{
    return sys_call(SYS_sendto, fd, b, n, flags, a, al);
}
static inline ssize_t sys_recvfrom(int fd, void *b, size_t n, int flags, struct sockaddr *a,
                                   socklen_t *al)
{
    return sys_call(SYS_recvfrom, fd, b, n, flags, a, al);
}
static inline ssize_t sys_sendmsg(int fd, const struct msghdr *m, int flags)
{
    return sys_call(SYS_sendmsg, fd, m, flags);
}
static inline ssize_t sys_recvmsg(int fd, struct msghdr *m, int flags)
{
    return sys_call(SYS_recvmsg, fd, m, flags);
}
static inline ssize_t sys_sendfile(int out, int in, off_t *off, size_t n)
{
    return sys_call(SYS_sendfile, out, in, off, n);
}
static inline int sys_fcntl(int fd, int cmd, long arg)
{
    return (int)sys_call(SYS_fcntl, fd, cmd, arg);
}
static inline int sys_ioctl(int fd, unsigned long request, void *arg)
{
    return (int)sys_call(SYS_ioctl, fd, request, arg);
}
static inline int sys_dup(int fd)
{
    return (int)sys_call(SYS_dup, fd);
}
static inline int sys_dup3(int fd, int new_fd, int flags)
{
    return (int)sys_call(SYS_dup3, fd, new_fd, flags);
}
static inline int sys_eventfd(unsigned count, int flags)
{
    return (int)sys_call(SYS_eventfd2, count, flags);
}
static inline int sys_epoll_create1(int flags)
{
    return (int)sys_call(SYS_epoll_create1, flags);
}
static inline int sys_epoll_ctl(int ep, int op, int fd, struct epoll_event *ev)
{
    return (int)sys_call(SYS_epoll_ctl, ep, op, fd, ev);
}
/* The kernel's signal set is 64 signals, 8 bytes, whatever the size of libc's sigset_t. */
static inline int sys_epoll_pwait(int ep, struct epoll_event *ev, int max, int timeout_ms,
                                  const sigset_t *mask)
{
    return (int)sys_call(SYS_epoll_pwait, ep, ev, max, timeout_ms, mask, (size_t)8);
}
/* The kernel writes the remaining time into *ts: pass a copy. */
static inline int sys_ppoll(struct pollfd *fds, nfds_t n, struct timespec *ts, const sigset_t *mask)
{
    return (int)sys_call(SYS_ppoll, fds, n, ts, mask, (size_t)8);
}

#endif
