/* SPDX-License-Identifier: Apache-2.0 */
/* test_tcp_open.c - how connections begin (RFC 9293 3.5, 3.10.7.2, 3.10.7.3), dialogue by dialogue.
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
        craft_init(&s);
        craft_start(&s);
        sim_listen(&s, 0, 80, 0, 0);
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
    conn_write(t.c, 2000, 1);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK, 0, 0, 536);
    talk_hear(&t, F_ACK, 536, 0, 536);
    talk_hear(&t, F_ACK, 1072, 0, 536);
    talk_hear(&t, F_ACK, 1608, 0, 392);
    talk_end(&t);
}

/* A tiny or zero MSS does not make us send a header for every byte. */
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
        conn_write(t.c, 64, 1);
        craft_poll(&t.s);
        talk_hear(&t, F_ACK, 0, 0, 64);
        talk_end(&t);
    }
}

/* RFC 6691: the room timestamps take is not part of the MSS. RFC 9293 MUST-16; R6691-02. */
static void test_mss_with_timestamps(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    t.ts = 1;
    talk_passive(&t);
    conn_write(t.c, 1460, 1);
    craft_poll(&t.s);
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

/* RFC 7323 2.2: scaling only when both sides offer it; a SYN's own window is never scaled.
 * R7323-01, R7323-02, R7323-04. */
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
        conn_write(t.c, 100, 1);
        craft_poll(&t.s);
        /* the window of 10 is 40 when scaled: neither is enough for 100 bytes */
        g = craft_expect(&t.s);
        assert_int_equal(g.len, with ? 40 : 10);
        assert_int_equal(g.wnd, with ? (1 << 20) >> 5 : 65535);
        talk_end(&t);
    }
}

/* RFC 9293 3.2: options not understood are skipped by their length (here 253, RFC 6994). RFC 9293
 * MUST-6. */
static void test_unknown_option(void **state)
{
    static const uint8_t t[28] = {0x13, 0x88, 0, 80, 1, 2, 3,   4, 0, 0, 0, 0, 0x70, F_SYN,
                                  0xff, 0xff, 0, 0,  0, 0, 253, 4, 1, 2, 2, 4, 2,    0x18};
    struct sim s;
    struct toec_info i;
    struct tseg g;

    (void)state;
    craft_init(&s);
    craft_start(&s);
    sim_listen(&s, 0, 80, 0, 0);
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
        craft_init(&s);
        craft_start(&s);
        sim_listen(&s, 0, 80, 0, 0);
        craft_send_raw(&s, t, 24);
        craft_poll(&s);
        craft_expect_none(&s);
        assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_bad_option), 1);
        sim_stop(&s);
    }
}

/* ---- timestamps (RFC 7323) ---- */

/* A peer whose clock stands at or above 2^31: half of all hosts. TS.Recent is the SYN's. */
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
        t.tsval += 20; /* may wrap */
        talk_say(&t, F_ACK | F_PSH, 0, 0, 100);
        assert_int_equal(t.c->received, 100);
        conn_write(t.c, 10, 1);
        craft_poll(&t.s);
        g = talk_hear(&t, F_ACK, 0, 100, 10);
        assert_int_equal(g.tsecr, start[i] + 20);
        talk_end(&t);
    }
}

/* Timestamps of two connections do not tell our clock: their offsets differ (RFC 7323 5.4).
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

/* ---- passive open ---- */

/* RFC 9293 SHLD-5, MAY-3. */
static void test_passive_open(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    talk_passive(&t);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_established), 1);
    talk_end(&t);
}

/* A SYN to a port without a listener: RST with ACK of the SYN (RFC 9293 3.10.7.1). */
static void test_refused(void **state)
{
    struct sim s;
    struct tseg g = seg_make(5000, 81, F_SYN, 100, 0);

    (void)state;
    craft_init(&s);
    craft_start(&s);
    craft_send(&s, &g);
    g = craft_expect(&s);
    assert_int_equal(g.flags, F_RST | F_ACK);
    assert_int_equal(g.seq, 0);
    assert_int_equal(g.ack, 101);
    /* an ACK out of nowhere: RST at its sequence number */
    g = seg_make(5000, 81, F_ACK, 100, 777);
    craft_send(&s, &g);
    g = craft_expect(&s);
    assert_int_equal(g.flags, F_RST);
    assert_int_equal(g.seq, 777);
    /* an RST: never answered */
    g = seg_make(5000, 81, F_RST, 100, 0);
    craft_send(&s, &g);
    craft_expect_none(&s);
    sim_stop(&s);
}

