/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_rare.c - urgent data (RFC 9293 3.8.5) and user timeouts (RFC 9293 3.8.3, RFC 5482), in
 * dialogues with a peer.
 */
#include "tcptalk.h"

/* ---- urgent data ---- */

static void urgent(struct talk *t)
{
    assert_int_equal(toec_urgent(t->s.host[0].stack, t->c->flow, t->s.now), 0);
}

/* Sends a segment with URG and this pointer. */
static void say_urgent(struct talk *t, unsigned flags, uint32_t seq, uint32_t len, unsigned pointer)
{
    struct tseg g = talk_seg(t, F_ACK | F_URG | flags, seq, 0, len);

    g.urg = (uint16_t)pointer;
    craft_say(&t->s, &g);
}

/* RFC 9293 MUST-62: the pointer is just behind the last urgent byte, on every segment before it.
 * MUST-31: urgent data may have any length. */
static void test_urgent_sent(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_open(&t);
    conn_write(t.c, 1, 1);
    urgent(&t);
    craft_poll(&t.s);
    g = talk_hear(&t, F_ACK | F_URG, 0, 0, 1);
    assert_int_equal(g.urg, 1);
    conn_write(t.c, 3500, 1); /* Nagle does not hold urgent data back */
    urgent(&t);
    talk_send(&t, 100);
    g = talk_hear(&t, F_ACK | F_URG, 1, 0, 1460);
    assert_int_equal(g.urg, 3500);
    g = talk_hear(&t, F_ACK | F_URG, 1461, 0, 1460);
    assert_int_equal(g.urg, 3500 - 1460);
    g = talk_hear(&t, F_ACK | F_URG, 2921, 0, 680);
    assert_int_equal(g.urg, 3500 - 2920);
    talk_say(&t, F_ACK, 0, 3601, 0);
    talk_send(&t, 100); /* SHLD-13: data is not urgent by default */
    g = talk_hear(&t, F_ACK, 3601, 0, 100);
    assert_int_equal(g.urg, 0);
    talk_end(&t);
}

/* A closed window does not delay the announcement; the data itself waits for the window. */
static void test_urgent_into_closed_window(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_open(&t);
    t.wnd = 0;
    talk_say(&t, F_ACK, 0, 0, 0);
    conn_write(t.c, 10, 1);
    urgent(&t);
    craft_poll(&t.s);
    g = talk_hear(&t, F_ACK | F_URG, 0, 0, 0);
    assert_int_equal(g.urg, 10);
    t.wnd = 1000;
    talk_say(&t, F_ACK, 0, 0, 0);
    g = talk_hear(&t, F_ACK | F_URG, 0, 0, 10);
    assert_int_equal(g.urg, 10);
    talk_end(&t);
}

/* An urgent offset beyond the 16-bit field, and segmentation offload: each segment has its own
 * pointer. */
static void test_urgent_far_and_segmented(void **state)
{
    struct talk t;
    struct tseg g;
    uint32_t at = 0;

    (void)state;
    talk_init(&t);
    t.s.host[0].tx_buf = 1 << 18;
    t.s.host[0].cfg.max_gso = 16384;
    t.wscale = 7;
    talk_passive(&t);
    conn_write(t.c, 100000, 1);
    urgent(&t);
    craft_poll(&t.s);
    while (craft_next(&t.s, &g)) {
        assert_int_equal(g.flags & F_URG, F_URG);
        assert_true(g.len <= 1460);
        assert_int_equal(g.urg, 100000 - at < 65535 ? 100000 - at : 65535);
        at += g.len;
    }
    assert_true(at > 10000);
    talk_end(&t);
}

/* A repeated pointer is reported once, also if it is only a byte ahead. */
static void test_urgent_received_again(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    say_urgent(&t, 0, 0, 100, 101);
    assert_int_equal(t.c->urgent, 1);
    say_urgent(&t, 0, 100, 0, 1);
    assert_int_equal(t.c->urgent, 1);
    talk_skip(&t);
    talk_end(&t);
}

/* RFC 9293 MUST-32, MUST-33: the application is notified when urgent data is announced, before its
 * bytes arrive, and when the pointer moves; the stream has every byte. */
