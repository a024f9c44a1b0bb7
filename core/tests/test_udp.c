/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_udp.c - UDP endpoints as an integrator uses them: two stacks that talk over both families,
 * and crafted datagrams and ICMP errors for one.
 */
#include "udpbench.h"

static void test_open(void **state)
{
    static struct app a;
    struct toec_udp *u[8], *more;
    struct toec_addr name;
    uint16_t port;
    unsigned i;

    (void)state;
    start(&a, 0);
    assert_int_equal(try_open(&a, any(), 53, any(), 0, &u[0]), 0);
    assert_int_equal(try_open(&a, any(), 53, any(), 0, &more), TOEC_E_INUSE);
    assert_int_equal(try_open(&a, v4(0), 53, any(), 0, &more), TOEC_E_INUSE);
    assert_int_equal(try_open(&a, v4(OWN_IP), 53, any(), 0, &u[1]), 0);
    assert_int_equal(try_open(&a, v4(OWN_IP), 53, any(), 0, &more), TOEC_E_INUSE);
    assert_int_equal(try_open(&a, v4(PEER_IP), 53, any(), 0, &more), TOEC_E_NOTAVAIL);
    assert_int_equal(try_open(&a, v6(9), 53, any(), 0, &more), TOEC_E_NOTAVAIL);
    assert_int_equal(try_open(&a, any(), 53, v4(PEER_IP), 99, &u[2]), 0);
    assert_int_equal(try_open(&a, any(), 53, v4(PEER_IP), 99, &more), TOEC_E_INUSE);
    assert_int_equal(try_open(&a, v6(1), 0, v4(PEER_IP), 99, &more), TOEC_E_INVAL);
    assert_int_equal(try_open(&a, any(), 0, v4(PEER_IP), 0, &more), TOEC_E_INVAL);
    /* Group and broadcast addresses are rejected, as peer and as local address. */
    assert_int_equal(try_open(&a, any(), 0, v4(0xe0000001), 99, &more), TOEC_E_UNREACH);
    assert_int_equal(try_open(&a, any(), 0, v4(0x0a0000ff), 99, &more), TOEC_E_UNREACH);
    assert_int_equal(send_to(&a, u[0], v4(0xffffffff), 99, 10, 0), TOEC_E_UNREACH);
    for (i = 3; i < 8; i++) { /* ephemeral ports, all different */
        assert_int_equal(try_open(&a, any(), 0, any(), 0, &u[i]), 0);
        toec_udp_name(u[i], &name, &port);
        assert_in_range(port, 32768, 60999);
    }
    assert_int_equal(try_open(&a, any(), 0, any(), 0, &more), TOEC_E_NOBUFS);
    assert_int_equal(bench_counter(&a.b, TOEC_C_udp_full), 1);
    for (i = 0; i < 8; i++)
        toec_udp_close(a.b.s, u[i]);
    assert_int_equal(try_open(&a, any(), 53, any(), 0, &u[0]), 0);
    bench_stop(&a.b);
    a.b.cfg.max_udp = 0; /* none configured */
    bench_start(&a.b);
    assert_int_equal(try_open(&a, any(), 53, any(), 0, &more), TOEC_E_INVAL);
    bench_stop(&a.b);
}

/* Both families through one endpoint; the most specific endpoint receives a datagram. */
static void test_talk(void **state)
{
    static struct app a, b;
    struct toec_udp *u, *wild, *exact, *peer;
    unsigned i;

    (void)state;
    start_both(&a, &b, &u, &wild);
    must_send(&a, &b, u, v4(PEER_IP), 53, 300, 0);
    must_send(&a, &b, u, v6(2), 53, 301, 0);
    assert_int_equal(b.heard_n, 2);
    for (i = 0; i < 2; i++) {
        assert_ptr_equal(b.heard[i].owner, &wild);
        assert_int_equal(b.heard[i].d.sport, 1000);
        assert_int_equal(b.heard[i].d.dport, 53);
        assert_int_equal(b.heard[i].d.len, 300 + i);
        assert_int_equal(b.heard[i].d.tos, 0x48);
        assert_int_equal(b.heard[i].d.ttl, 64);
        assert_int_equal(b.heard[i].d.mtu, 1500);
        assert_memory_equal(b.heard[i].data, payload + 100, 300 + i);
    }
    assert_memory_equal(b.heard[1].d.src.b, v6(1).b, 16);
    assert_int_equal(try_open(&b, v4(PEER_IP), 53, any(), 0, &exact), 0);
    must_send(&a, &b, u, v4(PEER_IP), 53, 10, 0);
    assert_ptr_equal(b.heard[2].owner, &exact);
    assert_int_equal(try_open(&b, any(), 53, v4(OWN_IP), 1000, &peer), 0);
    must_send(&a, &b, u, v4(PEER_IP), 53, 10, 0);
    assert_ptr_equal(b.heard[3].owner, &peer);
    must_send(&a, &b, u, v4(PEER_IP), 53, 0, 0); /* an empty datagram is valid */
    assert_int_equal(b.heard[4].d.len, 0);
    must_send(&b, &a, peer, any(), 0, 20, 0); /* the connected endpoint answers */
    assert_int_equal(a.heard_n, 1);
    bench_stop(&a.b);
    bench_stop(&b.b);
}