/* A listener answers an ACK with RST, ignores RST, drops nonsense (RFC 9293 3.10.7.2). */
static void test_listen_states(void **state)
{
    struct sim s;
    struct tseg g;

    (void)state;
    craft_init(&s);
    craft_start(&s);
    sim_listen(&s, 0, 80, 0, 0);
    g = seg_make(5000, 80, F_ACK, 100, 777);
    craft_send(&s, &g);
    g = craft_expect(&s);
    assert_int_equal(g.flags, F_RST);
    assert_int_equal(g.seq, 777);
    g = seg_make(5000, 80, F_RST, 100, 0);
    craft_send(&s, &g);
    g = seg_make(5000, 80, F_FIN, 100, 0);
    craft_send(&s, &g);
    g = seg_make(5000, 80, 0, 100, 0);
    craft_send(&s, &g);
    g = seg_make(5000, 80, F_SYN | F_FIN, 100, 0);
    craft_send(&s, &g);
    craft_poll(&s);
    craft_expect_none(&s);
    assert_int_equal(s.host[0].opened, 0);
    sim_stop(&s);
}

/* A lost SYN-ACK: the SYN comes again and is answered again; the timer repeats it, too. */
static void test_syn_ack_lost(void **state)
{
    struct sim s;
    struct tseg syn = seg_make(5000, 80, F_SYN, 100, 0), g;
    uint32_t iss;
    int i;

    (void)state;
    craft_init(&s);
    craft_start(&s);
    sim_listen(&s, 0, 80, 0, 0);
    craft_send(&s, &syn);
    craft_poll(&s);
    iss = craft_expect(&s).seq;
    craft_send(&s, &syn);
    craft_poll(&s);
    g = craft_expect(&s);
    assert_int_equal(g.flags, F_SYN | F_ACK);
    assert_int_equal(g.seq, iss);
    for (i = 0; i < 5; i++) {
        craft_pass(&s, (1ull << i) * SEC + 100 * MSEC);
        g = craft_expect(&s);
        assert_int_equal(g.flags, F_SYN | F_ACK);
        craft_expect_none(&s);
    }
    craft_pass(&s, 100 * SEC);
    craft_expect_none(&s);
    assert_int_equal(s.host[0].conns->gone_reason, TOEC_R_TIMEDOUT);
    sim_assert_clean(&s);
    sim_stop(&s);
}

/* The third ACK is lost but data follows: it carries the ACK. */
static void test_data_completes_handshake(void **state)
{
    struct sim s;
    struct tseg g = seg_make(5000, 80, F_SYN, 100, 0);

    (void)state;
    craft_init(&s);
    craft_start(&s);
    sim_listen(&s, 0, 80, 0, 0);
    craft_send(&s, &g);
    craft_poll(&s);
    g = craft_expect(&s);
    g = seg_make(5000, 80, F_ACK | F_PSH, 101, g.seq + 1);
    g.len = 50;
    craft_send(&s, &g);
    assert_true(s.host[0].conns->established);
    assert_int_equal(s.host[0].conns->received, 50);
    assert_int_equal(conn_read(s.host[0].conns, 100), 50);
    conn_abort(s.host[0].conns);
    sim_assert_clean(&s);
    sim_stop(&s);
}

/* Text on a SYN is tolerated: not acknowledged, so it comes again (RFC 9293 3.4). */
static void test_data_on_syn(void **state)
{
    struct sim s;
    struct tseg g = seg_make(5000, 80, F_SYN, 100, 0);

    (void)state;
    craft_init(&s);
    craft_start(&s);
    sim_listen(&s, 0, 80, 0, 0);
    g.len = 20;
    craft_send(&s, &g);
    craft_poll(&s);
    g = craft_expect(&s);
    assert_int_equal(g.ack, 101);
    g = seg_make(5000, 80, F_ACK | F_PSH, 101, g.seq + 1);
    g.len = 20;
    craft_send(&s, &g);
    assert_int_equal(conn_read(s.host[0].conns, 100), 20);
    conn_abort(s.host[0].conns);
    sim_stop(&s);
}

