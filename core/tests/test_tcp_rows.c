/* SPDX-License-Identifier: Apache-2.0 */
/* test_tcp_rows.c - requirements of RFC 9293 that no other dialogue covers, one by one. */
#include "tcptalk.h"

/* RFC 9293 MUST-11: a RST in SYN-RECEIVED returns a passive open to LISTEN silently, and fails an
 * active open. */
static void test_rst_in_syn_received(void **state)
{
    struct sim s;
    struct tseg g, r;
    struct conn *c;

    (void)state;
    craft_listen(&s);
    g = seg_make(5000, 80, F_SYN, 100, 0);
    craft_say(&s, &g);
    craft_expect(&s);
    g = seg_make(5000, 80, F_RST, 101, 0);
    craft_send(&s, &g);
    assert_true(s.host[0].conns->gone);
    assert_false(s.host[0].conns->established);
    g = seg_make(5000, 80, F_SYN, 500, 0); /* still listening */
    craft_say(&s, &g);
    g = craft_expect(&s);
    assert_int_equal(g.flags, F_SYN | F_ACK);
    assert_int_equal(g.ack, 501);
    g = seg_make(5000, 80, F_RST, 501, 0);
    craft_send(&s, &g);
    c = sim_connect(&s, 0, 80);
    craft_poll(&s);
    g = craft_expect(&s);
    r = seg_make(80, c->local_port, F_SYN, 300, 0);
    craft_say(&s, &r);
    craft_expect(&s);
    r = seg_make(80, c->local_port, F_RST, 301, 0);
    craft_send(&s, &r);
    assert_true(c->gone);
    assert_int_equal(c->gone_reason, TOEC_R_REFUSED);
    sim_assert_clean(&s);
    sim_stop(&s);
}

/* RFC 9293 MUST-46: a connection attempt to a multicast or broadcast address fails. */
static void test_connect_to_many(void **state)
{
    static const uint8_t to[][4] = {{224, 0, 0, 1},  {239, 1, 2, 3}, {255, 255, 255, 255},
                                    {10, 0, 0, 255}, {10, 0, 0, 0},  {0, 0, 0, 0}};
    struct sim s;
    struct toec_buffers b = {0, 65536, 65536};
    struct toec_addr a;
    struct toec_tcb *f;
    unsigned i;

    (void)state;
    craft_init(&s);
    memcpy(s.host[0].cfg.gateway, ((uint8_t[]){10, 0, 0, 2}), 4); /* nor through a gateway */
    craft_start(&s);
    for (i = 0; i < sizeof(to) / sizeof(to[0]); i++) {
        memset(&a, 0, sizeof(a));
        a.b[10] = a.b[11] = 0xff;
        memcpy(a.b + 12, to[i], 4);
        assert_true(toec_connect(s.host[0].stack, &a, 80, 0, &b, s.now, &f) < 0);
    }
    craft_poll(&s);
    craft_expect_none(&s);
    sim_assert_clean(&s);
    sim_stop(&s);
}

/* RFC 9293 MUST-41, MUST-42: a listener opens and closes without affecting connections. Several
 * listeners share a port with different local addresses; an exact match takes precedence. */
static void test_listeners_of_one_port(void **state)
{
    struct talk t;
    struct toec_addr own;
    uint32_t any, exact, again;
    struct tseg g;

    (void)state;
    talk_open(&t); /* the first listener: on any address */
    memset(&own, 0, sizeof(own));
    own.b[10] = own.b[11] = 0xff;
    own.b[12] = 10;
    own.b[15] = 1;
    assert_int_equal(toec_listen(t.s.host[0].stack, &own, OWN_PORT, &t.s.host[0], 0, &exact), 0);
    assert_int_equal(toec_listen(t.s.host[0].stack, &own, OWN_PORT, &t.s.host[0], 0, &again),
                     TOEC_E_INUSE);
    assert_int_equal(toec_unlisten(t.s.host[0].stack, exact), 0);
    assert_int_equal(toec_unlisten(t.s.host[0].stack, 0), 0); /* the one on any address */
    sim_listen(&t.s, 0, OWN_PORT, 0, &any);
    talk_set(&t, TOEC_OPT_QUICKACK, 0); /* ACKs wait for answers */
    talk_say(&t, F_ACK | F_PSH, 0, 0, 100);
    assert_int_equal(conn_read(t.c, 100), 100);
    g = seg_make(5001, OWN_PORT, F_SYN, 1, 0);
    craft_say(&t.s, &g);
    g = craft_expect(&t.s);
    assert_int_equal(g.flags, F_SYN | F_ACK);
    talk_end(&t);
}

