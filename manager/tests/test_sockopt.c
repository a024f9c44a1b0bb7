/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sockopt.c - options, fcntl and ioctl of TOE sockets. Where Linux's result is the rule, a
 * kernel socket gets the same calls.
 */
#include <arpa/inet.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>

#include <cmocka.h>

#include "fake_libtoe.h"
#include "option_apply.h"

static struct tsock *sock;
static int fd; /* placeholder of sock */
static int linux_fd;

static int set_up(void **state)
{
    (void)state;
    fake_reset();
    fd = sys_socket(AF_INET, SOCK_STREAM, 0);
    linux_fd = sys_socket(AF_INET, SOCK_STREAM, 0);
    sock = fake_socket(fd, TS_OPEN);
    return fd < 0 || linux_fd < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_int_equal(fake.locks, 0);
    sys_close(fd);
    sys_close(linux_fd);
    return 0;
}

static int set(int level, int name, int value)
{
    return toe_setsockopt(fd, level, name, &value, sizeof value);
}

static int get(int level, int name)
{
    int value = -77;
    socklen_t len = sizeof value;

    assert_int_equal(toe_getsockopt(fd, level, name, &value, &len), 0);
    assert_int_equal(len, sizeof value);
    return value;
}

static void expect_option(unsigned i, uint16_t option, uint32_t value)
{
    assert_true(i < fake.options_n);
    assert_int_equal(fake.options[i].option, option);
    assert_int_equal(fake.options[i].value, value);
}

static void test_options_reach_the_toe_and_are_told(void **state)
{
    static const struct {
        int level, name, value, told;
        uint16_t option;
    } rows[] = {
        {IPPROTO_TCP, TCP_NODELAY, 5, 1, TOE_OPT_NODELAY},
        {IPPROTO_TCP, TCP_NODELAY, 0, 0, TOE_OPT_NODELAY},
        {IPPROTO_TCP, TCP_CORK, 1, 1, TOE_OPT_CORK},
        {IPPROTO_TCP, TCP_QUICKACK, 1, 1, TOE_OPT_QUICKACK},
        {IPPROTO_TCP, TCP_KEEPIDLE, 30, 30, TOE_OPT_KEEPIDLE},
        {IPPROTO_TCP, TCP_KEEPINTVL, 32767, 32767, TOE_OPT_KEEPINTVL},
        {IPPROTO_TCP, TCP_KEEPCNT, 127, 127, TOE_OPT_KEEPCNT},
        {IPPROTO_TCP, TCP_USER_TIMEOUT, 5000, 5000, TOE_OPT_USER_TIMEOUT},
        {IPPROTO_TCP, TCP_LINGER2, 9, 9, TOE_OPT_LINGER2},
        {SOL_SOCKET, SO_KEEPALIVE, 7, 1, TOE_OPT_KEEPALIVE},
    };
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(set(rows[i].level, rows[i].name, rows[i].value), 0);
        assert_int_equal(get(rows[i].level, rows[i].name), rows[i].told);
        expect_option(i, rows[i].option, (uint32_t)rows[i].told);
    }
}

/* Wrong values: the same errno as Linux, nothing kept, nothing sent. */
static void test_wrong_values_are_wrong_as_on_linux(void **state)
{
    static const struct {
        int level, name, value;
    } rows[] = {
        {IPPROTO_TCP, TCP_KEEPIDLE, 0},
        {IPPROTO_TCP, TCP_KEEPIDLE, 32768},
        {IPPROTO_TCP, TCP_KEEPINTVL, -1},
        {IPPROTO_TCP, TCP_KEEPCNT, 0},
        {IPPROTO_TCP, TCP_KEEPCNT, 128},
        {IPPROTO_TCP, TCP_USER_TIMEOUT, -1},
        {SOL_SOCKET, SO_ERROR, 0},
        {SOL_SOCKET, SO_TYPE, 1},
        {SOL_SOCKET, SO_ACCEPTCONN, 1},
        {IPPROTO_TCP, 9999, 1},
        {SOL_SOCKET, 9999, 1},
        {9999, 1, 1},
    };
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int wanted;

        assert_int_equal(sys_setsockopt(linux_fd, rows[i].level, rows[i].name, &rows[i].value, 4),
                         -1);
        wanted = errno;
        assert_int_equal(set(rows[i].level, rows[i].name, rows[i].value), -1);
        assert_int_equal(errno, wanted);
    }
    assert_int_equal(fake.options_n, 0);
    assert_int_equal(get(IPPROTO_TCP, TCP_KEEPIDLE), 7200);
}

