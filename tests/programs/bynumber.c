/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bynumber.c - a server that makes all system calls on its sockets by syscall(2), as libuv,
 * sandboxes and vsftpd do, and prints what they return.
 *
 *     bynumber calls ADDRESS PORT         one connection: every call once
 *     bynumber HOW ADDRESS PORT           a child per connection, made by HOW: fork, clone, clone3,
 *                                         vfork, clone-vfork or clone-pid (in a new PID namespace)
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "argument.h"

static long show(const char *what, long r)
{
    printf("%s: %ld%s%s\n", what, r < 0 ? -1 : r, r < 0 ? " " : "", r < 0 ? strerror(errno) : "");
    fflush(stdout);
    return r;
}

/* Descriptors may have other numbers beside those of libtoe. */
static int show_fd(const char *what, long r)
{
    show(what, r < 0 ? r : 0);
    return (int)r;
}

static int open_listener(char **argv)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port_argument(argv[3]))};
    int on = 1, fd = show_fd("socket", syscall(SYS_socket, AF_INET, SOCK_STREAM, 0));

    inet_pton(AF_INET, argv[2], &a.sin_addr);
    syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    show("bind", syscall(SYS_bind, fd, &a, sizeof a));
    show("listen", syscall(SYS_listen, fd, 8));
    return fd;
}

static void wait_calls(int fd)
{
    struct timespec ts = {5, 0};
    struct pollfd p = {.fd = fd, .events = POLLIN};
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = 7};
    sigset_t mask;
    struct {
        const sigset_t *set;
        size_t size;
    } both = {&mask, 8};
    fd_set set;
    int ep;

    sigemptyset(&mask);
    show("ppoll", syscall(SYS_ppoll, &p, 1, &ts, &mask, 8ul));
    ts = (struct timespec){5, 0};
    FD_ZERO(&set);
    FD_SET(fd, &set);
    show("pselect6", syscall(SYS_pselect6, fd + 1, &set, NULL, NULL, &ts, &both));
#ifdef SYS_poll
    {
        struct timeval tv = {5, 0};

        show("poll", syscall(SYS_poll, &p, 1, 5000));
        show("select", syscall(SYS_select, fd + 1, &set, NULL, NULL, &tv));
    }
#endif
    ep = show_fd("epoll_create1", syscall(SYS_epoll_create1, 0));
    show("epoll_ctl", syscall(SYS_epoll_ctl, ep, EPOLL_CTL_ADD, fd, &event));
    event.events = 0;
#ifdef SYS_epoll_wait
    show("epoll_wait", syscall(SYS_epoll_wait, ep, &event, 1, 5000));
#endif
    show("epoll_pwait", syscall(SYS_epoll_pwait, ep, &event, 1, 5000, &mask, 8ul));
    ts = (struct timespec){5, 0};
    show("epoll_pwait2", syscall(SYS_epoll_pwait2, ep, &event, 1, &ts, NULL, 8ul));
    printf("event %u %u\n", event.events, event.data.u32);
    syscall(SYS_close, ep);
}

static void number_calls(int fd)
{
    int waiting = 0, other, third;

    show("ioctl", syscall(SYS_ioctl, fd, FIONREAD, &waiting));
    printf("waiting %d\n", waiting);
    other = show_fd("dup", syscall(SYS_dup, fd));
    third = show_fd("dup3", syscall(SYS_dup3, fd, 60, O_CLOEXEC));
    show("F_GETFD", syscall(SYS_fcntl, third, F_GETFD));
    show("F_GETFL", syscall(SYS_fcntl, other, F_GETFL));
    show("close", syscall(SYS_close, other));
    show("close_range", syscall(SYS_close_range, 60, 60, 0));
#ifdef SYS_dup2
    show_fd("dup2", syscall(SYS_dup2, fd, 61));
    show("close", syscall(SYS_close, 61));
#endif
    show("closed", syscall(SYS_fcntl, 60, F_GETFD));
}

