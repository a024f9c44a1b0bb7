/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_bbr.c - BBR version 3 (draft-ietf-ccwg-bbr-06) over a modelled bottleneck: one queue of
 * a rate and a size, a delay, random loss; the algorithm and its pacing by themselves. Delivery
 * rate samples.
 */
#include "cc/cc_bbr.h"
#include "cc/cc_newreno.h"
#include "cc/tcp_cc.h"
#include "ccbench.h"
#include "tcp/tcp_tables.h"
#include "tcp/tcp_timer.h"

#define PACKETS 65536u

struct packet {
    struct toec_tx_mark mark;
    toec_time sent, back; /* ACK arrives; 0: lost */
    toec_u32 mss;         /* of it; 0 when done with */
};

/* One flow over one link. */
struct path {
    struct ccbench b;
    struct toec_stack s;
    struct toec_tcp tcp;
    double rate; /* bytes per second */
    toec_time rtt;
    uint32_t limit;      /* of the queue, bytes */
    double loss;         /* chance */
    toec_time idle;      /* application-limited before that */
    toec_time freed;     /* the link has sent all it holds */
    uint32_t head, tail; /* packets under way: tail..head */
    uint32_t flight, recover;
    uint64_t delivered, lost;
    double queue_max; /* seconds, since it was last set to 0 */
    unsigned seen;    /* states, bits */
    struct packet p[PACKETS];
};

static struct path p;

static void path_init(double mbit, toec_time rtt, double buffer_bdp, double loss, uint64_t seed)
{
    random_begin(seed);
    memset(&p, 0, sizeof(p));
    p.rate = mbit * 125000;
    p.rtt = rtt;
    p.limit = (uint32_t)(p.rate * (double)rtt / 1e9 * buffer_bdp);
    p.loss = loss;
    p.s.tcp = &p.tcp;
    p.b.now = 5 * SEC;
    p.b.t.mss = MSS;
    p.b.t.flags = TOEC_F_SACK;
    p.b.t.snd_una = p.b.t.snd_nxt = p.b.t.snd_max = 1000;
    p.b.t.iss = 999;
    p.b.t.cc_ops = &toec_cc_bbr3;
    ccb_record(&p.b);
    toec_wheel_init(&p.tcp.pace_wheel, p.b.now << TOEC_PACE_SHIFT);
    toec_rtt_sample(&p.b.t, (toec_u32)(rtt >> 10));
    toec_cc_start(&p.s, &p.b.t, p.b.now);
}

static void set_flight(void)
{
    p.b.t.snd_una = p.b.t.snd_max - p.flight;
    p.b.t.snd_nxt = p.b.t.snd_max;
}

static void send_one(void)
{
    struct packet *k = &p.p[p.head++ % PACKETS];
    struct toec_tcb *t = &p.b.t;
    double waiting;

    assert_true(p.head - p.tail < PACKETS);
    if (p.flight == 0)
        toec_cc_restart(&p.s, t, p.b.now);
    toec_rate_sent(t, &k->mark, p.flight, MSS, p.b.now);
    toec_pace_sent(t, MSS, p.b.now);
    t->snd_max += MSS;
    p.flight += MSS;
    set_flight();
    k->sent = p.b.now;
    k->mss = MSS;
    if (p.freed < p.b.now)
        p.freed = p.b.now;
    waiting = (double)(p.freed - p.b.now) / 1e9;
    if (waiting * p.rate > p.limit || random_below(1000000) < p.loss * 1e6) {
        k->back = 0;
        return;
    }
    if (waiting > p.queue_max)
        p.queue_max = waiting;
    p.freed += (toec_time)(MSS / p.rate * 1e9);
    k->back = p.freed + p.rtt;
}

