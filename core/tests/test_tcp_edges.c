/* SPDX-License-Identifier: Apache-2.0 */
/* test_tcp_edges.c - edge cases of states and timers, dialogue by dialogue. */
#include "tcptalk.h"

/* The time of a delayed ACK has 16 bits: a gap in polling longer than their range loses no ACK. */
static void test_delayed_ack_after_long_stop(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    talk_set(&t, TOEC_OPT_QUICKACK, 0); /* ACKs wait for answers */
    talk_say(&t, F_ACK | F_PSH, 0, 0, 100);
    talk_silence(&t);
    t.s.now += 40 * SEC; /* beyond 2^15 ticks, without a poll in between */
    craft_poll(&t.s);
    talk_hear(&t, F_ACK, 0, 100, 0);
    talk_end(&t);
}

/* RFC 9293 MUST-39: reading draws no separate ACK while the peer has enough window, also when the
 * window field cannot express the whole buffer. */
static void test_no_ack_for_each_read(void **state)
{
    struct talk t;
    unsigned i;

    (void)state;
    talk_init(&t);
    t.s.host[0].rx_buf = 1 << 20; /* and no window scaling */
    talk_passive(&t);
    talk_set(&t, TOEC_OPT_QUICKACK, 0); /* ACKs wait for answers */
    for (i = 0; i < 10; i++) {
        talk_say(&t, F_ACK | F_PSH, 100 * i, 0, 100);
        assert_int_equal(conn_read(t.c, 100), 100);
        craft_poll(&t.s);
        if (i % 2 == 0)
            talk_silence(&t);
        else
            talk_hear(&t, F_ACK, 0, 100 * (i + 1), 0);
    }
    talk_end(&t);
}

/* A closed window opens by a separate update, once it is large enough (RFC 9293 MUST-39). */
static void test_window_update(void **state)
{
    struct talk t;
    struct tseg g;
    unsigned at;

    (void)state;
    talk_full(&t);
    for (at = 0; at < 1459; at++) { /* one byte at a time, less than an MSS */
        talk_read(&t, 1);
        talk_silence(&t);
    }
    talk_read(&t, 1);
    g = talk_hear(&t, F_ACK, 0, 4096, 0);
    assert_int_equal(g.wnd, 1460);
    talk_end(&t);
}

/* R7323-08, R7323-10: the RST of a half-open flow has the timestamp option and echoes nothing. */
static void test_rst_has_timestamps(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_init(&t);
    t.ts = 1;
    craft_start(&t.s);
    sim_listen(&t.s, 0, OWN_PORT, 0, 0);
    g = talk_seg(&t, F_SYN, (uint32_t)-1, 0, 0);
    g.mss = 1460;
    craft_say(&t.s, &g);
    g = craft_expect(&t.s);
    assert_int_equal(g.flags, F_SYN | F_ACK);
    t.iss = g.seq;
    t.tsecr = g.tsval;
    talk_say(&t, F_ACK, 0, 7777, 0);
    g = craft_expect(&t.s);
    assert_int_equal(g.flags, F_RST);
    assert_int_equal(g.seq, t.iss + 1 + 7777);
    assert_int_equal(g.has_ts, 1);
    assert_int_equal(g.tsecr, 0);
    talk_say(&t, F_ACK, 0, 0, 0); /* it had no other effect */
    t.c = t.s.host[0].conns;
    assert_true(t.c->established);
    /* and so has the RST of a connection */
    conn_abort(t.c);
    g = craft_expect(&t.s);
    assert_int_equal(g.flags, F_RST | F_ACK);
    assert_int_equal(g.has_ts, 1);
    t.c = 0;
    talk_end(&t);
}

/* RFC 9293 SHLD-26, MUST-56; R792-01: which ICMP errors end an attempt to connect, and with what.
 */
static void test_icmp_in_syn_sent(void **state)
{
    static const struct {
        unsigned type, code;
        uint32_t reason; /* 0: continues */
    } table[] = {
        {3, 0, 0},
        {3, 1, 0},
        {3, 2, TOEC_R_NOPROTOOPT},
        {3, 3, TOEC_R_REFUSED},
        {3, 5, 0},
        {3, 9, TOEC_R_NETUNREACH},
        {3, 10, TOEC_R_HOSTUNREACH},
        {3, 13, TOEC_R_HOSTUNREACH},
        {11, 0, 0},
        {12, 0, 0},
    };
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct talk t;
        struct tseg syn;

        talk_init(&t);
        craft_start(&t.s);
        t.c = sim_connect(&t.s, 0, OWN_PORT);
        craft_poll(&t.s);
        syn = craft_expect(&t.s);
        craft_icmp(&t.s, table[i].type, table[i].code, 0, &syn);
        craft_poll(&t.s);
        assert_int_equal(t.c->gone, table[i].reason != 0);
        if (table[i].reason) {
            assert_int_equal(t.c->gone_reason, table[i].reason);
        } else { /* RFC 9293 SHLD-25: it is the reason when the time is over */
            craft_pass(&t.s, 600 * SEC);
            assert_true(t.c->gone);
            assert_int_equal(t.c->gone_reason, table[i].type == 3 && table[i].code == 0
                                                   ? TOEC_R_NETUNREACH
                                                   : TOEC_R_HOSTUNREACH);
        }
        t.c = 0;
        talk_end(&t);
    }
}

