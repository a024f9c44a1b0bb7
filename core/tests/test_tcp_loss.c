/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_loss.c - losses on the path to the peer: timeouts (RFC 6298), fast retransmit and
 * recovery with and without SACK (RFC 6675, RFC 6582), limited transmit (RFC 3042), ICMP (RFC 1191,
 * RFC 5927).
 */
#include "tcptalk.h"

#define MSS 1460u

/* Opens a connection with or without SACK, with n segments of data in flight. */
static void under_way(struct talk *t, int sack, unsigned n)
{
    talk_init(t);
    t->sack = sack;
    talk_under_way(t, n);
}

/* ---- timeouts ---- */

/* R6298-12: each timeout doubles the RTO; R6298-04: the minimum is 200 ms here. RFC 9293 MUST-19;
 * R1122-25. */
static void test_rto_backoff(void **state)
{
    struct talk t;
    toec_time last, gap = 0;
    struct tseg g;
    int n;

    (void)state;
    under_way(&t, 0, 3);
    last = t.s.now;
    for (n = 0; n < 9; n++) {
        toec_time d;

        while (!craft_next(&t.s, &g))
            craft_pass(&t.s, 5 * MSEC);
        assert_int_equal(g.seq, t.iss + 1);
        assert_int_equal(g.len, MSS);
        talk_silence(&t); /* cwnd is one segment */
        d = t.s.now - last;
        last = t.s.now;
        if (n == 0)
            assert_true(d >= 200 * MSEC && d < 300 * MSEC);
        else
            assert_true(d > gap * 19 / 10 && d < gap * 21 / 10 + 20 * MSEC);
        gap = d;
    }
    assert_int_equal(talk_count(&t, TOEC_C_tcp_timeouts), 9);
    talk_end(&t);
}

/* R2 (RFC 9293 3.8.3): given up after many minutes, with a reason and a RST. RFC 9293 MUST-20,
 * SHLD-10, SHLD-11. */
static void test_r2(void **state)
{
    struct talk t;
    toec_time began;

    (void)state;
    under_way(&t, 1, 2);
    began = t.s.now;
    craft_pass(&t.s, 100 * SEC);
    assert_false(t.c->gone);
    while (!t.c->gone)
        craft_pass(&t.s, 10 * SEC);
    assert_int_equal(t.c->gone_reason, TOEC_R_TIMEDOUT);
    assert_true(t.s.now - began > 100 * SEC && t.s.now - began < 3000 * SEC);
    talk_end(&t);
}

static void test_user_timeout(void **state)
{
    struct talk t;
    toec_time began;

    (void)state;
    talk_open(&t);
    talk_set(&t, TOEC_OPT_USER_TIMEOUT, 5000);
    talk_send(&t, 10);
    began = t.s.now;
    while (!t.c->gone && t.s.now < began + 100 * SEC)
        craft_pass(&t.s, 100 * MSEC);
    assert_true(t.c->gone);
    assert_true(t.s.now - began >= 5 * SEC && t.s.now - began < 13 * SEC);
    talk_end(&t);
}

/* After a timeout: slow start from one segment, and everything is retransmitted in order (R6298-11,
 * go-back-N). */
static void test_rto_recovery(void **state)
{
    struct talk t;

    (void)state;
    under_way(&t, 0, 8);
    craft_pass(&t.s, 300 * MSEC);
    talk_hear(&t, F_ACK, 0, 0, MSS);
    talk_silence(&t);
    talk_say(&t, F_ACK, 0, MSS, 0);
    talk_hear(&t, F_ACK, MSS, 0, MSS);
    talk_hear(&t, F_ACK, 2 * MSS, 0, MSS);
    talk_silence(&t);
    talk_say(&t, F_ACK, 0, 8 * MSS, 0);
    talk_silence(&t);
    assert_int_equal(t.c->acked, 8 * MSS);
    talk_end(&t);
}

/* ... except what the peer has SACKed (RFC 6675 5.1). */
static void test_rto_skips_sacked(void **state)
{
    static const uint32_t blocks[] = {MSS, 3 * MSS, 0, 0};
    struct talk t;

    (void)state;
    under_way(&t, 1, 4);
    talk_sack(&t, 0, 0, blocks);
    while (talk_count(&t, TOEC_C_tcp_timeouts) == 0)
        craft_pass(&t.s, 10 * MSEC);
    talk_skip(&t);
    talk_say(&t, F_ACK, 0, 3 * MSS, 0);
    talk_hear(&t, F_ACK, 3 * MSS, 0, MSS);
    talk_silence(&t);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_reneging), 0);
    talk_end(&t);
}

