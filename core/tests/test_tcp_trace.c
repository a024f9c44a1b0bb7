/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_trace.c - toec_config.trace reports what happens to a flow, and nothing for segments in
 * order.
 */
#include "tcptalk.h"

#define MSS 1460u
#define RTT (100 * MSEC)

static struct {
    enum toec_trace_kind what;
    uint32_t seq, value;
} seen[256];
static unsigned seen_n, seen_at;
static void *seen_owner;

static void note(void *owner, enum toec_trace_kind what, toec_u32 seq, toec_u32 value)
{
    assert_true(seen_n < sizeof(seen) / sizeof(seen[0]));
    assert_non_null(owner);
    seen_owner = owner;
    seen[seen_n].what = what;
    seen[seen_n].seq = seq;
    seen[seen_n++].value = value;
}

/* The next event must be this one. */
static void want(enum toec_trace_kind what, uint32_t seq, uint32_t value)
{
    if (seen_at == seen_n)
        fail_msg("event %d wanted, none came", (int)what);
    if (seen[seen_at].what != what || seen[seen_at].seq != seq || seen[seen_at].value != value)
        fail_msg("event %d (seq %u, value %u) wanted, %d (%u, %u) came", (int)what, seq, value,
                 (int)seen[seen_at].what, seen[seen_at].seq, seen[seen_at].value);
    seen_at++;
}

static void want_state(enum toec_state state)
{
    want(TOEC_T_STATE, 0, state);
}

static void want_none(void)
{
    if (seen_at != seen_n)
        fail_msg("event %d (seq %u, value %u) not wanted", (int)seen[seen_at].what,
                 seen[seen_at].seq, seen[seen_at].value);
}

static void init(struct talk *t)
{
    talk_init(t);
    t->s.host[0].cfg.trace = note;
    seen_n = seen_at = 0;
}

/* n segments in flight of a connection that the peer has opened. */
static void begin(struct talk *t, int sack, unsigned n)
{
    init(t);
    talk_flight(t, sack, n);
    want_none();
    craft_pass(&t->s, RTT);
    talk_skip(t);
}

/* Passive close: data both ways reports nothing. */
static void test_states_passive(void **state)
{
    struct talk t;

    (void)state;
    begin(&t, 0, 2);
    talk_say(&t, F_ACK, 0, 2 * MSS, 100);
    talk_read(&t, 100);
    want_none();
    talk_say(&t, F_ACK | F_FIN, 100, 2 * MSS, 0);
    conn_close(t.c);
    craft_poll(&t.s);
    talk_say(&t, F_ACK, 101, 2 * MSS + 1, 0);
    want_none();
    talk_end(&t);
}

static void test_states_active(void **state)
{
    struct talk t;

    (void)state;
    init(&t);
    talk_active(&t);
    conn_close(t.c);
    craft_poll(&t.s);
    want_none();
    talk_say(&t, F_ACK, 0, 1, 0);
    want_state(TOEC_FIN_WAIT_2);
    assert_ptr_equal(seen_owner, t.c);
    talk_say(&t, F_ACK | F_FIN, 0, 1, 0);
    want_none();
    talk_end(&t);
}

static void test_states_of_a_simultaneous_close(void **state)
{
    struct talk t;

    (void)state;
    begin(&t, 0, 1);
    talk_say(&t, F_ACK, 0, MSS, 0);
    conn_close(t.c);
    craft_poll(&t.s);
    talk_say(&t, F_ACK | F_FIN, 0, MSS, 0);
    want_state(TOEC_CLOSING);
    talk_say(&t, F_ACK, 1, MSS + 1, 0);
    want_none();
    talk_end(&t);
}

static void test_fast_recovery(void **state)
{
    struct talk t;
    uint32_t ssthresh;

    (void)state;
    begin(&t, 1, 10);
    talk_block(&t, 0, MSS, 5 * MSS);
    ssthresh = talk_info(&t).ssthresh;
    want(TOEC_T_RECOVERY, 1, ssthresh);
    want(TOEC_T_RETRANSMIT, 1, MSS);
    want_none();
    craft_pass(&t.s, RTT);
    talk_say(&t, F_ACK, 0, 10 * MSS, 0);
    want(TOEC_T_RECOVERED, 10 * MSS + 1, ssthresh);
    want_none();
    talk_end(&t);
}

static void test_timeouts(void **state)
{
    struct talk t;

    (void)state;
    begin(&t, 0, 3);
    craft_pass(&t.s, 400 * MSEC);
    want(TOEC_T_TIMEOUT, 1, 1);
    want(TOEC_T_RETRANSMIT, 1, MSS);
    craft_pass(&t.s, 800 * MSEC);
    want(TOEC_T_TIMEOUT, 1, 2);
    want(TOEC_T_RETRANSMIT, 1, MSS);
    talk_say(&t, F_ACK, 0, 3 * MSS, 0);
    want(TOEC_T_RECOVERED, 3 * MSS + 1, talk_info(&t).ssthresh);
    want_none();
    talk_end(&t);
}

static void test_tail_probe(void **state)
{
    struct talk t;

    (void)state;
    begin(&t, 1, 3);
    craft_pass(&t.s, 2 * RTT);
    want(TOEC_T_TAIL_PROBE, 3 * MSS + 1, 0);
    want(TOEC_T_RETRANSMIT, 2 * MSS + 1, MSS);
    want_none();
    talk_end(&t);
}

