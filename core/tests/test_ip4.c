/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ip4.c - IPv4 input checks (RFC 791, 1122 3.2.1) and output.
 */
#include "bench.h"
#include "ip/ip4_in.h"
#include "ip/ip4_out.h"
#include "random.h"

static const struct ip4_spec tcp_spec = {PEER_IP, OWN_IP, 6, 64, 0x1234, 0x4000, 0, 0};

/* A frame with 40 bytes of TCP for us. */
static uint32_t good(uint8_t *f)
{
    uint8_t payload[40];

    memset(payload, 0x5a, sizeof(payload));
    return make_ip4(f, &tcp_spec, payload, sizeof(payload));
}

static void good_datagram_reaches_tcp(void **state)
{
    struct bench b;
    uint8_t f[128];

    (void)state;
    bench_init(&b);
    bench_input(&b, f, good(f));
    assert_int_equal(b.tcp_inputs, 1);
    assert_int_equal(b.tcp_in.src4, PEER_IP);
    assert_int_equal(b.tcp_in.dst4, OWN_IP);
    assert_int_equal(toec_addr_get4(&b.tcp_in.src), PEER_IP);
    assert_true(toec_addr_is4(&b.tcp_in.src) && toec_addr_is4(&b.tcp_in.dst));
    assert_int_equal(b.tcp_in.l4_off, 34);
    assert_int_equal(b.tcp_in.l4_len, 40);
    assert_int_equal(b.tcp_in.l4_head, 40);
    assert_int_equal(b.tcp_in.ttl, 64);
    bench_stop(&b);
}

/* Ethernet pads short frames: the IP length counts. */
static void padding_is_not_payload(void **state)
{
    struct bench b;
    uint8_t f[128];
    uint32_t len;

    (void)state;
    bench_init(&b);
    memset(f, 0xee, sizeof(f));
    len = good(f);
    bench_input(&b, f, len + 20);
    assert_int_equal(b.tcp_inputs, 1);
    assert_int_equal(b.tcp_in.l4_len, 40);
    assert_int_equal(b.tcp_in.l4_head, 40);
    bench_stop(&b);
}

/* Only headers need be contiguous. */
static void split_frames(void **state)
{
    struct bench b;
    uint8_t f[128];

    (void)state;
    bench_init(&b);
    b.head_len = 54;
    bench_input(&b, f, good(f));
    assert_int_equal(b.tcp_inputs, 1);
    assert_int_equal(b.tcp_in.l4_len, 40);
    assert_int_equal(b.tcp_in.l4_head, 20);
    assert_int_equal(b.tcp_data[39], 0x5a);
    b.head_len = 33;
    bench_input(&b, f, good(f));
    assert_int_equal(b.tcp_inputs, 1);
    assert_int_equal(bench_counter(&b, TOEC_C_ip4_short), 1);
    bench_stop(&b);
}

struct mutation {
    unsigned at;
    uint8_t value;
    int fix; /* set the checksum right afterwards */
    enum toec_counter counter;
};

