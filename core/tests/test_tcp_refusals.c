/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_refusals.c - rejected calls, each with its own error, and options set before the
 * connection that uses them.
 */
#include "tcptalk.h"

static struct toec_addr v4(uint8_t last)
{
    struct toec_addr a = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 0}};

    a.b[15] = last;
    return a;
}

/* RFC 9293 MUST-43: the local address may be given; it must be one of ours and of the peer's
 * family. */
static void test_connect_from(void **state)
{
    static const struct {
        uint32_t tx, rx;
    } bad[] = {{512, 65536}, {5000, 65536}, {33554432, 65536},
               {65536, 512}, {65536, 5000}, {65536, 33554432}};
    struct toec_buffers b = {0, 65536, 65536};
    struct toec_addr peer = v4(2), own = v4(1), other = v4(9), six = {{0xfd}}, zero = {{0}};
    struct toec_tcb *f;
    struct toec_stack *s;
    struct talk t;
    unsigned i;

    (void)state;
    talk_init(&t);
    craft_start(&t.s);
    s = t.s.host[0].stack;
    assert_int_equal(toec_connect_from(s, &other, &peer, 80, 0, &b, t.s.now, &f), TOEC_E_NOTAVAIL);
    assert_int_equal(toec_connect_from(s, &six, &peer, 80, 0, &b, t.s.now, &f), TOEC_E_INVAL);
    assert_int_equal(toec_connect_from(s, 0, 0, 80, 0, &b, t.s.now, &f), TOEC_E_INVAL);
    assert_int_equal(toec_connect_from(s, 0, &peer, 80, 0, &b, t.s.now, 0), TOEC_E_INVAL);
    assert_int_equal(toec_connect_from(s, 0, &peer, 80, 0, 0, t.s.now, &f), TOEC_E_INVAL);
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        b.tx_size = bad[i].tx;
        b.rx_size = bad[i].rx;
        assert_int_equal(toec_connect(s, &peer, 80, 0, &b, t.s.now, &f), TOEC_E_INVAL);
    }
    b.tx_size = b.rx_size = 65536;
    b.owner = sim_connect(&t.s, 0, 80); /* the owner that is notified when the next two end */
    assert_int_equal(toec_connect_from(s, &own, &peer, 81, 4000, &b, t.s.now, &f), 0);
    assert_int_equal(toec_connect_from(s, &own, &peer, 81, 4000, &b, t.s.now, &f), TOEC_E_INUSE);
    assert_int_equal(toec_connect_from(s, &zero, &peer, 82, 4000, &b, t.s.now, &f), 0);
    sim_stop(&t.s);
}

/* RFC 9293 MUST-41, MUST-42: which addresses may be listened on, and together with which others. */
static void test_listen(void **state)
{
    struct toec_addr own = v4(1), other = v4(9), any = {{0}}, any4 = v4(0);
    uint32_t id, again, v6;
    struct toec_stack *s;
    struct talk t;

    (void)state;
    memset(any4.b + 12, 0, 4);
    talk_init(&t);
    craft_start(&t.s);
    s = t.s.host[0].stack;
    assert_int_equal(toec_listen(s, &own, 0, 0, 0, &id), TOEC_E_INVAL);
    assert_int_equal(toec_listen(s, 0, 80, 0, 0, &id), TOEC_E_INVAL);
    assert_int_equal(toec_listen(s, &own, 80, 0, 0, 0), TOEC_E_INVAL);
    assert_int_equal(toec_listen(s, &other, 80, 0, 0, &id), TOEC_E_NOTAVAIL);
    assert_int_equal(toec_listen(s, &any, 80, 0, TOEC_LISTEN_V6ONLY, &v6), 0);
    assert_int_equal(toec_listen(s, &any4, 80, 0, 0, &id), 0); /* both at once */
    assert_int_equal(toec_listen(s, &any4, 80, 0, 0, &again), TOEC_E_INUSE);
    assert_int_equal(toec_listen(s, &any, 80, 0, 0, &again), TOEC_E_INUSE);
    assert_int_equal(toec_listen_fastopen(s, 99, 5), TOEC_E_INVAL);
    assert_int_equal(toec_listen_fastopen_key(s, 99, 0, 0), TOEC_E_INVAL);
    assert_int_equal(toec_listen_fastopen_key(s, id, 0, 1), TOEC_E_INVAL);
    assert_int_equal(toec_listen_option(s, 99, TOEC_OPT_TOS, 0), TOEC_E_INVAL);
    assert_int_equal(toec_listen_fastopen(s, id, 5), 0);
    assert_int_equal(toec_listen_fastopen(s, id, 6), 0);
    assert_int_equal(toec_unlisten(s, id), 0);
    assert_int_equal(toec_unlisten(s, id), TOEC_E_INVAL);
    assert_int_equal(toec_listen_fastopen(s, id, 5), TOEC_E_INVAL);
    assert_int_equal(toec_listen_fastopen_key(s, id, 0, 0), TOEC_E_INVAL);
    assert_int_equal(toec_listen_option(s, id, TOEC_OPT_TOS, 0), TOEC_E_INVAL);
    assert_int_equal(toec_unlisten(s, v6), 0);
    sim_stop(&t.s);
}

