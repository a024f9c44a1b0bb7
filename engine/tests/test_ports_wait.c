/* SPDX-License-Identifier: Apache-2.0 */
/* test_ports_wait.c - ports in TIME-WAIT at a shared address, which guards keep. */
#define _GNU_SOURCE
#include "ports_bench.h"

/* A port that the program has bound, and connected from. */
static uint16_t port_in_use(struct ports *p, int reuse, int *fd)
{
    uint16_t port;

    *fd = kernel_socket(0, reuse, 0);
    assert_true(*fd >= 0);
    port = port_of(*fd);
    assert_int_equal(connect_from(p, &nowhere, &port, &own), 0);
    return port;
}

/* The program has closed its socket, or it still has it. */
static void guarded(int closes_first)
{
    struct ports *p = begin();
    int fd;
    uint16_t port = port_in_use(p, 0, &fd);

    if (closes_first)
        close(fd);
    ports_leave(p, port, PORTS_WAITS, &nowhere, 1 * NS_PER_S);
    if (!closes_first)
        close(fd);
    /* a repeated FIN gets its answer from the TOE; SYNs are the kernel's */
    assert_int_equal(taken[port], NETIO_TAKE | NETIO_TAKE_OTHERS | NETIO_TAKE_NO_SYN);
    assert_int_equal(kernel_socket(port, 0, 0), -EADDRINUSE);
    assert_int_equal(kernel_socket(port, 1, 0), -EADDRINUSE);
    assert_int_equal(ports_tidy(p, 60 * NS_PER_S), 1);
    assert_int_equal(kernel_socket(port, 1, 1), -EADDRINUSE);
    (void)ports_tidy(p, 63 * NS_PER_S);
    assert_int_equal(taken[port], 0);
    assert_int_equal(ports_tidy(p, 64 * NS_PER_S), 0);
    fd = kernel_socket(port, 0, 1);
    assert_true(fd >= 0);
    close(fd);
    end(p);
}

static void a_port_in_time_wait_is_guarded(void **state)
{
    (void)state;
    guarded(1);
}

static void a_port_in_time_wait_that_the_program_still_has(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip(); /* without CAP_NET_ADMIN the guard comes when the program has closed it */
    guarded(0);
}

/* As on Linux, sockets with SO_REUSEADDR get the port if all in TIME-WAIT had it. */
static void time_wait_of_sockets_with_reuse(void **state)
{
    struct ports *p = begin();
    int fd, other;
    uint16_t port = port_in_use(p, 1, &fd);

    (void)state;
    close(fd);
    ports_leave(p, port, PORTS_WAITS_REUSE, &nowhere, 1 * NS_PER_S);
    assert_int_equal(kernel_socket(port, 0, 0), -EADDRINUSE);
    fd = kernel_socket(port, 1, 1);
    assert_true(fd >= 0);
    /* it listens on the TOE too, and then another one in TIME-WAIT has no SO_REUSEADDR */
    assert_int_equal(ports_listen(p, &nowhere, port, &own, &kept), 0);
    assert_int_equal(taken[port], NETIO_TAKE | NETIO_TAKE_OTHERS);
    assert_int_equal(ports_tidy(p, 100 * NS_PER_S), 0);
    assert_int_equal(taken[port], NETIO_TAKE | NETIO_TAKE_OTHERS);
    ports_accept(p, port);
    ports_leave(p, port, PORTS_WAITS, &nowhere, engine_clock());
    ports_unlisten(p, port, kept);
    close(fd);
    (void)ports_tidy(p, engine_clock()); /* makes a guard that was not possible while fd existed */
    other = kernel_socket(port, 1, 0);
    assert_int_equal(other, -EADDRINUSE);
    end(p);
}

/* The next connection from the port ends the guard, and takes over what remains of TIME-WAIT. */
static void a_guarded_port_is_used_again(void **state)
{
    struct ports *p = begin();
    uint64_t now = engine_clock();
    int fd;
    uint16_t port = port_in_use(p, 1, &fd), refused;
    struct asker who = stranger(-1);

    (void)state;
    close(fd);
    ports_leave(p, port, PORTS_WAITS_REUSE, &nowhere, now);
    refused = port;
    assert_int_equal(connect_from(p, &nowhere, &refused, &who), 0); /* nothing is bound there */
    ports_leave(p, port, PORTS_UNOPENED, NULL, now);
    fd = kernel_socket(port, 1, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect_from(p, &nowhere, &port, &own), 0);
    close(fd);
    ports_leave(p, port, PORTS_UNOPENED, NULL, now);
    assert_int_equal(kernel_socket(port, 0, 0), -EADDRINUSE);
    assert_int_equal(ports_tidy(p, now + 60 * NS_PER_S), 1);
    (void)ports_tidy(p, now + 62 * NS_PER_S);
    assert_int_equal(taken[port], 0);
    end_stranger(who);
    end(p);
}