/* Each row breaks one rule; the drop has that rule's name, and nothing is answered. */
static void validation_table(void **state)
{
    static const struct mutation m[] = {
        {14, 0x55, 1, TOEC_C_ip4_bad_version},    /* R1122-01 */
        {14, 0x65, 1, TOEC_C_ip4_bad_version},    /**/
        {14, 0x05, 1, TOEC_C_ip4_bad_version},    /**/
        {14, 0x44, 0, TOEC_C_ip4_bad_header_len}, /* R791-01: IHL below 5 */
        {14, 0x40, 0, TOEC_C_ip4_bad_header_len}, /**/
        {14, 0x4f, 0, TOEC_C_ip4_bad_checksum},   /* IHL into the payload */
        {16, 0x01, 1, TOEC_C_ip4_bad_total_len},  /* total length beyond the frame */
        {17, 0x3d, 1, TOEC_C_ip4_bad_total_len},  /* by one byte */
        {17, 0x13, 1, TOEC_C_ip4_bad_total_len},  /* below the header */
        {17, 0x00, 1, TOEC_C_ip4_bad_total_len},  /**/
        {22, 0x00, 0, TOEC_C_ip4_bad_checksum},   /* R1122-02 */
        {24, 0xff, 0, TOEC_C_ip4_bad_checksum},   /**/
        {33, 0x02, 1, TOEC_C_ip4_not_ours},       /* R1122-03 */
        {33, 0xff, 1, TOEC_C_ip4_not_ours},       /* subnet broadcast */
        {30, 0xe0, 1, TOEC_C_ip4_not_ours},       /* multicast */
        {26, 0x00, 1, TOEC_C_ip4_bad_source},     /* R1122-04: 0/8 */
        {26, 0x7f, 1, TOEC_C_ip4_bad_source},     /* 127/8 */
        {26, 0xe1, 1, TOEC_C_ip4_bad_source},     /* multicast */
        {26, 0xf0, 1, TOEC_C_ip4_bad_source},     /* 240/4 */
        {26, 0xff, 1, TOEC_C_ip4_bad_source},     /**/
        {29, 0x01, 1, TOEC_C_ip4_bad_source},     /* our own ("LAND") */
        {29, 0xff, 1, TOEC_C_ip4_bad_source},     /* subnet broadcast */
        {29, 0x00, 1, TOEC_C_ip4_bad_source},     /* the network itself */
        {0, 0xff, 0, TOEC_C_ip4_group_frame},     /* R1122-21 */
        {0, 0x01, 0, TOEC_C_ip4_group_frame},     /* Ethernet multicast */
        {5, 0x77, 0, TOEC_C_eth_not_ours},        /**/
        {12, 0x86, 0, TOEC_C_eth_unknown_type},   /**/
        {12, 0x00, 0, TOEC_C_eth_unknown_type},   /* R1122-30: an 802.3 length */
        {21, 0x03, 1, TOEC_C_ip4_frags_rx},       /* a fragment: not for TCP yet */
    };
    struct bench b;
    uint8_t f[128];
    unsigned i;
    uint64_t before;
    uint32_t len;

    (void)state;
    bench_init(&b);
    for (i = 0; i < sizeof(m) / sizeof(m[0]); i++) {
        len = good(f);
        f[m[i].at] = m[i].value;
        if (m[i].fix)
            fix_ip4(f);
        before = bench_counter(&b, m[i].counter);
        bench_input(&b, f, len);
        if (bench_counter(&b, m[i].counter) != before + 1)
            fail_msg("row %u: not counted as it should be", i);
        assert_int_equal(b.tcp_inputs, 0);
        assert_null(bench_next(&b));
    }
    bench_stop(&b);
}

/* R1122-02: every single-bit error in the header is found. */
static void any_flipped_bit_is_found(void **state)
{
    struct bench b;
    uint8_t f[128];
    uint32_t len, bit;

    (void)state;
    bench_init(&b);
    for (bit = 0; bit < 160; bit++) {
        len = good(f);
        f[14 + bit / 8] ^= 1 << bit % 8;
        bench_input(&b, f, len);
        assert_int_equal(b.tcp_inputs, 0);
    }
    bench_stop(&b);
}

static void trusted_checksum_is_not_looked_at(void **state)
{
    struct toec_packet p;
    struct bench b;
    uint8_t f[128];

    (void)state;
    bench_init(&b);
    memset(&p, 0, sizeof(p));
    p.data = f;
    p.len = p.head_len = good(f);
    p.opaque = f;
    p.flags = TOEC_RX_IP_CSUM_OK;
    f[24] ^= 1;
    toec_input(b.s, &p, b.now);
    assert_int_equal(b.tcp_inputs, 1);
    bench_stop(&b);
}

/* R1122-07: no TTL makes us drop; nor does the reserved flag. */
static void tolerated(void **state)
{
    struct bench b;
    uint8_t f[128];
    uint32_t len;
    unsigned ttl;

    (void)state;
    bench_init(&b);
    for (ttl = 0; ttl < 3; ttl++) {
        len = good(f);
        f[22] = ttl;
        fix_ip4(f);
        bench_input(&b, f, len);
        assert_int_equal(b.tcp_inputs, ttl + 1);
    }
    len = good(f);
    f[20] = 0x80;
    fix_ip4(f);
    bench_input(&b, f, len);
    assert_int_equal(b.tcp_inputs, 4);
    bench_stop(&b);
}

