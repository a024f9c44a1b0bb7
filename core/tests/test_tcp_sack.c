/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_sack.c - SACK (RFC 2018), recovery with it (the parts of RFC 6675 that RACK does not
 * replace, PRR of RFC 9937), DSACK both ways (RFC 2883), and the record of transmissions against a
 * model with a mark for each byte. Seeded; TOE_TEST_SEED repeats a run.
 */
#include "tcptalk.h"

#include "cc/tcp_record.h"
#include "tcp/tcp.h"
#include "tcp/tcp_runs.h"

#define MSS 1460u
#define RTT (100 * MSEC)

static void begin(struct talk *t, unsigned n)
{
    talk_init(t);
    t->s.host[0].cfg.cc = TOEC_CC_NEWRENO;
    talk_flight(t, 1, n);
    craft_pass(&t->s, RTT);
    talk_silence(t);
}

/* ---- recovery ---- */

/* R6675-03, R6675-07: each hole is retransmitted once, then new data is sent. If there is none, the
 * last segment is retransmitted once more, after a round trip without a SACK of it. */
static void test_holes_then_rescue(void **state)
{
    static const uint32_t b[] = {4 * MSS, 7 * MSS, MSS, 3 * MSS, 0, 0};
    static const uint32_t rest[] = {4 * MSS, 7 * MSS, 0, 0};
    struct talk t;

    (void)state;
    begin(&t, 7);
    talk_send(&t, 2 * MSS); /* 7 and 8, a round trip later */
    talk_skip(&t);
    talk_sack(&t, 0, 0, b); /* 0 and 3 are lost; 7 and 8 will be */
    talk_hear(&t, F_ACK, 0, 0, MSS);
    talk_hear(&t, F_ACK, 3 * MSS, 0, MSS);
    talk_silence(&t);
    craft_pass(&t.s, RTT);
    talk_sack(&t, 0, 3 * MSS, rest);
    talk_silence(&t);
    craft_pass(&t.s, 30 * MSEC);
    talk_sack(&t, 0, 3 * MSS, rest);
    talk_hear(&t, F_ACK, 8 * MSS, 0, MSS); /* the rescue: older than a round trip */
    talk_silence(&t);
    craft_pass(&t.s, RTT);
    talk_say(&t, F_ACK, 0, 9 * MSS, 0);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_timeouts), 0);
    talk_end(&t);
}

/* ... once per recovery: not again for data sent since. */
static void test_one_rescue(void **state)
{
    static const uint32_t b[] = {4 * MSS, 7 * MSS, MSS, 3 * MSS, 0, 0};
    static const uint32_t rest[] = {4 * MSS, 7 * MSS, 0, 0};
    struct talk t;

    (void)state;
    begin(&t, 7);
    talk_send(&t, 2 * MSS);
    talk_skip(&t);
    talk_sack(&t, 0, 0, b);
    talk_skip(&t);
    craft_pass(&t.s, RTT);
    talk_sack(&t, 0, 3 * MSS, rest);
    craft_pass(&t.s, 30 * MSEC);
    talk_sack(&t, 0, 3 * MSS, rest);
    talk_hear(&t, F_ACK, 8 * MSS, 0, MSS);
    talk_send(&t, MSS);
    talk_hear(&t, F_ACK, 9 * MSS, 0, MSS);
    craft_pass(&t.s, RTT + 30 * MSEC);
    t.c->flow->cwnd += 2 * MSS; /* it is not the window that forbids it */
    talk_sack(&t, 0, 3 * MSS, rest);
    talk_silence(&t);
    talk_end(&t);
}

static void records(struct talk *t, unsigned n, uint32_t len)
{
    while (n--) {
        assert_int_equal(conn_write(t->c, len, 1), len);
        assert_int_equal(toec_eor(t->s.host[0].stack, t->c->flow), 0);
    }
    craft_poll(&t->s);
}

/* PRR always permits a segment when nothing is in flight, however little was delivered (RFC 9937
 * 6). Records of 10 bytes are delivered, one of 1460 is lost. */
