/* SPDX-License-Identifier: Apache-2.0 */
/* test_poll.c - poll.c and select.c over TOE and kernel descriptors (fs/select.c's rules). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "fake_libtoe.h"

#define TOE  200 /* a number in the table; not open in the kernel */
#define TOE2 201

static int ends[2]; /* a pipe: to read, to write */
static struct tsock *sock;

static int set_up(void **state)
{
    (void)state;
    fake_reset();
    sock = fake_socket(TOE, TS_OPEN);
    return pipe(ends);
}

static int tear_down(void **state)
{
    (void)state;
    assert_int_equal(fake.locks, 0);
    assert_int_equal(fake.adds, 0);
    close(ends[0]);
    close(ends[1]);
    return 0;
}

/* ---- sleeps ---- */

static int become_ready(struct pollfd *kfds, nfds_t n, uint64_t deadline)
{
    (void)kfds;
    (void)n;
    (void)deadline;
    fake_events(sock, EPOLLIN | EPOLLRDNORM);
    return 0;
}

static int kernel_ready(struct pollfd *kfds, nfds_t n, uint64_t deadline)
{
    nfds_t i;

    (void)deadline;
    for (i = 0; i < n; i++)
        kfds[i].revents = kfds[i].events;
    return (int)n;
}

static int pass_time(struct pollfd *kfds, nfds_t n, uint64_t deadline)
{
    (void)kfds;
    (void)n;
    fake.now = deadline;
    return 0;
}

static int spurious_then_time(struct pollfd *kfds, nfds_t n, uint64_t deadline)
{
    return fake.sleeps < 5 ? 0 : pass_time(kfds, n, deadline);
}

static int for_ever(struct pollfd *kfds, nfds_t n, uint64_t deadline)
{
    assert_true(deadline == TWAIT_FOREVER);
    return become_ready(kfds, n, deadline);
}

static int interrupted(struct pollfd *kfds, nfds_t n, uint64_t deadline)
{
    (void)kfds;
    (void)n;
    (void)deadline;
    return terr(EINTR);
}

static int interrupted_and_ready(struct pollfd *kfds, nfds_t n, uint64_t deadline)
{
    become_ready(kfds, n, deadline);
    return terr(EINTR);
}

static int decided_meanwhile(struct pollfd *kfds, nfds_t n, uint64_t deadline)
{
    int r = kernel_ready(kfds, n, deadline);

    if (sock->state == TS_NEW) {
        sock->state = TS_CONNECTING;
        return r;
    }
    assert_int_equal(n, 0);
    return pass_time(kfds, n, deadline);
}

/* ---- poll ---- */

static void test_both_kinds_are_counted(void **state)
{
    struct pollfd p[3] = {{TOE, POLLIN, 0}, {ends[1], POLLOUT, 0}, {-5, POLLIN, 9}};

    (void)state;
    assert_int_equal(toe_poll(p, 3, 0), 1);
    assert_int_equal(p[0].revents, 0);
    fake_events(sock, EPOLLIN | EPOLLRDNORM | EPOLLOUT);
    assert_int_equal(toe_poll(p, 3, -1), 2);
    assert_int_equal(p[0].revents, POLLIN);
    assert_int_equal(p[1].revents, POLLOUT);
    assert_int_equal(p[2].revents, 0);
}

static void test_hang_up_and_error_are_always_told(void **state)
{
    struct pollfd p = {TOE, 0, 0};

    (void)state;
    fake_events(sock, EPOLLIN | EPOLLHUP | EPOLLERR | EPOLLRDHUP);
    assert_int_equal(toe_poll(&p, 1, 0), 1);
    assert_int_equal(p.revents, POLLHUP | POLLERR);
    p.events = POLLRDHUP;
    assert_int_equal(toe_poll(&p, 1, 0), 1);
    assert_int_equal(p.revents, POLLHUP | POLLERR | POLLRDHUP);
}

static void test_a_closed_number_is_invalid(void **state)
{
    struct pollfd p[2] = {{TOE, POLLIN, 0}, {TOE2, POLLIN, 0}};

    (void)state;
    assert_int_equal(toe_poll(p, 2, -1), 1);
    assert_int_equal(p[1].revents, POLLNVAL);
}

static void test_a_sleeper_is_registered_before_its_last_look(void **state)
{
    struct pollfd p[2] = {{TOE, POLLIN, 0}, {ends[0], POLLIN, 0}};

    (void)state;
    fake.sleep = become_ready;
    assert_int_equal(toe_poll(p, 2, -1), 1);
    assert_int_equal(p[0].revents, POLLIN);
    assert_int_equal(fake.sleeps, 1);
    assert_int_equal(fake.last_look_adds, 1);
}

