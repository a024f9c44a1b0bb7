/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_udp_edges.c - what UDP endpoints reject and why, header fields at their limits, path MTU
 * claims that are ignored, exhausted ports.
 */
#include "udpbench.h"

/* What cannot be opened or sent, each with its own error. */
static void test_refusals(void **state)
{
    static struct app a;
    struct toec_udp *u, *six, *four, *con;
    struct toec_udp_bind bind;
    struct toec_udp_msg m;
    struct toec_addr to = v4(PEER_IP);

    (void)state;
    start(&a, 0);
    assert_int_equal(toec_udp_open(a.b.s, 0, 0, &u), TOEC_E_INVAL);
    memset(&bind, 0, sizeof(bind));
    assert_int_equal(toec_udp_open(a.b.s, &bind, 0, 0), TOEC_E_INVAL);
    bind.v6only = 1;
    bind.local_port = 53;
    assert_int_equal(toec_udp_open(a.b.s, &bind, 0, &six), 0);
    assert_int_equal(try_open(&a, v4(0), 53, any(), 0, &four), 0); /* both at once */
    bind.remote = v4(PEER_IP);
    bind.remote_port = 9;
    assert_int_equal(toec_udp_open(a.b.s, &bind, 0, &u), TOEC_E_INVAL);
    assert_int_equal(try_open(&a, v4(OWN_IP), 0, v6(2), 9, &u), TOEC_E_INVAL);
    assert_int_equal(try_open(&a, v4(OWN_IP), 0, v4(PEER_IP), 9, &con), 0);
    assert_int_equal(send_to(&a, con, to, 9, 10, 0), TOEC_E_INVAL); /* sends only to its peer */
    assert_int_equal(send_to(&a, six, to, 9, 10, 0), TOEC_E_INVAL);
    assert_int_equal(send_to(&a, four, v6(2), 9, 10, 0), TOEC_E_INVAL);
    assert_int_equal(send_to(&a, four, to, 0, 10, 0),
                     TOEC_E_INVAL); /* to the unspecified address */
    assert_int_equal(try_open(&a, v4(OWN_IP), 54, any(), 0, &u), 0);
    assert_int_equal(send_to(&a, u, v6(2), 9, 10, 0), TOEC_E_INVAL);
    memset(&m, 0, sizeof(m));
    m.to = &to;
    m.to_port = 9;
    m.payload = payload;
    m.len = 2000;
    m.no_check = 1; /* fragmented, and without a checksum */
    bench_learn(&a.b, peer_mac, PEER_IP);
    assert_int_equal(toec_udp_send(a.b.s, four, &m, a.b.now), 2000);
    assert_int_equal(peek16(bench_next(&a.b)->data + 40), 0);
    bench_stop(&a.b);
}

/* The neighbour does not answer: the sender gets an error, not a request to wait. Without a local
 * address a send fails, too. */
static void test_no_way(void **state)
{
    static struct app a;
    struct toec_udp *u;
    struct toec_addr far = v6(9);

    (void)state;
    start(&a, 0);
    assert_int_equal(try_open(&a, any(), 1000, any(), 0, &u), 0);
    assert_int_equal(send_to(&a, u, v4(PEER_IP), 9, 10, 0), TOEC_E_AGAIN);
    bench_pass(&a.b, 4 * SEC);
    assert_int_equal(send_to(&a, u, v4(PEER_IP), 9, 10, 0), TOEC_E_HOSTUNREACH);
    bench_stop(&a.b);
    bench_start(&a.b); /* addresses are being tested */
    assert_int_equal(try_open(&a, any(), 1000, any(), 0, &u), 0);
    assert_int_equal(send_to(&a, u, far, 9, 10, 0), TOEC_E_NOTAVAIL);
    assert_int_equal(try_open(&a, any(), 1000, far, 9, &u), TOEC_E_NOTAVAIL);
    bench_stop(&a.b);
}

/* RFC 768: a checksum that is computed as 0 is sent as ones. RFC 791: DF is set on request. */
static void test_header_fields(void **state)
{
    static struct app a;
    struct toec_addr to = v4(PEER_IP);
    struct toec_udp_msg m;
    struct toec_udp *u;
    const struct sent *f;
    uint8_t data[2000] = {0};
    unsigned i, ones = 0;

    (void)state;
    start(&a, 0);
    bench_learn(&a.b, peer_mac, PEER_IP);
    assert_int_equal(try_open(&a, any(), 1000, any(), 0, &u), 0);
    memset(&m, 0, sizeof(m));
    m.to = &to;
    m.to_port = 9;
    m.payload = data;
    m.len = sizeof(data); /* fragmented: the checksum cannot be left to the device */
    m.has_sum = 1;
    for (i = 0; i < 65536; i++) {
        poke16(data, i);
        m.sum = toec_sum(data, sizeof(data));
        assert_int_equal(toec_udp_send(a.b.s, u, &m, a.b.now), 2000);
        f = bench_next(&a.b);
        assert_int_not_equal(peek16(f->data + 40), 0);
        ones += peek16(f->data + 40) == 0xffff;
        bench_forget_sent(&a.b);
    }
    assert_int_equal(ones, 1);
    m.len = 10;
    m.sum = 0;
    assert_int_equal(toec_udp_send(a.b.s, u, &m, a.b.now), 10);
    assert_int_equal(peek16(bench_next(&a.b)->data + 20) & 0x4000, 0);
    m.dont_fragment = 1;
    assert_int_equal(toec_udp_send(a.b.s, u, &m, a.b.now), 10);
    assert_int_equal(peek16(bench_next(&a.b)->data + 20) & 0x4000, 0x4000);
    bench_stop(&a.b);
}