/* Every cut of a good frame: dropped, counted once, never read beyond (sanitizer). */
static void truncated_frames(void **state)
{
    struct bench b;
    uint8_t f[128];
    uint32_t len, cut;
    uint64_t drops;

    (void)state;
    bench_init(&b);
    len = good(f);
    for (cut = 0; cut < len; cut++) {
        bench_input(&b, f, cut);
        drops = bench_counter(&b, TOEC_C_eth_short) + bench_counter(&b, TOEC_C_ip4_short) +
                bench_counter(&b, TOEC_C_ip4_bad_total_len);
        assert_int_equal(drops, cut + 1);
    }
    assert_int_equal(b.tcp_inputs, 0);
    bench_stop(&b);
}

/* RFC 9293 MUST-50: options without use for TCP are skipped. */
static void options(void **state)
{
    static const struct {
        uint8_t o[8];
        enum toec_counter drop; /* TOEC_C_MAX: accepted */
    } rows[] = {
        {{1, 1, 1, 1, 1, 1, 1, 0}, TOEC_C_MAX},
        {{0, 131, 3, 4, 9, 9, 9, 9}, TOEC_C_MAX},               /* after the end nothing counts */
        {{7, 7, 4, 0, 0, 0, 0, 0}, TOEC_C_MAX},                 /* record route: ignored */
        {{68, 8, 5, 0, 0, 0, 0, 0}, TOEC_C_MAX},                /* timestamp */
        {{0x5e, 2, 0x5f, 6, 1, 2, 3, 4}, TOEC_C_MAX},           /* R1122-08: unknown */
        {{131, 7, 4, 10, 0, 0, 9, 0}, TOEC_C_ip4_source_route}, /* loose */
        {{1, 137, 7, 4, 10, 0, 0, 9}, TOEC_C_ip4_source_route}, /* strict */
        {{0x5e, 0, 0, 0, 0, 0, 0, 0}, TOEC_C_ip4_bad_option},   /* length 0 must not loop */
        {{0x5e, 1, 0, 0, 0, 0, 0, 0}, TOEC_C_ip4_bad_option},   /**/
        {{0x5e, 9, 0, 0, 0, 0, 0, 0}, TOEC_C_ip4_bad_option},   /* beyond the header */
        {{1, 1, 1, 1, 1, 1, 1, 0x5e}, TOEC_C_ip4_bad_option},   /* no length */
        {{131, 9, 4, 10, 0, 0, 9, 0}, TOEC_C_ip4_bad_option},   /**/
    };
    struct ip4_spec spec = tcp_spec;
    unsigned i, accepted = 0;
    struct bench b;
    uint8_t f[128], payload[40] = {0};
    uint64_t before;

    (void)state;
    bench_init(&b);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        spec.options = rows[i].o;
        spec.options_len = 8;
        before = rows[i].drop == TOEC_C_MAX ? 0 : bench_counter(&b, rows[i].drop);
        bench_input(&b, f, make_ip4(f, &spec, payload, sizeof(payload)));
        if (rows[i].drop == TOEC_C_MAX) {
            assert_int_equal(b.tcp_inputs, ++accepted);
            assert_int_equal(b.tcp_in.l4_off, 42);
            assert_int_equal(b.tcp_in.l4_len, 40);
        } else {
            assert_int_equal(bench_counter(&b, rows[i].drop), before + 1);
            assert_int_equal(b.tcp_inputs, accepted);
        }
    }
    assert_null(bench_next(&b));
    bench_stop(&b);
}