static void test_the_kernel_wakes_a_sleeper(void **state)
{
    struct pollfd p[2] = {{TOE, POLLIN, 0}, {ends[0], POLLIN, 0}};

    (void)state;
    fake.sleep = kernel_ready;
    assert_int_equal(toe_poll(p, 2, 1000), 1);
    assert_int_equal(p[0].revents, 0);
    assert_int_equal(p[1].revents, POLLIN);
}

static void test_time_passes_in_spite_of_spurious_wakes(void **state)
{
    struct pollfd p = {TOE, POLLIN, 0};

    (void)state;
    fake.sleep = spurious_then_time;
    assert_int_equal(toe_poll(&p, 1, 1234), 0);
    assert_int_equal(fake.now, NSEC + 1234 * 1000000ull);
    assert_int_equal(fake.sleeps, 5);
}

static void test_a_signal_is_eintr_unless_something_is_ready(void **state)
{
    struct pollfd p = {TOE, POLLIN, 0};

    (void)state;
    fake.sleep = interrupted;
    assert_int_equal(toe_poll(&p, 1, -1), -1);
    assert_int_equal(errno, EINTR);
    fake.sleep = interrupted_and_ready;
    assert_int_equal(toe_poll(&p, 1, -1), 1);
}

static void test_the_kernel_answers_for_an_undecided_socket(void **state)
{
    struct pollfd p = {ends[1], POLLOUT, 0};

    (void)state;
    sock = fake_socket(ends[1], TS_NEW);
    assert_int_equal(toe_poll(&p, 1, -1), 1);
    assert_int_equal(p.revents, POLLOUT);
}

static void test_the_kernel_is_not_believed_of_a_socket_decided_meanwhile(void **state)
{
    struct pollfd p = {ends[0], POLLIN, 0};

    (void)state;
    sock = fake_socket(ends[0], TS_NEW);
    fake.sleep = decided_meanwhile;
    assert_int_equal(toe_poll(&p, 1, 10), 0);
    assert_int_equal(fake.sleeps, 2);
}

static void test_a_listener_watched_is_used(void **state)
{
    struct pollfd p = {TOE2, POLLIN, 0};

    (void)state;
    fake_socket(TOE2, TS_LISTEN);
    assert_int_equal(toe_poll(&p, 1, 0), 0);
    assert_int_equal(fake.uses, 1);
}

static void test_many_entries(void **state)
{
    struct pollfd p[150];
    int i;

    (void)state;
    for (i = 0; i < 150; i++) {
        p[i] = (struct pollfd){i % 2 ? 1000 + i : ends[1], POLLIN | POLLOUT, 0};
        if (i % 2)
            fake_events(fake_socket(1000 + i, TS_OPEN), i % 3 ? EPOLLIN : 0);
    }
    assert_int_equal(toe_poll(p, 150, -1), 75 + 50);
    for (i = 0; i < 150; i++)
        assert_int_equal(p[i].revents, i % 2 == 0 ? POLLOUT : i % 3 ? POLLIN : 0);
}

