/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_pace.c - pacing: the rate is kept, bursts are at most a quantum and half a quantum
 * apart, and no other flow is delayed. Congestion window validation (RFC 7661).
 */
#include "tcptalk.h"

#define MSS 1460u

static int set_rate(struct talk *t, uint32_t rate)
{
    return talk_option(t, TOEC_OPT_MAX_PACING, rate);
}

/* ACKs in transit to the stack. */
static struct {
    toec_time at;
    uint32_t end;
} line[65536];
static unsigned head, tail;

static void begin(struct talk *t, uint32_t gso)
{
    talk_init(t);
    t->sack = 1;
    t->wscale = 9;
    t->s.host[0].tx_buf = 1 << 24;
    t->s.host[0].cfg.max_gso = gso;
    head = tail = 0;
    talk_passive(t);
}

/* Sends twenty single segments, after which the RTT is known. */
static void warm(struct talk *t, uint32_t *at, toec_time rtt)
{
    int i;

    for (i = 0; i < 20; i++) {
        talk_send(t, MSS);
        craft_pass(&t->s, rtt);
        *at += MSS;
        talk_say(t, F_ACK, 0, *at, 0);
        talk_skip(t);
    }
}

/* What a flow sends while everything is acknowledged 10 ms later, in steps of `step`. */
struct flow_shape {
    uint64_t bytes;
    uint32_t burst;      /* largest, in bytes */
    toec_time least_gap; /* between full bursts */
};

static struct flow_shape watch(struct talk *t, toec_time length, toec_time step)
{
    struct flow_shape f = {0, 0, ~(toec_time)0};
    toec_time until = t->s.now + length, last = 0;
    uint32_t seen = 0;
    struct tseg g;

    while (t->s.now < until) {
        uint32_t burst = 0;

        talk_send(t, 1 << 24);
        while (craft_next(&t->s, &g)) {
            burst += g.len;
            if ((int32_t)(g.seq + g.len - (t->iss + 1) - seen) > 0)
                seen = g.seq + g.len - (t->iss + 1);
        }
        while (t->s.sent_n)
            free(t->s.sent[--t->s.sent_n]);
        t->s.sent_read = 0;
        if (burst) {
            line[head % 65536].at = t->s.now + 10 * MSEC;
            line[head++ % 65536].end = seen;
            if (last && t->s.now - last < f.least_gap)
                f.least_gap = t->s.now - last;
            last = t->s.now;
        }
        f.bytes += burst;
        if (burst > f.burst)
            f.burst = burst;
        t->s.now += step;
        while (tail != head && line[tail % 65536].at <= t->s.now)
            talk_put(t, F_ACK, 0, line[tail++ % 65536].end, 0);
    }
    return f;
}

/* The rate is kept to 2% at any rate and however late the stack is polled. A burst is never more
 * than a quantum: the bytes of a millisecond, at least two segments, at most 64 KiB (or 131 us). */
static void test_rate_and_bursts(void **state)
{
    static const struct {
        toec_time step;
        uint32_t rate; /* bytes per second */
        uint32_t gso;
    } runs[] = {{1 * MSEC, 100000, 0},          {100 * USEC, 1000000, 0},
                {100 * USEC, 12500000, 0},      {50 * USEC, 125000000, 61440},
                {20 * USEC, 1250000000, 61440}, {4 * MSEC, 10000000, 0}};
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
        toec_time length = runs[i].rate > 20000000 ? 200 * MSEC : 2 * SEC;
        uint64_t quantum = runs[i].rate / 1000, want;
        struct talk t;
        struct flow_shape f;
        uint32_t at = 0;

        begin(&t, runs[i].gso);
        warm(&t, &at, 10 * MSEC);
        assert_int_equal(set_rate(&t, runs[i].rate), 0);
        watch(&t, runs[i].rate > 20000000 ? 300 * MSEC : 1 * SEC, runs[i].step); /* slow start */
        f = watch(&t, length, runs[i].step);
        want = (uint64_t)runs[i].rate * length / SEC;
        if (quantum > 65536)
            quantum = 65536;
        if (quantum < runs[i].rate / 7500)
            quantum = runs[i].rate / 7500;
        quantum += quantum / 10;
        if (quantum < 2ull * MSS)
            quantum = 2ull * MSS;
        quantum += runs[i].rate * (runs[i].step + 17 * USEC) / SEC; /* made up after a late poll */
        print_message("%u B/s: %llu of %llu bytes, bursts up to %u, at least %llu us apart\n",
                      runs[i].rate, (unsigned long long)f.bytes, (unsigned long long)want, f.burst,
                      (unsigned long long)f.least_gap / 1000);
        assert_true(f.bytes <= want + want / 50 + 4ull * MSS);
        assert_true(f.bytes >= want - want / 50 - 4ull * MSS);
        assert_true(f.burst <= quantum);
        talk_end(&t);
    }
}