static void output(void)
{
    struct toec_tcb *t = &p.b.t;

    if (p.b.now < p.idle) {
        if (p.flight < t->cwnd)
            toec_rate_app_limited(t, p.flight);
        return;
    }
    t->flags &= ~TOEC_F_CWND_LIM;
    for (;;) {
        if (p.flight + MSS > t->cwnd) {
            t->flags |= TOEC_F_CWND_LIM;
            return;
        }
        if (!toec_pace_ready(&p.s, t, p.b.now))
            return;
        send_one();
    }
}

/* The packet before the one just acknowledged is lost. */
static void lose(struct packet *k)
{
    struct toec_tcb *t = &p.b.t;

    p.flight -= k->mss;
    set_flight();
    if (!(t->flags & TOEC_F_FAST)) {
        toec_cc_congested(t, TOEC_CC_LOSS, p.b.now);
        t->flags |= TOEC_F_FAST;
        p.recover = p.head;
    }
    toec_rate_lost(t, &k->mark, k->mss, p.b.now);
    p.lost += k->mss;
    k->mss = 0;
}

static void acks(void)
{
    struct toec_tcb *t = &p.b.t;

    while (p.tail != p.head) {
        struct packet *k = &p.p[p.tail % PACKETS];
        struct toec_cc_ack a;

        if (k->back == 0) { /* known when three later ones have come */
            struct packet *later = &p.p[(p.tail + 3) % PACKETS];

            if (p.head - p.tail <= 3) {
                if (p.b.now - k->sent < 2 * p.rtt)
                    return; /* a tail loss probe will show it */
            } else if (later->back > p.b.now ||
                       (later->back == 0 && p.b.now - k->sent < 2 * p.rtt)) {
                return;
            }
            lose(k);
            p.tail++;
            continue;
        }
        if (k->back > p.b.now)
            return;
        memset(&a, 0, sizeof(a));
        a.now = p.b.now;
        a.recovery = (t->flags & TOEC_F_FAST) != 0;
        toec_rtt_sample(t, (toec_u32)((p.b.now - k->sent) >> 10));
        toec_rate_delivered(t, &k->mark, k->mss, toec_stamp(k->sent), 0, p.b.now);
        p.flight -= k->mss;
        set_flight();
        p.delivered += k->mss;
        p.tail++;
        if ((t->flags & TOEC_F_FAST) && (int32_t)(p.tail - p.recover) >= 0) {
            t->flags &= ~TOEC_F_FAST;
            toec_cc_recovered(t, p.b.now);
        }
        a.acked = a.delivered = k->mss;
        toec_cc_acked(&p.s, t, &a);
        p.seen |= 1u << t->cc.u.bbr->state;
    }
}

static void run(double seconds)
{
    toec_time until = p.b.now + (toec_time)(seconds * 1e9);

    while (p.b.now < until) {
        acks();
        output();
        p.b.now += 50 * USEC;
    }
}

/* Share of the link used during `seconds`. */
static double used(double seconds)
{
    uint64_t before = p.delivered;

    run(seconds);
    return (double)(p.delivered - before) / (p.rate * seconds);
}

static struct toec_cc_bbr *bbr(void)
{
    return p.b.t.cc.u.bbr;
}

static double bdp_of_queue(void)
{
    return p.queue_max / ((double)p.rtt / 1e9);
}

/* Startup fills the pipe, Drain empties the queue it made, ProbeBW keeps the link busy with a queue
 * below 1.5 BDP at any time, whatever the rate. */
