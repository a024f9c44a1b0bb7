/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_data.c - data both ways without loss: delayed ACKs, Nagle, corks, pushes, keep-alive
 * (RFC 9293 3.7, 3.8), dialogue by dialogue.
 */
#include "tcptalk.h"

/* ---- delayed ACKs (RFC 9293 3.8.6.3) ---- */

/* A message that is answered in the same round: one frame carries answer and ACK. RFC 9293 MUST-58.
 */
static void test_ack_rides_on_answer(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    talk_put(&t, F_ACK | F_PSH, 0, 0, 100);
    assert_int_equal(conn_read(t.c, 1000), 100);
    talk_send(&t, 256);
    talk_hear(&t, F_ACK, 0, 100, 256);
    talk_silence(&t);
    craft_pass(&t.s, 100 * MSEC);
    talk_silence(&t);
    talk_end(&t);
}

/* A message that is not answered is acknowledged within 500 ms (MUST-40, R5681-13), here 40. RFC
 * 9293 SHLD-18; R1122-26. */
static void test_delayed_ack(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    talk_set(&t, TOEC_OPT_QUICKACK, 0); /* ACKs wait for answers */
    talk_say(&t, F_ACK | F_PSH, 0, 0, 100);
    talk_silence(&t);
    craft_pass(&t.s, 30 * MSEC);
    talk_silence(&t);
    craft_pass(&t.s, 20 * MSEC);
    talk_hear(&t, F_ACK, 0, 100, 0);
    talk_silence(&t);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_delayed_acks), 1);
    talk_end(&t);
}

/* Every second segment is acknowledged at once (SHLD-19, R5681-14); a batch by one ACK. */
static void test_ack_every_second(void **state)
{
    struct talk t;
    uint32_t at = 0;
    int i;

    (void)state;
    talk_open(&t);
    for (i = 0; i < 20; i++, at += 1000) /* the quick ACKs of a young flow */
        talk_say(&t, F_ACK, at, 0, 1000);
    talk_skip(&t);
    conn_read(t.c, 100000);
    craft_pass(&t.s, SEC);
    talk_skip(&t);
    talk_set(&t, TOEC_OPT_QUICKACK, 0); /* ACKs wait for answers */
    talk_say(&t, F_ACK, at, 0, 1000);
    talk_silence(&t);
    talk_say(&t, F_ACK, at + 1000, 0, 1000);
    talk_hear(&t, F_ACK, 0, at + 2000, 0);
    for (i = 2; i < 10; i++)
        talk_put(&t, F_ACK, at + (uint32_t)i * 1000, 0, 1000);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK, 0, at + 10000, 0);
    talk_silence(&t);
    talk_end(&t);
}

/* More than a segment in one, as a sender's offload may produce, counts as two (R5681-14). */
static void test_ack_of_a_long_segment(void **state)
{
    struct talk t;
    uint32_t at;

    (void)state;
    talk_init(&t);
    t.mss = 536;
    talk_passive(&t);
    for (at = 0; at < 15000; at += 500) /* the quick ACKs of a young flow */
        talk_say(&t, F_ACK, at, 0, 500);
    conn_read(t.c, 100000);
    craft_pass(&t.s, SEC);
    talk_skip(&t);
    talk_set(&t, TOEC_OPT_QUICKACK, 0); /* ACKs wait for answers */
    talk_say(&t, F_ACK, at, 0, 536);
    talk_silence(&t);
    craft_pass(&t.s, SEC);
    talk_hear(&t, F_ACK, 0, at + 536, 0);
    talk_set(&t, TOEC_OPT_QUICKACK, 0);
    talk_say(&t, F_ACK, at + 536, 0, 537);
    talk_hear(&t, F_ACK, 0, at + 1073, 0);
    talk_end(&t);
}

static void test_quickack_option(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    talk_set(&t, TOEC_OPT_QUICKACK, 1);
    craft_poll(&t.s);
    talk_say(&t, F_ACK | F_PSH, 0, 0, 100);
    talk_hear(&t, F_ACK, 0, 100, 0);
    talk_end(&t);
}

