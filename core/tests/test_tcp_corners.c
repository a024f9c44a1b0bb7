/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_corners.c - interactions of two features, or of one with the end of its number range:
 * found by reading, each failed before it was fixed.
 */
#include "tcptalk.h"

#include "tcp/tcp.h"

#define MSS 1460u
#define RTT (100 * MSEC)

static struct toec_info info_of(struct talk *t)
{
    struct toec_info i;

    toec_flow_info(t->s.host[0].stack, t->c->flow, &i);
    return i;
}

/* A SYN with 10 bytes opens the flow of a listener that wants no cookie; its SYN-ACK is out. */
static void fast_open(struct talk *t)
{
    struct tseg g;
    uint32_t id;

    talk_init(t);
    craft_start(&t->s);
    sim_listen(&t->s, 0, OWN_PORT, 0, &id);
    assert_int_equal(toec_listen_fastopen(t->s.host[0].stack, id, 1 | TOEC_FASTOPEN_NOCOOKIE), 0);
    g = talk_seg(t, F_SYN, (uint32_t)-1, 0, 10);
    g.payload_at = 0;
    g.mss = 1460;
    craft_say(&t->s, &g);
    g = craft_expect(&t->s);
    assert_int_equal(g.flags, F_SYN | F_ACK);
    t->iss = g.seq;
    t->c = t->s.host[0].conns;
}

/* R6298-07: the round trip of a Fast Open is that of the SYN-ACK, whatever data has left since. */
static void test_rtt_of_fast_open(void **state)
{
    struct talk t;

    (void)state;
    fast_open(&t);
    craft_pass(&t.s, 80 * MSEC);
    talk_send(&t, 100);
    craft_pass(&t.s, 20 * MSEC);
    talk_say(&t, F_ACK, 10, 0, 0);
    assert_in_range(info_of(&t).srtt_us, 99000, 102000);
    talk_skip(&t);
    talk_end(&t);
}

/* R6298-06 (Karn): a SYN-ACK retransmitted for a repeated SYN gives no sample. */
static void test_no_rtt_of_repeated_syn_ack(void **state)
{
    struct talk t;
    struct tseg g;
    uint32_t id;

    (void)state;
    talk_init(&t);
    craft_start(&t.s);
    sim_listen(&t.s, 0, OWN_PORT, 0, &id);
    g = talk_seg(&t, F_SYN, (uint32_t)-1, 0, 0);
    craft_say(&t.s, &g);
    t.iss = craft_expect(&t.s).seq;
    craft_pass(&t.s, 500 * MSEC);
    craft_say(&t.s, &g);
    assert_int_equal(craft_expect(&t.s).flags, F_SYN | F_ACK);
    craft_pass(&t.s, 10 * MSEC);
    talk_put(&t, F_ACK, 0, 0, 0);
    t.c = t.s.host[0].conns;
    assert_true(t.c->established);
    assert_int_equal(info_of(&t).srtt_us, 0);
    talk_end(&t);
    fast_open(&t);
    craft_pass(&t.s, 500 * MSEC);
    g = talk_seg(&t, F_SYN, (uint32_t)-1, 0, 10);
    g.payload_at = 0;
    craft_say(&t.s, &g);
    assert_int_equal(craft_expect(&t.s).flags, F_SYN | F_ACK);
    craft_pass(&t.s, 10 * MSEC);
    talk_put(&t, F_ACK, 10, 0, 0);
    assert_int_equal(info_of(&t).srtt_us, 0);
    talk_end(&t);
}

/* A whole send buffer may be announced before a Fast Open handshake completes: the unacknowledged
 * SYN uses none of its room. */
static void test_full_buffer_before_handshake(void **state)
{
    struct talk t;
    uint32_t size;

    (void)state;
    fast_open(&t);
    size = t.s.host[0].tx_buf;
    assert_int_equal(toec_send(t.s.host[0].stack, t.c->flow, size, 1, t.s.now), 0);
    assert_int_equal(toec_send(t.s.host[0].stack, t.c->flow, 1, 1, t.s.now), TOEC_E_INVAL);
    talk_end(&t);
}

