/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_reno.c - fast retransmit and fast recovery without SACK, segment by segment (RFC 5681
 * 3.2, RFC 6582, RFC 3042), with NewReno's window.
 */
#include "tcptalk.h"

#define MSS 1460u
#define RTT (100 * MSEC)

/* Puts ten segments in flight, which is the window, with more data to send. */
static void begin(struct talk *t)
{
    talk_init(t);
    t->s.host[0].cfg.cc = TOEC_CC_NEWRENO;
    talk_flight(t, 0, 10);
    talk_send(t, 20 * MSS);
    talk_silence(t);
}

/* Sends n duplicate ACKs; returns how many segments of new data they released, and of old data in
 * *again. */
static unsigned duplicates(struct talk *t, uint32_t ack, unsigned n, unsigned *again)
{
    unsigned fresh = 0;
    struct tseg g;

    *again = 0;
    while (n-- > 0) {
        talk_say(t, F_ACK, 0, ack, 0);
        while (craft_next(&t->s, &g)) {
            if (g.seq - t->iss - 1 < 10 * MSS)
                ++*again;
            else
                fresh++;
        }
    }
    return fresh;
}

/* R3042-01, R3042-02, R5681-11: two duplicates send two segments of new data, and do not change the
 * window. */
static void test_limited_transmit(void **state)
{
    struct talk t;
    unsigned again;
    uint32_t cwnd;

    (void)state;
    begin(&t);
    cwnd = talk_info(&t).cwnd;
    assert_int_equal(duplicates(&t, 0, 2, &again), 2);
    assert_int_equal(again, 0);
    assert_int_equal(talk_info(&t).cwnd, cwnd);
    talk_end(&t);
    /* not beyond the peer's window */
    begin(&t);
    t.wnd = 11 * MSS;
    talk_say(&t, F_ACK, 0, 0, 0); /* another window: not a duplicate */
    assert_int_equal(duplicates(&t, 0, 2, &again), 1);
    talk_end(&t);
}

/* R5681-10: the third duplicate retransmits one segment and halves ssthresh. The window is ssthresh
 * plus three segments, plus one for each further duplicate. With the ten segments in flight before
 * and the two of limited transmit, the fifth further duplicate releases the first new one. */
static void test_inflation(void **state)
{
    struct talk t;
    unsigned again, n;

    (void)state;
    begin(&t);
    assert_int_equal(duplicates(&t, 0, 3, &again), 2);
    assert_int_equal(again, 1);
    assert_int_equal(talk_info(&t).ssthresh, 5 * MSS);
    /* 12 outstanding; a window of 5 + 3 + n has room for another one when n is 5 */
    assert_int_equal(duplicates(&t, 0, 4, &again), 0);
    assert_int_equal(again, 0);
    for (n = 0; n < 4; n++)
        assert_int_equal(duplicates(&t, 0, 1, &again), 1);
    assert_int_equal(again, 0);
    assert_int_equal(talk_info(&t).ssthresh, 5 * MSS);
    talk_end(&t);
}

/* R6582-03: a full ACK ends recovery with a window of at most ssthresh, and at most one segment
 * more than is outstanding: no burst. */
static void test_full_ack(void **state)
{
    struct talk t;
    unsigned again, sent;

    (void)state;
    begin(&t);
    duplicates(&t, 0, 3, &again);
    talk_say(&t, F_ACK, 0, 12 * MSS, 0); /* everything sent */
    sent = talk_skip(&t);
    assert_int_equal(sent, 2);
    assert_int_equal(talk_info(&t).cwnd, 2 * MSS);
    talk_end(&t);
    /* more outstanding: the window is ssthresh */
    begin(&t);
    duplicates(&t, 0, 3, &again);
    assert_true(duplicates(&t, 0, 9, &again) >= 4);
    talk_say(&t, F_ACK, 0, 12 * MSS, 0);
    assert_int_equal(talk_info(&t).cwnd, 5 * MSS);
    talk_end(&t);
}

/* R6582-04: the first partial ACK restarts the timer, later ones do not. */
static void test_timer(void **state)
{
    struct talk t;
    unsigned again;
    toec_time first, rto;

    (void)state;
    begin(&t);
    craft_pass(&t.s, RTT);
    duplicates(&t, 0, 3, &again);
    craft_pass(&t.s, RTT);
    talk_say(&t, F_ACK, 0, 2 * MSS, 0);
    first = t.s.now;
    rto = talk_info(&t).rto_us * USEC;
    craft_pass(&t.s, RTT);
    talk_say(&t, F_ACK, 0, 4 * MSS, 0);
    craft_pass(&t.s, RTT);
    talk_say(&t, F_ACK, 0, 6 * MSS, 0);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_timeouts), 0);
    while (talk_count(&t, TOEC_C_tcp_timeouts) == 0)
        craft_pass(&t.s, MSEC);
    assert_in_range(t.s.now - first, rto, rto + 10 * MSEC);
    talk_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limited_transmit),
        cmocka_unit_test(test_inflation),
        cmocka_unit_test(test_full_ack),
        cmocka_unit_test(test_timer),
    };

    return cmocka_run_group_tests_name("tcp_reno", tests, 0, 0);
}