/* In SYN-RECEIVED an ACK of something else is reset (RFC 9293 3.10.7.4), the flow stays. */
static void test_syn_received_bad_ack(void **state)
{
    struct sim s;
    struct tseg g = seg_make(5000, 80, F_SYN, 100, 0);
    uint32_t iss;

    (void)state;
    craft_init(&s);
    craft_start(&s);
    sim_listen(&s, 0, 80, 0, 0);
    craft_send(&s, &g);
    craft_poll(&s);
    iss = craft_expect(&s).seq;
    g = seg_make(5000, 80, F_ACK, 101, iss + 5);
    craft_send(&s, &g);
    g = craft_expect(&s);
    assert_int_equal(g.flags, F_RST);
    assert_int_equal(g.seq, iss + 5);
    assert_false(s.host[0].conns->established);
    g = seg_make(5000, 80, F_RST, 101, 0);
    craft_send(&s, &g);
    assert_true(s.host[0].conns->gone);
    sim_assert_clean(&s);
    sim_stop(&s);
}

/* The integrator refuses: dropped silently, counted, nothing kept. */
static void test_open_refused(void **state)
{
    struct sim s;
    struct tseg g = seg_make(5000, 80, F_SYN, 100, 0);

    (void)state;
    craft_init(&s);
    craft_start(&s);
    sim_listen(&s, 0, 80, 0, 0);
    s.host[0].refuse_opens = 1;
    craft_send(&s, &g);
    craft_poll(&s);
    craft_expect_none(&s);
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_open_refused), 1);
    sim_assert_clean(&s);
    sim_stop(&s);
}

static void test_unlisten(void **state)
{
    struct sim s;
    struct tseg g = seg_make(5000, 80, F_SYN, 100, 0);
    struct toec_addr any;
    uint32_t id, other;

    (void)state;
    memset(&any, 0, sizeof(any));
    craft_init(&s);
    craft_start(&s);
    sim_listen(&s, 0, 80, 0, &id);
    assert_int_equal(toec_listen(s.host[0].stack, &any, 80, 0, 0, &other), TOEC_E_INUSE);
    assert_int_equal(toec_listen(s.host[0].stack, &any, 0, 0, 0, &other), TOEC_E_INVAL);
    craft_send(&s, &g);
    craft_poll(&s);
    craft_expect(&s);
    assert_int_equal(toec_unlisten(s.host[0].stack, id), 0);
    assert_int_equal(toec_unlisten(s.host[0].stack, id), TOEC_E_INVAL);
    assert_int_equal(toec_unlisten(s.host[0].stack, 12345), TOEC_E_INVAL);
    assert_true(s.host[0].conns->gone);
    craft_send(&s, &g);
    assert_int_equal(craft_expect(&s).flags & F_RST, F_RST);
    sim_assert_clean(&s);
    sim_stop(&s);
}

static void test_listener_pool(void **state)
{
    struct sim s;
    struct toec_addr any, own, alien;
    uint32_t id[4];

    (void)state;
    memset(&any, 0, sizeof(any));
    memset(&own, 0, sizeof(own));
    own.b[10] = own.b[11] = 0xff;
    own.b[12] = 10;
    own.b[15] = 1;
    alien = own;
    alien.b[15] = 9;
    craft_init(&s);
    s.host[0].cfg.max_listeners = 3;
    craft_start(&s);
    assert_int_equal(toec_listen(s.host[0].stack, &alien, 80, 0, 0, id), TOEC_E_NOTAVAIL);
    assert_int_equal(toec_listen(s.host[0].stack, &any, 80, 0, 0, id), 0);
    assert_int_equal(toec_listen(s.host[0].stack, &own, 80, 0, 0, id + 1), 0);
    assert_int_equal(toec_listen(s.host[0].stack, &any, 81, 0, 0, id + 2), 0);
    assert_int_equal(toec_listen(s.host[0].stack, &any, 82, 0, 0, id + 3), TOEC_E_NOBUFS);
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_no_listener), 1);
    assert_int_equal(toec_unlisten(s.host[0].stack, id[1]), 0);
    assert_int_equal(toec_listen(s.host[0].stack, &any, 82, 0, 0, id + 3), 0);
    sim_stop(&s);
}

/* ---- active open ---- */

static void test_active_open(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    t.ts = t.sack = 1;
    t.wscale = 7;
    talk_active(&t);
    conn_write(t.c, 5, 1);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK, 0, 0, 5);
    talk_end(&t);
}

