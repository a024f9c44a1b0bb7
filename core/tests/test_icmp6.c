/* SPDX-License-Identifier: Apache-2.0 */
/* test_icmp6.c - ICMPv6 (RFC 4443): echo, errors out and in. */
#include "bench6.h"

static const struct ip6_spec from_peer = {&peer6, &own6, 58, 0, 0};

static void start(struct bench *b)
{
    bench6_init(b, TOEC_IP6_STATIC);
    bench6_learn(b, &peer6, peer_mac);
}

static void echo(void **state)
{
    struct ip6_spec s = from_peer;
    const uint8_t *m;
    struct bench b;
    uint32_t len;

    (void)state;
    start(&b);
    input_icmp6(&b, &s, 128, 0, 0x12345678, "payload", 7);
    m = expect_icmp6(&b, 129, 0, &own6, &peer6, &len);
    assert_int_equal(peek32(m + 4), 0x12345678);
    assert_int_equal(len, 15);
    assert_memory_equal(m + 8, "payload", 7);
    s.dst = &all_nodes; /* answered from our own address, with its checksum */
    input_icmp6(&b, &s, 128, 0, 1, "x", 1);
    (void)expect_icmp6(&b, 129, 0, &own6, &peer6, 0);
    s = from_peer;
    s.src = &none6;
    input_icmp6(&b, &s, 128, 0, 1, "x", 1);
    assert_null(bench_next(&b));
    bench_stop(&b);
}

/* A reply above the MTU is fragmented, and reassembles. */
static void long_echo(void **state)
{
    static uint8_t data[4000], got[4096];
    struct bench b, c;
    unsigned i, at = 0;

    (void)state;
    start(&b);
    start(&c);
    for (i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)(i * 3 + i / 256);
    input_icmp6(&b, &from_peer, 128, 0, 7, data, sizeof(data));
    for (i = 0; i < 3; i++) {
        const struct sent *f = bench_next(&b);

        assert_non_null(f);
        assert_true(f->len <= 1514);
        assert_int_equal(f->data[20], 44);
        assert_int_equal(f->data[54], 58);
        assert_int_equal(peek16(f->data + 56) & 0xfff8, at);
        assert_int_equal(f->data[57] & 1, i != 2);
        memcpy(got + at, f->data + 62, f->len - 62);
        at += f->len - 62;
    }
    assert_int_equal(at, 4008);
    assert_memory_equal(got + 8, data, sizeof(data));
    assert_null(bench_next(&b));
    bench_stop(&b);
    bench_stop(&c);
}

static void echo_is_limited(void **state)
{
    struct bench b;
    unsigned i;

    (void)state;
    bench6_config(&b, TOEC_IP6_STATIC);
    b.cfg.icmp_echo_rate = 10;
    bench_start(&b);
    bench_pass(&b, 4 * SEC);
    bench6_learn(&b, &peer6, peer_mac);
    for (i = 0; i < 1000; i++)
        input_icmp6(&b, &from_peer, 128, 0, i, "x", 1);
    assert_int_equal(bench_counter(&b, TOEC_C_icmp_echo_sent), 100);
    assert_int_equal(bench_counter(&b, TOEC_C_icmp_echo_limited), 900);
    bench_stop(&b);
}

/* RFC 4443 2.4 (c), (e), (f): at most 1280 bytes; never about errors, groups or the unspecified
 * address; rate-limited. */
static void errors_out(void **state)
{
    static uint8_t f[2048], data[1400];
    struct ip6_spec s = from_peer;
    uint32_t len;
    struct bench b;
    unsigned i;

    (void)state;
    start(&b);
    s.next = 99;
    bench_input(&b, f, make_ip6(f, &s, data, sizeof(data)));
    (void)expect_icmp6(&b, 4, 1, &own6, &peer6, &len);
    assert_int_equal(40 + len, 1280);
    s.dst = &all_nodes;
    bench_input(&b, f, make_ip6(f, &s, data, 8));
    s = from_peer;
    s.next = 60;
    memset(data, 0, 32);
    data[0] = 58;
    data[2] = 0xbe; /* an option to be reported, before an ICMP error */
    data[3] = 4;
    data[8] = 1;
    bench_input(&b, f, make_ip6(f, &s, data, 16));
    (void)bench_next(&b); /* in->proto is not ICMP yet: it is reported */
    s.next = 99;
    s.src = &none6;
    bench_input(&b, f, make_ip6(f, &s, data, 8));
    assert_null(bench_next(&b));
    s = from_peer;
    s.next = 99;
    for (i = 0; i < 50; i++)
        bench_input(&b, f, make_ip6(f, &s, data, 8));
    assert_true(bench_counter(&b, TOEC_C_icmp_error_sent) <= 11);
    assert_true(bench_counter(&b, TOEC_C_icmp_error_limited) >= 40);
    bench_stop(&b);
}

/* An error of this type that quotes our segment to the peer. */
static void quote(struct bench *b, int type, int code, uint32_t rest, const struct toec_addr *from)
{
    const struct ip6_spec segment = {from, &peer6, 6, 0, 0};
    uint8_t f[128], tcp[20] = {0, 80, 0x9c, 0x40, 1, 2, 3, 4};

    make_ip6(f, &segment, tcp, 20);
    input_icmp6(b, &from_peer, type, code, rest, f + 14, 60);
}

