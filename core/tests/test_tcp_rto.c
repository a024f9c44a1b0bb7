/* SPDX-License-Identifier: Apache-2.0 */
/* test_tcp_rto.c - the retransmission timer (RFC 6298), rule by rule; without SACK, so without
 * probes. */
#include "tcptalk.h"

#define MSS 1460u

static uint32_t rto_ms(struct talk *t)
{
    struct toec_info i;

    toec_flow_info(t->s.host[0].stack, t->c->flow, &i);
    return i.rto_us / 1000;
}

static void begin(struct talk *t, toec_time rtt)
{
    talk_init(t);
    t->rtt = rtt;
    talk_passive(t);
}

/* R6298-01: the SYN is retransmitted after one second. R6298-13: data then begins with an RTO of
 * three seconds. */
static void test_syn(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_init(&t);
    talk_connect(&t);
    craft_poll(&t.s);
    g = craft_expect(&t.s);
    t.iss = g.seq;
    craft_pass(&t.s, 990 * MSEC);
    talk_silence(&t);
    craft_pass(&t.s, 15 * MSEC);
    g = craft_expect(&t.s);
    assert_int_equal(g.flags, F_SYN);
    g = talk_seg(&t, F_SYN | F_ACK, (uint32_t)-1, 0, 0);
    g.mss = 1460;
    craft_say(&t.s, &g);
    assert_in_range(rto_ms(&t), 2990, 3010);
    talk_send(&t, 100);
    talk_skip(&t);
    craft_pass(&t.s, 2950 * MSEC);
    talk_silence(&t);
    craft_pass(&t.s, 100 * MSEC);
    talk_hear(&t, F_ACK, 0, 0, 100);
    talk_end(&t);
}

/* R6298-02: SRTT = R, RTTVAR = R/2. R6298-03: RTTVAR is updated first, with the old SRTT; factors
 * 1/4 and 1/8. */
static void test_samples(void **state)
{
    struct talk t;

    (void)state;
    begin(&t, 400 * MSEC);
    assert_in_range(rto_ms(&t), 1200, 1210); /* 400 + 4 * 200 */
    talk_send(&t, 100);
    craft_pass(&t.s, 800 * MSEC);
    talk_skip(&t);
    talk_say(&t, F_ACK, 0, 100, 0);
    /* RTTVAR 3/4 * 200 + 1/4 * 400 = 250, SRTT 7/8 * 400 + 1/8 * 800 = 450 */
    assert_in_range(rto_ms(&t), 1450, 1460);
    talk_end(&t);
}

/* R6298-08: data starts the timer; R6298-10: an ACK of new data restarts it; R6298-09: it stops
 * when everything is acknowledged. */
static void test_timer(void **state)
{
    struct talk t;

    (void)state;
    begin(&t, 400 * MSEC);
    craft_pass(&t.s, 5 * SEC);
    talk_send(&t, 2 * MSS);
    assert_int_equal(talk_skip(&t), 2);
    craft_pass(&t.s, 1100 * MSEC);
    talk_silence(&t);
    talk_say(&t, F_ACK, 0, MSS, 0);
    craft_pass(&t.s, 1100 * MSEC);
    talk_silence(&t);
    talk_say(&t, F_ACK, 0, 2 * MSS, 0);
    craft_pass(&t.s, 20 * SEC);
    talk_silence(&t);
    talk_send(&t, MSS);
    talk_hear(&t, F_ACK, 2 * MSS, 0, MSS);
    craft_pass(&t.s, 10 * SEC); /* R6298-11, R6298-12 */
    talk_hear(&t, F_ACK, 2 * MSS, 0, MSS);
    talk_end(&t);
}

/* R6298-12, R6298-05: the RTO doubles at each timeout, up to two minutes. */
static void test_bound(void **state)
{
    struct talk t;
    struct tseg g;
    toec_time last, gap = 0, before;
    int n;

    (void)state;
    begin(&t, 400 * MSEC);
    talk_send(&t, MSS);
    talk_skip(&t);
    last = t.s.now;
    for (n = 0; n < 10; n++) {
        while (!craft_next(&t.s, &g))
            craft_pass(&t.s, 10 * MSEC);
        before = gap;
        gap = t.s.now - last;
        last = t.s.now;
        if (n > 0 && gap < 100 * SEC)
            assert_in_range(gap / MSEC, before / MSEC * 19 / 10, before / MSEC * 21 / 10);
    }
    assert_in_range(gap / SEC, 119, 121);
    talk_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_syn),
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_timer),
        cmocka_unit_test(test_bound),
    };

    return cmocka_run_group_tests_name("tcp_rto", tests, 0, 0);
}
