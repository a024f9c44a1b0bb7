/* SPDX-License-Identifier: Apache-2.0 */
/* test_epoll.c - epoll_wait over TOE sockets and kernel descriptors (SEEDS S1.14; epoll(7)). */
#include <sys/eventfd.h>

#include "harness.h"

#define MAX 8

static int ep;
static struct epoll_event got[MAX];

static int setup(void **state)
{
    int r = harness_setup(state);

    ep = toe_epoll_create1(EPOLL_CLOEXEC);
    return r || ep < 0 ? -1 : 0;
}

static int teardown(void **state)
{
    toe_close(ep);
    return harness_teardown(state);
}

static void watch(int op, int fd, uint32_t events, uint64_t data)
{
    struct epoll_event e = {.events = events, .data.u64 = data};

    assert_int_equal(toe_epoll_ctl(ep, op, fd, &e), 0);
}

static int look(int timeout_ms)
{
    return toe_epoll_wait(ep, got, MAX, timeout_ms);
}

/* TCP's asynchronous work is done when the peer's reply has arrived. */
static void put(int from, int to, const char *text)
{
    int before = 0, now = 0;

    toe_ioctl(to, 0x541b /* FIONREAD */, &before);
    assert_int_equal(toe_send(from, text, strlen(text), 0), strlen(text));
    while (now < before + (int)strlen(text))
        toe_ioctl(to, 0x541b, &now);
}