/* A peer that drops what it has SACKed (R2018-07): the data is retransmitted, because it was kept
 * (R2018-08). */
static void test_reneging(void **state)
{
    static const uint32_t blocks[] = {MSS, 3 * MSS, 0, 0};
    struct talk t;

    (void)state;
    under_way(&t, 1, 3);
    talk_sack(&t, 0, 0, blocks);
    talk_skip(&t);
    craft_pass(&t.s, 300 * MSEC);
    talk_hear(&t, F_ACK, 0, 0, MSS);
    talk_say(&t, F_ACK, 0, MSS, 0); /* ends where the SACKed data begins */
    talk_skip(&t);
    craft_pass(&t.s, 2 * SEC);
    talk_hear(&t, F_ACK, MSS, 0, MSS);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_reneging), 1);
    talk_end(&t);
}

/* Karn: the ACK of a retransmitted segment gives no sample; the backoff stays until an ACK does.
 * RFC 9293 MUST-18; R6298-06, R1122-25. */
static void test_karn(void **state)
{
    struct talk t;
    uint32_t rto;

    (void)state;
    under_way(&t, 0, 1);
    rto = talk_info(&t).rto_us;
    craft_pass(&t.s, 1500 * MSEC);
    talk_skip(&t);
    talk_say(&t, F_ACK, 0, MSS, 0);
    assert_int_equal(talk_info(&t).rto_us, rto);
    talk_end(&t);
}

/* With timestamps a retransmission gives a sample too (RFC 7323 4.1). R7323-11, R7323-15,
 * R6298-06. */
static void test_rtt_by_timestamps(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    t.ts = 1;
    talk_passive(&t);
    talk_send(&t, 100);
    talk_hear(&t, F_ACK, 0, 0, 100);
    craft_pass(&t.s, 250 * MSEC);
    talk_hear(&t, F_ACK, 0, 0, 100); /* the peer echoes the timestamp of this one */
    craft_pass(&t.s, 100 * MSEC);
    talk_say(&t, F_ACK, 0, 100, 0);
    assert_true(talk_info(&t).srtt_us > 8000 && talk_info(&t).srtt_us < 100000);
    talk_end(&t);
}

/* RFC 6298 2: samples are smoothed. R6298-04: the RTO exceeds the SRTT by at least 200 ms.
 * R1122-25. */
static void test_rtt(void **state)
{
    struct talk t;
    struct toec_info i;
    uint32_t at = 0;
    int n;

    (void)state;
    talk_open(&t);
    for (n = 0; n < 60; n++) {
        talk_send(&t, 10);
        talk_hear(&t, F_ACK, at, 0, 10);
        craft_pass(&t.s, 100 * MSEC);
        at += 10;
        talk_say(&t, F_ACK, 0, at, 0);
    }
    i = talk_info(&t);
    assert_true(i.srtt_us > 99000 && i.srtt_us < 101000);
    assert_true(i.rttvar_us < 5000);
    assert_true(i.rto_us > 290000 && i.rto_us < 330000);
    talk_end(&t);
}

/* ---- fast retransmit ---- */

/* R5681-09: the third duplicate ACK retransmits; the first two send new data (R5681-11). */
static void test_fast_retransmit_reno(void **state)
{
    struct talk t;
    struct toec_info i;

    (void)state;
    under_way(&t, 0, 10);
    talk_send(&t, 20000);
    talk_silence(&t); /* the window is full */
    talk_say(&t, F_ACK, 0, 0, 0);
    talk_hear(&t, F_ACK, 10 * MSS, 0, MSS);
    talk_silence(&t);
    talk_say(&t, F_ACK, 0, 0, 0);
    talk_hear(&t, F_ACK, 11 * MSS, 0, MSS);
    talk_silence(&t);
    talk_say(&t, F_ACK, 0, 0, 0);
    talk_hear(&t, F_ACK, 0, 0, MSS);
    talk_silence(&t);
    i = talk_info(&t);
    /* RFC 5681 3.2 step 2: does not count what limited transmit has sent */
    assert_int_equal(i.ssthresh, 10u * MSS * 7 / 10);
    assert_int_equal(i.cwnd, i.ssthresh);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_fast_recoveries), 1);
    /* each further duplicate sends a segment once the pipe is small enough */
    talk_say(&t, F_ACK, 0, 0, 0);
    talk_say(&t, F_ACK, 0, 0, 0);
    talk_skip(&t);
    /* everything acknowledged: recovery is over */
    talk_say(&t, F_ACK, 0, 12 * MSS, 0);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_timeouts), 0);
    talk_end(&t);
}

