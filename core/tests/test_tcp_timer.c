/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_timer.c - more tests of the retransmission timer, beyond test_tcp_rto.c: how often it
 * takes samples, what restarts it, a timeout during recovery, notifications of the application.
 */
#include "tcptalk.h"

#define MSS  1460u
#define RTT  (100 * MSEC)
#define NEAR 6000u /* microseconds, as the RTO counts in steps of 4.2 ms */

static void assert_near(uint32_t us, uint32_t want)
{
    assert_in_range(us, want - NEAR, want + NEAR);
}

/* Passes time until the stack sends; returns how long that took. */
static toec_time until_sent(struct talk *t, struct tseg *g)
{
    toec_time began = t->s.now;

    while (!craft_next(&t->s, g)) {
        craft_pass(&t->s, MSEC);
        assert_true(t->s.now - began < 200 * SEC);
    }
    return t->s.now - began;
}

/* ---- the estimator ---- */

/* R6298-03: RTTVAR moves by a quarter of the error against the old SRTT, then SRTT by an eighth. In
 * the other order the result would be 55 ms instead of 57.5. */
static void test_second_sample(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    talk_flight(&t, 0, 1);
    craft_pass(&t.s, 180 * MSEC);
    talk_say(&t, F_ACK, 0, MSS, 0);
    assert_in_range(talk_info(&t).srtt_us, 109000, 111500);
    assert_in_range(talk_info(&t).rttvar_us, 56500, 58500);
    assert_near(talk_info(&t).rto_us, 110000 + 4 * 57500);
    talk_end(&t);
}

static struct {
    unsigned count;
    struct toec_rtt last;
} told;

static void tell(void *user, const struct toec_rtt *sample)
{
    (void)user;
    told.count++;
    told.last = *sample;
}

/* An observer receives each sample once, with the addresses and ports of its connection. */
static void test_samples_are_told(void **state)
{
    struct toec_info i;
    struct talk t;

    (void)state;
    talk_init(&t);
    talk_flight(&t, 0, 1);
    craft_pass(&t.s, 180 * MSEC);
    toec_watch_rtt(t.s.host[0].stack, tell); /* not handed over (TOEHOLD_HANDOVER) */
    talk_say(&t, F_ACK, 0, MSS, 0);
    assert_int_equal(told.count, 1);
    assert_in_range(told.last.rtt, (180 * MSEC) >> 10, ((180 * MSEC) >> 10) + 1);
    assert_int_equal(told.last.local_port, talk_info(&t).local_port);
    assert_int_equal(told.last.remote_port, talk_info(&t).remote_port);
    i = talk_info(&t);
    assert_memory_equal(&told.last.remote, &i.remote, 16);
    assert_memory_equal(&told.last.local, &i.local, 16);
    toec_watch_rtt(t.s.host[0].stack, 0);
    talk_send(&t, MSS);
    assert_int_equal(talk_skip(&t), 1);
    craft_pass(&t.s, 20 * MSEC);
    talk_say(&t, F_ACK, 0, 2 * MSS, 0);
    assert_int_equal(told.count, 1);
    talk_end(&t);
}

/* R6298-07: one sample per round trip in effect: all ACKs of a flight together move SRTT by an
 * eighth, and so do those of the next flight. */
static void test_sample_per_round(void **state)
{
    struct talk t;
    uint32_t i, at = 0, round, srtt;

    (void)state;
    talk_init(&t);
    talk_flight(&t, 0, 10);
    for (round = 0; round < 3; round++) {
        srtt = talk_info(&t).srtt_us;
        craft_pass(&t.s, 180 * MSEC);
        for (i = 0; i < 10; i++)
            talk_say(&t, F_ACK, 0, at += MSS, 0);
        assert_near(talk_info(&t).srtt_us, srtt + (180000 - srtt) / 8);
        talk_send(&t, 10 * MSS);
        assert_int_equal(talk_skip(&t), 10);
    }
    talk_end(&t);
}

/* ---- bounds ---- */

/* R6298-13: a SYN or SYN-ACK was retransmitted: data begins with an RTO of three seconds. */
static void test_after_lost_syn(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_init(&t);
    t.rtt = 1500 * MSEC;
    craft_start(&t.s);
    sim_listen(&t.s, 0, t.own_port, 0, 0);
    g = talk_seg(&t, F_SYN, (uint32_t)-1, 0, 0);
    craft_say(&t.s, &g);
    t.iss = craft_expect(&t.s).seq;
    (void)until_sent(&t, &g);
    assert_int_equal(g.flags, F_SYN | F_ACK);
    talk_say(&t, F_ACK, 0, 0, 0);
    t.c = t.s.host[0].conns;
    assert_true(t.c->established);
    assert_near(talk_info(&t).rto_us, 3000000);
    talk_send(&t, 100);
    talk_hear(&t, F_ACK, 0, 0, 100);
    assert_in_range(until_sent(&t, &g), 2990 * MSEC, 3010 * MSEC);
    talk_end(&t);
}