static void level_triggered(void **state)
{
    int fd[2];
    char c;

    (void)state;
    harness_pair(fd);
    watch(EPOLL_CTL_ADD, fd[1], EPOLLIN, 42);
    assert_int_equal(look(0), 0);
    put(fd[0], fd[1], "ab");
    for (int i = 0; i < 3; i++) { /* again and again while there is something */
        assert_int_equal(look(-1), 1);
        assert_int_equal(got[0].events, EPOLLIN);
        assert_int_equal(got[0].data.u64, 42);
    }
    toe_recv(fd[1], &c, 1, 0);
    assert_int_equal(look(0), 1);
    toe_recv(fd[1], &c, 1, 0);
    assert_int_equal(look(0), 0);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

static void edge_triggered(void **state)
{
    int fd[2];

    (void)state;
    harness_pair(fd);
    watch(EPOLL_CTL_ADD, fd[1], EPOLLIN | EPOLLOUT | EPOLLET, 1);
    assert_int_equal(look(0), 1); /* writable already: reported once */
    assert_int_equal(got[0].events, EPOLLOUT);
    assert_int_equal(look(0), 0);
    put(fd[0], fd[1], "a");
    assert_int_equal(look(-1), 1);
    assert_int_equal(got[0].events, EPOLLIN | EPOLLOUT);
    assert_int_equal(look(0), 0); /* not read, not reported again */
    put(fd[0], fd[1], "b");       /* more: a new edge */
    assert_int_equal(look(-1), 1);
    assert_int_equal(look(0), 0);
    watch(EPOLL_CTL_MOD, fd[1], EPOLLIN | EPOLLET, 1); /* rearms the events that hold */
    assert_int_equal(look(0), 1);
    assert_int_equal(got[0].events, EPOLLIN);
    assert_int_equal(look(0), 0);
    toe_close(fd[0]);
    assert_int_equal(look(-1), 1);
    toe_close(fd[1]);
}

static void edge_of_room_to_send(void **state)
{
    static char big[TX_SIZE + RX_SIZE];
    int fd[2];
    size_t sent = 0;

    (void)state;
    harness_pair(fd);
    harness_nonblock(fd[0]);
    watch(EPOLL_CTL_ADD, fd[0], EPOLLOUT | EPOLLET, 1);
    assert_int_equal(look(0), 1);
    while (sent < sizeof(big)) {
        ssize_t r = toe_send(fd[0], big, sizeof(big) - sent, 0);

        sent += r > 0 ? (size_t)r : 0;
    }
    assert_int_equal(toe_send(fd[0], big, 1, 0), -1);
    while (look(0))
        ; /* room that appeared and was used while it was filled */
    harness_await_bytes(fd[1], RX_SIZE);
    assert_int_equal(toe_recv(fd[1], big, RX_SIZE, 0), RX_SIZE);
    assert_int_equal(look(-1), 1);
    assert_int_equal(got[0].events, EPOLLOUT);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

static void one_shot(void **state)
{
    int fd[2];

    (void)state;
    harness_pair(fd);
    watch(EPOLL_CTL_ADD, fd[1], EPOLLIN | EPOLLONESHOT, 1);
    put(fd[0], fd[1], "a");
    assert_int_equal(look(-1), 1);
    assert_int_equal(look(0), 0);
    put(fd[0], fd[1], "b");
    assert_int_equal(look(0), 0);
    watch(EPOLL_CTL_MOD, fd[1], EPOLLIN | EPOLLONESHOT, 2);
    assert_int_equal(look(0), 1);
    assert_int_equal(got[0].data.u64, 2);
    assert_int_equal(look(0), 0);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

static void ready_is_checked_again(void **state)
{
    int fd[2];
    char c;

    (void)state;
    harness_pair(fd);
    watch(EPOLL_CTL_ADD, fd[1], EPOLLIN | EPOLLET, 1);
    put(fd[0], fd[1], "a");
    assert_int_equal(toe_recv(fd[1], &c, 1, 0), 1); /* read before the event was reported */
    assert_int_equal(look(0), 0);
    watch(EPOLL_CTL_DEL, fd[1], 0, 0);
    put(fd[0], fd[1], "b");
    assert_int_equal(look(0), 0);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

static void ends_of_a_connection(void **state)
{
    int fd[2], c;

    (void)state;
    harness_pair(fd);
    watch(EPOLL_CTL_ADD, fd[1], EPOLLIN | EPOLLRDHUP, 1);
    toe_shutdown(fd[0], SHUT_WR);
    assert_int_equal(look(-1), 1);
    assert_int_equal(got[0].events, EPOLLIN | EPOLLRDHUP);
    toe_shutdown(fd[1], SHUT_WR);
    assert_int_equal(look(-1), 1);
    assert_int_equal(got[0].events, EPOLLIN | EPOLLRDHUP | EPOLLHUP);
    toe_close(fd[0]);
    toe_close(fd[1]);
    assert_int_equal(look(0), 0); /* a closed descriptor is not watched any more */
    c = harness_connect_async(LOOPTOE_RESETS);
    watch(EPOLL_CTL_ADD, c, 0, 3);
    do /* ERR and HUP are reported without a request */
        assert_int_equal(look(-1), 1);
    while (!(got[0].events & EPOLLERR));
    assert_int_equal(got[0].events, EPOLLERR | EPOLLHUP);
    toe_close(c);
}

static void registered_before_connect(void **state)
{
    struct sockaddr_in a = harness_address(LOOPTOE_PEER_IP, 7100);
    int l = harness_listener(7100);
    int c = toe_socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

    (void)state;
    watch(EPOLL_CTL_ADD, c, EPOLLOUT | EPOLLET, 9); /* as nginx does with its upstreams */
    assert_int_equal(toe_connect(c, (struct sockaddr *)&a, sizeof(a)), -1);
    assert_int_equal(errno, EINPROGRESS);
    assert_int_equal(look(-1), 1);
    assert_int_equal(got[0].events, EPOLLOUT);
    assert_int_equal(got[0].data.u64, 9);
    toe_close(c);
    c = toe_socket(AF_INET, SOCK_STREAM, 0); /* and one that the kernel carries */
    watch(EPOLL_CTL_ADD, c, EPOLLOUT, 10);
    a = harness_address("127.0.0.1", 1);
    assert_int_equal(toe_connect(c, (struct sockaddr *)&a, sizeof(a)), -1);
    assert_int_equal(errno, ECONNREFUSED);
    assert_int_equal(look(-1), 1);
    assert_int_equal(got[0].data.u64, 10);
    toe_close(c);
    toe_close(l);
}

static void listener_wakes(void **state)
{
    struct sockaddr_in any = harness_address("0.0.0.0", 0), lo;
    socklen_t len = sizeof(any);
    int l = toe_socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), c, k;

    (void)state;
    toe_bind(l, (struct sockaddr *)&any, sizeof(any));
    toe_listen(l, 8);
    toe_getsockname(l, (struct sockaddr *)&any, &len);
    watch(EPOLL_CTL_ADD, l, EPOLLIN | EPOLLEXCLUSIVE, 5);
    c = harness_connect(ntohs(any.sin_port));
    assert_int_equal(look(-1), 1);
    assert_int_equal(got[0].data.u64, 5);
    toe_close(toe_accept(l, NULL, NULL));
    assert_int_equal(look(0), 0);
    lo = harness_address("127.0.0.1", ntohs(any.sin_port));
    k = toe_socket(AF_INET, SOCK_STREAM, 0);
    toe_connect(k, (struct sockaddr *)&lo, sizeof(lo));
    assert_int_equal(look(-1), 1); /* the kernel's half, with the application's data */
    assert_int_equal(got[0].data.u64, 5);
    assert_int_equal(got[0].events, EPOLLIN);
    toe_close(toe_accept(l, NULL, NULL));
    assert_int_equal(look(0), 0);
    toe_close(c);
    toe_close(k);
    toe_close(l);
}

/* A connection over the TOE arrives at an edge-triggered listener. */
static void edge_of_a_listener(int l, uint16_t port)
{
    int c = harness_connect(port), s;

    do /* a spurious one may come first */
        assert_int_equal(toe_epoll_wait(ep, got, 1, HARNESS_PATIENCE_MS), 1);
    while ((s = toe_accept(l, NULL, NULL)) < 0);
    toe_close(s);
    toe_close(c);
}

static void an_edge_after_both_halves_of_a_listener_is_told(void **state)
{
    struct sockaddr_in any = harness_address("0.0.0.0", 0), lo;
    socklen_t len = sizeof(any);
    int l = toe_socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), c[2], s;

    (void)state;
    toe_bind(l, (struct sockaddr *)&any, sizeof(any));
    toe_listen(l, 8);
    toe_getsockname(l, (struct sockaddr *)&any, &len);
    lo = harness_address("127.0.0.1", ntohs(any.sin_port));
    watch(EPOLL_CTL_ADD, l, EPOLLIN | EPOLLET, 5);
    for (int i = 0; i < 40; i++) { /* some of these waits poll the kernel first */
        c[0] = harness_connect(ntohs(any.sin_port));
        c[1] = toe_socket(AF_INET, SOCK_STREAM, 0);
        assert_int_equal(toe_connect(c[1], (struct sockaddr *)&lo, sizeof(lo)), 0);
        assert_int_equal(toe_epoll_wait(ep, got, 1, HARNESS_PATIENCE_MS), 1);
        while ((s = toe_accept(l, NULL, NULL)) >= 0)
            toe_close(s);
        for (int k = 0; k < 1 + i % 2; k++)
            edge_of_a_listener(l, ntohs(any.sin_port));
        toe_close(c[0]);
        toe_close(c[1]);
    }
    toe_close(l);
}

static void neither_side_starves(void **state)
{
    int fd[2], e = eventfd(1, 0), from_kernel = 0, from_toe = 0;

    (void)state;
    harness_pair(fd);
    watch(EPOLL_CTL_ADD, e, EPOLLIN, 1);
    watch(EPOLL_CTL_ADD, fd[1], EPOLLIN, 2);
    put(fd[0], fd[1], "stays");
    for (int i = 0; i < 100; i++) {
        assert_int_equal(toe_epoll_wait(ep, got, 1, -1), 1);
        from_kernel += got[0].data.u64 == 1;
        from_toe += got[0].data.u64 == 2;
    }
    assert_true(from_kernel > 0);
    assert_true(from_toe > 0);
    close(e);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

static void all_ready_take_turns(void **state)
{
    int fd[4][2], seen[4] = {0};

    (void)state;
    for (int i = 0; i < 4; i++) {
        harness_pair(fd[i]);
        watch(EPOLL_CTL_ADD, fd[i][1], EPOLLIN, (uint64_t)i);
        put(fd[i][0], fd[i][1], "x");
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(toe_epoll_wait(ep, got, 1, -1), 1);
        seen[got[0].data.u64]++;
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(seen[i], 1);
        toe_close(fd[i][0]);
        toe_close(fd[i][1]);
    }
}

static void several_instances_and_nested(void **state)
{
    struct epoll_event e = {.events = EPOLLIN, .data.u64 = 77};
    int other = toe_epoll_create(1), fd[2], d;
    char c;

    (void)state;
    harness_pair(fd);
    watch(EPOLL_CTL_ADD, fd[1], EPOLLIN, 1);
    assert_int_equal(toe_epoll_ctl(other, EPOLL_CTL_ADD, ep, &e), 0);
    assert_int_equal(toe_epoll_wait(other, got, MAX, 0), 0);
    put(fd[0], fd[1], "x");
    assert_int_equal(look(-1), 1);
    assert_int_equal(toe_epoll_wait(other, got, MAX, -1), 1);
    assert_int_equal(got[0].data.u64, 77);
    assert_true(harness_wait(other, POLLIN) & POLLIN);
    d = toe_dup(other);
    toe_close(other);
    assert_int_equal(toe_epoll_wait(d, got, MAX, -1), 1);
    assert_int_equal(toe_recv(fd[1], &c, 1, 0), 1);
    assert_int_equal(toe_epoll_wait(d, got, MAX, 0), 0);
    e.data.u64 = 78; /* the same socket in both */
    assert_int_equal(toe_epoll_ctl(d, EPOLL_CTL_ADD, fd[1], &e), 0);
    put(fd[0], fd[1], "y");
    assert_int_equal(look(-1), 1);
    assert_true(toe_epoll_wait(d, got, MAX, -1) >= 1);
    toe_close(d);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

static void wrong_calls(void **state)
{
    struct epoll_event e = {.events = EPOLLIN};
    int fd[2];

    (void)state;
    harness_pair(fd);
    assert_int_equal(toe_epoll_ctl(ep, EPOLL_CTL_MOD, fd[0], &e), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(toe_epoll_ctl(ep, EPOLL_CTL_DEL, fd[0], NULL), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(toe_epoll_ctl(ep, 99, fd[0], &e), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(toe_epoll_ctl(ep, EPOLL_CTL_ADD, fd[0], &e), 0);
    assert_int_equal(toe_epoll_ctl(ep, EPOLL_CTL_ADD, fd[0], &e), -1);
    assert_int_equal(errno, EEXIST);
    assert_int_equal(toe_epoll_ctl(ep, EPOLL_CTL_ADD, ep, &e), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(toe_epoll_ctl(fd[0], EPOLL_CTL_ADD, fd[1], &e), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(toe_epoll_wait(ep, got, 0, 0), -1);
    assert_int_equal(errno, EINVAL);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

static void sleeps_until_data_comes(void **state)
{
    int fd[2], status;
    pid_t pid;

    (void)state;
    harness_pair(fd);
    watch(EPOLL_CTL_ADD, fd[1], EPOLLIN, 1);
    for (int i = 0; i < 20; i++) {
        char c;

        /* the TOE is stopped with the command in its ring; a child resumes it while this process
         * sleeps */
        looptoe_freeze(harness_toe(), 1);
        assert_int_equal(toe_send(fd[0], "z", 1, 0), 1);
        pid = fork();
        if (pid == 0) {
            usleep(5000);
            kill(harness_toe(), SIGCONT);
            _exit(0);
        }
        assert_int_equal(look(HARNESS_PATIENCE_MS), 1);
        assert_int_equal(toe_recv(fd[1], &c, 1, 0), 1);
        waitpid(pid, &status, 0);
    }
    toe_close(fd[0]);
    toe_close(fd[1]);
}

#define EPOLL_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        EPOLL_TEST(level_triggered),
        EPOLL_TEST(edge_triggered),
        EPOLL_TEST(edge_of_room_to_send),
        EPOLL_TEST(one_shot),
        EPOLL_TEST(ready_is_checked_again),
        EPOLL_TEST(ends_of_a_connection),
        EPOLL_TEST(registered_before_connect),
        EPOLL_TEST(listener_wakes),
        EPOLL_TEST(an_edge_after_both_halves_of_a_listener_is_told),
        EPOLL_TEST(neither_side_starves),
        EPOLL_TEST(all_ready_take_turns),
        EPOLL_TEST(several_instances_and_nested),
        EPOLL_TEST(wrong_calls),
        EPOLL_TEST(sleeps_until_data_comes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
