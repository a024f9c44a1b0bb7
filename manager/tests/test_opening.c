/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_opening.c - aborted connects, Fast Open and urgent data with Linux's semantics (tcp(7)),
 * over looptoe.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <pthread.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "harness.h"

/* ---- aborted connects ---- */

/* The slot of an unanswered connect is free as soon as it is closed, not minutes later. */
static void closing_a_connect_cancels_it(void **state)
{
    int fd[2 * SLOTS];

    (void)state;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < SLOTS / 2; i++)
            fd[i] = harness_connect_async(LOOPTOE_SILENT);
        for (int i = 0; i < SLOTS / 2; i++)
            assert_int_equal(toe_close(fd[i]), 0);
    }
    harness_slots(0);
    toe_close(harness_connect_async(LOOPTOE_SILENT));
    harness_pair(fd); /* no harm done */
    toe_close(fd[0]);
    toe_close(fd[1]);
}

/* ... also by shutdown(), as on Linux. */
static void shutdown_of_a_connect(void **state)
{
    int fd = harness_connect_async(LOOPTOE_SILENT);

    (void)state;
    assert_int_equal(toe_shutdown(fd, SHUT_RDWR), 0);
    assert_int_equal(harness_wait(fd, POLLIN | POLLOUT), POLLOUT | POLLHUP | POLLERR);
    assert_int_equal(toe_close(fd), 0);
}

static void options_of_connects(void **state)
{
    int fd = toe_socket(AF_INET, SOCK_STREAM, 0), v = 3;
    socklen_t len = sizeof(v);

    (void)state;
    assert_int_equal(toe_setsockopt(fd, IPPROTO_TCP, TCP_SYNCNT, &v, sizeof(v)), 0);
    v = 0;
    assert_int_equal(toe_getsockopt(fd, IPPROTO_TCP, TCP_SYNCNT, &v, &len), 0);
    assert_int_equal(v, 3);
    toe_close(fd);
    fd = harness_connect_async(LOOPTOE_SILENT);
    v = 128;
    assert_int_equal(toe_setsockopt(fd, IPPROTO_TCP, TCP_SYNCNT, &v, sizeof(v)), -1);
    assert_int_equal(errno, EINVAL);
    v = 5;
    assert_int_equal(toe_setsockopt(fd, IPPROTO_TCP, TCP_SYNCNT, &v, sizeof(v)), 0);
    v = 0;
    assert_int_equal(toe_getsockopt(fd, IPPROTO_TCP, TCP_SYNCNT, &v, &len), 0);
    assert_int_equal(v, 5);
    v = 60;
    assert_int_equal(toe_setsockopt(fd, IPPROTO_TCP, TOE_TCP_UTO, &v, sizeof(v)), 0);
    v = -1;
    assert_int_equal(toe_setsockopt(fd, IPPROTO_TCP, TOE_TCP_UTO, &v, sizeof(v)), -1);
    toe_close(fd);
}

/* ---- Fast Open ---- */

#define PORT 7100

static int fast_listener(void)
{
    int fd = harness_listener(PORT), v = 16;

    assert_int_equal(toe_setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN, &v, sizeof(v)), 0);
    return fd;
}

static ssize_t fast_send(int fd, const void *buf, size_t n)
{
    struct sockaddr_in a = harness_address(LOOPTOE_PEER_IP, PORT);

    return toe_sendto(fd, buf, n, MSG_FASTOPEN, (struct sockaddr *)&a, sizeof(a));
}

static void expect(int listener, const char *text)
{
    char in[64] = "";
    int fd = toe_accept(listener, NULL, NULL);

    assert_true(fd >= 0);
    assert_int_equal(toe_recv(fd, in, strlen(text), MSG_WAITALL), strlen(text));
    assert_string_equal(in, text);
    toe_close(fd);
}

/* A blocking sendto() sends all, with a cookie or without one. */
static void msg_fastopen(void **state)
{
    int listener = fast_listener();

    (void)state;
    for (int i = 0; i < 3; i++) {
        int fd = toe_socket(AF_INET, SOCK_STREAM, 0);

        assert_int_equal(fast_send(fd, "hello", 5), 5);
        expect(listener, "hello");
        assert_int_equal(fast_send(fd, "again", 5), -1);
        assert_int_equal(errno, EISCONN);
        toe_close(fd);
    }
    toe_close(listener);
}