static void test_prr_with_nothing_in_flight(void **state)
{
    static const uint32_t first[] = {1470, 1500, 0, 0};
    static const uint32_t second[] = {1510, 1540, 1470, 1500, 0, 0};
    struct talk t;

    (void)state;
    begin(&t, 0);
    talk_set(&t, TOEC_OPT_NODELAY, 1);
    records(&t, 1, 10);
    records(&t, 1, MSS);
    records(&t, 3, 10);
    assert_int_equal(talk_skip(&t), 5);
    craft_pass(&t.s, 10 * MSEC);
    records(&t, 4, 10);
    assert_int_equal(talk_skip(&t), 4);
    craft_pass(&t.s, RTT);
    talk_sack(&t, 0, 0, first); /* the first two records are lost */
    craft_pass(&t.s, 26 * MSEC);
    talk_hear(&t, F_ACK, 0, 0, 10);
    talk_silence(&t);
    craft_pass(&t.s, 30 * MSEC);
    talk_sack(&t, 0, 10, second); /* ... and another one of ten bytes */
    talk_hear(&t, F_ACK, 10, 0, MSS);
    talk_end(&t);
}

/* R6937-01, R6675-04, R6675-05: from 20 segments in flight down to 10 within the round trip, one
 * sent for every two delivered. */
static void test_prr(void **state)
{
    struct talk t;
    unsigned i, sent, total = 0;
    uint32_t b[4] = {MSS, 0, 0, 0};

    (void)state;
    talk_init(&t);
    t.s.host[0].cfg.cc = TOEC_CC_NEWRENO;
    t.s.host[0].tx_buf = 1 << 18;
    t.sack = 1;
    t.rtt = RTT;
    talk_passive(&t);
    t.c->flow->cwnd = 20 * MSS;
    talk_send(&t, 60 * MSS);
    assert_int_equal(talk_skip(&t), 20);
    craft_pass(&t.s, RTT);
    for (i = 1; i < 20; i++) { /* 0 is lost; the SACKs arrive one by one */
        b[1] = (i + 1) * MSS;
        talk_sack(&t, 0, 0, b);
        sent = talk_skip(&t);
        if (i < 3) { /* R3042-01: limited transmit, R3042-02: beyond an unchanged window */
            assert_int_equal(sent, 1);
            assert_int_equal(talk_info(&t).cwnd, 20 * MSS);
            continue;
        }
        if (i == 3) /* recovery begins with 22 in flight, two of them by limited transmit */
            assert_int_equal(talk_info(&t).ssthresh, 10 * MSS);
        assert_true(sent <= 1 || i == 3);
        total += sent;
    }
    assert_in_range(total, 8, 11);
    assert_in_range(toec_pipe(t.c->flow), 10 * MSS, 12 * MSS);
    talk_say(&t, F_ACK, 0, talk_info(&t).in_flight, 0);
    assert_int_equal(talk_info(&t).ssthresh, 10 * MSS);
    talk_end(&t);
}

/* R6937-02: 17 of 20 segments are lost, so that less than ssthresh is in flight: each ACK releases
 * one segment more than it delivers, until ssthresh is in flight, and no more. */
static void test_prr_slow_start(void **state)
{
    static const uint32_t b[4] = {17 * MSS, 20 * MSS, 0, 0};
    struct talk t;
    unsigned i, sent;
    uint32_t pipe = 0;

    (void)state;
    talk_init(&t);
    t.s.host[0].cfg.cc = TOEC_CC_NEWRENO;
    t.s.host[0].tx_buf = 1 << 18;
    t.sack = 1;
    t.rtt = RTT;
    talk_passive(&t);
    t.c->flow->cwnd = 20 * MSS;
    talk_send(&t, 40 * MSS);
    assert_int_equal(talk_skip(&t), 20);
    craft_pass(&t.s, RTT);
    talk_sack(&t, 0, 0, b);
    assert_int_equal(talk_skip(&t), 3); /* one for each delivered segment */
    assert_int_equal(talk_info(&t).ssthresh, 10 * MSS);
    for (i = 1; i < 12; i++) {
        craft_pass(&t.s, RTT / 20);
        talk_sack(&t, 0, i * MSS, b);
        sent = talk_skip(&t);
        assert_int_equal(sent, pipe < 10 * MSS ? 2 : 1);
        pipe = toec_pipe(t.c->flow);
    }
    assert_int_equal(pipe, 10 * MSS);
    talk_end(&t);
}