/* RFC 9293 SHLD-2: a RST may carry data that gives the reason. */
static void test_rst_with_text(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    talk_say(&t, F_RST | F_ACK, 0, 0, 40);
    assert_true(t.c->gone);
    assert_int_equal(t.c->gone_reason, TOEC_R_RESET); /* MUST-12: not a normal end */
    assert_int_equal(t.c->received, 0);
    t.c = 0;
    talk_end(&t);
}

/* RFC 9293 MUST-24, MUST-25, MUST-26, MUST-28, MUST-29, SHLD-12: keep-alive is off by default. When
 * enabled it waits two hours from the last segment, its probes carry no data, and one lost probe
 * does not end the connection. */
static void test_keepalive_defaults(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    craft_pass(&t.s, 3 * 3600 * SEC);
    talk_silence(&t);
    talk_set(&t, TOEC_OPT_KEEPALIVE, 1);
    craft_pass(&t.s, 3600 * SEC);
    talk_say(&t, F_ACK | F_PSH, 0, 0, 10); /* data restarts the time */
    craft_pass(&t.s, SEC);
    talk_hear(&t, F_ACK, 0, 10, 0);
    craft_pass(&t.s, 7198 * SEC);
    talk_silence(&t);
    craft_pass(&t.s, 2 * SEC);
    talk_hear(&t, F_ACK, (uint32_t)-1, 10, 0); /* lost */
    craft_pass(&t.s, 76 * SEC);
    talk_hear(&t, F_ACK, (uint32_t)-1, 10, 0);
    talk_say(&t, F_ACK, 10, 0, 0);
    craft_pass(&t.s, 7000 * SEC);
    talk_silence(&t);
    assert_false(t.c->gone);
    talk_end(&t);
}

/* RFC 9293 MUST-5, MUST-65, MUST-68, MUST-69; R7323-07, R2018-01: options are accepted on any
 * segment. We send MSS and SACK-permitted only on SYNs, timestamps on all segments, and every byte
 * of the option area belongs to an option or is NOP. */
static void test_options_of_every_segment(void **state)
{
    static const uint8_t odd[] = {1, 253, 3, 9, 1, 30, 2, 1};
    struct talk t;
    struct tseg g;
    uint8_t raw[40];
    unsigned i;

    (void)state;
    talk_init(&t);
    t.sack = 1;
    talk_passive(&t);
    /* unknown options, unaligned, on data and on the FIN */
    for (i = 0; i < 2; i++) {
        memset(raw, 0, sizeof(raw));
        raw[0] = PEER_PORT >> 8;
        raw[1] = PEER_PORT & 255;
        raw[3] = OWN_PORT;
        raw[4] = (uint8_t)((t.isn + 1 + i) >> 24);
        raw[5] = (uint8_t)((t.isn + 1 + i) >> 16);
        raw[6] = (uint8_t)((t.isn + 1 + i) >> 8);
        raw[7] = (uint8_t)(t.isn + 1 + i);
        raw[8] = (uint8_t)((t.iss + 1) >> 24);
        raw[9] = (uint8_t)((t.iss + 1) >> 16);
        raw[10] = (uint8_t)((t.iss + 1) >> 8);
        raw[11] = (uint8_t)(t.iss + 1);
        raw[12] = 7 << 4;
        raw[13] = F_ACK | (i ? F_FIN : F_PSH);
        raw[14] = 0xff;
        memcpy(raw + 20, odd, sizeof(odd));
        craft_send_raw(&t.s, raw, i ? 28 : 29);
        craft_poll(&t.s);
    }
    assert_int_equal(t.c->received, 1);
    assert_true(t.c->peer_closed);
    assert_int_equal(toec_recv(t.s.host[0].stack, t.c->flow, 1, t.s.now), 0);
    conn_write(t.c, 4000, 1);
    conn_close(t.c);
    craft_pass(&t.s, 10 * SEC);
    for (i = 0; craft_next(&t.s, &g); i++) {
        assert_int_equal(g.mss, -1);
        assert_false(g.sack_ok);
    }
    assert_true(i >= 3);
    t.c = 0;
    craft_pass(&t.s, 3000 * SEC);
    talk_end(&t);
}

/* RFC 9293 MUST-58, MUST-59: all segments of a batch are processed before one ACK is sent. */
static void test_acks_of_a_batch(void **state)
{
    struct talk t;
    unsigned i;

    (void)state;
    talk_open(&t);
    for (i = 0; i < 20; i++)
        talk_put(&t, F_ACK, 1000 * i, 0, 1000);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK, 0, 20000, 0);
    talk_silence(&t);
    talk_end(&t);
}