static void test_wrong_arguments(void **state)
{
    struct pollfd p = {TOE, POLLIN, 0};
    struct timespec negative = {-1, 0}, large = {0, 1000000000};
    struct rlimit limit;

    (void)state;
    assert_int_equal(toe_ppoll(&p, 1, &negative, NULL), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(toe_ppoll(&p, 1, &large, NULL), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(toe_poll(&p, (nfds_t)limit.rlim_cur + 1, 0), -1);
    assert_int_equal(errno, EINVAL);
}

static void test_a_time_beyond_the_clock_is_for_ever(void **state)
{
    struct pollfd p = {TOE, POLLIN, 0};
    struct timespec ts = {INT64_MAX, 999999999};

    (void)state;
    fake.sleep = for_ever;
    assert_int_equal(toe_ppoll(&p, 1, &ts, NULL), 1);
}

/* ---- select ---- */

static void test_select_fills_three_sets(void **state)
{
    struct timeval now = {0, 0};
    fd_set r, w, e;

    (void)state;
    FD_ZERO(&r);
    FD_ZERO(&w);
    FD_ZERO(&e);
    FD_SET(TOE, &r);
    FD_SET(TOE, &w);
    FD_SET(TOE, &e);
    FD_SET(ends[0], &r);
    FD_SET(ends[1], &w);
    fake_events(sock, EPOLLIN | EPOLLOUT | EPOLLPRI);
    assert_int_equal(toe_select(TOE + 1, &r, &w, &e, &now), 4);
    assert_true(FD_ISSET(TOE, &r) && FD_ISSET(TOE, &w) && FD_ISSET(TOE, &e));
    assert_true(!FD_ISSET(ends[0], &r) && FD_ISSET(ends[1], &w));
}

static void test_select_counts_hang_up_as_readable_and_error_as_both(void **state)
{
    struct timeval now = {0, 0};
    fd_set r, w;

    (void)state;
    FD_ZERO(&r);
    FD_ZERO(&w);
    FD_SET(TOE, &r);
    FD_SET(TOE, &w);
    fake_events(sock, EPOLLHUP);
    assert_int_equal(toe_select(TOE + 1, &r, &w, NULL, &now), 1);
    assert_true(FD_ISSET(TOE, &r) && !FD_ISSET(TOE, &w));
    FD_SET(TOE, &w);
    fake_events(sock, EPOLLERR);
    assert_int_equal(toe_select(TOE + 1, &r, &w, NULL, &now), 2);
}

static void test_select_sleeps_over_a_hang_up_that_no_set_asks_for(void **state)
{
    struct timeval tv = {1, 0};
    fd_set e;

    (void)state;
    close(ends[1]);
    FD_ZERO(&e);
    FD_SET(TOE, &e);
    FD_SET(ends[0], &e); /* hung up in the kernel */
    fake_events(sock, EPOLLHUP | EPOLLERR);
    fake.sleep = pass_time;
    assert_int_equal(toe_select(TOE + 1, NULL, NULL, &e, &tv), 0);
    assert_int_equal(fake.sleeps, 1);
    assert_true(!FD_ISSET(TOE, &e) && !FD_ISSET(ends[0], &e));
    assert_int_equal(tv.tv_sec, 0);
}

static void test_select_of_a_closed_number_is_ebadf_and_keeps_the_sets(void **state)
{
    struct timeval tv = {0, 0};
    fd_set r;

    (void)state;
    FD_ZERO(&r);
    FD_SET(TOE, &r);
    FD_SET(TOE2, &r);
    assert_int_equal(toe_select(TOE2 + 1, &r, NULL, NULL, &tv), -1);
    assert_int_equal(errno, EBADF);
    assert_true(FD_ISSET(TOE, &r) && FD_ISSET(TOE2, &r));
    /* Bits at and above n are not looked at. */
    assert_int_equal(toe_select(TOE2, &r, NULL, NULL, &tv), 0);
}

static int half_the_time(struct pollfd *kfds, nfds_t n, uint64_t deadline)
{
    fake.now += (deadline - fake.now) / 2;
    return become_ready(kfds, n, deadline);
}

static void test_select_tells_the_time_left_and_pselect_does_not(void **state)
{
    struct timeval tv = {3, 1000000}; /* microseconds over a second are carried */
    struct timespec ts = {4, 0};
    fd_set r;

    (void)state;
    FD_ZERO(&r);
    FD_SET(TOE, &r);
    fake.sleep = half_the_time;
    assert_int_equal(toe_select(TOE + 1, &r, NULL, NULL, &tv), 1);
    assert_int_equal(tv.tv_sec, 2);
    assert_int_equal(tv.tv_usec, 0);
    fake_events(sock, 0);
    assert_int_equal(toe_pselect(TOE + 1, &r, NULL, NULL, &ts, NULL), 1);
    assert_int_equal(ts.tv_sec, 4);
}

static void test_select_of_the_kernel_alone(void **state)
{
    struct timeval tv = {600, 0};
    fd_set w;

    (void)state;
    FD_ZERO(&w);
    FD_SET(ends[1], &w);
    assert_int_equal(toe_select(ends[1] + 1, NULL, &w, NULL, &tv), 1);
    assert_true(FD_ISSET(ends[1], &w));
    assert_true(tv.tv_sec <= 600);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_both_kinds_are_counted),
        TEST(test_hang_up_and_error_are_always_told),
        TEST(test_a_closed_number_is_invalid),
        TEST(test_a_sleeper_is_registered_before_its_last_look),
        TEST(test_the_kernel_wakes_a_sleeper),
        TEST(test_time_passes_in_spite_of_spurious_wakes),
        TEST(test_a_signal_is_eintr_unless_something_is_ready),
        TEST(test_the_kernel_answers_for_an_undecided_socket),
        TEST(test_the_kernel_is_not_believed_of_a_socket_decided_meanwhile),
        TEST(test_a_listener_watched_is_used),
        TEST(test_many_entries),
        TEST(test_wrong_arguments),
        TEST(test_a_time_beyond_the_clock_is_for_ever),
        TEST(test_select_fills_three_sets),
        TEST(test_select_counts_hang_up_as_readable_and_error_as_both),
        TEST(test_select_sleeps_over_a_hang_up_that_no_set_asks_for),
        TEST(test_select_of_a_closed_number_is_ebadf_and_keeps_the_sets),
        TEST(test_select_tells_the_time_left_and_pselect_does_not),
        TEST(test_select_of_the_kernel_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