/* The deadline of toec_poll() is that of the next burst, finer than a tick of the timer wheel. A
 * flow without a limit sends at once, and so does the ACK of a paced flow. */
static void test_deadline(void **state)
{
    struct talk t;
    toec_time due;
    unsigned n;

    (void)state;
    begin(&t, 0);
    assert_int_equal(talk_info(&t).pacing_rate, 0);
    assert_int_equal(set_rate(&t, 20000000), 0); /* 20 KB in a ms: 13 segments */
    talk_send(&t, 10 * MSS);
    assert_int_equal(talk_skip(&t), 10);
    assert_int_equal(set_rate(&t, 5840000), 0); /* two segments in 0.5 ms; a quantum is 4 */
    talk_say(&t, F_ACK, 0, 10 * MSS, 0);
    assert_in_range(talk_info(&t).pacing_rate, 5839000, 5841000);
    assert_in_range(talk_info(&t).max_pacing_rate, 5839000, 5841000);
    craft_pass(&t.s, 100 * MSEC);
    talk_set(&t, TOEC_OPT_QUICKACK, 1);
    talk_send(&t, 20 * MSS);
    n = talk_skip(&t);
    assert_int_equal(n, 4);
    due = t.s.now;
    talk_say(&t, F_ACK | F_PSH, 0, 10 * MSS, 10); /* received data: its ACK is not paced */
    talk_hear(&t, F_ACK, 14 * MSS, 10, 0);
    talk_silence(&t);
    for (n = 0; n < 10 && talk_skip(&t) == 0; n++) { /* coarse slots of the wheel expire early */
        t.s.now = toec_poll(t.s.host[0].stack, t.s.now);
        craft_poll(&t.s);
    }
    due = t.s.now - due;
    assert_true(due >= 999 * USEC && due <= 1020 * USEC);
    assert_int_equal(set_rate(&t, 0xffffffffu), 0); /* the limit is removed */
    assert_int_equal(talk_info(&t).pacing_rate, 0);
    talk_send(&t, MSS);
    assert_true(talk_skip(&t) >= 2);
    assert_int_equal(toec_poll(t.s.host[0].stack, t.s.now) > t.s.now, 1);
    talk_end(&t);
}

/* A flow that ends while it waits for its next burst leaves no timer behind. */
static void test_end_while_waiting(void **state)
{
    struct talk t;

    (void)state;
    begin(&t, 0);
    set_rate(&t, 1000);
    talk_send(&t, 100 * MSS);
    conn_abort(t.c);
    craft_pass(&t.s, 100 * SEC);
    talk_end(&t);
}

/* A retransmission does not wait behind unsent data, but counts toward the rate. */
static void test_retransmission_is_not_held(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    begin(&t, 0);
    set_rate(&t, 2000);
    talk_send(&t, 4 * MSS);
    talk_hear(&t, F_ACK, 0, 0, MSS);
    talk_hear(&t, F_ACK, MSS, 0, MSS);
    talk_silence(&t); /* the next are due after 1.46 s */
    craft_pass(&t.s, 1300 * MSEC);
    assert_int_equal(craft_next(&t.s, &g), 1);
    assert_true(g.seq == t.iss + 1 || g.seq == t.iss + 1 + MSS);
    talk_end(&t);
}

/* ---- congestion window validation ---- */

static void answer_all(struct talk *t, uint32_t *at, toec_time rtt)
{
    craft_pass(&t->s, rtt);
    *at += talk_info(t).in_flight;
    talk_say(t, F_ACK, 0, *at, 0);
    talk_skip(t);
    while (t->s.sent_n)
        free(t->s.sent[--t->s.sent_n]);
    t->s.sent_read = 0;
}