static void data_calls(int fd)
{
    char b[8] = "";
    struct iovec v = {b, 2};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
    struct mmsghdr mm = {.msg_hdr = m};

    show("read", syscall(SYS_read, fd, b, 2));
    show("recvfrom", syscall(SYS_recvfrom, fd, b, 2, 0, NULL, NULL));
    show("readv", syscall(SYS_readv, fd, &v, 1));
    show("recvmsg", syscall(SYS_recvmsg, fd, &m, 0));
    show("recvmmsg", syscall(SYS_recvmmsg, fd, &mm, 1, 0, NULL));
    show("preadv2", syscall(SYS_preadv2, fd, &v, 1, -1l, -1l, 0));
    show("none left", syscall(SYS_recvfrom, fd, b, 2, MSG_DONTWAIT, NULL, NULL));
    b[0] = 'x';
    b[1] = 'y';
    show("write", syscall(SYS_write, fd, b, 2));
    show("sendto", syscall(SYS_sendto, fd, b, 2, 0, NULL, 0ul));
    show("writev", syscall(SYS_writev, fd, &v, 1));
    show("sendmsg", syscall(SYS_sendmsg, fd, &m, 0));
    show("sendmmsg", syscall(SYS_sendmmsg, fd, &mm, 1, 0));
    show("pwritev2", syscall(SYS_pwritev2, fd, &v, 1, -1l, -1l, 0));
}

static void all_calls(int listener)
{
    struct sockaddr_in name;
    socklen_t len = sizeof name;
    int on = 1, value = 0, fd;
    char b[2];

    fd = show_fd("accept4", syscall(SYS_accept4, listener, &name, &len, 0));
    show("getpeername", syscall(SYS_getpeername, fd, &name, &len));
    show("getsockname", syscall(SYS_getsockname, fd, &name, &len));
    show("setsockopt", syscall(SYS_setsockopt, fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
    len = sizeof value;
    show("getsockopt", syscall(SYS_getsockopt, fd, IPPROTO_TCP, TCP_NODELAY, &value, &len));
    printf("TCP_NODELAY %d\n", value);
    wait_calls(fd);
    syscall(SYS_recvfrom, fd, b, 1, MSG_PEEK, NULL, NULL);
    number_calls(fd);
    data_calls(fd);
    show("shutdown", syscall(SYS_shutdown, fd, SHUT_WR));
    show("end", syscall(SYS_read, fd, b, 2)); /* the peer answers our FIN by its own */
    show("close", syscall(SYS_close, fd));
    show("closed", syscall(SYS_read, fd, b, 2));
}

static long make_child(const char *how)
{
    struct clone_args args = {.exit_signal = SIGCHLD};

    if (!strcmp(how, "clone"))
        return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (!strcmp(how, "clone-pid"))
        return syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWIPC | SIGCHLD, 0, 0, 0, 0);
    if (!strcmp(how, "clone-vfork"))
        return syscall(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, 0, 0, 0, 0);
    if (!strcmp(how, "clone3"))
        return syscall(SYS_clone3, &args, sizeof args);
#ifdef SYS_fork
    if (!strcmp(how, "vfork"))
        return syscall(SYS_vfork);
    return syscall(SYS_fork);
#else
    return fork();
#endif
}

/* The child moves the connection to standard input, as by inetd, greets its client by its port,
 * returns what it reads and ends. */
static void serve(int accepted, const char *how)
{
    int fd = dup2(accepted, STDIN_FILENO);
    struct sockaddr_in peer = {0};
    socklen_t len = sizeof peer;
    char b[64];
    long n;

    close(accepted);
    getpeername(fd, (struct sockaddr *)&peer, &len);
    n = snprintf(b, sizeof b, "child by %s, family %d, port %d\n", how, peer.sin_family,
                 ntohs(peer.sin_port));
    syscall(SYS_write, fd, b, n);
    while ((n = syscall(SYS_read, fd, b, sizeof b)) > 0)
        syscall(SYS_write, fd, b, n);
    syscall(SYS_exit_group, n == 0 ? 0 : 1);
}

int main(int argc, char **argv)
{
    int listener, fd, status;
    long pid;

    if (argc != 4) {
        fprintf(stderr, "usage: bynumber calls|fork|clone|clone3|vfork|clone-vfork|clone-pid "
                        "ADDRESS PORT\n");
        return 2;
    }
    listener = open_listener(argv);
    if (!strcmp(argv[1], "calls")) {
        all_calls(listener);
        return 0;
    }
    while ((fd = (int)syscall(SYS_accept4, listener, NULL, NULL, 0)) >= 0) {
        pid = make_child(argv[1]);
        if (pid == 0) {
            syscall(SYS_close, listener);
            serve(fd, argv[1]);
        }
        syscall(SYS_close, fd);
        if (pid < 0 || waitpid((pid_t)pid, &status, 0) != pid)
            return 1;
        printf("child ended with %d\n", WEXITSTATUS(status));
        fflush(stdout);
    }
    return 0;
}
