/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_ecn.c - ECN (RFC 3168): which packets are ECN-capable, what is echoed, and the effect of
 * an echo; then whole transfers over a queue that marks.
 */
#include "markq.h"
#include "tcptalk.h"

#define ECT0 2u
#define CE   3u

/* An established connection whose peer requested ECN. */
static void begin(struct talk *t)
{
    talk_init(t);
    t->syn_flags = F_ECE | F_CWR;
    t->sack = 1;
    talk_passive(t);
}

/* The peer sends a segment whose IP header has this ECN field. */
static void say_marked(struct talk *t, unsigned mark, unsigned flags, uint32_t seq, uint32_t ack,
                       uint32_t len)
{
    talk_put_marked(t, mark, flags, seq, ack, len);
    craft_poll(&t->s);
}

/* R3168-02, R3168-03: flags of the handshake; a passive open agrees to a request. */
static void test_passive_negotiation(void **state)
{
    static const struct {
        enum toec_ecn_policy policy;
        unsigned asked, tos, granted;
    } cases[] = {
        {TOEC_ECN_DEFAULT, F_ECE | F_CWR, 0, F_ECE},
        {TOEC_ECN_ON, F_ECE | F_CWR, 0, F_ECE},
        {TOEC_ECN_OFF, F_ECE | F_CWR, 0, 0},
        {TOEC_ECN_DEFAULT, F_ECE, 0, 0},
        {TOEC_ECN_DEFAULT, F_CWR, 0, 0},
        {TOEC_ECN_DEFAULT, 0, 0, 0},
        {TOEC_ECN_DEFAULT, F_ECE | F_CWR, ECT0, 0}, /* a SYN must not be ECN-capable */
    };
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct talk t;

        talk_init(&t);
        t.s.host[0].cfg.ecn = cases[i].policy;
        t.syn_flags = cases[i].asked;
        t.s.peer_tos = (uint8_t)cases[i].tos;
        talk_passive(&t);
        t.s.peer_tos = 0;
        assert_int_equal(t.heard_syn, cases[i].granted);
        assert_int_equal((talk_info(&t).opts & TOEC_I_ECN) != 0, cases[i].granted != 0);
        assert_int_equal(talk_count(&t, TOEC_C_tcp_ecn_flows), cases[i].granted != 0);
        talk_send(&t, 1000);
        assert_int_equal(talk_hear(&t, F_ACK, 0, 0, 1000).tos, cases[i].granted ? ECT0 : 0);
        talk_end(&t);
    }
}

/* RFC 9293 SHLD-8; R3168-02: the SYN that requests, and which SYN-ACK agrees. */
static void test_active_negotiation(void **state)
{
    static const struct {
        enum toec_ecn_policy policy;
        unsigned asks, answer;
        int on;
    } cases[] = {
        {TOEC_ECN_ON, F_ECE | F_CWR, F_ECE, 1},
        {TOEC_ECN_ON, F_ECE | F_CWR, 0, 0},
        {TOEC_ECN_ON, F_ECE | F_CWR, F_ECE | F_CWR, 0}, /* reserved bits reflected */
        {TOEC_ECN_ON, F_ECE | F_CWR, F_CWR, 0},
        {TOEC_ECN_DEFAULT, 0, F_ECE, 0},
        {TOEC_ECN_OFF, 0, F_ECE, 0},
    };
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct talk t;

        talk_init(&t);
        t.s.host[0].cfg.ecn = cases[i].policy;
        t.syn_flags = cases[i].answer;
        talk_active(&t);
        assert_int_equal(t.heard_syn, cases[i].asks);
        assert_int_equal((talk_info(&t).opts & TOEC_I_ECN) != 0, cases[i].on);
        talk_send(&t, 1000);
        assert_int_equal(talk_hear(&t, F_ACK, 0, 0, 1000).tos, cases[i].on ? ECT0 : 0);
        talk_end(&t);
    }
}