/* Translated to the terms TCP knows. R8201-01: nothing below 1280 is believed. */
static void errors_in(void **state)
{
    static const struct {
        int type, code;
        uint32_t rest;
        int type4, code4;
        uint32_t mtu;
    } table[] = {{1, 0, 0, 3, 0, 0},  {1, 1, 0, 3, 13, 0},         {1, 3, 0, 3, 1, 0},
                 {1, 4, 0, 3, 3, 0},  {2, 0, 1400, 3, 4, 1400},    {2, 0, 1280, 3, 4, 1280},
                 {3, 0, 0, 11, 0, 0}, {2, 0, 100000, 3, 4, 65535}, {4, 1, 6, 3, 2, 0},
                 {4, 0, 0, 12, 0, 0}};
    struct bench b;
    unsigned i;

    (void)state;
    start(&b);
    for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        quote(&b, table[i].type, table[i].code, table[i].rest, &own6);
        assert_int_equal(b.tcp_errors, i + 1);
        assert_int_equal(b.tcp_err.type, table[i].type4);
        assert_int_equal(b.tcp_err.code, table[i].code4);
        assert_int_equal(b.tcp_err.mtu, table[i].mtu);
        assert_int_equal(b.tcp_err.local_port, 80);
        assert_int_equal(b.tcp_err.remote_port, 40000);
        assert_int_equal(b.tcp_err.seq, 0x01020304);
        assert_memory_equal(b.tcp_err.remote.b, peer6.b, 16);
    }
    quote(&b, 2, 0, 1279, &own6);
    quote(&b, 2, 0, 0, &own6);
    quote(&b, 1, 4, 0, &far6); /* not ours */
    input_icmp6(&b, &from_peer, 1, 4, 0, "short", 5);
    assert_int_equal(bench_counter(&b, TOEC_C_icmp_error_bad_quote), 4);
    assert_int_equal(b.tcp_errors, i);
    bench_stop(&b);
}

static void bad_messages(void **state)
{
    struct ip6_spec s = from_peer;
    uint8_t f[256], p[64];
    struct bench b;
    unsigned type;

    (void)state;
    start(&b);
    bench_input(&b, f, make_ip6(f, &s, p, 7));
    assert_int_equal(bench_counter(&b, TOEC_C_icmp_short), 1);
    make_icmp6(p, &s, 128, 0, 0, "x", 1);
    p[2] ^= 1;
    bench_input(&b, f, make_ip6(f, &s, p, 9));
    assert_int_equal(bench_counter(&b, TOEC_C_icmp_bad_checksum), 1);
    for (type = 0; type < 256; type++)
        if (type != 128)
            input_icmp6(&b, &s, (int)type, 0, 0, "0123456789", 10);
    assert_null(bench_next(&b)); /* RFC 4443 2.4 (b): unknown ones change and answer nothing */
    bench_stop(&b);
}

/* RFC 4861 7.2.2: a packet without a flow waits for its neighbour. */
static void waits_for_neighbour(void **state)
{
    struct ip6_spec s = from_peer;
    uint8_t opt[8];
    struct bench b;

    (void)state;
    bench6_init(&b, TOEC_IP6_STATIC);
    input_icmp6(&b, &s, 128, 0, 9, "x", 1);
    (void)expect_icmp6(&b, 135, 0, &own6, 0, 0);
    assert_null(bench_next(&b));
    mac_option(opt, 2, peer_mac);
    input_nd(&b, &s, 136, 0x60000000, &peer6, opt, 8);
    bench_poll(&b);
    (void)expect_icmp6(&b, 129, 0, &own6, &peer6, 0);
    bench_stop(&b);
}

/* The checksum of a reply follows from that of the request: right for each of them. */
static void echo_checksums(void **state)
{
    struct bench b;
    unsigned i, zero = 0;

    (void)state;
    bench6_config(&b, TOEC_IP6_STATIC);
    b.cfg.icmp_echo_rate = 1000000;
    bench_start(&b);
    bench_pass(&b, 4 * SEC);
    bench6_learn(&b, &peer6, peer_mac);
    for (i = 0; i < 65536; i++) {
        const uint8_t *m;

        b.now += MSEC / 100;
        input_icmp6(&b, &from_peer, 128, 0, i, "x", 1);
        m = expect_icmp6(&b, 129, 0, &own6, &peer6, 0);
        zero += peek16(m + 2) == 0 || peek16(m + 2) == 0xffff;
        bench_forget_sent(&b);
    }
    assert_true(zero > 0);
    bench_stop(&b);
}

