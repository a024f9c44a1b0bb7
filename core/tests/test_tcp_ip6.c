/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_ip6.c - how TCP differs over IPv6: segment sizes, Packet Too Big (RFC 8201), a link MTU
 * that a router advertises (RFC 4861 6.3.4), ICMPv6 errors.
 */
#include "tcptalk.h"

#define MSS 1440u /* 1500 less 40 and 20 */

/* Establishes a connection with n full segments in flight. */
static void under_way(struct talk *t, unsigned n)
{
    talk_passive(t);
    talk_send(t, n * MSS);
    assert_int_equal(talk_skip(t), n);
}

static void too_big(struct talk *t, uint32_t seq, uint32_t mtu)
{
    struct tseg q = seg_make(t->own_port, t->peer_port, F_ACK, t->iss + 1 + seq, 0);

    craft_icmp(&t->s, 2, 0, mtu, &q);
    craft_poll(&t->s);
}

/* Expects n bytes from stream offset `at` on, no segment above `most`. */
static void pieces(struct talk *t, uint32_t at, uint32_t n, uint32_t most)
{
    uint32_t end = at + n, largest = 0;

    while (at < end) {
        struct tseg g = craft_expect(&t->s);

        assert_int_equal(g.seq - t->iss - 1, at);
        assert_true(g.len <= most);
        largest = g.len > largest ? g.len : largest;
        at += g.len;
    }
    assert_int_equal(at, end);
    assert_int_equal(largest, most);
}

/* RFC 9293 MUST-14, MUST-16: our MSS option advertises the link's size; the peer's option limits
 * our segments. */
static void test_mss_of_the_link(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_init(&t);
    craft_start(&t.s);
    t.c = sim_connect(&t.s, 0, 80);
    craft_poll(&t.s);
    g = craft_expect(&t.s);
    assert_int_equal(g.mss, MSS);
    talk_end(&t);
    talk_init(&t); /* the peer advertises 1460 */
    talk_passive(&t);
    assert_int_equal(talk_info(&t).mss_send, MSS);
    talk_end(&t);
    talk_init(&t);
    t.mss = 1000;
    talk_passive(&t);
    assert_int_equal(talk_info(&t).mss_send, 1000);
    talk_send(&t, 3000);
    pieces(&t, 0, 3000, 1000);
    talk_end(&t);
}

/* RFC 9293 MUST-15: 1220 for IPv6 (1280 less 60), in both roles. */
static void test_default_mss(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    t.mss = -1;
    talk_passive(&t);
    assert_int_equal(talk_info(&t).mss_send, 1220);
    talk_send(&t, 2440);
    pieces(&t, 0, 2440, 1220);
    talk_end(&t);
    talk_init(&t);
    t.mss = -1;
    talk_active(&t);
    assert_int_equal(talk_info(&t).mss_send, 1220);
    talk_end(&t);
}

/* ... and through a SYN cookie, which can encode only some of the sizes. */
static void test_default_mss_by_cookie(void **state)
{
    struct talk t;
    struct tseg g;
    unsigned i;

    (void)state;
    talk_init(&t);
    craft_start(&t.s);
    sim_listen(&t.s, 0, t.own_port, 1, 0);
    for (i = 0; i < 5; i++) { /* fills the backlog */
        g = seg_make((uint16_t)(6000 + i), t.own_port, F_SYN, 1, 0);
        craft_say(&t.s, &g);
    }
    craft_forget(&t.s);
    assert_true(talk_count(&t, TOEC_C_tcp_cookies_sent) > 0);
    t.mss = -1;
    g = talk_seg(&t, F_SYN, (uint32_t)-1, 0, 0);
    craft_say(&t.s, &g);
    g = craft_expect(&t.s);
    t.iss = g.seq;
    talk_say(&t, F_ACK, 0, 0, 0);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_cookies_taken), 1);
    t.c = t.s.host[0].conns;
    assert_int_equal(talk_info(&t).mss_send, 1220);
    talk_end(&t);
}

/* RFC 8201 4: segments shrink immediately, and data that was too large is retransmitted in smaller
 * ones; the congestion window is unchanged (5.4). */