static void test_policy_of_one(void **state)
{
    struct talk t;
    struct tseg g;
    uint32_t id;

    (void)state;
    talk_init(&t);
    craft_start(&t.s);
    sim_listen(&t.s, 0, OWN_PORT, 0, &id);
    assert_int_equal(toec_listen_option(t.s.host[0].stack, id, TOEC_OPT_ECN, TOEC_ECN_OFF), 0);
    assert_int_equal(toec_listen_option(t.s.host[0].stack, id, TOEC_OPT_ECN, 9), TOEC_E_INVAL);
    assert_int_equal(toec_listen_option(t.s.host[0].stack, id + 1, TOEC_OPT_ECN, TOEC_ECN_ON),
                     TOEC_E_INVAL);
    g = talk_seg(&t, F_SYN | F_ECE | F_CWR, (uint32_t)-1, 0, 0);
    craft_say(&t.s, &g);
    assert_int_equal(craft_expect(&t.s).flags, F_SYN | F_ACK);
    t.c = sim_connect(&t.s, 0, 81);
    assert_int_equal(talk_option(&t, TOEC_OPT_ECN, TOEC_ECN_DEFAULT), TOEC_E_INVAL);
    talk_set(&t, TOEC_OPT_ECN, TOEC_ECN_ON);
    craft_poll(&t.s);
    assert_int_equal(craft_expect(&t.s).flags, F_SYN | F_ECE | F_CWR);
    talk_end(&t);
}

/* RFC 3168 6.1.1.1: an unanswered SYN is retransmitted without the request. If a late SYN-ACK
 * agrees all the same, marks are echoed, but our packets must not be ECN-capable (6.1.1). */
static void test_fallback(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_init(&t);
    t.s.host[0].cfg.ecn = TOEC_ECN_ON;
    talk_connect(&t);
    craft_poll(&t.s);
    g = craft_expect(&t.s);
    assert_int_equal(g.flags, F_SYN | F_ECE | F_CWR);
    assert_int_equal(g.tos, 0);
    t.iss = g.seq;
    craft_pass(&t.s, 1500 * MSEC);
    assert_int_equal(craft_expect(&t.s).flags, F_SYN);
    craft_pass(&t.s, 2000 * MSEC);
    assert_int_equal(craft_expect(&t.s).flags, F_SYN);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_ecn_fallback), 1);
    talk_say(&t, F_SYN | F_ACK | F_ECE, (uint32_t)-1, 0, 0);
    talk_hear(&t, F_ACK, 0, 0, 0);
    talk_send(&t, 100);
    assert_int_equal(talk_hear(&t, F_ACK, 0, 0, 100).tos, 0);
    say_marked(&t, CE, F_ACK, 0, 100, 500);
    talk_hear(&t, F_ACK | F_ECE, 100, 500, 0);
    talk_end(&t);
}

/* A client that falls back as well: its second SYN withdraws the request. */
static void test_client_falls_back(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_init(&t);
    craft_start(&t.s);
    sim_listen(&t.s, 0, OWN_PORT, 0, 0);
    g = talk_seg(&t, F_SYN | F_ECE | F_CWR, (uint32_t)-1, 0, 0);
    craft_say(&t.s, &g);
    assert_int_equal(craft_expect(&t.s).flags, F_SYN | F_ACK | F_ECE);
    g.flags = F_SYN;
    craft_say(&t.s, &g);
    g = craft_expect(&t.s);
    assert_int_equal(g.flags, F_SYN | F_ACK);
    t.iss = g.seq;
    talk_say(&t, F_ACK, 0, 0, 0);
    t.c = t.s.host[0].conns;
    talk_send(&t, 100);
    assert_int_equal(talk_hear(&t, F_ACK, 0, 0, 100).tos, 0);
    talk_end(&t);
}

