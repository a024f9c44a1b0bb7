/* SPDX-License-Identifier: Apache-2.0 */
/* test_steer.c - which engine a frame is home to (steer.c's policy). */
#include <string.h>

#include "bench.h"
#include "frames/steer.h"

#define HERE  9u /* no engine of the four: shows that a frame stays on its engine */
#define COUNT 4u

static uint8_t frame[128];

/* An IPv4 frame of 20 + 20 bytes between 10.0.0.a and 10.0.0.b. */
static void make(uint8_t proto, uint8_t a, uint8_t b, uint16_t pa, uint16_t pb)
{
    static const uint8_t head[] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0, 0, 40};

    memset(frame, 0, sizeof(frame));
    memcpy(frame, head, sizeof(head));
    frame[23] = proto;
    frame[26] = frame[30] = 10;
    frame[29] = a;
    frame[33] = b;
    frame[34] = (uint8_t)(pa >> 8);
    frame[35] = (uint8_t)pa;
    frame[36] = (uint8_t)(pb >> 8);
    frame[37] = (uint8_t)pb;
}

static uint32_t home(uint32_t len)
{
    return steer_home(frame, len, HERE, COUNT);
}

static void test_both_directions_of_a_flow_have_one_home(void **state)
{
    uint32_t seen[COUNT] = {0}, i, h;

    (void)state;
    for (i = 1; i < 400; i++) {
        make(6, 1, 2, 80, (uint16_t)(i * 163));
        h = home(54);
        assert_true(h < COUNT);
        make(6, 2, 1, (uint16_t)(i * 163), 80);
        assert_int_equal(home(54), h);
        seen[h]++;
    }
    for (i = 0; i < COUNT; i++)
        assert_true(seen[i] > 40);
}

static void test_an_icmp_error_goes_where_the_quoted_segment_lives(void **state)
{
    uint8_t quoted[28];
    uint32_t h;

    (void)state;
    make(6, 1, 2, 80, 4711);
    h = home(54);
    memcpy(quoted, frame + 14, sizeof(quoted));
    make(1, 3, 1, 0, 0);
    frame[34] = 3; /* destination unreachable */
    memcpy(frame + 42, quoted, sizeof(quoted));
    assert_int_equal(home(70), h);
    assert_int_equal(home(64), HERE); /* quotes too little */
    frame[34] = 8;                    /* a ping stays */
    assert_int_equal(home(70), HERE);
}

static void test_fragments_of_tcp_have_no_home(void **state)
{
    (void)state;
    make(6, 1, 2, 80, 4711);
    frame[20] = 0x40; /* don't fragment is none */
    assert_true(home(54) < COUNT);
    frame[20] = 0x20;
    assert_int_equal(home(54), STEER_DROP);
    frame[20] = 0;
    frame[21] = 185;
    assert_int_equal(home(54), STEER_DROP);
    frame[23] = 1; /* of a ping */
    assert_int_equal(home(54), HERE);
}

static void test_arp_replies_are_for_everyone(void **state)
{
    (void)state;
    memset(frame, 0, sizeof(frame));
    frame[12] = 8;
    frame[13] = 6;
    frame[21] = 1;
    assert_int_equal(home(42), HERE);
    frame[21] = 2;
    assert_int_equal(home(42), STEER_ALL);
    assert_int_equal(home(21), HERE);
}

static void test_short_and_foreign_frames_stay(void **state)
{
    uint32_t len;

    (void)state;
    make(6, 1, 2, 80, 4711);
    for (len = 0; len < 38; len++)
        assert_int_equal(home(len), HERE);
    frame[14] = 0x44; /* header length below 20 */
    assert_int_equal(home(54), HERE);
    frame[14] = 0x4f; /* header beyond the frame */
    assert_int_equal(home(54), HERE);
    frame[12] = 0x86;
    frame[13] = 0xdd;
    assert_int_equal(home(54), HERE);
}

/* ---- IPv6 ---- */

/* fd00::a to fd00::b, an upper layer of 20 bytes that begins with two ports or a type. */
static uint8_t *make6(uint8_t *ip, uint8_t next, uint8_t a, uint8_t b, uint16_t pa, uint16_t pb)
{
    memset(ip, 0, 60);
    ip[0] = 0x60;
    ip[5] = 20;
    ip[6] = next;
    ip[7] = 64;
    ip[8] = ip[24] = 0xfd;
    ip[23] = a;
    ip[39] = b;
    ip[40] = (uint8_t)(pa >> 8);
    ip[41] = (uint8_t)pa;
    ip[42] = (uint8_t)(pb >> 8);
    ip[43] = (uint8_t)pb;
    return ip + 40;
}