/* R6582-02: a partial ACK retransmits the next hole, without three more duplicates. */
static void test_partial_ack(void **state)
{
    struct talk t;
    int i;

    (void)state;
    under_way(&t, 0, 8);
    for (i = 0; i < 3; i++)
        talk_say(&t, F_ACK, 0, 0, 0);
    talk_hear(&t, F_ACK, 0, 0, MSS);
    talk_say(&t, F_ACK, 0, 3 * MSS, 0);
    talk_hear(&t, F_ACK, 3 * MSS, 0, MSS);
    talk_say(&t, F_ACK, 0, 5 * MSS, 0);
    talk_hear(&t, F_ACK, 5 * MSS, 0, MSS);
    talk_say(&t, F_ACK, 0, 8 * MSS, 0);
    talk_silence(&t);
    talk_end(&t);
}

/* R6582-01, R6582-05: duplicates caused by the retransmissions of a timeout are no new loss. */
static void test_no_false_fast_retransmit(void **state)
{
    struct talk t;
    int i;

    (void)state;
    under_way(&t, 0, 4);
    craft_pass(&t.s, 300 * MSEC);
    talk_hear(&t, F_ACK, 0, 0, MSS);
    talk_say(&t, F_ACK, 0, 4 * MSS, 0);
    talk_send(&t, 2 * MSS);
    talk_skip(&t);
    for (i = 0; i < 5; i++)
        talk_say(&t, F_ACK, 0, 4 * MSS, 0);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_fast_recoveries), 0);
    talk_end(&t);
}

/* What is not a duplicate ACK (RFC 5681 2): an ACK with data, with another window, or with no data
 * in flight. */
static void test_not_duplicates(void **state)
{
    struct talk t;
    uint32_t i;

    (void)state;
    under_way(&t, 0, 8);
    for (i = 0; i < 5; i++)
        talk_say(&t, F_ACK, i * 10, 0, 10);
    for (i = 0; i < 5; i++) {
        t.wnd--;
        talk_say(&t, F_ACK, 50, 0, 0);
    }
    assert_int_equal(talk_count(&t, TOEC_C_tcp_fast_recoveries), 0);
    talk_say(&t, F_ACK, 50, 8 * MSS, 0);
    for (i = 0; i < 5; i++)
        talk_say(&t, F_ACK, 50, 8 * MSS, 0);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_fast_recoveries), 0);
    talk_end(&t);
}

/* Invalid SACK blocks: beyond what was sent, empty, below SND.UNA. */
static void test_sack_nonsense(void **state)
{
    static const uint32_t bad[] = {
        20 * MSS, 30 * MSS, (uint32_t)-5000, (uint32_t)-100, 5, 3, 0, (uint32_t)-1, 0, 0};
    struct talk t;
    int i;

    (void)state;
    under_way(&t, 1, 4);
    for (i = 0; i < 5; i++)
        talk_sack(&t, 0, 0, bad);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_fast_recoveries), 0);
    talk_say(&t, F_ACK, 0, 4 * MSS, 0);
    assert_int_equal(t.c->acked, 4 * MSS);
    talk_end(&t);
}

/* ---- ICMP ---- */

static void test_frag_needed(void **state)
{
    struct talk t;
    struct tseg q;

    (void)state;
    under_way(&t, 0, 3);
    /* quotes no data in flight: ignored (RFC 5927 4.1) */
    q = seg_make(t.own_port, t.peer_port, F_ACK, t.iss + 1 + 5 * MSS, 0);
    craft_icmp(&t.s, 3, 4, 1000, &q);
    craft_poll(&t.s);
    talk_silence(&t);
    q.seq = t.iss + 1;
    craft_icmp(&t.s, 3, 4, 1000, &q);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK, 0, 0, 960);
    talk_skip(&t);
    assert_int_equal(talk_info(&t).mss_send, 960);
    /* not lowered below 552 */
    craft_icmp(&t.s, 3, 4, 68, &q);
    assert_int_equal(talk_info(&t).mss_send, 512);
    /* nor raised */
    craft_icmp(&t.s, 3, 4, 1400, &q);
    assert_int_equal(talk_info(&t).mss_send, 512);
    talk_say(&t, F_ACK, 0, 3 * MSS, 0);
    assert_int_equal(t.c->acked, 3 * MSS);
    talk_end(&t);
}

/* Port unreachable ends an attempt to connect, never a connection (RFC 5927 5.2); host unreachable
 * is a soft error. RFC 9293 MUST-47, MUST-54. */