/* CVE-2019-11477/11478: one-byte SACK blocks, as many as the peer likes: the record stays bounded;
 * blocks that do not fit are dropped and counted. */
static void test_many_blocks(void **state)
{
    struct talk t;
    uint32_t i, b[4] = {0, 0, 0, 0};

    (void)state;
    begin(&t, 10);
    for (i = 0; i < 300; i++) {
        b[0] = 100 + i * 48;
        b[1] = b[0] + 1;
        talk_sack(&t, 0, 0, b);
        assert_true(t.c->flow->rack.n <= TOEC_RUNS);
    }
    assert_true(talk_count(&t, TOEC_C_tcp_scoreboard_full) > 100);
    talk_skip(&t);
    craft_pass(&t.s, 2 * SEC);
    talk_say(&t, F_ACK, 0, 10 * MSS, 0);
    assert_int_equal(t.c->acked, 10 * MSS);
    assert_int_equal(t.c->flow->rack.sacked, 0);
    assert_int_equal(t.c->flow->rack.lost, 0);
    talk_end(&t);
}

/* ---- the record against a model ---- */

#define BYTES 3000u

struct model {
    uint8_t sacked[BYTES], lost[BYTES];
};

static void compare(const struct toec_tcb *t, const struct model *m, uint32_t una)
{
    const struct toec_rack *k = &t->rack;
    uint32_t at = t->snd_una - una, sacked = 0, lost = 0, i;

    for (i = 0; i < k->n; i++) {
        uint32_t end = k->run[i].end - una;

        if (end <= at)
            continue;
        for (; at < end; at++) {
            assert_int_equal((k->run[i].marks & TOEC_RUN_SACKED) != 0, m->sacked[at]);
            assert_int_equal((k->run[i].marks & TOEC_RUN_LOST) != 0, m->lost[at]);
            sacked += m->sacked[at];
            lost += m->lost[at];
        }
    }
    assert_int_equal(at, t->snd_max - una);
    assert_int_equal(k->sacked, sacked); /* R6675-02: pipe counts what is neither */
    assert_int_equal(k->lost, lost);
    assert_int_equal(toec_pipe(t), t->snd_max - t->snd_una - sacked - lost);
}

