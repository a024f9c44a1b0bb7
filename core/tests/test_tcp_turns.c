/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_turns.c - flows that wait for transmit room are served round-robin: none starves, and
 * none takes all of it.
 */
#include "tcpsim.h"

#define FLOWS 16

struct crowd {
    struct sim s;
    struct conn *c[FLOWS];
};

/* Establishes FLOWS idle connections and takes all transmit room. */
static void crowd_begin(struct crowd *w)
{
    unsigned i;

    sim_init(&w->s, 2);
    sim_start(&w->s);
    sim_listen(&w->s, 1, 80, FLOWS, 0);
    for (i = 0; i < FLOWS; i++)
        w->c[i] = sim_connect(&w->s, 0, 80);
    sim_run(&w->s, 10 * MSEC);
    for (i = 0; i < FLOWS; i++)
        assert_true(w->c[i]->established);
    w->s.host[0].tx_room = 0;
}

static void crowd_end(struct crowd *w)
{
    unsigned i;

    w->s.host[0].tx_room = -1;
    for (i = 0; i < FLOWS; i++)
        conn_abort(w->c[i]);
    sim_run(&w->s, 130 * SEC);
    sim_assert_clean(&w->s);
    sim_stop(&w->s);
}

/* Returns the bytes that flow i has sent. */
static uint32_t left_of(const struct crowd *w, unsigned i)
{
    struct toec_info info;

    if (!w->c[i]->flow)
        return 0;
    toec_flow_info(w->s.host[0].stack, w->c[i]->flow, &info);
    return info.in_flight;
}

/* Provides room for one frame; returns the flow that used it. */
static unsigned one_frame(struct crowd *w)
{
    uint32_t before[FLOWS];
    unsigned i, who = FLOWS;

    for (i = 0; i < FLOWS; i++)
        before[i] = left_of(w, i);
    w->s.host[0].tx_room = 1;
    toec_poll(w->s.host[0].stack, w->s.now);
    assert_int_equal(w->s.host[0].tx_room, 0);
    for (i = 0; i < FLOWS; i++) {
        if (left_of(w, i) == before[i])
            continue;
        assert_int_equal(who, FLOWS);
        who = i;
    }
    assert_in_range(who, 0, FLOWS - 1);
    return who;
}

/* Room for one frame at a time: the flows send in the order in which they began to wait. */
static void test_first_come_first_served(void **state)
{
    struct crowd w;
    unsigned i;

    (void)state;
    crowd_begin(&w);
    for (i = 0; i < FLOWS / 2; i++)
        conn_write(w.c[i], 100, 1);
    for (i = 0; i < FLOWS; i++) {
        assert_int_equal(one_frame(&w), i);
        if (i < FLOWS / 2)
            conn_write(w.c[FLOWS / 2 + i], 100, 1);
    }
    crowd_end(&w);
}

/* Each flow has a whole initial window to send: one segment each, round-robin, not all of the first
 * flow's. */
static void test_a_segment_each(void **state)
{
    struct crowd w;
    unsigned i;

    (void)state;
    crowd_begin(&w);
    for (i = 0; i < FLOWS; i++)
        conn_write(w.c[i], 20000, 1);
    for (i = 0; i < 3 * FLOWS; i++)
        assert_int_equal(one_frame(&w), i % FLOWS);
    crowd_end(&w);
}

/* A flow that ends does not change the order: the first flow takes its place, all others keep
 * theirs. */
static void test_one_that_ends(void **state)
{
    struct crowd w;
    unsigned i;

    (void)state;
    crowd_begin(&w);
    for (i = 0; i < FLOWS; i++)
        conn_write(w.c[i], 100, 1);
    w.s.host[0].tx_room = 1; /* for its RST */
    conn_abort(w.c[5]);
    assert_true(w.c[5]->gone);
    for (i = 1; i < FLOWS; i++)
        assert_int_equal(one_frame(&w), i == 5 ? 0 : i);
    crowd_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_come_first_served),
        cmocka_unit_test(test_a_segment_each),
        cmocka_unit_test(test_one_that_ends),
    };

    return cmocka_run_group_tests(tests, 0, 0);
}