static void test_packet_too_big(void **state)
{
    struct talk t;
    uint32_t cwnd;

    (void)state;
    talk_init(&t);
    t.sack = 1;
    under_way(&t, 3);
    cwnd = talk_info(&t).cwnd;
    assert_int_equal(talk_info(&t).pmtu, 1500);
    too_big(&t, 0, 1400);
    pieces(&t, 0, 3 * MSS, 1340);
    assert_int_equal(talk_info(&t).cwnd, cwnd);
    assert_int_equal(talk_info(&t).pmtu, 1400);
    assert_int_equal(talk_info(&t).mss_recv, MSS);
    too_big(&t, 1340, 1300); /* another router, farther away */
    pieces(&t, 0, 3 * MSS, 1240);
    assert_int_equal(talk_info(&t).pmtu, 1300);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_pmtu_lowered), 2);
    talk_say(&t, F_ACK, 0, 3 * MSS, 0);
    talk_send(&t, 2000);
    pieces(&t, 3 * MSS, 2000, 1240);
    talk_end(&t);
}

/* R8201-01: never below 1280, whatever the message claims; 1280 itself is accepted. */
static void test_least(void **state)
{
    static const uint32_t claims[] = {0, 1, 68, 576, 1279};
    struct talk t;
    unsigned i;

    (void)state;
    talk_init(&t);
    under_way(&t, 2);
    for (i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
        too_big(&t, 0, claims[i]);
        talk_silence(&t);
        assert_int_equal(talk_info(&t).pmtu, 1500);
        assert_int_equal(talk_count(&t, TOEC_C_icmp_error_bad_quote), i + 1);
    }
    too_big(&t, 0, 1280);
    pieces(&t, 0, 2 * MSS, 1220);
    talk_end(&t);
}

/* R8201-02: a message never raises the size. R8201-03: it must quote data in flight. */
static void test_forged(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    under_way(&t, 3);
    too_big(&t, 0, 1400);
    talk_skip(&t);
    too_big(&t, 0, 1450);
    too_big(&t, 0, 9000);
    too_big(&t, 0, 0xffffffff);
    too_big(&t, 0, 0x10000 + 1300); /* not truncated to 1300 */
    assert_int_equal(talk_info(&t).pmtu, 1400);
    too_big(&t, 3 * MSS, 1300);
    too_big(&t, (uint32_t)-5, 1300);
    assert_int_equal(talk_info(&t).pmtu, 1400);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_pmtu_lowered), 1);
    talk_end(&t);
}

/* R8201-04: not raised within five minutes; after ten minutes the larger size is tried again. */
static void test_not_raised_soon(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    under_way(&t, 1);
    too_big(&t, 0, 1300);
    talk_skip(&t);
    talk_say(&t, F_ACK, 0, MSS, 0);
    craft_pass(&t.s, 310 * SEC);
    talk_skip(&t);
    talk_send(&t, MSS);
    pieces(&t, MSS, MSS, 1240);
    talk_say(&t, F_ACK, 0, 2 * MSS, 0);
    craft_pass(&t.s, 300 * SEC);
    talk_skip(&t);
    talk_send(&t, MSS);
    pieces(&t, 2 * MSS, MSS, MSS);
    talk_end(&t);
}

/* Sends a router advertisement with an MTU. */
static void advertise(struct talk *t, uint32_t mtu)
{
    static const uint8_t router[16] = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xfe};
    uint8_t m[32] = {134, 0, 0, 0, 64, 0, 0x07, 8};

    m[16] = 1; /* source link-layer address */
    m[17] = 1;
    m[18] = 2;
    m[23] = 0xfe;
    m[24] = 5; /* MTU */
    m[25] = 1;
    m[28] = (uint8_t)(mtu >> 24);
    m[29] = (uint8_t)(mtu >> 16);
    m[30] = (uint8_t)(mtu >> 8);
    m[31] = (uint8_t)mtu;
    craft_icmp6(&t->s, router, 255, m, sizeof(m));
}

/* RFC 4861 6.3.4: the link's MTU follows router advertisements, for open flows too, down and up
 * again. */
static void test_advertised_mtu(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    t.s.host[0].cfg.ip6 = TOEC_IP6_AUTO;
    talk_passive(&t);
    advertise(&t, 1400);
    talk_send(&t, 3 * MSS);
    pieces(&t, 0, 3 * MSS, 1340);
    assert_int_equal(talk_info(&t).pmtu, 1400);
    talk_say(&t, F_ACK, 0, 3 * MSS, 0);
    advertise(&t, 1279); /* no IPv6 link has an MTU below 1280, and ours none above 1500 */
    advertise(&t, 1501);
    talk_send(&t, 2000);
    pieces(&t, 3 * MSS, 2000, 1340);
    talk_say(&t, F_ACK, 0, 3 * MSS + 2000, 0);
    advertise(&t, 1500);
    talk_send(&t, 2 * MSS);
    pieces(&t, 3 * MSS + 2000, 2 * MSS, MSS);
    assert_int_equal(talk_info(&t).pmtu, 1500);
    talk_end(&t);
}

