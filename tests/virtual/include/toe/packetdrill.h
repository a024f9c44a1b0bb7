/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packetdrill.h - the table of functions by which google/packetdrill drives a stack that is a
 * shared object (--so_filename): the order and the types of its members are packetdrill's binary
 * interface. Each member takes the userdata first and is otherwise the system call of its name.
 */
#ifndef TOE_PACKETDRILL_H
#define TOE_PACKETDRILL_H

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>

#pragma GCC visibility push(default)

struct packetdrill_interface {
    void *userdata;
    void (*free)(void *u);
    int (*socket)(void *u, int domain, int type, int protocol);
    int (*bind)(void *u, int fd, const struct sockaddr *addr, socklen_t len);
    int (*listen)(void *u, int fd, int backlog);
    int (*accept)(void *u, int fd, struct sockaddr *addr, socklen_t *len);
    int (*connect)(void *u, int fd, const struct sockaddr *addr, socklen_t len);
    ssize_t (*read)(void *u, int fd, void *buf, size_t n);
    ssize_t (*readv)(void *u, int fd, const struct iovec *iov, int count);
    ssize_t (*recv)(void *u, int fd, void *buf, size_t n, int flags);
    ssize_t (*recvfrom)(void *u, int fd, void *buf, size_t n, int flags, struct sockaddr *from,
                        socklen_t *len);
    ssize_t (*recvmsg)(void *u, int fd, struct msghdr *msg, int flags);
    ssize_t (*write)(void *u, int fd, const void *buf, size_t n);
    ssize_t (*writev)(void *u, int fd, const struct iovec *iov, int count);
    ssize_t (*send)(void *u, int fd, const void *buf, size_t n, int flags);
    ssize_t (*sendto)(void *u, int fd, const void *buf, size_t n, int flags,
                      const struct sockaddr *to, socklen_t len);
    ssize_t (*sendmsg)(void *u, int fd, const struct msghdr *msg, int flags);
    int (*fcntl)(void *u, int fd, int cmd, ...);
    int (*ioctl)(void *u, int fd, unsigned long request, ...);
    int (*close)(void *u, int fd);
    int (*shutdown)(void *u, int fd, int how);
    int (*getsockopt)(void *u, int fd, int level, int name, void *value, socklen_t *len);
    int (*setsockopt)(void *u, int fd, int level, int name, const void *value, socklen_t len);
    int (*poll)(void *u, struct pollfd *fds, nfds_t n, int timeout);
    /* An IP packet arrives at the stack: 0 or -1. */
    int (*netdev_send)(void *u, const void *packet, size_t n);
    /* The next IP packet that the stack sends, and when it did. *n: room, then its length. Waits
     * for it, however long that takes: 0, or -1. */
    int (*netdev_receive)(void *u, void *packet, size_t *n, long long *time_usecs);
    int (*usleep)(void *u, useconds_t usecs);
    int (*gettimeofday)(void *u, struct timeval *tv, struct timezone *tz);
    int (*epoll_create)(void *u, int size);
    int (*epoll_ctl)(void *u, int ep, int op, int fd, struct epoll_event *ev);
    int (*epoll_wait)(void *u, int ep, struct epoll_event *ev, int max, int timeout);
    int (*pipe)(void *u, int fds[2]);
    ssize_t (*splice)(void *u, int in, loff_t *in_off, int out, loff_t *out_off, size_t n,
                      unsigned flags);
};

/* The symbol that packetdrill loads: fills the table. flags: --so_flags, knobs as in virtual.h, or
 * NULL. An invalid flag ends the process with a message. */
void packetdrill_interface_init(const char *flags, struct packetdrill_interface *out);

#pragma GCC visibility pop

#endif
