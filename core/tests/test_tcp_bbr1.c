/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_bbr1.c - BBR version 1 by itself: the test makes rate samples of a path of 40 ms. What
 * flows get on a path is in tests/tree/test_netsim.py.
 */
#include "cc/cc_bbr1.h"
#include "ccbench.h"
#include "tcptalk.h"

#define RTT   (40 * MSEC)
#define STAMP ((toec_u32)(RTT >> 10))
#define BW    (10000000u) /* bytes per 2^30 ns */
#define BDP   ((toec_u32)((toec_u64)BW * STAMP >> 20))
#define FOUR  (4 * MSS)

static struct toec_cc_bbr1 *bbr(struct ccbench *b)
{
    return b->t.cc.u.bbr1;
}

static void begin(struct ccbench *b)
{
    ccb_init(b, &toec_cc_bbr1, 10, 0.04);
    b->t.flags = TOEC_F_SACK;
    b->t.snd_max = b->t.snd_una + 10 * MSS;
}

/* An ACK of `bytes` that closes a round: a sample of bandwidth bw, `lost` bytes found lost since
 * the ACK before; afterwards as much is in flight as before it. */
static void round_of(struct ccbench *b, toec_u64 bw, toec_u32 bytes, toec_u32 lost, int app)
{
    struct toec_tcp_rate *r = toec_rate_of(&b->t);
    toec_u32 pipe = b->t.snd_max - b->t.snd_una;

    ccb_pass(b, 0.041);
    memset(&b->rs, 0, sizeof(b->rs));
    b->rs.prior_delivered = r->delivered;
    r->delivered += bytes;
    r->delivered_at = toec_stamp(b->now);
    r->lost += lost;
    b->rs.valid = 1;
    b->rs.delivered = (toec_u32)(bw * STAMP >> 20);
    b->rs.interval = STAMP;
    b->rs.newly_acked = bytes;
    b->rs.newly_lost = lost;
    b->rs.rtt = STAMP;
    b->rs.app_limited = (toec_u8)app;
    b->t.snd_max += bytes;
    ccb_ack(b, bytes, 0, 0.04);
    b->t.snd_max = b->t.snd_una + pipe;
}

/* In ProbeBW at bandwidth BW with a BDP in flight. */
static void cruise(struct ccbench *b)
{
    unsigned i;

    begin(b);
    for (i = 0; i < 5; i++)
        round_of(b, BW, BDP, 0, 0);
    assert_int_equal(bbr(b)->state, TOEC_BBR1_PROBE_BW);
    b->t.snd_max = b->t.snd_una + BDP;
    for (i = 0; i < 12; i++)
        round_of(b, BW, BDP, 0, 0);
    assert_true(bbr(b)->full_bw_reached);
}

static double gain_of(struct ccbench *b)
{
    return (double)b->pace.rate / (0.99 * BW);
}

/* Startup: the rate is 2.89 times the bandwidth until three rounds have not raised it by a quarter;
 * samples of an application-limited round do not count. */
static void test_startup(void **state)
{
    struct ccbench b;
    unsigned i;

    (void)state;
    begin(&b);
    assert_int_equal(bbr(&b)->state, TOEC_BBR1_STARTUP);
    b.t.snd_max = b.t.snd_una + 4 * BDP;
    for (i = 4; i-- > 0;) {
        round_of(&b, BW >> i, 100000, 0, 0);
        assert_int_equal(bbr(&b)->full_bw_reached, 0);
    }
    assert_in_range((unsigned)(100 * gain_of(&b)), 287, 290);
    for (i = 0; i < 5; i++)
        round_of(&b, BW, 100000, 0, 1);
    assert_int_equal(bbr(&b)->state, TOEC_BBR1_STARTUP);
    for (i = 0; i < 2; i++)
        round_of(&b, BW, 100000, 0, 0);
    assert_int_equal(bbr(&b)->state, TOEC_BBR1_STARTUP);
    round_of(&b, BW, 100000, 0, 0);
    assert_int_equal(bbr(&b)->state, TOEC_BBR1_DRAIN);
    assert_in_range((unsigned)(100 * gain_of(&b)), 33, 35);
    round_of(&b, BW, 100000, 0, 0); /* four BDP are in flight */
    assert_int_equal(bbr(&b)->state, TOEC_BBR1_DRAIN);
    b.t.snd_max = b.t.snd_una + BDP;
    round_of(&b, BW, 100000, 0, 0);
    assert_int_equal(bbr(&b)->state, TOEC_BBR1_PROBE_BW);
    assert_int_not_equal(bbr(&b)->cycle, 1); /* there is nothing to drain */
}