static void test_urgent_received(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    say_urgent(&t, 0, 0, 100, 300);
    assert_int_equal(t.c->urgent, 1);
    assert_int_equal(t.c->urgent_at, 300);
    say_urgent(&t, 0, 100, 100, 200); /* the same pointer */
    assert_int_equal(t.c->urgent, 1);
    say_urgent(&t, 0, 200, 100, 150); /* a pointer farther on */
    assert_int_equal(t.c->urgent, 2);
    assert_int_equal(t.c->urgent_at, 350);
    talk_say(&t, F_ACK, 300, 0, 100);
    assert_int_equal(t.c->received, 400);
    assert_int_equal(conn_read(t.c, 400), 400);
    say_urgent(&t, 0, 200, 100, 150); /* a retransmitted segment */
    assert_int_equal(t.c->urgent, 2);
    say_urgent(&t, F_FIN, 400, 10, 10);
    assert_int_equal(t.c->urgent, 3);
    assert_true(t.c->peer_closed);
    say_urgent(&t, 0, 411, 0, 10); /* no urgent data after the FIN */
    assert_int_equal(t.c->urgent, 3);
    talk_end(&t);
}

/* RFC 9293 MUST-66: URG and RST are processed while the receive window is closed. */
static void test_urgent_at_zero_window(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_full(&t);
    say_urgent(&t, 0, 4096, 0, 20);
    assert_int_equal(t.c->urgent, 1);
    assert_int_equal(t.c->urgent_at, 4116);
    assert_int_equal(t.c->received, 4096);
    talk_skip(&t);
    g = talk_seg(&t, F_RST, 4096, 0, 0);
    craft_send(&t.s, &g);
    assert_true(t.c->gone);
    t.c = 0;
    talk_end(&t);
}

/* Pointers of any value, with and without URG, with SYN, FIN, RST, before and in a connection: the
 * stream stays complete. */
static void test_urgent_nonsense(void **state)
{
    static const unsigned pointers[] = {0, 1, 9, 10, 11, 32767, 32768, 65534, 65535};
    unsigned i, k;

    (void)state;
    for (i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++) {
        struct talk t;
        struct tseg g;
        uint32_t at = 0;

        talk_init(&t);
        craft_start(&t.s);
        sim_listen(&t.s, 0, OWN_PORT, 0, 0);
        g = talk_seg(&t, F_SYN | F_URG, (uint32_t)-1, 0, 10);
        g.urg = (uint16_t)pointers[i];
        craft_say(&t.s, &g);
        g = craft_expect(&t.s);
        assert_int_equal(g.flags, F_SYN | F_ACK);
        assert_int_equal(g.ack, t.isn + 1);
        t.iss = g.seq;
        say_urgent(&t, 0, 0, 0, pointers[i]);
        t.c = t.s.host[0].conns;
        assert_true(t.c->established);
        for (k = 0; k < 3; k++) {
            say_urgent(&t, 0, at, 10, pointers[i]);
            at += 10;
            g = talk_seg(&t, F_ACK, at, 0, 10); /* a pointer without URG is ignored */
            g.urg = (uint16_t)pointers[i];
            craft_say(&t.s, &g);
            at += 10;
            assert_int_equal(conn_read(t.c, 100), 20); /* and checks them */
        }
        say_urgent(&t, F_SYN, at, 10, pointers[i]);
        say_urgent(&t, 0, at + 20, 10, pointers[i]); /* beyond a gap */
        say_urgent(&t, 0, at, 20, pointers[i]);
        assert_int_equal(conn_read(t.c, 100), 30);
        say_urgent(&t, F_FIN, at + 30, 5, pointers[i]);
        assert_int_equal(conn_read(t.c, 100), 5);
        assert_true(t.c->peer_closed);
        assert_true(t.c->urgent_at < at + 40 + 65535);
        talk_skip(&t);
        talk_end(&t);
    }
}

static void test_urgent_errors(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    assert_int_equal(toec_urgent(t.s.host[0].stack, t.c->flow, t.s.now), TOEC_E_INVAL);
    conn_write(t.c, 1, 1);
    conn_shutdown(t.c);
    assert_int_equal(toec_urgent(t.s.host[0].stack, t.c->flow, t.s.now), TOEC_E_INVAL);
    talk_end(&t);
}

/* ---- user timeouts ---- */

