/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_slowstart.c - HyStart++ (RFC 9406) on simulated delays, NewReno's growth (RFC 5681, RFC
 * 3465), and receivers with misleading ACKs.
 */
#include "tcptalk.h"

#include "cc/cc_cubic.h"
#include "cc/cc_newreno.h"
#include "cc/tcp_cc.h"
#include "ccbench.h"

/* Runs one round trip: ACKs of two segments each for the whole window, each with the RTT of the
 * queue at a bottleneck of `bdp` segments (or exactly `rtt` if bdp is 0). */
static void round_trip(struct ccbench *b, double rtt, unsigned bdp, double jitter)
{
    uint32_t end;

    b->t.snd_max = b->t.snd_una + b->t.cwnd;
    end = b->t.snd_max;
    while (b->t.snd_una != end) {
        uint32_t n = end - b->t.snd_una > 2 * MSS ? 2 * MSS : end - b->t.snd_una;
        double delay = rtt + jitter;

        if (bdp && ccb_segs(b) > bdp)
            delay = rtt * ccb_segs(b) / bdp;
        ccb_pass(b, rtt / 100);
        ccb_ack(b, n, n, delay);
        b->t.snd_max = b->t.snd_una + b->t.cwnd;
    }
}

static const struct toec_cc_ops *const both[] = {&toec_cc_cubic, &toec_cc_newreno};

/* R9438-08, R9406-01: the delay grows with the queue. Slow start ends without a loss, with a window
 * between one BDP and little more than five. */
static void test_hystart_ends(void **state)
{
    unsigned i, n;

    (void)state;
    for (i = 0; i < 2; i++) {
        struct ccbench b;

        ccb_init(&b, both[i], 10, 0.05);
        for (n = 0; n < 40 && b.t.cc.ssthresh == TOEC_CWND_MAX; n++)
            round_trip(&b, 0.05, 200, 0);
        print_message("slow start over after %u rounds at %.0f segments\n", n, ccb_segs(&b));
        assert_true(n < 20);
        assert_int_equal(b.t.cc.hs_phase, TOEC_HS_OVER);
        assert_true(b.t.cc.ssthresh <= b.t.cwnd && b.t.cwnd <= b.t.cc.ssthresh + 4 * MSS);
        assert_true(ccb_segs(&b) > 200 && ccb_segs(&b) < 1050);
    }
}

/* Constant delays do not end slow start: the window doubles each round. */
static void test_hystart_steady(void **state)
{
    struct ccbench b;
    int i;

    (void)state;
    ccb_init(&b, &toec_cc_cubic, 10, 0.05);
    for (i = 0; i < 10; i++)
        round_trip(&b, 0.05, 0, 0);
    assert_int_equal(b.t.cwnd, (10 << 10) * MSS);
    assert_int_equal(b.t.cc.hs_phase, TOEC_HS_SLOW);
}

/* RFC 9406 4.2: a single late round starts Conservative Slow Start with a quarter of the growth;
 * slow start resumes when the delay has recovered. */
static void test_hystart_jitter(void **state)
{
    struct ccbench b;
    uint32_t before;
    int i;

    (void)state;
    ccb_init(&b, &toec_cc_cubic, 16, 0.05);
    round_trip(&b, 0.05, 0, 0);
    round_trip(&b, 0.05, 0, 0);
    for (i = 0; i < 2; i++) /* its rounds may be out of step with ours */
        round_trip(&b, 0.05, 0, 0.010);
    assert_int_equal(b.t.cc.hs_phase, TOEC_HS_CSS);
    before = b.t.cwnd;
    round_trip(&b, 0.05, 0, 0.010);
    assert_int_equal(b.t.cwnd, before + before / 4);
    assert_int_equal(b.t.cc.hs_phase, TOEC_HS_CSS);
    for (i = 0; i < 2; i++)
        round_trip(&b, 0.05, 0, 0);
    assert_int_equal(b.t.cc.hs_phase, TOEC_HS_SLOW);
    before = b.t.cwnd;
    round_trip(&b, 0.05, 0, 0);
    assert_int_equal(b.t.cwnd, 2 * before);
    assert_int_equal(b.t.cc.ssthresh, TOEC_CWND_MAX);
}

