/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_output_flow.c - toec_output_flow() sends what one flow may send, and leaves all others
 * to toec_poll().
 */
#include "tcpsim.h"

struct two {
    struct sim s;
    struct conn *c[2];
};

/* Establishes two idle connections of host 0. */
static void two_begin(struct two *w)
{
    unsigned i;

    sim_init(&w->s, 2);
    sim_start(&w->s);
    sim_listen(&w->s, 1, 80, 2, 0);
    for (i = 0; i < 2; i++)
        w->c[i] = sim_connect(&w->s, 0, 80);
    sim_run(&w->s, SEC);
    assert_true(w->c[0]->established && w->c[1]->established);
}

static void two_end(struct two *w)
{
    unsigned i;

    for (i = 0; i < 2; i++)
        conn_abort(w->c[i]);
    sim_run(&w->s, 130 * SEC);
    sim_assert_clean(&w->s);
    sim_stop(&w->s);
}

static void output(struct two *w, unsigned i)
{
    toec_output_flow(w->s.host[0].stack, w->c[i]->flow, w->s.now);
}

static uint32_t in_flight(struct two *w, unsigned i)
{
    struct toec_info info;

    toec_flow_info(w->s.host[0].stack, w->c[i]->flow, &info);
    return info.in_flight;
}

static void test_one_flow_alone(void **state)
{
    struct two w;

    (void)state;
    two_begin(&w);
    conn_write(w.c[0], 100, 1);
    conn_write(w.c[1], 100, 1);
    output(&w, 1);
    assert_int_equal(in_flight(&w, 0), 0);
    assert_int_equal(in_flight(&w, 1), 100);
    toec_poll(w.s.host[0].stack, w.s.now); /* sends the other one's, and nothing twice */
    assert_int_equal(in_flight(&w, 0), 100);
    assert_int_equal(in_flight(&w, 1), 100);
    sim_run(&w.s, SEC);
    assert_int_equal(w.c[0]->acked, 100);
    assert_int_equal(w.c[1]->acked, 100);
    assert_int_equal(sim_count(&w.s, 0, TOEC_C_tcp_retransmits), 0);
    two_end(&w);
}

/* A flow with nothing to send, and one that has closed its side. */
static void test_nothing_and_a_fin(void **state)
{
    struct two w;
    uint64_t sent;

    (void)state;
    two_begin(&w);
    sent = sim_count(&w.s, 0, TOEC_C_tcp_tx);
    output(&w, 0);
    assert_int_equal(sim_count(&w.s, 0, TOEC_C_tcp_tx), sent);
    conn_shutdown(w.c[0]);
    output(&w, 0);
    assert_int_equal(sim_count(&w.s, 0, TOEC_C_tcp_tx), sent + 1);
    sim_run(&w.s, SEC);
    assert_true(conn_peer(w.c[0])->peer_closed);
    two_end(&w);
}

/* Transmit has no room: the flow waits for toec_poll(), and later ones wait behind it although
 * there is room by then. */
static void test_waits_for_room(void **state)
{
    struct two w;

    (void)state;
    two_begin(&w);
    w.s.host[0].tx_room = 0;
    conn_write(w.c[0], 100, 1);
    output(&w, 0);
    w.s.host[0].tx_room = 1;
    conn_write(w.c[1], 100, 1);
    output(&w, 1);
    assert_int_equal(w.s.host[0].tx_room, 1);
    toec_poll(w.s.host[0].stack, w.s.now);
    assert_int_equal(w.s.host[0].tx_room, 0);
    assert_int_equal(in_flight(&w, 0), 100);
    assert_int_equal(in_flight(&w, 1), 0);
    w.s.host[0].tx_room = -1;
    sim_run(&w.s, SEC);
    assert_int_equal(w.c[1]->acked, 100);
    two_end(&w);
}

/* The neighbour is not known yet: the SYN waits for the answer to the ARP request. */
static void test_waits_for_the_neighbour(void **state)
{
    struct sim s;
    struct conn *c;

    (void)state;
    sim_init(&s, 2);
    sim_start(&s);
    sim_listen(&s, 1, 80, 1, 0);
    c = sim_connect(&s, 0, 80);
    toec_output_flow(s.host[0].stack, c->flow, s.now);
    toec_output_flow(s.host[0].stack, c->flow, s.now); /* it is parked: no second request */
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_tx), 0);
    assert_int_equal(sim_count(&s, 0, TOEC_C_tx_frames), 1);
    sim_run(&s, SEC);
    assert_true(c->established);
    conn_abort(c);
    sim_run(&s, 130 * SEC);
    sim_assert_clean(&s);
    sim_stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_flow_alone),
        cmocka_unit_test(test_nothing_and_a_fin),
        cmocka_unit_test(test_waits_for_room),
        cmocka_unit_test(test_waits_for_the_neighbour),
    };

    return cmocka_run_group_tests(tests, 0, 0);
}