/* RST to our SYN: refused; an RST that does not acknowledge it is ignored (RFC 9293 3.10.7.3). */
static void test_active_refused(void **state)
{
    struct sim s;
    struct conn *c;
    struct tseg g, r;

    (void)state;
    craft_init(&s);
    craft_start(&s);
    c = sim_connect(&s, 0, 80);
    craft_poll(&s);
    g = craft_expect(&s);
    r = seg_make(80, c->local_port, F_RST, 0, 0);
    craft_send(&s, &r);
    r = seg_make(80, c->local_port, F_RST | F_ACK, 0, g.seq + 2);
    craft_send(&s, &r);
    craft_expect_none(&s);
    assert_false(c->gone);
    r = seg_make(80, c->local_port, F_RST | F_ACK, 0, g.seq + 1);
    craft_send(&s, &r);
    assert_true(c->gone);
    assert_int_equal(c->gone_reason, TOEC_R_REFUSED);
    sim_assert_clean(&s);
    sim_stop(&s);
}

/* A SYN-ACK that acknowledges something else draws an RST (half-open connections, RFC 9293 3.5.1).
 */
static void test_active_bad_syn_ack(void **state)
{
    struct sim s;
    struct conn *c;
    struct tseg g, r;

    (void)state;
    craft_init(&s);
    craft_start(&s);
    c = sim_connect(&s, 0, 80);
    craft_poll(&s);
    g = craft_expect(&s);
    r = seg_make(80, c->local_port, F_SYN | F_ACK, 50, g.seq + 9);
    craft_send(&s, &r);
    r = craft_expect(&s);
    assert_int_equal(r.flags, F_RST);
    assert_int_equal(r.seq, g.seq + 9);
    assert_non_null(c->flow);
    conn_close(c);
    assert_true(c->gone);
    craft_expect_none(&s);
    sim_stop(&s);
}

/* SYNs are repeated with backoff, for at least three minutes (RFC 9293 3.8.3, MUST-23). RFC 9293
 * MUST-22. */
static void test_active_timeout(void **state)
{
    struct sim s;
    struct conn *c;
    struct tseg g, h;
    toec_time began;
    int n = 1;

    (void)state;
    craft_init(&s);
    craft_start(&s);
    began = s.now;
    c = sim_connect(&s, 0, 80);
    craft_poll(&s);
    g = craft_expect(&s);
    while (!c->gone && s.now < began + 1000 * SEC) {
        craft_pass(&s, SEC);
        while (craft_next(&s, &h)) {
            assert_int_equal(h.flags, F_SYN);
            assert_int_equal(h.seq, g.seq);
            n++;
        }
    }
    assert_true(c->gone);
    assert_int_equal(c->gone_reason, TOEC_R_TIMEDOUT);
    assert_true(s.now - began >= 180 * SEC && s.now - began < 300 * SEC);
    assert_int_equal(n, 8);
    sim_assert_clean(&s);
    sim_stop(&s);
}

/* Figure 8 of RFC 9293: both send SYN, then SYN-ACK. RFC 9293 MUST-10. */
static void test_simultaneous_open(void **state)
{
    int by_ack;

    (void)state;
    for (by_ack = 0; by_ack < 2; by_ack++) {
        struct sim s;
        struct conn *c;
        struct tseg g, r;

        craft_init(&s);
        craft_start(&s);
        c = sim_connect(&s, 0, 80);
        craft_poll(&s);
        g = craft_expect(&s);
        r = seg_make(80, c->local_port, F_SYN, 300, 0);
        craft_send(&s, &r);
        craft_poll(&s);
        r = craft_expect(&s);
        assert_int_equal(r.flags, F_SYN | F_ACK);
        assert_int_equal(r.seq, g.seq);
        assert_int_equal(r.ack, 301);
        if (by_ack)
            r = seg_make(80, c->local_port, F_ACK, 301, g.seq + 1);
        else
            r = seg_make(80, c->local_port, F_SYN | F_ACK, 300, g.seq + 1);
        craft_send(&s, &r);
        craft_poll(&s);
        assert_true(c->established);
        conn_write(c, 3, 1);
        craft_poll(&s);
        r = craft_expect(&s);
        assert_int_equal(r.seq, g.seq + 1);
        assert_int_equal(r.len, 3);
        conn_abort(c);
        sim_assert_clean(&s);
        sim_stop(&s);
    }
}

