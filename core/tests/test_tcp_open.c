/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_open.c - active and simultaneous opens (RFC 9293 3.5, 3.10.7.3), and their ephemeral
 * ports (RFC 6056), in dialogues with a peer.
 */
#include "tcptalk.h"

/* ---- active open ---- */

static void test_active_open(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    t.ts = t.sack = 1;
    t.wscale = 7;
    talk_active(&t);
    talk_send(&t, 5);
    talk_hear(&t, F_ACK, 0, 0, 5);
    talk_end(&t);
}

/* Starts one stack that connects to the peer's port 80; *syn is what it sent. */
static struct conn *begin(struct sim *s, struct tseg *syn)
{
    struct conn *c;

    craft_init(s);
    craft_start(s);
    c = sim_connect(s, 0, 80);
    craft_poll(s);
    *syn = craft_expect(s);
    return c;
}

/* A RST to our SYN: refused. A RST that does not acknowledge it is ignored (RFC 9293 3.10.7.3). */
static void test_active_refused(void **state)
{
    struct sim s;
    struct conn *c;
    struct tseg g, r;

    (void)state;
    c = begin(&s, &g);
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

/* An ACK from the peer's old connection triggers one early retransmission of the SYN: a peer in
 * TIME-WAIT accepts a SYN with a newer timestamp, and ignores our RST. */
static void test_syn_again_soon(void **state)
{
    struct sim s;
    struct conn *c;
    struct tseg g, r;
    unsigned i;

    (void)state;
    c = begin(&s, &g);
    for (i = 0; i < 2; i++) {
        r = seg_make(80, c->local_port, F_ACK, 50, g.seq + 5000);
        craft_send(&s, &r);
        r = craft_expect(&s);
        assert_int_equal(r.flags, F_RST);
        craft_pass(&s, 10 * MSEC);
        craft_poll(&s);
        if (i == 0) {
            r = craft_expect(&s);
            assert_int_equal(r.flags, F_SYN);
            assert_int_equal(r.seq, g.seq);
        }
        craft_expect_none(&s);
    }
    craft_pass(&s, 900 * MSEC);
    craft_expect_none(&s);
    craft_pass(&s, 1500 * MSEC);
    craft_poll(&s);
    r = craft_expect(&s);
    assert_int_equal(r.flags, F_SYN);
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
    c = begin(&s, &g);
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

/* SYNs are retransmitted with backoff, for at least three minutes (RFC 9293 3.8.3, MUST-23). RFC
 * 9293 MUST-22. */
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

        c = begin(&s, &g);
        r = seg_make(80, c->local_port, F_SYN, 300, 0);
        craft_say(&s, &r);
        r = craft_expect(&s);
        assert_int_equal(r.flags, F_SYN | F_ACK);
        assert_int_equal(r.seq, g.seq);
        assert_int_equal(r.ack, 301);
        if (by_ack)
            r = seg_make(80, c->local_port, F_ACK, 301, g.seq + 1);
        else
            r = seg_make(80, c->local_port, F_SYN | F_ACK, 300, g.seq + 1);
        craft_say(&s, &r);
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

/* Two complete stacks that connect to each other at once. RFC 9293 MUST-10. */
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

/* Data and FIN on a SYN-ACK are accepted like any other. */
static void test_data_on_syn_ack(void **state)
{
    struct sim s;
    struct conn *c;
    struct tseg g, r;

    (void)state;
    c = begin(&s, &g);
    r = seg_make(80, c->local_port, F_SYN | F_ACK | F_FIN, 300, g.seq + 1);
    r.len = 30;
    craft_say(&s, &r);
    r = craft_expect(&s);
    assert_int_equal(r.ack, 300 + 1 + 30 + 1);
    assert_int_equal(conn_read(c, 100), 30);
    assert_true(c->peer_closed);
    conn_abort(c);
    sim_stop(&s);
}

/* ... as far as the window of our SYN reaches, which is the end of the buffer. */
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

/* Connecting to ourselves, off link, or with invalid buffers is refused with a reason. */
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
    b.tx_size = 512;
    assert_int_equal(toec_connect(s.host[0].stack, &a, 80, 0, &b, s.now, &f), TOEC_E_INVAL);
    sim_stop(&s);
}

/* A neighbour that does not answer ends the attempt with EHOSTUNREACH, long before the SYN's R2. */
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

/* The integrator's range and reserved ports, and a range of one connection. */
static void test_port_settings(void **state)
{
    static uint8_t reserved[65536 / 8];
    unsigned used[10] = {0}, i;
    struct sim s;
    int r;

    (void)state;
    craft_init(&s);
    s.host[0].cfg.port_first = 2000;
    s.host[0].cfg.port_last = 1999;
    assert_int_equal(toec_size(&s.host[0].cfg), 0);
    s.host[0].cfg.port_last = 2009;
    reserved[2003 / 8] |= 1u << 2003 % 8;
    s.host[0].cfg.ports_reserved = reserved;
    craft_start(&s);
    for (i = 0; i < 9; i++)
        used[sim_connect(&s, 0, 80)->local_port - 2000]++;
    for (i = 0; i < 10; i++)
        assert_int_equal(used[i], i != 3);
    sim_connect_from(&s, 0, 0, 80, &r);
    assert_int_equal(r, TOEC_E_NOTAVAIL);
    sim_connect_from(&s, 0, 2003, 80, &r);
    assert_int_equal(r, 0);

    toec_set_ports(s.host[0].stack, 3000, 3999, 0);
    assert_in_range(sim_connect(&s, 0, 80)->local_port, 3000, 3999);
    for (i = 0; i < 4; i++) /* as IP_LOCAL_PORT_RANGE */
        assert_in_range(sim_connect_from(&s, 0, 3100 | 3103u << 16, 81, &r)->local_port, 3100,
                        3103);
    sim_connect_from(&s, 0, 3100 | 3103u << 16, 81, &r);
    assert_int_equal(r, TOEC_E_NOTAVAIL);
    assert_in_range(sim_connect_from(&s, 0, 3998 | 65535u << 16, 81, &r)->local_port, 3998, 3999);
    assert_in_range(sim_connect_from(&s, 0, 1 | 3001u << 16, 81, &r)->local_port, 3000, 3001);
    assert_in_range(sim_connect_from(&s, 0, 1 | 2u << 16, 81, &r)->local_port, 3000, 3999);
    sim_connect_from(&s, 0, 3103 | 3100u << 16, 81, &r);
    assert_int_equal(r, TOEC_E_INVAL);
    sim_stop(&s);
}

/* Each of several stacks behind one address chooses ports whose replies are delivered to it. */
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
            /* both directions of a flow have one home stack */
            assert_int_equal(toec_rss_hash(&peer, &own, 80, c->local_port) % 3, home);
        }
        for (i = 0; i < 50; i++) { /* refused unless its replies arrive here */
            toec_u16 port = (toec_u16)(2000 + i);
            int r;

            sim_connect_from(&s, 0, port, 80, &r);
            assert_int_equal(r, toec_rss_hash(&own, &peer, port, 80) % 3 == home ? 0
                                                                                 : TOEC_E_NOTAVAIL);
        }
        sim_stop(&s);
    }
}

/* All ports are in TIME-WAIT: refused, until timestamps make it safe to reuse the oldest. */
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

/* A given local port can be used once. RFC 9293 MUST-43. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_active_open),
        cmocka_unit_test(test_active_refused),
        cmocka_unit_test(test_active_bad_syn_ack),
        cmocka_unit_test(test_syn_again_soon),
        cmocka_unit_test(test_active_timeout),
        cmocka_unit_test(test_simultaneous_open),
        cmocka_unit_test(test_simultaneous_open_stacks),
        cmocka_unit_test(test_data_on_syn_ack),
        cmocka_unit_test(test_too_much_on_syn_ack),
        cmocka_unit_test(test_connect_errors),
        cmocka_unit_test(test_connect_no_neighbour),
        cmocka_unit_test(test_ports),
        cmocka_unit_test(test_port_settings),
        cmocka_unit_test(test_ports_home),
        cmocka_unit_test(test_ports_in_time_wait),
        cmocka_unit_test(test_local_port),
    };

    return cmocka_run_group_tests_name("tcp_open", tests, 0, 0);
}