/* Runs slow start to about 120 segments, then an application that sends ten per round trip. */
static void rate_limited(struct talk *t, uint32_t *at)
{
    int i;

    begin(t, 61440);
    warm(t, at, 100 * MSEC);
    talk_send(t, (10 + 20 + 40 + 80) * MSS);
    for (i = 0; i < 4; i++)
        answer_all(t, at, 100 * MSEC);
    assert_int_equal(talk_info(t).in_flight, 0);
    for (i = 0; i < 30; i++) {
        talk_send(t, 10 * MSS);
        answer_all(t, at, 100 * MSEC);
    }
}

/* R7661-02: an unused window is kept, and does not grow. */
static void test_cwnd_is_kept(void **state)
{
    struct talk t;
    uint32_t at = 0, cwnd;

    (void)state;
    rate_limited(&t, &at);
    cwnd = talk_info(&t).cwnd;
    assert_true(cwnd >= 110 * MSS && cwnd <= 180 * MSS);
    craft_pass(&t.s, 60 * SEC);
    assert_int_equal(talk_info(&t).cwnd, cwnd);
    /* and can be used again, though not in one burst: paced at twice cwnd / SRTT */
    talk_send(&t, 200 * MSS);
    assert_true(talk_skip(&t) < 20);
    assert_true(talk_info(&t).pacing_rate > 0);
    craft_pass(&t.s, 150 * MSEC);
    assert_int_equal(talk_info(&t).in_flight, cwnd / MSS * MSS);
    at += MSS;
    talk_say(&t, F_ACK, 0, at, 0);
    assert_int_equal(talk_info(&t).pacing_rate, 0);
    talk_end(&t);
}

/* A paced flow sends its initial window at once (RFC 6928): a short answer does not wait for the
 * rate of an RTT that the handshake has measured. The next window is paced, and so is the first one
 * under a limit. */
static void test_initial_window_is_one_burst(void **state)
{
    unsigned i, limited;
    struct talk t;

    (void)state;
    for (i = 0; i < 4; i++) {
        limited = i & 1;
        talk_init(&t);
        t.sack = 1;
        t.wscale = 9;
        t.rtt = 100 * MSEC;
        t.s.host[0].tx_buf = 1 << 20;
        talk_passive(&t);
        talk_set(&t, TOEC_OPT_CC, i & 2 ? TOEC_CC_BBR1 : TOEC_CC_BBR3);
        if (limited)
            assert_int_equal(set_rate(&t, 1000000), 0);
        talk_send(&t, 40 * MSS);
        assert_int_equal(talk_skip(&t), limited ? 2 : 10);
        if (!limited) {
            craft_pass(&t.s, 100 * MSEC);
            talk_say(&t, F_ACK, 0, 10 * MSS, 0);
            assert_in_range(talk_skip(&t), 1, 4);
        }
        talk_end(&t);
    }
}

/* R7661-01, R7661-03: a loss while the window is not validated: the reduction starts from the data
 * in flight. */
static void test_loss_when_not_validated(void **state)
{
    struct talk t;
    struct toec_info i;
    uint32_t at = 0, b[4];

    (void)state;
    rate_limited(&t, &at);
    talk_send(&t, 10 * MSS);
    b[0] = at + MSS;
    b[1] = at + 9 * MSS;
    b[2] = b[3] = 0;
    talk_sack(&t, 0, at, b);
    i = talk_info(&t);
    assert_int_equal(i.ssthresh, 7 * MSS);
    answer_all(&t, &at, 100 * MSEC);
    answer_all(&t, &at, 100 * MSEC);
    i = talk_info(&t);
    /* 10 segments less the retransmitted one, halved */
    assert_true(i.ssthresh <= 5 * MSS && i.ssthresh >= 2 * MSS);
    assert_true(i.cwnd <= 8 * MSS);
    talk_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rate_and_bursts),
        cmocka_unit_test(test_deadline),
        cmocka_unit_test(test_end_while_waiting),
        cmocka_unit_test(test_retransmission_is_not_held),
        cmocka_unit_test(test_cwnd_is_kept),
        cmocka_unit_test(test_initial_window_is_one_burst),
        cmocka_unit_test(test_loss_when_not_validated),
    };

    return cmocka_run_group_tests(tests, 0, 0);
}
