/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_rack.c - losses detected by send time (RFC 8985): the reordering window, how it adapts,
 * lost retransmissions, timeouts, tail loss probes. The RTT is 100 ms throughout.
 */
#include "tcptalk.h"

#include "tcp/tcp.h"

#define MSS 1460u
#define RTT (100 * MSEC)

static struct toec_rack *rack_of(struct talk *t)
{
    return &t->c->flow->rack;
}

static void begin(struct talk *t, unsigned n)
{
    talk_init(t);
    talk_flight(t, 1, n);
    craft_pass(&t->s, RTT);
    talk_silence(t);
}

/* Sends an ACK with one SACK block, segments [a, b). */
static void sack(struct talk *t, uint32_t ack, uint32_t a, uint32_t b)
{
    talk_block(t, ack * MSS, a * MSS, b * MSS);
}

/* Returns the virtual time in milliseconds until a segment is sent; it must be segment n. */
static unsigned ms_until(struct talk *t, uint32_t n)
{
    toec_time began = t->s.now;
    struct tseg g;

    while (!craft_next(&t->s, &g)) {
        craft_pass(&t->s, 100 * USEC);
        assert_true(t->s.now - began < 10 * SEC);
    }
    assert_int_equal(g.seq - t->iss - 1, n * MSS);
    return (unsigned)((t->s.now - began) / MSEC);
}

/* ---- the reordering window ---- */

/* R8985-05: fewer than three segments are SACKed: what was sent before them is lost once a quarter
 * of the minimum RTT has passed, to the tick. R8985-01: all of one flight are distinguished. */
static void test_waits_for_reordering(void **state)
{
    struct talk t;
    unsigned ms;

    (void)state;
    begin(&t, 10);
    sack(&t, 0, 1, 2);
    talk_silence(&t);
    ms = ms_until(&t, 0);
    assert_in_range(ms, 25, 27);
    talk_silence(&t); /* segments 2 to 9 were sent after it: not lost */
    assert_int_equal(talk_count(&t, TOEC_C_tcp_reo_timeouts), 1);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_fast_recoveries), 1);
    talk_end(&t);
}

/* R8985-04: half of the window may have passed already; only the remainder is waited for. */
static void test_remaining_time(void **state)
{
    struct talk t;
    unsigned ms;

    (void)state;
    begin(&t, 1);
    talk_send(&t, 2 * MSS); /* sent 100 ms after segment 0 */
    talk_skip(&t);
    craft_pass(&t.s, RTT);
    talk_skip(&t); /* a probe, as segment 0 is 200 ms old */
    sack(&t, 0, 1, 2);
    /* sent 100 ms before the SACKed segments: lost long ago */
    ms = ms_until(&t, 0);
    assert_int_equal(ms, 0);
    talk_end(&t);
}

/* R8985-04, R6675-01: three segments SACKed and reordering never seen: no wait. */
static void test_three_segments_do_not_wait(void **state)
{
    struct talk t;

    (void)state;
    begin(&t, 10);
    sack(&t, 0, 1, 4);
    assert_int_equal(ms_until(&t, 0), 0);
    talk_end(&t);
}

/* ... three SACKed pieces count as three segments (RFC 6675 4, IsLost()). */
static void test_three_pieces_do_not_wait(void **state)
{
    static const uint32_t pieces[] = {MSS,     MSS + 9,     3 * MSS, 3 * MSS + 9,
                                      5 * MSS, 5 * MSS + 9, 0,       0};
    struct talk t;

    (void)state;
    begin(&t, 10);
    talk_sack(&t, 0, 0, pieces);
    assert_int_equal(ms_until(&t, 0), 0);
    talk_end(&t);
}

/* After reordering was seen once, SACKed segments mean a wait; the late segment arrives, and
 * nothing was sent needlessly. */
