/* SPDX-License-Identifier: Apache-2.0 */
/* test_own.c - sockets with numbers of libtoe's own (toe_own_socket(), toe_own_accept4()). */
#include <limits.h>
#include <netinet/tcp.h>
#include <sys/resource.h>

#include "harness.h"

#define OWN 0x40000000

/* A connection both ends of which have numbers of libtoe's own. */
static void own_pair(int fd[2])
{
    struct sockaddr_in to = harness_address(LOOPTOE_PEER_IP, 7200);
    int l = harness_listener(7200);

    fd[0] = toe_own_socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd[0] >= OWN);
    if (toe_connect(fd[0], (struct sockaddr *)&to, sizeof(to)) != 0)
        fail_msg("connect: %s", strerror(errno));
    fd[1] = toe_own_accept4(l, NULL, NULL, SOCK_NONBLOCK);
    assert_true(fd[1] >= OWN && fd[1] != fd[0]);
    toe_close(l);
}

static void they_are_connections_like_others(void **state)
{
    struct epoll_event e = {.events = EPOLLIN, .data.u64 = 7};
    int fd[2], on = 1, ep = toe_epoll_create1(0);
    struct sockaddr_in at;
    socklen_t len = sizeof(at);
    char text[8];

    (void)state;
    own_pair(fd);
    assert_int_equal(toe_is_offloaded(fd[0]), 1);
    assert_int_equal(toe_fcntl(fd[0], F_GETFL, 0), O_RDWR);
    assert_int_equal(toe_fcntl(fd[1], F_GETFL, 0), O_RDWR | O_NONBLOCK);
    assert_int_equal(toe_setsockopt(fd[0], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)), 0);
    assert_int_equal(toe_setsockopt(fd[0], SOL_SOCKET, SO_PRIORITY, &on, sizeof(on)), -1);
    assert_int_equal(errno, ENOPROTOOPT); /* of the kernel's, and there is no kernel socket */
    assert_int_equal(toe_getpeername(fd[0], (struct sockaddr *)&at, &len), 0);
    assert_int_equal(ntohs(at.sin_port), 7200);
    assert_int_equal(toe_recv(fd[1], text, sizeof(text), 0), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(toe_epoll_ctl(ep, EPOLL_CTL_ADD, fd[1], &e), 0);
    assert_int_equal(toe_send(fd[0], "hello", 5, 0), 5);
    assert_int_equal(toe_epoll_wait(ep, &e, 1, HARNESS_PATIENCE_MS), 1);
    assert_int_equal(e.data.u64, 7);
    assert_int_equal(toe_recv(fd[1], text, sizeof(text), 0), 5);
    assert_memory_equal(text, "hello", 5);
    assert_int_equal(toe_close(fd[0]), 0);
    assert_int_equal(harness_wait(fd[1], POLLIN) & POLLIN, POLLIN);
    assert_int_equal(toe_recv(fd[1], text, sizeof(text), 0), 0);
    assert_int_equal(toe_close(fd[1]), 0);
    assert_int_equal(toe_close(fd[1]), -1);
    assert_int_equal(errno, EBADF);
    toe_close(ep);
}

/* The hint accepts any number, any number of times, without effect. */
static void any_number_may_be_fetched(void **state)
{
    int fd[2], ep = toe_epoll_create1(0), many[100], i;
    char text[8];

    (void)state;
    own_pair(fd);
    toe_prefetch(NULL, 0);
    for (i = 0; i < 100; i++)
        many[i] = i % 2 ? fd[0] : fd[1];
    many[3] = -1;
    many[40] = INT_MAX;
    many[41] = INT_MIN;
    many[50] = ep;
    many[51] = 0;
    many[52] = OWN + (1 << 21) - 1; /* never allocated, */
    many[53] = OWN + (1 << 21);     /* ... and the first that never can be */
    many[54] = (1 << 20) - 1;
    many[55] = 1 << 20;
    toe_prefetch(many, 100);
    assert_int_equal(toe_send(fd[0], "hello", 5, 0), 5);
    toe_prefetch(many, 100);
    assert_int_equal(harness_wait(fd[1], POLLIN) & POLLIN, POLLIN);
    assert_int_equal(toe_recv(fd[1], text, sizeof(text), 0), 5);
    assert_int_equal(toe_close(fd[0]), 0);
    toe_prefetch(many, 100);
    assert_int_equal(harness_wait(fd[1], POLLIN) & POLLIN, POLLIN);
    assert_int_equal(toe_recv(fd[1], text, sizeof(text), 0), 0);
    assert_int_equal(toe_close(fd[1]), 0);
    toe_prefetch(many, 100);
    toe_close(ep);
}

#define LIMIT 200 /* poll() has the same limit */

static void no_descriptor_of_the_kernel_is_used(void **state)
{
    struct pollfd idle = {.events = POLLIN};
    int fd[2], again[2], full[LIMIT], spare, n = 0;
    struct rlimit before, few;

    (void)state;
    own_pair(fd);
    idle.fd = fd[0];
    assert_int_equal(toe_poll(&idle, 1, 1), 0); /* state that a thread opens once is open now */
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = LIMIT;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    spare = dup(0);
    while (n < LIMIT && (full[n] = dup(0)) >= 0)
        n++;
    assert_in_range(n, 1, LIMIT - 1);
    assert_int_equal(close(spare), 0); /* for the listener of own_pair() */
    own_pair(again);
    while (n)
        close(full[--n]);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    toe_close(again[0]);
    toe_close(again[1]);
    toe_close(fd[0]);
    toe_close(fd[1]);
    own_pair(again); /* numbers are reused */
    assert_true(again[0] < OWN + 4 && again[1] < OWN + 4);
    toe_close(again[0]);
    toe_close(again[1]);
}

/* The TOE carries them; there is no fallback to the kernel. */
static void what_they_are_not_for_is_refused(void **state)
{
    struct sockaddr_in to = harness_address("127.0.0.1", 7201);
    int fd = toe_own_socket(AF_INET, SOCK_STREAM, 0);

    (void)state;
    assert_int_equal(toe_connect(fd, (struct sockaddr *)&to, sizeof(to)), -1);
    assert_int_equal(errno, ENETUNREACH);
    assert_int_equal(toe_connect(fd, (struct sockaddr *)&to, 3), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(toe_bind(fd, (struct sockaddr *)&to, sizeof(to)), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(toe_listen(fd, 5), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(toe_dup(fd), -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(toe_close(fd), 0);
    assert_int_equal(toe_own_socket(AF_UNIX, SOCK_STREAM, 0), -1);
    assert_int_equal(errno, EAFNOSUPPORT);
    assert_int_equal(toe_own_socket(AF_INET, SOCK_DGRAM, 0), -1);
    assert_int_equal(errno, EPROTONOSUPPORT);
    assert_int_equal(toe_own_accept4(0, NULL, NULL, 1), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(toe_recv(OWN + 1000, &to, 1, 0), -1);
    assert_int_equal(errno, EBADF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TOE_TEST(they_are_connections_like_others),
        TOE_TEST(any_number_may_be_fetched),
        TOE_TEST(no_descriptor_of_the_kernel_is_used),
        TOE_TEST(what_they_are_not_for_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