/* R9406-02: five rounds of Conservative Slow Start, then congestion avoidance. */
static void test_hystart_css_rounds(void **state)
{
    struct ccbench b;
    int i;

    (void)state;
    ccb_init(&b, &toec_cc_newreno, 16, 0.05);
    round_trip(&b, 0.05, 0, 0);
    for (i = 0; i < 8 && b.t.cc.hs_phase != TOEC_HS_CSS; i++)
        round_trip(&b, 0.06, 0, 0);
    for (i = 0; b.t.cc.hs_phase == TOEC_HS_CSS && i < 10; i++)
        round_trip(&b, 0.06, 0, 0);
    assert_in_range(i, 4, 5);
    assert_true(b.t.cc.ssthresh < TOEC_CWND_MAX);
}

/* Fewer than 8 samples in a round, or less than 4 ms more delay, are no signal. */
static void test_hystart_thresholds(void **state)
{
    struct ccbench b;
    int i;

    (void)state;
    ccb_init(&b, &toec_cc_cubic, 4, 0.05);
    for (i = 0; i < 3; i++) { /* two, four, then eight ACKs per round, with growing delay */
        round_trip(&b, 0.05 + 0.05 * i, 0, 0);
        assert_int_equal(b.t.cc.hs_phase, TOEC_HS_SLOW);
    }
    ccb_init(&b, &toec_cc_cubic, 32, 0.02);
    for (i = 0; i < 5; i++) {
        round_trip(&b, 0.020 + 0.0039 * i, 0, 0);
        assert_int_equal(b.t.cc.hs_phase, TOEC_HS_SLOW);
    }
    ccb_init(&b, &toec_cc_cubic, 32, 0.02);
    round_trip(&b, 0.020, 0, 0);
    round_trip(&b, 0.0241, 0, 0);
    assert_int_equal(b.t.cc.hs_phase, TOEC_HS_CSS);
}

/* Acknowledges the window by ACKs of two segments, `apart` of each other, after `silence`. Delays
 * are those of an empty queue. Returns whether slow start continues. */
static int train(struct ccbench *b, double silence, double apart)
{
    uint32_t end = b->t.snd_una + b->t.cwnd;

    b->t.snd_max = end;
    ccb_pass(b, silence);
    while (TOEC_SEQ_LT(b->t.snd_una, end)) {
        ccb_ack(b, 2 * MSS, 2 * MSS, 0.04);
        b->t.snd_max = b->t.snd_una + b->t.cwnd;
        ccb_pass(b, apart);
    }
    return b->t.cc.hs_phase == TOEC_HS_SLOW;
}

static void train_init(struct ccbench *b, const struct toec_cc_ops *ops, unsigned segs)
{
    ccb_init(b, ops, segs, 0.04);
    b->t.min_rtt = b->t.srtt >> 3;
    b->t.pace = 0;
}

/* R9438-08: ACKs follow each other at the rate of the bottleneck. When they do so for half of the
 * round trip, the window fills the path before the delay shows it, and slow start ends: with 0.24
 * ms for two segments a BDP is 333 of them. */
static void test_train_ends(void **state)
{
    struct ccbench b;

    (void)state;
    train_init(&b, &toec_cc_cubic, 80);
    assert_true(train(&b, 0.03, 0.00024));
    assert_int_equal(b.t.cwnd, 160 * MSS);
    assert_true(train(&b, 0.02, 0.00024)); /* 19 ms */
    assert_int_equal(b.t.cwnd, 320 * MSS);
    assert_false(train(&b, 0.005, 0.00024)); /* 38 ms */
    assert_in_range(ccb_segs(&b), 333 + 145, 333 + 167);
    assert_true(b.t.cc.ssthresh < TOEC_CWND_MAX);
}

/* A gap of more than 2 ms begins another train; fewer than 16 segments, a paced flow and NewReno
 * are not judged by trains. */
static void test_train_needs(void **state)
{
    struct ccbench b;

    (void)state;
    train_init(&b, &toec_cc_cubic, 160);
    assert_true(train(&b, 0.01, 0.0021));
    train_init(&b, &toec_cc_cubic, 7);
    assert_true(train(&b, 0.01, 0.0019 * 4) && train(&b, 0.01, 0.0019));
    train_init(&b, &toec_cc_cubic, 320);
    b.t.pace = &b.pace;
    b.pace.rate = 1;
    assert_true(train(&b, 0.003, 0.00024));
    train_init(&b, &toec_cc_newreno, 320);
    assert_true(train(&b, 0.01, 0.00024));
}

