/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_members.c - listeners that share a port (its members), and connections that move between
 * them: sharing, WEAK members, backlogs, members that wait (docs/device-contract.md).
 */
#include "bench.h"
#include "hosts/commands.h"

static void test_new_flows_are_spread_over_the_members(void **state)
{
    struct hosts *w = *state;
    struct toedev_qp_config cfg = bench_qp_config(64);
    struct host z, many;
    uint32_t i, nx, nz;

    host_attach(&w->t, w->t.a, &z, &cfg);
    host_attach(&w->t, w->t.b, &many, &cfg);
    cfg.slots = 64;
    host_put(&z, TOE_CMD_LISTEN, 0, PORT, 1, 0, 1000);
    host_put(&w->x, TOE_CMD_LISTEN, 0, PORT, 1, IP_A, 1000); /* a separate group */
    bench_run(&w->t, NS_PER_MS);
    host_put(&w->x, TOE_CMD_UNLISTEN, 0, 0, 1, 0, 0);
    host_put(&w->x, TOE_CMD_LISTEN, 0, PORT, 1, 0, 1000);
    bench_run(&w->t, NS_PER_MS);
    for (i = 0; i < 20; i++)
        host_put(&many, TOE_CMD_CONNECT, 0, PORT, i, IP_A, 0);
    bench_run(&w->t, NS_PER_S);
    nx = 16 - w->x.qp->free_count;
    nz = 64 - z.qp->free_count;
    assert_int_equal(nx + nz, 20);
    assert_int_equal(nx, 10); /* to the member with the fewest */
    host_detach(&w->t, &z);
    host_detach(&w->t, &many);
}

static void test_a_full_queue_pair_may_turn_one_listener_weak(void **state)
{
    struct hosts *w = *state;
    struct toe_cmd c;
    uint32_t i;

    for (i = 1; i <= LISTENERS_PER_QP; i++) {
        host_put(&w->x, TOE_CMD_LISTEN, 0, PORT, i, 0, 8);
        if (i % 16 == 0)
            bench_run(&w->t, NS_PER_MS);
    }
    host_want_nothing(&w->x);
    host_put(&w->x, TOE_CMD_LISTEN, 0, PORT, 5001, 0, 8);
    bench_run(&w->t, NS_PER_MS);
    c = host_want(&w->x, TOE_CMD_ERROR);
    assert_int_equal(toe_cmd_aux(&c), TOE_R_NOBUFS);
    host_put(&w->x, TOE_CMD_LISTEN, TOE_F_LISTEN_WEAK, PORT, 5002, 0, 8);
    host_put(&w->x, TOE_CMD_UNLISTEN, 0, 0, 1, 0, 0);
    bench_run(&w->t, NS_PER_MS);
    host_want_nothing(&w->x);
    host_put(&w->x, TOE_CMD_LISTEN, TOE_F_LISTEN_WEAK, PORT, 5003, 0, 8);
    host_put(&w->x, TOE_CMD_LISTEN, TOE_F_LISTEN_WEAK, PORT, 5004, 0, 8);
    bench_run(&w->t, NS_PER_MS);
    c = host_want(&w->x, TOE_CMD_ERROR); /* one more, not two */
    assert_int_equal(toe_cmd_flow(&c), 5004);
}

#define PARKED UINT32_MAX /* x was not notified of the flow */

