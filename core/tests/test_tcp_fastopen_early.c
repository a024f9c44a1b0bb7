/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_fastopen_early.c - a flow opened by Fast Open (RFC 7413) whose handshake is not
 * complete: peers with invalid acknowledgements, and a transmit path without room.
 */
#include "tcptalk.h"

static struct tseg syn(struct talk *t, int fo_len, const uint8_t *cookie, uint32_t len)
{
    struct tseg g = talk_seg(t, F_SYN, (uint32_t)-1, 0, len);

    g.payload_at = 0;
    g.mss = 1460;
    g.sack_ok = 1;
    g.fo_len = fo_len;
    if (fo_len > 0)
        memcpy(g.fo, cookie, (size_t)fo_len);
    craft_say(&t->s, &g);
    g = craft_expect(&t->s);
    assert_int_equal(g.flags, F_SYN | F_ACK);
    t->iss = g.seq;
    return g;
}

/* Opens a flow by a SYN with ten bytes, and reads them. */
static void open_early(struct talk *t)
{
    uint32_t id;
    struct tseg g;

    talk_init(t);
    craft_start(&t->s);
    sim_listen(&t->s, 0, OWN_PORT, 0, &id);
    assert_int_equal(toec_listen_fastopen(t->s.host[0].stack, id, 5), 0);
    g = syn(t, 0, 0, 0);
    assert_int_equal(g.fo_len, 8);
    talk_say(t, F_RST, 0, 0, 0);
    t->peer_port++;
    syn(t, 8, g.fo, 10);
    t->c = t->s.host[0].conns;
    assert_true(t->c->established);
    conn_read(t->c, 10);
}

/* SACKs (RFC 2018) of data on an ACK that does not cover our SYN: rejected as in SYN-RECEIVED (RFC
 * 9293 3.10.7.4). Otherwise the SYN's sequence number would be retransmitted as data. */
static void test_sack_before_ack(void **state)
{
    static const uint32_t blocks[] = {1460, 5 * 1460, 0, 0};
    struct talk t;
    struct tseg g;

    (void)state;
    open_early(&t);
    talk_send(&t, 8 * 1460);
    craft_forget(&t.s);
    talk_sack(&t, 10, (uint32_t)-1, blocks);
    craft_pass(&t.s, 500 * MSEC);
    while (craft_next(&t.s, &g)) {
        if (g.len)
            assert_true((int32_t)(g.seq - t.iss) > 0);
        else
            assert_int_equal(g.flags, F_RST);
    }
    assert_int_equal(talk_count(&t, TOEC_C_tcp_fast_recoveries), 0);
    talk_say(&t, F_ACK, 10, 8 * 1460, 0);
    assert_int_equal(t.c->acked, 8 * 1460);
    talk_end(&t);
}

/* The SYN-ACK is due again, and the device accepts no frame for half a second: one timeout. */
static void test_no_room(void **state)
{
    struct talk t;

    (void)state;
    open_early(&t);
    craft_pass(&t.s, 900 * MSEC);
    t.s.host[0].tx_room = 0;
    craft_pass(&t.s, 600 * MSEC);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_timeouts), 1);
    t.s.host[0].tx_room = -1;
    craft_pass(&t.s, 10 * MSEC);
    talk_hear(&t, F_SYN | F_ACK, (uint32_t)-1, 10, 0);
    assert_false(t.c->gone);
    talk_say(&t, F_ACK, 10, 0, 0);
    talk_end(&t);
}

/* ... then the first SYN-ACK is acknowledged after all: a timer covers the data sent since. */
static void test_acked_while_no_room(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    open_early(&t);
    talk_send(&t, 100);
    talk_hear(&t, F_ACK, 0, 10, 100);
    craft_pass(&t.s, 900 * MSEC);
    t.s.host[0].tx_room = 0;
    craft_pass(&t.s, 600 * MSEC);
    t.s.host[0].tx_room = -1;
    g = talk_seg(&t, F_ACK, 10, 0, 0);
    craft_say(&t.s, &g);
    craft_pass(&t.s, 4 * SEC);
    talk_hear(&t, F_ACK, 0, 10, 100);
    talk_say(&t, F_ACK, 10, 100, 0);
    assert_int_equal(t.c->acked, 100);
    talk_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sack_before_ack),
        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_acked_while_no_room),
    };

    return cmocka_run_group_tests(tests, 0, 0);
}
