/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_tail.c - RACK-TLP (RFC 8985) at the end of a flight with timestamps and FIN, and with
 * new data and retransmissions sent close together. The RTT is 100 ms throughout.
 */
#include "tcptalk.h"

#define MSS 1448u
#define RTT (100 * MSEC)

/* Sends n segments with timestamps. */
static void begin(struct talk *t, unsigned n)
{
    struct tseg g;
    unsigned i;

    talk_init(t);
    t->ts = t->sack = 1;
    t->rtt = RTT;
    talk_passive(t);
    talk_send(t, n * MSS);
    for (i = 0; i < n; i++) {
        g = talk_hear(t, F_ACK, i * MSS, 0, MSS);
        if (i == 0)
            t->tsecr = g.tsval;
    }
}

static struct tseg wait_for_one(struct talk *t)
{
    toec_time began = t->s.now;
    struct tseg g;

    while (!craft_next(&t->s, &g)) {
        craft_pass(&t->s, MSEC);
        assert_true(t->s.now - began < 250 * MSEC);
    }
    return g;
}

/* SACKs of data beyond a gap echo the timestamp from before the gap (RFC 7323 4.3). This does not
 * show that the probe was lost (R8985-03), and the remaining losses are detected without a
 * timeout. */
static void test_probe_with_timestamps(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    begin(&t, 4);
    g = wait_for_one(&t);
    assert_int_equal(g.seq - t.iss - 1, 3 * MSS);
    craft_pass(&t.s, RTT);
    talk_block(&t, 0, 3 * MSS, 4 * MSS);
    talk_hear(&t, F_ACK, 0, 0, MSS);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_timeouts), 0);
    talk_end(&t);
}

/* The last segment carries the FIN, and so does its probe: no byte before the FIN is skipped. */
static void test_probe_with_fin(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_init(&t);
    t.ts = t.sack = 1;
    t.rtt = RTT;
    talk_passive(&t);
    conn_write(t.c, 4 * MSS, 1);
    toec_shutdown(t.s.host[0].stack, t.c->flow, t.s.now);
    craft_poll(&t.s);
    talk_skip(&t);
    g = wait_for_one(&t);
    assert_int_equal(g.flags & F_FIN, F_FIN);
    assert_int_equal(g.seq - t.iss - 1, 3 * MSS);
    assert_int_equal(g.len, MSS);
    craft_pass(&t.s, RTT);
    talk_block(&t, 2 * MSS, 3 * MSS, 4 * MSS + 1);
    talk_hear(&t, F_ACK, 2 * MSS, 0, MSS);
    talk_silence(&t);
    talk_say(&t, F_ACK, 0, 4 * MSS + 1, 0);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_timeouts), 0);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_retransmits), 2);
    talk_end(&t);
}

/*
 * Sends new data, a retransmission `late` after it, then more new data. When the first new data is
 * SACKed a round trip later, the retransmission is still in flight: it was sent after that data
 * (R8985-02).
 */
static void overtaken(toec_time late)
{
    struct talk t;
    uint32_t from;

    begin(&t, 10);
    conn_write(t.c, 10 * MSS, 1);
    craft_pass(&t.s, RTT);
    talk_say(&t, F_ACK, 0, 2 * MSS, 0); /* sends 10 to 13 */
    from = talk_skip(&t);
    assert_int_equal(from, 4);
    craft_pass(&t.s, late);
    talk_block(&t, 2 * MSS, 3 * MSS, 7 * MSS); /* retransmits 2 */
    talk_hear(&t, F_ACK, 2 * MSS, 0, MSS);
    talk_skip(&t);
    craft_pass(&t.s, late);
    talk_block(&t, 2 * MSS, 3 * MSS, 10 * MSS); /* and sends new data after it */
    assert_true(talk_skip(&t) > 0);
    craft_pass(&t.s, RTT - 2 * late);
    talk_block(&t, 2 * MSS, 3 * MSS, 11 * MSS); /* sent before the retransmission */
    talk_skip(&t);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_lost_retransmits), 0);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_retransmits), 1);
    talk_end(&t);
}

static void test_overtaken_in_a_run(void **state)
{
    (void)state;
    overtaken(MSEC);
}

static void test_overtaken_in_a_microsecond(void **state)
{
    (void)state;
    overtaken(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probe_with_timestamps),
        cmocka_unit_test(test_probe_with_fin),
        cmocka_unit_test(test_overtaken_in_a_run),
        cmocka_unit_test(test_overtaken_in_a_microsecond),
    };

    return cmocka_run_group_tests(tests, 0, 0);
}
