/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sockends.c - how connections of libtoe end: halves, resets, unread bytes, broken pipes; by
 * Linux's rules, over looptoe.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <sys/ioctl.h>
#include <sys/time.h>

#include "harness.h"

static void half_close(void **state)
{
    char in[8];
    int fd[2];

    (void)state;
    harness_pair(fd);
    assert_int_equal(toe_send(fd[0], "end", 3, 0), 3);
    assert_int_equal(toe_shutdown(fd[0], SHUT_WR), 0);
    assert_int_equal(toe_send(fd[0], "x", 1, MSG_NOSIGNAL), -1);
    assert_int_equal(errno, EPIPE);
    while (!(harness_wait(fd[1], POLLIN | POLLRDHUP) & POLLRDHUP))
        ;
    assert_int_equal(toe_recv(fd[1], in, 8, 0), 3);
    assert_int_equal(toe_recv(fd[1], in, 8, 0), 0);
    assert_int_equal(toe_recv(fd[1], in, 8, 0), 0);
    assert_int_equal(toe_send(fd[1], "back", 4, 0), 4); /* the other direction is open */
    assert_int_equal(toe_recv(fd[0], in, 8, 0), 4);
    assert_int_equal(toe_shutdown(fd[1], SHUT_WR), 0);
    assert_true(harness_wait(fd[0], POLLIN) & POLLHUP);
    assert_int_equal(toe_recv(fd[0], in, 8, 0), 0);
    toe_close(fd[0]);
    toe_close(fd[1]);
    harness_slots(0);
}

static void data_before_the_end_is_read_after_it(void **state)
{
    char in[16];
    int fd[2], c;

    (void)state;
    if (harness_inline())
        skip(); /* looptoe does it */
    harness_pair(fd);
    assert_int_equal(toe_shutdown(fd[1], SHUT_WR), 0);
    assert_int_equal(toe_send(fd[0], "tail", 4, 0), 4);
    toe_close(fd[0]); /* both sides have ended: the flow is removed, four bytes stay */
    while (!(harness_wait(fd[1], POLLIN) & POLLHUP))
        ;
    assert_int_equal(toe_recv(fd[1], in, 2, 0), 2);
    assert_int_equal(toe_recv(fd[1], in + 2, 8, 0), 2);
    assert_memory_equal(in, "tail", 4);
    assert_int_equal(toe_recv(fd[1], in, 8, 0), 0);
    harness_slots(0); /* the slot was freed with the last byte, before close() */
    toe_close(fd[1]);
    c = harness_connect_async(LOOPTOE_DATA_RST);
    while (!(harness_wait(c, POLLIN) & POLLERR))
        ;
    assert_int_equal(toe_recv(c, in, sizeof(in), 0), 10);
    assert_int_equal(toe_recv(c, in, sizeof(in), 0), -1);
    assert_int_equal(errno, ECONNRESET);
    assert_int_equal(toe_recv(c, in, sizeof(in), 0), 0);
    toe_close(c);
}

static void close_over_unread_data_resets(void **state)
{
    char c;
    int fd[2];

    (void)state;
    harness_pair(fd);
    assert_int_equal(toe_send(fd[0], "unread", 6, 0), 6);
    harness_wait(fd[1], POLLIN);
    assert_int_equal(toe_recv(fd[1], &c, 1, 0), 1);
    toe_close(fd[1]);
    assert_true(harness_wait(fd[0], POLLIN) & POLLERR);
    assert_int_equal(toe_recv(fd[0], &c, 1, 0), -1);
    assert_int_equal(errno, ECONNRESET);
    toe_close(fd[0]);
    /* read to the end, the close is an orderly one: the TOE was notified of the reads */
    harness_pair(fd);
    assert_int_equal(toe_send(fd[0], "r", 1, 0), 1);
    harness_wait(fd[1], POLLIN);
    assert_int_equal(toe_recv(fd[1], &c, 1, 0), 1);
    toe_close(fd[1]);
    assert_int_equal(toe_recv(fd[0], &c, 1, 0), 0);
    toe_close(fd[0]);
}

static void linger_zero_resets(void **state)
{
    struct linger l = {.l_onoff = 1};
    char c;
    int fd[2];

    (void)state;
    harness_pair(fd);
    assert_int_equal(toe_setsockopt(fd[0], SOL_SOCKET, SO_LINGER, &l, sizeof(l)), 0);
    toe_close(fd[0]);
    assert_int_equal(toe_recv(fd[1], &c, 1, 0), -1);
    assert_int_equal(errno, ECONNRESET);
    toe_close(fd[1]);
}

static volatile sig_atomic_t pipes;

static void on_pipe(int sig)
{
    (void)sig;
    pipes++;
}

static void broken_pipe(void **state)
{
    struct sigaction sa = {.sa_handler = on_pipe}, old;
    int c = harness_connect_async(LOOPTOE_RESETS);
    int error = 0;
    socklen_t len = sizeof(error);

    (void)state;
    if (harness_inline())
        skip(); /* looptoe does it */
    sigaction(SIGPIPE, &sa, &old);
    harness_wait(c, POLLIN);
    assert_int_equal(toe_getsockopt(c, SOL_SOCKET, SO_ERROR, &error, &len), 0);
    assert_int_equal(error, ECONNRESET);
    assert_int_equal(toe_send(c, "x", 1, MSG_NOSIGNAL), -1);
    assert_int_equal(errno, EPIPE);
    assert_int_equal(pipes, 0);
    assert_int_equal(toe_write(c, "x", 1), -1);
    assert_int_equal(errno, EPIPE);
    assert_int_equal(pipes, 1);
    sigaction(SIGPIPE, &old, NULL);
    toe_close(c);
}

static void closing_a_listener_resets_its_queue(void **state)
{
    int l = harness_listener(7002), c = harness_connect(7002);
    char b;

    (void)state;
    harness_wait(l, POLLIN);
    toe_close(l);
    assert_int_equal(toe_recv(c, &b, 1, 0), -1);
    assert_int_equal(errno, ECONNRESET);
    toe_close(c);
    harness_slots(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TOE_TEST(half_close),
        TOE_TEST(data_before_the_end_is_read_after_it),
        TOE_TEST(close_over_unread_data_resets),
        TOE_TEST(linger_zero_resets),
        TOE_TEST(broken_pipe),
        TOE_TEST(closing_a_listener_resets_its_queue),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