/* ... or when a round of it has lost an eighth, and more than a burst: the queue has overflowed. */
static void test_overflow_ends_startup(void **state)
{
    static const struct {
        unsigned rate, lost; /* in BW, segments */
        int ends;
    } table[] = {{1, 33, 1}, {1, 31, 0}, {2, 33, 0}, {2, 70, 1}};
    struct ccbench b;
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        begin(&b);
        b.t.snd_max = b.t.snd_una + 4 * BDP;
        round_of(&b, BW / 2, 100000, 0, 0);
        round_of(&b, table[i].rate * BW, 100000, table[i].lost * MSS, 0);
        assert_int_equal(bbr(&b)->state, table[i].ends ? TOEC_BBR1_DRAIN : TOEC_BBR1_STARTUP);
        round_of(&b, 4 * BW, 100000, 0, 0); /* each round counts for itself */
        assert_int_equal(bbr(&b)->full_bw_reached, table[i].ends);
    }
}

/* ProbeBW: a round each of 1.25, 0.75 and six times 1; the probe lasts until its volume is in
 * flight or something is lost, the drain ends early when nothing is queued. */
static void test_cycle(void **state)
{
    struct ccbench b;
    unsigned i;

    (void)state;
    cruise(&b);
    while (bbr(&b)->cycle != 0)
        round_of(&b, BW, BDP, 0, 0);
    assert_in_range((unsigned)(100 * gain_of(&b)), 124, 126);
    b.t.snd_max = b.t.snd_una;
    for (i = 0; i < 3; i++)
        round_of(&b, BW, MSS, 0, 0);
    assert_int_equal(bbr(&b)->cycle, 0); /* too little is in flight */
    round_of(&b, BW, MSS, MSS, 0);
    assert_int_equal(bbr(&b)->cycle, 1);
    assert_in_range((unsigned)(100 * gain_of(&b)), 74, 76);
    for (i = 2; i < TOEC_BBR1_CYCLE; i++) {
        round_of(&b, BW, MSS, 0, 0);
        assert_int_equal(bbr(&b)->cycle, i);
        assert_in_range((unsigned)(100 * gain_of(&b)), 99, 101);
    }
    round_of(&b, BW, BDP, 0, 0);
    assert_int_equal(bbr(&b)->cycle, 0);
    b.t.snd_max = b.t.snd_una + 2 * BDP;
    round_of(&b, BW, BDP, 0, 0);
    assert_int_equal(bbr(&b)->cycle, 1); /* a quarter more than the BDP is in flight */
}

/* The bandwidth is the maximum of ten rounds. */
static void test_bandwidth(void **state)
{
    struct ccbench b;
    unsigned i;

    (void)state;
    cruise(&b);
    round_of(&b, 2 * BW, BDP, 0, 0);
    for (i = 0; i < 10; i++) {
        round_of(&b, BW + 1000 * (10 - i), BDP, 0, 0);
        assert_in_range(toec_bbr1_max_bw(bbr(&b)), 2 * BW - 50, 2 * BW);
    }
    round_of(&b, BW, BDP, 0, 0);
    assert_in_range(toec_bbr1_max_bw(bbr(&b)), BW, BW + 10000);
    round_of(&b, BW / 2, BDP, 0, 1); /* the application sent less */
    assert_in_range(toec_bbr1_max_bw(bbr(&b)), BW, BW + 10000);
    round_of(&b, 3 * BW, BDP, 0, 1); /* ... but got more */
    assert_in_range(toec_bbr1_max_bw(bbr(&b)), 3 * BW - 50, 3 * BW);
    for (i = 0; i < 40; i++) /* the second and third best expire, too */
        round_of(&b, 2 * BW - 40000 * i, BDP, 0, 0);
    assert_in_range(toec_bbr1_max_bw(bbr(&b)), 2 * BW - 40000 * 39, 2 * BW - 40000 * 28);
}

/* A loss costs a round of packet conservation; then the window grows by what is delivered. The rate
 * stays. At the end of the recovery the window is the one before. */
