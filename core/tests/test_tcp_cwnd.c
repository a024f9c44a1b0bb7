/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_cwnd.c - congestion windows: slow start, avoidance, idle time (RFC 5681, RFC 9438, RFC
 * 6928).
 */
#include "tcptalk.h"

#define MSS 1460u

/* ---- congestion windows ---- */

/* Acknowledges all that is under way, two segments at a time, `rounds` times, rtt apart. */
static uint32_t flight_rtt(struct talk *t, uint32_t *at, unsigned rounds, toec_time rtt)
{
    while (rounds--) {
        uint32_t end = *at + talk_info(t).in_flight;

        while (*at != end) {
            *at += end - *at > 2 * MSS ? 2 * MSS : end - *at;
            talk_say(t, F_ACK, 0, *at, 0);
            talk_send(t, 1 << 22);
        }
        craft_pass(&t->s, rtt);
        while (t->s.sent_n)
            free(t->s.sent[--t->s.sent_n]);
        t->s.sent_read = 0;
    }
    return talk_info(t).in_flight;
}

static uint32_t flight_after(struct talk *t, uint32_t *at, unsigned rounds)
{
    return flight_rtt(t, at, rounds, 20 * MSEC);
}

/* R6928-01, R5681-01: ten segments to begin with; slow start doubles. Both algorithms. RFC 9293
 * MUST-19. */
static void test_slow_start(void **state)
{
    uint32_t cc;

    (void)state;
    for (cc = 0; cc < 2; cc++) {
        struct talk t;
        uint32_t at = 0;

        talk_init(&t);
        t.s.host[0].tx_buf = 1 << 22;
        t.s.host[0].cfg.cc = (enum toec_cc)cc;
        t.wscale = 8;
        talk_passive(&t);
        talk_send(&t, 1 << 21);
        assert_int_equal(talk_skip(&t), 10);
        assert_int_equal(flight_after(&t, &at, 1), 20 * MSS);
        assert_int_equal(flight_after(&t, &at, 1), 40 * MSS);
        talk_end(&t);
    }
}

/* RFC 5681 3.1: beyond ssthresh NewReno adds one segment per round trip. */
static void test_newreno_avoidance(void **state)
{
    static const uint32_t hole[] = {MSS, 4 * MSS, 0, 0};
    struct talk t;
    uint32_t at = 0, before, after;

    (void)state;
    talk_init(&t);
    t.sack = 1;
    t.s.host[0].tx_buf = 1 << 22;
    t.s.host[0].cfg.cc = TOEC_CC_NEWRENO;
    t.wscale = 8;
    talk_passive(&t);
    talk_send(&t, 1 << 21);
    talk_sack(&t, 0, 0, hole);
    assert_int_equal(talk_info(&t).ssthresh, 5 * MSS);
    talk_skip(&t);
    flight_after(&t, &at, 2);
    before = talk_info(&t).cwnd;
    flight_after(&t, &at, 10);
    after = talk_info(&t).cwnd;
    assert_true(after - before >= 9 * MSS && after - before <= 11 * MSS);
    talk_end(&t);
}

/* RFC 9438: back to W_max after K seconds, slow around it, faster beyond. RFC 9293 MAY-18. */
static void test_cubic_shape(void **state)
{
    struct talk t;
    uint32_t at = 0, w_max, i, early, late, flight, b[4];

    (void)state;
    talk_init(&t);
    t.sack = 1;
    t.s.host[0].tx_buf = 1 << 22;
    t.wscale = 8;
    talk_passive(&t);
    talk_send(&t, 1 << 22);
    flight_after(&t, &at, 4); /* 160 segments */
    w_max = talk_info(&t).cwnd;
    b[0] = at + MSS;
    b[1] = at + 9 * MSS;
    b[2] = b[3] = 0;
    flight = talk_info(&t).in_flight;
    talk_sack(&t, 0, at, b);
    assert_int_equal(talk_info(&t).ssthresh, flight * 7 / 10);
    flight_rtt(&t, &at, 1, 200 * MSEC);
    /* K = cbrt(160 * 0.3 / 0.4) = 4.9 s: 25 rounds of 200 ms */
    flight_rtt(&t, &at, 12, 200 * MSEC);
    early = talk_info(&t).cwnd;
    assert_true(early < w_max && early > w_max * 85 / 100);
    flight_rtt(&t, &at, 12, 200 * MSEC);
    late = talk_info(&t).cwnd;
    assert_true(late > w_max * 97 / 100 && late < w_max * 103 / 100);
    for (i = 0; i < 5; i++)
        flight_rtt(&t, &at, 10, 200 * MSEC);
    /* 10 s beyond K: 0.4 * 10^3 segments more, all but what the rounds lag */
    assert_true(talk_info(&t).cwnd > w_max + 300 * MSS && talk_info(&t).cwnd < w_max + 450 * MSS);
    talk_end(&t);
}

