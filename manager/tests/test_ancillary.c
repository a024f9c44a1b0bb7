/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ancillary.c - what a read returns beyond the bytes that libtoe knows of: bytes whose
 * notification waits in the ring, and control messages (TCP_INQ, SO_TIMESTAMP and its kin).
 */
#include <linux/net_tstamp.h>
#include <linux/tcp.h>
#include <string.h>
#include <sys/time.h>

#include "ancillary.h"
#include "ctx.h"
#include "harness.h"
#include "qp.h"

static void put(int fd, const char *text)
{
    assert_int_equal(toe_send(fd, text, strlen(text), 0), (ssize_t)strlen(text));
}

/* Waits until the TOE has written DATA_RECEIVED. Takes no command out of the ring. */
static void await_news(void)
{
    struct timespec pause = {.tv_nsec = 100000};
    struct toe_cmd c;

    for (int i = 0; i < 10 * HARNESS_PATIENCE_MS; i++) {
        for (uint32_t q = 0; q < tctx.qps_n; q++)
            for (struct toe_ring_rx r = tctx.qps[q]->hw; toe_ring_get(&r, &c);)
                if (toe_cmd_type(&c) == TOE_CMD_DATA_RECEIVED)
                    return;
        nanosleep(&pause, NULL);
    }
    fail_msg("no DATA_RECEIVED");
}

static void a_read_takes_what_waits_in_the_ring(void **state)
{
    static const int flags[] = {MSG_PEEK, 0};
    char in[16];
    int fd[2];

    (void)state;
    harness_pair(fd);
    put(fd[0], "one");
    harness_await_bytes(fd[1], 3);
    put(fd[0], "two");
    await_news();
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(toe_recv(fd[1], in, sizeof in, flags[i]), 6);
        assert_memory_equal(in, "onetwo", 6);
    }
    put(fd[0], "one");
    harness_await_bytes(fd[1], 3);
    put(fd[0], "two");
    await_news();
    assert_int_equal(toe_recv(fd[1], in, 4, 0), 4);
    assert_int_equal(toe_recv(fd[1], in, sizeof in, 0), 2);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

/* ---- control messages ---- */

static union {
    struct cmsghdr align;
    uint8_t bytes[256];
} control;
static struct msghdr msg;

/* Reads n bytes with so much room for control messages. */
static void read_message(int fd, size_t n, size_t room, int flags)
{
    static char in[64];
    static struct iovec v;

    v = (struct iovec){in, n};
    memset(&control, 0xee, sizeof control);
    msg = (struct msghdr){
        .msg_iov = &v, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = room};
    assert_int_equal(toe_recvmsg(fd, &msg, flags), (ssize_t)n);
}

/* Returns the data of the control message; NULL: there is none. */
static const void *control_data(int level, int type, size_t size)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c))
        if (c->cmsg_level == level && c->cmsg_type == type) {
            assert_int_equal(c->cmsg_len, CMSG_LEN(size));
            return CMSG_DATA(c);
        }
    return NULL;
}

static void set(int fd, int level, int name, int value)
{
    assert_int_equal(toe_setsockopt(fd, level, name, &value, sizeof value), 0);
}

static int left(void)
{
    const int *found = control_data(IPPROTO_TCP, TCP_CM_INQ, sizeof *found);

    return found ? *found : -1;
}

static void what_is_left_to_read(void **state)
{
    int fd[2];

    (void)state;
    harness_pair(fd);
    set(fd[1], IPPROTO_TCP, TCP_INQ, 1);
    put(fd[0], "0123456789");
    harness_await_bytes(fd[1], 10);
    read_message(fd[1], 3, sizeof control, MSG_PEEK);
    assert_int_equal(left(), 10);
    read_message(fd[1], 3, sizeof control, 0);
    assert_int_equal(left(), 7);
    read_message(fd[1], 1, 0, 0);
    assert_int_equal(msg.msg_flags, MSG_CTRUNC);
    assert_int_equal(msg.msg_controllen, 0);
    toe_shutdown(fd[0], SHUT_WR);
    harness_wait(fd[1], POLLRDHUP);
    read_message(fd[1], 1, sizeof control, 0);
    assert_int_equal(left(), 6); /* as Linux: the FIN counts */
    read_message(fd[1], 5, sizeof control, 0);
    assert_int_equal(left(), 1);
    read_message(fd[1], 0, sizeof control, 0); /* the end of the stream */
    assert_int_equal(left(), 1);
    set(fd[1], IPPROTO_TCP, TCP_INQ, 0);
    read_message(fd[1], 0, sizeof control, 0);
    assert_int_equal(left(), -1);
    assert_int_equal(msg.msg_controllen, 0);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

static struct timespec now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return t;
}

/* Asserts that `at` is between two times, with room for steps of the clock and of the unit. */
static void between(struct timespec from, int64_t s, int64_t ns, struct timespec to)
{
    int64_t at = s * 1000000000 + ns;

    assert_true(at >= ((int64_t)from.tv_sec - 5) * 1000000000);
    assert_true(at <= ((int64_t)to.tv_sec + 5) * 1000000000);
}

