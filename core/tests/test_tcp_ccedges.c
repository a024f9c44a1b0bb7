/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_ccedges.c - congestion control in states that a transfer seldom meets: BBR's undo and
 * restart from each of its states, DCTCP's estimate at its ends, rates at their limits.
 */
#include "ccbench.h"

#include "cc/cc_bbr.h"
#include "cc/cc_bbr_model.h"
#include "cc/cc_dctcp.h"
#include "cc/cc_newreno.h"
#include "tcp/tcp_timer.h"

static struct toec_cc_bbr *bbr(struct ccbench *b)
{
    return b->t.cc.u.bbr;
}

static void begin_bbr(struct ccbench *b, unsigned state)
{
    ccb_init(b, &toec_cc_bbr3, 20, 0.1);
    bbr(b)->state = (toec_u8)state;
    bbr(b)->full_bw_reached = state != TOEC_BBR_STARTUP;
    bbr(b)->bw = bbr(b)->max_bw[1] = 1000000;
}

/* draft-ietf-ccwg-bbr 5.5.11.2: after a spurious loss the state is restored: Startup and ProbeBW_UP
 * start again, unless it is in ProbeRTT. */
static void test_bbr_undo(void **state)
{
    static const struct {
        unsigned was, is, then;
    } table[] = {{TOEC_BBR_STARTUP, TOEC_BBR_STARTUP, TOEC_BBR_STARTUP},
                 {TOEC_BBR_STARTUP, TOEC_BBR_DRAIN, TOEC_BBR_STARTUP},
                 {TOEC_BBR_STARTUP, TOEC_BBR_PROBE_RTT, TOEC_BBR_PROBE_RTT},
                 {TOEC_BBR_UP, TOEC_BBR_UP, TOEC_BBR_UP},
                 {TOEC_BBR_UP, TOEC_BBR_DOWN, TOEC_BBR_REFILL},
                 {TOEC_BBR_UP, TOEC_BBR_PROBE_RTT, TOEC_BBR_PROBE_RTT},
                 {TOEC_BBR_CRUISE, TOEC_BBR_DOWN, TOEC_BBR_DOWN}};
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct ccbench b;

        begin_bbr(&b, table[i].was);
        b.t.cc_ops->congested(&b.t, TOEC_CC_LOSS, 20 * MSS, b.now);
        if (table[i].was != TOEC_BBR_CRUISE) /* leaves Startup and ProbeBW_UP for a loss */
            bbr(&b)->undo_state = (toec_u8)table[i].was;
        bbr(&b)->state = (toec_u8)table[i].is;
        bbr(&b)->full_bw_reached = 1;
        b.t.cc_ops->undo(&b.t, b.now);
        assert_int_equal(bbr(&b)->state, table[i].then);
        assert_int_equal(bbr(&b)->full_bw_reached,
                         table[i].was != TOEC_BBR_STARTUP || table[i].is == TOEC_BBR_STARTUP);
    }
}

/* A mark is a sign of congestion, and no timeout: the window stays. */
static void test_bbr_events(void **state)
{
    struct ccbench b;

    (void)state;
    begin_bbr(&b, TOEC_BBR_UP);
    b.t.cc_ops->congested(&b.t, TOEC_CC_ECN, 20 * MSS, b.now);
    assert_int_equal(b.t.cwnd, 20 * MSS);
    assert_int_equal(bbr(&b)->is_loss_in_round, 1);
    b.t.cc_ops->congested(&b.t, TOEC_CC_RTO, 20 * MSS, b.now);
    assert_int_equal(b.t.cwnd, MSS);
    b.t.cc_ops->recovered(&b.t, b.now);
    assert_int_equal(b.t.cwnd, 20 * MSS);
}