/* z gets the next connection of the port: its state and its data. f: x's slot of it, or PARKED. */
static void want_moved(struct hosts *w, struct host *z, uint32_t f, uint32_t y_slot, uint32_t bytes)
{
    struct toe_cmd c = host_want(z, TOE_CMD_LISTEN_ESTABLISHED);
    uint32_t slot = toe_cmd_flow(&c);

    assert_int_equal(toe_cmd_arg1(&c), 9);
    assert_int_equal(toe_cmd_arg0(&c), IP_B);
    assert_int_equal(toe_cmd_aux(&c), host_record(z, slot)->remote_port);
    c = host_want(z, TOE_CMD_DATA_RECEIVED);
    assert_int_equal(toe_cmd_arg0(&c), bytes);
    assert_true(host_holds(z, slot, 0, bytes));
    if (f != PARKED) {
        c = host_want(&w->x, TOE_CMD_CLOSE_EVENT);
        assert_int_equal(toe_cmd_flow(&c), f);
        assert_int_equal(toe_cmd_aux(&c), TOE_R_STALE);
        host_put(&w->x, TOE_CMD_RELEASE, 0, 0, f, 0, 0);
    }
    /* it continues in both directions from its position */
    host_put(z, TOE_CMD_ACCEPT, 0, 0, slot, 0, 0);
    host_put(z, TOE_CMD_RECV, 0, 0, slot, bytes, 0);
    host_send(z, slot, 0, 3000);
    host_send(&w->y, y_slot, bytes, 100);
    bench_run(&w->t, NS_PER_S);
    c = host_want(z, TOE_CMD_DATA_RECEIVED);
    assert_true(host_holds(z, slot, bytes, 100));
    c = host_want(&w->y, TOE_CMD_DATA_RECEIVED);
    assert_int_equal(toe_cmd_flow(&c), y_slot);
    assert_true(host_holds(&w->y, y_slot, 0, 3000));
    host_want_nothing(&w->x);
    assert_int_equal(w->t.a->counters[EC_flows_moved], 1);
}

/* x was notified of bytes of f2 and has not read them; f1 is accepted. Then z listens too. */
static void begin_moved(struct hosts *w, struct host *z, uint32_t *f1, uint32_t *f2, uint32_t *y2)
{
    struct toedev_qp_config cfg = bench_qp_config(16);
    uint32_t y1;
    struct toe_cmd c;

    bench_connect(&w->t, &w->x, &w->y, f1, &y1); /* listens with id 7 */
    host_put(&w->x, TOE_CMD_ACCEPT, 0, 0, *f1, 0, 0);
    bench_connect(&w->t, &w->x, &w->y, f2, y2);
    host_send(&w->y, *y2, 0, 5000);
    bench_run(&w->t, NS_PER_S);
    do {
        c = host_want(&w->x, TOE_CMD_DATA_RECEIVED);
        assert_int_equal(toe_cmd_flow(&c), *f2);
    } while (host_record(&w->x, *f2)->bytes_received < 5000);
    while (host_get(&w->y, &c))
        ;
    while (host_get(&w->x, &c))
        ;
    host_attach(&w->t, w->t.a, z, &cfg);
}

static void test_what_a_weak_member_did_not_accept_is_who_serves_s(void **state)
{
    struct hosts *w = *state;
    uint32_t f1, f2, y2;
    struct host z;

    begin_moved(w, &z, &f1, &f2, &y2);
    host_put(&w->x, TOE_CMD_LISTEN, TOE_F_LISTEN_WEAK, PORT, 7, 0, 8);
    bench_run(&w->t, NS_PER_S);
    host_want_nothing(&w->x); /* it may still accept */
    host_put(&z, TOE_CMD_LISTEN, 0, PORT, 9, 0, 8);
    bench_run(&w->t, NS_PER_S);
    want_moved(w, &z, f2, y2, 5000);
    host_send(&w->x, f1, 0, 100); /* the accepted one lives where it was */
    bench_run(&w->t, NS_PER_S);
    host_want(&w->y, TOE_CMD_SEND_COMPLETE);
    host_want(&w->y, TOE_CMD_DATA_RECEIVED);
    host_detach(&w->t, &z);
}

/* A master that is preempted within fork(): its worker listens before the master's listener becomes
 * WEAK. What arrived before is the worker's. */
static void test_a_member_that_becomes_weak_after_another_listens(void **state)
{
    struct hosts *w = *state;
    uint32_t f1, f2, y2;
    struct host z;

    begin_moved(w, &z, &f1, &f2, &y2);
    host_put(&z, TOE_CMD_LISTEN, 0, PORT, 9, 0, 8);
    bench_run(&w->t, NS_PER_S);
    host_want_nothing(&z);
    host_put(&w->x, TOE_CMD_LISTEN, TOE_F_LISTEN_WEAK, PORT, 7, 0, 8);
    bench_run(&w->t, NS_PER_S);
    want_moved(w, &z, f2, y2, 5000);
    host_detach(&w->t, &z);
}