static void random_record(struct toec_stack *s, uint64_t seed)
{
    static struct toec_tcb t;
    static struct model m;
    struct toec_news n;
    uint32_t una = (uint32_t)seed * 0x9e3779b9u, i, a, b;
    toec_time now = 1000 * SEC;
    unsigned step;

    memset(&t, 0, sizeof(t));
    memset(&m, 0, sizeof(m));
    t.cc_ops = toec_cc_get(TOEC_CC_NEWRENO);
    toec_runs_init(&t);
    t.flags = TOEC_F_SACK;
    t.mss = 100;
    t.srtt = 8 * 100000;
    t.snd_una = t.snd_max = t.recover = una;
    for (step = 0; step < 400; step++) {
        now += random_below(20) * MSEC / 4;
        memset(&n, 0, sizeof(n));
        n.now = now;
        n.stamp = toec_stamp(now);
        a = t.snd_una - una + random_below(t.snd_max - t.snd_una + 1);
        b = a + random_below(t.snd_max - una - a + 1);
        switch (random_below(8)) {
        case 0:
            if (a == b || random_below(4))
                break;
            toec_runs_purge(&t);
            toec_runs_acked(&t, una + b, &n);
            t.snd_una = una + b;
            break;
        case 1:
        case 2:
        case 3: /* a SACK, recorded if there is room */
            toec_runs_purge(&t);
            if (a < b && t.rack.n + 2u <= TOEC_RUNS) {
                toec_runs_sacked(s, &t, una + a, una + b, &n);
                for (i = a; i < b; i++) {
                    m.sacked[i] = 1;
                    m.lost[i] = 0;
                }
            }
            break;
        case 4: /* a run is lost */
            toec_runs_purge(&t);
            if (t.rack.n == 0)
                break;
            i = random_below(t.rack.n);
            if (t.rack.run[i].marks & TOEC_RUN_SACKED)
                break;
            for (a = (i ? t.rack.run[i - 1].end : t.snd_una) - una; a < t.rack.run[i].end - una;
                 a++)
                m.lost[a] = 1;
            toec_runs_lose(&t, i, now);
            break;
        case 5: /* lost data is retransmitted */
            toec_runs_purge(&t);
            if (t.rack.n + 4u <= TOEC_RUNS &&
                toec_runs_first(&t, TOEC_RUN_LOST, TOEC_RUN_SACKED, &a, &b)) {
                assert_true(b - a <= t.mss && b != a);
                for (i = a - una; i < b - una; i++) {
                    assert_int_equal(m.lost[i], 1);
                    m.lost[i] = 0;
                }
                toec_runs_resent(s, &t, a, b, now);
            }
            break;
        default:
            a = 1 + random_below(60);
            if (t.snd_max - una + a > BYTES || t.rack.n == TOEC_RUNS)
                break;
            toec_runs_sent(s, &t, t.snd_max + a, now);
            t.snd_max += a;
            break;
        }
        compare(&t, &m, una);
    }
    t.snd_una = t.snd_max;
    toec_record_return(s, &t);
}

static void test_record_model(void **state)
{
    struct talk t;
    unsigned i;

    (void)state;
    random_begin(20);
    talk_open(&t);
    for (i = 0; i < 300; i++)
        random_record(t.s.host[0].stack, i + 1);
    talk_end(&t);
}

/* ---- DSACK as receiver ---- */

static void receiving(struct talk *t)
{
    talk_init(t);
    t->sack = 1;
    talk_passive(t);
}

static struct tseg heard(struct talk *t, uint32_t ack, unsigned blocks)
{
    struct tseg g = talk_hear(t, F_ACK, 0, ack, 0);

    assert_int_equal(g.n_sack, blocks);
    return g;
}

static void assert_block(struct talk *t, const struct tseg *g, unsigned i, uint32_t a, uint32_t b)
{
    assert_int_equal(g->sack[i][0] - t->isn - 1, a);
    assert_int_equal(g->sack[i][1] - t->isn - 1, b);
}

/* R2883-01: duplicates below the cumulative ACK, whole or partial; each reported once. */
static void test_dsack_below(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    receiving(&t);
    talk_say(&t, F_ACK | F_PSH, 0, 0, 300);
    talk_say(&t, F_ACK | F_PSH, 300, 0, 200);
    talk_skip(&t);
    talk_say(&t, F_ACK, 100, 0, 200); /* all of it is old */
    g = heard(&t, 500, 1);
    assert_block(&t, &g, 0, 100, 300);
    talk_say(&t, F_ACK, 400, 0, 300); /* the first hundred bytes are old */
    g = heard(&t, 700, 1);
    assert_block(&t, &g, 0, 400, 500);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_dsack_sent), 2);
    talk_say(&t, F_ACK, 700, 0, 100);
    craft_pass(&t.s, 100 * MSEC);
    heard(&t, 800, 0);
    talk_end(&t);
}

/* ... above it: the second block contains the first (RFC 2883 4). R2018-03, R2018-05: otherwise the
 * latest block is first, followed by earlier ones. */