/* Two whole stacks that connect to each other at once. RFC 9293 MUST-10. */
static void test_simultaneous_open_stacks(void **state)
{
    struct sim s;
    struct conn *a, *b;

    (void)state;
    sim_init(&s, 2);
    sim_start(&s);
    sim_run(&s, 10 * SEC);
    a = sim_connect_from(&s, 0, 1000, 2000, 0);
    b = sim_connect_from(&s, 1, 2000, 1000, 0);
    sim_run(&s, 1 * SEC);
    assert_true(a->established && b->established);
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_simultaneous_open), 1);
    conn_write(a, 100, 1);
    conn_write(b, 200, 1);
    sim_run(&s, 1 * SEC);
    assert_int_equal(conn_read(b, 1000), 100);
    assert_int_equal(conn_read(a, 1000), 200);
    conn_close(a);
    conn_close(b);
    sim_run(&s, 200 * SEC);
    sim_assert_clean(&s);
    sim_stop(&s);
}

/* Data and FIN on a SYN-ACK are taken like any other. */
static void test_data_on_syn_ack(void **state)
{
    struct sim s;
    struct conn *c;
    struct tseg g, r;

    (void)state;
    craft_init(&s);
    craft_start(&s);
    c = sim_connect(&s, 0, 80);
    craft_poll(&s);
    g = craft_expect(&s);
    r = seg_make(80, c->local_port, F_SYN | F_ACK | F_FIN, 300, g.seq + 1);
    r.len = 30;
    craft_send(&s, &r);
    craft_poll(&s);
    r = craft_expect(&s);
    assert_int_equal(r.ack, 300 + 1 + 30 + 1);
    assert_int_equal(conn_read(c, 100), 30);
    assert_true(c->peer_closed);
    conn_abort(c);
    sim_stop(&s);
}

/* ... as far as the window of our SYN reaches: the buffer ends there. */
static void test_too_much_on_syn_ack(void **state)
{
    struct sim s;
    struct conn *c;
    struct tseg g, r;

    (void)state;
    craft_init(&s);
    s.host[0].rx_buf = 4096;
    craft_start(&s);
    c = sim_connect(&s, 0, 80);
    craft_poll(&s);
    g = craft_expect(&s);
    r = seg_make(80, c->local_port, F_SYN | F_ACK | F_FIN, 300, g.seq + 1);
    r.len = 6000;
    craft_send(&s, &r);
    assert_int_equal(s.place_violations, 0);
    assert_int_equal(c->received, 4096);
    assert_false(c->peer_closed);
    craft_poll(&s);
    r = craft_expect(&s);
    assert_int_equal(r.ack, 300 + 1 + 4096);
    conn_abort(c);
    sim_stop(&s);
}

/* Connecting to ourselves, off link, or with bad buffers is refused with a reason. */
static void test_connect_errors(void **state)
{
    struct sim s;
    struct toec_buffers b = {0, 65536, 65536};
    struct toec_addr a;
    struct toec_tcb *f;

    (void)state;
    craft_init(&s);
    craft_start(&s);
    memset(&a, 0, sizeof(a));
    assert_int_equal(toec_connect(s.host[0].stack, &a, 80, 0, &b, s.now, &f), TOEC_E_INVAL);
    a.b[10] = a.b[11] = 0xff;
    a.b[12] = 10;
    a.b[15] = 1;
    assert_int_equal(toec_connect(s.host[0].stack, &a, 80, 0, &b, s.now, &f), TOEC_E_UNREACH);
    a.b[14] = 9;
    assert_int_equal(toec_connect(s.host[0].stack, &a, 80, 0, &b, s.now, &f), TOEC_E_UNREACH);
    a.b[14] = 0;
    a.b[15] = 2;
    assert_int_equal(toec_connect(s.host[0].stack, &a, 0, 0, &b, s.now, &f), TOEC_E_INVAL);
    b.tx_size = 5000;
    assert_int_equal(toec_connect(s.host[0].stack, &a, 80, 0, &b, s.now, &f), TOEC_E_INVAL);
    b.tx_size = 2048;
    assert_int_equal(toec_connect(s.host[0].stack, &a, 80, 0, &b, s.now, &f), TOEC_E_INVAL);
    sim_stop(&s);
}

