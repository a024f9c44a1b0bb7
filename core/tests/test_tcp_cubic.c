/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_cubic.c - CUBIC against RFC 9438 computed in floating point, ACK by ACK.
 */
#include "cc/cc_cubic.h"
#include "cc/tcp_cc.h"
#include "ccbench.h"

#define BETA 0.7
#define C    0.4

/* RFC 9438 4.1 to 4.8 as written, in segments and seconds. */
struct model {
    double cwnd, ssthresh, w_max, prior, w_est, k, epoch;
    int after_rto, begun;
};

static double root3(double x)
{
    double r = x > 1 ? x : 1;
    int i;

    if (x <= 0)
        return 0;
    for (i = 0; i < 200; i++)
        r -= (r * r * r - x) / (3 * r * r);
    return r;
}

static double w_cubic(const struct model *m, double t)
{
    return C * (t - m->k) * (t - m->k) * (t - m->k) + m->w_max;
}

static void model_ack(struct model *m, double segs, double now, double rtt)
{
    double t, target;

    if (!m->begun) {
        m->begun = 1;
        m->epoch = now;
        m->w_est = m->cwnd;
        if (m->after_rto || m->w_max <= m->cwnd) {
            if (m->w_max == 0)
                m->prior = m->cwnd;
            m->w_max = m->cwnd;
            m->k = 0;
        } else {
            m->k = root3((m->w_max - m->cwnd) / C);
        }
        m->after_rto = 0;
    }
    t = now - m->epoch;
    m->w_est += (m->w_est < m->prior ? 3 * (1 - BETA) / (1 + BETA) : 1) * segs / m->cwnd;
    if (w_cubic(m, t) < m->w_est) {
        if (m->cwnd < m->w_est)
            m->cwnd = m->w_est;
        return;
    }
    target = w_cubic(m, t + rtt);
    if (target < m->cwnd)
        target = m->cwnd;
    if (target > 1.5 * m->cwnd)
        target = 1.5 * m->cwnd;
    m->cwnd += (target - m->cwnd) / m->cwnd * segs;
}

static void model_congest(struct model *m, int rto)
{
    m->prior = m->cwnd;
    m->w_max = m->cwnd < m->w_max ? m->cwnd * (1 + BETA) / 2 : m->cwnd;
    m->ssthresh = m->cwnd * BETA;
    m->cwnd = m->ssthresh;
    m->begun = 0;
    m->after_rto = rto;
}

/* Both grow for `seconds` by the same ACKs, eight per round trip; returns the largest difference in
 * segments. */
static double grow_both(struct ccbench *b, struct model *m, double seconds, double rtt)
{
    double worst = 0, end = (double)b->now / 1e9 + seconds;

    while ((double)b->now / 1e9 < end) {
        uint32_t bytes = b->t.cwnd / 8;
        double diff;

        ccb_pass(b, rtt / 8);
        model_ack(m, (double)bytes / MSS, (double)b->now / 1e9, rtt);
        ccb_ack(b, bytes, bytes, rtt);
        diff = m->cwnd - ccb_segs(b);
        if (diff < 0)
            diff = -diff;
        if (diff > worst)
            worst = diff;
    }
    return worst;
}

/* R9438-01, R9438-02, R9438-03, R9438-04, R9438-05: the window follows the formulas to less than a
 * segment through concave, convex and Reno-friendly regions, for small and large windows. */
static void test_against_the_formula(void **state)
{
    static const struct {
        unsigned segs;
        double rtt, seconds;
    } runs[] = {{4, 0.02, 20},   {20, 0.005, 20},  {100, 0.1, 30},
                {1000, 0.1, 40}, {20000, 0.1, 60}, {200000, 0.2, 120}};
    unsigned i, j;

    (void)state;
    for (i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
        struct model m = {0};
        struct ccbench b;

        ccb_init(&b, &toec_cc_cubic, runs[i].segs, runs[i].rtt);
        b.t.srtt = (toec_u32)(runs[i].rtt * 1e9 / 1024) << 3;
        m.cwnd = runs[i].segs;
        for (j = 0; j < 3; j++) { /* the second and third loss at less: fast convergence */
            double worst;

            model_congest(&m, 0);
            ccb_congest(&b, TOEC_CC_LOSS);
            worst = grow_both(&b, &m, runs[i].seconds / (j + 1), runs[i].rtt);
            print_message("%u segments, %g s: %.4f segments off, window %.1f\n", runs[i].segs,
                          runs[i].rtt, worst, ccb_segs(&b));
            assert_true(worst < 1.0);
        }
    }
}

/* R9438-04, R5681-06: 0.7 of the outstanding bytes (not of cwnd), two segments at least. */
static void test_decrease(void **state)
{
    struct ccbench b;

    (void)state;
    ccb_init(&b, &toec_cc_cubic, 1000, 0.1);
    ccb_congest(&b, TOEC_CC_LOSS);
    assert_int_equal(b.t.cc.ssthresh, 700 * MSS);
    b.t.cwnd = 2 * MSS;
    ccb_congest(&b, TOEC_CC_LOSS);
    assert_int_equal(b.t.cc.ssthresh, 2 * MSS);
    b.t.cwnd = 1000 * MSS;
    b.t.snd_max = b.t.snd_una + 100 * MSS;
    toec_cc_congested(&b.t, TOEC_CC_LOSS, b.now);
    assert_int_equal(b.t.cc.ssthresh, 70 * MSS);
}