static void test_simultaneous_open(void **state)
{
    unsigned asks;

    (void)state;
    for (asks = 0; asks < 2; asks++) {
        struct talk t;
        struct tseg g;

        talk_init(&t);
        t.s.host[0].cfg.ecn = asks ? TOEC_ECN_ON : TOEC_ECN_PASSIVE;
        talk_connect(&t);
        craft_poll(&t.s);
        g = craft_expect(&t.s);
        t.iss = g.seq;
        talk_say(&t, F_SYN | F_ECE | F_CWR, (uint32_t)-1, 0, 0);
        g = craft_expect(&t.s);
        assert_int_equal(g.flags, F_SYN | F_ACK | (asks ? F_ECE : 0));
        talk_say(&t, F_SYN | F_ACK | F_ECE, (uint32_t)-1, 0, 0);
        talk_skip(&t);
        talk_send(&t, 100);
        assert_int_equal(talk_hear(&t, F_ACK, 0, 0, 100).tos, asks ? ECT0 : 0);
        talk_end(&t);
    }
}

/* SYN cookies store the result in the timestamp, as Linux does. */
static void test_cookie(void **state)
{
    unsigned asked;

    (void)state;
    for (asked = 0; asked < 2; asked++) {
        struct talk t;
        struct tseg g;

        talk_init(&t);
        t.ts = 1;
        t.sack = 1;
        craft_start(&t.s);
        sim_listen(&t.s, 0, OWN_PORT, 1, 0);
        g = talk_seg(&t, F_SYN, (uint32_t)-1, 0, 0);
        g.sport = 1;
        craft_say(&t.s, &g); /* fills the backlog */
        craft_expect(&t.s);
        g = talk_seg(&t, F_SYN | (asked ? F_ECE | F_CWR : 0), (uint32_t)-1, 0, 0);
        g.sack_ok = 1;
        g.mss = 1460;
        craft_say(&t.s, &g);
        assert_int_equal(talk_count(&t, TOEC_C_tcp_cookies_sent), 1);
        g = craft_expect(&t.s);
        assert_int_equal(g.flags, F_SYN | F_ACK | (asked ? F_ECE : 0));
        t.iss = g.seq;
        t.tsecr = g.tsval;
        talk_say(&t, F_ACK, 0, 0, 0);
        assert_int_equal(talk_count(&t, TOEC_C_tcp_cookies_taken), 1);
        t.c = t.s.host[0].conns;
        talk_send(&t, 100);
        assert_int_equal(talk_hear(&t, F_ACK, 0, 0, 100).tos, asked ? ECT0 : 0);
        talk_end(&t);
    }
}

/* R3168-05: ECE on every ACK from the first mark until CWR; a mark on a segment with CWR starts
 * again. */
static void test_echo_until_cwr(void **state)
{
    struct talk t;

    (void)state;
    begin(&t);
    say_marked(&t, ECT0, F_ACK, 0, 0, 500);
    talk_hear(&t, F_ACK, 0, 500, 0);
    assert_true(talk_info(&t).opts & TOEC_I_ECN_SEEN);
    say_marked(&t, CE, F_ACK, 500, 0, 500);
    talk_hear(&t, F_ACK | F_ECE, 0, 1000, 0);
    say_marked(&t, ECT0, F_ACK, 1000, 0, 500);
    talk_hear(&t, F_ACK | F_ECE, 0, 1500, 0);
    talk_send(&t, 10); /* data carries the echo as well */
    talk_hear(&t, F_ACK | F_ECE, 0, 1500, 10);
    say_marked(&t, CE, F_ACK | F_CWR, 1500, 10, 500);
    talk_hear(&t, F_ACK | F_ECE, 10, 2000, 0);
    say_marked(&t, ECT0, F_ACK | F_CWR, 2000, 10, 500);
    talk_hear(&t, F_ACK, 10, 2500, 0);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_ecn_ce), 2);
    talk_end(&t);
}