/* Returns the seconds until the connection has ended, a multiple of 0.1; at most `most`. */
static double lives(struct talk *t, double most)
{
    double n;

    for (n = 0; n < most && !t->c->gone; n += 0.1)
        craft_pass(&t->s, 100 * MSEC);
    assert_int_equal(t->c->gone, n < most);
    if (t->c->gone)
        assert_int_equal(t->c->gone_reason, TOEC_R_TIMEDOUT);
    return n;
}

/* RFC 9293 MUST-21: the user timeout replaces R2, shorter or longer than 15 retransmissions. */
static void test_user_timeout_of_data(void **state)
{
    static const uint32_t seconds[] = {5, 100, 3000};
    unsigned i;

    (void)state;
    for (i = 0; i < 3; i++) {
        struct talk t;
        double n;

        talk_open(&t);
        talk_set(&t, TOEC_OPT_USER_TIMEOUT, seconds[i] * 1000);
        talk_send(&t, 10);
        n = lives(&t, 5000);
        assert_true(n >= seconds[i] - 0.2 && n <= seconds[i] + 0.5);
        t.c = 0;
        talk_end(&t);
    }
}

/* MUST-22, MUST-23: more than three minutes for a SYN, unless the user has set a timeout. */
static void test_user_timeout_of_a_syn(void **state)
{
    static const struct {
        enum toec_option opt;
        uint32_t value;
        double least, most;
    } table[] = {
        {TOEC_OPT_NODELAY, 0, 180, 300},
        {TOEC_OPT_USER_TIMEOUT, 2500, 2.4, 2.8},
        {TOEC_OPT_USER_TIMEOUT, 1000000, 180, 300},
        {TOEC_OPT_SYNCNT, 1, 2.9, 3.3},
        {TOEC_OPT_SYNCNT, 3, 14.9, 15.5},
    };
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct talk t;
        double n;

        talk_init(&t);
        craft_start(&t.s);
        t.c = sim_connect(&t.s, 0, OWN_PORT);
        talk_set(&t, table[i].opt, table[i].value);
        craft_poll(&t.s);
        n = lives(&t, 1000);
        assert_true(n >= table[i].least && n <= table[i].most);
        t.c = 0;
        talk_end(&t);
    }
}

/* R6429-01, MUST-37: without a user timeout a flow with a closed window lives as long as the peer
 * answers probes, with one it ends after that time. */
static void test_user_timeout_of_a_closed_window(void **state)
{
    unsigned limit;

    (void)state;
    for (limit = 0; limit < 2; limit++) {
        struct talk t;
        struct tseg g;
        unsigned i;

        talk_open(&t);
        if (limit)
            talk_set(&t, TOEC_OPT_USER_TIMEOUT, 60000);
        t.wnd = 0;
        talk_say(&t, F_ACK, 0, 0, 0);
        conn_write(t.c, 10, 1);
        for (i = 0; i < 86400 && !t.c->gone; i++) {
            craft_pass(&t.s, SEC);
            while (craft_next(&t.s, &g) && !t.c->gone)
                talk_put(&t, F_ACK, 0, 0, 0);
        }
        if (limit)
            assert_true(t.c->gone && i >= 58 && i <= 62);
        else
            assert_false(t.c->gone);
        if (t.c->gone)
            t.c = 0;
        talk_end(&t);
    }
}

/* A window that opens again restarts the timeout. */
static void test_user_timeout_begins_anew(void **state)
{
    struct talk t;
    struct tseg g;
    unsigned i, at = 0;

    (void)state;
    talk_open(&t);
    talk_set(&t, TOEC_OPT_USER_TIMEOUT, 60000);
    for (i = 0; i < 200; i++) {
        t.wnd = i % 50 == 49 ? 10 : 0;
        talk_put(&t, F_ACK, 0, at, 0);
        conn_write(t.c, 10, 1);
        craft_pass(&t.s, SEC);
        while (craft_next(&t.s, &g))
            if (t.wnd && g.len)
                at = g.seq - t.iss - 1 + g.len;
        assert_false(t.c->gone);
    }
    talk_end(&t);
}