/* A good frame of any kind: TCP, UDP, echo, an ICMP error, a fragment, ARP. */
static uint32_t any_frame(uint8_t *f)
{
    struct ip4_spec spec = tcp_spec;
    uint8_t quoted[64], msg[96];
    uint32_t len;

    spec.src = PEER_IP + random_below(4);
    switch (random_below(6)) {
    case 0:
        return good(f);
    case 1:
        spec.proto = 17;
        memset(msg, 0, 20);
        msg[5] = 20;
        return make_ip4(f, &spec, msg, 20);
    case 2:
        spec.proto = 1;
        return make_ip4(f, &spec, msg, make_icmp(msg, 8, 0, 7, "0123456789", 10));
    case 3:
        spec.src = OWN_IP;
        spec.dst = PEER_IP;
        make_ip4(f, &spec, "0123456789", 10);
        memcpy(quoted, f + 14, 30);
        spec.src = PEER_IP;
        spec.dst = OWN_IP;
        spec.proto = 1;
        len = make_icmp(msg, 3, random_below(16), random64(), quoted, 28);
        return make_ip4(f, &spec, msg, len);
    case 4:
        spec.frag = random_below(3) | (random_below(2) ? 0x2000 : 0);
        spec.id = random_below(4);
        spec.proto = random_below(2) ? 6 : 1;
        memset(msg, 8, sizeof(msg));
        return make_ip4(f, &spec, msg, 8 * (1 + random_below(4)));
    default:
        return make_arp(f, 1 + random_below(2), random_below(2) ? peer_mac : other_mac, spec.src,
                        own_mac, OWN_IP);
    }
}

/* Any bytes at all: no crash, no read out of bounds (sanitizer), and all resources are freed. */
static void random_frames(void **state)
{
    struct toec_usage u;
    struct bench b;
    uint8_t f[256];
    unsigned i, k;

    (void)state;
    random_begin(20);
    bench_init(&b);
    for (i = 0; i < 200000; i++) {
        uint32_t len = any_frame(f);

        for (k = random_below(2) ? random_below(6) : 0; k > 0; k--)
            f[random_below(len)] = random64();
        if (random_below(2) && (f[14] & 15) * 4u + 14 <= len)
            fix_ip4(f);
        b.head_len = random_below(2) ? 0 : 1 + random_below(len);
        b.tx_room = random_below(8) ? -1 : 0;
        bench_input(&b, f, random_below(4) ? len : random_below(len));
        if (b.sent_count > MAX_SENT / 2)
            bench_forget_sent(&b);
        b.now += random_below(10 * MSEC);
        if (i % 16 == 0)
            bench_poll(&b);
    }
    assert_true(bench_counter(&b, TOEC_C_ip4_reassembled) > 20);
    assert_true(bench_counter(&b, TOEC_C_icmp_echo_sent) > 100);
    assert_true(b.tcp_errors > 100);
    b.tx_room = -1;
    bench_forget_sent(&b);
    bench_pass(&b, 700 * SEC);
    toec_usage(b.s, &u);
    assert_int_equal(u.neighbours, 0);
    assert_int_equal(u.datagrams, 0);
    assert_true(bench_poll(&b) == TOEC_NEVER);
    bench_stop(&b);
}

/* ---- output ---- */

static void output_header(void **state)
{
    const struct sent *sent;
    struct toec_outbuf o;
    struct toec_path path;
    struct toec_packet src;
    struct bench b;
    uint8_t data[101];
    unsigned i;

    (void)state;
    bench_init(&b);
    bench_learn(&b, peer_mac, PEER_IP);
    for (i = 0; i < sizeof(data); i++)
        data[i] = i;
    memset(&src, 0, sizeof(src));
    src.len = sizeof(data);
    src.opaque = data;
    memset(&o, 0, sizeof(o));
    assert_int_equal(toec_ip4_path(b.s, PEER_IP, &path), 0);
    o.src = mapped(OWN_IP);
    o.dst = mapped(PEER_IP);
    o.proto = 6;
    o.tos = 2;
    o.l4_len = 20;
    o.sum_off = 16;
    o.psrc = &src;
    o.off = 4;
    o.len = 97;
    toec_tcp_emit(toec_out_l4(&o), 80, 40000, 1, 2, 20, 0x18, 1000);
    assert_int_equal(((uintptr_t)toec_out_l4(&o)) % 4, 0);
    assert_int_equal(toec_ip4_output(b.s, &path, &o, b.now), 0);
    sent = bench_next(&b);
    assert_non_null(sent);
    assert_int_equal(sent->len, 14 + 20 + 20 + 97);
    assert_memory_equal(sent->data, peer_mac, 6);
    assert_memory_equal(sent->data + 6, own_mac, 6);
    assert_int_equal(sent->data[14], 0x45);
    assert_int_equal(sent->data[15], 2);
    assert_int_equal(peek16(sent->data + 16), 137);
    assert_int_equal(peek16(sent->data + 18), 0);      /* RFC 6864 4.1 */
    assert_int_equal(peek16(sent->data + 20), 0x4000); /* R1191-01: DF */
    assert_in_range(sent->data[22], 1, 255);           /* R1122-07 */
    assert_int_equal(naive_sum(sent->data + 14, 20), 0);
    assert_memory_equal(sent->data + 54, data + 4, 97);
    {
        uint8_t pseudo[12 + 117];

        memcpy(pseudo, sent->data + 26, 8);
        poke16(pseudo + 8, 6);
        poke16(pseudo + 10, 117);
        memcpy(pseudo + 12, sent->data + 34, 117);
        assert_int_equal(naive_sum(pseudo, sizeof(pseudo)), 0);
    }
    assert_int_equal(bench_counter(&b, TOEC_C_tx_frames), 4); /* two announcements, reply, this */
    bench_stop(&b);
}

