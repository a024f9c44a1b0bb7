/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_plpmtud.c - the search for the path MTU (RFC 4821 7), in dialogues with a peer: when a
 * probe may be sent, the cost of its loss, the delay before the next one, and ICMP errors about a
 * probe.
 */
#include "tcptalk.h"

#include "tcp/tcp.h"

#define RTT   (100 * MSEC)
#define BASE  1024u /* payload at the size where a search begins */
#define PROBE 1242u /* ... of the first probe, halfway to 1500 */

static uint64_t probes(struct talk *t)
{
    return talk_count(t, TOEC_C_tcp_mtu_probes);
}

static void begin(struct talk *t)
{
    talk_init(t);
    t->s.host[0].cfg.mtu_probing = TOEC_MTU_PROBING_ALWAYS;
    t->s.host[0].cfg.cc = TOEC_CC_NEWRENO;
    t->sack = 1;
    t->rtt = RTT;
    talk_passive(t);
    assert_int_equal(talk_info(t).mss_send, BASE);
}

/* Writes n bytes and receives what is sent; *heard: the total sent. */
static uint32_t write_out(struct talk *t, uint32_t n, uint32_t *heard)
{
    uint32_t longest = 0;
    struct tseg g;

    talk_send(t, n);
    while (craft_next(&t->s, &g)) {
        longest = g.len > longest ? g.len : longest;
        *heard += g.len;
    }
    return longest;
}

/* Leaves a probe and six segments after it in flight for a round trip. */
static void probe_out(struct talk *t)
{
    begin(t);
    talk_send(t, PROBE + 6 * BASE);
    talk_hear(t, F_ACK, 0, 0, PROBE);
    assert_int_equal(talk_skip(t), 6);
    assert_int_equal(probes(t), 1);
    craft_pass(&t->s, RTT);
    talk_silence(t);
}

/* Loses only the probe. */
static void lose_probe(struct talk *t)
{
    static const uint32_t rest[] = {PROBE, PROBE + 6 * BASE, 0, 0};

    talk_sack(t, 0, 0, rest);
    talk_hear(t, F_ACK, 0, 0, BASE); /* retransmitted at once, in pieces */
    talk_hear(t, F_ACK, BASE, 0, PROBE - BASE);
    talk_silence(t);
    talk_say(t, F_ACK, 0, PROBE + 6 * BASE, 0);
}

/* ---- when a probe is sent ---- */

/* R4821-05: a probe is sent only if four segments can follow it, within both windows. */
static void test_enough_follows(void **state)
{
    struct talk t;
    uint32_t heard = 0;

    (void)state;
    begin(&t);
    assert_int_equal(write_out(&t, PROBE + 4 * BASE - 1, &heard), BASE);
    assert_int_equal(probes(&t), 0);
    talk_end(&t);
    begin(&t);
    heard = 0;
    assert_int_equal(write_out(&t, PROBE + 4 * BASE, &heard), PROBE);
    assert_int_equal(probes(&t), 1);
    talk_end(&t);
    begin(&t); /* the peer's window holds at most three after it */
    t.wnd = PROBE + 4 * BASE - 1;
    talk_say(&t, F_ACK, 0, 0, 0);
    heard = 0;
    assert_int_equal(write_out(&t, PROBE + 6 * BASE, &heard), BASE);
    assert_int_equal(probes(&t), 0);
    talk_end(&t);
    begin(&t); /* nor does the congestion window allow more */
    t.c->flow->cwnd = PROBE + 4 * BASE - 1;
    heard = 0;
    assert_int_equal(write_out(&t, PROBE + 6 * BASE, &heard), BASE);
    assert_int_equal(probes(&t), 0);
    talk_end(&t);
}

/* A range of eight bytes is searched, as by Linux (tcp_probe_threshold); a smaller one is not. */
static void test_smallest_range(void **state)
{
    unsigned range;

    (void)state;
    for (range = 7; range <= 8; range++) {
        struct talk t;
        uint32_t heard = 0;

        talk_init(&t);
        t.s.host[0].cfg.mtu_probing = TOEC_MTU_PROBING_ALWAYS;
        t.sack = 1;
        t.mss = (int)(BASE + range);
        talk_passive(&t);
        assert_int_equal(write_out(&t, 8 * BASE, &heard), range == 8 ? BASE + 4 : BASE);
        assert_int_equal(probes(&t), range == 8);
        talk_end(&t);
    }
}