/* ---- Nagle, cork, push ---- */

/* RFC 9293 SHLD-7, MAY-16. */
static void test_nagle(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_open(&t);
    talk_send(&t, 100);
    g = talk_hear(&t, F_ACK, 0, 0, 100);
    assert_true(g.flags & F_PSH);
    talk_send(&t, 100);
    talk_send(&t, 100);
    talk_silence(&t);
    talk_say(&t, F_ACK, 0, 100, 0);
    talk_hear(&t, F_ACK, 100, 0, 200);
    /* a full segment does not wait */
    talk_send(&t, 2000);
    talk_hear(&t, F_ACK, 300, 0, 1460);
    talk_silence(&t);
    talk_say(&t, F_ACK, 0, 300, 0);
    talk_hear(&t, F_ACK, 1760, 0, 540);
    /* a FIN ends the wait */
    talk_send(&t, 10);
    talk_silence(&t);
    conn_shutdown(t.c);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK | F_FIN, 2300, 0, 10);
    talk_end(&t);
}

/* RFC 9293 MUST-17. */
static void test_nodelay(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    talk_set(&t, TOEC_OPT_NODELAY, 1);
    talk_send(&t, 100);
    talk_hear(&t, F_ACK, 0, 0, 100);
    talk_send(&t, 100);
    talk_hear(&t, F_ACK, 100, 0, 100);
    talk_end(&t);
}

static void test_cork(void **state)
{
    struct talk t;
    struct toec_stack *s;

    (void)state;
    talk_open(&t);
    s = t.s.host[0].stack;
    toec_set_option(s, t.c->flow, TOEC_OPT_NODELAY, 1, t.s.now);
    toec_set_option(s, t.c->flow, TOEC_OPT_CORK, 1, t.s.now);
    talk_send(&t, 100);
    talk_send(&t, 1500);
    talk_hear(&t, F_ACK, 0, 0, 1460);
    talk_silence(&t);
    toec_set_option(s, t.c->flow, TOEC_OPT_CORK, 0, t.s.now);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK, 1460, 0, 140);
    talk_say(&t, F_ACK, 0, 1600, 0);
    /* at most 200 ms */
    toec_set_option(s, t.c->flow, TOEC_OPT_CORK, 1, t.s.now);
    conn_write(t.c, 10, 1);
    craft_pass(&t.s, 150 * MSEC);
    talk_silence(&t);
    craft_pass(&t.s, 100 * MSEC);
    talk_hear(&t, F_ACK, 1600, 0, 10);
    talk_end(&t);
}

/* tcp(7): TCP_NODELAY flushes what is held, once; data written afterwards is held again. */
static void test_nodelay_flushes_a_cork(void **state)
{
    struct toec_stack *s;
    struct talk t;

    (void)state;
    talk_open(&t);
    s = t.s.host[0].stack;
    toec_set_option(s, t.c->flow, TOEC_OPT_CORK, 1, t.s.now);
    toec_set_option(s, t.c->flow, TOEC_OPT_NODELAY, 1, t.s.now);
    craft_poll(&t.s);
    talk_send(&t, 100);
    talk_silence(&t);
    toec_set_option(s, t.c->flow, TOEC_OPT_NODELAY, 0, t.s.now);
    craft_poll(&t.s);
    talk_silence(&t);
    toec_set_option(s, t.c->flow, TOEC_OPT_NODELAY, 1, t.s.now);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK, 0, 0, 100);
    talk_send(&t, 50);
    talk_silence(&t);
    talk_end(&t);
}

/* PSH where the writer ended, not inside (RFC 9293 3.9.1.2). RFC 9293 MUST-60, MUST-61, SHLD-27,
 * SHLD-28, MAY-15. */
static void test_push(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    conn_write(t.c, 2000, 0);
    talk_send(&t, 920);
    assert_false(craft_expect(&t.s).flags & F_PSH);
    assert_true(craft_expect(&t.s).flags & F_PSH);
    talk_end(&t);
}