static void test_short_and_missing_values(void **state)
{
    char c = 1;
    socklen_t len = 4;

    (void)state;
    assert_int_equal(toe_setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &c, 1), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(toe_setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, NULL, 4), -1);
    assert_int_equal(errno, EFAULT);
    assert_int_equal(toe_setsockopt(fd, SOL_SOCKET, SO_LINGER, &c, 1), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(toe_setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &c, 1), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(toe_getsockopt(fd, SOL_SOCKET, SO_ERROR, NULL, &len), -1);
    assert_int_equal(errno, EFAULT);
    /* A short buffer is filled up to its size. */
    len = 1;
    sock->opts.nodelay = 1;
    c = 0;
    assert_int_equal(toe_getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &c, &len), 0);
    assert_int_equal(len, 1);
}

static void test_what_would_be_a_promise_is_refused(void **state)
{
    (void)state;
    assert_int_equal(toe_setsockopt(fd, IPPROTO_TCP, TCP_ULP, "tls", 3), -1);
    assert_int_equal(errno, ENOPROTOOPT);
    assert_int_equal(set(SOL_SOCKET, SO_TIMESTAMPING, SOF_TIMESTAMPING_TX_SOFTWARE), -1);
    assert_int_equal(errno, ENOPROTOOPT);
}

static void test_options_of_control_messages_are_read_back_as_on_linux(void **state)
{
    static const struct {
        int level, name, value;
    } rows[] = {
        {IPPROTO_TCP, TCP_INQ, 1},
        {IPPROTO_TCP, TCP_INQ, 2}, /* EINVAL */
        {SOL_SOCKET, SO_TIMESTAMP, 1},
        {SOL_SOCKET, SO_TIMESTAMPNS, 1},
        {SOL_SOCKET, SO_TIMESTAMP_NEW, 7},
        {SOL_SOCKET, SO_TIMESTAMPNS_NEW, 1},
        {SOL_SOCKET, SO_TIMESTAMPNS, 0}, /* of any variant */
        {SOL_SOCKET, SO_TIMESTAMPING, SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_RX_SOFTWARE},
        {SOL_SOCKET, SO_TIMESTAMPING_NEW, SOF_TIMESTAMPING_SOFTWARE},
        {SOL_SOCKET, SO_TIMESTAMPING, 1 << 30}, /* EINVAL */
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int r = setsockopt(linux_fd, rows[i].level, rows[i].name, &rows[i].value, 4), e = errno;

        assert_int_equal(set(rows[i].level, rows[i].name, rows[i].value), r);
        assert_true(r == 0 || errno == e);
        for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
            uint8_t ours[16] = {0}, theirs[16] = {0};
            socklen_t n = sizeof ours, m = sizeof theirs;

            assert_int_equal(toe_getsockopt(fd, rows[k].level, rows[k].name, ours, &n), 0);
            assert_int_equal(getsockopt(linux_fd, rows[k].level, rows[k].name, theirs, &m), 0);
            assert_int_equal(n, m);
            assert_memory_equal(ours, theirs, sizeof ours);
        }
    }
}

