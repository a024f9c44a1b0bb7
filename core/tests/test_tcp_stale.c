/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_stale.c - state that a flow recorded long ago: sequence numbers 2 GiB old and older,
 * stamps an hour old, past loss episodes. The tests set marks back directly, as sending gigabytes
 * takes long.
 */
#include "tcptalk.h"

#include "cc/cc_bbr.h"
#include "cc/cc_bbr_model.h"

#define MSS  1460u
#define RTT  (100 * MSEC)
#define GONE 0x80000010u /* a distance above 2 GiB looks like a smaller one backwards */

/* Sends n segments, which are acknowledged a round trip later. */
static void begin(struct talk *t, int sack, unsigned n)
{
    talk_flight(t, sack, n);
    craft_pass(&t->s, RTT);
    talk_say(t, F_ACK, 0, n * MSS, 0);
    talk_skip(t);
}

/* Nagle (RFC 9293 3.7.4) waits for a small segment that is outstanding, not for one acknowledged
 * long ago. */
static void test_nagle(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    begin(&t, 1, 10);
    t.c->flow->snd_sml = t.c->flow->snd_una - GONE;
    talk_send(&t, 10);
    talk_hear(&t, F_ACK, 10 * MSS, 0, 10);
    talk_send(&t, 10);
    talk_silence(&t);
    talk_end(&t);
}

/* R6582-01: duplicate ACKs below `recover` are ignored, but not for the next two gigabytes. */
static void test_recover(void **state)
{
    struct talk t;
    unsigned i;

    (void)state;
    talk_init(&t);
    begin(&t, 0, 10);
    t.c->flow->recover = t.c->flow->snd_una - GONE;
    talk_send(&t, 10 * MSS);
    talk_skip(&t);
    craft_pass(&t.s, RTT);
    for (i = 0; i < 3; i++)
        talk_say(&t, F_ACK, 0, 10 * MSS, 0);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_fast_recoveries), 1);
    talk_end(&t);
}

/* R3168-04: one reduction per window of data, not per two gigabytes. */
static void test_ecn(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    t.syn_flags = F_ECE | F_CWR;
    begin(&t, 1, 10);
    t.c->flow->ecn.flags |= TOEC_ECN_CUT;
    t.c->flow->ecn.cut_end = t.c->flow->snd_una - GONE;
    talk_send(&t, 10 * MSS);
    craft_pass(&t.s, RTT);
    talk_say(&t, F_ACK | F_ECE, 0, 12 * MSS, 0);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_ecn_cuts), 1);
    talk_end(&t);
}

/* RFC 9293 MUST-32: an old urgent pointer does not hide a new one. */
static void test_urgent(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_init(&t);
    begin(&t, 1, 1);
    t.c->flow->rare |= TOEC_RARE_UP;
    t.c->flow->urg.rcv_up = t.c->flow->rcv_nxt - GONE;
    g = talk_seg(&t, F_ACK | F_URG, 0, MSS, 10);
    g.urg = 10;
    craft_say(&t.s, &g);
    assert_int_equal(t.c->urgent, 1);
    assert_int_equal(t.c->urgent_at, 10);
    talk_end(&t);
}

/* RFC 7661 4.4.3: idle time that wraps the stamps (73 minutes) is not mistaken for a second. */
static void test_idle(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    t.s.host[0].cfg.cc = TOEC_CC_NEWRENO;
    begin(&t, 1, 10);
    t.c->flow->cwnd = 100 * MSS;
    craft_pass(&t.s, 4399 * SEC); /* 2^32 stamps are 4398.05 s */
    talk_send(&t, MSS);
    assert_int_equal(talk_info(&t).cwnd, 10 * MSS);
    talk_end(&t);
}

/* ProbeRTT ends during an idle hour. */
static void test_probe_rtt(void **state)
{
    struct talk t;
    struct toec_cc_bbr *b;
    toec_u32 stamp;

    (void)state;
    talk_init(&t);
    t.s.host[0].cfg.cc = TOEC_CC_BBR3;
    begin(&t, 1, 2);
    b = t.c->flow->cc.u.bbr;
    talk_send(&t, MSS);
    craft_pass(&t.s, RTT);
    stamp = (toec_u32)(t.s.now >> 10);
    b->state = TOEC_BBR_PROBE_RTT;
    b->probe_rtt_done_set = 1;
    b->probe_rtt_round_done = 1;
    b->probe_rtt_done_stamp = stamp - 0x90000000u;
    b->probe_rtt_min_stamp = stamp;
    talk_say(&t, F_ACK, 0, 3 * MSS, 0);
    assert_true(b->state != TOEC_BBR_PROBE_RTT);
    talk_end(&t);
}

/* Late evidence about a loss episode does not undo a later reduction. */
static void test_undo_after_ecn(void **state)
{
    static const uint32_t lost[] = {11 * MSS, 15 * MSS, 0, 0};
    static const uint32_t dup[] = {10 * MSS, 11 * MSS, 0, 0};
    struct talk t;
    uint32_t cwnd;

    (void)state;
    talk_init(&t);
    t.syn_flags = F_ECE | F_CWR;
    begin(&t, 1, 10);
    talk_send(&t, 10 * MSS);
    craft_pass(&t.s, RTT);
    talk_sack(&t, 0, 10 * MSS, lost);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_fast_recoveries), 1);
    craft_pass(&t.s, RTT / 10);
    talk_say(&t, F_ACK, 0, 20 * MSS, 0);
    talk_send(&t, 20 * MSS);
    craft_pass(&t.s, RTT);
    talk_say(&t, F_ACK | F_ECE, 0, 22 * MSS, 0);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_ecn_cuts), 1);
    cwnd = talk_info(&t).cwnd;
    talk_sack(&t, 0, 22 * MSS, dup);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_dsack_received), 1);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_spurious_recoveries), 0);
    assert_int_equal(talk_info(&t).cwnd, cwnd);
    talk_end(&t);
}

/* A change to BBR with data outstanding: there are no delivery samples for that data. */
static void test_change_to_bbr(void **state)
{
    struct talk t;
    struct toec_rack *k;
    unsigned i;

    (void)state;
    talk_init(&t);
    talk_flight(&t, 1, 10);
    k = &t.c->flow->rack;
    for (i = 0; i < k->n; i++)
        memset(&k->run[i].rate, 0xa5, sizeof(k->run[i].rate));
    talk_set(&t, TOEC_OPT_CC, TOEC_CC_BBR3);
    craft_pass(&t.s, RTT);
    talk_say(&t, F_ACK, 0, 10 * MSS, 0);
    assert_in_range(talk_info(&t).delivery_rate, 10 * MSS * 9, 10 * MSS * 11); /* in 100 ms */
    talk_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nagle),
        cmocka_unit_test(test_recover),
        cmocka_unit_test(test_ecn),
        cmocka_unit_test(test_urgent),
        cmocka_unit_test(test_idle),
        cmocka_unit_test(test_probe_rtt),
        cmocka_unit_test(test_undo_after_ecn),
        cmocka_unit_test(test_change_to_bbr),
    };

    return cmocka_run_group_tests(tests, 0, 0);
}