static void test_reordering_seen(void **state)
{
    struct talk t;
    unsigned at;

    (void)state;
    begin(&t, 10);
    sack(&t, 0, 1, 2);
    craft_pass(&t.s, 10 * MSEC);
    talk_say(&t, F_ACK, 0, 2 * MSS, 0); /* segment 0, late */
    assert_int_equal(rack_of(&t)->reordering, 1);
    for (at = 2; at < 8; at += 3) {
        sack(&t, at, at + 1, at + 3);
        craft_pass(&t.s, 20 * MSEC);
        talk_say(&t, F_ACK, 0, (at + 3) * MSS, 0);
    }
    assert_int_equal(talk_count(&t, TOEC_C_tcp_retransmits), 0);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_fast_recoveries), 0);
    talk_end(&t);
}

/* The blocks of one ACK may be in any order, which is not reordering. An invalid block, half the
 * sequence space away, does not disturb the two others. */
static void test_order_of_blocks(void **state)
{
    static const uint32_t b[] = {
        5 * MSS, 6 * MSS, 5 * MSS + 0x7fffffff, 6 * MSS + 0x7fffffff, MSS, 2 * MSS, 0, 0};
    struct talk t;

    (void)state;
    begin(&t, 10);
    talk_sack(&t, 0, 0, b);
    assert_int_equal(rack_of(&t)->sacked, 2 * MSS);
    assert_int_equal(rack_of(&t)->reordering, 0);
    talk_say(&t, F_ACK, 0, 10 * MSS, 0);
    talk_end(&t);
}

/* R8985-04: a DSACK widens the window by another quarter, once per round trip. */
static void test_dsack_widens(void **state)
{
    struct talk t;
    uint32_t dup[6] = {0, MSS, 0, 0, 0, 0};
    unsigned ms;

    (void)state;
    begin(&t, 10);
    sack(&t, 0, 1, 2);
    ms_until(&t, 0);
    craft_pass(&t.s, 5 * MSEC);
    talk_say(&t, F_ACK, 0, 2 * MSS, 0); /* the original was late; */
    talk_sack(&t, 0, 2 * MSS, dup);     /* the retransmission is a duplicate */
    assert_int_equal(talk_count(&t, TOEC_C_tcp_dsack_received), 1);
    assert_int_equal(rack_of(&t)->reo_more, 1);
    assert_int_equal(rack_of(&t)->reo_persist, 15); /* of 16: this recovery ends with the DSACK */
    talk_sack(&t, 0, 2 * MSS, dup); /* more DSACKs than retransmissions: no effect */
    assert_int_equal(rack_of(&t)->reo_more, 1);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_dsack_ignored), 1);
    talk_say(&t, F_ACK, 0, 10 * MSS, 0);
    talk_send(&t, 10 * MSS);
    talk_skip(&t);
    craft_pass(&t.s, RTT);
    sack(&t, 10, 11, 12);
    ms = ms_until(&t, 10);
    assert_in_range(ms, 49, 52); /* 2 * 100 / 4 */
    talk_end(&t);
}

static void dsack(struct talk *t, uint32_t ack, uint32_t segment)
{
    uint32_t dup[6] = {segment * MSS, (segment + 1) * MSS, 0, 0, 0, 0};

    talk_sack(t, 0, ack * MSS, dup);
}

/* ... not for each of several in a round trip; the next round trip's counts again. */
static void test_dsacks_of_rounds(void **state)
{
    struct talk t;

    (void)state;
    begin(&t, 10);
    sack(&t, 0, 2, 5);
    craft_pass(&t.s, 5 * MSEC);
    assert_int_equal(talk_skip(&t), 2); /* segments 0 and 1 */
    talk_say(&t, F_ACK, 0, 5 * MSS, 0); /* they were late */
    dsack(&t, 5, 0);
    dsack(&t, 5, 1);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_dsack_received), 2);
    assert_int_equal(rack_of(&t)->reo_more, 1);
    talk_say(&t, F_ACK, 0, 10 * MSS, 0);
    t.c->flow->cwnd = 10 * MSS;
    talk_send(&t, 10 * MSS);
    talk_skip(&t);
    craft_pass(&t.s, RTT);
    sack(&t, 10, 11, 15);
    ms_until(&t, 10);
    talk_say(&t, F_ACK, 0, 15 * MSS, 0);
    dsack(&t, 15, 10);
    assert_int_equal(rack_of(&t)->reo_more, 2);
    talk_end(&t);
}