/* UDP_SEGMENT: datagrams of one size, the last may be shorter; a full transmit path stops between
 * them. */
static void test_segments(void **state)
{
    static struct app a, b;
    struct toec_udp *u, *wild;
    unsigned i;

    (void)state;
    start_both(&a, &b, &u, &wild);
    must_send(&a, &b, u, v4(PEER_IP), 53, 5000, 1200);
    assert_int_equal(b.heard_n, 5);
    for (i = 0; i < 5; i++) {
        assert_int_equal(b.heard[i].d.len, i < 4 ? 1200 : 200);
        assert_memory_equal(b.heard[i].data, payload + 100 + 1200 * i, b.heard[i].d.len);
    }
    a.b.tx_room = 2;
    assert_int_equal(send_to(&a, u, v4(PEER_IP), 53, 5000, 1200), 2400);
    assert_int_equal(send_to(&a, u, v4(PEER_IP), 53, 5000, 1200), TOEC_E_AGAIN);
    a.b.tx_room = -1;
    assert_int_equal(send_to(&a, u, v4(PEER_IP), 53, 5000, 1473), TOEC_E_INVAL);
    /* a call is limited to as many segments as on Linux */
    assert_int_equal(send_to(&a, u, v4(PEER_IP), 53, TOEC_UDP_SEGMENTS + 1, 1), TOEC_E_INVAL);
    assert_int_equal(send_to(&a, u, v4(PEER_IP), 53, TOEC_UDP_SEGMENTS, 1), TOEC_UDP_SEGMENTS);
    bench_stop(&a.b);
    bench_stop(&b.b);
}

/* RFC 791 3.2, RFC 8200 4.5: datagrams larger than the path's MTU are fragmented. */
static void test_fragments(void **state)
{
    static struct app a, b;
    struct toec_udp *u, *wild;
    struct toec_udp_msg m;
    struct toec_addr to = v4(PEER_IP);

    (void)state;
    start_both(&a, &b, &u, &wild);
    must_send(&a, &b, u, v4(PEER_IP), 53, 1473, 0);
    must_send(&a, &b, u, v4(PEER_IP), 53, 8001, 0);
    must_send(&a, &b, u, v6(2), 53, 8001, 0);
    assert_int_equal(b.heard_n, 3);
    assert_int_equal(b.heard[0].d.len, 1473);
    assert_int_equal(b.heard[1].d.len, 8001);
    assert_int_equal(b.heard[2].d.len, 8001);
    assert_memory_equal(b.heard[1].data, payload + 100, 8001);
    assert_memory_equal(b.heard[2].data, payload + 100, 8001);
    assert_int_equal(bench_counter(&b.b, TOEC_C_udp_bad), 0); /* the checksums are valid */
    memset(&m, 0, sizeof(m));
    m.to = &to;
    m.to_port = 53;
    m.payload = payload;
    m.len = 2000;
    assert_int_equal(toec_udp_send(a.b.s, u, &m, a.b.now), TOEC_E_INVAL); /* no checksum */
    m.dont_fragment = 1;
    assert_int_equal(toec_udp_send(a.b.s, u, &m, a.b.now), TOEC_E_MSGSIZE);
    assert_int_equal(send_to(&a, u, v4(PEER_IP), 53, 65508, 0), TOEC_E_MSGSIZE);
    assert_int_equal(send_to(&a, u, v4(PEER_IP), 53, 65507, 0), 65507);
    bench_stop(&a.b);
    bench_stop(&b.b);
}

/* R1122-22 and 4.1.3.3: an unreachable port is reported, and the owner is notified if its endpoint
 * was the sender. */
static void test_unreachable(void **state)
{
    static struct app a, b;
    struct toec_udp *u, *other, *con;
    int six;

    (void)state;
    start(&a, 0);
    start(&b, 1);
    assert_int_equal(try_open(&a, any(), 1000, any(), 0, &u), 0);
    assert_int_equal(try_open(&a, any(), 1001, any(), 0, &other), 0);
    for (six = 0; six < 2; six++) {
        a.errors_n = 0;
        must_send(&a, &b, u, six ? v6(2) : v4(PEER_IP), 54, 30, 0);
        assert_int_equal(a.errors_n, 1);
        assert_ptr_equal(a.error_owner, &u);
        assert_int_equal(a.error.reason, TOEC_R_REFUSED);
        assert_int_equal(a.error.remote_port, 54);
        assert_int_equal(try_open(&a, any(), 0, six ? v6(2) : v4(PEER_IP), 55, &con), 0);
        must_send(&a, &b, con, any(), 0, 30, 0);
        assert_int_equal(a.errors_n, 2);
        assert_ptr_equal(a.error_owner, &con);
    }
    assert_int_equal(bench_counter(&b.b, TOEC_C_udp_no_port), 4);
    bench_stop(&a.b);
    bench_stop(&b.b);
}