/* RFC 9293 MUST-30: urgent data in a stream of any length, also after 2 GiB. */
static void test_urgent_beyond_2_gib(void **state)
{
    struct talk t;
    struct toec_tcb *f;

    (void)state;
    talk_init(&t);
    talk_flight(&t, 1, 1);
    f = t.c->flow;
    talk_say(&t, F_ACK, 0, MSS, 0);
    talk_skip(&t);
    assert_int_equal(toec_urgent(t.s.host[0].stack, f, t.s.now), 0);
    f->iss -= 0x80000001u; /* as if so much more had been sent and acknowledged */
    assert_int_equal(toec_urgent(t.s.host[0].stack, f, t.s.now), 0);
    f->iss = f->snd_una - 1; /* 4 GiB */
    f->tx_wraps = 1;
    assert_int_equal(toec_urgent(t.s.host[0].stack, f, t.s.now), 0);
    f->tx_wraps = 0; /* ... or nothing at all */
    assert_int_equal(toec_urgent(t.s.host[0].stack, f, t.s.now), TOEC_E_INVAL);
    f->iss = t.iss;
    talk_end(&t);
}

/* A user timeout of weeks is none that has run out: retransmissions keep to their backoff. */
static void test_long_user_timeout(void **state)
{
    struct talk t;
    unsigned n;

    (void)state;
    talk_init(&t);
    talk_flight(&t, 1, 1);
    assert_int_equal(
        toec_set_option(t.s.host[0].stack, t.c->flow, TOEC_OPT_USER_TIMEOUT, 0xffffffffu, t.s.now),
        0);
    talk_skip(&t);
    craft_pass(&t.s, 60 * SEC);
    n = talk_skip(&t);
    assert_in_range(n, 6, 10);
    talk_end(&t);
}

/* RFC 5961 4.2: any SYN draws a challenge ACK, also one without a timestamp: otherwise a restarted
 * peer that offers none would never detect the old connection. */
static void test_syn_without_timestamp(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_init(&t);
    t.ts = 1;
    talk_passive(&t);
    talk_skip(&t);
    t.ts = 0;
    talk_say(&t, F_SYN, 100000, 0, 0);
    t.ts = 1;
    g = talk_hear(&t, F_ACK, 0, 0, 0);
    assert_true(g.has_ts);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_challenge_acks), 1);
    talk_end(&t);
}

/* R7323-05 (RFC 7323 2.2): the window of a SYN-ACK is not scaled, nor that of a simultaneous open.
 */
static void test_simultaneous_open_window(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_init(&t);
    craft_start(&t.s);
    t.c = sim_connect(&t.s, 0, OWN_PORT);
    craft_poll(&t.s);
    g = craft_expect(&t.s);
    t.iss = g.seq;
    t.own_port = g.sport;
    t.peer_port = OWN_PORT;
    g = talk_seg(&t, F_SYN, (uint32_t)-1, 0, 0);
    g.mss = 1460;
    g.wscale = 7;
    g.wnd = 3000;
    craft_say(&t.s, &g);
    g = craft_expect(&t.s);
    assert_int_equal(g.flags, F_SYN | F_ACK);
    g = talk_seg(&t, F_SYN | F_ACK, (uint32_t)-1, 0, 0);
    g.mss = 1460;
    g.wscale = 7;
    g.wnd = 3000;
    craft_say(&t.s, &g);
    assert_true(t.c->established);
    assert_int_equal(info_of(&t).snd_wnd, 3000);
    talk_say(&t, F_ACK, 0, 0, 0); /* wnd 65535, scaled */
    assert_int_equal(info_of(&t).snd_wnd, 65535u << 7);
    talk_end(&t);
}

/* RFC 9293 3.6.1 (MAY-2): a SYN reopens a pair in TIME-WAIT if there is a listener. Otherwise it is
 * rejected and ends nothing, else a guesser could clear the pairs of clients. */
static void test_time_wait_without_listener(void **state)
{
    struct talk t;
    struct toec_usage u;
    struct tseg g, a;

    (void)state;
    talk_init(&t);
    talk_active(&t);
    conn_close(t.c);
    craft_poll(&t.s);
    talk_hear(&t, F_FIN | F_ACK, 0, 0, 0);
    talk_say(&t, F_FIN | F_ACK, 0, 1, 0);
    talk_hear(&t, F_ACK, 1, 1, 0);
    craft_pass(&t.s, 2 * SEC);
    g = talk_seg(&t, F_SYN, 100000, 0, 0);
    craft_say(&t.s, &g);
    a = craft_expect(&t.s);
    assert_int_equal(a.flags, F_RST | F_ACK);
    assert_int_equal(a.seq, 0);
    assert_int_equal(a.ack, g.seq + 1);
    talk_say(&t, F_SYN, (uint32_t)-100, 0, 0); /* an old one */
    talk_hear(&t, F_ACK, 1, 1, 0);
    toec_usage(t.s.host[0].stack, &u);
    assert_int_equal(u.time_wait, 1);
    talk_end(&t);
}

