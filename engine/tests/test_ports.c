/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ports.c - ports of a shared address, coordinated with this machine's kernel: the address is
 * 127.0.0.1, and this process is the requesting host. Also the choice among routes.
 */
#define _GNU_SOURCE
#include "ports_bench.h"

static void a_listener_keeps_its_port(void **state)
{
    struct ports *p = begin();
    uint16_t port = free_port();
    int fd;

    (void)state;
    assert_int_equal(ports_listen(p, &nowhere, port, &own, &kept), 0);
    assert_int_equal(taken[port], NETIO_TAKE);
    assert_int_equal(kernel_socket(port, 0, 0), -EADDRINUSE);
    assert_int_equal(kernel_socket(port, 1, 1), -EADDRINUSE);
    assert_int_equal(ports_listen(p, &nowhere, port, &own, &kept), 0); /* on another engine */
    ports_unlisten(p, port, kept);
    assert_int_equal(taken[port], NETIO_TAKE);
    ports_unlisten(p, port, kept);
    assert_int_equal(taken[port], 0);
    fd = kernel_socket(port, 0, 1);
    assert_true(fd >= 0);
    close(fd);
    end(p);
}

/* The stranger has fd, which does not prove that it owns the port. */
static void refused_with(struct ports *p, int fd, uint16_t port)
{
    struct asker who = stranger(fd);
    uint16_t same = port;

    assert_int_equal(ports_listen(p, &nowhere, port, &who, &kept), TOE_R_ADDRINUSE);
    assert_int_equal(connect_from(p, &nowhere, &same, &who), TOE_R_ADDRINUSE);
    assert_int_equal(taken[port], 0);
    end_stranger(who);
}

static void a_port_of_somebody_else_is_refused(void **state)
{
    struct ports *p = begin();
    int fd = kernel_socket(0, 1, 1);

    (void)state;
    refused_with(p, -1, port_of(fd));
    close(fd);
    end(p);
}

/* One of IPv6 alone leaves the port of IPv4 to others. */
static void a_socket_of_ipv6_alone_is_no_proof(void **state)
{
    struct ports *p = begin();
    int victim = kernel_socket(0, 1, 1), on = 1;
    uint16_t port = port_of(victim);
    struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)state;
    if (fd < 0)
        skip();
    assert_int_equal(setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)), 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(listen(fd, 1), 0);
    refused_with(p, fd, port);
    close(fd);
    close(victim);
    end(p);
}

static void a_socket_of_both_families_is_proof(void **state)
{
    struct ports *p = begin();
    struct sockaddr_in6 a = {.sin6_family = AF_INET6};
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), off = 0;
    socklen_t len = sizeof(a);
    uint16_t port;

    (void)state;
    if (fd < 0)
        skip();
    assert_int_equal(setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)), 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
    port = ntohs(a.sin6_port);
    assert_int_equal(ports_listen(p, &nowhere, port, &own, &kept), 0);
    assert_true(kept >= 0);
    ports_unlisten(p, port, kept);
    close(fd);
    end(p);
}

/* In another network namespace everybody has all ports. */
static void a_socket_of_another_namespace_is_no_proof(void **state)
{
    struct ports *p = begin();
    int victim = kernel_socket(0, 1, 1), here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port_of(victim))};
    int fd;

    (void)state;
    if (unshare(CLONE_NEWNET) != 0) {
        close(here);
        close(victim);
        end(p);
        skip();
    }
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(setns(here, CLONE_NEWNET), 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(listen(fd, 1), 0);
    refused_with(p, fd, port_of(victim));
    close(fd);
    close(here);
    close(victim);
    end(p);
}

/* Others may have the port on other interfaces. */
static void a_socket_of_one_interface_is_no_proof(void **state)
{
    struct ports *p = begin();
    int fd = kernel_socket(0, 1, 0);
    uint16_t port = port_of(fd);

    (void)state;
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 2), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(ports_listen(p, &nowhere, port, &own, &kept), TOE_R_ADDRINUSE);
    close(fd);
    end(p);
}