/* ... and 16 recoveries without a DSACK narrow it again. */
static void test_window_narrows(void **state)
{
    struct talk t;
    unsigned i, at;

    (void)state;
    begin(&t, 10);
    sack(&t, 0, 1, 4);
    talk_say(&t, F_ACK, 0, 10 * MSS, 0);
    talk_skip(&t);
    rack_of(&t)->reo_more = 3;
    rack_of(&t)->reo_persist = 16;
    for (i = 0, at = 10; i < 16; i++, at += 5) {
        assert_int_equal(rack_of(&t)->reo_more, 3);
        t.c->flow->cwnd = 10 * MSS;
        talk_send(&t, 5 * MSS);
        craft_pass(&t.s, RTT);
        sack(&t, at, at + 1, at + 5);
        talk_say(&t, F_ACK, 0, (at + 5) * MSS, 0);
        talk_skip(&t);
    }
    assert_int_equal(rack_of(&t)->reo_more, 0);
    talk_end(&t);
}

/* ---- what counts as delivered ---- */

/* R8985-02: only the segment sent most recently moves RACK.xmit_ts. */
static void test_most_recent_only(void **state)
{
    struct talk t;
    uint32_t first, xmit, second;

    (void)state;
    begin(&t, 2);
    first = toec_stamp(t.s.now - RTT);
    talk_send(&t, 3 * MSS);
    second = toec_stamp(t.s.now);
    talk_skip(&t);
    craft_pass(&t.s, RTT);
    talk_skip(&t);
    sack(&t, 0, 3, 4);
    xmit = rack_of(&t)->episode->xmit_ts;
    assert_int_equal(xmit, second);
    assert_int_equal(rack_of(&t)->episode->end_seq, t.iss + 1 + 4 * MSS);
    assert_int_equal(rack_of(&t)->episode->rtt, toec_stamp(t.s.now) - second);
    sack(&t, 0, 1, 2); /* of the first flight */
    assert_true(first != second);
    assert_int_equal(rack_of(&t)->episode->xmit_ts, second);
    assert_int_equal(rack_of(&t)->episode->end_seq, t.iss + 1 + 4 * MSS);
    talk_end(&t);
}

/* R8985-03: a retransmission acknowledged sooner than the minimum RTT: the original arrived. */
static void test_too_early_for_the_retransmission(void **state)
{
    struct talk t;
    uint32_t xmit;

    (void)state;
    begin(&t, 10);
    sack(&t, 0, 1, 4);
    assert_int_equal(ms_until(&t, 0), 0);
    xmit = rack_of(&t)->episode->xmit_ts;
    craft_pass(&t.s, 20 * MSEC);
    talk_say(&t, F_ACK, 0, 4 * MSS, 0);
    assert_int_equal(rack_of(&t)->episode->xmit_ts, xmit);
    talk_end(&t);
}

/* ... and also if the echoed timestamp is older. */
static void test_old_echo(void **state)
{
    struct talk t;
    struct tseg g;
    uint32_t xmit, old, b[4] = {2 * MSS, 5 * MSS, 0, 0};
    int by_echo;

    (void)state;
    for (by_echo = 0; by_echo < 2; by_echo++) {
        talk_init(&t);
        t.ts = t.sack = 1;
        t.rtt = RTT;
        talk_passive(&t);
        talk_send(&t, 14000);
        while (craft_next(&t.s, &g))
            t.tsecr = g.tsval;
        old = t.tsecr;
        craft_pass(&t.s, RTT);
        b[0] = 1448;
        b[1] = 6 * 1448;
        talk_sack(&t, 0, 0, b);
        g = craft_expect(&t.s);
        assert_int_equal(g.seq, t.iss + 1);
        xmit = rack_of(&t)->episode->xmit_ts;
        craft_pass(&t.s, 2 * RTT); /* longer than the minimum RTT */
        t.tsecr = by_echo ? old : g.tsval;
        talk_say(&t, F_ACK, 0, 6 * 1448, 0);
        if (by_echo)
            assert_int_equal(rack_of(&t)->episode->xmit_ts, xmit);
        else
            assert_true(rack_of(&t)->episode->xmit_ts != xmit);
        talk_end(&t);
    }
}

