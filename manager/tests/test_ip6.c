/* SPDX-License-Identifier: Apache-2.0 */
/* test_ip6.c - AF_INET6 sockets of libtoe against Linux's rules (ipv6(7), RFC 3493), over looptoe.
 */
#include <netinet/in.h>

#include "harness.h"

#define SCOPE 1u /* of looptoe's link-local addresses */

static int setup6(void **state)
{
    setenv("LOOPTOE_IP6", "1", 1);
    return harness_setup(state);
}

static struct sockaddr_in6 address6(const char *ip, uint16_t port)
{
    struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_port = htons(port)};

    assert_int_equal(inet_pton(AF_INET6, ip, &a.sin6_addr), 1);
    return a;
}

static int listener6(const char *ip, uint32_t scope, int v6only)
{
    struct sockaddr_in6 a = address6(ip, 7000);
    int fd = toe_socket(AF_INET6, SOCK_STREAM, 0), on = 1;

    a.sin6_scope_id = scope;
    assert_int_equal(toe_setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
    assert_int_equal(toe_setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6only, sizeof(v6only)), 0);
    assert_int_equal(toe_bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(toe_listen(fd, 16), 0);
    assert_int_equal(toe_is_offloaded(fd), 1);
    return fd;
}

static int connect6(const char *ip, uint32_t scope)
{
    struct sockaddr_in6 a = address6(ip, 7000);
    int fd = toe_socket(AF_INET6, SOCK_STREAM, 0);

    a.sin6_scope_id = scope;
    assert_int_equal(toe_connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(toe_is_offloaded(fd), 1);
    return fd;
}

static void want_name(int fd, int peer, const char *ip, uint32_t scope)
{
    struct sockaddr_in6 a;
    socklen_t len = sizeof(a);
    char text[INET6_ADDRSTRLEN];

    if (peer)
        assert_int_equal(toe_getpeername(fd, (struct sockaddr *)&a, &len), 0);
    else
        assert_int_equal(toe_getsockname(fd, (struct sockaddr *)&a, &len), 0);
    assert_int_equal(len, sizeof(a));
    assert_int_equal(a.sin6_family, AF_INET6);
    assert_string_equal(inet_ntop(AF_INET6, &a.sin6_addr, text, sizeof(text)), ip);
    assert_int_equal(a.sin6_scope_id, scope);
}

static void want_bytes(int from, int to)
{
    char b[8];

    assert_int_equal(toe_send(from, "word", 4, 0), 4);
    harness_wait(to, POLLIN);
    assert_int_equal(toe_recv(to, b, sizeof(b), 0), 4);
    assert_memory_equal(b, "word", 4);
}

static void a_connection_and_its_names(void **state)
{
    int l = listener6(LOOPTOE_IP6, 0, 0), c = connect6(LOOPTOE_PEER_IP6, 0), s;
    struct sockaddr_in6 a;
    socklen_t len = sizeof(a);
    char text[INET6_ADDRSTRLEN];

    (void)state;
    want_name(l, 0, LOOPTOE_IP6, 0);
    s = toe_accept(l, (struct sockaddr *)&a, &len);
    assert_true(s >= 0);
    assert_int_equal(len, sizeof(a));
    assert_string_equal(inet_ntop(AF_INET6, &a.sin6_addr, text, sizeof(text)), LOOPTOE_IP6);
    want_name(c, 0, LOOPTOE_IP6, 0);
    want_name(c, 1, LOOPTOE_PEER_IP6, 0);
    want_name(s, 0, LOOPTOE_PEER_IP6, 0); /* the wire is its own peer: names crosswise */
    want_name(s, 1, LOOPTOE_IP6, 0);
    want_bytes(c, s);
    want_bytes(s, c);
    toe_close(c);
    toe_close(s);
    toe_close(l);
}

/* RFC 3493 3.7: a listener at :: accepts both families; IPv4 addresses are mapped. */
static void any_address_takes_both_families(void **state)
{
    int l = listener6("::", 0, 0), c4 = harness_connect(7000), s, c;

    (void)state;
    s = toe_accept(l, NULL, NULL);
    assert_true(s >= 0);
    want_name(s, 0, "::ffff:" LOOPTOE_IP, 0);
    want_name(s, 1, "::ffff:" LOOPTOE_PEER_IP, 0);
    want_bytes(c4, s);
    toe_close(s);
    toe_close(c4);
    c = connect6(LOOPTOE_PEER_IP6, 0);
    s = toe_accept(l, NULL, NULL);
    want_name(s, 1, LOOPTOE_IP6, 0);
    want_bytes(c, s);
    toe_close(s);
    toe_close(c);
    toe_close(l);
}

/* RFC 3493 5.3. */
static void v6only_refuses_the_other(void **state)
{
    struct sockaddr_in a = harness_address(LOOPTOE_PEER_IP, 7000);
    int l = listener6("::", 0, 1), c = toe_socket(AF_INET, SOCK_STREAM, 0), s;

    (void)state;
    assert_int_equal(toe_connect(c, (struct sockaddr *)&a, sizeof(a)), -1);
    assert_int_equal(errno, ECONNREFUSED);
    toe_close(c);
    c = connect6(LOOPTOE_PEER_IP6, 0);
    s = toe_accept(l, NULL, NULL);
    want_bytes(s, c);
    toe_close(s);
    toe_close(c);
    toe_close(l);
}

static void a_mapped_address_is_ip4(void **state)
{
    int l = harness_listener(7000), c = connect6("::ffff:" LOOPTOE_PEER_IP, 0), s;

    (void)state;
    s = toe_accept(l, NULL, NULL);
    want_name(c, 1, "::ffff:" LOOPTOE_PEER_IP, 0);
    want_name(c, 0, "::ffff:" LOOPTOE_IP, 0);
    want_bytes(c, s);
    toe_close(s);
    toe_close(c);
    toe_close(l);
}

/* RFC 4007 6: the interface is part of the address. */
static void link_local_addresses_have_an_interface(void **state)
{
    int l = listener6(LOOPTOE_LOCAL6, SCOPE, 0), c = connect6(LOOPTOE_PEER_LOCAL, SCOPE), s;

    (void)state;
    want_name(l, 0, LOOPTOE_LOCAL6, SCOPE);
    s = toe_accept(l, NULL, NULL);
    assert_true(s >= 0);
    want_name(c, 0, LOOPTOE_LOCAL6, SCOPE);
    want_name(c, 1, LOOPTOE_PEER_LOCAL, SCOPE);
    want_name(s, 1, LOOPTOE_LOCAL6, SCOPE);
    want_bytes(c, s);
    toe_close(s);
    toe_close(c);
    toe_close(l);
}

/* ipv6(7): bound to an interface, a link-local destination needs none. */
static void the_interface_may_come_from_bind(void **state)
{
    struct sockaddr_in6 own = address6(LOOPTOE_LOCAL6, 0), a = address6(LOOPTOE_PEER_LOCAL, 7000);
    int l = listener6("::", 0, 0), c = toe_socket(AF_INET6, SOCK_STREAM, 0), s;

    (void)state;
    own.sin6_scope_id = SCOPE;
    assert_int_equal(toe_bind(c, (struct sockaddr *)&own, sizeof(own)), 0);
    assert_int_equal(toe_connect(c, (struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(toe_is_offloaded(c), 1);
    s = toe_accept(l, NULL, NULL);
    want_name(c, 1, LOOPTOE_PEER_LOCAL, SCOPE);
    toe_close(s);
    toe_close(c);
    toe_close(l);
}

static void refused_by_the_kernel(const char *ip, uint32_t scope, const char *why)
{
    struct sockaddr_in6 a = address6(ip, 7000);
    int c = toe_socket(AF_INET6, SOCK_STREAM, 0);

    a.sin6_scope_id = scope;
    assert_int_equal(toe_connect(c, (struct sockaddr *)&a, sizeof(a)), -1);
    assert_int_equal(toe_is_offloaded(c), 0);
    assert_non_null(toe_why_not(c));
    if (!strstr(toe_why_not(c), why))
        fail_msg("%s: %s", ip, toe_why_not(c));
    toe_close(c);
}

static void what_is_not_the_toes_stays_with_the_kernel(void **state)
{
    (void)state;
    refused_by_the_kernel("::1", 0, "loopback");
    refused_by_the_kernel("ff02::1", SCOPE, "multicast");
    refused_by_the_kernel(LOOPTOE_PEER_LOCAL, 0, "another interface");
    refused_by_the_kernel(LOOPTOE_PEER_LOCAL, SCOPE + 1, "another interface");
    refused_by_the_kernel("2001:db8::1", 0, "neither on the TOE's network");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup6, harness_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_connection_and_its_names),
        TEST(any_address_takes_both_families),
        TEST(v6only_refuses_the_other),
        TEST(a_mapped_address_is_ip4),
        TEST(link_local_addresses_have_an_interface),
        TEST(the_interface_may_come_from_bind),
        TEST(what_is_not_the_toes_stays_with_the_kernel),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