/* Non-blocking: EINPROGRESS and nothing sent while a cookie is fetched, else the accepted bytes. */
static void msg_fastopen_nonblocking(void **state)
{
    int listener = fast_listener(), fd = toe_socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    ssize_t n = fast_send(fd, "hello", 5);
    char in[8];

    (void)state;
    if (n < 0) { /* looptoe may have answered in the meantime */
        assert_int_equal(errno, EINPROGRESS);
        harness_wait(fd, POLLOUT);
        n = toe_send(fd, "hello", 5, 0);
    }
    assert_int_equal(fast_send(fd, "", SIZE_MAX), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(n, 5);
    expect(listener, "hello");
    toe_close(fd);
    fd = toe_socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    assert_int_equal(fast_send(fd, "hello", 5), 5);
    assert_int_equal(toe_recv(fd, in, 1, 0), -1);
    assert_int_equal(errno, EAGAIN);
    expect(listener, "hello");
    harness_wait(fd, POLLOUT);
    toe_close(fd);
    toe_close(listener);
}

/* connect() returns immediately, write() opens the connection. */
static void fastopen_connect(void **state)
{
    struct sockaddr_in a = harness_address(LOOPTOE_PEER_IP, PORT);
    int listener = fast_listener(), one = 1;

    (void)state;
    for (int i = 0; i < 3; i++) {
        int fd = toe_socket(AF_INET, SOCK_STREAM, 0);
        struct pollfd p = {fd, POLLOUT | POLLIN, 0}, l = {listener, POLLIN, 0};

        assert_int_equal(toe_setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &one, sizeof(one)),
                         0);
        assert_int_equal(toe_connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
        if (i) { /* with a cookie: nothing has been sent */
            assert_int_equal(toe_poll(&l, 1, 20), 0);
            assert_int_equal(toe_connect(fd, (struct sockaddr *)&a, sizeof(a)), -1);
            assert_int_equal(errno, EISCONN);
        }
        assert_int_equal(toe_poll(&p, 1, 20000), 1);
        assert_int_equal(p.revents, POLLOUT);
        assert_int_equal(toe_write(fd, "hello", 5), 5);
        expect(listener, "hello");
        toe_close(fd);
    }
    toe_close(listener);
}

/* Without a write nothing is sent, and the slot is freed. Without a listener: the error of
 * connect(). */
static void fastopen_given_up(void **state)
{
    struct sockaddr_in a = harness_address(LOOPTOE_PEER_IP, PORT);
    int listener = fast_listener(), one = 1, fd = toe_socket(AF_INET, SOCK_STREAM, 0);
    char in[1];

    (void)state;
    toe_setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_NO_COOKIE, &one, sizeof(one));
    toe_setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &one, sizeof(one));
    assert_int_equal(toe_connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    toe_close(fd);
    harness_slots(0);
    toe_close(listener);
    fd = toe_socket(AF_INET, SOCK_STREAM, 0);
    toe_setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_NO_COOKIE, &one, sizeof(one));
    assert_int_equal(fast_send(fd, "hello", 5), -1); /* it waits for the handshake */
    assert_int_equal(errno, ECONNREFUSED);
    toe_close(fd);
    fd = toe_socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    toe_setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_NO_COOKIE, &one, sizeof(one));
    assert_int_equal(fast_send(fd, "hello", 5), 5);
    harness_wait(fd, POLLIN);
    assert_int_equal(toe_recv(fd, in, 1, 0), -1);
    assert_int_equal(errno, ECONNREFUSED);
    toe_close(fd);
    harness_slots(0);
}

