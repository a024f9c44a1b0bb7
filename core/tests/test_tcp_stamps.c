/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_stamps.c - timestamps, PAWS and wrapped sequence numbers (RFC 7323).
 */
#include "tcptalk.h"

/* ---- timestamps: PAWS (RFC 7323 5) ---- */

/* Echoed timestamps give one RTT sample per round trip, so that the weights of RFC 6298 keep their
 * meaning (RFC 7323 appendix G). */
static void test_one_sample_per_round_trip(void **state)
{
    struct talk t;
    uint32_t srtt;

    (void)state;
    talk_init(&t);
    t.ts = 1;
    t.rtt = 100 * MSEC;
    talk_passive(&t);
    talk_send(&t, 4 * 1460);
    talk_skip(&t);
    t.tsecr += 100; /* of the flight, sent 100 ms after the SYN-ACK */
    craft_pass(&t.s, 100 * MSEC);
    talk_say(&t, F_ACK, 0, 1460, 0); /* the timed segment */
    talk_say(&t, F_ACK, 0, 2920, 0); /* a sample by its timestamp */
    srtt = talk_info(&t).srtt_us;
    craft_pass(&t.s, 150 * MSEC);
    talk_say(&t, F_ACK, 0, 4380, 0); /* of the same round trip */
    assert_int_equal(talk_info(&t).srtt_us, srtt);
    talk_say(&t, F_ACK, 0, 5840, 0); /* its end */
    assert_int_equal(talk_info(&t).srtt_us, srtt);
    talk_end(&t);
}

/* Before its first ACK a flow has acknowledged the peer's SYN and no more: a segment behind a hole
 * does not change the timestamp to echo. R7323-12. */
static void test_hole_before_the_first_ack(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_init(&t);
    t.ts = 1;
    t.isn = 0x90000000u;
    t.tsval = 1000;
    talk_connect(&t);
    craft_poll(&t.s);
    g = craft_expect(&t.s);
    t.iss = g.seq;
    t.tsecr = g.tsval;
    g = talk_seg(&t, F_SYN | F_ACK, (uint32_t)-1, 0, 0);
    g.mss = 1460;
    g.has_ts = 1;
    craft_send(&t.s, &g);
    t.tsval = 2000;
    talk_put(&t, F_ACK, 100, 0, 10);
    craft_poll(&t.s);
    g = craft_expect(&t.s);
    assert_int_equal(g.ack, t.isn + 1);
    assert_int_equal(g.tsecr, 1000);
    craft_forget(&t.s);
    talk_end(&t);
}

/* R7323-06, R7323-13, R7323-14, R7323-17. */
static void test_paws(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_init(&t);
    t.ts = 1;
    t.tsval = 0xfffffff0u;
    talk_passive(&t);
    t.tsval = 5; /* wrapped, and newer */
    talk_say(&t, F_ACK | F_PSH, 0, 0, 10);
    assert_int_equal(t.c->received, 10);
    t.tsval = 0xfffffff8u; /* an old duplicate with its number in the window */
    talk_say(&t, F_ACK | F_PSH, 10, 0, 10);
    assert_int_equal(t.c->received, 10);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_paws), 1);
    g = talk_hear(&t, F_ACK, 0, 10, 0);
    assert_int_equal(g.tsecr, 5);
    /* a RST needs none */
    g = talk_seg(&t, F_RST, 10, 0, 0);
    g.has_ts = 0;
    craft_send(&t.s, &g);
    assert_true(t.c->gone);
    talk_end(&t);
}

/* Says it without the timestamp that was negotiated. */
static void say_bare(struct talk *t, unsigned flags, uint32_t seq, uint32_t ack, uint32_t len)
{
    struct tseg g = talk_seg(t, flags, seq, ack, len);

    g.has_ts = 0;
    craft_say(&t->s, &g);
}

/* R7323-09: as on Linux, a segment that lacks the negotiated timestamp is accepted: the ACK of the
 * handshake, data, keep-alives, the ACK of data. TS.Recent stays, and PAWS still applies to those
 * that have one. */
static void test_missing_timestamps(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_init(&t);
    t.ts = 1;
    craft_start(&t.s);
    sim_listen(&t.s, 0, t.own_port, 0, 0);
    g = talk_seg(&t, F_SYN, (uint32_t)-1, 0, 0);
    g.mss = 1460;
    craft_say(&t.s, &g);
    g = craft_expect(&t.s);
    t.iss = g.seq;
    t.tsecr = g.tsval;
    say_bare(&t, F_ACK, 0, 0, 0);
    t.c = t.s.host[0].conns;
    assert_non_null(t.c);
    assert_true(t.c->established);
    say_bare(&t, F_ACK | F_PSH, 0, 0, 10);
    assert_int_equal(t.c->received, 10);
    craft_pass(&t.s, 100 * MSEC);
    assert_int_equal(talk_hear(&t, F_ACK, 0, 10, 0).tsecr, t.tsval);
    say_bare(&t, F_ACK, 9, 0, 0);
    assert_int_equal(talk_hear(&t, F_ACK, 0, 10, 0).tsecr, t.tsval);
    say_bare(&t, F_ACK, 9, 0, 1);
    assert_int_equal(talk_hear(&t, F_ACK, 0, 10, 0).tsecr, t.tsval);
    talk_send(&t, 100);
    talk_hear(&t, F_ACK, 0, 10, 100);
    say_bare(&t, F_ACK, 10, 100, 0);
    assert_int_equal(talk_info(&t).bytes_acked, 100);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_no_timestamp), 5);
    t.tsval -= 100;
    talk_say(&t, F_ACK | F_PSH, 10, 100, 10);
    assert_int_equal(t.c->received, 10);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_paws), 1);
    talk_end(&t);
}