/* No route back, or no room to send: nothing is sent, and it is counted. */
static void no_way_to_answer(void **state)
{
    static uint8_t data[4000], f[2048];
    struct ip6_spec s = {&far6, &own6, 58, 0, 0};
    struct bench b;
    uint64_t n;

    (void)state;
    start(&b);
    input_icmp6(&b, &s, 128, 0, 1, "x", 1);
    assert_int_equal(bench_counter(&b, TOEC_C_ip6_no_route), 1);
    s.next = 99;
    bench_input(&b, f, make_ip6(f, &s, data, 8));
    assert_int_equal(bench_counter(&b, TOEC_C_ip6_no_route), 2);
    assert_null(bench_next(&b));
    n = bench_counter(&b, TOEC_C_tx_unresolved_drop);
    b.tx_room = 1;
    input_icmp6(&b, &from_peer, 128, 0, 7, data, sizeof(data)); /* the second fragment */
    assert_int_equal(bench_counter(&b, TOEC_C_icmp_echo_sent), 0);
    assert_int_equal(bench_counter(&b, TOEC_C_tx_unresolved_drop), n + 1);
    b.tx_room = 0;
    s.src = &peer6;
    bench_input(&b, f, make_ip6(f, &s, data, 8));
    assert_int_equal(bench_counter(&b, TOEC_C_icmp_error_sent), 0);
    assert_int_equal(bench_counter(&b, TOEC_C_tx_unresolved_drop), n + 2);
    bench_stop(&b);
}

/* RFC 4443 2.4 (c), (e): padding after the packet is not quoted; nor is anything about groups. */
static void errors_quote_the_packet(void **state)
{
    struct ip6_spec s = from_peer;
    uint8_t f[128] = {0};
    uint32_t len;
    struct bench b;

    (void)state;
    start(&b);
    s.next = 99;
    len = make_ip6(f, &s, "12345678", 8);
    bench_input(&b, f, len + 10);
    (void)expect_icmp6(&b, 4, 1, &own6, &peer6, &len);
    assert_int_equal(len, 8 + 48);
    s.dst = &all_nodes;
    bench_input(&b, f, make_ip6(f, &s, "12345678", 8));
    assert_null(bench_next(&b));
    bench_stop(&b);
}

/* RFC 4443 2.4 (e.1), (e.2): an incomplete datagram is reported, unless it was an
 * error or a redirect itself. */
static void timeouts_of_messages(void **state)
{
    static const struct {
        int type, reported;
    } table[] = {{128, 1}, {129, 1}, {1, 0}, {4, 0}, {137, 0}};
    struct ip6_spec s = from_peer;
    uint8_t f[128], p[40] = {58, 0, 0, 1};
    struct bench b;
    unsigned i;

    (void)state;
    start(&b);
    for (i = 0; i < 5; i++) {
        s.next = 44;
        p[7] = (uint8_t)i;
        make_icmp6(p + 8, &s, table[i].type, 0, 0, "01234567", 8);
        bench_input(&b, f, make_ip6(f, &s, p, 24));
        bench_pass(&b, 60 * SEC + MSEC);
        bench6_learn(&b, &peer6, peer_mac);
        assert_int_equal(bench_counter(&b, TOEC_C_ip6_frag_timeout), i + 1);
        bench_pass(&b, SEC);
        bench_forget_sent(&b);
    }
    assert_int_equal(bench_counter(&b, TOEC_C_icmp_error_sent), 2);
    bench_stop(&b);
}

/* A quote that is not IPv6, or of an unsupported protocol. */
static void strange_quotes(void **state)
{
    uint8_t q[60] = {0x60, 0, 0, 0, 0, 20, 6, 64};
    struct bench b;

    (void)state;
    start(&b);
    memcpy(q + 8, own6.b, 16);
    memcpy(q + 24, peer6.b, 16);
    q[0] = 0x40;
    input_icmp6(&b, &from_peer, 1, 0, 0, q, 60);
    q[0] = 0x60;
    q[6] = 58;
    input_icmp6(&b, &from_peer, 1, 0, 0, q, 60);
    assert_int_equal(bench_counter(&b, TOEC_C_icmp_error_bad_quote), 2);
    q[6] = 6;
    input_icmp6(&b, &from_peer, 1, 5, 0, q, 60); /* source address failed policy */
    assert_int_equal(b.tcp_errors, 1);
    assert_int_equal(b.tcp_err.code, TOEC_ICMP4_UNREACH_ADMIN);
    input_icmp6(&b, &from_peer, 1, 6, 0, q, 60); /* reject route */
    assert_int_equal(b.tcp_err.code, TOEC_ICMP4_UNREACH_ADMIN);
    input_icmp6(&b, &from_peer, 1, 3, 0, q, 60); /* address unreachable */
    assert_int_equal(b.tcp_err.code, TOEC_ICMP4_UNREACH_HOST);
    bench_stop(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(echo),
        cmocka_unit_test(long_echo),
        cmocka_unit_test(errors_out),
        cmocka_unit_test(echo_is_limited),
        cmocka_unit_test(errors_in),
        cmocka_unit_test(bad_messages),
        cmocka_unit_test(waits_for_neighbour),
        cmocka_unit_test(echo_checksums),
        cmocka_unit_test(no_way_to_answer),
        cmocka_unit_test(errors_quote_the_packet),
        cmocka_unit_test(timeouts_of_messages),
        cmocka_unit_test(strange_quotes),
    };

    return cmocka_run_group_tests_name("icmp6", tests, 0, 0);
}