/* An application-limited sender does not grow its window (RFC 9438 5.8, RFC 5681). */
static void test_no_growth_when_app_limited(void **state)
{
    struct talk t;
    uint32_t at = 0, cwnd;
    int i;

    (void)state;
    talk_open(&t);
    cwnd = talk_info(&t).cwnd;
    for (i = 0; i < 50; i++) {
        talk_send(&t, 100);
        at += 100;
        talk_say(&t, F_ACK, 0, at, 0);
    }
    assert_int_equal(talk_info(&t).cwnd, cwnd);
    talk_end(&t);
}

/* R5681-12, as in RFC 7661 (R7661-04): the window is kept over idle time and halved every five
 * minutes. */
static void test_restart_after_idle(void **state)
{
    struct talk t;
    uint32_t at = 0, cwnd;

    (void)state;
    talk_init(&t);
    t.s.host[0].tx_buf = 1 << 22;
    t.wscale = 8;
    talk_passive(&t);
    talk_send(&t, 1 << 20);
    flight_after(&t, &at, 3);
    assert_true(talk_info(&t).cwnd > 60 * MSS);
    /* everything acknowledged */
    while (t.c->acked < t.c->sent) {
        at += talk_info(&t).in_flight;
        talk_say(&t, F_ACK, 0, at, 0);
        talk_skip(&t);
        while (t.s.sent_n)
            free(t.s.sent[--t.s.sent_n]);
        t.s.sent_read = 0;
    }
    cwnd = talk_info(&t).cwnd;
    craft_pass(&t.s, 299 * SEC);
    talk_send(&t, MSS);
    at += MSS;
    talk_say(&t, F_ACK, 0, at, 0);
    assert_int_equal(talk_info(&t).cwnd, cwnd);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_idle_restarts), 0);
    craft_pass(&t.s, 2 * SEC);
    talk_send(&t, MSS);
    assert_int_equal(talk_info(&t).cwnd, cwnd / 2);
    assert_true(talk_info(&t).ssthresh >= cwnd - cwnd / 4);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_idle_restarts), 1);
    at += MSS;
    talk_say(&t, F_ACK, 0, at, 0);
    craft_pass(&t.s, 3600 * SEC);
    talk_send(&t, 100 * MSS);
    assert_int_equal(talk_info(&t).cwnd, 10 * MSS);
    talk_end(&t);
}

/* RFC 5681 3.1: one segment to begin with when the SYN-ACK had to be sent again. */
static void test_initial_window_after_loss(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_init(&t);
    craft_start(&t.s);
    sim_listen(&t.s, 0, 80, 0, 0);
    g = talk_seg(&t, F_SYN, (uint32_t)-1, 0, 0);
    g.mss = 1460;
    craft_send(&t.s, &g);
    craft_pass(&t.s, 1500 * MSEC);
    t.iss = craft_expect(&t.s).seq;
    talk_skip(&t);
    talk_say(&t, F_ACK, 0, 0, 0);
    t.c = t.s.host[0].conns;
    talk_send(&t, 20000);
    assert_int_equal(talk_skip(&t), 1);
    talk_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slow_start),
        cmocka_unit_test(test_newreno_avoidance),
        cmocka_unit_test(test_cubic_shape),
        cmocka_unit_test(test_no_growth_when_app_limited),
        cmocka_unit_test(test_restart_after_idle),
        cmocka_unit_test(test_initial_window_after_loss),
    };

    return cmocka_run_group_tests_name("tcp_cwnd", tests, 0, 0);
}
