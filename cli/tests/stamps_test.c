/* SPDX-License-Identifier: Apache-2.0 */
/* stamps_test.c - when the kernel begins to stamp (cli/rtt/stamps.h). Its first stamps are late
 * only on a busy machine, so recvmsg() is wrapped: it takes the stamps away as often as asked. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <sched.h>

#include "../rtt/stamps.h"

static unsigned unstamped, calls;

ssize_t __real_recvmsg(int fd, struct msghdr *msg, int flags);
ssize_t __wrap_recvmsg(int fd, struct msghdr *msg, int flags);

ssize_t __wrap_recvmsg(int fd, struct msghdr *msg, int flags)
{
    ssize_t n = __real_recvmsg(fd, msg, flags);

    if (calls++ < unstamped)
        msg->msg_controllen = 0;
    return n;
}

static void test_it_waits_for_the_first_stamp(void **state)
{
    (void)state;
    calls = 0;
    unstamped = 5;
    stamps_settle();
    /* the kernel's own may be late too */
    assert_in_range(calls, 6, 1000);
}

static void test_it_ends_if_no_stamp_ever_comes(void **state)
{
    (void)state;
    calls = 0;
    unstamped = 1000000;
    stamps_settle();
    assert_int_equal(calls, 1000);
}

static void test_it_ends_without_a_loopback_interface(void **state)
{
    (void)state;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0 && unshare(CLONE_NEWNET) != 0)
        skip();
    calls = unstamped = 0;
    stamps_settle();
    assert_int_equal(calls, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_waits_for_the_first_stamp),
        cmocka_unit_test(test_it_ends_if_no_stamp_ever_comes),
        cmocka_unit_test(test_it_ends_without_a_loopback_interface),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