/* Keep-alive, as on Linux: the user timeout takes precedence over the count of probes. */
static void test_user_timeout_of_keepalive(void **state)
{
    struct talk t;
    double n;

    (void)state;
    talk_open(&t);
    talk_set(&t, TOEC_OPT_KEEPIDLE, 10);
    talk_set(&t, TOEC_OPT_KEEPINTVL, 5);
    talk_set(&t, TOEC_OPT_USER_TIMEOUT, 22000);
    talk_set(&t, TOEC_OPT_KEEPALIVE, 1);
    n = lives(&t, 100);
    assert_true(n >= 24.8 && n <= 25.4); /* probes at 10, 15 and 20 s; the flow ends at 25 s */
    t.c = 0;
    talk_end(&t);
}

/* Keep-alive at any moment within a tick of the clock: no probe and no end comes early, and a user
 * timeout that is a multiple of the interval costs no further interval. */
static void test_keepalive_is_exact(void **state)
{
    static const struct {
        uint32_t idle, interval, probes; /* the user timeout ends with the last interval */
    } table[] = {{2, 1, 3}, {1, 1, 1}, {1, 2, 2}, {10, 3, 7}, {7200, 75, 9}, {60, 59, 30}};
    unsigned i, phase, n;

    (void)state;
    for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        for (phase = 0; phase < 16; phase++) {
            uint32_t limit = table[i].idle + table[i].interval * table[i].probes;
            toec_time due;
            struct talk t;

            talk_init(&t);
            t.s.now += phase * (1u << 16);
            talk_passive(&t);
            talk_set(&t, TOEC_OPT_KEEPIDLE, table[i].idle);
            talk_set(&t, TOEC_OPT_KEEPINTVL, table[i].interval);
            talk_set(&t, TOEC_OPT_KEEPCNT, 100);
            talk_set(&t, TOEC_OPT_USER_TIMEOUT, limit * 1000);
            talk_set(&t, TOEC_OPT_KEEPALIVE, 1);
            due = t.s.now + table[i].idle * SEC;
            for (n = 0; n <= table[i].probes; n++, due += table[i].interval * SEC) {
                craft_pass(&t.s, due - 1 - t.s.now);
                talk_silence(&t);
                craft_pass(&t.s, 1 + 3 * MSEC * (n + 1));
                if (n < table[i].probes)
                    talk_hear(&t, F_ACK, (uint32_t)-1, 0, 0);
                assert_int_equal(t.c->gone, n == table[i].probes);
            }
            t.c = 0;
            talk_end(&t);
        }
    }
}

/* TCP_KEEPIDLE counts from the peer's last segment; TCP_KEEPINTVL and TCP_KEEPCNT do not postpone a
 * timer that runs. */
static void test_keepalive_set_again(void **state)
{
    struct talk t;
    unsigned i;

    (void)state;
    talk_open(&t);
    talk_set(&t, TOEC_OPT_KEEPALIVE, 1);
    for (i = 0; i < 9; i++) {
        craft_pass(&t.s, SEC);
        talk_set(&t, TOEC_OPT_KEEPINTVL, 5);
        talk_set(&t, TOEC_OPT_KEEPCNT, 3);
        talk_set(&t, TOEC_OPT_KEEPIDLE, 10);
        talk_set(&t, TOEC_OPT_KEEPALIVE, 1);
        talk_silence(&t);
    }
    craft_pass(&t.s, SEC + 3 * MSEC);
    talk_hear(&t, F_ACK, (uint32_t)-1, 0, 0);
    craft_pass(&t.s, 2 * SEC);
    talk_set(&t, TOEC_OPT_KEEPIDLE, 3); /* over: the next probe is sent at once */
    craft_pass(&t.s, 3 * MSEC);
    talk_hear(&t, F_ACK, (uint32_t)-1, 0, 0);
    talk_end(&t);
}

/* ---- the option ---- */

/* RFC 5482 3.1: both ends have announced a timeout: the larger one applies, between 100 s and a
 * day. R5482-03, R5482-04, R5482-05. */