static uint8_t *make_frame6(uint8_t next, uint8_t a, uint8_t b, uint16_t pa, uint16_t pb)
{
    memset(frame, 0, sizeof(frame));
    frame[12] = 0x86;
    frame[13] = 0xdd;
    return make6(frame + 14, next, a, b, pa, pb);
}

static void test_ip6_both_directions_of_a_flow_have_one_home(void **state)
{
    uint32_t seen[COUNT] = {0}, i, h;

    (void)state;
    for (i = 1; i < 400; i++) {
        make_frame6(6, 1, 2, 80, (uint16_t)(i * 163));
        h = home(74);
        assert_true(h < COUNT);
        make_frame6(6, 2, 1, (uint16_t)(i * 163), 80);
        assert_int_equal(home(74), h);
        seen[h]++;
    }
    for (i = 0; i < COUNT; i++)
        assert_true(seen[i] > 40);
}

/* The engine that steers and the stack that picks ports name one home. */
static void test_ip6_home_is_what_the_stack_says(void **state)
{
    struct toec_addr a = {{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}}, b = a;
    uint32_t i;

    (void)state;
    b.b[15] = 2;
    for (i = 1; i < 100; i++) {
        make_frame6(6, 1, 2, 80, (uint16_t)(i * 163));
        assert_int_equal(home(74), toec_rss_hash(&a, &b, 80, (uint16_t)(i * 163)) % COUNT);
    }
}

static void test_ip6_extension_headers_are_looked_over(void **state)
{
    uint8_t tcp[20];
    uint32_t h, n, at;

    (void)state;
    memcpy(tcp, make_frame6(6, 1, 2, 80, 4711), sizeof(tcp));
    h = home(74);
    for (n = 1; n <= 8; n++) { /* n destination options headers of 8 bytes; the frame holds 6 */
        if (54 + 8 * n + 20 > sizeof(frame))
            break;
        make_frame6(60, 1, 2, 0, 0);
        memset(frame + 54, 0, sizeof(frame) - 54);
        for (at = 0; at < n; at++)
            frame[54 + 8 * at] = at + 1 < n ? 60 : 6;
        memcpy(frame + 54 + 8 * n, tcp, sizeof(tcp));
        assert_int_equal(home(54 + 8 * n + 20), h);
        assert_int_equal(home(54 + 8 * n + 3), HERE); /* ports cut off */
    }
    assert_true(n > 6);
}

static void test_ip6_fragments_of_tcp_have_no_home(void **state)
{
    uint8_t *f = make_frame6(44, 1, 2, 0, 0);

    (void)state;
    f[0] = 6;
    f[3] = 1; /* more to come */
    assert_int_equal(home(74), STEER_DROP);
    f[3] = 0;
    f[2] = 5; /* the last one */
    assert_int_equal(home(74), STEER_DROP);
    f[0] = 58;
    assert_int_equal(home(74), HERE); /* of a ping */
}

static void test_ip6_an_icmp_error_goes_where_the_quoted_segment_lives(void **state)
{
    uint8_t type, *icmp;
    uint32_t h;

    (void)state;
    make_frame6(6, 1, 2, 80, 4711);
    h = home(74);
    for (type = 1; type <= 4; type++) {
        icmp = make_frame6(58, 3, 1, 0, 0);
        icmp[0] = type;
        make6(icmp + 8, 6, 1, 2, 80, 4711);
        assert_int_equal(home(14 + 40 + 8 + 44), h);
        assert_int_equal(home(14 + 40 + 8 + 43), HERE); /* quotes too little */
        icmp[8 + 6] = 17;
        assert_int_equal(home(14 + 40 + 8 + 44), HERE); /* of UDP */
    }
}

static void test_ip6_what_all_must_know_goes_to_everyone(void **state)
{
    static const struct {
        uint8_t type;
        uint32_t home;
    } rows[] = {{128, HERE},      {129, HERE}, {130, HERE},      {133, HERE},
                {134, STEER_ALL}, {135, HERE}, {136, STEER_ALL}, {137, STEER_ALL}};
    uint32_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        make_frame6(58, 2, 1, (uint16_t)(rows[i].type << 8), 0);
        assert_int_equal(home(74), rows[i].home);
    }
    make_frame6(58, 0, 1, 135 << 8, 0);
    frame[14 + 8] = 0; /* from ::, is the address free? */
    assert_int_equal(home(74), STEER_ALL);
}