/* Data in flight when the link shrank is lost there, and retransmitted in smaller segments. */
static void test_advertised_mtu_of_what_is_under_way(void **state)
{
    struct talk t;
    struct tseg g;
    uint32_t at = 0;

    (void)state;
    talk_init(&t);
    t.s.host[0].cfg.ip6 = TOEC_IP6_AUTO;
    under_way(&t, 2);
    advertise(&t, 1280);
    craft_poll(&t.s);
    while (at < 2 * MSS) { /* by timeouts, each segment acknowledged on arrival */
        craft_pass(&t.s, 3 * SEC);
        while (craft_next(&t.s, &g)) {
            assert_true(g.len <= 1220);
            if (g.seq - t.iss - 1 == at)
                at += g.len;
        }
        assert_true(at > 0);
        talk_say(&t, F_ACK, 0, at, 0);
    }
    assert_int_equal(at, 2 * MSS);
    talk_end(&t);
}

/* A running search for the path MTU (RFC 4821) does not exceed the link's MTU. */
static void test_advertised_mtu_bounds_the_search(void **state)
{
    struct talk t;
    struct tseg g;
    uint32_t acked = 0, rounds;

    (void)state;
    talk_init(&t);
    t.sack = 1;
    t.s.host[0].cfg.ip6 = TOEC_IP6_AUTO;
    t.s.host[0].cfg.mtu_probing = TOEC_MTU_PROBING_ALWAYS;
    talk_passive(&t);
    advertise(&t, 1400);
    for (rounds = 0; rounds < 60; rounds++) {
        uint32_t end = acked;

        conn_write(t.c, 20000, 1);
        craft_pass(&t.s, 20 * MSEC);
        while (craft_next(&t.s, &g)) {
            assert_true(g.len <= 1340);
            if (g.seq - t.iss - 1 + g.len > end)
                end = g.seq - t.iss - 1 + g.len;
        }
        acked = end;
        talk_put(&t, F_ACK, 0, acked, 0);
    }
    assert_true(talk_info(&t).pmtu > 1390 && talk_info(&t).pmtu <= 1400);
    assert_true(talk_count(&t, TOEC_C_tcp_mtu_probes) > 0);
    talk_end(&t);
}

/* The counterparts of RFC 9293 MUST-54..56: of the destination unreachable errors only port
 * unreachable ends a connection attempt; others are recorded. */
static void test_errors_for_a_syn(void **state)
{
    static const struct {
        unsigned code;
        int ends;
    } rows[] = {{0, 0}, {3, 0}, {4, 1}};
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct talk t;
        struct tseg g;

        talk_init(&t);
        craft_start(&t.s);
        t.c = sim_connect(&t.s, 0, 80);
        craft_poll(&t.s);
        g = craft_expect(&t.s);
        craft_icmp(&t.s, 1, rows[i].code, 0, &g);
        craft_poll(&t.s);
        assert_int_equal(t.c->gone, rows[i].ends);
        craft_pass(&t.s, 300 * SEC);
        assert_true(t.c->gone);
        talk_end(&t);
    }
}

/* RFC 3168 5: the ECN bits are in the traffic class. */
static void test_ecn_bits(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_init(&t);
    t.syn_flags = F_ECE | F_CWR;
    talk_passive(&t);
    assert_int_equal(t.heard_syn, F_ECE);
    talk_send(&t, 100);
    g = talk_hear(&t, F_ACK, 0, 0, 100);
    assert_int_equal(g.tos & 3, 2);
    t.s.peer_tos = 3; /* congestion experienced */
    talk_say(&t, F_ACK, 0, 100, 50);
    craft_pass(&t.s, SEC);
    g = craft_expect(&t.s);
    assert_int_equal(g.flags & F_ECE, F_ECE);
    talk_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mss_of_the_link),
        cmocka_unit_test(test_default_mss),
        cmocka_unit_test(test_default_mss_by_cookie),
        cmocka_unit_test(test_packet_too_big),
        cmocka_unit_test(test_least),
        cmocka_unit_test(test_forged),
        cmocka_unit_test(test_not_raised_soon),
        cmocka_unit_test(test_advertised_mtu),
        cmocka_unit_test(test_advertised_mtu_of_what_is_under_way),
        cmocka_unit_test(test_advertised_mtu_bounds_the_search),
        cmocka_unit_test(test_errors_for_a_syn),
        cmocka_unit_test(test_ecn_bits),
    };

    sim_ip6 = 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