/* After 24 idle days TS.Recent is invalid, as half of the peer's clock range may have passed.
 * R7323-16. */
static void test_paws_idle(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    t.ts = 1;
    talk_passive(&t);
    t.s.now += 25ull * 86400 * SEC;
    craft_poll(&t.s);
    t.tsval += 0x80000001u;
    talk_say(&t, F_ACK | F_PSH, 0, 0, 10);
    assert_int_equal(t.c->received, 10);
    t.tsval += 1;
    talk_say(&t, F_ACK | F_PSH, 10, 0, 10);
    assert_int_equal(t.c->received, 20);
    talk_end(&t);
}

/* RFC 7323 4.3: the echo is the timestamp of the segment that caused the ACK, not that of the
 * latest one. R7323-12. */
static void test_ts_recent_rule(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_init(&t);
    t.ts = 1;
    talk_passive(&t);
    t.tsval = 2000;
    talk_put(&t, F_ACK, 0, 0, 100);
    t.tsval = 2005;
    talk_put(&t, F_ACK, 100, 0, 100);
    craft_poll(&t.s);
    g = talk_hear(&t, F_ACK, 0, 200, 0);
    assert_int_equal(g.tsecr, 2000);
    /* a segment beyond a gap does not change it */
    t.tsval = 2010;
    talk_put(&t, F_ACK, 300, 0, 100);
    g = talk_hear(&t, F_ACK, 0, 200, 0);
    assert_int_equal(g.tsecr, 2000);
    t.tsval = 2020;
    talk_say(&t, F_ACK, 200, 0, 100);
    g = talk_hear(&t, F_ACK, 0, 400, 0);
    assert_int_equal(g.tsecr, 2020);
    talk_end(&t);
}

/* ---- sequence numbers wrap ---- */

static void test_sequence_wrap(void **state)
{
    struct talk t;
    uint32_t at = 0, i;

    (void)state;
    talk_init(&t);
    t.isn = 0xffffff00u;
    t.sack = 1;
    talk_passive(&t);
    for (i = 0; i < 4; i++, at += 200) {
        talk_say(&t, F_ACK, at + 100, 0, 100);
        talk_say(&t, F_ACK, at, 0, 100);
    }
    assert_int_equal(conn_read(t.c, 10000), 800);
    talk_end(&t);
}

/* Streams of more than 4 GiB: offsets wrap, byte counts do not. */
static void test_four_gigabytes(void **state)
{
    struct talk t;
    struct toec_info info;
    uint32_t at = 0;
    uint64_t total = 0;

    (void)state;
    talk_init(&t);
    t.s.host[0].rx_buf = 65536;
    talk_passive(&t);
    toec_flow_info(t.s.host[0].stack, t.c->flow, &info);
    assert_int_equal(info.bytes_received, 0);
    /* the payload of these frames is not checked: 60 KB each, read at once */
    {
        static uint8_t f[34 + 20 + 60000];
        struct toec_packet p;

        memset(f, 0, 54);
        memset(&p, 0, sizeof(p));
        p.data = f;
        p.head_len = 54;
        p.len = sizeof(f);
        p.flags = TOEC_RX_L4_CSUM_OK | TOEC_RX_IP_CSUM_OK;
        memcpy(f, t.s.host[0].cfg.mac, 6);
        f[6] = 2;
        f[11] = 2;
        f[12] = 8;
        f[14] = 0x45;
        f[16] = (uint8_t)((sizeof(f) - 14) >> 8);
        f[17] = (uint8_t)(sizeof(f) - 14);
        f[22] = 64;
        f[23] = 6;
        memcpy(f + 26, (const uint8_t[]){10, 0, 0, 2, 10, 0, 0, 1}, 8);
        f[34] = PEER_PORT >> 8;
        f[35] = PEER_PORT & 255;
        f[37] = OWN_PORT;
        f[46] = 0x50;
        f[47] = F_ACK;
        f[48] = f[49] = 0xff;
        while (total < (9ull << 29)) {
            uint32_t seq = t.isn + 1 + at, ack = t.iss + 1;
            int i;

            for (i = 0; i < 4; i++) {
                f[38 + i] = (uint8_t)(seq >> (24 - 8 * i));
                f[42 + i] = (uint8_t)(ack >> (24 - 8 * i));
            }
            toec_input(t.s.host[0].stack, &p, t.s.now);
            at += 60000;
            total += 60000;
            assert_int_equal(t.c->received, total);
            t.c->read = t.c->received;
            assert_int_equal(toec_recv(t.s.host[0].stack, t.c->flow, 60000, t.s.now), 0);
            t.s.host[0].tx_room = 1;
            toec_poll(t.s.host[0].stack, t.s.now);
            while (t.s.sent_n > 100)
                free(t.s.sent[--t.s.sent_n]);
            if (t.s.sent_read > t.s.sent_n)
                t.s.sent_read = t.s.sent_n;
        }
        t.s.host[0].tx_room = -1;
    }
    toec_flow_info(t.s.host[0].stack, t.c->flow, &info);
    assert_true(info.bytes_received == total);
    talk_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_sample_per_round_trip),
        cmocka_unit_test(test_hole_before_the_first_ack),
        cmocka_unit_test(test_paws),
        cmocka_unit_test(test_missing_timestamps),
        cmocka_unit_test(test_paws_idle),
        cmocka_unit_test(test_ts_recent_rule),
        cmocka_unit_test(test_sequence_wrap),
        cmocka_unit_test(test_four_gigabytes),
    };

    return cmocka_run_group_tests_name("tcp_stamps", tests, 0, 0);
}