static void fastopen_options(void **state)
{
    int listener = fast_listener(), v = -1, fd[2];
    uint8_t key[32] = {1, 2, 3};
    socklen_t len = sizeof(v);

    (void)state;
    assert_int_equal(toe_setsockopt(listener, IPPROTO_TCP, TCP_FASTOPEN, &v, sizeof(v)), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(toe_getsockopt(listener, IPPROTO_TCP, TCP_FASTOPEN, &v, &len), 0);
    assert_int_equal(v, 16);
    assert_int_equal(toe_setsockopt(listener, IPPROTO_TCP, TCP_FASTOPEN_KEY, key, 16), 0);
    assert_int_equal(toe_setsockopt(listener, IPPROTO_TCP, TCP_FASTOPEN_KEY, key, 32), 0);
    assert_int_equal(toe_setsockopt(listener, IPPROTO_TCP, TCP_FASTOPEN_KEY, key, 15), -1);
    assert_int_equal(errno, EINVAL);
    toe_close(listener);
    harness_pair(fd);
    v = 1;
    assert_int_equal(toe_setsockopt(fd[0], IPPROTO_TCP, TCP_FASTOPEN, &v, sizeof(v)), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(toe_setsockopt(fd[0], IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &v, sizeof(v)), -1);
    assert_int_equal(errno, EINVAL);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

/* No data: the SYN goes at once. */
static void fastopen_without_data(void **state)
{
    int listener = fast_listener();

    (void)state;
    for (int i = 0; i < 2; i++) {
        int fd = toe_socket(AF_INET, SOCK_STREAM, 0), end;

        assert_int_equal(fast_send(fd, "", 0), 0);
        harness_wait(listener, POLLIN);
        end = toe_accept(listener, NULL, NULL);
        assert_true(end >= 0);
        toe_close(end);
        toe_close(fd);
    }
    toe_close(listener);
}

#define LATE 100000000L /* ns */

static void *go_on(void *unused)
{
    struct timespec late = {0, LATE};

    nanosleep(&late, NULL);
    return kill(harness_toe(), SIGCONT) == 0 ? unused : NULL;
}

/* A connection made after setsockopt() sees the option: the call waits for a slow TOE. */
static void options_of_listeners_hold_at_once(void **state)
{
    static const int names[] = {TCP_FASTOPEN, TCP_FASTOPEN_NO_COOKIE, TCP_MAXSEG};
    int listener = fast_listener(), value[] = {5, 1, 1000};

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct timespec from, to;
        pthread_t thread;

        looptoe_freeze(harness_toe(), 1);
        clock_gettime(CLOCK_MONOTONIC, &from);
        assert_int_equal(pthread_create(&thread, NULL, go_on, NULL), 0);
        assert_int_equal(
            toe_setsockopt(listener, IPPROTO_TCP, names[i], &value[i], sizeof(value[i])), 0);
        clock_gettime(CLOCK_MONOTONIC, &to);
        pthread_join(thread, NULL);
        assert_true((to.tv_sec - from.tv_sec) * 1000000000L + to.tv_nsec - from.tv_nsec > LATE / 2);
    }
    toe_close(listener);
}

/* ---- urgent data ---- */

static volatile sig_atomic_t urgent_signals;

static void on_urgent(int number)
{
    (void)number;
    urgent_signals++;
}

static int at_mark(int fd)
{
    int v = -1;

    assert_int_equal(toe_ioctl(fd, SIOCATMARK, &v), 0);
    return v;
}

static int queued(int fd)
{
    int v = -1;

    assert_int_equal(toe_ioctl(fd, FIONREAD, &v), 0);
    return v;
}

/* RFC 9293 MUST-30, MUST-32, MUST-33: reported by POLLPRI and SIGURG, the byte by MSG_OOB, the mark
 * by SIOCATMARK; reads stop at it. */
static void urgent_byte_out_of_band(void **state)
{
    struct sigaction act = {.sa_handler = on_urgent};
    char in[16] = "";
    int fd[2];

    (void)state;
    harness_pair(fd);
    sigaction(SIGURG, &act, NULL);
    urgent_signals = 0;
    assert_int_equal(toe_fcntl(fd[1], F_SETOWN, getpid()), 0);
    assert_int_equal(toe_fcntl(fd[1], F_GETOWN, 0), getpid());
    assert_int_equal(toe_recv(fd[1], in, 1, MSG_OOB), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(toe_send(fd[0], "abc", 3, 0), 3);
    assert_int_equal(toe_send(fd[0], "xyz", 3, MSG_OOB), 3);
    assert_int_equal(toe_send(fd[0], "def", 3, 0), 3);
    assert_int_equal(harness_wait(fd[1], POLLPRI), POLLPRI);
    assert_int_equal(urgent_signals, 1);
    harness_await_bytes(fd[1], 5); /* the notice of the urgent byte comes before its data */
    assert_int_equal(toe_recv(fd[1], in, 1, MSG_OOB | MSG_PEEK), 1);
    assert_int_equal(toe_recv(fd[1], in, 1, MSG_OOB), 1);
    assert_int_equal(in[0], 'z');
    assert_int_equal(toe_recv(fd[1], in, 1, MSG_OOB), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(at_mark(fd[1]), 0);
    assert_int_equal(toe_recv(fd[1], in, 2, 0), 2);
    assert_int_equal(toe_recv(fd[1], in, sizeof(in), MSG_WAITALL), 3);
    assert_memory_equal(in, "cxy", 3);
    assert_int_equal(at_mark(fd[1]), 1);
    harness_wait(fd[1], POLLIN);
    assert_int_equal(toe_recv(fd[1], in, sizeof(in), MSG_PEEK), 3);
    assert_memory_equal(in, "def", 3);
    assert_int_equal(toe_recv(fd[1], in, sizeof(in), 0), 3);
    assert_memory_equal(in, "def", 3);
    assert_int_equal(at_mark(fd[1]), 0);
    toe_close(fd[0]);
    toe_close(fd[1]);
    signal(SIGURG, SIG_DFL);
}

static void urgent_byte_in_line(void **state)
{
    char in[16] = "";
    int fd[2], one = 1;

    (void)state;
    harness_pair(fd);
    assert_int_equal(toe_setsockopt(fd[1], SOL_SOCKET, SO_OOBINLINE, &one, sizeof(one)), 0);
    assert_int_equal(toe_send(fd[0], "abX", 3, MSG_OOB), 3);
    assert_int_equal(toe_send(fd[0], "cd", 2, 0), 2);
    harness_wait(fd[1], POLLPRI);
    harness_await_bytes(fd[1], 5);
    assert_int_equal(toe_recv(fd[1], in, 1, MSG_OOB), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(toe_recv(fd[1], in, sizeof(in), 0), 2);
    assert_int_equal(at_mark(fd[1]), 1);
    assert_int_equal(toe_recv(fd[1], in, sizeof(in), 0), 3);
    assert_memory_equal(in, "Xcd", 3);
    assert_int_equal(at_mark(fd[1]), 0);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

/* The urgent byte alone makes no reader: nothing is to be read in the stream. */
static void urgent_byte_alone(void **state)
{
    struct pollfd p;
    char in[16];
    int fd[2];

    (void)state;
    harness_pair(fd);
    assert_int_equal(toe_send(fd[0], "!", 1, MSG_OOB), 1);
    harness_wait(fd[1], POLLPRI);
    p = (struct pollfd){fd[1], POLLIN | POLLPRI, 0};
    assert_int_equal(toe_poll(&p, 1, 0), 1);
    assert_int_equal(p.revents, POLLPRI);
    assert_int_equal(queued(fd[1]), 0);
    assert_int_equal(toe_recv(fd[1], in, 1, MSG_DONTWAIT), -1);
    assert_int_equal(errno, EAGAIN);
    toe_send(fd[0], "tail", 4, 0);
    toe_shutdown(fd[0], SHUT_WR);
    assert_int_equal(toe_recv(fd[1], in, sizeof(in), MSG_WAITALL), 4);
    assert_memory_equal(in, "tail", 4);
    assert_int_equal(toe_recv(fd[1], in, sizeof(in), 0), 0);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

/* A new mark that arrives while the reader is at an older one removes that byte from the stream,
 * unread. */
static void urgent_byte_replaced(void **state)
{
    char in[16] = "";
    int fd[2];

    (void)state;
    harness_pair(fd);
    assert_int_equal(toe_send(fd[0], "1", 1, MSG_OOB), 1);
    harness_wait(fd[1], POLLPRI);
    assert_int_equal(toe_send(fd[0], "2", 1, MSG_OOB), 1);
    while (toe_recv(fd[1], in, 1, MSG_OOB | MSG_PEEK) != 1 || in[0] != '2')
        usleep(1000);
    assert_int_equal(toe_recv(fd[1], in, sizeof(in), MSG_DONTWAIT), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(toe_send(fd[0], "tail", 4, 0), 4);
    assert_int_equal(toe_recv(fd[1], in, 4, MSG_WAITALL), 4);
    assert_memory_equal(in, "tail", 4);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

/* A read that finds the urgent byte alone passes it: nothing is left unread at close(), which
 * therefore ends the stream and does not reset the connection. */
static void urgent_byte_passed(void **state)
{
    char in[4];
    int fd[2];

    (void)state;
    harness_pair(fd);
    assert_int_equal(toe_send(fd[0], "1", 1, MSG_OOB), 1);
    harness_wait(fd[1], POLLPRI);
    assert_int_equal(toe_recv(fd[1], in, sizeof(in), MSG_DONTWAIT), -1);
    assert_int_equal(errno, EAGAIN);
    toe_close(fd[1]);
    harness_wait(fd[0], POLLIN);
    assert_int_equal(toe_recv(fd[0], in, sizeof(in), 0), 0);
    toe_close(fd[0]);
}

/* recvmsg() reports that the byte is urgent; SO_RCVLOWAT counts bytes after the mark as well. */
static void urgent_byte_said(void **state)
{
    char in[16] = "";
    struct iovec v = {in, sizeof(in)};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
    int fd[2], lowat = 10;

    (void)state;
    harness_pair(fd);
    assert_int_equal(toe_setsockopt(fd[1], SOL_SOCKET, SO_RCVLOWAT, &lowat, sizeof(lowat)), 0);
    assert_int_equal(toe_send(fd[0], "abX", 3, MSG_OOB), 3);
    assert_int_equal(toe_send(fd[0], "0123456789", 10, 0), 10);
    assert_int_equal(harness_wait(fd[1], POLLIN), POLLIN);
    assert_int_equal(toe_recvmsg(fd[1], &m, MSG_OOB), 1);
    assert_int_equal(m.msg_flags, MSG_OOB);
    assert_int_equal(toe_recvmsg(fd[1], &m, 0), 2);
    assert_int_equal(m.msg_flags, 0);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

/* ---- SIGURG ---- */

static int urgent_fd;
static volatile sig_atomic_t urgent_got;

static void read_urgent(int number)
{
    uint8_t in;
    int saved = errno;

    (void)number;
    urgent_signals++;
    if (toe_recv(urgent_fd, &in, 1, MSG_OOB) == 1)
        urgent_got = in;
    errno = saved;
}

static void *sleeper(void *end)
{
    char in;

    return read(*(int *)end, &in, 1) < 0 ? end : NULL;
}

/* The handler that every program with SIGURG has: it reads the byte. Of several threads too, one of
 * which is the one that found the notice. */
static void handler_of_sigurg_reads(void **state)
{
    struct sigaction act = {.sa_handler = read_urgent, .sa_flags = SA_RESTART};
    int fd[2], pipes[2];
    pthread_t thread;

    (void)state;
    harness_pair(fd);
    urgent_fd = fd[1];
    urgent_signals = urgent_got = 0;
    sigaction(SIGURG, &act, NULL);
    assert_int_equal(toe_fcntl(fd[1], F_SETOWN, getpid()), 0);
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(pthread_create(&thread, NULL, sleeper, pipes), 0);
    alarm(100); /* it would wait for the lock that it holds */
    for (int i = 1; i <= 3; i++) {
        struct pollfd p = {fd[1], POLLPRI, 0};

        urgent_got = 0;
        assert_int_equal(toe_send(fd[0], "a", 1, 0), 1);
        assert_int_equal(toe_send(fd[0], "!", 1, MSG_OOB), 1);
        while (!urgent_got)
            if (toe_poll(&p, 1, 10) == 1 && urgent_signals == i) /* it arrived before the byte */
                read_urgent(0), urgent_signals--;
        assert_int_equal(urgent_got, '!');
        assert_int_equal(urgent_signals, i);
    }
    alarm(0);
    assert_int_equal(write(pipes[1], "", 1), 1);
    pthread_join(thread, NULL);
    close(pipes[0]);
    close(pipes[1]);
    signal(SIGURG, SIG_DFL);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

static int kills_of_all;

/* Replaces libc's: -1 would signal every process. */
int kill(pid_t pid, int number)
{
    if (pid == -1) {
        kills_of_all++;
        return 0;
    }
    /* to itself at once, which ThreadSanitizer knows of raise() alone */
    return pid == getpid() ? raise(number) : (int)syscall(SYS_kill, pid, number);
}

/* Owners are checked and named as by Linux. */
static void owners_of_sigurg(void **state)
{
    struct sigaction act = {.sa_handler = on_urgent};
    int fd[2], owner = getpid();

    (void)state;
    harness_pair(fd);
    assert_int_equal(toe_fcntl(fd[1], F_SETOWN, 0x7ffffff0), -1);
    assert_int_equal(errno, ESRCH);
    assert_int_equal(toe_fcntl(fd[1], F_GETOWN, 0), 0);
    if (toe_fcntl(fd[1], F_SETOWN, -1) == 0) { /* process group 1, where there is one */
        assert_int_equal(toe_send(fd[0], "!", 1, MSG_OOB), 1);
        harness_wait(fd[1], POLLPRI);
        assert_int_equal(kills_of_all, 0);
    }
    sigaction(SIGURG, &act, NULL);
    urgent_signals = 0;
    assert_int_equal(toe_ioctl(fd[1], FIOSETOWN, &owner), 0);
    owner = 0;
    assert_int_equal(toe_ioctl(fd[1], FIOGETOWN, &owner), 0);
    assert_int_equal(owner, getpid());
    assert_int_equal(toe_send(fd[0], "!", 1, MSG_OOB), 1);
    for (int i = 0; i < 20000 && !urgent_signals; i++) {
        queued(fd[1]);
        usleep(1000);
    }
    assert_int_equal(urgent_signals, 1);
    signal(SIGURG, SIG_DFL);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

static pid_t urgent_to;

static void on_urgent_in(int sig)
{
    urgent_to = (pid_t)syscall(SYS_gettid);
    on_urgent(sig);
}

static void *wait_for_it(void *arg)
{
    atomic_store((_Atomic pid_t *)arg, (pid_t)syscall(SYS_gettid));
    while (!urgent_signals)
        usleep(1000);
    return NULL;
}

/* F_SETOWN_EX names a process, a group or one thread; F_GETOWN_EX returns it. */
static void owners_of_sigurg_by_kind(void **state)
{
    struct sigaction act = {.sa_handler = on_urgent_in};
    struct f_owner_ex ex = {F_OWNER_PGRP, 0}, got;
    _Atomic pid_t tid = 0;
    pthread_t thread;
    int fd[2];

    (void)state;
    harness_pair(fd);
    ex.pid = getpgrp();
    assert_int_equal(toe_fcntl(fd[1], F_SETOWN_EX, (long)&ex), 0);
    assert_int_equal(toe_fcntl(fd[1], F_GETOWN_EX, (long)&got), 0);
    assert_int_equal(got.type, F_OWNER_PGRP);
    assert_int_equal(got.pid, ex.pid);
    assert_int_equal(toe_fcntl(fd[1], F_GETOWN, 0), -ex.pid);
    ex.type = 9;
    assert_int_equal(toe_fcntl(fd[1], F_SETOWN_EX, (long)&ex), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(toe_fcntl(fd[1], F_GETOWN, 0), -ex.pid);
    sigaction(SIGURG, &act, NULL);
    urgent_signals = 0;
    pthread_create(&thread, NULL, wait_for_it, &tid);
    while (!atomic_load(&tid))
        usleep(1000);
    ex = (struct f_owner_ex){F_OWNER_TID, atomic_load(&tid)};
    assert_int_equal(toe_fcntl(fd[1], F_SETOWN_EX, (long)&ex), 0);
    assert_int_equal(toe_fcntl(fd[1], F_GETOWN_EX, (long)&got), 0);
    assert_int_equal(got.type, F_OWNER_TID);
    assert_int_equal(toe_send(fd[0], "!", 1, MSG_OOB), 1);
    for (int i = 0; i < 20000 && !urgent_signals; i++) {
        queued(fd[1]);
        usleep(1000);
    }
    assert_int_equal(urgent_signals, 1);
    assert_int_equal(urgent_to, ex.pid);
    pthread_join(thread, NULL);
    signal(SIGURG, SIG_DFL);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TOE_TEST(closing_a_connect_cancels_it),
        TOE_TEST(shutdown_of_a_connect),
        TOE_TEST(options_of_connects),
        TOE_TEST(msg_fastopen),
        TOE_TEST(msg_fastopen_nonblocking),
        TOE_TEST(fastopen_connect),
        TOE_TEST(fastopen_given_up),
        TOE_TEST(fastopen_options),
        TOE_TEST(fastopen_without_data),
        TOE_TEST(options_of_listeners_hold_at_once),
        TOE_TEST(urgent_byte_out_of_band),
        TOE_TEST(urgent_byte_in_line),
        TOE_TEST(urgent_byte_alone),
        TOE_TEST(urgent_byte_replaced),
        TOE_TEST(urgent_byte_passed),
        TOE_TEST(urgent_byte_said),
        TOE_TEST(handler_of_sigurg_reads),
        TOE_TEST(owners_of_sigurg),
        TOE_TEST(owners_of_sigurg_by_kind),
    };

    return cmocka_run_group_tests_name("opening", tests, NULL, NULL);
}