static void times_of_bytes(void **state)
{
    const struct timeval *tv;
    const struct timespec *ts;
    struct timespec from;
    int fd[2];

    (void)state;
    harness_pair(fd);
    set(fd[1], SOL_SOCKET, SO_TIMESTAMP, 1);
    from = now();
    put(fd[0], "0123456789");
    harness_await_bytes(fd[1], 10);
    read_message(fd[1], 2, sizeof control, MSG_PEEK);
    tv = control_data(SOL_SOCKET, SO_TIMESTAMP, sizeof *tv);
    assert_non_null(tv);
    between(from, tv->tv_sec, tv->tv_usec * 1000, now());
    set(fd[1], SOL_SOCKET, SO_TIMESTAMPNS, 1);
    read_message(fd[1], 2, sizeof control, 0);
    ts = control_data(SOL_SOCKET, SO_TIMESTAMPNS, sizeof *ts);
    assert_non_null(ts);
    between(from, ts->tv_sec, ts->tv_nsec, now());
    assert_null(control_data(SOL_SOCKET, SO_TIMESTAMP, sizeof *tv));
    set(fd[1], SOL_SOCKET, SO_TIMESTAMP_NEW, 1);
    read_message(fd[1], 2, sizeof control, 0);
    assert_non_null(control_data(SOL_SOCKET, SO_TIMESTAMP_NEW, 16));
    set(fd[1], SOL_SOCKET, SO_TIMESTAMP_NEW, 0);
    set(fd[1], SOL_SOCKET, SO_TIMESTAMPING,
        SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_RX_SOFTWARE);
    read_message(fd[1], 1, sizeof control, 0);
    ts = control_data(SOL_SOCKET, SO_TIMESTAMPING, 3 * sizeof *ts);
    assert_non_null(ts);
    between(from, ts->tv_sec, ts->tv_nsec, now());
    assert_int_equal(ts[1].tv_sec + ts[1].tv_nsec + ts[2].tv_sec + ts[2].tv_nsec, 0);
    toe_close(fd[0]);
    toe_close(fd[1]);
}

/* ---- without a TOE ---- */

static int64_t stamp_of(struct tsock *s, uint32_t end)
{
    const struct timespec *ts;

    memset(&control, 0, sizeof control);
    msg = (struct msghdr){.msg_control = &control, .msg_controllen = sizeof control};
    tancillary_put(s, &msg, 1, end);
    ts = control_data(SOL_SOCKET, SO_TIMESTAMPNS, sizeof *ts);
    return ts ? ts->tv_sec * 1000000000ll + ts->tv_nsec : 0;
}

/* Each byte has the time of its own notification, the last ones once there are too many; none
 * before the option was set. */
static void each_read_has_its_own_time(void **state)
{
    static struct tsock s;
    struct timespec t;
    uint32_t at;

    (void)state;
    memset(&s, 0, sizeof s);
    s.opts.stamps = TSTAMP_ON | TSTAMP_NS;
    s.rx_pos = 0xffffffe0; /* offsets wrap */
    tancillary_options(&s);
    clock_gettime(CLOCK_MONOTONIC, &t);
    at = (uint32_t)(((uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec) >> 10);
    assert_int_equal(stamp_of(&s, 1), 0);
    for (uint32_t i = 0; i < TRXTIMES; i++) /* each 100 s after the one before */
        tancillary_received(&s, 0xfffffff0u + 8 * i, at - 100 * 976562 * (TRXTIMES - i));
    for (uint32_t i = 1; i < TRXTIMES; i++) {
        int64_t gap = stamp_of(&s, 0xfffffff0u + 8 * i) - stamp_of(&s, 0xfffffff0u + 8 * i - 8);

        assert_in_range(gap, 99 * 1000000000ll, 101 * 1000000000ll);
    }
    tancillary_received(&s, 0xfffffff0u + 8 * TRXTIMES, at);
    assert_true(llabs(stamp_of(&s, 0xfffffff0u + 8 * TRXTIMES - 8) -
                      stamp_of(&s, 0xfffffff0u + 8 * TRXTIMES)) < 1000000000ll);
    s.rx_pos = 0xfffffff0u + 8 * TRXTIMES;
    (void)stamp_of(&s, s.rx_pos); /* all is read: its times are forgotten */
    assert_int_equal(s.rx_times.n, 0);
    assert_int_equal(stamp_of(&s, s.rx_pos + 1), 0);
}

/* A control message that does not fit is cut, as by put_cmsg() of Linux. */
static void control_messages_are_cut(void **state)
{
    uint64_t data = 0x1122334455667788;
    size_t used = 0;

    (void)state;
    msg = (struct msghdr){.msg_control = &control, .msg_controllen = CMSG_LEN(8) + 4};
    tancillary_append(&msg, &used, 1, 2, &data, sizeof data);
    assert_int_equal(used, CMSG_LEN(8)); /* nothing is left for its padding */
    assert_int_equal(msg.msg_flags, 0);
    tancillary_append(&msg, &used, 1, 2, &data, sizeof data);
    assert_int_equal(msg.msg_flags, MSG_CTRUNC);
    assert_int_equal(used, CMSG_LEN(8));
    used = 0;
    msg = (struct msghdr){.msg_control = &control, .msg_controllen = CMSG_LEN(3)};
    tancillary_append(&msg, &used, 1, 2, &data, sizeof data);
    assert_int_equal(msg.msg_flags, MSG_CTRUNC);
    assert_int_equal(CMSG_FIRSTHDR(&msg)->cmsg_len, CMSG_LEN(3));
    assert_int_equal(used, CMSG_LEN(3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TOE_TEST(a_read_takes_what_waits_in_the_ring),
        TOE_TEST(what_is_left_to_read),
        TOE_TEST(times_of_bytes),
        cmocka_unit_test(each_read_has_its_own_time),
        cmocka_unit_test(control_messages_are_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