/* R5681-04: one segment per round trip beyond ssthresh. */
static void test_newreno_linear(void **state)
{
    struct ccbench b;
    int i;

    (void)state;
    ccb_init(&b, &toec_cc_newreno, 20, 0.05);
    b.t.cc.ssthresh = b.t.cwnd;
    for (i = 0; i < 50; i++) {
        uint32_t before = b.t.cwnd;

        round_trip(&b, 0.05, 0, 0);
        assert_true(b.t.cwnd <= before + MSS);
    }
    assert_in_range(b.t.cwnd, 69 * MSS, 70 * MSS);
}

/* R5681-05: a timeout sets ssthresh to half of the outstanding data and the window to one
 * segment. */
static void test_newreno_timeout(void **state)
{
    struct ccbench b;

    (void)state;
    ccb_init(&b, &toec_cc_newreno, 20, 0.05);
    ccb_congest(&b, TOEC_CC_RTO);
    assert_int_equal(b.t.cc.ssthresh, 10 * MSS);
    assert_int_equal(b.t.cwnd, MSS);
    ccb_congest(&b, TOEC_CC_RTO);
    assert_int_equal(b.t.cc.ssthresh, 2 * MSS);
}

/* R5681-03: one-byte ACKs grow the window no more than one ACK of the same bytes, in slow start and
 * beyond it (Savage 1999, ACK division). */
static void test_ack_division(void **state)
{
    unsigned i, slow;
    uint32_t n;

    (void)state;
    for (i = 0; i < 2; i++) {
        for (slow = 0; slow < 2; slow++) {
            struct ccbench a, b;

            ccb_init(&a, both[i], 20, 0.05);
            if (!slow)
                ccb_congest(&a, TOEC_CC_LOSS);
            b = a;
            ccb_pass(&a, 0.05);
            ccb_pass(&b, 0.05);
            for (n = 0; n < 10 * MSS; n += MSS)
                ccb_ack(&a, MSS, MSS, 0.05);
            for (n = 0; n < 10 * MSS; n++)
                ccb_ack(&b, 1, 1, 0.05);
            assert_true(b.t.cwnd <= a.t.cwnd + 10);
        }
    }
}

/* The same through the whole stack (R5681-02, R3465-01); then ACKs of data that was never sent, and
 * a stretch ACK, of which eight segments count (RFC 9406 4.3). */
static void test_lying_receiver(void **state)
{
    struct talk t;
    struct toec_info i;
    uint32_t at;

    (void)state;
    talk_init(&t);
    t.s.host[0].tx_buf = 1 << 20;
    t.wscale = 8;
    talk_passive(&t);
    talk_send(&t, 1 << 19);
    assert_int_equal(talk_skip(&t), 10);
    for (at = 10; at <= 1460; at += 10)
        talk_say(&t, F_ACK, 0, at, 0); /* one segment in 146 ACKs */
    toec_flow_info(t.s.host[0].stack, t.c->flow, &i);
    assert_int_equal(i.cwnd, 11 * 1460);
    /* optimistic ACKs: an ACK beyond SND.MAX is invalid (RFC 5961 5.2) */
    talk_say(&t, F_ACK, 0, i.in_flight + 1460 + 1460, 0);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_bad_ack), 1);
    toec_flow_info(t.s.host[0].stack, t.c->flow, &i);
    assert_int_equal(i.cwnd, 11 * 1460);
    talk_say(&t, F_ACK, 0, 11 * 1460, 0);
    toec_flow_info(t.s.host[0].stack, t.c->flow, &i);
    assert_int_equal(i.cwnd, 19 * 1460);
    talk_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hystart_ends),       cmocka_unit_test(test_hystart_steady),
        cmocka_unit_test(test_hystart_jitter),     cmocka_unit_test(test_hystart_css_rounds),
        cmocka_unit_test(test_hystart_thresholds), cmocka_unit_test(test_newreno_linear),
        cmocka_unit_test(test_newreno_timeout),    cmocka_unit_test(test_ack_division),
        cmocka_unit_test(test_lying_receiver),     cmocka_unit_test(test_train_ends),
        cmocka_unit_test(test_train_needs),
    };

    return cmocka_run_group_tests(tests, 0, 0);
}