static void test_what_a_listener_leaves_is_the_other_s(void **state)
{
    struct hosts *w = *state;
    uint32_t f1, f2, y2;
    struct host z;

    begin_moved(w, &z, &f1, &f2, &y2);
    host_put(&z, TOE_CMD_LISTEN, 0, PORT, 9, 0, 8);
    bench_run(&w->t, NS_PER_S);
    host_want_nothing(&z);
    host_put(&w->x, TOE_CMD_UNLISTEN, 0, 0, 7, 0, 0);
    bench_run(&w->t, NS_PER_S);
    want_moved(w, &z, f2, y2, 5000);
    host_detach(&w->t, &z);
}

/* The peer sends to the flow that is parked at x; then another host listens and gets both. x's host
 * does nothing, and its slot is free. */
static void want_moved_with_data(struct hosts *w, uint32_t y)
{
    struct toedev_qp_config cfg = bench_qp_config(16);
    struct host z;
    struct toe_cmd c;

    host_send(&w->y, y, 0, 700);
    bench_run(&w->t, NS_PER_S);
    host_want_nothing(&w->x);
    while (host_get(&w->y, &c))
        ;
    host_attach(&w->t, w->t.a, &z, &cfg);
    host_put(&z, TOE_CMD_LISTEN, 0, PORT, 9, 0, 8);
    bench_run(&w->t, NS_PER_S);
    want_moved(w, &z, PARKED, y, 700);
    assert_int_equal(w->x.qp->free_count, w->x.qp->cfg.slots);
    host_detach(&w->t, &z);
}

/* The owner has died: one WEAK member remains, where the flow waits for the next listener. */
static void test_what_waits_with_a_weak_member(void **state)
{
    struct hosts *w = *state;
    struct toedev_qp_config cfg = bench_qp_config(16);
    struct host dead;
    uint32_t f, y;

    host_attach(&w->t, w->t.a, &dead, &cfg);
    bench_connect(&w->t, &dead, &w->y, &f, &y);
    host_put(&w->x, TOE_CMD_LISTEN, TOE_F_LISTEN_WEAK, PORT, 5, 0, 8);
    bench_run(&w->t, NS_PER_MS);
    host_detach(&w->t, &dead);
    host_want_nothing(&w->x);
    w->t.a->counters[EC_flows_moved] = 0;
    want_moved_with_data(w, y);
}

/* There is no other listener: it is connected and waits there with the data that it has sent. */
static void test_weak_members_keep_the_port(void **state)
{
    struct hosts *w = *state;
    struct toe_cmd c;
    uint32_t y;

    host_put(&w->x, TOE_CMD_LISTEN, TOE_F_LISTEN_WEAK, PORT, 5, 0, 8);
    bench_run(&w->t, NS_PER_MS);
    host_put(&w->y, TOE_CMD_CONNECT, 0, PORT, 1, IP_A, 0);
    bench_run(&w->t, NS_PER_S);
    c = host_want(&w->y, TOE_CMD_CONNECT_ESTABLISHED);
    y = toe_cmd_flow(&c);
    want_moved_with_data(w, y);
}

