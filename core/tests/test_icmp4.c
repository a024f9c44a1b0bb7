/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_icmp4.c - ICMP echo, errors sent and errors received (RFC 792, 1122 3.2.2, 1191, 5927).
 */
#include "bench.h"
#include "random.h"

static const struct ip4_spec icmp_spec = {PEER_IP, OWN_IP, 1, 64, 0x77, 0, 0, 0};

static void input_icmp(struct bench *b, int type, int code, uint32_t rest, const void *data,
                       uint32_t len)
{
    static uint8_t msg[2048], f[2200];

    bench_input(b, f, make_ip4(f, &icmp_spec, msg, make_icmp(msg, type, code, rest, data, len)));
}

static void start(struct bench *b)
{
    bench_init(b);
    bench_learn(b, peer_mac, PEER_IP);
}

/* ---- echo ---- */

/* R792-02, R1122-14: same identifier, sequence and data; every length within one datagram. */
static void echo_of_every_length(void **state)
{
    const struct sent *f;
    uint8_t data[1472];
    struct bench b;
    uint32_t len;

    (void)state;
    start(&b);
    random_begin(30);
    for (len = 0; len < sizeof(data); len++)
        data[len] = random64();
    for (len = 0; len <= sizeof(data); len++) {
        b.now += MSEC;
        input_icmp(&b, 8, 0, 0xbeef0000 + len, data, len);
        f = bench_next(&b);
        assert_non_null(f);
        assert_int_equal(f->len, 14 + 20 + 8 + len);
        assert_memory_equal(f->data, peer_mac, 6);
        assert_int_equal(naive_sum(f->data + 14, 20), 0);
        assert_int_equal(peek32(f->data + 26), OWN_IP);
        assert_int_equal(peek32(f->data + 30), PEER_IP);
        assert_int_equal(f->data[34], 0);
        assert_int_equal(peek32(f->data + 38), 0xbeef0000 + len);
        assert_memory_equal(f->data + 42, data, len);
        assert_int_equal(naive_sum(f->data + 34, 8 + len), 0);
        bench_forget_sent(&b);
    }
    assert_int_equal(bench_counter(&b, TOEC_C_icmp_echo_sent), 1473);
    bench_stop(&b);
}

/* One's complement has two zeros: identifier 0 makes a reply of nothing but zeros. */
static void echo_checksum_corner(void **state)
{
    const struct sent *f;
    struct bench b;
    unsigned id;

    (void)state;
    start(&b);
    for (id = 0; id < 65536; id++) {
        b.now += MSEC;
        input_icmp(&b, 8, 0, id << 16, 0, 0);
        f = bench_next(&b);
        assert_non_null(f);
        assert_int_equal(naive_sum(f->data + 34, 8), 0);
        bench_forget_sent(&b);
    }
    bench_stop(&b);
}

static void echo_is_rate_limited(void **state)
{
    struct bench b;
    unsigned i;

    (void)state;
    bench_config(&b);
    b.cfg.icmp_echo_rate = 10;
    bench_start(&b);
    bench_learn(&b, peer_mac, PEER_IP);
    for (i = 0; i < 1000; i++)
        input_icmp(&b, 8, 0, 1, "x", 1);
    assert_int_equal(bench_counter(&b, TOEC_C_icmp_echo_sent), 100);
    assert_int_equal(bench_counter(&b, TOEC_C_icmp_echo_limited), 900);
    b.now += SEC;
    for (i = 0; i < 1000; i++)
        input_icmp(&b, 8, 0, 1, "x", 1);
    assert_int_equal(bench_counter(&b, TOEC_C_icmp_echo_sent), 110);
    bench_stop(&b);
}

/* R1122-29: a reply to a neighbour not yet known waits for it, sixteen at most, oldest out first.
 */
static void echo_to_unknown_neighbour(void **state)
{
    const struct sent *f;
    uint8_t arp[64];
    struct bench b;
    unsigned i;

    (void)state;
    bench_init(&b);
    for (i = 0; i < 18; i++)
        input_icmp(&b, 8, 0, i, "payload", 7);
    assert_int_equal(bench_counter(&b, TOEC_C_tx_unresolved_drop), 2);
    assert_int_equal(b.sent_count, 1); /* the ARP request */
    bench_forget_sent(&b);
    bench_poll(&b);
    assert_null(bench_next(&b));
    bench_input(&b, arp, make_arp(arp, 2, peer_mac, PEER_IP, own_mac, OWN_IP));
    bench_poll(&b);
    for (i = 2; i < 18; i++) {
        f = bench_next(&b);
        assert_non_null(f);
        assert_memory_equal(f->data, peer_mac, 6);
        assert_int_equal(f->data[34], 0);
        assert_int_equal(peek32(f->data + 38), i);
        assert_memory_equal(f->data + 42, "payload", 7);
        assert_int_equal(naive_sum(f->data + 34, 15), 0);
    }
    assert_null(bench_next(&b));
    bench_stop(&b);
}

