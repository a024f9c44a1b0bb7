/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_dctcp.c - DCTCP (RFC 8257): which ACKs report which marks, how alpha follows the share
 * of marked bytes, the reduction for a mark and a loss, and the queue length.
 */
#include "markq.h"
#include "tcptalk.h"

#define ECT0 2u
#define CE   3u

static void begin(struct talk *t)
{
    talk_init(t);
    t->syn_flags = F_ECE | F_CWR;
    t->sack = 1;
    t->s.host[0].cfg.cc = TOEC_CC_DCTCP;
    t->s.host[0].tx_buf = 1 << 20;
    talk_passive(t);
    assert_int_equal(t->heard_syn, F_ECE);
}

static void put_marked(struct talk *t, unsigned mark, unsigned flags, uint32_t seq, uint32_t len)
{
    talk_put_marked(t, mark, flags, seq, 0, len);
}

/* R8257-01: a change of marks is acknowledged at once, and the data before it by a separate ACK;
 * without a change, ACKs are delayed as usual. CWR has no effect. */
static void test_receiver(void **state)
{
    struct talk t;
    unsigned i;

    (void)state;
    begin(&t);
    for (i = 0; i < 8; i++) { /* the quick ACKs of the start */
        put_marked(&t, ECT0, F_ACK, i * 100, 100);
        craft_poll(&t.s);
        talk_hear(&t, F_ACK, 0, (i + 1) * 100, 0);
    }
    talk_set(&t, TOEC_OPT_QUICKACK, 0); /* ACKs wait for answers */
    put_marked(&t, ECT0, F_ACK, 800, 100);
    craft_poll(&t.s);
    talk_silence(&t); /* delayed */
    put_marked(&t, CE, F_ACK, 900, 100);
    talk_hear(&t, F_ACK, 0, 900, 0); /* of the one before, without ECE */
    craft_poll(&t.s);
    talk_hear(&t, F_ACK | F_ECE, 0, 1000, 0);
    put_marked(&t, CE, F_ACK | F_CWR, 1000, 100);
    craft_poll(&t.s);
    talk_silence(&t); /* no change: delayed */
    put_marked(&t, CE, F_ACK, 1100, 100);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK | F_ECE, 0, 1200, 0);
    put_marked(&t, CE, F_ACK, 1200, 100);
    put_marked(&t, 0, F_ACK, 1300, 100); /* not ECN-capable: no information */
    craft_poll(&t.s);
    talk_hear(&t, F_ACK | F_ECE, 0, 1400, 0);
    put_marked(&t, CE, F_ACK, 1400, 100);
    put_marked(&t, ECT0, F_ACK, 1500, 100);
    talk_hear(&t, F_ACK | F_ECE, 0, 1500, 0);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK, 0, 1600, 0);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_ecn_ce), 5);
    talk_end(&t);
}

/* R8257-02: alpha begins at 1, so the first mark halves; then it follows the marks. */
static void test_alpha(void **state)
{
    struct talk t;
    uint32_t ack = 0, before;
    unsigned i;

    (void)state;
    begin(&t);
    t.wnd = 65535;
    talk_send(&t, 1 << 20);
    before = talk_info(&t).cwnd;
    talk_say(&t, F_ACK | F_ECE, 0, ack += 1460, 0);
    assert_in_range(talk_info(&t).cwnd, before / 2 - 1, before / 2);
    /* Windows without marks make alpha small: 15/16 of it stay each. */
    for (i = 0; i < 400; i++) {
        talk_say(&t, F_ACK, 0, ack += 1460, 0);
        talk_skip(&t);
    }
    assert_int_equal(talk_count(&t, TOEC_C_tcp_ecn_cuts), 1);
    before = talk_info(&t).cwnd;
    talk_say(&t, F_ACK | F_ECE, 0, ack += 1460, 0);
    assert_true(talk_info(&t).cwnd > before * 8 / 10);
    assert_true(talk_info(&t).cwnd < before);
    /* R8257-04: marks on everything let it grow to 1 again: a window at its floor, or halved. */
    for (i = 0; i < 200; i++) {
        conn_write(t.c, 1460, 1);
        talk_say(&t, F_ACK | F_ECE, 0, ack += 1460, 0);
        talk_skip(&t);
    }
    assert_int_equal(talk_info(&t).cwnd, 2 * 1460);
    talk_end(&t);
}