static void test_dsack_above(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    receiving(&t);
    talk_say(&t, F_ACK, 500, 0, 500);
    g = heard(&t, 0, 1);
    talk_say(&t, F_ACK, 2000, 0, 500);
    g = heard(&t, 0, 2);
    talk_say(&t, F_ACK, 600, 0, 100);
    g = heard(&t, 0, 3);
    assert_block(&t, &g, 0, 600, 700);
    assert_block(&t, &g, 1, 500, 1000);
    assert_block(&t, &g, 2, 2000, 2500);
    talk_say(&t, F_ACK, 900, 0, 300); /* partly a duplicate */
    g = heard(&t, 0, 3);
    assert_block(&t, &g, 0, 900, 1000);
    assert_block(&t, &g, 1, 500, 1200);
    talk_say(&t, F_ACK, 1500, 0, 100); /* not a duplicate */
    g = heard(&t, 0, 3);
    assert_block(&t, &g, 0, 1500, 1600);
    talk_end(&t);
}

/* Bytes before the start of the stream were never received: no DSACK. */
static void test_no_dsack_below_irs(void **state)
{
    struct talk t;

    (void)state;
    receiving(&t);
    talk_say(&t, F_ACK, (uint32_t)-70000, 0, 1);
    heard(&t, 0, 0);
    talk_end(&t);
}

/* Without SACK there is no DSACK. */
static void test_no_dsack_without_sack(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    talk_say(&t, F_ACK | F_PSH, 0, 0, 300);
    talk_skip(&t);
    talk_say(&t, F_ACK, 0, 0, 300);
    craft_pass(&t.s, 100 * MSEC);
    heard(&t, 300, 0);
    talk_end(&t);
}

/* Two FINs at different offsets: the second one carries no data, so nothing is SACKed for it. */
static void test_bare_fin_twice(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    receiving(&t);
    talk_say(&t, F_ACK | F_FIN, 1000, 0, 100);
    g = heard(&t, 0, 1);
    talk_say(&t, F_ACK | F_FIN, 3000, 0, 0);
    g = heard(&t, 0, 1);
    assert_block(&t, &g, 0, 1000, 1101);
    talk_end(&t);
}

/* RFC 2883 4: a block above what is acknowledged is a DSACK if the second block contains it. */
static void test_dsack_within_second_block(void **state)
{
    static const uint32_t within[] = {3 * MSS, 4 * MSS, 2 * MSS, 5 * MSS, 0, 0};
    static const uint32_t beside[] = {5 * MSS, 6 * MSS, 2 * MSS, 5 * MSS, 0, 0};
    struct talk t;

    (void)state;
    begin(&t, 10);
    talk_sack(&t, 0, MSS, within);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_dsack_received), 1);
    talk_sack(&t, 0, MSS, beside);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_dsack_received), 1);
    talk_end(&t);
}

/* R2883-02, as sender: a DSACK acknowledges nothing above it, and is not a duplicate ACK. */
static void test_dsack_is_no_loss(void **state)
{
    static const uint32_t dup[] = {0, MSS, 0, 0};
    struct talk t;
    unsigned i;

    (void)state;
    begin(&t, 10);
    talk_say(&t, F_ACK, 0, 4 * MSS, 0);
    for (i = 0; i < 8; i++)
        talk_sack(&t, 0, 4 * MSS, dup);
    talk_silence(&t);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_fast_recoveries), 0);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_dsack_received), 8);
    assert_int_equal(t.c->flow->rack.sacked, 0);
    talk_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_holes_then_rescue),
        cmocka_unit_test(test_prr_with_nothing_in_flight),
        cmocka_unit_test(test_one_rescue),
        cmocka_unit_test(test_prr),
        cmocka_unit_test(test_prr_slow_start),
        cmocka_unit_test(test_many_blocks),
        cmocka_unit_test(test_record_model),
        cmocka_unit_test(test_dsack_below),
        cmocka_unit_test(test_dsack_above),
        cmocka_unit_test(test_no_dsack_without_sack),
        cmocka_unit_test(test_no_dsack_below_irs),
        cmocka_unit_test(test_bare_fin_twice),
        cmocka_unit_test(test_dsack_within_second_block),
        cmocka_unit_test(test_dsack_is_no_loss),
    };

    return cmocka_run_group_tests_name("tcp_sack", tests, 0, 0);
}