/* R1122-06 and the path MTU: the kernel stores and checks them, the TOE is notified. */
static void test_path_options(void **state)
{
    struct tcp_info info;
    socklen_t len = sizeof info;
    int mtu;

    (void)state;
    assert_int_equal(set(IPPROTO_IP, IP_TOS, 0x10), 0);
    expect_option(0, TOE_OPT_TOS, 0x10);
    assert_int_equal(get(IPPROTO_IP, IP_TOS), 0x10);
    assert_int_equal(set(IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DONT), 0);
    expect_option(1, TOE_OPT_MTU_DISCOVER, 0);
    assert_int_equal(set(IPPROTO_IP, IP_MTU_DISCOVER, 6), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(set(IPPROTO_TCP, TCP_MAXSEG, 700), 0);
    expect_option(2, TOE_OPT_MAXSEG, 700);
    assert_int_equal(set(IPPROTO_TCP, TCP_MAXSEG, 87), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(fake.options_n, 3);
    fake.has_record = true;
    fake.record = (struct toedev_flow_record){.state = 3, .opts = 7 | 8 | 16, .pmtu = 1400};
    assert_int_equal(get(IPPROTO_IP, IP_MTU), 1400);
    assert_int_equal(toe_getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len), 0);
    assert_int_equal(info.tcpi_pmtu, 1400);
    assert_int_equal(info.tcpi_options, TCPI_OPT_TIMESTAMPS | TCPI_OPT_SACK | TCPI_OPT_WSCALE |
                                            TCPI_OPT_ECN | TCPI_OPT_ECN_SEEN);
    sock->state = TS_LISTEN;
    sock->announced = 1;
    assert_int_equal(set(IPPROTO_TCP, TCP_MAXSEG, 600), 0);
    assert_int_equal(fake.listener_option, TOE_OPT_MAXSEG);
    assert_int_equal(fake.listener_value, 600);
    assert_int_equal(get(IPPROTO_TCP, TCP_MAXSEG), 600);
    len = sizeof mtu;
    assert_int_equal(toe_getsockopt(fd, IPPROTO_IP, IP_MTU, &mtu, &len), -1);
    assert_int_equal(errno, ENOTCONN);
}

static void test_hints_are_kept_by_the_placeholder(void **state)
{
    (void)state;
    assert_int_equal(set(SOL_SOCKET, SO_PRIORITY, 3), 0);
    assert_int_equal(get(SOL_SOCKET, SO_PRIORITY), 3);
}

static void test_congestion_control_by_name(void **state)
{
    char name[16];
    socklen_t len = sizeof name;

    (void)state;
    assert_int_equal(toe_getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &len), 0);
    assert_string_equal(name, "cubic");
    assert_int_equal(toe_setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4), 0);
    expect_option(0, TOE_OPT_CC, 1);
    assert_int_equal(toe_setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "none-such", 9), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(toe_getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &len), 0);
    assert_string_equal(name, "reno");
    assert_int_equal(toe_setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "bbr", 3), 0);
    expect_option(1, TOE_OPT_CC, 4);
    assert_int_equal(toe_setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "bbr3", 4), 0);
    expect_option(2, TOE_OPT_CC, 3);
    assert_int_equal(toe_setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "dctcp", 5), 0);
    expect_option(3, TOE_OPT_CC, 2);
    assert_int_equal(toe_setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5), 0);
    expect_option(4, TOE_OPT_CC, 0);
    /* the TOE's default, which the flow's record names */
    sock->opts.cc = 0;
    fake.has_record = true;
    fake.record = (struct toedev_flow_record){.cc = 4};
    assert_int_equal(toe_getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &len), 0);
    assert_string_equal(name, "bbr");
}

/* Before it is decided what carries the connection: an algorithm that the TOE has and the kernel
 * lacks (or restricts) is no error. */
static void test_congestion_control_the_kernel_has_not(void **state)
{
    (void)state;
    sock->state = TS_NEW;
    assert_int_equal(toe_setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "dctcp", 5), 0);
    assert_int_equal(sock->opts.cc, 3);
    assert_int_equal(toe_setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "none-such", 9), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(sock->opts.cc, 3);
}