/* A neighbour that does not answer ends the attempt: EHOSTUNREACH, long before the SYN's R2. */
static void test_connect_no_neighbour(void **state)
{
    struct sim s;
    struct conn *c;

    (void)state;
    sim_init(&s, 2);
    s.impair.lose = 1024;
    sim_start(&s);
    c = sim_connect(&s, 0, 80);
    sim_run(&s, 30 * SEC);
    assert_true(c->gone);
    assert_int_equal(c->gone_reason, TOEC_R_HOSTUNREACH);
    sim_stop(&s);
}

/* ---- ephemeral ports (RFC 6056) ---- */

static void test_ports(void **state)
{
    struct sim s;
    static uint8_t seen[65536];
    int i;

    (void)state;
    memset(seen, 0, sizeof(seen));
    craft_init(&s);
    s.host[0].cfg.max_flows = 600;
    s.host[0].tx_buf = s.host[0].rx_buf = 4096;
    craft_start(&s);
    for (i = 0; i < 500; i++) {
        struct conn *c = sim_connect(&s, 0, 80);

        assert_true(c->local_port >= 32768 && c->local_port < 61000);
        assert_false(seen[c->local_port]);
        seen[c->local_port] = 1;
    }
    sim_stop(&s);
}

/* Of several stacks behind one address each chooses ports whose answers come back to it. */
static void test_ports_home(void **state)
{
    uint32_t home;

    (void)state;
    for (home = 0; home < 3; home++) {
        struct sim s;
        struct toec_addr own, peer;
        int i;

        memset(&own, 0, sizeof(own));
        own.b[10] = own.b[11] = 0xff;
        own.b[12] = 10;
        peer = own;
        own.b[15] = 1;
        peer.b[15] = 2;
        craft_init(&s);
        s.host[0].cfg.home_index = home;
        s.host[0].cfg.home_count = 3;
        craft_start(&s);
        for (i = 0; i < 50; i++) {
            struct conn *c = sim_connect(&s, 0, 80);

            assert_int_equal(toec_rss_hash(&own, &peer, c->local_port, 80) % 3, home);
            /* both directions of a flow have one home */
            assert_int_equal(toec_rss_hash(&peer, &own, 80, c->local_port) % 3, home);
        }
        for (i = 0; i < 50; i++) { /* a port that the user names: refused where none would answer */
            toec_u16 port = (toec_u16)(2000 + i);
            int r;

            sim_connect_from(&s, 0, port, 80, &r);
            assert_int_equal(r, toec_rss_hash(&own, &peer, port, 80) % 3 == home ? 0
                                                                                 : TOEC_E_NOTAVAIL);
        }
        sim_stop(&s);
    }
}

/* All ports in TIME-WAIT: refused, until timestamps make the oldest safe to use again. */
static void test_ports_in_time_wait(void **state)
{
    struct sim s;
    struct conn *c[64], *again;
    uint32_t n = 0, i;
    int r;

    (void)state;
    sim_init(&s, 2);
    s.host[0].cfg.home_count = 10000; /* leaves a handful of ports */
    s.host[0].cfg.home_index = 17;
    sim_start(&s);
    sim_listen(&s, 1, 80, 0, 0);
    for (;;) {
        c[n] = sim_connect_from(&s, 0, 0, 80, &r);
        if (r)
            break;
        assert_true(++n < 64);
    }
    assert_int_equal(r, TOEC_E_NOTAVAIL);
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_no_port), 1);
    assert_true(n > 0);
    sim_run(&s, 200 * MSEC);
    for (i = 0; i < n; i++) {
        struct conn *p = conn_peer(c[i]);

        conn_close(c[i]);
        sim_run(&s, 20 * MSEC);
        conn_close(p);
    }
    sim_run(&s, 20 * MSEC);
    for (i = 0; i < n; i++)
        assert_true(c[i]->gone && c[i]->gone_reason == TOEC_R_OK);
    sim_connect_from(&s, 0, 0, 80, &r);
    assert_int_equal(r, TOEC_E_NOTAVAIL);
    sim_run(&s, 2 * SEC);
    again = sim_connect_from(&s, 0, 0, 80, &r);
    assert_int_equal(r, 0);
    sim_run(&s, SEC);
    assert_true(again->established);
    sim_stop(&s);
}