/* R8257-04: after enough windows without marks alpha is 0, and a mark costs nothing. */
static void test_alpha_zero(void **state)
{
    struct talk t;
    uint32_t ack = 0, before;
    unsigned i;

    (void)state;
    begin(&t);
    t.wnd = 4 * 1460; /* the peer's: one ACK is one window of data */
    talk_say(&t, F_ACK, 0, 0, 0);
    for (i = 0; i < 500; i++) {
        talk_send(&t, 4 * 1460);
        assert_int_equal(talk_skip(&t), 4);
        talk_say(&t, F_ACK, 0, ack += 4 * 1460, 0);
    }
    talk_send(&t, 4 * 1460);
    before = talk_info(&t).cwnd;
    talk_say(&t, F_ACK | F_ECE, 0, ack + 1460, 0);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_ecn_cuts), 1);
    assert_int_equal(talk_info(&t).cwnd, before);
    talk_end(&t);
}

/* R8257-03: a loss halves, whatever alpha is. */
static void test_loss(void **state)
{
    struct talk t;
    uint32_t ack = 0, flight, blocks[4] = {0};
    unsigned i;

    (void)state;
    begin(&t);
    talk_send(&t, 1 << 20);
    for (i = 0; i < 300; i++) {
        talk_say(&t, F_ACK, 0, ack += 1460, 0);
        talk_skip(&t);
    }
    flight = talk_info(&t).in_flight;
    assert_true(flight > 20 * 1460);
    blocks[0] = ack + 1460;
    blocks[1] = ack + 6 * 1460;
    talk_sack(&t, 0, ack, blocks);
    assert_in_range(talk_info(&t).ssthresh, flight * 4 / 10, flight * 6 / 10);
    talk_end(&t);
}

/* Without ECN it is NewReno: the peer refuses. */
static void test_without_ecn(void **state)
{
    struct talk t;
    uint32_t before;

    (void)state;
    talk_init(&t);
    t.s.host[0].cfg.cc = TOEC_CC_DCTCP;
    talk_active(&t);
    assert_int_equal(t.heard_syn, F_ECE | F_CWR); /* requests ECN under any policy */
    talk_send(&t, 60000);
    assert_int_equal(craft_expect(&t.s).tos, 0);
    talk_skip(&t);
    before = talk_info(&t).cwnd;
    talk_say(&t, F_ACK | F_ECE, 0, 1460, 0);
    assert_true(talk_info(&t).cwnd >= before);
    talk_end(&t);
}

/* ---- a queue that marks ---- */

static void transfer(enum toec_cc cc, struct markq *q, toec_time limit)
{
    struct sim s;
    struct conn *c;
    toec_time took;
    uint64_t goal = 20000000;
    unsigned i;

    random_begin(32);
    sim_init(&s, 2);
    for (i = 0; i < 2; i++) {
        s.host[i].cfg.ecn = TOEC_ECN_ON;
        s.host[i].cfg.cc = cc;
        s.host[i].tx_buf = s.host[i].rx_buf = 1 << 20;
    }
    s.impair.delay = 100 * USEC;
    s.router = markq_router;
    s.router_state = q;
    sim_start(&s);
    sim_listen(&s, 1, 80, 0, 0);
    c = sim_connect(&s, 0, 80);
    took = sim_transfer(&s, c, goal, limit);
    print_message("%llu bytes in %llu ms, %u of %u segments marked, waited %llu us on average\n",
                  (unsigned long long)c->acked, (unsigned long long)(took / MSEC), q->marks,
                  q->data, (unsigned long long)(q->waited / q->data / 1000));
    assert_int_equal(c->acked, goal);
    assert_int_equal(q->bad, 0);
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_retransmits), 0);
    conn_abort(c);
    sim_run(&s, 130 * SEC);
    sim_stop(&s);
}

/* The purpose of DCTCP (RFC 8257 1): the line is full with a queue about as long as the threshold,
 * where one that halves leaves the line idle or needs a longer queue. */
static void test_short_queue(void **state)
{
    /* 1 Gbit/s, 200 us of round trip: K of 17 % of the bandwidth-delay product (RFC 8257 3.1) */
    struct markq q = {.ns_per_byte = 8, .mark_above = 50 * USEC};
    struct markq reno = q;

    (void)state;
    transfer(TOEC_CC_DCTCP, &q, 175 * MSEC); /* 166 ms at the rate of the line */
    assert_true(q.waited / q.data < 100 * USEC);
    transfer(TOEC_CC_NEWRENO, &reno, 400 * MSEC);
    assert_true(q.marks > reno.marks); /* many small cuts */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_receiver),    cmocka_unit_test(test_alpha),
        cmocka_unit_test(test_alpha_zero),  cmocka_unit_test(test_loss),
        cmocka_unit_test(test_without_ecn), cmocka_unit_test(test_short_queue),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