/* 5.4.1: after idle it continues at the estimated rate; an expired measurement ends. */
static void test_bbr_restart(void **state)
{
    struct ccbench b;

    (void)state;
    begin_bbr(&b, TOEC_BBR_STARTUP);
    b.t.cc_ops->restart(&b.t, 5000, b.now); /* it was not for want of data */
    assert_int_equal(bbr(&b)->idle_restart, 0);
    toec_rate_of(&b.t)->app_limited = 1;
    b.t.cc_ops->restart(&b.t, 5000, b.now);
    assert_int_equal(bbr(&b)->idle_restart, 1);
    begin_bbr(&b, TOEC_BBR_PROBE_RTT);
    toec_rate_of(&b.t)->app_limited = 1;
    b.t.cc_ops->restart(&b.t, 5000, b.now);
    assert_int_equal(bbr(&b)->state, TOEC_BBR_PROBE_RTT); /* its time has not begun */
    bbr(&b)->probe_rtt_done_set = 1;
    bbr(&b)->probe_rtt_done_stamp = toec_stamp(b.now) - 1;
    b.t.cc_ops->restart(&b.t, 5000, b.now);
    assert_int_not_equal(bbr(&b)->state, TOEC_BBR_PROBE_RTT);
    begin_bbr(&b, TOEC_BBR_PROBE_RTT); /* before the pipe was ever full */
    bbr(&b)->full_bw_reached = 0;
    toec_rate_of(&b.t)->app_limited = 1;
    bbr(&b)->probe_rtt_done_set = 1;
    bbr(&b)->probe_rtt_done_stamp = toec_stamp(b.now) - 1;
    b.t.cc_ops->restart(&b.t, 5000, b.now);
    assert_int_equal(bbr(&b)->state, TOEC_BBR_STARTUP);
}

/* No round-trip time yet: a window of the initial size, a rate as of a millisecond. An ACK that
 * samples nothing changes nothing. */
static void test_bbr_knows_nothing(void **state)
{
    struct toec_cc_bbr before;
    struct ccbench b;

    (void)state;
    ccb_init(&b, &toec_cc_bbr3, 10, 0);
    assert_int_equal(toec_bbr_bdp(&b.t, 1000000, 256), toec_cc_initial_window(&b.t));
    assert_true(b.t.pace->rate > 0);
    before = *bbr(&b);
    ccb_ack(&b, MSS, MSS, 0);
    assert_memory_equal(&before, bbr(&b), sizeof(before));
    bbr(&b)->min_rtt = 1000000;
    assert_int_equal(toec_bbr_bdp(&b.t, 0, 256), toec_cc_initial_window(&b.t));
    assert_int_equal(toec_bbr_bdp(&b.t, (toec_u64)1 << 40, 256), TOEC_CWND_MAX);
}

/* RFC 8257 3.3: without marks alpha reaches 0, and then a mark has no effect; with every byte
 * marked it is 1, and a mark halves the window. */
static void test_dctcp_ends(void **state)
{
    struct ccbench b;
    struct toec_cc_ack a;
    unsigned i;

    (void)state;
    ccb_init(&b, &toec_cc_newreno, 100, 0.01);
    b.t.ecn.flags |= TOEC_ECN_TX;
    b.t.cc_ops = &toec_cc_dctcp;
    b.t.cc_ops->init(&b.t, b.now);
    for (i = 0; i < 1000; i++) {
        ccb_pass(&b, 0.01);
        b.t.snd_max = b.t.snd_una + 10 * MSS;
        ccb_ack(&b, 10 * MSS, 0, 0.01);
    }
    assert_int_equal(b.t.cc.u.dctcp.alpha, 0);
    b.t.cc_ops->congested(&b.t, TOEC_CC_ECN, b.t.cwnd, b.now);
    assert_int_equal(b.t.cc.ssthresh, b.t.cwnd);
    memset(&a, 0, sizeof(a));
    a.rs = &b.rs;
    for (i = 0; i < 1000; i++) {
        ccb_pass(&b, 0.01);
        a.now = b.now;
        a.acked = a.delivered = a.ece_bytes = 10 * MSS;
        b.t.snd_una += 10 * MSS;
        b.t.snd_max = b.t.snd_una;
        b.t.cc_ops->acked(&b.t, &a);
        b.t.snd_una++;
        b.t.snd_max = b.t.snd_una;
    }
    a.acked = a.delivered = a.ece_bytes = 0; /* nothing observed: nothing changes */
    b.t.snd_una += 10;
    b.t.snd_max = b.t.snd_una;
    i = b.t.cc.u.dctcp.alpha;
    b.t.cc_ops->acked(&b.t, &a);
    assert_int_equal(b.t.cc.u.dctcp.alpha, i);
    a.delivered = MSS; /* more marked than delivered is all of it */
    a.ece_bytes = 100 * MSS;
    b.t.cc_ops->acked(&b.t, &a);
    assert_true(b.t.cc.u.dctcp.alpha <= 1048576);
    b.t.cc_ops->congested(&b.t, TOEC_CC_ECN, b.t.cwnd, b.now);
    assert_in_range(b.t.cc.ssthresh, b.t.cwnd / 2, b.t.cwnd * 51 / 100);
}