/* A given local port: once. RFC 9293 MUST-43. */
static void test_local_port(void **state)
{
    struct sim s;
    struct conn *c;
    int r;

    (void)state;
    craft_init(&s);
    craft_start(&s);
    c = sim_connect_from(&s, 0, 7777, 80, 0);
    assert_int_equal(c->local_port, 7777);
    sim_connect_from(&s, 0, 7777, 80, &r);
    assert_int_equal(r, TOEC_E_INUSE);
    sim_connect_from(&s, 0, 7777, 81, &r);
    assert_int_equal(r, 0);
    sim_stop(&s);
}

/* ---- backlog and SYN cookies ---- */

static void syn_from(struct sim *s, uint16_t port, int ts)
{
    struct tseg g = seg_make(port, 80, F_SYN, 1000u + port, 0);

    g.mss = 1400;
    if (ts) {
        g.sack_ok = 1;
        g.wscale = 5;
        g.has_ts = 1;
        g.tsval = 0x90000000u;
    }
    craft_send(s, &g);
    craft_poll(s);
}

static void flood_init(struct sim *s, uint16_t backlog)
{
    uint16_t i;

    craft_init(s);
    craft_start(s);
    sim_listen(s, 0, 80, backlog, 0);
    for (i = 0; i < backlog; i++) {
        syn_from(s, (uint16_t)(2000 + i), 0);
        assert_int_equal(craft_expect(s).flags, F_SYN | F_ACK);
    }
    assert_int_equal(s->host[0].opened, backlog);
}

/* Beyond the backlog nothing is kept, and a real client still gets through. R4987-01. */
static void test_cookie(void **state)
{
    int ts;

    (void)state;
    for (ts = 0; ts < 2; ts++) {
        struct sim s;
        struct tseg g, sa;
        struct toec_usage u;
        struct toec_info info;
        struct conn *c;

        flood_init(&s, 8);
        syn_from(&s, 4000, ts);
        sa = craft_expect(&s);
        assert_int_equal(sa.flags, F_SYN | F_ACK);
        assert_int_equal(sa.ack, 5001);
        assert_int_equal(sa.has_ts, ts);
        toec_usage(s.host[0].stack, &u);
        assert_int_equal(u.flows, 8);
        assert_int_equal(u.half_open, 8);
        assert_int_equal(s.host[0].opened, 8);
        assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_cookies_sent), 1);
        craft_pass(&s, 20 * SEC);
        g = seg_make(4000, 80, F_ACK | F_PSH, 5001, sa.seq + 1);
        g.len = 10;
        g.has_ts = ts;
        g.tsval = 0x90000010u;
        g.tsecr = sa.tsval;
        craft_send(&s, &g);
        assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_cookies_taken), 1);
        c = s.host[0].conns;
        assert_true(c->established);
        assert_int_equal(conn_read(c, 100), 10);
        toec_flow_info(s.host[0].stack, c->flow, &info);
        assert_int_equal(info.mss_send, ts ? 1348 : 1360); /* 1400 in the cookie's table */
        assert_int_equal(info.ws_send, ts ? 5 : 0);
        assert_int_equal((info.opts & TOEC_I_SACK) != 0, ts);
        sim_stop(&s);
    }
}

static void test_cookie_forged(void **state)
{
    struct sim s;
    struct tseg g, sa;
    uint32_t i;

    (void)state;
    random_begin(42);
    flood_init(&s, 4);
    syn_from(&s, 4000, 0);
    sa = craft_expect(&s);
    for (i = 0; i < 2000; i++) {
        g = seg_make(4000, 80, F_ACK, 5001, sa.seq + 2 + random_below(0xfffffff0u));
        craft_send(&s, &g);
        g = craft_expect(&s);
        assert_int_equal(g.flags, F_RST);
        s.sent_read = s.sent_n; /* keep the list short */
    }
    /* right cookie, another client */
    g = seg_make(4001, 80, F_ACK, 5001, sa.seq + 1);
    craft_send(&s, &g);
    assert_int_equal(craft_expect(&s).flags, F_RST);
    g = seg_make(4000, 80, F_ACK, 5002, sa.seq + 1);
    craft_send(&s, &g);
    assert_int_equal(craft_expect(&s).flags, F_RST);
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_cookies_taken), 0);
    assert_int_equal(s.host[0].opened, 4);
    sim_stop(&s);
}

