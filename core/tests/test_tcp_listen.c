/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_listen.c - passive opens (RFC 9293 3.10.7.2), backlogs, SYN cookies and full pools (RFC
 * 4987).
 */
#include "tcptalk.h"

/* ---- passive open ---- */

/* RFC 9293 SHLD-5, MAY-3. */
static void test_passive_open(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
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
    /* an ACK without a connection: RST at its sequence number */
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

/* A RST whose neighbour does not answer is dropped, and not counted as sent. */
static void test_refused_unreachable(void **state)
{
    struct tseg g = seg_make(5000, 81, F_ACK, 100, 777);
    uint64_t sent, dropped;
    struct sim s;
    unsigned i;

    (void)state;
    craft_init(&s);
    craft_start(&s);
    s.peer_silent = 1;
    craft_pass(&s, 300 * SEC); /* its neighbour entry has expired */
    for (i = 0; i < 100; i++) {
        sent = sim_count(&s, 0, TOEC_C_tcp_rst_sent);
        dropped = sim_count(&s, 0, TOEC_C_tx_unresolved_drop);
        craft_send(&s, &g);
        if (sim_count(&s, 0, TOEC_C_tx_unresolved_drop) > dropped)
            break;
        craft_pass(&s, 500 * MSEC);
    }
    assert_true(i < 100);
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_rst_sent), sent);
    sim_stop(&s);
}

/* A listener answers an ACK with a RST, ignores a RST, drops anything else (RFC 9293 3.10.7.2). */
static void test_listen_states(void **state)
{
    struct sim s;
    struct tseg g;

    (void)state;
    craft_listen(&s);
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
    craft_say(&s, &g);
    craft_expect_none(&s);
    assert_int_equal(s.host[0].opened, 0);
    sim_stop(&s);
}

/* A lost SYN-ACK: a retransmitted SYN is answered again; the timer retransmits the SYN-ACK, too. */
static void test_syn_ack_lost(void **state)
{
    struct sim s;
    struct tseg syn = seg_make(5000, 80, F_SYN, 100, 0), g;
    uint32_t iss;
    int i;

    (void)state;
    craft_listen(&s);
    craft_say(&s, &syn);
    iss = craft_expect(&s).seq;
    craft_say(&s, &syn);
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

/* The third ACK is lost but data follows, which carries the ACK. */
static void test_data_completes_handshake(void **state)
{
    struct sim s;
    struct tseg g = seg_make(5000, 80, F_SYN, 100, 0);

    (void)state;
    craft_listen(&s);
    craft_say(&s, &g);
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

/* Data on a SYN is tolerated but not acknowledged, so the peer sends it again (RFC 9293 3.4). */
static void test_data_on_syn(void **state)
{
    struct sim s;
    struct tseg g = seg_make(5000, 80, F_SYN, 100, 0);

    (void)state;
    craft_listen(&s);
    g.len = 20;
    craft_say(&s, &g);
    g = craft_expect(&s);
    assert_int_equal(g.ack, 101);
    g = seg_make(5000, 80, F_ACK | F_PSH, 101, g.seq + 1);
    g.len = 20;
    craft_send(&s, &g);
    assert_int_equal(conn_read(s.host[0].conns, 100), 20);
    conn_abort(s.host[0].conns);
    sim_stop(&s);
}

/* In SYN-RECEIVED an unacceptable ACK draws a RST (RFC 9293 3.10.7.4); the flow stays. */
static void test_syn_received_bad_ack(void **state)
{
    struct sim s;
    struct tseg g = seg_make(5000, 80, F_SYN, 100, 0);
    uint32_t iss;

    (void)state;
    craft_listen(&s);
    craft_say(&s, &g);
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

/* The integrator rejects the flow: the SYN is dropped silently and counted, nothing is kept. */
static void test_open_refused(void **state)
{
    struct sim s;
    struct tseg g = seg_make(5000, 80, F_SYN, 100, 0);

    (void)state;
    craft_listen(&s);
    s.host[0].refuse_opens = 1;
    craft_say(&s, &g);
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
    craft_say(&s, &g);
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
    craft_say(s, &g);
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

/* Beyond the backlog no state is kept, and a real client still connects. R4987-01. */
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
        assert_int_equal(info.mss_send, ts ? 1348 : 1360); /* the cookie's table has 1400 */
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
        s.sent_read = s.sent_n; /* keeps the list short */
    }
    /* a valid cookie, but another client */
    g = seg_make(4001, 80, F_ACK, 5001, sa.seq + 1);
    craft_send(&s, &g);
    assert_int_equal(craft_expect(&s).flags, F_RST);
    g = seg_make(4000, 80, F_ACK, 5002, sa.seq + 1);
    craft_send(&s, &g);
    assert_int_equal(craft_expect(&s).flags, F_RST);
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_cookies_taken), 0);
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_cookies_bad), 2002);
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_syn_received), 5);
    assert_int_equal(s.host[0].opened, 4);
    sim_stop(&s);
}

/* Cookies expire, and none is accepted without a flood. */
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

/* 600 connections to a pool of 100: those beyond are refused and counted, the others work. */
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
    craft_listen(&s);
    craft_send(&s, &g);
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_bad_source), 1);
    craft_send_raw(&s, shorty, 12);
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_bad_header), 1);
    craft_expect_none(&s);
    sim_stop(&s);
}

/* Without a flood, an ACK that belongs to nothing is no bad cookie. */
static void test_stray_ack_is_no_cookie(void **state)
{
    struct tseg g = seg_make(4000, 80, F_ACK, 5001, 77);
    struct sim s;

    (void)state;
    craft_listen(&s);
    craft_send(&s, &g);
    assert_int_equal(craft_expect(&s).flags, F_RST);
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_cookies_bad), 0);
    sim_stop(&s);
}