/* R9438-03: however far the curve is ahead, cwnd grows by half per round trip at most. */
static void test_at_most_half(void **state)
{
    struct ccbench b;
    uint32_t before;

    (void)state;
    ccb_init(&b, &toec_cc_cubic, 10, 1.0);
    ccb_congest(&b, TOEC_CC_RTO);
    b.t.cwnd = b.t.cc.ssthresh;
    ccb_ack(&b, MSS, MSS, 1.0);
    ccb_pass(&b, 100);
    before = b.t.cwnd;
    ccb_ack(&b, before, before, 1.0);
    assert_true(b.t.cwnd <= before + before / 2 && b.t.cwnd > before + before / 2 - 100);
}

/* R9438-06: after a timeout K is 0 and W_max is where congestion avoidance begins. */
static void test_timeout(void **state)
{
    struct model m = {0};
    struct ccbench b;
    int i;

    (void)state;
    ccb_init(&b, &toec_cc_cubic, 500, 0.1);
    ccb_congest(&b, TOEC_CC_RTO);
    assert_int_equal(b.t.cwnd, MSS);
    assert_int_equal(b.t.cc.ssthresh, 350 * MSS);
    for (i = 0; i < 2000 && b.t.cwnd < b.t.cc.ssthresh; i++) {
        ccb_pass(&b, 0.001);
        ccb_ack(&b, MSS, MSS, 0.1);
    }
    assert_true(i < 400); /* slow start: one per ACK */
    m.cwnd = ccb_segs(&b);
    m.prior = m.w_max = 500;
    m.after_rto = 1;
    assert_true(grow_both(&b, &m, 20, 0.1) < 1.0);
    assert_true(ccb_segs(&b) > 900); /* convex from the beginning */
}

/* R9438-07: a spurious loss: everything is restored, the epoch too. */
static void test_undo(void **state)
{
    struct ccbench b, was;

    (void)state;
    ccb_init(&b, &toec_cc_cubic, 400, 0.1);
    ccb_congest(&b, TOEC_CC_LOSS);
    ccb_pass(&b, 0.1);
    ccb_ack(&b, b.t.cwnd, b.t.cwnd, 0.1);
    ccb_pass(&b, 2);
    was = b;
    ccb_congest(&b, TOEC_CC_LOSS);
    assert_true(b.t.cwnd < was.t.cwnd);
    toec_cc_undo(&b.t, b.now);
    assert_int_equal(b.t.cwnd, was.t.cwnd);
    assert_int_equal(b.t.cc.ssthresh, was.t.cc.ssthresh);
    assert_int_equal(b.t.cc.u.cubic.w_max, was.t.cc.u.cubic.w_max);
    assert_int_equal(b.t.cc.u.cubic.now.e.k, was.t.cc.u.cubic.now.e.k);
    assert_int_equal(b.t.cc.u.cubic.now.e.epoch, was.t.cc.u.cubic.now.e.epoch);
    assert_int_equal(b.t.cc.u.cubic.now.e.w_est, was.t.cc.u.cubic.now.e.w_est);
    assert_int_equal(b.t.cc.u.cubic.epoch_set, 1);
    /* detected when the window is larger again: nothing is restored */
    ccb_congest(&b, TOEC_CC_LOSS);
    b.t.cwnd = was.t.cwnd + MSS;
    toec_cc_undo(&b.t, b.now);
    assert_int_equal(b.t.cwnd, was.t.cwnd + MSS);
    assert_int_equal(b.t.cc.u.cubic.epoch_set, 0);
}

/* R9438-09: neither idle time nor time in which the application sent less is time on the curve. */
static void test_unused_time(void **state)
{
    struct ccbench a, b;
    int i;

    (void)state;
    ccb_init(&a, &toec_cc_cubic, 300, 0.1);
    ccb_congest(&a, TOEC_CC_LOSS);
    ccb_ack(&a, MSS, MSS, 0.1);
    b = a;
    for (i = 0; i < 100; i++) { /* 10 s of ACKs while not window-limited */
        ccb_pass(&b, 0.1);
        ccb_ack(&b, MSS, 0, 0.1);
    }
    ccb_pass(&b, 3600); /* an hour of silence */
    b.t.cc_ops->restart(&b.t, 0, b.now);
    for (i = 0; i < 50; i++) {
        ccb_pass(&a, 0.1);
        ccb_pass(&b, 0.1);
        ccb_ack(&a, a.t.cwnd, a.t.cwnd, 0.1);
        ccb_ack(&b, b.t.cwnd, b.t.cwnd, 0.1);
    }
    assert_in_range(b.t.cwnd, a.t.cwnd - 2, a.t.cwnd + 2);
    assert_true(a.t.cwnd > 290 * MSS);
}

/* An epoch may last for hours: the clock stops at 137 s, far above W_max, and nothing wraps. */
static void test_long_epoch(void **state)
{
    struct ccbench b;
    uint32_t last;
    int i;

    (void)state;
    ccb_init(&b, &toec_cc_cubic, 100, 0.1);
    ccb_congest(&b, TOEC_CC_LOSS);
    last = b.t.cwnd;
    for (i = 0; i < 20000; i++) {
        ccb_pass(&b, 1);
        ccb_ack(&b, b.t.cwnd / 4, b.t.cwnd < TOEC_CWND_MAX / 2 ? b.t.cwnd / 4 : 0, 0.1);
        assert_true(b.t.cwnd >= last && b.t.cwnd <= TOEC_CWND_MAX);
        last = b.t.cwnd;
    }
    assert_true(last > 100000 * MSS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_the_formula),
        cmocka_unit_test(test_decrease),
        cmocka_unit_test(test_at_most_half),
        cmocka_unit_test(test_timeout),
        cmocka_unit_test(test_undo),
        cmocka_unit_test(test_unused_time),
        cmocka_unit_test(test_long_epoch),
    };

    return cmocka_run_group_tests(tests, 0, 0);
}
