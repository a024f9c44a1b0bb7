/* SPDX-License-Identifier: Apache-2.0 */
/* test_sock.c - libtoe's sockets against Linux's rules (SEEDS S1.14), over looptoe. */
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <sys/ioctl.h>
#include <sys/time.h>

#include "harness.h"

static void stream_of_random_pieces(void **state)
{
    uint8_t out[3 * TX_SIZE], in[3 * TX_SIZE];
    uint32_t sent = 0, got = 0, total = 1000000;
    int fd[2];

    (void)state;
    harness_pair(fd);
    harness_nonblock(fd[0]);
    harness_nonblock(fd[1]);
    while (got < total) {
        uint32_t n = harness_random() % sizeof(out), k = harness_random() % sizeof(in);
        ssize_t r;

        if (n > total - sent)
            n = total - sent;
        for (uint32_t i = 0; i < n; i++)
            out[i] = (uint8_t)((sent + i) * 2654435761u >> 24);
        r = n ? toe_send(fd[0], out, n, 0) : 0;
        assert_true(r >= 0 || errno == EAGAIN);
        sent += r > 0 ? (uint32_t)r : 0;
        r = k ? toe_recv(fd[1], in, k, 0) : 0;
        assert_true(r >= 0 || errno == EAGAIN);
        for (ssize_t i = 0; i < r; i++)
            assert_int_equal(in[i], (uint8_t)((got + (uint32_t)i) * 2654435761u >> 24));
        got += r > 0 ? (uint32_t)r : 0;
    }
    toe_close(fd[0]);
    toe_close(fd[1]);
}

/* No send has failed, so no call has requested a notification of room; epoll had found the socket
 * full. */
static void acknowledgements_make_an_idle_sender_writable(void **state)
{
    struct epoll_event e = {.events = EPOLLOUT};
    uint8_t out[TX_SIZE * 3 / 4] = {0};
    int fd[2], ep = toe_epoll_create1(0);

    (void)state;
    harness_pair(fd);
    looptoe_freeze(harness_toe(), 1);
    assert_int_equal(toe_send(fd[0], out, sizeof(out), 0), sizeof(out));
    assert_int_equal(toe_epoll_ctl(ep, EPOLL_CTL_ADD, fd[0], &e), 0);
    assert_int_equal(toe_epoll_wait(ep, &e, 1, 0), 0);
    looptoe_freeze(harness_toe(), 0);
    assert_int_equal(toe_epoll_wait(ep, &e, 1, HARNESS_PATIENCE_MS), 1);
    assert_int_equal(e.events, EPOLLOUT);
    toe_close(fd[0]);
    toe_close(fd[1]);
    toe_close(ep);
}