/* ---- retransmissions ---- */

/* Data sent after a retransmission is SACKed, the retransmission is not: it is lost and sent again,
 * and the window shrinks a second time (RFC 5681 4.3, R5681-15). */
static void test_lost_retransmission(void **state)
{
    struct talk t;
    uint32_t ssthresh;

    (void)state;
    begin(&t, 10);
    talk_send(&t, 20 * MSS);
    sack(&t, 0, 1, 6);
    assert_int_equal(ms_until(&t, 0), 0);
    ssthresh = talk_info(&t).ssthresh;
    sack(&t, 0, 1, 10);
    talk_hear(&t, F_ACK, 10 * MSS, 0, MSS); /* after the retransmission */
    talk_skip(&t);
    craft_pass(&t.s, RTT);
    talk_skip(&t);
    sack(&t, 0, 1, 11);
    assert_int_equal(ms_until(&t, 0), 0);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_lost_retransmits), 1);
    assert_true(talk_info(&t).ssthresh < ssthresh);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_timeouts), 0);
    talk_end(&t);
}

/* R8985-09: a timeout marks lost what is older than a round trip, and the first segment. */
static void test_timeout_spares_the_young(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    talk_flight(&t, 1, 1);
    craft_pass(&t.s, RTT);
    talk_say(&t, F_ACK, 0, MSS, 0);
    talk_send(&t, 2 * MSS);
    talk_skip(&t);
    while (talk_count(&t, TOEC_C_tcp_tail_probes) == 0)
        craft_pass(&t.s, MSEC);
    talk_skip(&t);
    craft_pass(&t.s, 200 * MSEC);
    talk_send(&t, 2 * MSS); /* segments 3 and 4, just before the timeout */
    talk_skip(&t);
    while (talk_count(&t, TOEC_C_tcp_timeouts) == 0)
        craft_pass(&t.s, MSEC);
    talk_hear(&t, F_ACK, MSS, MSS * 0, MSS);
    talk_silence(&t);
    assert_int_equal(rack_of(&t)->lost, MSS); /* segment 2 */
    talk_end(&t);
}

/* ---- the record ---- */

/* A run that grows was sent when its last segment was. */
static void test_time_of_a_growing_run(void **state)
{
    struct talk t;
    unsigned n;

    (void)state;
    begin(&t, 0);
    talk_send(&t, MSS);
    n = rack_of(&t)->n;
    t.s.now += 500 * USEC; /* within 1/32 of the RTT */
    talk_send(&t, MSS);
    assert_int_equal(rack_of(&t)->n, n);
    assert_int_equal(rack_of(&t)->run[n - 1].sent, toec_stamp(t.s.now));
    talk_skip(&t);
    talk_end(&t);
}

/* The record is bounded, however often the flow sends, and covers all outstanding data. */
static void test_record_is_bounded(void **state)
{
    struct talk t;
    unsigned i;

    (void)state;
    talk_init(&t);
    t.s.host[0].tx_buf = 1 << 20;
    t.wscale = 8;
    t.sack = 1;
    t.rtt = RTT;
    talk_passive(&t);
    talk_set(&t, TOEC_OPT_NODELAY, 1);
    for (i = 0; i < 90; i++) {
        talk_send(&t, 100);
        craft_pass(&t.s, i < 45 ? 20 * USEC : MSEC);
        assert_true(rack_of(&t)->n <= TOEC_RUNS);
        assert_int_equal(rack_of(&t)->run[rack_of(&t)->n - 1].end, t.iss + 1 + 100 * (i + 1));
    }
    /* 46 ms in runs of at least 1/32 of 100 ms */
    assert_in_range(rack_of(&t)->n, 10, 17);
    talk_say(&t, F_ACK, 0, 9000, 0);
    assert_int_equal(t.c->acked, 9000);
    talk_end(&t);
}