/* A mark that is not in the window, or on a connection without ECN, is none. */
static void test_forged_marks(void **state)
{
    struct talk t;

    (void)state;
    begin(&t);
    say_marked(&t, CE, F_ACK, 1000000, 0, 500);
    talk_hear(&t, F_ACK, 0, 0, 0);
    say_marked(&t, CE, F_ACK, 0, 0, 0); /* a pure ACK cannot be marked */
    talk_silence(&t);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_ecn_ce), 0);
    talk_end(&t);
    talk_open(&t);
    say_marked(&t, CE, F_ACK, 0, 0, 500);
    talk_hear(&t, F_ACK, 0, 500, 0);
    talk_send(&t, 100);
    talk_hear(&t, F_ACK, 0, 500, 100);
    talk_say(&t, F_ACK | F_ECE, 500, 100, 0);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_ecn_cuts), 0);
    talk_end(&t);
}

/* R3168-04: one cut for each window of data; CWR on the next new segment, and on that alone. */
static void test_react_once(void **state)
{
    struct talk t;
    struct tseg g;
    uint32_t before, after;

    (void)state;
    begin(&t);
    talk_send(&t, 65536);
    assert_int_equal(talk_skip(&t), 10); /* the initial window, to 14600 */
    before = talk_info(&t).cwnd;
    talk_say(&t, F_ACK | F_ECE, 0, 1460, 0);
    after = talk_info(&t).cwnd;
    assert_in_range(after, before / 2, before * 8 / 10);
    talk_say(&t, F_ACK | F_ECE, 0, 2920, 0);
    talk_say(&t, F_ACK | F_ECE, 0, 4380, 0);
    assert_int_equal(talk_info(&t).cwnd, after);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_ecn_cuts), 1);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_ecn_echoes), 3);
    assert_int_equal(talk_skip(&t), 0);
    talk_say(&t, F_ACK | F_ECE, 0, 8760, 0);
    g = talk_hear(&t, F_ACK | F_CWR, 14600, 0, 1460);
    assert_int_equal(g.tos, ECT0);
    while (craft_next(&t.s, &g)) {
        assert_int_equal(g.flags & F_CWR, 0);
        assert_int_equal(g.tos, ECT0);
    }
    talk_say(&t, F_ACK | F_ECE, 0, 14600, 0); /* before the CWR: the same congestion */
    assert_int_equal(talk_count(&t, TOEC_C_tcp_ecn_cuts), 1);
    talk_say(&t, F_ACK | F_ECE, 0, 16060, 0); /* after it: another mark */
    assert_int_equal(talk_count(&t, TOEC_C_tcp_ecn_cuts), 2);
    assert_true(talk_info(&t).cwnd < after);
    talk_end(&t);
}

/* With segmentation offload CWR would be copied to each segment: it is sent alone. */
static void test_cwr_and_offload(void **state)
{
    struct talk t;
    struct tseg g;
    unsigned with = 0;

    (void)state;
    talk_init(&t);
    t.syn_flags = F_ECE | F_CWR;
    t.s.host[0].cfg.max_gso = 61440;
    talk_passive(&t);
    talk_send(&t, 65536);
    talk_skip(&t);
    talk_say(&t, F_ACK | F_ECE, 0, 1460, 0);
    talk_say(&t, F_ACK | F_ECE, 0, 14600, 0);
    while (craft_next(&t.s, &g))
        with += (g.flags & F_CWR) != 0;
    assert_int_equal(with, 1);
    talk_end(&t);
}