static void test_icmp_hard_and_soft(void **state)
{
    struct talk t;
    struct sim s;
    struct conn *c;
    struct tseg q, g;

    (void)state;
    under_way(&t, 0, 1);
    q = seg_make(t.own_port, t.peer_port, F_ACK, t.iss + 1, 0);
    craft_icmp(&t.s, 3, 3, 0, &q);
    assert_false(t.c->gone);
    assert_int_equal(t.c->error, TOEC_R_REFUSED);
    craft_icmp(&t.s, 3, 1, 0, &q);
    assert_int_equal(t.c->error, TOEC_R_HOSTUNREACH);
    talk_end(&t);

    craft_init(&s);
    craft_start(&s);
    c = sim_connect(&s, 0, 80);
    craft_poll(&s);
    g = craft_expect(&s);
    q = seg_make(c->local_port, 80, F_SYN, g.seq, 0);
    craft_icmp(&s, 3, 1, 0, &q);
    assert_false(c->gone);
    q.seq++;
    craft_icmp(&s, 3, 3, 0, &q);
    assert_false(c->gone);
    q.seq--;
    craft_icmp(&s, 3, 3, 0, &q);
    assert_true(c->gone);
    assert_int_equal(c->gone_reason, TOEC_R_REFUSED);
    sim_assert_clean(&s);
    sim_stop(&s);
}

/* The neighbour stops answering ARP: a soft error, and the flow continues when it answers again. */
static void test_neighbour_lost(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    t.s.peer_silent = 1;
    craft_pass(&t.s, 300 * SEC); /* its neighbour entry has expired */
    conn_write(t.c, 10, 1);
    craft_pass(&t.s, 30 * SEC);
    assert_false(t.c->gone);
    assert_int_equal(t.c->error, TOEC_R_HOSTUNREACH);
    t.s.peer_silent = 0;
    craft_pass(&t.s, 120 * SEC);
    talk_skip(&t);
    talk_say(&t, F_ACK, 0, 10, 0);
    assert_int_equal(t.c->acked, 10);
    talk_end(&t);
}

/* A tail loss probe that found no room is not sent when a recovery has begun since. */
static void test_probe_yields_to_recovery(void **state)
{
    static const uint32_t blocks[] = {MSS, 4 * MSS, 0, 0};
    struct talk t;

    (void)state;
    under_way(&t, 1, 5);
    t.s.host[0].tx_room = 0;
    while (talk_count(&t, TOEC_C_tcp_tail_probes) == 0)
        craft_pass(&t.s, 10 * MSEC);
    talk_sack(&t, 0, 0, blocks);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_fast_recoveries), 1);
    t.s.host[0].tx_room = -1;
    craft_poll(&t.s);
    talk_hear(&t, F_ACK, 0, 0, MSS);
    talk_silence(&t);
    talk_end(&t);
}

/* A flow that only receives has a pending ACK and an unresolved neighbour: no data times out. */
static void test_neighbour_lost_while_receiving(void **state)
{
    struct talk t;
    unsigned i;

    (void)state;
    talk_open(&t);
    t.s.peer_silent = 1;
    craft_pass(&t.s, 300 * SEC);
    for (i = 0; i < 20; i++) {
        talk_say(&t, F_ACK | F_PSH, 10 * i, 0, 10);
        craft_pass(&t.s, 300 * SEC);
    }
    assert_false(t.c->gone);
    assert_int_equal(t.c->error, TOEC_R_HOSTUNREACH);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_timeouts), 0);
    t.s.peer_silent = 0;
    talk_skip(&t);
    talk_say(&t, F_ACK | F_PSH, 200, 0, 10);
    craft_pass(&t.s, 1 * SEC);
    talk_hear(&t, F_ACK, 0, 210, 0);
    talk_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rto_backoff),
        cmocka_unit_test(test_r2),
        cmocka_unit_test(test_user_timeout),
        cmocka_unit_test(test_rto_recovery),
        cmocka_unit_test(test_rto_skips_sacked),
        cmocka_unit_test(test_reneging),
        cmocka_unit_test(test_karn),
        cmocka_unit_test(test_rtt_by_timestamps),
        cmocka_unit_test(test_rtt),
        cmocka_unit_test(test_fast_retransmit_reno),
        cmocka_unit_test(test_partial_ack),
        cmocka_unit_test(test_no_false_fast_retransmit),
        cmocka_unit_test(test_not_duplicates),
        cmocka_unit_test(test_sack_nonsense),
        cmocka_unit_test(test_frag_needed),
        cmocka_unit_test(test_icmp_hard_and_soft),
        cmocka_unit_test(test_neighbour_lost),
        cmocka_unit_test(test_probe_yields_to_recovery),
        cmocka_unit_test(test_neighbour_lost_while_receiving),
    };

    return cmocka_run_group_tests_name("tcp_loss", tests, 0, 0);
}