/* BBR does not track the use of its window; an algorithm that takes over must not see a long idle
 * time. */
static void test_cubic_after_bbr(void **state)
{
    struct talk t;
    struct toec_stack *s;
    uint32_t cwnd;

    (void)state;
    talk_init(&t);
    talk_flight(&t, 1, 10);
    s = t.s.host[0].stack;
    assert_int_equal(toec_set_option(s, t.c->flow, TOEC_OPT_CC, TOEC_CC_BBR3, t.s.now), 0);
    craft_pass(&t.s, RTT);
    talk_say(&t, F_ACK, 0, 10 * MSS, 0);
    craft_pass(&t.s, 3600 * SEC);
    t.c->flow->cwnd = 100 * MSS;
    talk_send(&t, MSS);
    craft_pass(&t.s, RTT);
    talk_say(&t, F_ACK, 0, 11 * MSS, 0);
    t.c->flow->cwnd = 100 * MSS;
    assert_int_equal(toec_set_option(s, t.c->flow, TOEC_OPT_CC, TOEC_CC_CUBIC, t.s.now), 0);
    cwnd = info_of(&t).cwnd;
    craft_pass(&t.s, SEC);
    talk_send(&t, MSS);
    assert_int_equal(info_of(&t).cwnd, cwnd);
    talk_end(&t);
}

/* A SYN that waits for its data does not wait for ever: shutdown() means that none will come.
 */
static void test_shutdown_of_held_syn(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_init(&t);
    craft_start(&t.s);
    t.c = sim_connect(&t.s, 0, OWN_PORT);
    assert_true(toec_fastopen(t.s.host[0].stack, t.c->flow, 1, t.s.now) > 0);
    craft_poll(&t.s);
    craft_expect_none(&t.s);
    assert_int_equal(toec_shutdown(t.s.host[0].stack, t.c->flow, t.s.now), 0);
    craft_poll(&t.s);
    g = craft_expect(&t.s);
    assert_int_equal(g.flags, F_SYN);
    t.iss = g.seq;
    t.own_port = g.sport;
    t.peer_port = OWN_PORT;
    g = talk_seg(&t, F_SYN | F_ACK, (uint32_t)-1, 0, 0);
    g.mss = 1460;
    craft_say(&t.s, &g);
    talk_hear(&t, F_FIN | F_ACK, 0, 0, 0);
    talk_end(&t);
}

/* ---- one window of data is cut once (RFC 3168 6.1.2) ---- */

/* 10 segments under way, the first of which the peer reports as marked. */
static uint32_t mark(struct talk *t)
{
    struct tseg g;

    talk_init(t);
    t->syn_flags = F_ECE | F_CWR;
    talk_flight(t, 1, 10);
    craft_pass(&t->s, RTT);
    g = talk_seg(t, F_ACK | F_ECE, 0, MSS, 0);
    craft_say(&t->s, &g);
    assert_int_equal(talk_count(t, TOEC_C_tcp_ecn_cuts), 1);
    talk_skip(t);
    return info_of(t).ssthresh;
}

/* R3168-04: losses in it are repaired without another reduction. */
static void test_loss_after_mark(void **state)
{
    const uint32_t blocks[] = {2 * MSS, 8 * MSS, 0, 0};
    struct talk t;
    uint32_t cut = mark(&t);

    (void)state;
    talk_sack(&t, 0, MSS, blocks);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_fast_recoveries), 1);
    talk_hear(&t, F_ACK, MSS, 0, MSS);
    assert_int_equal(info_of(&t).ssthresh, cut);
    talk_say(&t, F_ACK, 0, 10 * MSS, 0);
    assert_int_equal(info_of(&t).ssthresh, cut);
    talk_end(&t);
}

