/* SPDX-License-Identifier: Apache-2.0 */
/* calls.h - the socket calls that a TOE may carry. */
#ifndef LOAD_CALLS_H
#define LOAD_CALLS_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>

/* A set of calls: those of libc or of libtoe. */
struct load_calls {
    const char *name;
    int (*socket)(int, int, int);
    int (*bind)(int, const struct sockaddr *, socklen_t);
    int (*listen)(int, int);
    int (*accept4)(int, struct sockaddr *, socklen_t *, int);
    int (*connect)(int, const struct sockaddr *, socklen_t);
    ssize_t (*send)(int, const void *, size_t, int);
    ssize_t (*recv)(int, void *, size_t, int);
    ssize_t (*recvmsg)(int, struct msghdr *, int);
    int (*shutdown)(int, int);
    int (*close)(int);
    int (*setsockopt)(int, int, int, const void *, socklen_t);
    int (*getsockopt)(int, int, int, void *, socklen_t *);
    int (*epoll_create1)(int);
    int (*epoll_ctl)(int, int, int, struct epoll_event *);
    int (*epoll_wait)(int, struct epoll_event *, int, int);
    int (*epoll_pwait2)(int, struct epoll_event *, int, const struct timespec *, const sigset_t *);
    void (*prefetch)(const int *, unsigned); /* NULL: not available */
    /* toe_recv_borrow() and toe_recv_return(); NULL: not available */
    ssize_t (*borrow)(int, size_t, struct iovec[2], uint64_t *, int);
    int (*give_back)(int, uint64_t);
};
extern const struct load_calls load_libc, load_libtoe, load_libtoe_own;

#endif