/* R6298-05: the RTO doubles up to two minutes, no further. RFC 9293 SHLD-9: in the time between R1
 * and R2 the application gets no event. */
static void test_upper_bound(void **state)
{
    struct talk t;
    struct tseg g;
    toec_time last = 0, longest = 0, since;

    (void)state;
    talk_init(&t);
    talk_flight(&t, 0, 1);
    for (;;) {
        since = t.s.now;
        while (!t.c->gone && !craft_next(&t.s, &g))
            craft_pass(&t.s, 10 * MSEC);
        if (t.c->gone)
            break;
        assert_int_equal(t.c->error, 0);
        assert_true(t.s.now - since >= last);
        last = t.s.now - since;
        longest = last > longest ? last : longest;
    }
    assert_int_equal(t.c->gone_reason, TOEC_R_TIMEDOUT);
    assert_in_range(longest, 119 * SEC, 121 * SEC);
    t.c = 0;
    talk_skip(&t);
    talk_end(&t);
}

/* ---- when the timer runs ---- */

/* R6298-10: an ACK of new data restarts it; a duplicate does not. */
static void test_starts_anew(void **state)
{
    struct talk t;
    struct tseg g;
    toec_time rto;

    (void)state;
    talk_init(&t);
    talk_flight(&t, 0, 2);
    craft_pass(&t.s, 250 * MSEC);
    talk_say(&t, F_ACK, 0, MSS, 0);
    rto = talk_info(&t).rto_us * USEC;
    craft_pass(&t.s, 50 * MSEC);
    talk_say(&t, F_ACK, 0, MSS, 0);
    assert_in_range(until_sent(&t, &g), rto - 50 * MSEC, rto - 40 * MSEC);
    assert_int_equal(g.seq - t.iss - 1, MSS);
    talk_end(&t);
}

/* ---- a timeout in fast recovery ---- */

/* R6675-06: segments that fast recovery has retransmitted are retransmitted once more, from the
 * first on. R5682-03: immediately, without new data to test whether the timeout was spurious. */
static void test_in_recovery(void **state)
{
    static const uint32_t blocks[] = {2 * MSS, 5 * MSS, 0, 0};
    struct talk t;
    struct tseg g;

    (void)state;
    talk_init(&t);
    talk_flight(&t, 1, 10);
    talk_send(&t, 10 * MSS);
    craft_pass(&t.s, RTT);
    talk_sack(&t, 0, 0, blocks);
    talk_hear(&t, F_ACK, 0, 0, MSS);
    talk_hear(&t, F_ACK, MSS, 0, MSS);
    while (talk_count(&t, TOEC_C_tcp_timeouts) == 0) {
        talk_skip(&t);
        craft_pass(&t.s, MSEC);
    }
    talk_hear(&t, F_ACK, 0, 0, MSS);
    talk_silence(&t);
    craft_pass(&t.s, RTT);
    talk_say(&t, F_ACK, 0, MSS, 0);
    talk_hear(&t, F_ACK, MSS, 0, MSS);
    while (craft_next(&t.s, &g))
        assert_true(g.seq - t.iss - 1 < 10 * MSS);
    talk_end(&t);
}

/* RFC 9293 SHLD-20: the latest soft error is reported and does not affect the connection: data
 * flows both ways. */
static void test_soft_errors_disturb_nothing(void **state)
{
    struct talk t;
    struct tseg q;
    unsigned code;

    (void)state;
    talk_init(&t);
    talk_flight(&t, 1, 2);
    q = seg_make(t.own_port, t.peer_port, F_ACK, t.iss + 1, 0);
    for (code = 0; code <= 1; code++) {
        craft_icmp(&t.s, 3, code, 0, &q);
        craft_poll(&t.s);
        assert_int_equal(t.c->error, code ? TOEC_R_HOSTUNREACH : TOEC_R_NETUNREACH);
        talk_silence(&t);
    }
    assert_int_equal(talk_count(&t, TOEC_C_tcp_icmp_soft), 2);
    talk_put(&t, F_ACK, 0, MSS, 100);
    assert_int_equal(conn_read(t.c, 1000), 100);
    assert_int_equal(t.c->acked, MSS);
    assert_false(t.c->gone);
    talk_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_second_sample),    cmocka_unit_test(test_samples_are_told),
        cmocka_unit_test(test_sample_per_round), cmocka_unit_test(test_after_lost_syn),
        cmocka_unit_test(test_upper_bound),      cmocka_unit_test(test_starts_anew),
        cmocka_unit_test(test_in_recovery),      cmocka_unit_test(test_soft_errors_disturb_nothing),
    };

    return cmocka_run_group_tests_name("tcp_timer", tests, 0, 0);
}