/* An accepted connection that its peer has reset: it names the port, but does not own it. */
static void a_dead_connection_is_no_proof(void **state)
{
    const struct linger reset = {.l_onoff = 1};
    struct ports *p = begin();
    int victim = kernel_socket(0, 1, 1), peer = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), fd;
    uint16_t port = port_of(victim);
    struct sockaddr_in a;
    socklen_t len = sizeof(a);
    char byte;

    (void)state;
    assert_int_equal(getsockname(victim, (struct sockaddr *)&a, &len), 0);
    assert_int_equal(connect(peer, (struct sockaddr *)&a, len), 0);
    fd = accept(victim, NULL, NULL);
    assert_true(fd >= 0);
    refused_with(p, fd, port); /* nor when it lives */
    assert_int_equal(setsockopt(peer, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)), 0);
    close(peer);
    assert_int_equal(read(fd, &byte, 1), -1);
    assert_int_equal(errno, ECONNRESET);
    assert_int_equal(port_of(fd), port);
    refused_with(p, fd, port);
    close(fd);
    close(victim);
    end(p);
}

/* With SO_REUSEADDR several sockets are bound; the listening one owns the port. */
static void to_be_bound_is_not_to_listen(void **state)
{
    struct ports *p = begin();
    int fd = kernel_socket(0, 1, 0), victim = kernel_socket(port_of(fd), 1, 1);
    uint16_t port = port_of(fd);
    struct asker who = stranger(fd);

    (void)state;
    assert_true(victim >= 0);
    assert_int_equal(ports_listen(p, &nowhere, port, &who, &kept), TOE_R_ADDRINUSE);
    /* it may connect from there, but gets no connections for the kernel's listener */
    assert_int_equal(connect_from(p, &nowhere, &port, &who), 0);
    assert_int_equal(taken[port], NETIO_TAKE | NETIO_TAKE_OTHERS | NETIO_TAKE_NO_SYN);
    ports_leave(p, port, 1, NULL, 1);
    end_stranger(who);
    close(fd);
    close(victim);
    end(p);
}

/* A user that owns a port on the TOE does not share it with programs of other users. */
static void a_port_that_another_user_has_on_the_toe(void **state)
{
    struct ports *p = begin();
    uint16_t port = free_port();
    struct asker who = stranger(-1), user = {.pid = own.pid, .uid = 1000}, same;
    int first;

    (void)state;
    assert_int_equal(ports_listen(p, &nowhere, port, &user, &first), 0);
    assert_int_equal(ports_listen(p, &nowhere, port, &who, &kept), TOE_R_ADDRINUSE);
    assert_int_equal(connect_from(p, &nowhere, &port, &who), TOE_R_ADDRINUSE);
    same = (struct asker){.pid = who.pid, .uid = user.uid};
    assert_int_equal(ports_listen(p, &nowhere, port, &same, &kept), 0);
    ports_unlisten(p, port, kept);
    same.uid = 0;
    assert_int_equal(ports_listen(p, &nowhere, port, &same, &kept), 0);
    ports_unlisten(p, port, kept);
    ports_unlisten(p, port, first);
    port = 0; /* connected from */
    assert_int_equal(connect_from(p, &nowhere, &port, &user), 0);
    assert_int_equal(connect_from(p, &nowhere, &port, &who), TOE_R_ADDRINUSE);
    ports_leave(p, port, 1, NULL, 1);
    end_stranger(who);
    end(p);
}

/* ... but with processes that have inherited the listener, such as workers of a server. */
static void an_inherited_listener(void **state)
{
    struct ports *p = begin();
    int fd = kernel_socket(0, 1, 1), first;
    uint16_t port = port_of(fd);
    struct asker worker = stranger(fd), who = stranger(-1);

    (void)state;
    assert_int_equal(ports_listen(p, &nowhere, port, &own, &first), 0);
    assert_int_equal(ports_listen(p, &nowhere, port, &worker, &kept), 0);
    ports_unlisten(p, port, first);
    assert_int_equal(ports_listen(p, &nowhere, port, &who, &first), TOE_R_ADDRINUSE);
    ports_unlisten(p, port, kept);
    end_stranger(worker);
    end_stranger(who);
    close(fd);
    end(p);
}