/* Half of the handshake there, the other half when another serves. */
static void test_a_handshake_begun_with_a_weak_member(void **state)
{
    struct hosts *w = *state;
    struct toedev_qp_config cfg = bench_qp_config(16);
    struct host z;

    host_put(&w->x, TOE_CMD_LISTEN, TOE_F_LISTEN_WEAK, PORT, 5, 0, 8);
    host_attach(&w->t, w->t.a, &z, &cfg);
    bench_run(&w->t, NS_PER_MS);
    host_put(&w->y, TOE_CMD_CONNECT, 0, PORT, 1, IP_A, 0);
    while (w->x.qp->free_count == w->x.qp->cfg.slots) {
        w->t.now += NS_PER_US;
        engine_step(w->t.b, w->t.now);
        engine_step(w->t.a, w->t.now);
    }
    host_want_nothing(&w->x);
    host_put(&z, TOE_CMD_LISTEN, 0, PORT, 9, 0, 8);
    bench_run(&w->t, NS_PER_S);
    host_want(&z, TOE_CMD_LISTEN_ESTABLISHED);
    host_want(&w->y, TOE_CMD_CONNECT_ESTABLISHED);
    host_want_nothing(&w->x);
    assert_int_equal(w->x.qp->free_count, w->x.qp->cfg.slots);
    host_detach(&w->t, &z);
}

/* All weak members share one backlog, as processes that share a listener do on Linux. */
static void test_weak_members_share_a_backlog(void **state)
{
    struct hosts *w = *state;
    struct toedev_qp_config cfg = bench_qp_config(16);
    struct host z;
    uint32_t i;

    host_put(&w->x, TOE_CMD_LISTEN, TOE_F_LISTEN_WEAK, PORT, 5, 0, 2);
    host_attach(&w->t, w->t.a, &z, &cfg);
    host_put(&z, TOE_CMD_LISTEN, TOE_F_LISTEN_WEAK, PORT, 9, 0, 2);
    bench_run(&w->t, NS_PER_MS);
    for (i = 0; i < 6; i++) {
        host_put(&w->y, TOE_CMD_CONNECT, 0, PORT, i + 1, IP_A, 0);
        bench_run(&w->t, 100 * NS_PER_MS);
    }
    assert_int_equal(w->x.qp->cfg.slots - w->x.qp->free_count + cfg.slots - z.qp->free_count, 3);
    assert_true(w->t.a->counters[EC_backlog_full] > 0);
    host_detach(&w->t, &z);
}

/* Opens one more flow to PORT on A and returns y's slot. */
static uint32_t open_one(struct hosts *w)
{
    struct toe_cmd c;

    host_put(&w->y, TOE_CMD_CONNECT, 0, PORT, 77, IP_A, 0);
    bench_run(&w->t, NS_PER_S);
    c = host_want(&w->y, TOE_CMD_CONNECT_ESTABLISHED);
    return toe_cmd_flow(&c);
}

/* A connection in the accept queue is never reset because another queue is full. */
static void test_a_flow_moves_to_a_listener_with_a_full_backlog(void **state)
{
    struct hosts *w = *state;
    uint32_t f1, f2, y2;
    struct host z;

    begin_moved(w, &z, &f1, &f2, &y2);
    host_put(&z, TOE_CMD_LISTEN, 0, PORT, 9, 0, 0);
    bench_run(&w->t, NS_PER_MS);
    open_one(w);
    host_want(&z, TOE_CMD_LISTEN_ESTABLISHED); /* full: it takes one above its backlog of 0 */
    host_want_nothing(&z);
    host_put(&w->x, TOE_CMD_UNLISTEN, 0, 0, 7, 0, 0);
    bench_run(&w->t, NS_PER_S);
    want_moved(w, &z, f2, y2, 5000);
    host_detach(&w->t, &z);
}

/* Workers that take turns: a worker that does not wait is WEAK. The one that waits gets the flows
 * of the others one after another, as it accepts them. */
static void test_a_member_that_waits_gets_flows_one_at_a_time(void **state)
{
    struct hosts *w = *state;
    uint32_t f1, f2, y2, i;
    struct host z;
    struct toe_cmd c;

    begin_moved(w, &z, &f1, &f2, &y2);
    open_one(w);
    host_want(&w->x, TOE_CMD_LISTEN_ESTABLISHED);
    host_put(&w->x, TOE_CMD_LISTEN, TOE_F_LISTEN_WEAK, PORT, 7, 0, 8);
    host_put(&z, TOE_CMD_LISTEN, 0, PORT, 9, 0, 8);
    for (i = 0; i < 2; i++) {
        bench_run(&w->t, NS_PER_S);
        c = host_want(&w->x, TOE_CMD_CLOSE_EVENT);
        assert_int_equal(toe_cmd_aux(&c), TOE_R_STALE);
        host_want_nothing(&w->x);
        c = host_want(&z, TOE_CMD_LISTEN_ESTABLISHED);
        host_put(&z, TOE_CMD_ACCEPT, 0, 0, toe_cmd_flow(&c), 0, 0);
        while (host_get(&z, &c))
            assert_int_equal(toe_cmd_type(&c), TOE_CMD_DATA_RECEIVED);
    }
    host_detach(&w->t, &z);
}

