/* SPDX-License-Identifier: Apache-2.0 */
/* fds_test.c - toe/fds.h: descriptors go over a Unix socket, and no more are kept than asked for.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cmocka.h>

#include <toe/fds.h>

static int ends[2];

static int set_up(void **state)
{
    (void)state;
    return socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends);
}

static int tear_down(void **state)
{
    (void)state;
    close(ends[0]);
    close(ends[1]);
    return 0;
}

static int lowest_free(void)
{
    int fd = dup(ends[0]);

    close(fd);
    return fd;
}

/* Sends n copies of the first end and takes them into fds. */
static size_t pass(size_t n, int *fds, size_t max)
{
    TOE_FDS_ROOM(3) out, in;
    int copies[3] = {ends[0], ends[0], ends[0]};
    char byte = 'x';
    struct iovec v = {&byte, 1};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};

    toe_fds_put(&m, &out, copies, n);
    assert_int_equal(sendmsg(ends[0], &m, 0), 1);
    m.msg_control = &in;
    m.msg_controllen = sizeof(in);
    assert_int_equal(recvmsg(ends[1], &m, 0), 1);
    return toe_fds_take(&m, fds, max);
}

static void descriptors_arrive(void **state)
{
    int fds[3] = {-1, -1, -1};

    (void)state;
    assert_int_equal(pass(2, fds, 3), 2);
    for (int i = 0; i < 2; i++) {
        assert_true(fcntl(fds[i], F_GETFD) >= 0);
        close(fds[i]);
    }
    assert_int_equal(fds[2], -1);
}

static void further_ones_are_closed(void **state)
{
    int fds[1] = {-1}, before;

    (void)state;
    before = lowest_free();
    assert_int_equal(pass(3, fds, 1), 3);
    assert_int_equal(close(fds[0]), 0);
    assert_int_equal(lowest_free(), before);
}

static void none_are_none(void **state)
{
    (void)state;
    assert_int_equal(pass(0, NULL, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(descriptors_arrive, set_up, tear_down),
        cmocka_unit_test_setup_teardown(further_ones_are_closed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(none_are_none, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