/* It is all ones in a private user namespace. */
static void capabilities_of_another_user_namespace(void **state)
{
    struct ports *p = begin();
    struct asker who = {.uid = NOBODY};
    int ready[2];
    char byte = 0;

    (void)state;
    assert_int_equal(pipe(ready), 0);
    who.pid = fork();
    assert_true(who.pid >= 0);
    if (who.pid == 0) {
        byte = setresuid(NOBODY, NOBODY, NOBODY) == 0 && unshare(CLONE_NEWUSER) == 0 &&
               prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;
        (void)!write(ready[1], &byte, 1);
        pause();
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    if (byte) {
        assert_int_equal(ports_listen(p, &nowhere, 1, &who, &kept), TOE_R_ADDRINUSE);
        assert_int_equal(taken[1], 0);
    }
    end_stranger(who);
    close(ready[0]);
    close(ready[1]);
    end(p);
    if (!byte)
        skip(); /* this kernel does not allow user namespaces */
}

/* The host closes it in the kernel and continues on the TOE: no other process gets the port in
 * between. */
static void a_listeners_socket_is_kept(void **state)
{
    struct ports *p = begin();
    int fd = kernel_socket(0, 1, 1);
    uint16_t port = port_of(fd);
    struct asker other = stranger(-1);
    int first, second;

    (void)state;
    other.uid = own.uid;
    assert_int_equal(ports_listen(p, &nowhere, port, &own, &first), 0);
    close(fd);
    assert_int_equal(kernel_socket(port, 1, 1), -EADDRINUSE);
    assert_int_equal(ports_listen(p, &nowhere, port, &other, &second), 0);
    assert_int_equal(second, -1); /* has no socket itself */
    ports_unlisten(p, port, first);
    assert_int_equal(kernel_socket(port, 1, 1), -EADDRINUSE);
    ports_unlisten(p, port, second);
    fd = kernel_socket(port, 0, 1);
    assert_true(fd >= 0);
    close(fd);
    end_stranger(other);
    end(p);
}

/* libtoe's sockets are the kernel's too, and listen there. */
static void a_port_of_the_hosts_own(void **state)
{
    struct ports *p = begin();
    int fd = kernel_socket(0, 1, 1);
    uint16_t port = port_of(fd);

    (void)state;
    assert_int_equal(ports_listen(p, &nowhere, port, &own, &kept), 0);
    assert_int_equal(taken[port], NETIO_TAKE | NETIO_TAKE_OTHERS);
    ports_accept(p, port);
    ports_unlisten(p, port, kept); /* one of its connections still exists */
    assert_int_equal(taken[port], NETIO_TAKE | NETIO_TAKE_OTHERS | NETIO_TAKE_NO_SYN);
    close(fd);
    fd = kernel_socket(port, 0, 1); /* and anybody may have the port */
    assert_true(fd >= 0);
    ports_leave(p, port, 1, NULL, 1);
    assert_int_equal(taken[port], 0);
    close(fd);
    end(p);
}

/* ... and where bind() has chosen one for a connection, it is kept though the host closes it. */
static void a_port_that_the_host_has_bound(void **state)
{
    struct ports *p = begin();
    int fd = kernel_socket(0, 0, 0);
    uint16_t port = port_of(fd);

    (void)state;
    assert_int_equal(connect_from(p, &nowhere, &port, &own), 0);
    close(fd);
    assert_int_equal(kernel_socket(port, 1, 1), -EADDRINUSE);
    assert_true(taken[port] & NETIO_TAKE);
    assert_int_equal(ports_listen(p, &nowhere, port, &own, &kept), TOE_R_ADDRINUSE);
    ports_leave(p, port, 1, NULL, 1);
    assert_int_equal(taken[port], 0);
    fd = kernel_socket(port, 0, 1);
    assert_true(fd >= 0);
    close(fd);
    end(p);
}

static void chosen_ports_stay_for_a_while(void **state)
{
    struct ports *p = begin();
    uint16_t port = 0, again = 0;
    struct ports_search search = {0};

    (void)state;
    assert_int_equal(connect_from(p, &nowhere, &port, &own), 0);
    assert_true(port >= 1024);
    assert_int_equal(taken[port], NETIO_TAKE);
    assert_int_equal(kernel_socket(port, 1, 1), -EADDRINUSE);
    assert_int_equal(connect_from(p, &nowhere, &again, &own), 0);
    assert_int_equal(again, port); /* to another peer it may be used */
    ports_leave(p, again, 1, NULL, 1);
    while (again == port) {
        again = 0;
        assert_int_equal(ports_connect(p, &nowhere, &again, &search, &own), 0);
        if (again == port)
            ports_leave(p, again, 1, NULL, 1);
    }
    assert_int_not_equal(again, port); /* to the same a new one is found */
    ports_leave(p, port, 1, NULL, 1 * NS_PER_S);
    assert_int_equal(ports_tidy(p, 50 * NS_PER_S), 1);
    assert_int_equal(taken[port], NETIO_TAKE); /* TIME-WAIT */
    assert_int_equal(ports_tidy(p, 70 * NS_PER_S), 1);
    assert_int_equal(taken[port], 0);
    assert_int_equal(taken[again], NETIO_TAKE); /* in use */
    ports_leave(p, again, 1, NULL, 80 * NS_PER_S);
    assert_int_equal(ports_tidy(p, 150 * NS_PER_S), 0);
    end(p);
}

/* Nothing of a refused connection is in TIME-WAIT. */
static void a_port_of_a_refused_connection_is_free(void **state)
{
    struct ports *p = begin();
    uint16_t port = 0;

    (void)state;
    assert_int_equal(connect_from(p, &nowhere, &port, &own), 0);
    ports_leave(p, port, 0, NULL, 1);
    assert_int_equal(taken[port], 0);
    assert_int_equal(ports_tidy(p, 2), 0);
    end(p);
}

static void low_ports_are_for_those_who_may(void **state)
{
    struct ports *p = begin();
    struct asker who;

    (void)state;
    if (geteuid() != 0) /* then toed may not either */
        skip();
    who = stranger(-1);
    assert_int_equal(ports_listen(p, &nowhere, 1, &who, &kept), TOE_R_ADDRINUSE);
    assert_int_equal(taken[1], 0);
    end_stranger(who);
    assert_int_equal(ports_listen(p, &nowhere, 1, &own, &kept), 0);
    ports_unlisten(p, 1, kept);
    end(p);
}

static struct toec_addr mapped(uint32_t ip)
{
    struct toec_addr a = {.b = {[10] = 0xff, [11] = 0xff}};

    toe_ip4_bytes(ip, a.b + 12);
    return a;
}

static struct route route4(uint32_t to, uint8_t len, uint32_t gateway, uint32_t metric)
{
    return (struct route){.to = mapped(to),
                          .len = (uint8_t)(96 + len),
                          .gateway = mapped(gateway),
                          .has_gateway = 1,
                          .metric = metric};
}

/* Its last byte; 0: no route. */
static int gateway_to(const struct routes *r, struct toec_addr to)
{
    const struct route *found = routes_find(r, &to);

    return found ? found->gateway.b[15] : 0;
}

static void the_longest_prefix_and_the_least_metric(void **state)
{
    static struct routes r;

    (void)state;
    r.count = 4;
    r.route[0] = route4(0, 0, 1, 0);
    r.route[1] = route4(0x0a000000, 8, 2, 100);
    r.route[2] = route4(0x0a010000, 16, 3, 200);
    r.route[3] = route4(0x0a000000, 8, 4, 50);
    routes_sort(&r);
    assert_int_equal(gateway_to(&r, mapped(0x0a010203)), 3);
    assert_int_equal(gateway_to(&r, mapped(0x0a020203)), 4);
    assert_int_equal(gateway_to(&r, mapped(0xc0000201)), 1);
    r.count = 3; /* without the default route, which is last */
    assert_int_equal(gateway_to(&r, mapped(0xc0000201)), 0);
}

/* The default route of one family is no route of the other. */
static void routes_are_of_one_family(void **state)
{
    const struct toec_addr near = {{0xfd, 1, [15] = 7}}, far = {{0x20, 1, [15] = 7}};
    static struct routes r;

    (void)state;
    r.count = 3;
    r.route[0] = route4(0x0a000000, 8, 1, 0);
    r.route[1] = (struct route){.gateway = {{[15] = 2}}, .has_gateway = 1};
    r.route[2] =
        (struct route){.to = {{0xfd, 1}}, .len = 15, .gateway = {{[15] = 3}}, .has_gateway = 1};
    routes_sort(&r);
    assert_int_equal(gateway_to(&r, near), 3);
    assert_int_equal(gateway_to(&r, far), 2);
    assert_int_equal(gateway_to(&r, mapped(0x0a000001)), 1);
    assert_int_equal(gateway_to(&r, mapped(0xc0000201)), 0);
}

/* ---- IPv6: at which addresses ---- */

static void a_listener_at_one_address(void **state)
{
    struct ports *p = begin6();
    uint16_t port = 0;
    int fd = listener6(&loopback6, &port), other;

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(ports_listen(p, &nowhere, port, &own, &kept), TOE_R_ADDRINUSE);
    assert_int_equal(ports_listen(p, &other6, port, &own, &kept), TOE_R_ADDRINUSE);
    assert_int_equal(ports_listen(p, &loopback6, port, &own, &kept), 0);
    assert_int_equal(taken[port], NETIO_TAKE | NETIO_TAKE_OTHERS | NETIO_TAKE_SOME);
    assert_int_equal(places, 1);
    assert_int_equal(ports_listen(p, &other6, port, &own, &other), TOE_R_ADDRINUSE);
    assert_int_equal(connect_from(p, &other6, &port, &own), TOE_R_ADDRINUSE);
    assert_int_equal(connect_from(p, &loopback6, &port, &own), 0);
    ports_leave(p, port, 1, NULL, 1);
    ports_unlisten(p, port, kept);
    assert_int_equal(taken[port], 0);
    assert_int_equal(places, 0);
    close(fd);
    end(p);
}

static void a_listener_at_all_of_them(void **state)
{
    struct ports *p = begin6();
    uint16_t port = 0, same;
    int fd = listener6(NULL, &port), of_ip4;

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(ports_listen(p, &other6, port, &own, &kept), 0); /* held there too */
    assert_int_equal(taken[port], NETIO_TAKE | NETIO_TAKE_OTHERS | NETIO_TAKE_SOME);
    ports_unlisten(p, port, kept);
    assert_int_equal(ports_listen(p, &nowhere, port, &own, &kept), 0);
    assert_int_equal(taken[port], NETIO_TAKE | NETIO_TAKE_OTHERS);
    assert_int_equal(places, 0);
    ports_unlisten(p, port, kept);
    close(fd);
    /* without a socket of the host's: toed holds it, and not that of IPv4 */
    assert_int_equal(ports_listen(p, &nowhere, port, &own, &kept), 0);
    assert_int_equal(taken[port], NETIO_TAKE);
    same = port;
    assert_int_equal(listener6(&loopback6, &same), -1);
    of_ip4 = kernel_socket(port, 0, 1);
    assert_true(of_ip4 >= 0);
    close(of_ip4);
    ports_unlisten(p, port, kept);
    end(p);
}

static void chosen_ports_of_ip6(void **state)
{
    struct ports *p = begin6();
    uint16_t port = 0, same;

    (void)state;
    assert_int_equal(connect_from(p, &other6, &port, &own), 0);
    assert_int_equal(taken[port], NETIO_TAKE);
    same = port;
    assert_int_equal(listener6(NULL, &same), -1);
    ports_leave(p, port, 1, NULL, 1 * NS_PER_S);
    assert_int_equal(ports_tidy(p, 70 * NS_PER_S), 0);
    assert_int_equal(taken[port], 0);
    end(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_listener_keeps_its_port),
        cmocka_unit_test(a_port_of_somebody_else_is_refused),
        cmocka_unit_test(a_socket_of_ipv6_alone_is_no_proof),
        cmocka_unit_test(a_socket_of_both_families_is_proof),
        cmocka_unit_test(a_socket_of_another_namespace_is_no_proof),
        cmocka_unit_test(a_socket_of_one_interface_is_no_proof),
        cmocka_unit_test(a_dead_connection_is_no_proof),
        cmocka_unit_test(to_be_bound_is_not_to_listen),
        cmocka_unit_test(a_port_that_another_user_has_on_the_toe),
        cmocka_unit_test(an_inherited_listener),
        cmocka_unit_test(capabilities_of_another_user_namespace),
        cmocka_unit_test(a_listeners_socket_is_kept),
        cmocka_unit_test(a_port_of_the_hosts_own),
        cmocka_unit_test(a_port_that_the_host_has_bound),
        cmocka_unit_test(chosen_ports_stay_for_a_while),
        cmocka_unit_test(low_ports_are_for_those_who_may),
        cmocka_unit_test(the_longest_prefix_and_the_least_metric),
        cmocka_unit_test(routes_are_of_one_family),
        cmocka_unit_test(a_port_of_a_refused_connection_is_free),
        cmocka_unit_test(a_listener_at_one_address),
        cmocka_unit_test(a_listener_at_all_of_them),
        cmocka_unit_test(chosen_ports_of_ip6),
    };

    begin_alone();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