/* Without SO_REUSEADDR no other user gets it, nor one that has no socket there. */
static void a_guarded_port_is_refused(void **state)
{
    struct ports *p = begin();
    int fd;
    uint16_t port = port_in_use(p, 0, &fd);
    struct asker who = stranger(-1);

    (void)state;
    close(fd);
    ports_leave(p, port, PORTS_WAITS, &nowhere, engine_clock());
    assert_int_equal(ports_listen(p, &nowhere, port, &who, &kept), TOE_R_ADDRINUSE);
    assert_int_equal(connect_from(p, &nowhere, &port, &who), TOE_R_ADDRINUSE);
    assert_int_equal(taken[port], NETIO_TAKE | NETIO_TAKE_OTHERS | NETIO_TAKE_NO_SYN);
    assert_int_equal(kernel_socket(port, 1, 0), -EADDRINUSE);
    end_stranger(who);
    end(p);
}

/* ---- IPv6: at which addresses ---- */

/* The kernel keeps the port at its other addresses, and that of the other family. */
static void a_guard_at_one_address(void **state)
{
    struct ports *p = begin6();
    uint16_t port = 0, same;
    int fd = bound_make(NULL, &loopback6, 1, &port, 0, 0), of_ip4;

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(connect_from(p, &loopback6, &port, &own), 0);
    close(fd);
    ports_leave(p, port, PORTS_WAITS, &loopback6, engine_clock());
    assert_int_equal(taken[port],
                     NETIO_TAKE | NETIO_TAKE_OTHERS | NETIO_TAKE_NO_SYN | NETIO_TAKE_SOME);
    assert_int_equal(places, 1);
    same = port;
    assert_int_equal(bound_make(NULL, &loopback6, 1, &same, 0, 1), -1);
    of_ip4 = kernel_socket(port, 0, 1);
    assert_true(of_ip4 >= 0);
    close(of_ip4);
    end(p);
    assert_int_equal(places, 0);
}

/* A listener at :: leaves TIME-WAIT at one address: the others are not guarded, and the next
 * listener has the port at its own address alone. */
static void a_guard_after_a_listener_at_all_of_them(void **state)
{
    struct ports *p = begin6();
    uint16_t port = 0, same;
    int fd = listener6(NULL, &port), other;

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(ports_listen(p, &nowhere, port, &own, &kept), 0);
    ports_accept(p, port);
    close(fd);
    ports_leave(p, port, PORTS_WAITS, &loopback6, engine_clock());
    ports_unlisten(p, port, kept);
    same = port;
    assert_int_equal(listener6(&loopback6, &same), -1);
    end(p);
    p = begin6();
    port = 0;
    fd = listener6(NULL, &port);
    assert_int_equal(ports_listen(p, &nowhere, port, &own, &kept), 0);
    assert_int_equal(taken[port], NETIO_TAKE | NETIO_TAKE_OTHERS);
    ports_accept(p, port);
    ports_leave(p, port, PORTS_WAITS_REUSE, &loopback6, engine_clock());
    ports_unlisten(p, port, kept);
    close(fd);
    same = port;
    fd = bound_make(NULL, &loopback6, 1, &same, 0, 1);
    other = 1;
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &other, sizeof(other)), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(ports_listen(p, &loopback6, port, &own, &kept), 0);
    assert_int_equal(taken[port], NETIO_TAKE | NETIO_TAKE_OTHERS | NETIO_TAKE_SOME);
    ports_unlisten(p, port, kept);
    close(fd);
    end(p);
}

/* A guard of IPv4 leaves the port of IPv6 to others, also after a socket of both families. */
static void a_guard_of_ip4_alone(void **state)
{
    struct ports *p = begin();
    struct sockaddr_in6 a = {.sin6_family = AF_INET6};
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), off = 0, of_ip6;
    socklen_t len = sizeof(a);
    uint16_t port, same;

    (void)state;
    if (fd < 0)
        skip();
    assert_int_equal(setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)), 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
    same = port = ntohs(a.sin6_port);
    assert_int_equal(connect_from(p, &nowhere, &port, &own), 0);
    close(fd);
    ports_leave(p, port, PORTS_WAITS, &nowhere, engine_clock());
    assert_int_equal(kernel_socket(port, 1, 0), -EADDRINUSE);
    of_ip6 = listener6(NULL, &same);
    assert_true(of_ip6 >= 0);
    close(of_ip6);
    end(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_port_in_time_wait_is_guarded),
        cmocka_unit_test(a_port_in_time_wait_that_the_program_still_has),
        cmocka_unit_test(time_wait_of_sockets_with_reuse),
        cmocka_unit_test(a_guarded_port_is_used_again),
        cmocka_unit_test(a_guarded_port_is_refused),
        cmocka_unit_test(a_guard_at_one_address),
        cmocka_unit_test(a_guard_after_a_listener_at_all_of_them),
        cmocka_unit_test(a_guard_of_ip4_alone),
    };

    begin_alone();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