/* ... and is dropped with the neighbour, or sent when transmit has room again. */
static void waiting_ends(void **state)
{
    uint8_t arp[64];
    struct bench b;

    (void)state;
    bench_init(&b);
    input_icmp(&b, 8, 0, 1, "x", 1);
    bench_pass(&b, 4 * SEC);
    assert_int_equal(bench_counter(&b, TOEC_C_neigh_failed), 1);
    assert_int_equal(bench_counter(&b, TOEC_C_tx_unresolved_drop), 1);
    bench_pass(&b, 4 * SEC);
    input_icmp(&b, 8, 0, 1, "x", 1);
    bench_forget_sent(&b);
    bench_input(&b, arp, make_arp(arp, 2, peer_mac, PEER_IP, own_mac, OWN_IP));
    b.tx_room = 0;
    assert_true(bench_poll(&b) == b.now);
    b.tx_room = -1;
    bench_poll(&b);
    assert_non_null(bench_next(&b));
    assert_null(bench_next(&b));
    assert_int_equal(bench_counter(&b, TOEC_C_tx_unresolved_drop), 1);
    bench_stop(&b);
}

/* R1122-09, R1122-13, R792-03: all types without a meaning here change and answer nothing. */
static void every_type_and_code(void **state)
{
    unsigned type, code, silent = 0;
    struct bench b;

    (void)state;
    start(&b);
    for (type = 0; type < 256; type++) {
        for (code = 0; code < 256; code++) {
            if (type == 8)
                continue;
            input_icmp(&b, type, code, 0, "0123456789", 10);
            silent++;
        }
    }
    assert_null(bench_next(&b));
    assert_int_equal(b.tcp_errors, 0);
    assert_int_equal(bench_counter(&b, TOEC_C_icmp_unknown_type) +
                         bench_counter(&b, TOEC_C_icmp_ignored) +
                         bench_counter(&b, TOEC_C_icmp_error_bad_quote),
                     silent);
    bench_stop(&b);
}

static void broken_messages(void **state)
{
    uint8_t msg[64], f[128];
    struct bench b;
    uint32_t len;

    (void)state;
    start(&b);
    len = make_icmp(msg, 8, 0, 1, "abc", 3);
    msg[9] ^= 4;
    bench_input(&b, f, make_ip4(f, &icmp_spec, msg, len));
    assert_int_equal(bench_counter(&b, TOEC_C_icmp_bad_checksum), 1);
    for (len = 0; len < 8; len++)
        bench_input(&b, f, make_ip4(f, &icmp_spec, msg, len));
    assert_int_equal(bench_counter(&b, TOEC_C_icmp_short), 8);
    assert_null(bench_next(&b));
    bench_stop(&b);
}

/* ---- errors sent ---- */

static uint32_t make_udp(uint8_t *p, uint32_t len)
{
    uint8_t pseudo[12 + 1500];

    memset(p, 0x33, 8 + len);
    poke16(p, 5000);
    poke16(p + 2, 53);
    poke16(p + 4, 8 + len);
    poke16(p + 6, 0);
    poke32(pseudo, PEER_IP);
    poke32(pseudo + 4, OWN_IP);
    poke16(pseudo + 8, 17);
    poke16(pseudo + 10, 8 + len);
    memcpy(pseudo + 12, p, 8 + len);
    poke16(p + 6, naive_sum(pseudo, 12 + 8 + len));
    return 8 + len;
}