/* More than the send buffer holds, or after the FIN: refused. */
static void test_send_errors(void **state)
{
    struct talk t;
    struct toec_stack *s;

    (void)state;
    talk_open(&t);
    s = t.s.host[0].stack;
    assert_int_equal(toec_send(s, t.c->flow, 65537, 1, t.s.now), TOEC_E_INVAL);
    assert_int_equal(toec_send(s, t.c->flow, 0xffffffffu, 1, t.s.now), TOEC_E_INVAL);
    assert_int_equal(conn_write(t.c, 65536, 1), 65536);
    assert_int_equal(toec_send(s, t.c->flow, 1, 1, t.s.now), TOEC_E_INVAL);
    assert_int_equal(toec_recv(s, t.c->flow, 1, t.s.now), TOEC_E_INVAL);
    conn_shutdown(t.c);
    assert_int_equal(toec_shutdown(s, t.c->flow, t.s.now), TOEC_E_INVAL);
    assert_int_equal(toec_send(s, t.c->flow, 0, 1, t.s.now), TOEC_E_INVAL);
    assert_int_equal(toec_set_option(s, t.c->flow, (enum toec_option)99, 1, t.s.now), TOEC_E_INVAL);
    assert_int_equal(toec_set_option(s, t.c->flow, TOEC_OPT_KEEPCNT, 128, t.s.now), TOEC_E_INVAL);
    assert_int_equal(toec_set_option(s, t.c->flow, TOEC_OPT_CC, 99, t.s.now), TOEC_E_INVAL);
    talk_end(&t);
}

/* Transmit has no room: nothing is lost, toec_poll() requests another call. */
static void test_transmit_full(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    t.s.host[0].tx_room = 2;
    conn_write(t.c, 5000, 1);
    assert_true(toec_poll(t.s.host[0].stack, t.s.now) == t.s.now);
    assert_int_equal(talk_skip(&t), 2);
    assert_true(toec_poll(t.s.host[0].stack, t.s.now) == t.s.now);
    t.s.host[0].tx_room = -1;
    assert_true(toec_poll(t.s.host[0].stack, t.s.now) > t.s.now);
    talk_hear(&t, F_ACK, 2920, 0, 1460);
    talk_hear(&t, F_ACK, 4380, 0, 620);
    talk_end(&t);
}

/* With segmentation offload one call carries many segments. */
static void test_gso(void **state)
{
    struct talk t;
    uint64_t before;

    (void)state;
    talk_init(&t);
    t.s.host[0].cfg.max_gso = 61440;
    talk_passive(&t);
    before = talk_count(&t, TOEC_C_tx_frames);
    talk_send(&t, 14600);
    assert_int_equal(talk_count(&t, TOEC_C_tx_frames) - before, 1);
    assert_int_equal(talk_skip(&t), 10);
    talk_end(&t);
}

/* Switched while the connection is open: the next data uses the other mode. */
static void test_gso_is_switched(void **state)
{
    static const struct {
        toec_u32 max;
        unsigned frames;
    } turns[] = {{0, 10}, {61440, 1}, {5840, 3}, {0, 10}};
    struct talk t;
    unsigned i;

    (void)state;
    talk_open(&t);
    assert_int_equal(toec_set_max_gso(t.s.host[0].stack, 61441), TOEC_E_INVAL);
    for (i = 0; i < sizeof(turns) / sizeof(turns[0]); i++) {
        uint64_t before = talk_count(&t, TOEC_C_tx_frames);

        t.s.host[0].cfg.max_gso = turns[i].max; /* of one that it is handed over to */
        assert_int_equal(toec_set_max_gso(t.s.host[0].stack, turns[i].max), 0);
        talk_send(&t, 14600);
        assert_int_equal(talk_count(&t, TOEC_C_tx_frames) - before, turns[i].frames);
        assert_int_equal(talk_skip(&t), 10);
        talk_say(&t, F_ACK, 0, (i + 1) * 14600, 0);
    }
    talk_end(&t);
}