/* The same across the wrap of sequence numbers. */
static void test_wrap(void **state)
{
    struct talk t;
    toec_time start;
    unsigned ms;

    (void)state;
    begin(&t, 10);
    /* the ISN grows by 1 in 4096 ns (RFC 6528) */
    start = 1000 * SEC + ((toec_time)(0u - 5 * MSS - t.iss) << 12);
    talk_end(&t);
    talk_init(&t);
    t.s.now = start;
    talk_flight(&t, 1, 10);
    assert_true((int32_t)(t.iss + 10 * MSS) > 0 && (int32_t)t.iss < 0);
    craft_pass(&t.s, RTT);
    sack(&t, 0, 1, 2);
    ms = ms_until(&t, 0);
    assert_in_range(ms, 25, 27);
    craft_pass(&t.s, RTT);
    talk_skip(&t);
    sack(&t, 2, 4, 10);
    assert_int_equal(ms_until(&t, 2), 0);
    talk_hear(&t, F_ACK, 3 * MSS, 0, MSS);
    talk_say(&t, F_ACK, 0, 10 * MSS, 0);
    assert_int_equal(t.c->acked, 10 * MSS);
    talk_end(&t);
}

/* ---- tail loss probes ---- */

/* R8985-06: after two round trips without an ACK, the last segment is retransmitted; R8985-07:
 * once. Then the RTO, which restarts with the probe. */
static void test_probe(void **state)
{
    struct talk t;
    struct tseg g;
    unsigned ms;

    (void)state;
    talk_init(&t);
    talk_flight(&t, 1, 4);
    ms = ms_until(&t, 3);
    assert_in_range(ms, 200, 205);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_tail_probes), 1);
    ms = ms_until(&t, 0);
    assert_in_range(ms, 299, 306); /* SRTT + max(200 ms, 4 * 50 ms) */
    assert_int_equal(talk_count(&t, TOEC_C_tcp_timeouts), 1);
    craft_pass(&t.s, 5 * SEC);
    while (craft_next(&t.s, &g))
        assert_int_equal(g.seq, t.iss + 1);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_tail_probes), 1);
    talk_end(&t);
}

/* The SACK of a probe shows the other losses. */
static void test_probe_finds_the_rest(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    talk_flight(&t, 1, 4);
    ms_until(&t, 3);
    craft_pass(&t.s, RTT);
    sack(&t, 0, 3, 4);
    talk_hear(&t, F_ACK, 0, 0, MSS);
    craft_pass(&t.s, RTT);
    sack(&t, 1, 3, 4);
    talk_hear(&t, F_ACK, MSS, 0, MSS);
    talk_hear(&t, F_ACK, 2 * MSS, 0, MSS);
    talk_say(&t, F_ACK, 0, 4 * MSS, 0);
    talk_silence(&t);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_timeouts), 0);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_retransmits), 4);
    talk_end(&t);
}

/* New data is a better probe: beyond the congestion window, but not beyond the peer's window. */
static void test_probe_of_new_data(void **state)
{
    struct talk t;
    int closed;

    (void)state;
    for (closed = 0; closed < 2; closed++) {
        talk_init(&t);
        t.wnd = closed ? 10 * MSS : 65535;
        talk_flight(&t, 1, 10);
        talk_send(&t, 5 * MSS);
        talk_silence(&t);
        ms_until(&t, closed ? 9 : 10);
        talk_silence(&t);
        talk_say(&t, F_ACK, 0, (closed ? 10 : 11) * MSS, 0);
        assert_int_equal(talk_count(&t, TOEC_C_tcp_tail_repairs), 0);
        talk_end(&t);
    }
}