static uint32_t *claim_of(const struct host *h, uint32_t slot)
{
    return &((struct toedev_flow_record *)host_record(h, slot))->claim;
}

/* Opens a flow at x, the listener 7 of several, and returns its slot there. */
static uint32_t open_at(struct hosts *w, struct host *at)
{
    struct toe_cmd c;

    open_one(w);
    c = host_want(at, TOE_CMD_LISTEN_ESTABLISHED);
    return toe_cmd_flow(&c);
}

/* The host of a WEAK member begins to wait: what waited for it is in the ring when the tail passes
 * its LISTEN, so that an accept() that does not block finds it. */
static void test_a_parked_flow_precedes_the_tail(void **state)
{
    struct hosts *w = *state;
    struct toe_cmd c;

    host_put(&w->x, TOE_CMD_LISTEN, TOE_F_LISTEN_WEAK, PORT, 5, 0, 8);
    bench_run(&w->t, NS_PER_MS);
    open_one(w);
    host_want_nothing(&w->x);
    host_put(&w->x, TOE_CMD_LISTEN, 0, PORT, 5, 0, 8);
    assert_int_equal(commands_run(w->x.qp), 1);
    assert_true(w->x.qp->hw.head > w->x.qp->hw_published);
    bench_run(&w->t, NS_PER_MS);
    c = host_want(&w->x, TOE_CMD_LISTEN_ESTABLISHED);
    assert_int_equal(*claim_of(&w->x, toe_cmd_flow(&c)), TOEDEV_CLAIM_NONE);
}

/* A member that waits has no free slot, so flows are parked with another one. They follow when it
 * has room. */
static void test_a_parked_flow_waits_for_a_slot(void **state)
{
    struct hosts *w = *state;
    struct toedev_qp_config cfg = bench_qp_config(1);
    struct host z;
    struct toe_cmd c;
    uint32_t f, y;

    host_attach(&w->t, w->t.a, &z, &cfg);
    host_put(&w->x, TOE_CMD_LISTEN, TOE_F_LISTEN_WEAK, PORT, 5, 0, 8);
    host_put(&z, TOE_CMD_LISTEN, 0, PORT, 9, 0, 8);
    bench_run(&w->t, NS_PER_MS);
    y = open_one(w);
    c = host_want(&z, TOE_CMD_LISTEN_ESTABLISHED);
    f = toe_cmd_flow(&c);
    host_put(&z, TOE_CMD_ACCEPT, 0, 0, f, 0, 0);
    open_one(w);
    host_want_nothing(&z);
    host_want_nothing(&w->x);
    host_put(&w->y, TOE_CMD_CLOSE, TOE_F_CLOSE_ABORT, 0, y, 0, 0);
    bench_run(&w->t, NS_PER_MS);
    host_want(&z, TOE_CMD_CLOSE_EVENT);
    host_put(&z, TOE_CMD_RELEASE, 0, 0, f, 0, 0);
    bench_run(&w->t, NS_PER_MS);
    host_want(&z, TOE_CMD_LISTEN_ESTABLISHED);
    host_want_nothing(&w->x);
    assert_int_equal(w->x.qp->free_count, w->x.qp->cfg.slots);
    host_detach(&w->t, &z);
}