/* SO_MAX_PACING_RATE as an int and as a long. */
static void test_max_pacing_rate(void **state)
{
    unsigned long rate = 5000000000ul;
    unsigned small = 0;
    socklen_t len = sizeof rate;

    (void)state;
    assert_int_equal(set(SOL_SOCKET, SO_MAX_PACING_RATE, 1000000), 0);
    expect_option(0, TOE_OPT_MAX_PACING, 1000000);
    assert_int_equal(get(SOL_SOCKET, SO_MAX_PACING_RATE), 1000000);
    assert_int_equal(toe_setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof rate), 0);
    expect_option(1, TOE_OPT_MAX_PACING, UINT32_MAX);
    rate = 0;
    assert_int_equal(toe_getsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, &len), 0);
    assert_true(rate == 5000000000ul && len == sizeof rate);
    assert_int_equal(set(SOL_SOCKET, SO_MAX_PACING_RATE, -1), 0);
    expect_option(2, TOE_OPT_MAX_PACING, 0);
    assert_true(sock->opts.max_pacing == 0);
    assert_int_equal(toe_getsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, &len), 0);
    assert_true(rate == ~0ul);
    len = sizeof small;
    assert_int_equal(toe_getsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &small, &len), 0);
    assert_int_equal(small, UINT32_MAX);
}

/* The TOE is to keep the flow record current, the mark stays here; -1 is the highest. */
static void test_notsent_lowat(void **state)
{
    (void)state;
    assert_int_equal(get(IPPROTO_TCP, TCP_NOTSENT_LOWAT), 0);
    assert_int_equal(set(IPPROTO_TCP, TCP_NOTSENT_LOWAT, 4000), 0);
    expect_option(0, TOE_OPT_NOTSENT_LOWAT, 1);
    assert_int_equal(get(IPPROTO_TCP, TCP_NOTSENT_LOWAT), 4000);
    assert_true(sock->bounded);
    assert_int_equal(set(IPPROTO_TCP, TCP_NOTSENT_LOWAT, -1), 0);
    assert_int_equal(get(IPPROTO_TCP, TCP_NOTSENT_LOWAT), -1);
    assert_true(sock->opts.notsent_lowat == UINT32_MAX && sock->bounded);
    assert_int_equal(fake.notified, 0); /* there is no room in the send buffer */
    sock->tx_mask = 65535;
    sock->tx_free = 65536;
    assert_int_equal(set(IPPROTO_TCP, TCP_NOTSENT_LOWAT, 1), 0);
    assert_int_equal(fake.notified, EPOLLOUT | EPOLLWRNORM);
    assert_int_equal(set(IPPROTO_TCP, TCP_NOTSENT_LOWAT, 0), 0);
    expect_option(3, TOE_OPT_NOTSENT_LOWAT, 0);
    assert_false(sock->bounded);
}

static void test_linger_and_timeouts(void **state)
{
    struct linger l = {1, 4}, l2;
    struct timeval tv = {2, 500000}, tv2;
    socklen_t len = sizeof l2;

    (void)state;
    assert_int_equal(toe_setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof l), 0);
    assert_int_equal(toe_getsockopt(fd, SOL_SOCKET, SO_LINGER, &l2, &len), 0);
    assert_memory_equal(&l, &l2, sizeof l);
    assert_int_equal(sock->opts.linger_on, 1);
    assert_int_equal(toe_setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv), 0);
    assert_true(sock->opts.rcvtimeo == 2500000000ull);
    len = sizeof tv2;
    assert_int_equal(toe_getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv2, &len), 0);
    assert_memory_equal(&tv, &tv2, sizeof tv);
    tv.tv_usec = 1000000;
    assert_int_equal(toe_setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof tv), -1);
    assert_int_equal(errno, EDOM);
}