/* A segment is not the last of a burst if a full one follows: no PSH before the end. */
static void test_push_ends_the_burst(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    talk_send(&t, 10); /* not acknowledged: what follows, if it is small, waits (Nagle) */
    talk_hear(&t, F_ACK, 0, 0, 10);
    talk_send(&t, 3 * 1460);
    assert_int_equal(talk_hear(&t, F_ACK, 10, 0, 1460).flags & F_PSH, 0);
    assert_int_equal(talk_hear(&t, F_ACK, 10 + 1460, 0, 1460).flags & F_PSH, 0);
    assert_int_equal(talk_hear(&t, F_ACK, 10 + 2 * 1460, 0, 1460).flags & F_PSH, F_PSH);
    talk_end(&t);
}

/* ---- keep-alive (RFC 9293 3.8.4) ---- */

/* A probe is sent once, also if other segments leave before it is answered. */
static void test_keepalive_once(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    talk_set(&t, TOEC_OPT_KEEPIDLE, 60);
    talk_set(&t, TOEC_OPT_KEEPALIVE, 1);
    craft_pass(&t.s, 61 * SEC);
    talk_hear(&t, F_ACK, (uint32_t)-1, 0, 0);
    talk_send(&t, 10);
    talk_hear(&t, F_ACK, 0, 0, 10);
    talk_silence(&t);
    talk_end(&t);
}

/* RFC 9293 MUST-27, MAY-5. */
static void test_keepalive(void **state)
{
    struct talk t;
    int i;

    (void)state;
    talk_open(&t);
    talk_set(&t, TOEC_OPT_KEEPIDLE, 60);
    talk_set(&t, TOEC_OPT_KEEPINTVL, 10);
    talk_set(&t, TOEC_OPT_KEEPCNT, 3);
    talk_set(&t, TOEC_OPT_KEEPALIVE, 1);
    craft_pass(&t.s, 55 * SEC);
    talk_silence(&t);
    /* life puts it off */
    talk_say(&t, F_ACK, 0, 0, 0);
    craft_pass(&t.s, 55 * SEC);
    talk_silence(&t);
    craft_pass(&t.s, 10 * SEC);
    talk_hear(&t, F_ACK, (uint32_t)-1, 0, 0);
    talk_say(&t, F_ACK, 0, 0, 0); /* answered */
    craft_pass(&t.s, 50 * SEC);
    talk_silence(&t);
    craft_pass(&t.s, 12 * SEC);
    talk_hear(&t, F_ACK, (uint32_t)-1, 0, 0);
    for (i = 0; i < 2; i++) {
        craft_pass(&t.s, 10 * SEC + 10 * MSEC);
        talk_hear(&t, F_ACK, (uint32_t)-1, 0, 0);
    }
    assert_false(t.c->gone);
    craft_pass(&t.s, 11 * SEC);
    assert_true(t.c->gone);
    assert_int_equal(t.c->gone_reason, TOEC_R_TIMEDOUT);
    talk_end(&t);
}

/* Without the option an idle connection lives for ever and sends nothing. */
static void test_idle(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    craft_pass(&t.s, 40ull * 86400 * SEC);
    talk_silence(&t);
    assert_false(t.c->gone);
    talk_say(&t, F_ACK | F_PSH, 0, 0, 10);
    assert_int_equal(conn_read(t.c, 10), 10);
    talk_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ack_rides_on_answer),
        cmocka_unit_test(test_delayed_ack),
        cmocka_unit_test(test_ack_every_second),
        cmocka_unit_test(test_ack_of_a_long_segment),
        cmocka_unit_test(test_quickack_option),
        cmocka_unit_test(test_nagle),
        cmocka_unit_test(test_nodelay),
        cmocka_unit_test(test_cork),
        cmocka_unit_test(test_nodelay_flushes_a_cork),
        cmocka_unit_test(test_push),
        cmocka_unit_test(test_send_errors),
        cmocka_unit_test(test_transmit_full),
        cmocka_unit_test(test_gso),
        cmocka_unit_test(test_gso_is_switched),
        cmocka_unit_test(test_keepalive),
        cmocka_unit_test(test_keepalive_once),
        cmocka_unit_test(test_push_ends_the_burst),
        cmocka_unit_test(test_idle),
    };

    return cmocka_run_group_tests_name("tcp_data", tests, 0, 0);
}