static void expect_error(struct bench *b, int type, int code, const uint8_t *about, uint32_t quoted)
{
    const struct sent *f = bench_next(b);

    assert_non_null(f);
    assert_int_equal(f->len, 14 + 20 + 8 + quoted);
    assert_int_equal(naive_sum(f->data + 14, 20), 0);
    assert_int_equal(f->data[23], 1);
    assert_int_equal(peek32(f->data + 26), OWN_IP);
    assert_int_equal(peek32(f->data + 30), PEER_IP);
    assert_int_equal(f->data[34], type);
    assert_int_equal(f->data[35], code);
    assert_int_equal(peek32(f->data + 38), 0);
    assert_int_equal(naive_sum(f->data + 34, 8 + quoted), 0);
    assert_memory_equal(f->data + 42, about + 14, quoted); /* R1122-11 */
    assert_null(bench_next(b));
    bench_forget_sent(b);
}

/* R1122-12, R1122-22 */
static void udp_is_port_unreachable(void **state)
{
    struct ip4_spec spec = icmp_spec;
    uint8_t msg[1500], f[1600];
    struct bench b;
    uint32_t len;

    (void)state;
    start(&b);
    spec.proto = 17;
    len = make_udp(msg, 30);
    bench_input(&b, f, make_ip4(f, &spec, msg, len));
    expect_error(&b, 3, 3, f, 20 + 38);
    poke16(msg + 6, 0); /* sent without a checksum */
    bench_input(&b, f, make_ip4(f, &spec, msg, len));
    expect_error(&b, 3, 3, f, 20 + 38);
    make_udp(msg, 30); /* the IP payload exceeds the UDP length */
    bench_input(&b, f, make_ip4(f, &spec, msg, len + 2));
    expect_error(&b, 3, 3, f, 20 + 40);
    len = make_udp(msg, 1400); /* RFC 1812: 576 bytes at most */
    bench_input(&b, f, make_ip4(f, &spec, msg, len));
    expect_error(&b, 3, 3, f, 576 - 28);
    bench_stop(&b);
}

static void broken_udp_is_dropped(void **state)
{
    struct ip4_spec spec = icmp_spec;
    uint8_t msg[64], f[128];
    struct bench b;
    uint32_t len;

    (void)state;
    start(&b);
    spec.proto = 17;
    len = make_udp(msg, 10);
    msg[12] ^= 1; /* R1122-23 */
    bench_input(&b, f, make_ip4(f, &spec, msg, len));
    msg[12] ^= 1;
    msg[5] = 7;
    bench_input(&b, f, make_ip4(f, &spec, msg, len));
    msg[5] = 19;
    bench_input(&b, f, make_ip4(f, &spec, msg, len));
    bench_input(&b, f, make_ip4(f, &spec, msg, 7));
    assert_int_equal(bench_counter(&b, TOEC_C_udp_bad), 4);
    assert_null(bench_next(&b));
    bench_stop(&b);
}

static void unknown_protocol_is_unreachable(void **state)
{
    struct ip4_spec spec = icmp_spec;
    uint8_t f[128];
    struct bench b;

    (void)state;
    start(&b);
    spec.proto = 132;
    bench_input(&b, f, make_ip4(f, &spec, "0123456789", 10));
    expect_error(&b, 3, 2, f, 30);
    bench_input(&b, f, make_ip4(f, &spec, "", 0)); /* as much as there is */
    expect_error(&b, 3, 2, f, 20);
    bench_stop(&b);
}

/* R1122-10: never about a fragment, a broadcast, a multicast, a source no host may have. */
static void no_errors_about(void **state)
{
    struct ip4_spec spec = icmp_spec;
    uint8_t f[128];
    struct bench b;
    uint32_t len, i;

    (void)state;
    start(&b);
    spec.proto = 132;
    spec.frag = 5; /* a later fragment */
    bench_input(&b, f, make_ip4(f, &spec, "01234567", 8));
    spec.frag = 0x2000; /* a first fragment: its datagram may still be completed */
    bench_input(&b, f, make_ip4(f, &spec, "01234567", 8));
    spec.frag = 0;
    len = make_ip4(f, &spec, "01234567", 8);
    memset(f, 0xff, 6);
    bench_input(&b, f, len);
    for (i = 0; i < 5; i++) {
        static const uint32_t sources[] = {0x0a0000ff, 0xe0000001, 0, 0xffffffff, 0x7f000001};

        spec.src = sources[i];
        bench_input(&b, f, make_ip4(f, &spec, "01234567", 8));
    }
    spec.src = PEER_IP;
    spec.dst = 0x0a0000ff;
    bench_input(&b, f, make_ip4(f, &spec, "01234567", 8));
    assert_null(bench_next(&b));
    bench_stop(&b);
}