static void test_what_can_only_be_asked(void **state)
{
    uint8_t buffer;

    (void)state;
    sock->error = ECONNREFUSED;
    assert_int_equal(get(SOL_SOCKET, SO_ERROR), ECONNREFUSED);
    assert_int_equal(get(SOL_SOCKET, SO_ERROR), 0);
    assert_int_equal(get(SOL_SOCKET, SO_TYPE), SOCK_STREAM);
    assert_int_equal(get(SOL_SOCKET, SO_DOMAIN), AF_INET);
    assert_int_equal(get(SOL_SOCKET, SO_PROTOCOL), IPPROTO_TCP);
    assert_int_equal(get(SOL_SOCKET, SO_ACCEPTCONN), 0);
    assert_int_equal(get(SOL_SOCKET, SO_RCVLOWAT), 1);
    sock->rx = sock->tx = &buffer;
    sock->rx_mask = 65535;
    sock->tx_mask = 131071;
    assert_int_equal(get(SOL_SOCKET, SO_RCVBUF), 65536);
    assert_int_equal(get(SOL_SOCKET, SO_SNDBUF), 131072);
    sock->v6 = 1;
    sock->state = TS_LISTEN;
    assert_int_equal(get(SOL_SOCKET, SO_DOMAIN), AF_INET6);
    assert_int_equal(get(SOL_SOCKET, SO_ACCEPTCONN), 1);
}