static void test_option_values(void **state)
{
    struct toec_info i;
    struct talk t;

    (void)state;
    talk_open(&t);
    assert_int_equal(talk_option(&t, TOEC_OPT_NODELAY, 2), TOEC_E_INVAL);
    assert_int_equal(talk_option(&t, TOEC_OPT_SYNCNT, 128), TOEC_E_INVAL);
    assert_int_equal(talk_option(&t, TOEC_OPT_LINGER2, 65536), TOEC_E_INVAL);
    assert_int_equal(talk_option(&t, TOEC_OPT_ADV_UTO, 1966021), TOEC_E_INVAL);
    assert_int_equal(talk_option(&t, (enum toec_option)99, 0), TOEC_E_INVAL);
    talk_set(&t, TOEC_OPT_USER_TIMEOUT, 5000);
    talk_set(&t, TOEC_OPT_USER_TIMEOUT, 0);
    talk_set(&t, TOEC_OPT_MAX_PACING, 1000000);
    toec_flow_info(t.s.host[0].stack, t.c->flow, &i);
    assert_in_range(i.max_pacing_rate, 999990, 1000000);
    talk_set(&t, TOEC_OPT_MAX_PACING, 0xffffffffu); /* no limit, as on Linux */
    toec_flow_info(t.s.host[0].stack, t.c->flow, &i);
    assert_int_equal(i.max_pacing_rate, 0);
    /* QUICKACK sends a pending ACK immediately. */
    talk_say(&t, F_ACK | F_PSH, 0, 0, 100);
    talk_skip(&t);
    talk_say(&t, F_ACK | F_PSH, 100, 0, 100);
    talk_skip(&t);
    talk_say(&t, F_ACK | F_PSH, 200, 0, 10);
    talk_skip(&t);
    craft_pass(&t.s, 300 * MSEC);
    talk_skip(&t);
    talk_say(&t, F_ACK | F_PSH, 210, 0, 10);
    talk_skip(&t);
    talk_set(&t, TOEC_OPT_QUICKACK, 1);
    conn_read(t.c, 220);
    conn_close(t.c);
    assert_int_equal(toec_close(t.s.host[0].stack, t.c->flow, t.s.now), TOEC_E_INVAL);
    talk_end(&t);
}

/* RFC 5482 3.1: a timeout of zero is reserved; when advertising is switched off the option is not
 * sent. */