/* The peer resets it. Its host may never run, so nothing is left for it to release. */
static void test_a_parked_flow_that_ends_leaves_no_trace(void **state)
{
    struct hosts *w = *state;
    uint32_t y;

    host_put(&w->x, TOE_CMD_LISTEN, TOE_F_LISTEN_WEAK, PORT, 5, 0, 8);
    bench_run(&w->t, NS_PER_MS);
    y = open_one(w);
    assert_int_equal(w->x.qp->free_count, w->x.qp->cfg.slots - 1);
    host_put(&w->y, TOE_CMD_CLOSE, TOE_F_CLOSE_ABORT, 0, y, 0, 0);
    bench_run(&w->t, NS_PER_MS);
    assert_int_equal(w->x.qp->free_count, w->x.qp->cfg.slots);
    host_put(&w->x, TOE_CMD_LISTEN, 0, PORT, 5, 0, 8);
    bench_run(&w->t, NS_PER_MS);
    host_want_nothing(&w->x);
}

/* x is to accept and does not, as its process waits for a lock. z waits: it gets the flow, unless x
 * has claimed it. turns: processes take turns, so one has been WEAK. */
static void left_alone(struct hosts *w, int turns, uint32_t claim, int moves)
{
    struct toedev_qp_config cfg = bench_qp_config(8); /* so x is the least busy */
    struct host z;
    struct toe_cmd c;
    uint32_t f;

    host_attach(&w->t, w->t.a, &z, &cfg);
    host_put(&w->x, TOE_CMD_LISTEN, 0, PORT, 7, 0, 8);
    bench_run(&w->t, NS_PER_MS);
    f = open_at(w, &w->x);
    __atomic_store_n(claim_of(&w->x, f), claim, __ATOMIC_RELAXED);
    if (turns)
        host_put(&z, TOE_CMD_LISTEN, TOE_F_LISTEN_WEAK, PORT, 9, 0, 8);
    host_put(&z, TOE_CMD_LISTEN, 0, PORT, 9, 0, 8);
    bench_run(&w->t, NS_PER_MS);
    host_want_nothing(&z); /* x may be about to accept it */
    host_want_nothing(&w->x);
    bench_run(&w->t, NS_PER_S);
    if (moves) {
        host_want(&z, TOE_CMD_LISTEN_ESTABLISHED);
        c = host_want(&w->x, TOE_CMD_CLOSE_EVENT);
        assert_int_equal(toe_cmd_flow(&c), f);
        assert_int_equal(toe_cmd_aux(&c), TOE_R_STALE);
        assert_int_equal(*claim_of(&w->x, f), TOEDEV_CLAIM_TOE);
    }
    host_want_nothing(&z);
    host_want_nothing(&w->x);
    assert_int_equal(w->t.a->listen_check, UINT64_MAX); /* nothing to check again for */
    host_detach(&w->t, &z);
}

static void test_a_flow_left_alone_moves_to_a_member_that_waits(void **state)
{
    left_alone(*state, 1, TOEDEV_CLAIM_NONE, 1);
}

static void test_a_claimed_flow_stays(void **state)
{
    left_alone(*state, 1, TOEDEV_CLAIM_HOST, 0);
}

/* Each socket with SO_REUSEPORT has its own queue on Linux too. */
static void test_a_flow_stays_where_no_process_takes_turns(void **state)
{
    left_alone(*state, 0, TOEDEV_CLAIM_NONE, 0);
}

/* A claimed flow stays, and its ACCEPT that is in the ring when another member begins to wait is
 * valid. */
static void test_an_accept_wins_over_a_member_that_waits(void **state)
{
    struct hosts *w = *state;
    uint32_t f1, f2, y2;
    struct host z;

    begin_moved(w, &z, &f1, &f2, &y2);
    host_put(&w->x, TOE_CMD_LISTEN, TOE_F_LISTEN_WEAK, PORT, 7, 0, 8);
    bench_run(&w->t, NS_PER_MS);
    w->t.a->qp_turn = w->t.a->qp_count - 2; /* serves z before x */
    host_put(&z, TOE_CMD_LISTEN, 0, PORT, 9, 0, 8);
    __atomic_store_n(claim_of(&w->x, f2), TOEDEV_CLAIM_HOST, __ATOMIC_RELEASE);
    host_put(&w->x, TOE_CMD_ACCEPT, 0, 0, f2, 0, 0);
    bench_run(&w->t, NS_PER_S);
    host_want_nothing(&w->x);
    host_want_nothing(&z);
    host_detach(&w->t, &z);
}