static void test_an_undecided_socket_is_the_kernels_and_remembers(void **state)
{
    (void)state;
    sock->state = TS_NEW;
    assert_int_equal(set(IPPROTO_TCP, TCP_NODELAY, 1), 0);
    assert_int_equal(set(IPPROTO_TCP, TCP_KEEPIDLE, 11), 0);
    assert_int_equal(set(SOL_SOCKET, SO_RCVBUF, 100000), 0);
    assert_int_equal(get(SOL_SOCKET, SO_RCVBUF), 200000);
    assert_int_equal(get(IPPROTO_TCP, TCP_NODELAY), 1);
    assert_int_equal(set(IPPROTO_TCP, TCP_KEEPCNT, 0), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(sock->opts.nodelay, 1);
    assert_int_equal(sock->opts.keepidle, 11);
    assert_int_equal(sock->opts.keepcnt, 0);
    assert_int_equal(get(IPPROTO_TCP, TCP_QUICKACK), 1); /* as Linux, without being set */
    assert_int_equal(set(IPPROTO_TCP, TCP_QUICKACK, 0), 0);
    assert_int_equal(get(IPPROTO_TCP, TCP_QUICKACK), 0);
    errno = EINVAL;
    assert_int_equal(set(IPPROTO_TCP, TCP_QUICKACK, 1), 0);
    assert_int_equal(errno, EINVAL); /* a call that succeeds leaves errno alone */
}

static void test_options_are_applied_at_establishment(void **state)
{
    (void)state;
    tsock_apply_options(sock);
    assert_int_equal(fake.options_n, 0);
    sock->opts.nodelay = 1;
    sock->opts.keepalive = 1;
    sock->opts.keepidle = 20;
    sock->opts.cc = 2;
    sock->opts.linger2 = -1;
    tsock_apply_options(sock);
    assert_int_equal(fake.options_n, 4);
    expect_option(0, TOE_OPT_NODELAY, 1);
    expect_option(1, TOE_OPT_CC, 1);
    expect_option(2, TOE_OPT_KEEPIDLE, 20);
    expect_option(3, TOE_OPT_KEEPALIVE, 1);
}

static void test_tcp_info_is_made_of_the_record(void **state)
{
    struct tcp_info info;
    socklen_t len = sizeof info;

    (void)state;
    fake.has_record = true;
    fake.record = (struct toedev_flow_record){.state = 3,
                                              .opts = 7,
                                              .ws_send = 7,
                                              .ws_recv = 3,
                                              .mss_send = 1448,
                                              .mss_recv = 1460,
                                              .srtt_us = 250,
                                              .rttvar_us = 50,
                                              .rto_us = 200000,
                                              .min_rtt_us = 90,
                                              .cwnd = 14480,
                                              .ssthresh = 0x7fffffff,
                                              .retransmits = 3,
                                              .in_flight = 1449,
                                              .bytes_sent = 5000,
                                              .bytes_acked = 3551,
                                              .bytes_received = 77,
                                              .delivery_rate = 12345678901,
                                              .pacing_rate = 23456789012,
                                              .app_limited = 1,
                                              .snd_wnd = 65000,
                                              .sacked = 2 * 1448,
                                              .lost = 1448 + 1,
                                              .retrans_out = 1448,
                                              .dsacks = 4,
                                              .reord_seen = 5,
                                              .reordering = 7,
                                              .bytes_retrans = 4344,
                                              .ca_state = 3,
                                              .timeouts = 1,
                                              .backoff = 2};
    assert_int_equal(toe_getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len), 0);
    assert_int_equal(info.tcpi_ca_state, 3); /* TCP_CA_Recovery */
    assert_int_equal(info.tcpi_retransmits, 1);
    assert_int_equal(info.tcpi_backoff, 2);
    assert_int_equal(info.tcpi_sacked, 2);
    assert_int_equal(info.tcpi_lost, 2);
    assert_int_equal(info.tcpi_retrans, 1);
    assert_int_equal(info.tcpi_reordering, 7);
    assert_int_equal(info.tcpi_reord_seen, 5);
    assert_int_equal(info.tcpi_dsack_dups, 4);
    assert_true(info.tcpi_bytes_retrans == 4344);
    assert_int_equal(info.tcpi_snd_wnd, 65000);
    assert_int_equal(len, sizeof info);
    assert_int_equal(info.tcpi_state, 1); /* TCP_ESTABLISHED */
    assert_int_equal(info.tcpi_options, TCPI_OPT_TIMESTAMPS | TCPI_OPT_SACK | TCPI_OPT_WSCALE);
    assert_int_equal(info.tcpi_snd_wscale, 7);
    assert_int_equal(info.tcpi_rcv_wscale, 3);
    assert_int_equal(info.tcpi_rtt, 250);
    assert_int_equal(info.tcpi_snd_cwnd, 10);
    assert_int_equal(info.tcpi_snd_ssthresh, 0x7fffffff);
    assert_int_equal(info.tcpi_unacked, 2);
    assert_int_equal(info.tcpi_total_retrans, 3);
    assert_true(info.tcpi_bytes_acked == 3551);
    assert_true(info.tcpi_delivery_rate == 12345678901);
    assert_true(info.tcpi_pacing_rate == 23456789012);
    assert_true(info.tcpi_max_pacing_rate == UINT64_MAX);
    assert_int_equal(info.tcpi_delivery_rate_app_limited, 1);
    assert_int_equal(get(IPPROTO_TCP, TCP_MAXSEG), 1448);
    /* The shorter structure of an older program. */
    len = 104;
    assert_int_equal(toe_getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len), 0);
    assert_int_equal(len, 104);
    fake.record.state = 200;
    fake.record.mss_send = 0;
    assert_int_equal(toe_getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len), 0);
    assert_int_equal(info.tcpi_state, 7); /* TCP_CLOSE */
    sock->state = TS_LISTEN;
    sock->queued = 2;
    sock->backlog = 128;
    assert_int_equal(toe_getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len), 0);
    assert_int_equal(info.tcpi_state, 10); /* TCP_LISTEN */
    assert_int_equal(info.tcpi_unacked, 2);
    assert_int_equal(info.tcpi_sacked, 128);
}

