/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_port_search.c - the choice of a port by libtoe: within IP_LOCAL_PORT_RANGE over a TOE that
 * takes no ranges; and the search itself, over the machine's settings.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "harness.h"
#include "port_search.h"

#ifndef IP_LOCAL_PORT_RANGE /* Linux 6.3 */
#define IP_LOCAL_PORT_RANGE 51
#endif

#define PORT 9000

/* connect() of a socket with this range. Returns its local port, or -errno. */
static int connect_within(uint32_t low, uint32_t high)
{
    struct sockaddr_in at = harness_address("10.99.0.2", PORT);
    int fd = toe_socket(AF_INET, SOCK_STREAM, 0), r;
    uint32_t range = low | high << 16;
    socklen_t len = sizeof(at);

    if (toe_setsockopt(fd, IPPROTO_IP, IP_LOCAL_PORT_RANGE, &range, sizeof(range)) != 0)
        skip(); /* this kernel has no such option */
    r = toe_connect(fd, (const struct sockaddr *)&at, sizeof(at)) == 0 ? 0 : -errno;
    if (r == 0) {
        assert_int_equal(toe_getsockname(fd, (struct sockaddr *)&at, &len), 0);
        r = ntohs(at.sin_port);
    }
    toe_close(fd);
    return r;
}

/* Only one port of ten is free, wherever the search begins. */
static void the_free_port_of_a_range(void **state)
{
    int listener = harness_listener(PORT);

    (void)state;
    for (int i = 0; i < 20; i++)
        assert_int_equal(connect_within(45000, 45009), 45007);
    assert_int_equal(connect_within(45007, 45007), 45007);
    assert_int_equal(connect_within(45000, 45006), -EADDRNOTAVAIL);
    assert_int_equal(connect_within(45000, 45000), -EADDRNOTAVAIL);
    toe_close(listener);
}

/* ... and other errors end the search. */
static void a_refused_connect_within_a_range(void **state)
{
    (void)state;
    assert_int_equal(connect_within(45000, 45009), -ECONNREFUSED);
}

static void a_nonblocking_connect_within_a_range(void **state)
{
    struct sockaddr_in at = harness_address("10.99.0.2", PORT);
    int listener = harness_listener(PORT), fd = toe_socket(AF_INET, SOCK_STREAM, 0);
    uint32_t range = 45000u | 45009u << 16;
    socklen_t len = sizeof(at);

    (void)state;
    if (toe_setsockopt(fd, IPPROTO_IP, IP_LOCAL_PORT_RANGE, &range, sizeof(range)) != 0)
        skip();
    harness_nonblock(fd);
    assert_int_equal(toe_connect(fd, (const struct sockaddr *)&at, sizeof(at)), -1);
    assert_int_equal(errno, EINPROGRESS);
    assert_int_equal(harness_wait(fd, POLLOUT), POLLOUT);
    assert_int_equal(toe_getsockname(fd, (struct sockaddr *)&at, &len), 0);
    assert_int_equal(ntohs(at.sin_port), 45007);
    toe_close(fd);
    toe_close(listener);
}

static unsigned seen[65536];

/* Each port once, from different ones on. */
static void each_port_once(void **state)
{
    unsigned firsts = 0, last = 0;

    (void)state;
    for (unsigned i = 0; i < 30; i++) {
        struct tport_search s;
        unsigned port, n = 0, first = 0;

        memset(seen, 0, sizeof(seen));
        tport_search_begin(&s, 45000u | 45099u << 16);
        while ((port = ntohs(tport_search_next(&s))) != 0) {
            assert_in_range(port, 45000, 45099);
            assert_int_equal(seen[port]++, 0);
            first = n++ ? first : port;
        }
        assert_int_equal(n, 100);
        firsts += first != last;
        last = first;
    }
    assert_true(firsts > 10);
}

/* A bound that is 0 or no ephemeral port does not limit. */
static void one_bound(void **state)
{
    struct tport_search all, s;

    (void)state;
    tport_search_begin(&all, 0);
    assert_true(all.count > 1);
    tport_search_begin(&s, 45000u);
    assert_int_equal(s.first, 45000);
    assert_int_equal(s.first + s.count, all.first + all.count);
    tport_search_begin(&s, 45000u << 16);
    assert_int_equal(s.first, all.first);
    assert_int_equal(s.first + s.count, 45001);
    tport_search_begin(&s, 1u | 2u << 16);
    assert_int_equal(s.first, all.first);
    assert_int_equal(s.count, all.count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TOE_TEST(the_free_port_of_a_range),
        TOE_TEST(a_refused_connect_within_a_range),
        TOE_TEST(a_nonblocking_connect_within_a_range),
        cmocka_unit_test(each_port_once),
        cmocka_unit_test(one_bound),
    };

    setenv("LOOPTOE_NO_RANGES", "1", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