/* The first timeout of a SYN, and the end by a reset. */
static void test_refused_connect(void **state)
{
    struct talk t;

    (void)state;
    init(&t);
    talk_connect(&t);
    craft_pass(&t.s, 1100 * MSEC);
    want(TOEC_T_TIMEOUT, 0, 1);
    t.iss = craft_expect(&t.s).seq;
    talk_say(&t, F_RST | F_ACK, 0, 0, 0);
    want(TOEC_T_RST_RECEIVED, 0, 0);
    want_none();
    assert_int_equal(t.c->gone_reason, TOEC_R_REFUSED);
    talk_skip(&t);
    talk_end(&t);
}

static void test_resets(void **state)
{
    struct talk t;

    (void)state;
    begin(&t, 0, 1);
    talk_say(&t, F_RST, 0, 0, 0);
    want(TOEC_T_RST_RECEIVED, 1, 0);
    want_none();
    talk_end(&t);
    begin(&t, 0, 1);
    conn_abort(t.c);
    want(TOEC_T_RST_SENT, MSS + 1, 0);
    want_none();
    talk_skip(&t);
    talk_end(&t);
}

/* The peer's window closes, is probed, and opens. */
static void test_window_of_the_peer(void **state)
{
    struct talk t;

    (void)state;
    begin(&t, 0, 1);
    t.wnd = 0;
    talk_say(&t, F_ACK, 0, MSS, 0);
    want_none();
    talk_send(&t, 100);
    want(TOEC_T_WINDOW_CLOSED, MSS + 1, 0);
    craft_pass(&t.s, 500 * MSEC);
    want(TOEC_T_WINDOW_PROBE, MSS + 1, 1);
    talk_skip(&t);
    talk_say(&t, F_ACK, 0, MSS, 0);
    want_none();
    t.wnd = 4000;
    talk_say(&t, F_ACK, 0, MSS, 0);
    want(TOEC_T_WINDOW_OPEN, MSS + 1, 4000);
    want_none();
    talk_end(&t);
}

/* The application does not read. */
static void test_own_window(void **state)
{
    struct talk t;
    unsigned i;

    (void)state;
    init(&t);
    t.s.host[0].rx_buf = 4096;
    talk_passive(&t);
    for (i = 0; i < 4; i++)
        talk_say(&t, F_ACK | F_PSH, 1024 * i, 0, 1024);
    craft_pass(&t.s, 100 * MSEC);
    talk_skip(&t);
    talk_say(&t, F_ACK, 4095, 0, 1); /* a window probe */
    assert_true(seen_n > 0);
    for (i = 0; i < seen_n; i++) {
        assert_int_equal(seen[i].what, TOEC_T_OWN_WINDOW);
        assert_int_equal(seen[i].seq, 4097);
    }
    talk_skip(&t);
    talk_read(&t, 4096);
    i = seen_n;
    talk_say(&t, F_ACK | F_PSH, 4096, 0, 100);
    assert_int_equal(seen_n, i);
    talk_end(&t);
}

static void test_keepalive(void **state)
{
    struct talk t;

    (void)state;
    begin(&t, 0, 1);
    talk_say(&t, F_ACK, 0, MSS, 0);
    talk_set(&t, TOEC_OPT_KEEPALIVE, 1);
    talk_set(&t, TOEC_OPT_KEEPIDLE, 5);
    craft_pass(&t.s, 6 * SEC);
    want(TOEC_T_KEEPALIVE, MSS + 1, 1);
    want_none();
    talk_skip(&t);
    talk_end(&t);
}

static void test_a_mark_of_the_network(void **state)
{
    struct talk t;

    (void)state;
    init(&t);
    t.syn_flags = F_ECE | F_CWR;
    talk_flight(&t, 1, 10);
    craft_pass(&t.s, RTT);
    seen_at = seen_n;
    talk_say(&t, F_ACK | F_ECE, 0, MSS, 0);
    assert_int_equal(seen[seen_at].what, TOEC_T_ECN_CUT);
    seen_at++;
    want_none();
    talk_end(&t);
}

/* An ICMP error about data in flight: soft, then a smaller path MTU. */
static void test_icmp(void **state)
{
    struct tseg quoted;
    struct talk t;

    (void)state;
    begin(&t, 0, 1);
    quoted = seg_make(t.own_port, t.peer_port, F_ACK, t.iss + 1, t.isn + 1);
    craft_icmp(&t.s, 3, 1, 0, &quoted);
    craft_poll(&t.s);
    want(TOEC_T_ERROR, 1, TOEC_R_HOSTUNREACH);
    craft_icmp(&t.s, 3, 4, 1000, &quoted);
    craft_poll(&t.s);
    want(TOEC_T_PATH_MTU, 1, 1000);
    talk_skip(&t);
    talk_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states_passive),
        cmocka_unit_test(test_states_active),
        cmocka_unit_test(test_states_of_a_simultaneous_close),
        cmocka_unit_test(test_fast_recovery),
        cmocka_unit_test(test_timeouts),
        cmocka_unit_test(test_tail_probe),
        cmocka_unit_test(test_refused_connect),
        cmocka_unit_test(test_resets),
        cmocka_unit_test(test_window_of_the_peer),
        cmocka_unit_test(test_own_window),
        cmocka_unit_test(test_keepalive),
        cmocka_unit_test(test_a_mark_of_the_network),
        cmocka_unit_test(test_icmp),
    };

    return cmocka_run_group_tests_name("tcp_trace", tests, NULL, NULL);
}