static void test_flags_are_the_objects_not_the_placeholders(void **state)
{
    int copy;

    (void)state;
    assert_int_equal(toe_fcntl(fd, F_GETFL, 0) & (O_NONBLOCK | O_ACCMODE), O_RDWR);
    assert_int_equal(toe_fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK), 0);
    assert_int_equal(sock->nonblock, 1);
    assert_int_equal(toe_fcntl(fd, F_GETFL, 0) & O_NONBLOCK, O_NONBLOCK);
    assert_int_equal(sys_fcntl(fd, F_GETFL, 0) & O_NONBLOCK, 0);
    assert_int_equal(toe_fcntl(fd, F_SETFL, O_ASYNC), -1);
    assert_int_equal(errno, EINVAL);
    copy = toe_fcntl(fd, F_DUPFD_CLOEXEC, 150);
    assert_true(copy >= 150);
    assert_ptr_equal(tsock_get(copy), sock);
    assert_int_equal(toe_fcntl(copy, F_GETFD, 0), FD_CLOEXEC);
    assert_int_equal(sock->obj.refs, 2);
    sys_close(copy);
    assert_int_equal(toe_fcntl(fd, 9999, 0), -1);
    assert_int_equal(errno, EINVAL);
}

static void test_an_undecided_sockets_flags_are_the_kernels_too(void **state)
{
    int on = 1;

    (void)state;
    sock->state = TS_NEW;
    assert_int_equal(toe_fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK), 0);
    assert_int_equal(sys_fcntl(fd, F_GETFL, 0) & O_NONBLOCK, O_NONBLOCK);
    assert_int_equal(sock->nonblock, 1);
    assert_int_equal(toe_fcntl(fd, F_SETFL, O_RDWR), 0);
    assert_int_equal(sock->nonblock, 0);
    assert_int_equal(toe_ioctl(fd, FIONBIO, &on), 0);
    assert_int_equal(sys_fcntl(fd, F_GETFL, 0) & O_NONBLOCK, O_NONBLOCK);
    assert_int_equal(sock->nonblock, 1);
}

static void test_ioctl(void **state)
{
    int v = 1;
    uint8_t buffer;

    (void)state;
    assert_int_equal(toe_ioctl(fd, FIONBIO, &v), 0);
    assert_int_equal(sock->nonblock, 1);
    sock->rx_avail = 321;
    assert_int_equal(toe_ioctl(fd, FIONREAD, &v), 0);
    assert_int_equal(v, 321);
    sock->tx = &buffer;
    sock->tx_mask = 65535;
    sock->tx_free = 65536 - 1000;
    assert_int_equal(toe_ioctl(fd, SIOCOUTQ, &v), 0);
    assert_int_equal(v, 1000);
    fake.has_record = true;
    fake.record.in_flight = 400;
    assert_int_equal(toe_ioctl(fd, SIOCOUTQNSD, &v), 0);
    assert_int_equal(v, 600);
    assert_int_equal(toe_ioctl(fd, SIOCATMARK, &v), 0);
    assert_int_equal(v, 0);
    assert_int_equal(toe_ioctl(fd, FIONREAD, NULL), -1);
    assert_int_equal(errno, EFAULT);
    sock->state = TS_LISTEN;
    assert_int_equal(toe_ioctl(fd, FIONREAD, &v), -1);
    assert_int_equal(errno, EINVAL);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_options_reach_the_toe_and_are_told),
        TEST(test_wrong_values_are_wrong_as_on_linux),
        TEST(test_short_and_missing_values),
        TEST(test_options_of_control_messages_are_read_back_as_on_linux),
        TEST(test_what_would_be_a_promise_is_refused),
        TEST(test_path_options),
        TEST(test_hints_are_kept_by_the_placeholder),
        TEST(test_congestion_control_by_name),
        TEST(test_linger_and_timeouts),
        TEST(test_what_can_only_be_asked),
        TEST(test_an_undecided_socket_is_the_kernels_and_remembers),
        TEST(test_options_are_applied_at_establishment),
        TEST(test_tcp_info_is_made_of_the_record),
        TEST(test_congestion_control_the_kernel_has_not),
        TEST(test_max_pacing_rate),
        TEST(test_notsent_lowat),
        TEST(test_flags_are_the_objects_not_the_placeholders),
        TEST(test_an_undecided_sockets_flags_are_the_kernels_too),
        TEST(test_ioctl),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