static void test_loss(void **state)
{
    struct ccbench b;
    toec_u32 before;
    toec_u64 rate;

    (void)state;
    cruise(&b);
    while (bbr(&b)->cycle != 3)
        round_of(&b, BW, BDP, 0, 0);
    before = b.t.cwnd;
    rate = b.pace.rate;
    assert_in_range(before, 3 * BDP, 7 * BDP / 2); /* a BDP more, as it is acknowledged at once */
    toec_cc_congested(&b.t, TOEC_CC_LOSS, b.now);
    assert_int_equal(b.t.cwnd, before);
    b.t.flags |= TOEC_F_FAST;
    b.rs.valid = 1;
    b.rs.interval = 0;
    b.rs.newly_acked = MSS;
    b.rs.newly_lost = 3 * MSS;
    ccb_ack(&b, 0, 0, 0.04);
    assert_int_equal(b.t.cwnd, toec_pipe(&b.t) + MSS);
    round_of(&b, BW, BDP, 3 * MSS, 0);
    assert_true(b.t.cwnd > BDP + MSS);
    assert_in_range(b.pace.rate, rate - rate / 100, rate + rate / 100);
    assert_int_equal(toec_bbr1_bw(bbr(&b)), toec_bbr1_max_bw(bbr(&b)));
    b.t.flags &= ~TOEC_F_FAST;
    round_of(&b, BW, MSS, 0, 0);
    assert_in_range(b.t.cwnd, before, before + 3 * MSS);
    b.rs.valid = 0;
    b.t.cwnd = 77;
    ccb_ack(&b, 0, 0, 0); /* nothing was delivered */
    assert_int_equal(b.t.cwnd, 77);
}

/* A timeout: one segment, growth by what is delivered, the window restored at the end; an undo
 * restores it at once. */
static void test_timeout(void **state)
{
    struct ccbench b;
    toec_u32 before;
    int undo;

    (void)state;
    for (undo = 0; undo < 2; undo++) {
        cruise(&b);
        before = b.t.cwnd;
        toec_cc_congested(&b.t, TOEC_CC_RTO, b.now);
        b.t.flags |= TOEC_F_LOSS;
        assert_int_equal(b.t.cwnd, MSS);
        round_of(&b, BW, MSS, 0, 0);
        assert_int_equal(b.t.cwnd, FOUR);
        round_of(&b, BW, FOUR, 0, 0);
        assert_int_equal(b.t.cwnd, 2 * FOUR);
        if (undo)
            toec_cc_undo(&b.t, b.now);
        assert_int_equal(b.t.cwnd, undo ? before : 2 * FOUR);
        b.t.flags &= ~TOEC_F_LOSS;
        round_of(&b, BW, MSS, 0, 0);
        assert_in_range(b.t.cwnd, before, before + 3 * MSS);
    }
}

/* ProbeRTT every ten seconds without a lower RTT: four segments for 200 ms and a round. */
static void test_probe_rtt(void **state)
{
    struct ccbench b;
    toec_u32 before;
    toec_time since;

    (void)state;
    cruise(&b);
    before = b.t.cwnd;
    since = b.now;
    while (bbr(&b)->state != TOEC_BBR1_PROBE_RTT) {
        b.t.cwnd = before;
        round_of(&b, BW, BDP, 0, 0);
        assert_true(b.now < since + 11 * SEC);
        bbr(&b)->min_rtt--; /* no sample reaches it */
    }
    assert_true(b.now > since + 9 * SEC);
    assert_int_equal(b.t.cwnd, FOUR);
    round_of(&b, BW, MSS, 0, 0);
    assert_int_equal(bbr(&b)->probe_rtt_done_set, 0); /* a BDP is still in flight */
    b.t.snd_max = b.t.snd_una + FOUR;
    since = b.now;
    while (bbr(&b)->state == TOEC_BBR1_PROBE_RTT)
        round_of(&b, BW / 4, FOUR, 0, 0);
    assert_in_range((b.now - since) / MSEC, 200, 300);
    assert_int_equal(bbr(&b)->state, TOEC_BBR1_PROBE_BW);
    assert_true(b.t.cwnd >= before);
    assert_int_not_equal(toec_rate_of(&b.t)->app_limited, 0);
}

/* A policer drops a quarter at the same rate: two intervals show it, then its rate is used without
 * probes for 48 rounds. Less loss is none. */
static void test_policer(void **state)
{
    struct ccbench b;
    unsigned i;

    (void)state;
    cruise(&b);
    for (i = 0; i < 40; i++)
        round_of(&b, BW, BDP, BDP / 6, 0);
    assert_int_equal(bbr(&b)->lt_used, 0);
    cruise(&b);
    for (i = 0; i < 12 && !bbr(&b)->lt_used; i++)
        round_of(&b, BW, BDP, BDP / 4, 0);
    assert_in_range(i, 8, 10);
    assert_in_range(toec_bbr1_bw(bbr(&b)), BW * 0.95, BW); /* BDP in 41 ms */
    assert_in_range((unsigned)(100 * gain_of(&b)), 95, 100);
    for (i = 0; bbr(&b)->lt_used; i++)
        round_of(&b, 2 * BW, BDP, 0, 0);
    assert_int_equal(i, 48);
    assert_in_range(toec_bbr1_bw(bbr(&b)), 2 * BW - 50, 2 * BW);
    /* an application that sends less shows nothing */
    cruise(&b);
    for (i = 0; i < 30; i++)
        round_of(&b, BW, BDP, BDP / 4, i % 3 == 2);
    assert_int_equal(bbr(&b)->lt_used, 0);
    /* ... nor do losses at different rates */
    cruise(&b);
    for (i = 0; i < 40; i++)
        round_of(&b, BW, i / 5 & 1 ? BDP : BDP / 2, BDP / 4, 0);
    assert_int_equal(bbr(&b)->lt_used, 0);
}