/* R1122-20; the rule of R8201-03 for UDP: the error must quote a datagram that was sent, and that
 * is larger than the claimed MTU. */
static void test_path_mtu(void **state)
{
    static struct app a, b;
    struct toec_udp *u, *wild;
    unsigned n;

    (void)state;
    start_both(&a, &b, &u, &wild);
    must_send(&a, &b, u, v4(PEER_IP), 53, 1472, 0);
    icmp_about(&a, 4, 1000, 1000, 54, 1500); /* never sent to this port */
    icmp_about(&a, 4, 1000, 1001, 53, 1500); /* of no endpoint */
    icmp_about(&a, 4, 1000, 1000, 53, 1000); /* a datagram that would have passed */
    icmp_about(&a, 4, 1500, 1000, 53, 1501); /* no change */
    assert_int_equal(a.errors_n, 0);
    assert_int_equal(bench_counter(&a.b, TOEC_C_udp_icmp_ignored), 4);
    icmp_about(&a, 4, 1000, 1000, 53, 1500);
    assert_int_equal(a.errors_n, 1);
    assert_int_equal(a.error.reason, TOEC_R_MSGSIZE);
    assert_int_equal(a.error.mtu, 1000);
    n = b.heard_n;
    must_send(&a, &b, u, v4(PEER_IP), 53, 1472, 0);
    assert_int_equal(b.heard_n, n + 1);
    assert_int_equal(bench_counter(&b.b, TOEC_C_ip4_reassembled), 1);
    icmp_about(&a, 1, 0, 1000, 53, 100);
    assert_int_equal(a.error.reason, TOEC_R_HOSTUNREACH);
    icmp_about(&a, 0, 0, 1000, 53, 100);
    assert_int_equal(a.error.reason, TOEC_R_NETUNREACH);
    icmp_about(&a, 2, 0, 1000, 53, 100);
    assert_int_equal(a.error.reason, TOEC_R_NOPROTOOPT);
    bench_stop(&a.b);
    bench_stop(&b.b);
}

/* R1122-23, R1122-24: corrupted datagrams, in any bit, or ones from an invalid source are not
 * delivered. */
static void test_bad_input(void **state)
{
    static struct app a, b;
    struct toec_udp *u, *wild;
    struct toec_udp_msg m;
    struct toec_addr to = v4(PEER_IP);
    const struct sent *f;
    struct sent good, bad;
    unsigned i;

    (void)state;
    start_both(&a, &b, &u, &wild);
    must_send(&a, &b, u, to, 53, 40, 0);
    assert_int_equal(send_to(&a, u, to, 53, 40, 0), 40);
    f = bench_next(&a.b);
    assert_non_null(f);
    good = *f;
    b.heard_n = 0;
    for (i = 34 * 8; i < good.len * 8; i++) {
        bad = good;
        bad.data[i / 8] ^= (uint8_t)(1u << (i & 7));
        bench_input(&b.b, bad.data, bad.len);
    }
    assert_int_equal(b.heard_n, 0);
    bench_input(&b.b, good.data, good.len);
    assert_int_equal(b.heard_n, 1);
    bad = good;
    poke32(bad.data + 26, 0xe0000001); /* from a group */
    fix_ip4(bad.data);
    bench_input(&b.b, bad.data, bad.len);
    assert_int_equal(b.heard_n, 1);
    /* RFC 768: a datagram over IPv4 may have no checksum; R8200-10: over IPv6 it must have one. */
    memset(&m, 0, sizeof(m));
    m.to = &to;
    m.to_port = 53;
    m.payload = payload;
    m.len = 10;
    m.no_check = 1;
    assert_int_equal(toec_udp_send(a.b.s, u, &m, a.b.now), 10);
    f = bench_next(&a.b);
    assert_int_equal(peek16(f->data + 40), 0);
    bench_input(&b.b, f->data, f->len);
    assert_int_equal(b.heard_n, 2);
    to = v6(2);
    assert_int_equal(toec_udp_send(a.b.s, u, &m, a.b.now), TOEC_E_INVAL);
    must_send(&a, &b, u, to, 53, 10, 0);
    assert_int_equal(b.heard_n, 3);
    assert_int_equal(send_to(&a, u, to, 53, 10, 0), 10);
    f = bench_next(&a.b);
    bad = *f;
    poke16(bad.data + 60, 0);
    bench_input(&b.b, bad.data, bad.len);
    assert_int_equal(b.heard_n, 3);
    bench_stop(&a.b);
    bench_stop(&b.b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open),        cmocka_unit_test(test_talk),
        cmocka_unit_test(test_segments),    cmocka_unit_test(test_fragments),
        cmocka_unit_test(test_unreachable), cmocka_unit_test(test_path_mtu),
        cmocka_unit_test(test_bad_input),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