/* ---- the cost of a lost probe ---- */

/* R4821-02: the loss of a probe alone is not treated as congestion. */
static void test_lost_probe(void **state)
{
    struct talk t;
    struct toec_info before;

    (void)state;
    probe_out(&t);
    before = talk_info(&t);
    lose_probe(&t);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_mtu_probes_lost), 1);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_fast_recoveries), 0);
    assert_int_equal(talk_info(&t).ssthresh, before.ssthresh);
    assert_true(talk_info(&t).cwnd >= before.cwnd);
    talk_end(&t);
}

/* ... the loss of any other segment with it is. */
static void test_lost_probe_and_more(void **state)
{
    static const uint32_t rest[] = {PROBE + BASE, PROBE + 6 * BASE, 0, 0};
    struct talk t;

    (void)state;
    probe_out(&t);
    talk_sack(&t, 0, 0, rest);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_mtu_probes_lost), 0);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_fast_recoveries), 1);
    assert_in_range(talk_info(&t).ssthresh, 3 * BASE, 4 * BASE);
    talk_end(&t);
}

/* R4821-03: after a loss without a window reduction the next probe waits one round trip for each
 * segment of the window. */
static void test_headway(void **state)
{
    struct talk t;
    uint32_t heard = PROBE + 6 * BASE;
    toec_time lost;
    unsigned segments;

    (void)state;
    probe_out(&t);
    segments = talk_info(&t).cwnd / BASE;
    assert_true(segments >= 8);
    lose_probe(&t);
    lost = t.s.now;
    for (;;) {
        write_out(&t, 8 * BASE, &heard);
        if (probes(&t) > 1)
            break;
        craft_pass(&t.s, RTT);
        talk_skip(&t);
        talk_say(&t, F_ACK, 0, heard, 0);
        assert_true(t.s.now - lost < 100 * SEC);
    }
    assert_in_range((t.s.now - lost) / RTT, segments - 1, 3 * segments);
    talk_end(&t);
}

/* ---- the end of a search ---- */

/* Runs one round trip over a path that silently drops packets longer than `mtu`. */
static void round_trip(struct talk *t, uint32_t *acked, uint32_t mtu)
{
    uint32_t top = *acked, end, b[4] = {0, 0, 0, 0}, hole = 0;
    struct tseg g;
    int lost = 0;

    talk_send(t, 8 * BASE);
    craft_pass(&t->s, RTT);
    while (craft_next(&t->s, &g)) {
        end = g.seq - t->iss - 1 + g.len;
        top = end > top ? end : top;
        if (g.len + 40 > mtu) {
            assert_false(lost);
            lost = 1;
            hole = end - g.len;
            b[0] = end;
        }
    }
    if (lost) {
        b[1] = top;
        talk_sack(t, 0, hole, b);
        while (craft_next(&t->s, &g)) {
            assert_true(g.len + 40 <= mtu);
            end = g.seq - t->iss - 1 + g.len;
            top = end > top ? end : top;
        }
    }
    talk_say(t, F_ACK, 0, top, 0);
    while (craft_next(&t->s, &g))
        top = g.seq - t->iss - 1 + g.len;
    *acked = top;
    talk_say(t, F_ACK, 0, top, 0);
    craft_forget(&t->s);
}

/* R4821-04: a found size is not raised within five minutes (here ten); then larger ones are probed
 * again, as the path may have changed. */
