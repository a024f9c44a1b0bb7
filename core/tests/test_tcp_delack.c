/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_delack.c - flows with a pending delayed ACK are in a queue without a timer: no ACK is
 * lost or late.
 */
#include "tcptalk.h"

#include "tcp/tcp.h"

/* The deadline of the pending ACK, in ticks from now. */
static uint32_t owed_in(struct talk *t)
{
    return (uint32_t)((t->s.host[0].deadline >> 20) - (t->s.now >> 20));
}

/* The reply is sent within the same millisecond: no timer was set before its own, and after that
 * one none follows. */
static void test_answer_in_time_sets_no_timer(void **state)
{
    const struct toec_tcb *flow;
    struct talk t;
    uint32_t due;

    (void)state;
    talk_open(&t);
    talk_set(&t, TOEC_OPT_QUICKACK, 0); /* ACKs wait for answers */
    flow = t.c->flow;
    due = flow->timer_due; /* of the SYN-ACK */
    talk_say(&t, F_ACK | F_PSH, 0, 0, 100);
    assert_true(flow->flags & TOEC_F_DELACK);
    assert_int_equal(flow->timer_due, due);
    assert_int_equal(owed_in(&t), TOEC_DELACK);
    assert_int_equal(conn_read(t.c, 1000), 100);
    talk_send(&t, 100);
    talk_hear(&t, F_ACK, 0, 100, 100);
    assert_true(flow->flags & TOEC_F_ARMED);
    assert_int_equal(flow->timer_due, flow->rtx_at);
    talk_end(&t);
}

/* A piggybacked ACK cancels the deadline: no wake-up for it. */
static void test_an_answer_leaves_no_deadline(void **state)
{
    struct talk t;
    toec_time at;

    (void)state;
    talk_open(&t);
    talk_set(&t, TOEC_OPT_QUICKACK, 0); /* ACKs wait for answers */
    talk_say(&t, F_ACK | F_PSH, 0, 0, 100);
    assert_int_equal(conn_read(t.c, 1000), 100);
    assert_int_equal(conn_write(t.c, 100, 1), 100);
    at = toec_poll(t.s.host[0].stack, t.s.now);
    assert_in_range(at - t.s.now, 100 * MSEC, 2 * SEC); /* of its retransmission */
    talk_hear(&t, F_ACK, 0, 100, 100);
    talk_end(&t);
}

/* A flow without a reply has no timer either: the queue has the deadline. */
static void test_no_answer(void **state)
{
    const struct toec_tcb *flow;
    struct talk t;
    uint32_t due;

    (void)state;
    talk_open(&t);
    talk_set(&t, TOEC_OPT_QUICKACK, 0); /* ACKs wait for answers */
    flow = t.c->flow;
    due = flow->timer_due;
    talk_say(&t, F_ACK | F_PSH, 0, 0, 100);
    craft_pass(&t.s, 2 * MSEC);
    craft_poll(&t.s);
    assert_int_equal(flow->timer_due, due);
    assert_in_range(owed_in(&t), TOEC_DELACK - 2, TOEC_DELACK - 1);
    talk_silence(&t);
    craft_pass(&t.s, 45 * MSEC);
    talk_hear(&t, F_ACK, 0, 100, 0);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_delayed_acks), 1);
    talk_end(&t);
}

/* A stack polled only at the deadline, as by a sleeping caller, acknowledges at it. */
static void test_it_is_the_deadline(void **state)
{
    struct talk t;
    toec_time at;

    (void)state;
    talk_open(&t);
    talk_set(&t, TOEC_OPT_QUICKACK, 0); /* ACKs wait for answers */
    t.s.now += 300 * USEC;              /* no tick's beginning */
    talk_say(&t, F_ACK | F_PSH, 0, 0, 100);
    at = t.s.host[0].deadline;
    assert_in_range(at - t.s.now, 39 * MSEC, 43 * MSEC);
    t.s.now = at;
    craft_poll(&t.s);
    talk_hear(&t, F_ACK, 0, 100, 0);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_delayed_acks), 1);
    talk_end(&t);
}