static void enter_time_wait(struct talk *t, int ts, int rfc1337)
{
    talk_init(t);
    t->ts = ts;
    t->s.host[0].cfg.rfc1337 = (toec_u32)rfc1337;
    talk_passive(t);
    talk_skip(t);
    conn_close(t->c);
    craft_poll(&t->s);
    talk_hear(t, F_ACK | F_FIN, 0, 0, 0);
    talk_say(t, F_ACK | F_FIN, 0, 1, 0);
    talk_hear(t, F_ACK, 1, 1, 0);
}

/* As on Linux, a RST with the expected number ends TIME-WAIT, one with another number or an older
 * timestamp does not. */
static void test_time_wait_ended_by_rst(void **state)
{
    static const struct {
        int ts;
        uint32_t seq, older;
        unsigned left;
    } table[] = {{0, 1, 0, 0}, {0, 0, 0, 1}, {0, 2, 0, 1}, {1, 1, 0, 0}, {1, 1, 1, 1}};
    struct toec_usage u;
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct talk t;

        enter_time_wait(&t, table[i].ts, 0);
        t.tsval -= table[i].older;
        talk_say(&t, F_RST, table[i].seq, 0, 0);
        talk_silence(&t);
        toec_usage(t.s.host[0].stack, &u);
        assert_int_equal(u.time_wait, table[i].left);
        assert_int_equal(talk_count(&t, TOEC_C_tcp_tw_rst_ignored), table[i].left);
        t.c = 0;
        talk_end(&t);
    }
}

/* R1337-01: with toec_config.rfc1337 no RST shortens TIME-WAIT. */
static void test_time_wait_rst(void **state)
{
    struct talk t;
    struct toec_usage u;

    (void)state;
    enter_time_wait(&t, 0, 1);
    talk_say(&t, F_RST, 1, 0, 0);
    talk_say(&t, F_RST | F_ACK, 1, 1, 0);
    talk_silence(&t);
    craft_pass(&t.s, 59 * SEC);
    toec_usage(t.s.host[0].stack, &u);
    assert_int_equal(u.time_wait, 1);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_tw_rst_ignored), 2);
    t.c = 0;
    talk_end(&t);
}

/* toec_set_defaults(): an existing flow keeps its congestion control, the next one has the new;
 * TIME-WAIT follows at once. */
static void test_defaults_change(void **state)
{
    struct toec_defaults d = {TOEC_CC_NEWRENO, TOEC_ECN_ON, TOEC_MTU_PROBING_OFF, 0};
    struct toec_usage u;
    struct talk t;

    (void)state;
    talk_init(&t);
    t.s.host[0].cfg.rfc1337 = 1;
    t.s.host[0].cfg.cc = TOEC_CC_CUBIC;
    talk_passive(&t);
    talk_skip(&t);
    toec_set_defaults(t.s.host[0].stack, &d);
    t.s.host[0].cfg.rfc1337 = 0; /* of a stack that takes over */
    t.s.host[0].cfg.cc = TOEC_CC_NEWRENO;
    assert_int_equal(talk_info(&t).cc, TOEC_CC_CUBIC);
    conn_close(t.c);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK | F_FIN, 0, 0, 0);
    talk_say(&t, F_ACK | F_FIN, 0, 1, 0);
    talk_hear(&t, F_ACK, 1, 1, 0);
    talk_say(&t, F_RST, 1, 0, 0);
    toec_usage(t.s.host[0].stack, &u);
    assert_int_equal(u.time_wait, 0);

    t.c = sim_connect(&t.s, 0, 80);
    assert_int_equal(talk_info(&t).cc, TOEC_CC_NEWRENO);
    talk_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_delayed_ack_after_long_stop),
        cmocka_unit_test(test_no_ack_for_each_read),
        cmocka_unit_test(test_window_update),
        cmocka_unit_test(test_rst_has_timestamps),
        cmocka_unit_test(test_icmp_in_syn_sent),
        cmocka_unit_test(test_time_wait_ended_by_rst),
        cmocka_unit_test(test_time_wait_rst),
        cmocka_unit_test(test_defaults_change),
    };

    return cmocka_run_group_tests_name("tcp_edges", tests, 0, 0);
}