/* Cookies age, and without a flood none is believed. */
static void test_cookie_old(void **state)
{
    struct sim s;
    struct tseg g, sa;

    (void)state;
    flood_init(&s, 1);
    syn_from(&s, 4000, 0);
    sa = craft_expect(&s);
    craft_pass(&s, 200 * SEC);
    while (craft_next(&s, &g))
        ;
    g = seg_make(4000, 80, F_ACK, 5001, sa.seq + 1);
    craft_send(&s, &g);
    assert_int_equal(craft_expect(&s).flags, F_RST);
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_cookies_taken), 0);
    sim_assert_clean(&s);
    sim_stop(&s);
}

/* 600 connections to a pool of 100: refused and counted, the rest works on. */
static void test_flow_pool(void **state)
{
    struct sim s;
    uint16_t i;

    (void)state;
    craft_init(&s);
    s.host[0].cfg.max_flows = 100;
    s.host[0].tx_buf = s.host[0].rx_buf = 4096;
    craft_start(&s);
    sim_listen(&s, 0, 80, 1000, 0);
    for (i = 0; i < 600; i++) {
        struct tseg g;

        syn_from(&s, (uint16_t)(2000 + i), 0);
        if (i < 100) {
            g = craft_expect(&s);
            g = seg_make((uint16_t)(2000 + i), 80, F_ACK, 1001u + 2000 + i, g.seq + 1);
            craft_send(&s, &g);
            assert_true(s.host[0].conns->established);
        }
        craft_expect_none(&s);
    }
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_no_flow), 500);
    conn_abort(s.host[0].conns);
    assert_int_equal(craft_expect(&s).flags & F_RST, F_RST);
    syn_from(&s, 3000, 0);
    assert_int_equal(craft_expect(&s).flags, F_SYN | F_ACK);
    sim_stop(&s);
}

/* Land attack, port 0, bad checksum. RFC 9293 MUST-3, MUST-63. */
static void test_martians(void **state)
{
    struct sim s;
    struct tseg g = seg_make(0, 80, F_SYN, 1, 0);
    uint8_t shorty[12] = {0, 80, 0, 80};

    (void)state;
    craft_init(&s);
    craft_start(&s);
    sim_listen(&s, 0, 80, 0, 0);
    craft_send(&s, &g);
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_bad_source), 1);
    craft_send_raw(&s, shorty, 12);
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_bad_header), 1);
    craft_expect_none(&s);
    sim_stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options_any_order),
        cmocka_unit_test(test_mss_default),
        cmocka_unit_test(test_mss_tiny),
        cmocka_unit_test(test_mss_with_timestamps),
        cmocka_unit_test(test_wscale_clamp),
        cmocka_unit_test(test_wscale_use),
        cmocka_unit_test(test_unknown_option),
        cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_tsval_high),
        cmocka_unit_test(test_ts_offset),
        cmocka_unit_test(test_passive_open),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_listen_states),
        cmocka_unit_test(test_syn_ack_lost),
        cmocka_unit_test(test_data_completes_handshake),
        cmocka_unit_test(test_data_on_syn),
        cmocka_unit_test(test_syn_received_bad_ack),
        cmocka_unit_test(test_open_refused),
        cmocka_unit_test(test_unlisten),
        cmocka_unit_test(test_listener_pool),
        cmocka_unit_test(test_active_open),
        cmocka_unit_test(test_active_refused),
        cmocka_unit_test(test_active_bad_syn_ack),
        cmocka_unit_test(test_active_timeout),
        cmocka_unit_test(test_simultaneous_open),
        cmocka_unit_test(test_simultaneous_open_stacks),
        cmocka_unit_test(test_data_on_syn_ack),
        cmocka_unit_test(test_too_much_on_syn_ack),
        cmocka_unit_test(test_connect_errors),
        cmocka_unit_test(test_connect_no_neighbour),
        cmocka_unit_test(test_ports),
        cmocka_unit_test(test_ports_home),
        cmocka_unit_test(test_ports_in_time_wait),
        cmocka_unit_test(test_local_port),
        cmocka_unit_test(test_cookie),
        cmocka_unit_test(test_cookie_forged),
        cmocka_unit_test(test_cookie_old),
        cmocka_unit_test(test_flow_pool),
        cmocka_unit_test(test_martians),
    };

    return cmocka_run_group_tests_name("tcp_open", tests, 0, 0);
}