/* ACKs of more than the bandwidth at once raise the window, by 100 ms of the bandwidth at most. */
static void test_aggregation(void **state)
{
    struct ccbench b;
    toec_u32 before;
    unsigned i;

    (void)state;
    cruise(&b);
    before = b.t.cwnd;
    b.t.cwnd = 6 * BDP;
    round_of(&b, BW, 3 * BDP, 0, 0);
    for (i = 0; i < 3; i++) {
        round_of(&b, BW, BDP / 2, 0, 0);
        assert_in_range(b.t.cwnd, before + BDP, before + 5 * BDP / 2 + 3 * MSS);
    }
    for (i = 0; i < 30; i++)
        round_of(&b, BW, BDP, 0, 0);
    assert_in_range(b.t.cwnd, before - 3 * MSS, before + 3 * MSS);
}

/* After idle time, the rate is the bandwidth, also where a probe was due, and no ProbeRTT begins.
 */
static void test_restart(void **state)
{
    struct ccbench b;

    (void)state;
    cruise(&b);
    while (bbr(&b)->cycle != 0)
        round_of(&b, BW, BDP, 0, 0);
    b.t.cc_ops->restart(&b.t, 100, b.now); /* the window was the limit */
    assert_in_range((unsigned)(100 * gain_of(&b)), 124, 126);
    toec_rate_app_limited(&b.t, 0);
    ccb_pass(&b, 15);
    b.t.cc_ops->restart(&b.t, 100, b.now);
    assert_in_range((unsigned)(100 * gain_of(&b)), 99, 101);
    round_of(&b, BW, BDP, 0, 0);
    assert_int_equal(bbr(&b)->state, TOEC_BBR1_PROBE_BW);
    assert_int_equal(bbr(&b)->min_rtt, STAMP);
}

/* A flow without an RTT of the handshake is paced at an RTT of 1 ms, until there is one. */
static void test_first_rtt(void **state)
{
    struct ccbench b;

    (void)state;
    ccb_init(&b, &toec_cc_bbr1, 10, 0);
    assert_in_range(b.pace.rate, 28 * MSS << 10, 32 * MSS << 10);
    b.t.srtt = STAMP << 3;
    round_of(&b, BW / 100, MSS, 0, 0);
    assert_in_range(b.pace.rate, (28 * MSS << 10) / 40, (32 * MSS << 10) / 40);
}

/* A flow that has sent all its data, and again all that was lost, is limited by its application:
 * low rates from then on do not end Startup. */
static void test_end_of_data_in_recovery(void **state)
{
    uint32_t b[4] = {1460, 10 * 1460, 0, 0};
    struct toec_tcp_rate *r;
    struct talk t;

    (void)state;
    talk_init(&t);
    t.sack = 1;
    t.rtt = RTT;
    t.s.host[0].cfg.cc = TOEC_CC_BBR1;
    t.s.host[0].tx_buf = 1 << 17;
    talk_passive(&t);
    r = toec_rate_of(t.c->flow);
    talk_send(&t, 15 * 1460);
    assert_int_equal(talk_skip(&t), 10);
    craft_pass(&t.s, RTT);
    talk_sack(&t, 0, 0, b);
    assert_true(talk_skip(&t) > 1);
    craft_pass(&t.s, RTT / 2);
    assert_int_equal(t.c->flow->snd_max, t.c->flow->snd_end);
    assert_true(r->app_limited > 9 * 1460); /* until what is in flight now is delivered */
    talk_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_startup),     cmocka_unit_test(test_overflow_ends_startup),
        cmocka_unit_test(test_cycle),       cmocka_unit_test(test_bandwidth),
        cmocka_unit_test(test_loss),        cmocka_unit_test(test_timeout),
        cmocka_unit_test(test_probe_rtt),   cmocka_unit_test(test_policer),
        cmocka_unit_test(test_aggregation), cmocka_unit_test(test_restart),
        cmocka_unit_test(test_first_rtt),   cmocka_unit_test(test_end_of_data_in_recovery),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