/* An ACK already sent in the same tick makes the next one neither earlier nor later. */
static void test_twice_in_a_tick(void **state)
{
    struct talk t;
    uint32_t at, i;

    (void)state;
    talk_open(&t);
    talk_set(&t, TOEC_OPT_QUICKACK, 0); /* ACKs wait for answers */
    for (i = 0, at = 0; i < 3; i++, at += 100) {
        talk_say(&t, F_ACK | F_PSH, at, at, 100);
        assert_int_equal(owed_in(&t), TOEC_DELACK);
        assert_int_equal(conn_read(t.c, 1000), 100);
        talk_send(&t, 100);
        talk_hear(&t, F_ACK, at, at + 100, 100);
    }
    talk_say(&t, F_ACK | F_PSH, at, at, 100);
    craft_pass(&t.s, 30 * MSEC);
    talk_silence(&t);
    craft_pass(&t.s, 15 * MSEC);
    talk_hear(&t, F_ACK, at, at + 100, 0);
    talk_end(&t);
}

/* ---- quick ACKs, as Linux has them ---- */

/* The peer has Nagle and writes twice: its second write waits for the ACK of the first, which has
 * PSH. The first segments of a flow are acknowledged at once. */
static void test_pushed_at_the_start(void **state)
{
    struct talk t;
    uint32_t i;

    (void)state;
    talk_open(&t);
    for (i = 0; i < TOEC_QUICKACKS; i++) {
        talk_say(&t, F_ACK | F_PSH, i * 20, 0, 20);
        talk_hear(&t, F_ACK, 0, i * 20 + 20, 0);
    }
    talk_say(&t, F_ACK | F_PSH, i * 20, 0, 20);
    talk_silence(&t);
    talk_end(&t);
}

/* Once an answer has followed data, ACKs wait for answers; not after a wait in vain. */
static void test_answers_end_quick_acks(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    talk_say(&t, F_ACK | F_PSH, 0, 0, 20);
    talk_hear(&t, F_ACK, 0, 20, 0);
    talk_send(&t, 30);
    talk_hear(&t, F_ACK, 0, 20, 30);
    talk_say(&t, F_ACK | F_PSH, 20, 30, 20);
    talk_silence(&t);
    craft_pass(&t.s, 45 * MSEC);
    talk_hear(&t, F_ACK, 30, 40, 0);
    talk_say(&t, F_ACK | F_PSH, 40, 30, 20);
    talk_hear(&t, F_ACK, 30, 60, 0);
    talk_end(&t);
}

/* Data sent long after the last received is no answer, nor is a greeting before any. */
static void test_what_is_no_answer(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    talk_send(&t, 30);
    talk_hear(&t, F_ACK, 0, 0, 30);
    talk_say(&t, F_ACK | F_PSH, 0, 30, 20);
    talk_hear(&t, F_ACK, 30, 20, 0);
    craft_pass(&t.s, 60 * MSEC);
    talk_send(&t, 30);
    talk_hear(&t, F_ACK, 30, 20, 30);
    talk_say(&t, F_ACK | F_PSH, 20, 60, 20);
    talk_hear(&t, F_ACK, 60, 40, 0);
    talk_end(&t);
}

/* Without quick ACKs left, the ACK of a pushed segment goes when everything has been read, and a
 * pause beyond the RTO restores quick ACKs. */
static void test_read_and_pause(void **state)
{
    struct talk t;
    uint32_t i, at;

    (void)state;
    talk_open(&t);
    for (i = at = 0; i < TOEC_QUICKACKS; i++, at += 20)
        talk_say(&t, F_ACK | F_PSH, at, 0, 20);
    talk_skip(&t);
    talk_say(&t, F_ACK | F_PSH, at, 0, 20);
    talk_silence(&t);
    assert_int_equal(conn_read(t.c, at + 19), (int)at + 19);
    craft_poll(&t.s);
    talk_silence(&t);
    assert_int_equal(conn_read(t.c, 1), 1);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK, 0, at + 20, 0);
    craft_pass(&t.s, 5 * SEC);
    talk_say(&t, F_ACK | F_PSH, at + 20, 0, 20);
    talk_hear(&t, F_ACK, 0, at + 40, 0);
    talk_end(&t);
}

/* TCP_QUICKACK 0 has ACKs wait for answers; 1 acknowledges what waits, and the next at once. */
static void test_quickack_both_ways(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    talk_set(&t, TOEC_OPT_QUICKACK, 0);
    talk_say(&t, F_ACK | F_PSH, 0, 0, 20);
    talk_silence(&t);
    talk_set(&t, TOEC_OPT_QUICKACK, 1);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK, 0, 20, 0);
    talk_say(&t, F_ACK | F_PSH, 20, 0, 20);
    talk_hear(&t, F_ACK, 0, 40, 0);
    talk_end(&t);
}