/* With no room in transmit the sender is notified, and poll requests an immediate call. */
static void full_transmit(void **state)
{
    struct toec_outbuf o;
    struct toec_path path;
    struct bench b;

    (void)state;
    bench_init(&b);
    bench_learn(&b, peer_mac, PEER_IP);
    memset(&o, 0, sizeof(o));
    o.sum_off = TOEC_SUM_NONE;
    o.dst = mapped(PEER_IP);
    assert_int_equal(toec_ip4_path(b.s, PEER_IP, &path), 0);
    b.tx_room = 0;
    assert_int_equal(toec_ip4_output(b.s, &path, &o, b.now), TOEC_SEND_WAIT);
    assert_int_equal(bench_counter(&b, TOEC_C_tx_full), 1);
    assert_null(bench_next(&b));
    b.tx_room = 1;
    assert_int_equal(toec_ip4_output(b.s, &path, &o, b.now), 0);
    bench_stop(&b);
}

/* Verified over header and payload, odd and even lengths, when not vouched for. */
static void l4_checksum(void **state)
{
    uint8_t f[128], pseudo[12 + 64], payload[64];
    struct toec_packet p;
    struct toec_ip_in in;
    struct bench b;
    uint32_t len, i;

    (void)state;
    random_begin(21);
    bench_init(&b);
    for (len = 20; len <= 64; len++) {
        for (i = 0; i < len; i++)
            payload[i] = random64();
        poke16(payload + 16, 0);
        poke32(pseudo, PEER_IP);
        poke32(pseudo + 4, OWN_IP);
        poke16(pseudo + 8, 6);
        poke16(pseudo + 10, len);
        memcpy(pseudo + 12, payload, len);
        poke16(payload + 16, naive_sum(pseudo, 12 + len));
        memset(&p, 0, sizeof(p));
        p.len = p.head_len = make_ip4(f, &tcp_spec, payload, len);
        p.data = f;
        p.opaque = f;
        toec_ip4_parse(&in, &p, TOEC_ETH_LEN);
        assert_true(toec_ip_l4_sum_ok(b.s, &in));
        f[34 + random_below(len)] ^= 1 << random_below(8);
        assert_false(toec_ip_l4_sum_ok(b.s, &in));
        p.flags = TOEC_RX_L4_CSUM_OK;
        assert_true(toec_ip_l4_sum_ok(b.s, &in));
    }
    bench_stop(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_datagram_reaches_tcp),
        cmocka_unit_test(padding_is_not_payload),
        cmocka_unit_test(split_frames),
        cmocka_unit_test(validation_table),
        cmocka_unit_test(any_flipped_bit_is_found),
        cmocka_unit_test(trusted_checksum_is_not_looked_at),
        cmocka_unit_test(tolerated),
        cmocka_unit_test(truncated_frames),
        cmocka_unit_test(options),
        cmocka_unit_test(random_frames),
        cmocka_unit_test(output_header),
        cmocka_unit_test(full_transmit),
        cmocka_unit_test(l4_checksum),
    };

    return cmocka_run_group_tests_name("ip4", tests, 0, 0);
}