/* RFC 9293 SHLD-31, MAY-13: five segments in each of their 120 orders give the same stream; each
 * one beyond a gap is acknowledged at once. */
static void test_every_order(void **state)
{
    unsigned order;

    (void)state;
    for (order = 0; order < 120; order++) {
        unsigned left[5] = {0, 1, 2, 3, 4}, n, code = order, next = 0;
        unsigned have = 0;
        struct talk t;

        talk_open(&t);
        for (n = 5; n > 0; n--) {
            unsigned k = code % n, pick = left[k];

            code /= n;
            left[k] = left[n - 1];
            talk_put(&t, F_ACK, 100 * pick, 0, 100);
            have |= 1u << pick;
            if (pick != next)
                talk_hear(&t, F_ACK, 0, 100 * next, 0);
            while (have & 1u << next)
                next++;
        }
        assert_int_equal(conn_read(t.c, 1000), 500); /* and checks them */
        talk_end(&t);
    }
}

/* RFC 9293 SHLD-15, SHLD-16, SHLD-17: the window shrinks below the data in flight: no new data is
 * sent beyond it, data within it is retransmitted, and data beyond it does not end the
 * connection. */
static void test_shrunk_window(void **state)
{
    struct talk t;
    struct tseg g;
    unsigned i, at = 0;

    (void)state;
    talk_open(&t);
    talk_send(&t, 14600);
    assert_int_equal(talk_skip(&t), 10);
    t.wnd = 0;
    conn_write(t.c, 10000, 1);
    for (i = 0; i < 1800; i++) { /* half an hour: far beyond R2 */
        talk_put(&t, F_ACK, 0, 0, 0);
        craft_pass(&t.s, SEC);
        assert_false(t.c->gone);
    }
    talk_skip(&t);
    t.wnd = 2920;
    for (i = 0; i < 300 && at < 24600; i++) {
        talk_put(&t, F_ACK, 0, at, 0);
        craft_pass(&t.s, SEC);
        while (craft_next(&t.s, &g)) {
            uint32_t seq = g.seq - t.iss - 1;

            assert_true(seq + g.len <= at + 2920);
            if (seq == at)
                at += g.len;
        }
    }
    assert_int_equal(at, 24600);
    talk_end(&t);
}

/* RFC 9293 MUST-1, REC-1: the window field is an unsigned 16-bit number, stored with its scale in
 * 32 bits. */
static void test_window_field(void **state)
{
    struct talk t;
    struct toec_info i;

    (void)state;
    talk_init(&t);
    t.wscale = 14;
    talk_passive(&t);
    t.wnd = 65535;
    talk_say(&t, F_ACK, 0, 0, 0);
    toec_flow_info(t.s.host[0].stack, t.c->flow, &i);
    assert_int_equal(i.snd_wnd, 65535u << 14);
    talk_end(&t);
    talk_init(&t);
    t.wnd = 40000; /* negative if it were signed */
    talk_passive(&t);
    talk_send(&t, 14600);
    assert_int_equal(talk_skip(&t), 10);
    talk_end(&t);
}

/* RFC 9293 MUST-67, SHLD-6; R6691-01: the MSS is the MTU less the fixed headers. */
static void test_mss_of_mtu(void **state)
{
    static const unsigned mtu[] = {576, 1000, 1280, 1500, 9000, 9216};
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(mtu) / sizeof(mtu[0]); i++) {
        struct sim s;

        craft_init(&s);
        s.host[0].cfg.mtu = mtu[i];
        craft_start(&s);
        sim_connect(&s, 0, 80);
        craft_poll(&s);
        assert_int_equal(craft_expect(&s).mss, mtu[i] - 40);
        sim_stop(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rst_in_syn_received),
        cmocka_unit_test(test_connect_to_many),
        cmocka_unit_test(test_listeners_of_one_port),
        cmocka_unit_test(test_rst_with_text),
        cmocka_unit_test(test_keepalive_defaults),
        cmocka_unit_test(test_options_of_every_segment),
        cmocka_unit_test(test_acks_of_a_batch),
        cmocka_unit_test(test_every_order),
        cmocka_unit_test(test_shrunk_window),
        cmocka_unit_test(test_window_field),
        cmocka_unit_test(test_mss_of_mtu),
    };

    return cmocka_run_group_tests_name("tcp_rows", tests, 0, 0);
}