/* R8201-03: claims below the minimum, and above the known MTU. */
static void test_path_mtu_claims(void **state)
{
    static struct app a, b;
    struct toec_addr to = v4(PEER_IP);
    struct toec_udp *u, *wild;
    struct toec_udp_msg m;
    const struct sent *f;

    (void)state;
    start(&a, 0);
    start(&b, 1);
    assert_int_equal(try_open(&a, any(), 1000, any(), 0, &u), 0);
    icmp_about(&a, 4, 1000, 1000, 53, 1500); /* nothing was ever sent */
    assert_int_equal(a.errors_n, 0);
    assert_int_equal(try_open(&b, any(), 53, any(), 0, &wild), 0);
    must_send(&a, &b, u, to, 53, 1472, 0);
    icmp_about(&a, 4, 1200, 1000, 53, 1500);
    assert_int_equal(a.errors_n, 1);
    icmp_about(&a, 4, 1300, 1000, 53, 1500); /* more than the known MTU */
    assert_int_equal(a.errors_n, 1);
    icmp_about(&a, 4, 100, 1000, 53, 1500); /* below the minimum: from now on sent without DF */
    assert_int_equal(a.errors_n, 2);
    assert_int_equal(a.error.mtu, TOEC_PMTU_MIN4);
    memset(&m, 0, sizeof(m));
    m.to = &to;
    m.to_port = 53;
    m.payload = payload;
    m.len = 100;
    m.dont_fragment = 1;
    assert_int_equal(toec_udp_send(a.b.s, u, &m, a.b.now), 100);
    f = bench_next(&a.b);
    assert_int_equal(peek16(f->data + 20) & 0x4000, 0);
    bench_stop(&a.b);
    bench_stop(&b.b);
}

/* R1122-24 and RFC 768: not to a group, not to port 0; IPv6 not from the unspecified address. */
static void test_strange_ends(void **state)
{
    static struct app a, b;
    struct toec_udp *u, *wild;
    const struct sent *f;
    struct sent good, bad;

    (void)state;
    start_both(&a, &b, &u, &wild);
    must_send(&a, &b, u, v6(2), 53, 40, 0);
    assert_int_equal(send_to(&a, u, v6(2), 53, 40, 0), 40);
    f = bench_next(&a.b);
    assert_non_null(f);
    good = *f;
    bad = good;
    memset(bad.data + 22, 0, 16); /* from the unspecified address */
    poke16(bad.data + 60, 0);     /* recompute the checksum */
    {
        uint8_t sum[40 + 48];

        memcpy(sum, bad.data + 22, 32);
        poke32(sum + 32, 48);
        poke32(sum + 36, 17);
        memcpy(sum + 40, bad.data + 54, 48);
        poke16(bad.data + 60, naive_sum(sum, sizeof(sum)));
        bench_input(&b.b, bad.data, bad.len);
        assert_int_equal(bench_counter(&b.b, TOEC_C_udp_bad), 1);
        bad = good; /* to all nodes */
        memset(bad.data, 0, 6);
        bad.data[0] = bad.data[1] = 0x33;
        bad.data[5] = 1;
        memset(bad.data + 38, 0, 16);
        bad.data[38] = 0xff;
        bad.data[39] = 2;
        bad.data[53] = 1;
        poke16(bad.data + 60, 0);
        memcpy(sum, bad.data + 22, 32);
        memcpy(sum + 40, bad.data + 54, 48);
        poke16(bad.data + 60, naive_sum(sum, sizeof(sum)));
        bench_input(&b.b, bad.data, bad.len);
        assert_int_equal(bench_counter(&b.b, TOEC_C_udp_bad), 2);
        bad = good; /* to port 0 */
        poke16(bad.data + 56, 0);
        poke16(bad.data + 60, 0);
        memcpy(sum, bad.data + 22, 32);
        memcpy(sum + 40, bad.data + 54, 48);
        poke16(bad.data + 60, naive_sum(sum, sizeof(sum)));
        bench_input(&b.b, bad.data, bad.len);
        assert_int_equal(bench_counter(&b.b, TOEC_C_udp_no_port), 1);
    }
    assert_int_equal(b.heard_n, 1);
    bench_input(&b.b, good.data, good.len);
    assert_int_equal(b.heard_n, 2);
    bench_stop(&a.b);
    bench_stop(&b.b);
}

/* RFC 6056: every ephemeral port is used once, then there are none. */
static void test_all_ports(void **state)
{
    static struct app a;
    static uint8_t used[65536];
    struct toec_addr name;
    struct toec_udp *u;
    uint16_t port;
    unsigned i;

    (void)state;
    start(&a, 0);
    bench_stop(&a.b);
    a.b.cfg.max_udp = 29000;
    bench_start(&a.b);
    memset(used, 0, sizeof(used));
    for (i = 0; i < 28232; i++) {
        assert_int_equal(try_open(&a, any(), 0, any(), 0, &u), 0);
        toec_udp_name(u, &name, &port);
        assert_in_range(port, 32768, 60999);
        assert_false(used[port]++);
    }
    assert_int_equal(try_open(&a, any(), 0, any(), 0, &u), TOEC_E_NOTAVAIL);
    bench_stop(&a.b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),      cmocka_unit_test(test_no_way),
        cmocka_unit_test(test_header_fields), cmocka_unit_test(test_path_mtu_claims),
        cmocka_unit_test(test_strange_ends),  cmocka_unit_test(test_all_ports),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