/* R1122-15: an echo request to everyone, in IP, on Ethernet, or both, is discarded. */
static void no_echo_to_all(void **state)
{
    static const uint32_t to[] = {0x0a0000ff, 0xffffffff, 0xe0000001, OWN_IP};
    struct ip4_spec spec = icmp_spec;
    uint8_t f[128], msg[64];
    struct bench b;
    uint32_t len, i;

    (void)state;
    start(&b);
    for (i = 0; i < 8; i++) {
        spec.dst = to[i / 2];
        len = make_ip4(f, &spec, msg, make_icmp(msg, 8, 0, 7, "0123", 4));
        if (i % 2)
            memset(f, 0xff, 6);
        if (i != 6) /* that one is for us alone */
            bench_input(&b, f, len);
    }
    assert_null(bench_next(&b));
    assert_int_equal(bench_counter(&b, TOEC_C_icmp_echo_rx), 0);
    assert_int_equal(bench_counter(&b, TOEC_C_ip4_not_ours), 6);
    assert_int_equal(bench_counter(&b, TOEC_C_ip4_group_frame), 1);
    bench_stop(&b);
}

/* RFC 1812 4.3.2.8, and per destination: one host cannot observe the effects of another. */
static void errors_are_rate_limited_per_destination(void **state)
{
    struct ip4_spec spec = icmp_spec;
    uint8_t f[128];
    struct bench b;
    unsigned i, others;

    (void)state;
    start(&b);
    spec.proto = 132;
    for (i = 0; i < 100; i++)
        bench_input(&b, f, make_ip4(f, &spec, "", 0));
    assert_int_equal(bench_counter(&b, TOEC_C_icmp_error_sent), 10);
    assert_int_equal(bench_counter(&b, TOEC_C_icmp_error_limited), 90);
    for (others = 0, i = 1; i < 20; i++) {
        bench_learn(&b, other_mac, PEER_IP + i);
        spec.src = PEER_IP + i;
        bench_input(&b, f, make_ip4(f, &spec, "", 0));
        others += b.sent_count;
    }
    assert_in_range(others, 15, 19); /* except those that share PEER's bucket of the 64 */
    bench_stop(&b);
}

/* ---- errors received ---- */

/* An error quoting the first len bytes of a TCP segment from us to the peer. */
static void input_error(struct bench *b, int type, int code, uint32_t rest, const uint8_t *change,
                        uint32_t len)
{
    struct ip4_spec spec = {OWN_IP, PEER_IP, 6, 60, 1, 0x4000, 0, 0};
    uint8_t quoted[256], tcp[20];

    memset(tcp, 0, sizeof(tcp));
    poke16(tcp, 80);
    poke16(tcp + 2, 40000);
    poke32(tcp + 4, 0xdeadbeef);
    make_ip4(quoted, &spec, tcp, sizeof(tcp));
    poke16(quoted + 16, 1480);
    if (change)
        quoted[14 + change[0]] = change[1];
    input_icmp(b, type, code, rest, quoted + 14, len);
}

static void errors_reach_tcp(void **state)
{
    static const struct {
        int type, code;
    } rows[] = {{3, 0}, {3, 1}, {3, 2}, {3, 3}, {3, 5}, {3, 13}, {11, 0}, {11, 1}, {12, 0}};
    struct bench b;
    unsigned i;

    (void)state;
    start(&b);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        b.head_len = i % 2 ? 42 : 0; /* the quote is payload: it need not be contiguous */
        input_error(&b, rows[i].type, rows[i].code, 0, 0, 28);
        assert_int_equal(b.tcp_errors, i + 1);
        assert_int_equal(b.tcp_err.type, rows[i].type);
        assert_int_equal(b.tcp_err.code, rows[i].code);
        assert_int_equal(toec_addr_get4(&b.tcp_err.local), OWN_IP);
        assert_int_equal(toec_addr_get4(&b.tcp_err.remote), PEER_IP);
        assert_int_equal(b.tcp_err.local_port, 80);
        assert_int_equal(b.tcp_err.remote_port, 40000);
        assert_int_equal(b.tcp_err.seq, 0xdeadbeef);
        assert_int_equal(b.tcp_err.mtu, 0);
    }
    bench_stop(&b);
}