/* An undone reduction does not count: marks of the same window do. */
static void test_mark_after_undo(void **state)
{
    const uint32_t blocks[] = {2 * MSS, 8 * MSS, 0, 0}, dsack[] = {0, MSS, 0, 0};
    struct talk t;
    struct tseg g;

    (void)state;
    talk_init(&t);
    t.syn_flags = F_ECE | F_CWR;
    talk_flight(&t, 1, 10);
    craft_pass(&t.s, RTT);
    talk_sack(&t, 0, 0, blocks + 0);
    talk_skip(&t);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_fast_recoveries), 1);
    (void)dsack;
    g = talk_seg(&t, F_ACK, 0, 8 * MSS, 0); /* both were late: a DSACK for each */
    g.n_sack = 1;
    g.sack[0][0] = t.iss + 1;
    g.sack[0][1] = t.iss + 1 + 2 * MSS;
    craft_say(&t.s, &g);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_spurious_recoveries), 1);
    g = talk_seg(&t, F_ACK | F_ECE, 0, 9 * MSS, 0);
    craft_say(&t.s, &g);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_ecn_cuts), 1);
    talk_end(&t);
}

/* RFC 9293 3.10.7.4, first check: a segment from half of the sequence space away is neither before
 * nor after the window, and has no effect. */
static void test_segment_from_half_way_round(void **state)
{
    struct talk t;
    uint32_t wnd;

    (void)state;
    talk_open(&t);
    wnd = talk_info(&t).snd_wnd;
    t.wnd = 77;
    for (uint32_t near = 0; near < 3; near++)
        talk_put(&t, F_ACK | F_PSH, 0x80000000u + 1000 * near, 0, 25);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_out_of_window), 3);
    assert_int_equal(talk_info(&t).snd_wnd, wnd);
    assert_int_equal(t.c->received, 0);
    t.wnd = wnd; /* one that begins before and reaches into the window has */
    talk_put(&t, F_ACK | F_PSH, 0, 0, 25);
    talk_put(&t, F_ACK | F_PSH, 20, 0, 25);
    assert_int_equal(t.c->received, 45);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_out_of_window), 3);
    talk_end(&t);
}

/* A keep-alive is answered once, also when its ACK is wrong (RFC 9293 3.8.4, RFC 5961 5.2), and the
 * answer echoes its timestamp. */
static void test_answer_to_keep_alive(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    t.ts = 1;
    talk_passive(&t);
    talk_skip(&t);
    t.tsval += 7;
    talk_say(&t, F_ACK, (uint32_t)-1, 0, 0);
    assert_int_equal(talk_hear(&t, F_ACK, 0, 0, 0).tsecr, t.tsval);
    talk_silence(&t);
    t.tsval += 7;
    talk_say(&t, F_ACK, (uint32_t)-1, 4000, 0);
    assert_int_equal(talk_hear(&t, F_ACK, 0, 0, 0).tsecr, t.tsval - 7);
    talk_silence(&t);
    talk_send(&t, 100); /* what it acknowledges lets data go, which answers it */
    talk_hear(&t, F_ACK, 0, 0, 100);
    talk_send(&t, 50);
    talk_silence(&t);
    t.tsval += 7;
    talk_say(&t, F_ACK, (uint32_t)-1, 100, 0);
    assert_int_equal(talk_hear(&t, F_ACK, 100, 0, 50).tsecr, t.tsval);
    talk_silence(&t);
    talk_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rtt_of_fast_open),
        cmocka_unit_test(test_no_rtt_of_repeated_syn_ack),
        cmocka_unit_test(test_full_buffer_before_handshake),
        cmocka_unit_test(test_urgent_beyond_2_gib),
        cmocka_unit_test(test_long_user_timeout),
        cmocka_unit_test(test_syn_without_timestamp),
        cmocka_unit_test(test_simultaneous_open_window),
        cmocka_unit_test(test_time_wait_without_listener),
        cmocka_unit_test(test_cubic_after_bbr),
        cmocka_unit_test(test_shutdown_of_held_syn),
        cmocka_unit_test(test_loss_after_mark),
        cmocka_unit_test(test_mark_after_undo),
        cmocka_unit_test(test_segment_from_half_way_round),
        cmocka_unit_test(test_answer_to_keep_alive),
    };

    return cmocka_run_group_tests_name("tcp_corners", tests, 0, 0);
}