static void a_wrong_dup2_leaves_the_target(void **state)
{
    int fd[2];
    char b;

    (void)state;
    harness_pair(fd);
    assert_int_equal(toe_dup2(4000, fd[1]), -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(toe_send(fd[0], "x", 1, 0), 1);
    assert_int_equal(toe_recv(fd[1], &b, 1, 0), 1);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

static void names_of_both_ends(void **state)
{
    struct sockaddr_in a, b;
    socklen_t len = sizeof(a);
    int fd[2];

    (void)state;
    harness_pair(fd);
    assert_int_equal(toe_getpeername(fd[0], (struct sockaddr *)&a, &len), 0);
    assert_int_equal(len, sizeof(a));
    assert_int_equal(ntohs(a.sin_port), 7000);
    assert_string_equal(inet_ntoa(a.sin_addr), LOOPTOE_PEER_IP);
    assert_int_equal(toe_getsockname(fd[1], (struct sockaddr *)&a, &len), 0);
    assert_int_equal(ntohs(a.sin_port), 7000);
    assert_string_equal(inet_ntoa(a.sin_addr), LOOPTOE_IP);
    assert_int_equal(toe_getsockname(fd[0], (struct sockaddr *)&a, &len), 0);
    assert_int_equal(toe_getpeername(fd[1], (struct sockaddr *)&b, &len), 0);
    assert_int_equal(a.sin_port, b.sin_port);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

static void v6_socket_has_mapped_names(void **state)
{
    struct sockaddr_in6 a = {.sin6_family = AF_INET6};
    socklen_t len = sizeof(a);
    int l = toe_socket(AF_INET6, SOCK_STREAM, 0), c, s, off = 0;
    char text[64];

    (void)state;
    toe_setsockopt(l, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    assert_int_equal(toe_bind(l, (struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(toe_listen(l, 4), 0);
    assert_int_equal(toe_is_offloaded(l), 1);
    assert_int_equal(toe_getsockname(l, (struct sockaddr *)&a, &len), 0);
    c = harness_connect(ntohs(a.sin6_port));
    s = toe_accept(l, (struct sockaddr *)&a, &len);
    assert_true(s >= 0);
    assert_int_equal(len, sizeof(a));
    assert_string_equal(inet_ntop(AF_INET6, &a.sin6_addr, text, sizeof(text)),
                        "::ffff:" LOOPTOE_PEER_IP);
    toe_close(c);
    toe_close(s);
    toe_close(l);
}

static void wildcard_listener_takes_from_both(void **state)
{
    struct sockaddr_in a = harness_address("0.0.0.0", 0), lo;
    socklen_t len = sizeof(a);
    int l = toe_socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), c, k, s, carried = 0;

    (void)state;
    assert_int_equal(toe_bind(l, (struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(toe_listen(l, 4), 0);
    assert_int_equal(toe_accept(l, NULL, NULL), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(toe_getsockname(l, (struct sockaddr *)&a, &len), 0);
    c = harness_connect(ntohs(a.sin_port));
    lo = harness_address("127.0.0.1", ntohs(a.sin_port));
    k = toe_socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(toe_connect(k, (struct sockaddr *)&lo, sizeof(lo)), 0);
    assert_int_equal(toe_is_offloaded(k), 0);
    assert_non_null(toe_why_not(k));
    for (int i = 0; i < 2; i++) {
        assert_true(harness_wait(l, POLLIN) & POLLIN);
        s = toe_accept(l, NULL, NULL);
        assert_true(s >= 0);
        carried += toe_is_offloaded(s);
        toe_close(s);
    }
    assert_int_equal(carried, 1);
    /* the application sees its own O_NONBLOCK, not the kernel half's */
    assert_true(toe_fcntl(l, F_GETFL, 0) & O_NONBLOCK);
    assert_int_equal(toe_fcntl(l, F_SETFL, 0), 0);
    assert_false(toe_fcntl(l, F_GETFL, 0) & O_NONBLOCK);
    toe_close(c);
    toe_close(k);
    toe_close(l);
}

static void receive_flags(void **state)
{
    char in[16] = "";
    int fd[2];
    struct iovec v[2] = {{in, 2}, {in + 2, 8}}, none = {in, 0};

    (void)state;
    harness_pair(fd);
    assert_int_equal(toe_recv(fd[1], in, 1, MSG_DONTWAIT), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(toe_send(fd[0], "abcdef", 6, 0), 6);
    harness_wait(fd[1], POLLIN);
    assert_int_equal(toe_recv(fd[1], in, 4, MSG_PEEK), 4);
    assert_int_equal(toe_recv(fd[1], in, 16, MSG_PEEK), 6);
    assert_memory_equal(in, "abcdef", 6);
    assert_int_equal(toe_recv(fd[1], in, 2, MSG_TRUNC), 2); /* thrown away */
    assert_int_equal(toe_readv(fd[1], v, 2), 4);
    assert_memory_equal(in, "cdef", 4);
    assert_int_equal(toe_recv(fd[1], in, 1, MSG_OOB), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(toe_read(fd[1], in, 0), 0);
    assert_int_equal(toe_readv(fd[1], v, 0), 0);
    assert_int_equal(toe_readv(fd[1], v, -1), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(toe_writev(fd[0], v, 0), 0);
    assert_int_equal(toe_writev(fd[0], v, -1), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(toe_writev(fd[0], &none, 1), 0);
    assert_int_equal(toe_write(fd[0], in, SIZE_MAX), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(toe_recv(fd[1], in, 0, MSG_DONTWAIT), -1); /* Linux waits for some */
    assert_int_equal(errno, EAGAIN);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

/* Linux takes 1,024 vectors (UIO_MAXIOV), and no more. */
static void as_many_vectors_as_linux(void **state)
{
    struct iovec v[1025];
    char in[1025];
    struct msghdr m = {.msg_iov = v, .msg_iovlen = 1024};
    int fd[2];

    (void)state;
    for (unsigned i = 0; i < 1025; i++)
        v[i] = (struct iovec){in + i, 1};
    harness_pair(fd);
    assert_int_equal(toe_send(fd[0], "abcdef", 6, 0), 6);
    harness_wait(fd[1], POLLIN);
    assert_int_equal(toe_recvmsg(fd[1], &m, 0), 6);
    assert_memory_equal(in, "abcdef", 6);
    m.msg_iovlen = 1025;
    assert_int_equal(toe_recvmsg(fd[1], &m, 0), -1);
    assert_int_equal(errno, EMSGSIZE);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

static void dup2_of_nothing_closes_nothing(void **state)
{
    int fd[2];
    char c;

    (void)state;
    harness_pair(fd);
    assert_int_equal(toe_dup2(1000, fd[0]), -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(toe_send(fd[0], "d", 1, 0), 1);
    assert_int_equal(toe_recv(fd[1], &c, 1, 0), 1);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

/* A program that only sends gets a reset's error at its next call, not when the buffer is full. */
static void reset_is_told_to_who_only_sends(void **state)
{
    int c = harness_connect_async(LOOPTOE_DATA_RST), i, r = 0, error = 0;
    socklen_t len = sizeof(error);

    (void)state;
    if (harness_inline())
        skip(); /* looptoe does it */
    harness_wait(c, POLLOUT);
    for (i = 0; i < TX_SIZE && r >= 0; i++) {
        usleep(10000);
        r = (int)toe_send(c, "x", 1, MSG_NOSIGNAL);
    }
    assert_int_equal(r, -1);
    assert_int_equal(errno, ECONNRESET);
    assert_int_equal(toe_send(c, "x", 1, MSG_NOSIGNAL), -1);
    assert_int_equal(errno, EPIPE);
    toe_close(c);
    /* SO_ERROR too processes pending notifications */
    c = harness_connect_async(9999);
    for (i = 0; i < HARNESS_PATIENCE_MS / 10 && !error; i++) {
        usleep(10000);
        assert_int_equal(toe_getsockopt(c, SOL_SOCKET, SO_ERROR, &error, &len), 0);
    }
    assert_int_equal(error, ECONNREFUSED);
    toe_close(c);
}

/* As Linux: a connect() that has reported its failure leaves the socket as new. */
static void after_a_refused_connect(void **state)
{
    int c = harness_connect_async(9999);
    struct sockaddr_in a = harness_address(LOOPTOE_PEER_IP, 9999);
    struct iovec v[1025] = {{0}};
    struct msghdr m = {.msg_iov = v, .msg_iovlen = 1025};

    (void)state;
    while (!(harness_wait(c, POLLOUT) & POLLERR))
        ;
    assert_int_equal(toe_connect(c, (struct sockaddr *)&a, sizeof(a)), -1);
    assert_int_equal(errno, ECONNREFUSED);
    assert_int_equal(harness_wait(c, POLLIN | POLLOUT), POLLOUT | POLLHUP);
    a = harness_address(LOOPTOE_PEER_IP, 0);
    assert_int_equal(toe_connect(c, (struct sockaddr *)&a, sizeof(a)), -1);
    assert_int_equal(errno, ECONNREFUSED);
    assert_int_equal(toe_sendmsg(c, &m, 0), -1);
    assert_int_equal(errno, EMSGSIZE);
    assert_int_equal(toe_recvmsg(c, &m, 0), -1);
    assert_int_equal(errno, EMSGSIZE);
    toe_close(c);
}

/* connect() to AF_UNSPEC resets, and leaves a socket that may connect again (connect(2)). */
static void connect_to_nothing_disconnects(void **state)
{
    struct sockaddr none = {.sa_family = AF_UNSPEC};
    struct sockaddr_in a = harness_address(LOOPTOE_PEER_IP, 9999);
    int fd[2], error;
    char c;

    (void)state;
    harness_pair(fd);
    assert_int_equal(toe_connect(fd[0], &none, sizeof(none)), 0);
    assert_int_equal(harness_wait(fd[0], POLLIN | POLLOUT), POLLOUT | POLLHUP | POLLERR);
    assert_int_equal(toe_getpeername(fd[0], (struct sockaddr *)&a, &(socklen_t){sizeof(a)}), -1);
    assert_int_equal(errno, ENOTCONN);
    while (!(harness_wait(fd[1], POLLIN) & POLLERR))
        ;
    assert_int_equal(toe_recv(fd[1], &c, 1, 0), -1);
    assert_int_equal(errno, ECONNRESET);
    assert_int_equal(toe_connect(fd[0], (struct sockaddr *)&a, sizeof(a)), -1);
    assert_int_equal(errno, ECONNREFUSED);
    assert_int_equal(toe_connect(fd[0], &none, sizeof(none)), 0);
    error = toe_poll(NULL, 1, 0);
    assert_int_equal(error, -1);
    assert_int_equal(errno, EFAULT);
    toe_close(fd[0]);
    toe_close(fd[1]);
    fd[0] = harness_connect_async(LOOPTOE_SILENT);
    assert_int_equal(toe_connect(fd[0], &none, sizeof(none)), 0);
    toe_close(fd[0]);
    harness_slots(0);
}

/* IPV6_V6ONLY holds for connect() too. */
static void mapped_address_on_a_socket_of_ipv6_alone(void **state)
{
    struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_port = htons(9999)};
    int fd = toe_socket(AF_INET6, SOCK_STREAM, 0), on = 1;

    (void)state;
    if (fd < 0)
        skip();
    assert_int_equal(inet_pton(AF_INET6, "::ffff:" LOOPTOE_PEER_IP, &a.sin6_addr), 1);
    assert_int_equal(toe_setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)), 0);
    assert_int_equal(toe_connect(fd, (struct sockaddr *)&a, sizeof(a)), -1);
    assert_int_equal(errno, ENETUNREACH);
    toe_close(fd);
}

static void connect_results(void **state)
{
    struct sockaddr_in a = harness_address(LOOPTOE_PEER_IP, 1);
    int c = toe_socket(AF_INET, SOCK_STREAM, 0), l, error = 0;
    socklen_t len = sizeof(error);

    (void)state;
    if (harness_inline())
        skip(); /* looptoe does it */
    assert_int_equal(toe_connect(c, (struct sockaddr *)&a, sizeof(a)), -1);
    assert_int_equal(errno, ECONNREFUSED);
    l = harness_listener(7001); /* the same socket may try again */
    a.sin_port = htons(7001);
    assert_int_equal(toe_connect(c, (struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(toe_connect(c, (struct sockaddr *)&a, sizeof(a)), -1);
    assert_int_equal(errno, EISCONN);
    toe_close(c);
    c = toe_socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    a.sin_port = htons(LOOPTOE_SILENT);
    assert_int_equal(toe_connect(c, (struct sockaddr *)&a, sizeof(a)), -1);
    assert_int_equal(errno, EINPROGRESS);
    assert_int_equal(toe_connect(c, (struct sockaddr *)&a, sizeof(a)), -1);
    assert_int_equal(errno, EALREADY);
    assert_int_equal(toe_recv(c, &a, 1, 0), -1);
    assert_int_equal(errno, EAGAIN);
    toe_close(c);
    c = toe_socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    a.sin_port = htons(LOOPTOE_UNREACH);
    assert_int_equal(toe_connect(c, (struct sockaddr *)&a, sizeof(a)), -1);
    assert_int_equal(errno, EINPROGRESS);
    assert_true(harness_wait(c, POLLOUT) & POLLERR);
    assert_int_equal(toe_getsockopt(c, SOL_SOCKET, SO_ERROR, &error, &len), 0);
    assert_int_equal(error, EHOSTUNREACH);
    toe_close(c);
    c = toe_socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    a.sin_port = htons(7001);
    assert_int_equal(toe_connect(c, (struct sockaddr *)&a, sizeof(a)), -1);
    assert_int_equal(errno, EINPROGRESS);
    assert_int_equal(harness_wait(c, POLLOUT), POLLOUT);
    assert_int_equal(toe_connect(c, (struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(toe_connect(c, (struct sockaddr *)&a, sizeof(a)), -1);
    assert_int_equal(errno, EISCONN);
    toe_close(c);
    toe_close(l);
}

static void a_failed_socket_may_go_to_the_kernel(void **state)
{
    struct sockaddr_in a = harness_address(LOOPTOE_PEER_IP, 1),
                       lo = harness_address("127.0.0.1", 0);
    socklen_t len = sizeof(lo);
    int c = toe_socket(AF_INET, SOCK_STREAM, 0), l = toe_socket(AF_INET, SOCK_STREAM, 0);
    char b;

    (void)state;
    assert_int_equal(toe_connect(c, (struct sockaddr *)&a, sizeof(a)), -1);
    assert_int_equal(errno, ECONNREFUSED);
    assert_int_equal(toe_bind(l, (struct sockaddr *)&lo, sizeof(lo)), 0);
    assert_int_equal(toe_listen(l, 1), 0);
    assert_int_equal(toe_getsockname(l, (struct sockaddr *)&lo, &len), 0);
    assert_int_equal(toe_connect(c, (struct sockaddr *)&lo, sizeof(lo)), 0);
    assert_int_equal(toe_is_offloaded(c), 0);
    assert_int_equal(toe_recv(c, &b, 1, MSG_DONTWAIT), -1);
    assert_int_equal(errno, EAGAIN);
    toe_close(c);
    toe_close(l);
}

static void slots_run_out_and_come_back(void **state)
{
    struct sockaddr_in a = harness_address(LOOPTOE_PEER_IP, 7003);
    int l = harness_listener(7003), fd[16 * SLOTS], n = 0, c;

    (void)state;
    if (harness_inline())
        skip(); /* both ends use slots */
    for (;;) {
        c = toe_socket(AF_INET, SOCK_STREAM, 0);
        if (toe_connect(c, (struct sockaddr *)&a, sizeof(a)) < 0)
            break;
        fd[n++] = c;
        fd[n++] = toe_accept(l, NULL, NULL);
    }
    assert_int_equal(errno, ENOBUFS);
    assert_true(n >= SLOTS); /* a multiple with several engines */
    toe_close(c);
    while (n)
        toe_close(fd[--n]);
    harness_slots(0);
    for (int i = 0; i < 500; i++) { /* ten times as many as there are slots */
        c = harness_connect(7003);
        n = toe_accept(l, NULL, NULL);
        toe_close(c);
        toe_close(n);
        if (i % 16 == 0)
            harness_slots(0);
    }
    toe_close(l);
}

static void duplicates_share_the_connection(void **state)
{
    int fd[2], d, e;
    char c;

    (void)state;
    harness_pair(fd);
    d = toe_dup(fd[0]);
    e = toe_fcntl(fd[0], F_DUPFD_CLOEXEC, 100);
    assert_true(d >= 0 && e >= 100);
    toe_close(fd[0]);
    assert_int_equal(toe_is_offloaded(fd[0]), 0);
    assert_int_equal(toe_send(d, "1", 1, 0), 1);
    harness_nonblock(d); /* a flag of the connection, not of the number */
    assert_true(toe_fcntl(e, F_GETFL, 0) & O_NONBLOCK);
    assert_int_equal(toe_dup2(e, d), d);
    assert_int_equal(toe_send(d, "2", 1, 0), 1);
    toe_close(e);
    assert_int_equal(toe_recv(fd[1], &c, 1, MSG_WAITALL), 1);
    assert_int_equal(toe_recv(fd[1], &c, 1, MSG_WAITALL), 1);
    assert_int_equal(c, '2');
    toe_close(d);
    assert_int_equal(toe_recv(fd[1], &c, 1, 0), 0);
    toe_close(fd[1]);
}

static void file_goes_straight_out(void **state)
{
    char name[] = "/tmp/libtoe-file-XXXXXX", in[3000];
    int f = mkstemp(name), fd[2], p[2];
    off_t at = 1000;
    ssize_t got = 0;

    (void)state;
    unlink(name);
    for (int i = 0; i < 3000; i++)
        in[i] = (char)(i * 7);
    assert_int_equal(write(f, in, sizeof(in)), sizeof(in));
    harness_pair(fd);
    assert_int_equal(toe_sendfile(fd[0], f, &at, 10000), 2000);
    assert_int_equal(at, 3000);
    assert_int_equal(toe_sendfile(fd[0], f, &at, 10000), 0);
    lseek(f, 2000, SEEK_SET);
    assert_int_equal(toe_sendfile(fd[0], f, NULL, 500), 500);
    assert_int_equal(lseek(f, 0, SEEK_CUR), 2500);
    while (got < 2500) {
        ssize_t r = toe_recv(fd[1], in, sizeof(in), 0);

        assert_true(r > 0);
        for (ssize_t i = 0; i < r; i++) {
            ssize_t n = got + i < 2000 ? 1000 + got + i : got + i;

            assert_int_equal(in[i], (char)(n * 7));
        }
        got += r;
    }
    assert_int_equal(pipe(p), 0);
    assert_int_equal(toe_sendfile(fd[0], p[0], NULL, 1), -1);
    assert_int_equal(errno, EINVAL);
    close(p[0]);
    close(p[1]);
    close(f);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

static void queries(void **state)
{
    int fd[2], n = -1;

    (void)state;
    if (harness_inline())
        skip(); /* acknowledgements are delayed */
    harness_pair(fd);
    assert_int_equal(toe_send(fd[0], "12345", 5, 0), 5);
    harness_wait(fd[1], POLLIN);
    assert_int_equal(toe_ioctl(fd[1], FIONREAD, &n), 0);
    assert_int_equal(n, 5);
    harness_await_acked(fd[0]); /* its notice is another one */
    n = 1;
    assert_int_equal(toe_ioctl(fd[1], FIONBIO, &n), 0);
    assert_true(toe_fcntl(fd[1], F_GETFL, 0) & O_NONBLOCK);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

static void options_of_a_connect_that_nobody_waits_for_reach_the_toe(void **state)
{
    struct sockaddr_in a = harness_address(LOOPTOE_PEER_IP, 7142);
    int l = harness_listener(7142), c = toe_socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    int on = 1, k;
    struct looptoe_usage u = {0};

    (void)state;
    if (harness_inline())
        skip(); /* it would poll itself */
    assert_int_equal(toe_setsockopt(c, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)), 0);
    if (toe_connect(c, (struct sockaddr *)&a, sizeof(a)) != 0)
        assert_int_equal(errno, EINPROGRESS);
    assert_int_equal(toe_setsockopt(c, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on)), 0);
    assert_true(harness_wait(c, POLLOUT) & POLLOUT); /* and no second connect() */
    k = toe_accept(l, NULL, NULL);
    for (int i = 0; i < HARNESS_PATIENCE_MS / 2 && u.options < 2; i++) {
        assert_int_equal(looptoe_usage(harness_path(), &u), 0);
        usleep(2000);
    }
    assert_int_equal(u.options, 2);
    toe_close(c);
    toe_close(k);
    toe_close(l);
}

/* Of several engines only one is reached by the answers (looptoe.c: the port's remainder). */
static void a_port_of_ones_own_is_any_engines(void **state)
{
    struct sockaddr_in to = harness_address(LOOPTOE_PEER_IP, 7143), own;
    socklen_t len = sizeof(own);
    int l = harness_listener(7143), s;

    (void)state;
    for (uint16_t port = 7150; port < 7156; port++) {
        int c = toe_socket(AF_INET, port % 2 ? SOCK_STREAM : SOCK_STREAM | SOCK_NONBLOCK, 0);

        own = harness_address(LOOPTOE_IP, port);
        assert_int_equal(toe_bind(c, (struct sockaddr *)&own, sizeof(own)), 0);
        if (toe_connect(c, (struct sockaddr *)&to, sizeof(to)) != 0) {
            assert_int_equal(errno, EINPROGRESS);
            assert_int_equal(harness_wait(c, POLLOUT), POLLOUT);
        }
        s = toe_accept(l, (struct sockaddr *)&own, &len);
        assert_true(s >= 0);
        assert_int_equal(ntohs(own.sin_port), port);
        toe_close(c);
        toe_close(s);
    }
    toe_close(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TOE_TEST(stream_of_random_pieces),
        TOE_TEST(acknowledgements_make_an_idle_sender_writable),
        TOE_TEST(a_wrong_dup2_leaves_the_target),
        TOE_TEST(options_of_a_connect_that_nobody_waits_for_reach_the_toe),
        TOE_TEST(a_port_of_ones_own_is_any_engines),
        TOE_TEST(names_of_both_ends),
        TOE_TEST(v6_socket_has_mapped_names),
        TOE_TEST(wildcard_listener_takes_from_both),
        TOE_TEST(receive_flags),
        TOE_TEST(as_many_vectors_as_linux),
        TOE_TEST(reset_is_told_to_who_only_sends),
        TOE_TEST(after_a_refused_connect),
        TOE_TEST(connect_to_nothing_disconnects),
        TOE_TEST(mapped_address_on_a_socket_of_ipv6_alone),
        TOE_TEST(connect_results),
        TOE_TEST(a_failed_socket_may_go_to_the_kernel),
        TOE_TEST(dup2_of_nothing_closes_nothing),
        TOE_TEST(slots_run_out_and_come_back),
        TOE_TEST(duplicates_share_the_connection),
        TOE_TEST(file_goes_straight_out),
        TOE_TEST(queries),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