/* A flow that cannot move stays with its WEAK member, which may still accept it. */
static void test_a_flow_in_use_stays_with_its_weak_member(void **state)
{
    struct hosts *w = *state;
    uint32_t f1, f2, y2;
    struct host z;

    begin_moved(w, &z, &f1, &f2, &y2);
    host_put(&w->x, TOE_CMD_RECV, 0, 0, f2, 1, 0);
    host_put(&w->x, TOE_CMD_LISTEN, TOE_F_LISTEN_WEAK, PORT, 7, 0, 8);
    host_put(&z, TOE_CMD_LISTEN, 0, PORT, 9, 0, 8);
    bench_run(&w->t, NS_PER_S);
    host_want_nothing(&w->x);
    host_want_nothing(&z);
    host_detach(&w->t, &z);
}

/* Buffers of another size, or data its host has touched: reset, as without another listener. */
static void test_what_cannot_move_is_reset(void **state)
{
    struct hosts *w = *state;
    struct toedev_qp_config cfg = bench_qp_config(16);
    struct host other, z;
    uint32_t f1, f2, y2;
    struct toe_cmd c;

    begin_moved(w, &z, &f1, &f2, &y2);
    cfg.rx_size *= 2;
    host_attach(&w->t, w->t.a, &other, &cfg);
    host_put(&w->x, TOE_CMD_RECV, 0, 0, f2, 1, 0);
    host_put(&z, TOE_CMD_LISTEN, 0, PORT, 9, 0, 8);
    host_put(&other, TOE_CMD_LISTEN, 0, PORT, 9, 0, 8);
    bench_run(&w->t, NS_PER_S);
    host_put(&w->x, TOE_CMD_UNLISTEN, 0, 0, 7, 0, 0);
    bench_run(&w->t, NS_PER_S);
    c = host_want(&w->x, TOE_CMD_CLOSE_EVENT);
    assert_int_equal(toe_cmd_aux(&c), TOE_R_ABORTED);
    c = host_want(&w->y, TOE_CMD_CLOSE_EVENT);
    assert_int_equal(toe_cmd_flow(&c), y2);
    host_want_nothing(&z);
    host_want_nothing(&other);
    assert_int_equal(z.qp->free_count, 16);
    assert_int_equal(other.qp->free_count, 16);
    host_detach(&w->t, &other);
    host_detach(&w->t, &z);
}

#define T(f) cmocka_unit_test_setup_teardown(f, hosts_setup, hosts_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_new_flows_are_spread_over_the_members),
        T(test_weak_members_keep_the_port),
        T(test_a_handshake_begun_with_a_weak_member),
        T(test_weak_members_share_a_backlog),
        T(test_a_full_queue_pair_may_turn_one_listener_weak),
        T(test_what_a_weak_member_did_not_accept_is_who_serves_s),
        T(test_what_a_listener_leaves_is_the_other_s),
        T(test_a_member_that_becomes_weak_after_another_listens),
        T(test_what_waits_with_a_weak_member),
        T(test_a_flow_moves_to_a_listener_with_a_full_backlog),
        T(test_a_member_that_waits_gets_flows_one_at_a_time),
        T(test_a_parked_flow_precedes_the_tail),
        T(test_a_parked_flow_waits_for_a_slot),
        T(test_a_parked_flow_that_ends_leaves_no_trace),
        T(test_a_flow_left_alone_moves_to_a_member_that_waits),
        T(test_a_claimed_flow_stays),
        T(test_a_flow_stays_where_no_process_takes_turns),
        T(test_an_accept_wins_over_a_member_that_waits),
        T(test_a_flow_in_use_stays_with_its_weak_member),
        T(test_what_cannot_move_is_reset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