static void test_uto_agreed(void **state)
{
    static const struct {
        uint32_t adv;
        unsigned theirs; /* field of the option */
        double least, most;
    } table[] = {
        {300, 200, 299, 301},
        {200, 300, 299, 301},
        {10, 20, 99, 101},                  /* never below 100 s */
        {10, 0x8000 | 10, 599, 602},        /* in minutes */
        {10, 0, 800, 2000},                 /* reserved: as if absent */
        {0, 200, 800, 2000},                /* R5482-01: not enabled here, so ignored */
        {60, 0x8000 | 0x7fff, 86398, 86402} /* nor above a day */
    };
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct talk t;
        struct tseg g;
        double n;

        talk_open(&t);
        if (table[i].adv) {
            talk_set(&t, TOEC_OPT_ADV_UTO, table[i].adv);
            craft_poll(&t.s);
            g = talk_hear(&t, F_ACK, 0, 0, 0);
            assert_int_equal(g.uto, table[i].adv);
        }
        g = talk_seg(&t, F_ACK, 0, 0, 0);
        g.uto = table[i].theirs;
        craft_send(&t.s, &g);
        talk_send(&t, 10);
        n = lives(&t, 100000);
        assert_true(n >= table[i].least && n <= table[i].most);
        t.c = 0;
        talk_end(&t);
    }
}

/* The option is on the SYN and the next few segments, if it fits, in seconds or minutes; a timeout
 * that the user has set is kept. R5482-02. */
static void test_uto_sent(void **state)
{
    struct talk t;
    struct tseg g;
    double n;
    unsigned i;

    (void)state;
    talk_init(&t);
    craft_start(&t.s);
    t.c = sim_connect(&t.s, 0, OWN_PORT);
    talk_set(&t, TOEC_OPT_ADV_UTO, 100000);
    talk_set(&t, TOEC_OPT_USER_TIMEOUT, 30000);
    assert_int_equal(toec_set_option(t.s.host[0].stack, t.c->flow, TOEC_OPT_ADV_UTO, 1966021, 0),
                     TOEC_E_INVAL);
    craft_poll(&t.s);
    craft_pass(&t.s, 1100 * MSEC);
    for (i = 0; i < 2; i++) {
        g = craft_expect(&t.s);
        assert_int_equal(g.flags, F_SYN);
        assert_int_equal(g.uto, 0x8000 | 1667);
    }
    t.peer_port = OWN_PORT;
    t.own_port = t.c->local_port;
    t.iss = g.seq;
    g = talk_seg(&t, F_SYN | F_ACK, (uint32_t)-1, 0, 0);
    g.mss = 1460;
    g.uto = 5000;
    craft_send(&t.s, &g);
    talk_send(&t, 1460);
    g = talk_hear(&t, F_ACK, 0, 0, 1460); /* full: the option does not fit */
    assert_int_equal(g.uto, 0);
    talk_set(&t, TOEC_OPT_QUICKACK, 0); /* ACKs wait for answers */
    for (i = 0; i < 5; i++) {
        talk_say(&t, F_ACK | F_PSH, 0 + i, 1460, 1);
        talk_send(&t, 1);
        g = craft_expect(&t.s);
        assert_int_equal(g.uto, i < 3 ? 0x8000 | 1667 : 0);
        talk_say(&t, F_ACK, 1 + i, 1461 + i, 0);
        talk_skip(&t);
    }
    talk_send(&t, 10);
    n = lives(&t, 1000);
    assert_true(n >= 29 && n <= 31);
    t.c = 0;
    talk_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_urgent_sent),
        cmocka_unit_test(test_urgent_into_closed_window),
        cmocka_unit_test(test_urgent_far_and_segmented),
        cmocka_unit_test(test_urgent_received),
        cmocka_unit_test(test_urgent_received_again),
        cmocka_unit_test(test_urgent_at_zero_window),
        cmocka_unit_test(test_urgent_nonsense),
        cmocka_unit_test(test_urgent_errors),
        cmocka_unit_test(test_user_timeout_of_data),
        cmocka_unit_test(test_user_timeout_of_a_syn),
        cmocka_unit_test(test_user_timeout_of_a_closed_window),
        cmocka_unit_test(test_user_timeout_begins_anew),
        cmocka_unit_test(test_user_timeout_of_keepalive),
        cmocka_unit_test(test_keepalive_is_exact),
        cmocka_unit_test(test_keepalive_set_again),
        cmocka_unit_test(test_uto_agreed),
        cmocka_unit_test(test_uto_sent),
    };

    return cmocka_run_group_tests_name("tcp_rare", tests, 0, 0);
}