static void test_uto(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_init(&t);
    craft_start(&t.s);
    sim_listen(&t.s, 0, OWN_PORT, 0, 0);
    g = talk_seg(&t, F_SYN, (uint32_t)-1, 0, 0);
    g.mss = 1460;
    g.uto = 0x8000; /* zero minutes */
    craft_say(&t.s, &g);
    g = craft_expect(&t.s);
    t.iss = g.seq;
    talk_say(&t, F_ACK, 0, 0, 0);
    t.c = t.s.host[0].conns;
    talk_set(&t, TOEC_OPT_ADV_UTO, 90);
    talk_set(&t, TOEC_OPT_ADV_UTO, 0);
    craft_poll(&t.s);
    while (craft_next(&t.s, &g))
        assert_int_equal(g.uto, 0);
    talk_send(&t, 10);
    g = talk_hear(&t, F_ACK, 0, 0, 10);
    assert_int_equal(g.uto, 0);
    talk_end(&t);
}

/* Pacing and urgent data requested before the handshake completes. */
static void test_before_the_syn(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_init(&t);
    talk_connect(&t);
    talk_set(&t, TOEC_OPT_MAX_PACING, 100000000);
    talk_set(&t, TOEC_OPT_CORK, 1);
    talk_set(&t, TOEC_OPT_CORK, 0);
    talk_set(&t, TOEC_OPT_QUICKACK, 1);
    conn_write(t.c, 10, 1);
    assert_int_equal(toec_urgent(t.s.host[0].stack, t.c->flow, t.s.now), 0);
    craft_poll(&t.s);
    g = craft_expect(&t.s);
    assert_int_equal(g.flags, F_SYN);
    t.iss = g.seq;
    g = talk_seg(&t, F_SYN | F_ACK, (uint32_t)-1, 0, 0);
    g.mss = 1460;
    craft_say(&t.s, &g);
    assert_true(t.c->established);
    g = craft_expect(&t.s);
    assert_int_equal(g.flags & F_URG, F_URG);
    assert_int_equal(g.urg, 10);
    talk_end(&t);
}

/* RFC 4987 3.6: what a cookie can encode of the SYN's options, for each set of them; the listener's
 * MSS. */
static void test_cookies(void **state)
{
    unsigned with;

    (void)state;
    for (with = 0; with < 8; with++) {
        struct toec_info i;
        struct talk t;
        struct tseg g;
        uint32_t id;

        talk_init(&t);
        craft_start(&t.s);
        sim_listen(&t.s, 0, OWN_PORT, 1, &id);
        if (with & 4)
            assert_int_equal(
                toec_listen_option(t.s.host[0].stack, id, TOEC_OPT_MAXSEG, with & 1 ? 600 : 9000),
                0);
        g = seg_make(999, OWN_PORT, F_SYN, 1, 0);
        craft_say(&t.s, &g);
        craft_expect(&t.s);
        g = talk_seg(&t, F_SYN, (uint32_t)-1, 0, 0);
        g.mss = 1460;
        g.has_ts = 1;
        g.tsval = 7;
        g.sack_ok = (with & 1) != 0;
        g.wscale = with & 2 ? 14 : -1;
        craft_say(&t.s, &g);
        g = craft_expect(&t.s);
        assert_int_equal(talk_count(&t, TOEC_C_tcp_cookies_sent), 1);
        assert_int_equal(g.sack_ok, (with & 1) != 0);
        assert_int_equal(g.wscale >= 0, (with & 2) != 0);
        assert_int_equal(g.mss, with == 5 || with == 7 ? 600 : 1460);
        t.ts = 1;
        t.iss = g.seq;
        t.tsecr = g.tsval;
        talk_say(&t, F_ACK, 0, 0, 0);
        assert_int_equal(talk_count(&t, TOEC_C_tcp_cookies_taken), 1);
        t.c = t.s.host[0].conns;
        toec_flow_info(t.s.host[0].stack, t.c->flow, &i);
        assert_int_equal((i.opts & TOEC_I_SACK) != 0, (with & 1) != 0);
        assert_int_equal(i.ws_send, with & 2 ? 14 : 0);
        talk_end(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_connect_from),   cmocka_unit_test(test_listen),
        cmocka_unit_test(test_option_values),  cmocka_unit_test(test_uto),
        cmocka_unit_test(test_before_the_syn), cmocka_unit_test(test_cookies),
    };

    return cmocka_run_group_tests_name("tcp_refusals", tests, 0, 0);
}