/* Without SACK any loss is too much (5.5.10); a cycle without a sample leaves the filter alone. */
static void test_bbr_model(void **state)
{
    struct ccbench b;

    (void)state;
    begin_bbr(&b, TOEC_BBR_UP);
    b.t.flags = 0;
    assert_true(toec_bbr_too_high(&b.t, 1, 1000 * MSS));
    assert_false(toec_bbr_too_high(&b.t, 0, 1000 * MSS));
    b.t.flags = TOEC_F_SACK;
    assert_false(toec_bbr_too_high(&b.t, 1, 1000 * MSS));
    assert_true(toec_bbr_too_high(&b.t, 21 * MSS, 1000 * MSS));
}

/* RFC 6298: round trips below the clock and beyond any sense. */
static void test_round_trips(void **state)
{
    struct ccbench b;

    (void)state;
    ccb_init(&b, &toec_cc_newreno, 10, 0);
    toec_rtt_sample(&b.t, 0);
    assert_true(b.t.srtt > 0);
    ccb_init(&b, &toec_cc_newreno, 10, 0);
    toec_rtt_sample(&b.t, 0x0fffffffu);
    assert_int_equal(b.t.rto * 4u, TOEC_RTO_MAX);
}

/* Rates above the maximum of pacing are clamped to it. */
static void test_rates(void **state)
{
    struct ccbench b;

    (void)state;
    assert_true(toec_rate_of_bps(~(toec_u64)0) == TOEC_PACE_MAX);
    assert_true(toec_rate_of_bps(1000000) < TOEC_PACE_MAX);
    ccb_init(&b, &toec_cc_newreno, 10, 0.01);
    toec_pace_set(&b.t, 0); /* not paced: always ready */
    assert_true(toec_pace_ready(0, &b.t, b.now));
    ccb_init(&b, &toec_cc_bbr3, 10, 0.01);
    toec_pace_set(&b.t, ~(toec_u64)0);
    assert_true(b.t.pace->rate == TOEC_PACE_MAX);
    b.t.state = TOEC_ESTABLISHED;
    toec_pace_limit(0, &b.t, 1000000); /* of an algorithm that paces itself */
    assert_true(b.t.pace->rate == 1000000);
    toec_pace_set(&b.t, 0);
    assert_true(b.t.pace->rate == 1000000);
    toec_pace_set(&b.t, 500000);
    assert_true(b.t.pace->rate == 500000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bbr_undo),    cmocka_unit_test(test_bbr_events),
        cmocka_unit_test(test_bbr_restart), cmocka_unit_test(test_bbr_knows_nothing),
        cmocka_unit_test(test_dctcp_ends),  cmocka_unit_test(test_rates),
        cmocka_unit_test(test_bbr_model),   cmocka_unit_test(test_round_trips),
    };

    return cmocka_run_group_tests_name("tcp_ccedges", tests, 0, 0);
}