static void test_fills_the_pipe(void **state)
{
    static const double mbit[] = {2, 20, 200};
    unsigned i;

    (void)state;
    for (i = 0; i < 3; i++) {
        double share, bw;

        path_init(mbit[i], 40 * MSEC, 10, 0, 1);
        run(2);
        assert_true(bbr()->full_bw_reached);
        assert_true(p.seen & 1u << TOEC_BBR_STARTUP && p.seen & 1u << TOEC_BBR_DRAIN);
        bw = (double)toec_rate_to_bps(bbr()->bw) / p.rate;
        assert_true(bw > 0.95 && bw < 1.1);
        p.queue_max = 0;
        share = used(10);
        print_message("%g Mbit/s: %.1f%% used, queue at most %.2f BDP, lost %llu\n", mbit[i],
                      share * 100, bdp_of_queue(), (unsigned long long)p.lost);
        assert_true(share > 0.93);
        assert_true(bdp_of_queue() < 1.5);
        assert_int_equal(p.lost, 0);
        assert_true((p.seen >> TOEC_BBR_DOWN & 15) == 15); /* all four of ProbeBW */
    }
}

/* 5.3.4: after 5 s without a lower round trip, 200 ms with half the BDP; the window recovers. */
static void test_probe_rtt(void **state)
{
    uint32_t least = ~0u, most, i;

    (void)state;
    path_init(20, 40 * MSEC, 10, 0, 2);
    run(4.5);
    assert_false(p.seen & 1u << TOEC_BBR_PROBE_RTT);
    most = p.b.t.cwnd;
    for (i = 0; i < 300; i++) {
        run(0.01);
        if (bbr()->state == TOEC_BBR_PROBE_RTT && p.flight < least)
            least = p.flight;
    }
    assert_true(p.seen & 1u << TOEC_BBR_PROBE_RTT);
    assert_true(least <= 0.55 * p.rate * 0.04 + 4 * MSS);
    assert_true(bbr()->state != TOEC_BBR_PROBE_RTT);
    assert_true(p.b.t.cwnd > most / 2);
    /* the floor of the round trip is known: 40 ms and the time to send a packet */
    assert_in_range(bbr()->min_rtt, (40000000 >> 10), (42000000 >> 10));
}

/* 1% of random loss keeps more than 80% of the rate (CUBIC: a few percent). */
static void test_random_loss(void **state)
{
    double share;
    uint64_t sent;

    (void)state;
    path_init(50, 40 * MSEC, 3, 0.01, 3);
    run(3);
    share = used(15);
    sent = p.delivered + p.lost;
    print_message("1%% loss: %.1f%% of the rate, %.2f%% lost\n", share * 100,
                  100.0 * (double)p.lost / (double)sent);
    assert_true(share > 0.8);
    assert_true((double)p.lost < 0.02 * (double)sent);
}

/* A queue of a fifth of the BDP: inflight_longterm learns its size, losses stay few. */
static void test_shallow_buffer(void **state)
{
    double share;
    uint64_t lost;

    (void)state;
    path_init(50, 40 * MSEC, 0.2, 0, 4);
    run(5);
    lost = p.lost;
    share = used(15);
    lost = p.lost - lost;
    print_message("shallow: %.1f%% used, %.2f%% lost\n", share * 100,
                  100.0 * (double)lost / (15 * p.rate));
    assert_true(share > 0.8);
    assert_true((double)lost < 0.02 * 15 * p.rate);
    assert_true(bbr()->inflight_longterm != 0xffffffffu);
}

/* The path becomes slower, then faster: the model follows within two cycles of ProbeBW. */
static void test_rate_changes(void **state)
{
    double share;

    (void)state;
    path_init(40, 40 * MSEC, 4, 0, 5);
    run(3);
    p.rate /= 4;
    run(8);
    p.queue_max = 0;
    share = used(5);
    print_message("a quarter of the rate: %.1f%%, queue %.2f BDP\n", share * 100, bdp_of_queue());
    assert_true(share > 0.9 && bdp_of_queue() < 1.6);
    p.rate *= 4;
    run(8);
    share = used(5);
    print_message("four times the rate: %.1f%%\n", share * 100);
    assert_true(share > 0.85);
}

