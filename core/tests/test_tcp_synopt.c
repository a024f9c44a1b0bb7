/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_synopt.c - options of SYN and SYN-ACK in any order, missing or unusual, and their
 * effects (RFC 9293 3.7.1, RFC 7323, RFC 6691).
 */
#include "tcptalk.h"

/* ---- options ---- */

/* Every order of four options on a SYN gives the same connection. RFC 9293 MUST-4, MUST-14,
 * MUST-64; R6691-01. */
static void test_options_any_order(void **state)
{
    static const uint8_t opt[4][10] = {{2, 4, 5, 0xb4}, {3, 3, 7}, {4, 2}, {8, 10, 0x90, 1, 2, 3}};
    static const uint8_t len[4] = {4, 3, 2, 10};
    unsigned order, pads;

    (void)state;
    for (order = 0; order < 256; order++) {
        unsigned pick[4] = {order & 3, order >> 2 & 3, order >> 4 & 3, order >> 6};
        uint8_t t[60] = {0x13, 0x88, 0, 80, 1, 2, 3, 4, 0, 0, 0, 0, 0, F_SYN, 0xff, 0xff};
        struct sim s;
        struct tseg g;
        uint32_t at = 20;
        unsigned i;

        if ((1u << pick[0] | 1u << pick[1] | 1u << pick[2] | 1u << pick[3]) != 15)
            continue;
        pads = order % 2;
        for (i = 0; i < 4; i++) {
            if (pads)
                t[at++] = 1;
            memcpy(t + at, opt[pick[i]], len[pick[i]]);
            at += len[pick[i]];
        }
        while (at & 3)
            t[at++] = 0; /* end of list */
        t[12] = (uint8_t)(at / 4 << 4);
        craft_listen(&s);
        craft_send_raw(&s, t, at);
        craft_poll(&s);
        g = craft_expect(&s);
        assert_int_equal(g.flags, F_SYN | F_ACK);
        assert_int_equal(g.mss, 1460);
        assert_true(g.wscale >= 0);
        assert_int_equal(g.sack_ok, 1);
        assert_int_equal(g.has_ts, 1);
        assert_int_equal(g.tsecr, 0x90010203u);
        sim_stop(&s);
    }
}

/* RFC 9293 3.7.1: without the option, segments carry at most 536 bytes. RFC 9293 MUST-15. */
static void test_mss_default(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    t.mss = -1;
    talk_passive(&t);
    talk_send(&t, 2000);
    talk_hear(&t, F_ACK, 0, 0, 536);
    talk_hear(&t, F_ACK, 536, 0, 536);
    talk_hear(&t, F_ACK, 1072, 0, 536);
    talk_hear(&t, F_ACK, 1608, 0, 392);
    talk_end(&t);
}

/* A tiny or zero MSS does not cause a header for every byte. */
static void test_mss_tiny(void **state)
{
    static const int tiny[] = {0, 1, 20};
    unsigned i;

    (void)state;
    for (i = 0; i < 3; i++) {
        struct talk t;

        talk_init(&t);
        t.mss = tiny[i];
        talk_passive(&t);
        talk_send(&t, 64);
        talk_hear(&t, F_ACK, 0, 0, 64);
        talk_end(&t);
    }
}

/* RFC 6691: the MSS is not reduced by the room for timestamps. RFC 9293 MUST-16; R6691-02. */
static void test_mss_with_timestamps(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    t.ts = 1;
    talk_passive(&t);
    talk_send(&t, 1460);
    talk_hear(&t, F_ACK, 0, 0, 1448);
    talk_hear(&t, F_ACK, 1448, 0, 12);
    talk_end(&t);
}

/* RFC 7323 2.3: a shift above 14 is used as 14. R7323-03. */
static void test_wscale_clamp(void **state)
{
    struct talk t;
    struct toec_info i;

    (void)state;
    talk_init(&t);
    t.wscale = 200;
    talk_passive(&t);
    toec_flow_info(t.s.host[0].stack, t.c->flow, &i);
    assert_int_equal(i.ws_send, 14);
    talk_end(&t);
}

/* RFC 7323 2.2: windows are scaled only when both sides offer it; the window of a SYN is never
 * scaled. R7323-01, R7323-02, R7323-04. */