/* A client may send what the cookie's SYN-ACK offered, 4,096 bytes, and no more. */
static void test_cookie_window(void **state)
{
    struct tseg g, said;
    struct sim s;
    uint32_t i;

    (void)state;
    flood_init(&s, 1);
    syn_from(&s, 4000, 0);
    said = craft_expect(&s);
    assert_int_equal(said.wnd, 4096);
    for (i = 0; i < 5; i++) {
        g = seg_make(4000, 80, F_ACK, 5001 + i * 1000, said.seq + 1);
        g.len = 1000;
        g.payload_at = i * 1000;
        craft_send(&s, &g);
    }
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_cookies_taken), 1);
    assert_int_equal(conn_read(s.host[0].conns, 9000), 4096);
    sim_stop(&s);
}

/* The window that a cookie's SYN-ACK offered may exceed the buffer that the flow gets later. */
static void test_cookie_and_small_buffer(void **state)
{
    struct tseg g, said;
    struct sim s;
    uint32_t id;
    unsigned i;

    (void)state;
    craft_init(&s);
    s.host[0].rx_buf = 1024;
    craft_start(&s);
    sim_listen(&s, 0, 80, 1, &id);
    for (i = 0; i < 2; i++) {
        craft_forget(&s);
        g = seg_make((uint16_t)(5000 + i), 80, F_SYN, 1000, 0);
        craft_say(&s, &g);
        said = craft_expect(&s);
    }
    for (i = 0; i < 3; i++) {
        g = seg_make(5001, 80, F_ACK, 1001 + i * 1000, said.seq + 1);
        g.len = 1000;
        g.payload_at = i * 1000;
        craft_say(&s, &g);
    }
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_cookies_taken), 1);
    assert_int_equal(s.place_violations, 0);
    sim_stop(&s);
}

/* Runs a handshake with a deferring listener up to the client's bare ACK; *ack is its number. */
static void deferred(struct sim *s, unsigned times, uint32_t *ack)
{
    struct tseg g = seg_make(5000, 80, F_SYN, 100, 0);
    uint32_t id;

    craft_init(s);
    craft_start(s);
    sim_listen(s, 0, 80, 0, &id);
    assert_int_equal(toec_listen_option(s->host[0].stack, id, TOEC_OPT_DEFER_ACCEPT, 256),
                     TOEC_E_INVAL);
    assert_int_equal(toec_listen_option(s->host[0].stack, id, TOEC_OPT_DEFER_ACCEPT, times), 0);
    craft_say(s, &g);
    g = craft_expect(s);
    *ack = g.seq + 1;
    g = seg_make(5000, 80, F_ACK, 101, *ack);
    craft_say(s, &g);
    craft_expect_none(s);
    assert_int_equal(sim_count(s, 0, TOEC_C_tcp_deferred), 1);
    assert_int_equal(sim_count(s, 0, TOEC_C_tcp_established), 0);
}

/* TCP_DEFER_ACCEPT: data and FIN open the connection, a RST ends it. */
static void test_defer(void **state)
{
    static const unsigned flags[] = {F_ACK, F_ACK | F_FIN, F_RST};
    unsigned i;

    (void)state;
    for (i = 0; i < 3; i++) {
        struct sim s;
        struct tseg g;
        uint32_t ack;

        deferred(&s, 3, &ack);
        craft_pass(&s, 5 * SEC);
        craft_expect_none(&s);
        g = seg_make(5000, 80, flags[i], 101, i == 2 ? 0 : ack);
        g.len = i == 0 ? 10 : 0;
        craft_say(&s, &g);
        assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_established), i < 2);
        if (i == 0)
            assert_int_equal(conn_read(s.host[0].conns, 100), 10);
        sim_stop(&s);
    }
}

/* ... when the deferral is over the SYN-ACK is retransmitted, and a bare ACK suffices. */
static void test_defer_over(void **state)
{
    struct sim s;
    struct tseg g;
    uint32_t ack;

    (void)state;
    deferred(&s, 2, &ack);
    craft_pass(&s, 2 * SEC);
    craft_expect_none(&s);
    craft_pass(&s, 2 * SEC);
    g = craft_expect(&s);
    assert_int_equal(g.flags, F_SYN | F_ACK);
    g = seg_make(5000, 80, F_ACK, 101, ack);
    craft_say(&s, &g);
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_established), 1);
    sim_stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cookie_and_small_buffer),
        cmocka_unit_test(test_passive_open),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_refused_unreachable),
        cmocka_unit_test(test_listen_states),
        cmocka_unit_test(test_syn_ack_lost),
        cmocka_unit_test(test_data_completes_handshake),
        cmocka_unit_test(test_data_on_syn),
        cmocka_unit_test(test_syn_received_bad_ack),
        cmocka_unit_test(test_open_refused),
        cmocka_unit_test(test_unlisten),
        cmocka_unit_test(test_listener_pool),
        cmocka_unit_test(test_cookie),
        cmocka_unit_test(test_cookie_forged),
        cmocka_unit_test(test_cookie_old),
        cmocka_unit_test(test_stray_ack_is_no_cookie),
        cmocka_unit_test(test_cookie_window),
        cmocka_unit_test(test_flow_pool),
        cmocka_unit_test(test_martians),
        cmocka_unit_test(test_defer),
        cmocka_unit_test(test_defer_over),
    };

    return cmocka_run_group_tests_name("tcp_listen", tests, 0, 0);
}