/* Samples while the application is the limit are marked and do not lower the estimate. */
static void test_app_limited(void **state)
{
    toec_u64 before;
    int i;

    (void)state;
    path_init(20, 40 * MSEC, 10, 0, 6);
    run(3);
    before = bbr()->bw;
    assert_false(toec_rate_of(&p.b.t)->bw_app_limited);
    for (i = 0; i < 40; i++) {
        p.idle = p.b.now + 90 * MSEC;
        run(0.1); /* 10 ms of sending, 90 of silence */
    }
    assert_true(toec_rate_of(&p.b.t)->app_limited != 0);
    assert_true(bbr()->bw >= before * 9 / 10);
    p.idle = 0;
    run(1);
    assert_true(used(3) > 0.9);
    assert_false(toec_rate_of(&p.b.t)->bw_app_limited);
}

/* 5.5.11: a spurious loss restores window and bounds. */
static void test_undo(void **state)
{
    uint32_t cwnd;

    (void)state;
    path_init(20, 40 * MSEC, 10, 0, 7);
    run(3);
    cwnd = p.b.t.cwnd;
    toec_cc_congested(&p.b.t, TOEC_CC_RTO, p.b.now);
    p.b.t.flags |= TOEC_F_LOSS;
    assert_int_equal(p.b.t.cwnd, MSS);
    bbr()->inflight_shortterm = 5 * MSS;
    bbr()->bw_shortterm = 1000;
    p.b.t.flags &= ~TOEC_F_LOSS;
    toec_cc_undo(&p.b.t, p.b.now);
    assert_int_equal(p.b.t.cwnd, cwnd);
    assert_int_equal(bbr()->inflight_shortterm, 0xffffffffu);
    assert_true(used(2) > 0.9);
}

/* The sample is delivered / max(send time, ACK time): ACKs that arrive together do not raise it
 * beyond the rate at which the data was sent (draft 4.1.1.2.3). */
static void test_ack_compression(void **state)
{
    struct toec_tx_mark m[20];
    struct ccbench b;
    unsigned i;
    double bps;

    (void)state;
    ccb_init(&b, &toec_cc_newreno, 100, 0.01);
    toec_rate_start(&b.t, b.now);
    b.t.min_rtt = 1;
    for (i = 0; i < 20; i++) { /* 1 ms apart: 1448 KB/s */
        toec_rate_sent(&b.t, &m[i], i * MSS, MSS, b.now + i * MSEC);
        assert_int_equal(m[i].in_flight, (i + 1) * MSS);
    }
    for (i = 0; i < 20; i++) { /* and all of them known to have come at 50 ms */
        toec_rate_delivered(&b.t, &m[i], MSS, toec_stamp(b.now + i * MSEC), 0, b.now + 50 * MSEC);
        toec_rate_sample(&b.t);
        memset(&toec_rate_of(&b.t)->rs, 0, sizeof(toec_rate_of(&b.t)->rs));
    }
    bps = (double)toec_rate_to_bps(toec_rate_of(&b.t)->bw);
    assert_true(bps > 500e3 && bps < 1.6e6);
    assert_int_equal(toec_rate_of(&b.t)->delivered, 20 * MSS);
    /* an interval shorter than any round trip is no sample */
    toec_rate_of(&b.t)->bw = 0;
    b.t.min_rtt = (toec_u32)(60 * MSEC >> 10);
    toec_rate_delivered(&b.t, &m[19], MSS, toec_stamp(b.now + 49 * MSEC), 0, b.now + 51 * MSEC);
    toec_rate_sample(&b.t);
    assert_true(toec_rate_of(&b.t)->bw == 0 && toec_rate_of(&b.t)->rs.interval == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fills_the_pipe), cmocka_unit_test(test_probe_rtt),
        cmocka_unit_test(test_random_loss),    cmocka_unit_test(test_shallow_buffer),
        cmocka_unit_test(test_rate_changes),   cmocka_unit_test(test_app_limited),
        cmocka_unit_test(test_undo),           cmocka_unit_test(test_ack_compression),
    };

    return cmocka_run_group_tests(tests, 0, 0);
}