#define FLOWS 500

/* Has ACKs of a connection of host 1 wait for answers, as in a conversation. */
static void wait_for_answers(struct sim *s, struct conn *c)
{
    assert_int_equal(toec_set_option(s->host[1].stack, c->flow, TOEC_OPT_QUICKACK, 0, s->now), 0);
}

/* All have their ACKs in time. Flows in the queue may end, too, and leave an empty entry. */
static void test_many(void **state)
{
    static struct conn *c[FLOWS];
    struct conn *closed;
    struct sim s;
    unsigned i;
    uint32_t id;

    (void)state;
    sim_init(&s, 2);
    s.host[0].cfg.max_flows = s.host[1].cfg.max_flows = 1024;
    s.host[0].tx_buf = s.host[0].rx_buf = s.host[1].tx_buf = s.host[1].rx_buf = 1024;
    sim_start(&s);
    sim_listen(&s, 1, 80, FLOWS, &id);
    for (i = 0; i < FLOWS; i++)
        c[i] = sim_connect(&s, 0, 80);
    sim_run(&s, 5 * SEC);
    for (i = 0; i < FLOWS; i++) {
        wait_for_answers(&s, conn_peer(c[i]));
        assert_int_equal(conn_write(c[i], 10, 1), 10);
    }
    sim_run(&s, 2 * MSEC); /* it has all arrived */
    assert_int_equal(sim_count(&s, 1, TOEC_C_tcp_delayed_acks), 0);
    for (i = FLOWS / 2; i < FLOWS; i += FLOWS / 2 - 1) {
        closed = conn_peer(c[i]);
        assert_int_equal(closed->received, 10);
        conn_abort(closed);
    }
    sim_run(&s, 45 * MSEC);
    assert_int_equal(sim_count(&s, 1, TOEC_C_tcp_delayed_acks), FLOWS - 2);
    for (i = 0; i < FLOWS - 1; i++)
        assert_int_equal(c[i]->acked, i == FLOWS / 2 ? 0 : 10);
    sim_stop(&s);
}

/* One flow has a pending ACK while another uses more queue entries than exist: the ACK is still on
 * time, and the queue still works. */
static void test_a_full_queue(void **state)
{
    struct conn *owes, *busy;
    struct sim s;
    unsigned i;
    uint32_t id;

    (void)state;
    sim_init(&s, 2);
    s.host[1].cfg.max_flows = 16;
    sim_start(&s);
    sim_listen(&s, 1, 80, 4, &id);
    owes = sim_connect(&s, 0, 80);
    busy = sim_connect(&s, 0, 80);
    sim_run(&s, SEC);
    wait_for_answers(&s, conn_peer(owes));
    wait_for_answers(&s, conn_peer(busy));
    assert_int_equal(conn_write(owes, 10, 1), 10);
    for (i = 0; i < 3 * TOEC_OWING_LEAST; i++) {
        assert_int_equal(conn_write(busy, 10, 1), 10);
        sim_run(&s, 50 * USEC);
        assert_int_equal(conn_read(conn_peer(busy), 10), 10);
        assert_int_equal(conn_write(conn_peer(busy), 10, 1), 10);
        sim_run(&s, 50 * USEC);
        assert_int_equal(conn_read(busy, 10), 10);
    }
    sim_run(&s, 18 * MSEC);
    assert_int_equal(sim_count(&s, 1, TOEC_C_tcp_delayed_acks), 0);
    assert_int_equal(owes->acked, 0);
    sim_run(&s, 5 * MSEC);
    assert_int_equal(sim_count(&s, 1, TOEC_C_tcp_delayed_acks), 1);
    assert_int_equal(owes->acked, 10);
    sim_stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answer_in_time_sets_no_timer),
        cmocka_unit_test(test_an_answer_leaves_no_deadline),
        cmocka_unit_test(test_no_answer),
        cmocka_unit_test(test_it_is_the_deadline),
        cmocka_unit_test(test_twice_in_a_tick),
        cmocka_unit_test(test_pushed_at_the_start),
        cmocka_unit_test(test_answers_end_quick_acks),
        cmocka_unit_test(test_what_is_no_answer),
        cmocka_unit_test(test_read_and_pause),
        cmocka_unit_test(test_quickack_both_ways),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_a_full_queue),
    };

    return cmocka_run_group_tests_name("tcp_delack", tests, 0, 0);
}