static void test_ip6_short_frames_stay(void **state)
{
    uint32_t len;

    (void)state;
    make_frame6(6, 1, 2, 80, 4711);
    for (len = 0; len < 58; len++)
        assert_int_equal(home(len), HERE);
}

/* ---- the rings between engines ---- */

static struct engine *make_engine(uint32_t id, struct handover *h, struct netio *n)
{
    struct engine_config cfg = {.id = id, .count = 2, .netio = n, .max_qps = 1, .handover = h};
    struct engine *e;
    char err[256];

    memcpy(cfg.core.mac, ((uint8_t[]){2, 0, 0, 0, 0, 1}), 6);
    memcpy(cfg.core.ip, ((uint8_t[]){10, 0, 0, 1}), 4);
    cfg.core.prefix_len = 24;
    cfg.core.mtu = 1500;
    cfg.core.max_flows = 16;
    cfg.core.home_index = id;
    cfg.core.home_count = 2;
    e = engine_new(&cfg, NS_PER_S, err, sizeof(err));
    if (!e)
        fail_msg("%s", err);
    return e;
}

/* A port of 10.0.0.2 whose flows to port 80 are home to this engine. */
static uint16_t port_of(uint32_t id)
{
    uint16_t port = 1024;

    do
        make(6, 2, 1, ++port, 80);
    while (steer_home(frame, 54, HERE, 2) != id);
    return port;
}

static void test_frames_are_handed_to_their_home_and_dropped_when_it_is_full(void **state)
{
    struct handover *h = handover_new(2, 1564);
    struct netio *wires[2], *ends[2];
    struct engine *e[2];
    uint64_t now = NS_PER_S;
    unsigned i;

    (void)state;
    for (i = 0; i < 2; i++) {
        memwire_pair(&wires[i], &ends[i]);
        e[i] = make_engine(i, h, wires[i]);
    }
    make(6, 2, 1, port_of(1), 80);
    memwire_inject(wires[0], frame, 54); /* arrives at 0, lives at 1 */
    assert_false(steer_waiting(e[1]));
    engine_step(e[0], now);
    assert_true(steer_waiting(e[1]));
    assert_int_equal(e[0]->counters[EC_handover_sent], 1);
    engine_step(e[1], now);
    assert_int_equal(e[1]->counters[EC_handover_received], 1);
    make(6, 2, 1, port_of(0), 80);
    memwire_inject(wires[0], frame, 54); /* at home already */
    engine_step(e[0], now);
    assert_int_equal(e[0]->counters[EC_handover_sent], 1);
    make(6, 2, 1, port_of(1), 80);
    for (i = 0; i < 300; i++)
        memwire_inject(wires[0], frame, 54);
    for (i = 0; i < 10; i++)
        engine_step(e[0], now);
    assert_int_equal(e[0]->counters[EC_handover_sent], 1 + 256);
    assert_int_equal(e[0]->counters[EC_handover_full], 300 - 256);
    for (i = 0; i < 10; i++)
        engine_step(e[1], now);
    assert_int_equal(e[1]->counters[EC_handover_received], 1 + 256);
    assert_false(steer_waiting(e[1]));
    for (i = 0; i < 2; i++) {
        engine_free(e[i]);
        netio_close(ends[i]);
    }
    handover_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_directions_of_a_flow_have_one_home),
        cmocka_unit_test(test_an_icmp_error_goes_where_the_quoted_segment_lives),
        cmocka_unit_test(test_fragments_of_tcp_have_no_home),
        cmocka_unit_test(test_arp_replies_are_for_everyone),
        cmocka_unit_test(test_short_and_foreign_frames_stay),
        cmocka_unit_test(test_ip6_both_directions_of_a_flow_have_one_home),
        cmocka_unit_test(test_ip6_home_is_what_the_stack_says),
        cmocka_unit_test(test_ip6_extension_headers_are_looked_over),
        cmocka_unit_test(test_ip6_fragments_of_tcp_have_no_home),
        cmocka_unit_test(test_ip6_an_icmp_error_goes_where_the_quoted_segment_lives),
        cmocka_unit_test(test_ip6_what_all_must_know_goes_to_everyone),
        cmocka_unit_test(test_ip6_short_frames_stay),
        cmocka_unit_test(test_frames_are_handed_to_their_home_and_dropped_when_it_is_full),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