static void test_wscale_use(void **state)
{
    int with;

    (void)state;
    for (with = 0; with < 2; with++) {
        struct talk t;
        struct tseg g;

        talk_init(&t);
        t.s.host[0].rx_buf = 1 << 20;
        t.wscale = with ? 2 : -1;
        t.wnd = 10;
        talk_passive(&t);
        talk_put(&t, F_ACK | F_PSH, 0, 0, 10);
        conn_read(t.c, 10);
        talk_send(&t, 100);
        /* a window of 10 is 40 when scaled: neither allows 100 bytes */
        g = craft_expect(&t.s);
        assert_int_equal(g.len, with ? 40 : 10);
        assert_int_equal(g.wnd, with ? (1 << 20) >> 5 : 65535);
        talk_end(&t);
    }
}

/* RFC 9293 3.2: unknown options are skipped by their length (here 253, RFC 6994). RFC 9293
 * MUST-6. */
static void test_unknown_option(void **state)
{
    static const uint8_t t[28] = {0x13, 0x88, 0, 80, 1, 2, 3,   4, 0, 0, 0, 0, 0x70, F_SYN,
                                  0xff, 0xff, 0, 0,  0, 0, 253, 4, 1, 2, 2, 4, 2,    0x18};
    struct sim s;
    struct toec_info i;
    struct tseg g;

    (void)state;
    craft_listen(&s);
    craft_send_raw(&s, t, sizeof(t));
    craft_poll(&s);
    g = craft_expect(&s);
    g = seg_make(5000, 80, F_ACK, 0x01020305, g.seq + 1);
    craft_send(&s, &g);
    toec_flow_info(s.host[0].stack, s.host[0].conns->flow, &i);
    assert_int_equal(i.mss_send, 0x218);
    sim_stop(&s);
}

/* Options of an illegal length: the segment is dropped and counted (RFC 9293 3.2). RFC 9293 MUST-7.
 */
static void test_bad_options(void **state)
{
    static const uint8_t bad[][4] = {{2, 0, 0, 0}, {2, 1, 0, 0}, {8, 10, 0, 0}, {1, 1, 1, 2}};
    unsigned i;

    (void)state;
    for (i = 0; i < 4; i++) {
        uint8_t t[24] = {0x13, 0x88, 0, 80, 1, 2, 3, 4, 0, 0, 0, 0, 0x60, F_SYN, 0xff, 0xff};
        struct sim s;

        memcpy(t + 20, bad[i], 4);
        craft_listen(&s);
        craft_send_raw(&s, t, 24);
        craft_poll(&s);
        craft_expect_none(&s);
        assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_bad_option), 1);
        sim_stop(&s);
    }
}

/* ---- timestamps (RFC 7323) ---- */

/* A peer whose clock is at or above 2^31, as it is on half of all hosts. TS.Recent is taken from
 * the SYN. */
static void test_tsval_high(void **state)
{
    static const uint32_t start[] = {0x80000000u, 0xffffffffu, 0x7fffffffu, 0xfffffff0u};
    unsigned i;

    (void)state;
    for (i = 0; i < 4; i++) {
        struct talk t;
        struct tseg g;

        talk_init(&t);
        t.ts = 1;
        t.tsval = start[i];
        talk_passive(&t);
        t.tsval += 20;                      /* may wrap */
        talk_set(&t, TOEC_OPT_QUICKACK, 0); /* ACKs wait for answers */
        talk_say(&t, F_ACK | F_PSH, 0, 0, 100);
        assert_int_equal(t.c->received, 100);
        talk_send(&t, 10);
        g = talk_hear(&t, F_ACK, 0, 100, 10);
        assert_int_equal(g.tsecr, start[i] + 20);
        talk_end(&t);
    }
}

/* Timestamps of two connections do not reveal our clock: their offsets differ (RFC 7323 5.4).
 * R7323-18. */
static void test_ts_offset(void **state)
{
    struct sim s;
    struct tseg g, h;

    (void)state;
    craft_init(&s);
    craft_start(&s);
    sim_connect(&s, 0, 80);
    sim_connect(&s, 0, 81);
    craft_poll(&s);
    g = craft_expect(&s);
    h = craft_expect(&s);
    assert_int_not_equal(g.tsval, h.tsval);
    assert_int_not_equal(g.seq, h.seq);
    sim_stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options_any_order), cmocka_unit_test(test_mss_default),
        cmocka_unit_test(test_mss_tiny),          cmocka_unit_test(test_mss_with_timestamps),
        cmocka_unit_test(test_wscale_clamp),      cmocka_unit_test(test_wscale_use),
        cmocka_unit_test(test_unknown_option),    cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_tsval_high),        cmocka_unit_test(test_ts_offset),
    };

    return cmocka_run_group_tests_name("tcp_synopt", tests, 0, 0);
}