/* R3168-06, R3168-07: retransmissions and window probes are not ECN-capable; a loss sets CWR. */
static void test_not_capable(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    begin(&t);
    talk_send(&t, 1000);
    assert_int_equal(talk_hear(&t, F_ACK, 0, 0, 1000).tos, ECT0);
    craft_pass(&t.s, 3 * SEC);
    assert_true(craft_next(&t.s, &g));
    do {
        assert_int_equal(g.len, 1000);
        assert_int_equal(g.tos, 0);
        assert_int_equal(g.flags & F_CWR, 0);
    } while (craft_next(&t.s, &g));
    talk_say(&t, F_ACK, 0, 1000, 0);
    talk_send(&t, 1000);
    g = talk_hear(&t, F_ACK | F_CWR, 1000, 0, 1000); /* RFC 3168 6.1.2: cut for any reason */
    assert_int_equal(g.tos, ECT0);
    t.wnd = 0;
    talk_say(&t, F_ACK, 0, 2000, 0);
    conn_write(t.c, 500, 1);
    craft_pass(&t.s, 3 * SEC);
    assert_true(craft_next(&t.s, &g));
    do {
        assert_int_equal(g.len, 1);
        assert_int_equal(g.tos, 0);
    } while (craft_next(&t.s, &g));
    t.wnd = 65535;
    talk_say(&t, F_ACK, 0, 2000, 0);
    g = craft_expect(&t.s);
    assert_int_equal(g.len, 500);
    assert_int_equal(g.tos, 0); /* its first byte has been sent as a probe */
    talk_say(&t, F_ACK, 0, 2500, 0);
    conn_shutdown(t.c);
    craft_poll(&t.s);
    assert_int_equal(talk_hear(&t, F_ACK | F_FIN, 2500, 0, 0).tos, 0); /* no data in it */
    talk_end(&t);
}

/* ---- a queue that marks ---- */

static void transfer(enum toec_cc cc, toec_time limit)
{
    struct markq b = {.ns_per_byte = 80, .mark_above = 2 * MSEC}; /* 100 Mbit/s */
    struct sim s;
    struct conn *c;
    toec_time took;
    uint64_t goal = 4000000;

    random_begin(31);
    sim_init(&s, 2);
    s.host[0].cfg.ecn = TOEC_ECN_ON;
    s.host[0].cfg.cc = cc;
    s.host[0].tx_buf = s.host[1].rx_buf = 1 << 20;
    s.impair.delay = 1 * MSEC;
    s.router = markq_router;
    s.router_state = &b;
    sim_start(&s);
    sim_listen(&s, 1, 80, 0, 0);
    c = sim_connect(&s, 0, 80);
    took = sim_transfer(&s, c, goal, limit);
    print_message("%llu bytes in %llu ms, %u of %u data segments marked, %llu cuts\n",
                  (unsigned long long)c->acked, (unsigned long long)(took / MSEC), b.marks, b.data,
                  (unsigned long long)sim_count(&s, 0, TOEC_C_tcp_ecn_cuts));
    assert_int_equal(c->acked, goal);
    assert_int_equal(b.bad, 0);
    assert_true(b.marks > 0);
    assert_int_equal(sim_count(&s, 1, TOEC_C_tcp_ecn_ce), b.marks);
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_retransmits), 0);
    assert_in_range(sim_count(&s, 0, TOEC_C_tcp_ecn_cuts), 1, b.marks);
    conn_abort(c);
    sim_run(&s, 130 * SEC);
    sim_stop(&s);
}

static void test_marking_queue(void **state)
{
    (void)state;
    /* 320 ms at the rate of the line: nothing is lost, and the line stays busy. */
    transfer(TOEC_CC_CUBIC, 450 * MSEC);
    transfer(TOEC_CC_NEWRENO, 450 * MSEC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passive_negotiation),
        cmocka_unit_test(test_active_negotiation),
        cmocka_unit_test(test_policy_of_one),
        cmocka_unit_test(test_fallback),
        cmocka_unit_test(test_client_falls_back),
        cmocka_unit_test(test_simultaneous_open),
        cmocka_unit_test(test_cookie),
        cmocka_unit_test(test_echo_until_cwr),
        cmocka_unit_test(test_forged_marks),
        cmocka_unit_test(test_react_once),
        cmocka_unit_test(test_cwr_and_offload),
        cmocka_unit_test(test_not_capable),
        cmocka_unit_test(test_marking_queue),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