/* R1191-02, R1191-04; the quoted datagram had 1480 bytes. */
static void path_mtu(void **state)
{
    static const struct {
        uint32_t told, expected;
    } rows[] = {{1400, 1400}, {68, 68}, {67, 68}, {1, 68}, {65535, 65535}, {0, 1006}};
    struct bench b;
    unsigned i;

    (void)state;
    start(&b);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        input_error(&b, 3, 4, rows[i].told, 0, 28);
        assert_int_equal(b.tcp_errors, i + 1);
        assert_int_equal(b.tcp_err.mtu, rows[i].expected);
    }
    bench_stop(&b);
}

/* Total lengths of the quoted datagram: high byte as given, low byte 0xc8. */
static void old_routers_plateaus(void **state)
{
    static const struct {
        uint8_t total_hi;
        uint32_t expected;
    } rows[] = {{0xff, 32000}, {0x7d, 32000}, {0x7c, 17914}, {0x08, 2002},
                {0x02, 508},   {0x01, 296},   {0x00, 68}};
    struct bench b;
    unsigned i;

    (void)state;
    start(&b);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint8_t change[2] = {2, rows[i].total_hi};

        input_error(&b, 3, 4, 0, change, 28);
        assert_int_equal(b.tcp_err.mtu, rows[i].expected);
    }
    bench_stop(&b);
}

/* Quotes that we cannot have sent do not reach TCP. */
static void bad_quotes(void **state)
{
    static const uint8_t changes[][2] = {
        {0, 0x65}, {0, 0x44}, {0, 0x46}, {9, 47}, {15, 9}, {7, 1}, {6, 0x01},
    };
    struct bench b;
    unsigned i, len;

    (void)state;
    start(&b);
    for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
        input_error(&b, 3, 1, 0, changes[i], 28);
    for (len = 0; len < 28; len++)
        input_error(&b, 3, 1, 0, 0, len);
    assert_int_equal(b.tcp_errors, 0);
    assert_int_equal(bench_counter(&b, TOEC_C_icmp_error_bad_quote), i + len);
    bench_stop(&b);
}

/* No route back, or no room for the second fragment: not counted as sent. */
static void no_way_to_answer(void **state)
{
    static uint8_t data[3000], f[4096], p[4096];
    struct ip4_spec spec = icmp_spec;
    struct bench b;

    (void)state;
    bench_config(&b);
    memset(b.cfg.gateway, 0, 4);
    bench_start(&b);
    bench_pass(&b, 3 * SEC);
    bench_learn(&b, peer_mac, PEER_IP);
    spec.src = FAR_IP;
    bench_input(&b, f, make_ip4(f, &spec, p, make_icmp(p, 8, 0, 1, "x", 1)));
    spec.proto = 132;
    bench_input(&b, f, make_ip4(f, &spec, "01234567", 8));
    assert_null(bench_next(&b));
    assert_int_equal(bench_counter(&b, TOEC_C_icmp_echo_sent), 0);
    assert_int_equal(bench_counter(&b, TOEC_C_icmp_error_sent), 0);
    spec = icmp_spec;
    b.tx_room = 1;
    bench_input(&b, f, make_ip4(f, &spec, p, make_icmp(p, 8, 0, 1, data, sizeof(data))));
    assert_int_equal(bench_counter(&b, TOEC_C_icmp_echo_sent), 0);
    assert_int_equal(bench_counter(&b, TOEC_C_tx_unresolved_drop), 1);
    bench_stop(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(echo_of_every_length),
        cmocka_unit_test(echo_checksum_corner),
        cmocka_unit_test(echo_is_rate_limited),
        cmocka_unit_test(echo_to_unknown_neighbour),
        cmocka_unit_test(waiting_ends),
        cmocka_unit_test(every_type_and_code),
        cmocka_unit_test(broken_messages),
        cmocka_unit_test(udp_is_port_unreachable),
        cmocka_unit_test(broken_udp_is_dropped),
        cmocka_unit_test(unknown_protocol_is_unreachable),
        cmocka_unit_test(no_errors_about),
        cmocka_unit_test(no_echo_to_all),
        cmocka_unit_test(errors_are_rate_limited_per_destination),
        cmocka_unit_test(errors_reach_tcp),
        cmocka_unit_test(path_mtu),
        cmocka_unit_test(old_routers_plateaus),
        cmocka_unit_test(bad_quotes),
        cmocka_unit_test(no_way_to_answer),
    };

    return cmocka_run_group_tests_name("icmp4", tests, 0, 0);
}