static void test_search_rests(void **state)
{
    struct talk t;
    uint32_t acked = 0;
    uint64_t found;
    unsigned i, limit;

    (void)state;
    begin(&t);
    for (i = 0; i < 1000 && talk_count(&t, TOEC_C_tcp_mtu_probes_lost) < 4; i++)
        round_trip(&t, &acked, 1300);
    for (i = 0; i < 200; i++)
        round_trip(&t, &acked, 1300);
    assert_in_range(talk_info(&t).pmtu, 1293, 1300);
    found = probes(&t);
    for (i = 0; i < 3100; i++) /* data for more than five minutes */
        round_trip(&t, &acked, 1300);
    assert_int_equal(probes(&t), found);
    for (limit = 0; limit < 4000 && probes(&t) == found; limit++)
        round_trip(&t, &acked, 1500);
    assert_true(probes(&t) > found);
    for (i = 0; i < 1000; i++)
        round_trip(&t, &acked, 1500);
    assert_in_range(talk_info(&t).pmtu, 1493, 1500);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_fast_recoveries), 0);
    talk_end(&t);
}

/* ---- ICMP errors about a probe ---- */

static void frag_needed(struct talk *t, uint32_t mtu)
{
    struct tseg q = seg_make(t->own_port, t->peer_port, F_ACK, t->iss + 1, 0);

    craft_icmp(&t->s, 3, 4, mtu, &q);
    craft_poll(&t->s);
}

/* R8899-01: an MTU that the probe would have fitted, and one above all sizes in use, have no
 * effect. One between the current size and that of the probe limits the search, and raises
 * nothing. */
static void test_too_big(void **state)
{
    struct talk t;
    uint32_t heard = PROBE + 6 * BASE, longest = 0;
    unsigned i;

    (void)state;
    probe_out(&t);
    frag_needed(&t, 1400);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_icmp_ignored), 1);
    assert_int_equal(talk_info(&t).mss_send, BASE);
    frag_needed(&t, 1200);
    assert_int_equal(talk_info(&t).mss_send, BASE);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_pmtu_lowered), 0);
    lose_probe(&t);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_fast_recoveries), 0);
    for (i = 0; i < 100 && probes(&t) == 1; i++) {
        longest = write_out(&t, 8 * BASE, &heard);
        craft_pass(&t.s, RTT);
        talk_skip(&t);
        talk_say(&t, F_ACK, 0, heard, 0);
    }
    assert_int_equal(probes(&t), 2);
    assert_int_equal(longest, (1064 + 1200 + 1) / 2 - 40);
    talk_end(&t);
}

/* An error about a segment of the size in use ends the search above the MTU that it reports. */
static void test_too_big_below_the_search(void **state)
{
    struct talk t;
    uint32_t heard = 4 * BASE, longest = 0;
    unsigned i;

    (void)state;
    begin(&t);
    talk_send(&t, 4 * BASE);
    frag_needed(&t, 600);
    assert_int_equal(talk_info(&t).pmtu, 600);
    talk_skip(&t);
    talk_say(&t, F_ACK, 0, 4 * BASE, 0);
    for (i = 0; i < 20; i++) {
        uint32_t n = write_out(&t, 12 * BASE, &heard);

        longest = n > longest ? n : longest;
        craft_pass(&t.s, RTT);
        talk_skip(&t);
        talk_say(&t, F_ACK, 0, heard, 0);
    }
    assert_int_equal(longest, 560);
    assert_int_equal(probes(&t), 0);
    talk_end(&t);
}

/* ... and if the probe is acknowledged all the same, the message is disregarded. */
static void test_too_big_was_wrong(void **state)
{
    struct talk t;

    (void)state;
    probe_out(&t);
    frag_needed(&t, 1200);
    talk_say(&t, F_ACK, 0, PROBE + 6 * BASE, 0);
    assert_int_equal(talk_info(&t).mss_send, PROBE);
    talk_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_enough_follows),    cmocka_unit_test(test_smallest_range),
        cmocka_unit_test(test_lost_probe),        cmocka_unit_test(test_lost_probe_and_more),
        cmocka_unit_test(test_headway),           cmocka_unit_test(test_search_rests),
        cmocka_unit_test(test_too_big),           cmocka_unit_test(test_too_big_below_the_search),
        cmocka_unit_test(test_too_big_was_wrong),
    };

    return cmocka_run_group_tests_name("tcp_plpmtud", tests, 0, 0);
}
