/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stranded.c - a process reports that it can never accept from the listener of its parent
 * (hosts/stranded.h). x is the parent, y connects.
 */
#include "bench.h"
#include "hosts/commands.h"
#include "hosts/stranded.h"

static const struct process_id parent = {.pid = 100, .born = 5};

/* The report of a child of x. Returns how many listeners it applies to. */
static uint32_t report(struct hosts *w, uint16_t port, struct process_id of)
{
    struct stranded_report r = {.owner = {.self = {.pid = 200, .born = 6}, .parent = {{1, 1}, of}},
                                .port = port};

    w->x.qp->owner.self = parent;
    stranded_note(w->t.a, &r);
    bench_run(&w->t, NS_PER_S);
    return r.found;
}

static void listen_weak(struct hosts *w)
{
    host_put(&w->x, TOE_CMD_LISTEN, TOE_F_LISTEN_WEAK, PORT, 7, 0, 8);
    bench_run(&w->t, NS_PER_MS);
}

/* y connects. Returns its slot. */
static uint32_t connect_y(struct hosts *w)
{
    struct toe_cmd c;

    host_put(&w->y, TOE_CMD_CONNECT, 0, PORT, 3, IP_A, 0);
    bench_run(&w->t, NS_PER_S);
    c = host_want(&w->y, TOE_CMD_CONNECT_ESTABLISHED);
    return toe_cmd_flow(&c);
}

static void want_reset(struct hosts *w, uint32_t y)
{
    struct toe_cmd c = host_want(&w->y, TOE_CMD_CLOSE_EVENT);

    assert_int_equal(toe_cmd_flow(&c), y);
    assert_int_equal(toe_cmd_aux(&c), TOE_R_RESET);
    host_put(&w->y, TOE_CMD_RELEASE, 0, 0, y, 0, 0);
    bench_run(&w->t, NS_PER_MS);
}

static void test_flows_that_wait_are_reset(void **state)
{
    struct hosts *w = *state;
    uint32_t first, second;

    listen_weak(w);
    first = connect_y(w);
    second = connect_y(w);
    host_want_nothing(&w->y);
    assert_int_equal(report(w, PORT, parent), 1);
    want_reset(w, first);
    want_reset(w, second);
    host_want_nothing(&w->x); /* it has never heard of them */
    assert_int_equal(w->t.a->counters[EC_stranded], 2);
    assert_int_equal(w->x.qp->free_count, 16);
}

/* ... as soon as they are established. */
static void test_later_flows_are_reset(void **state)
{
    struct hosts *w = *state;

    listen_weak(w);
    assert_int_equal(report(w, PORT, parent), 1);
    want_reset(w, connect_y(w));
    want_reset(w, connect_y(w));
    host_want_nothing(&w->x);
    assert_int_equal(w->t.a->counters[EC_stranded], 2);
}

/* Of these x was notified before it became WEAK. It is just accepting the first. */
static void test_flows_that_the_parent_was_notified_of(void **state)
{
    struct hosts *w = *state;
    uint32_t x1, x2, y1, y2;
    struct toe_cmd c;

    bench_connect(&w->t, &w->x, &w->y, &x1, &y1); /* listens with id 7 */
    bench_connect(&w->t, &w->x, &w->y, &x2, &y2);
    listen_weak(w);
    while (host_get(&w->x, &c) || host_get(&w->y, &c))
        ;
    ((struct toedev_flow_record *)(w->x.area + w->x.layout.records))[x1].claim = TOEDEV_CLAIM_HOST;
    assert_int_equal(report(w, PORT, parent), 1);
    c = host_want(&w->x, TOE_CMD_CLOSE_EVENT);
    assert_int_equal(toe_cmd_flow(&c), x2);
    host_put(&w->x, TOE_CMD_RELEASE, 0, 0, x2, 0, 0);
    want_reset(w, y2);
    host_put(&w->x, TOE_CMD_ACCEPT, 0, 0, x1, 0, 0);
    host_send(&w->x, x1, 0, 100);
    bench_run(&w->t, NS_PER_S);
    host_want(&w->y, TOE_CMD_DATA_RECEIVED);
}

/* Whoever joins may accept: from then on flows wait again. */
static void test_a_process_that_joins_ends_it(void **state)
{
    struct hosts *w = *state;
    struct toedev_qp_config cfg = bench_qp_config(16);
    struct host z;

    listen_weak(w);
    assert_int_equal(report(w, PORT, parent), 1);
    host_attach(&w->t, w->t.a, &z, &cfg);
    host_put(&z, TOE_CMD_LISTEN, TOE_F_LISTEN_WEAK, PORT, 9, 0, 8);
    bench_run(&w->t, NS_PER_MS);
    (void)connect_y(w);
    host_want_nothing(&w->y);
    assert_int_equal(report(w, PORT, parent), 0); /* z is no ancestor */
    host_want_nothing(&w->y);
    host_put(&z, TOE_CMD_LISTEN, 0, PORT, 9, 0, 8);
    bench_run(&w->t, NS_PER_S);
    host_want(&z, TOE_CMD_LISTEN_ESTABLISHED);
    assert_int_equal(w->t.a->counters[EC_stranded], 0);
    host_detach(&w->t, &z);
}

static void test_a_parent_that_waits_itself_ends_it(void **state)
{
    struct hosts *w = *state;

    listen_weak(w);
    assert_int_equal(report(w, PORT, parent), 1);
    host_put(&w->x, TOE_CMD_LISTEN, 0, PORT, 7, 0, 8);
    bench_run(&w->t, NS_PER_MS);
    (void)connect_y(w);
    host_want(&w->x, TOE_CMD_LISTEN_ESTABLISHED);
    host_want_nothing(&w->y);
    assert_int_equal(report(w, PORT, parent), 0);
    host_want_nothing(&w->y);
}

/* A parent that has accepted before may do so again. */
static void test_a_parent_that_has_accepted(void **state)
{
    struct hosts *w = *state;
    uint32_t x, y;

    bench_connect(&w->t, &w->x, &w->y, &x, &y);
    host_put(&w->x, TOE_CMD_ACCEPT, 0, 0, x, 0, 0);
    listen_weak(w);
    assert_int_equal(report(w, PORT, parent), 0);
}

static void test_reports_of_others(void **state)
{
    static const struct process_id others[] = {{100, 4}, {101, 5}, {0, 0}};
    struct hosts *w = *state;
    unsigned i;

    listen_weak(w);
    (void)connect_y(w);
    for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_int_equal(report(w, PORT, others[i]), 0);
    assert_int_equal(report(w, PORT + 1, parent), 0);
    host_want_nothing(&w->y);
    assert_int_equal(w->t.a->counters[EC_stranded], 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, hosts_setup, hosts_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_flows_that_wait_are_reset),
        TEST(test_later_flows_are_reset),
        TEST(test_flows_that_the_parent_was_notified_of),
        TEST(test_a_process_that_joins_ends_it),
        TEST(test_a_parent_that_waits_itself_ends_it),
        TEST(test_a_parent_that_has_accepted),
        TEST(test_reports_of_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