/* R8985-06: the ACK of a single segment may be delayed by 200 ms; a probe is never later than the
 * RTO. */
static void test_probe_of_a_lone_segment(void **state)
{
    struct talk t;
    unsigned ms;

    (void)state;
    talk_init(&t);
    talk_flight(&t, 1, 1);
    ms = ms_until(&t, 0);
    assert_in_range(ms, 299, 306); /* the RTO; without it 400 ms */
    assert_int_equal(talk_count(&t, TOEC_C_tcp_tail_probes), 1);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_timeouts), 0);
    talk_end(&t);
}

/* No probe without SACK, with SACKed data outstanding, or in recovery. */
static void test_no_probe(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    talk_flight(&t, 0, 4);
    craft_pass(&t.s, 280 * MSEC);
    talk_silence(&t);
    talk_end(&t);

    begin(&t, 4);
    sack(&t, 0, 1, 2);
    ms_until(&t, 0);
    craft_pass(&t.s, 150 * MSEC);
    talk_silence(&t);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_tail_probes), 0);
    talk_end(&t);
}

/* R8985-08: the probe was the last segment, and no DSACK follows: it repaired a loss. With a DSACK,
 * or a second ACK of the same number, the original had arrived. */
static void test_probe_repairs(void **state)
{
    static const uint32_t dup[] = {9 * MSS, 10 * MSS, 0, 0};
    struct talk t;
    int how;

    (void)state;
    for (how = 0; how < 3; how++) {
        talk_init(&t);
        t.s.host[0].cfg.cc = TOEC_CC_NEWRENO;
        talk_flight(&t, 1, 10);
        ms_until(&t, 9);
        craft_pass(&t.s, RTT);
        if (how == 1)
            talk_sack(&t, 0, 10 * MSS, dup);
        else
            talk_say(&t, F_ACK, 0, 10 * MSS, 0);
        if (how == 2)
            talk_say(&t, F_ACK, 0, 10 * MSS, 0);
        talk_send(&t, MSS);
        craft_pass(&t.s, RTT / 2);
        if (how == 2) /* nothing outstanding when it arrived: counts as a duplicate now */
            talk_say(&t, F_ACK, 0, 10 * MSS, 0);
        talk_say(&t, F_ACK, 0, 11 * MSS, 0);
        assert_int_equal(talk_count(&t, TOEC_C_tcp_tail_repairs), how == 0);
        if (how == 0)
            assert_int_equal(talk_info(&t).cwnd, 5 * MSS);
        else
            assert_true(talk_info(&t).cwnd >= 10 * MSS);
        talk_end(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waits_for_reordering),
        cmocka_unit_test(test_remaining_time),
        cmocka_unit_test(test_three_segments_do_not_wait),
        cmocka_unit_test(test_three_pieces_do_not_wait),
        cmocka_unit_test(test_reordering_seen),
        cmocka_unit_test(test_order_of_blocks),
        cmocka_unit_test(test_dsack_widens),
        cmocka_unit_test(test_dsacks_of_rounds),
        cmocka_unit_test(test_window_narrows),
        cmocka_unit_test(test_most_recent_only),
        cmocka_unit_test(test_too_early_for_the_retransmission),
        cmocka_unit_test(test_old_echo),
        cmocka_unit_test(test_lost_retransmission),
        cmocka_unit_test(test_timeout_spares_the_young),
        cmocka_unit_test(test_record_is_bounded),
        cmocka_unit_test(test_time_of_a_growing_run),
        cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_probe),
        cmocka_unit_test(test_probe_finds_the_rest),
        cmocka_unit_test(test_probe_of_new_data),
        cmocka_unit_test(test_probe_of_a_lone_segment),
        cmocka_unit_test(test_no_probe),
        cmocka_unit_test(test_probe_repairs),
    };

    return cmocka_run_group_tests_name("tcp_rack", tests, 0, 0);
}
