/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_trace.c - the ring of events of each flow (hosts/trace.h): what it has, how calls are
 * joined, and which rings newer flows overwrite.
 */
#include <string.h>

#include "base/clock.h"
#include "bench.h"
#include "hosts/trace.h"

/* The ring of a slot. */
static uint32_t ring_of(const struct host *h, uint32_t slot)
{
    assert_non_null(h->qp->traces[slot]);
    return (uint32_t)(h->qp->traces[slot] - h->qp->engine->traces->rings);
}

static struct trace_copy copy_of(const struct engine *e, uint32_t ring)
{
    struct trace_copy copy;

    trace_copy(e->traces, ring, &copy);
    return copy;
}

static void assert_kinds(const struct trace_copy *c, const unsigned *kinds, unsigned n)
{
    unsigned i;

    for (i = 0; i < n && i < c->count; i++)
        if (trace_kind(&c->events[i]) != kinds[i])
            fail_msg("event %u of %u is of kind %u, wanted %u", i, c->count,
                     trace_kind(&c->events[i]), kinds[i]);
    assert_int_equal(c->count, n);
}
#define KINDS(c, ...)                                                                              \
    assert_kinds(c, (const unsigned[]){__VA_ARGS__},                                               \
                 sizeof((const unsigned[]){__VA_ARGS__}) / sizeof(unsigned))

static void close_both(struct hosts *w, uint32_t fx, uint32_t fy)
{
    struct toe_cmd c;

    host_put(&w->y, TOE_CMD_CLOSE, 0, 0, fy, 0, 0);
    bench_run(&w->t, NS_PER_S);
    host_put(&w->x, TOE_CMD_CLOSE, 0, 0, fx, 0, 0);
    bench_run(&w->t, NS_PER_S);
    while (host_get(&w->x, &c) || host_get(&w->y, &c))
        continue;
    host_put(&w->x, TOE_CMD_RELEASE, 0, 0, fx, 0, 0);
    host_put(&w->y, TOE_CMD_RELEASE, 0, 0, fy, 0, 0);
    bench_run(&w->t, NS_PER_MS);
    host_want_nothing(&w->x);
    host_want_nothing(&w->y);
}

/* Both sides of a connection, from the first call to the end. */
static void test_a_connection(void **state)
{
    struct hosts *w = *state;
    struct trace_copy c;
    uint32_t fx, fy, x, y, i;
    struct toe_cmd event;

    bench_connect(&w->t, &w->x, &w->y, &fx, &fy);
    host_put(&w->x, TOE_CMD_ACCEPT, 0, 0, fx, 0, 0);
    x = ring_of(&w->x, fx);
    y = ring_of(&w->y, fy);
    for (i = 0; i < 3; i++) {
        host_send(&w->y, fy, i * 100, 100);
        bench_run(&w->t, 300 * NS_PER_MS);
    }
    while (host_get(&w->x, &event))
        host_put(&w->x, TOE_CMD_RECV, 0, 0, fx, toe_cmd_arg0(&event), 0);
    while (host_get(&w->y, &event))
        continue;
    bench_run(&w->t, NS_PER_MS);

    c = copy_of(w->t.b, y);
    KINDS(&c, TRACE_CONNECT, TRACE_ESTABLISHED, TRACE_SEND);
    assert_int_equal(c.events[0].value, PORT);
    assert_int_equal(c.events[2].seq, 3);
    assert_int_equal(c.events[2].value, 300);
    assert_int_equal(c.owner.qp, w->y.qp->id);
    assert_int_equal(c.ring.remote_port, PORT);
    assert_int_equal(c.ring.ended, 0);
    assert_int_equal(c.ring.slot, fy);
    assert_memory_equal(c.ring.remote + 12, "\x0a\0\0\1", 4);
    assert_memory_equal(c.ring.local + 12, "\x0a\0\0\2", 4);

    close_both(w, fx, fy);
    c = copy_of(w->t.b, y);
    KINDS(&c, TRACE_CONNECT, TRACE_ESTABLISHED, TRACE_SEND, TRACE_CLOSE, TOEC_T_STATE, TRACE_GONE);
    assert_int_equal(c.events[4].value, TOEC_FIN_WAIT_2);
    assert_int_equal(c.events[5].value, TOEC_R_OK);
    assert_int_equal(c.ring.ended, 1);
    c = copy_of(w->t.a, x);
    KINDS(&c, TRACE_SYN, TRACE_ESTABLISHED, TRACE_ACCEPT, TRACE_RECV, TRACE_PEER_CLOSED,
          TRACE_CLOSE, TRACE_GONE);
    assert_int_equal(c.events[3].value, 300);
    for (i = 1; i < c.count; i++)
        assert_true(trace_time(&c.events[i], w->t.now) >= trace_time(&c.events[i - 1], w->t.now));
    assert_int_equal(w->t.a->counters[EC_trace_overwritten], 0);
}

/* A peer that vanishes: the timeouts and the reason stay readable; retransmissions are joined. */
static void test_a_flow_that_timed_out(void **state)
{
    struct hosts *w = *state;
    struct trace_copy c;
    uint32_t fx, fy, y, timeouts = 0, i;
    struct toe_cmd event;

    bench_connect(&w->t, &w->x, &w->y, &fx, &fy);
    y = ring_of(&w->y, fy);
    host_put(&w->y, TOE_CMD_OPTION, 0, TOE_OPT_USER_TIMEOUT, fy, 3000, 0);
    memwire_lose(w->t.wire_b, 1);
    host_send(&w->y, fy, 0, 100);
    bench_run(&w->t, 10 * NS_PER_S);
    event = host_want(&w->y, TOE_CMD_CLOSE_EVENT);
    assert_int_equal(toe_cmd_aux(&event), TOE_R_TIMEDOUT);
    memwire_lose(w->t.wire_b, 0);
    c = copy_of(w->t.b, y);
    for (i = 0; i < c.count; i++)
        timeouts += trace_kind(&c.events[i]) == TOEC_T_TIMEOUT;
    assert_true(timeouts >= 3);
    assert_int_equal(trace_kind(&c.events[c.count - 1]), TRACE_GONE);
    assert_int_equal(c.events[c.count - 1].value, TOEC_R_TIMEDOUT);
    assert_int_equal(c.ring.ended, 1);
    host_put(&w->y, TOE_CMD_RELEASE, 0, 0, fy, 0, 0);
    bench_run(&w->t, NS_PER_MS);
    (void)fx;
}

/* Only the last TRACE_EVENTS are kept. Sends on both sides of another event are two events. */
static void test_old_events_are_overwritten(void **state)
{
    struct hosts *w = *state;
    struct trace_copy c;
    uint32_t fx, fy, i, total;

    bench_connect(&w->t, &w->x, &w->y, &fx, &fy);
    for (i = 0; i < 40; i++) {
        trace_call(&w->y.qp->slots[fy], TRACE_SENT, 1);
        trace_call(&w->y.qp->slots[fy], TRACE_SENT, 1);
        trace_core(&w->y.qp->slots[fy], TOEC_T_TIMEOUT, 1, i);
    }
    trace_call(&w->y.qp->slots[fy], TRACE_READ, 7);
    total = 2 + 2 * 40;
    c = copy_of(w->t.b, ring_of(&w->y, fy));
    assert_int_equal(c.total, total);
    assert_int_equal(c.count, TRACE_EVENTS + 1);
    assert_int_equal(c.lost, total - TRACE_EVENTS);
    for (i = 0; i < TRACE_EVENTS; i += 2) {
        assert_int_equal(trace_kind(&c.events[TRACE_EVENTS - 1 - i]), TOEC_T_TIMEOUT);
        assert_int_equal(c.events[TRACE_EVENTS - 1 - i].value, 39 - i / 2);
        assert_int_equal(trace_kind(&c.events[TRACE_EVENTS - 2 - i]), TRACE_SEND);
        assert_int_equal(c.events[TRACE_EVENTS - 2 - i].seq, 2);
    }
    assert_int_equal(trace_kind(&c.events[TRACE_EVENTS]), TRACE_RECV);
    assert_int_equal(c.events[TRACE_EVENTS].value, 7);
}

/* Retransmissions that follow one another are one event; closed windows of a full buffer, too. */
static void test_events_are_joined(void **state)
{
    struct hosts *w = *state;
    struct slot *s;
    struct trace_copy c;
    uint32_t fx, fy;

    bench_connect(&w->t, &w->x, &w->y, &fx, &fy);
    s = &w->y.qp->slots[fy];
    trace_core(s, TOEC_T_RETRANSMIT, 1, 1000);
    trace_core(s, TOEC_T_RETRANSMIT, 1001, 500);
    trace_core(s, TOEC_T_RETRANSMIT, 1, 1000);
    trace_core(s, TOEC_T_OWN_WINDOW, 8, 0);
    trace_core(s, TOEC_T_OWN_WINDOW, 8, 0);
    trace_core(s, TOEC_T_OWN_WINDOW, 9, 0);
    trace_core(s, TOEC_T_TIMEOUT, 1, 1);
    trace_core(s, TOEC_T_TIMEOUT, 1, 1);
    c = copy_of(w->t.b, ring_of(&w->y, fy));
    KINDS(&c, TRACE_CONNECT, TRACE_ESTABLISHED, TOEC_T_RETRANSMIT, TOEC_T_RETRANSMIT,
          TOEC_T_OWN_WINDOW, TOEC_T_OWN_WINDOW, TOEC_T_TIMEOUT, TOEC_T_TIMEOUT);
    assert_int_equal(c.events[2].value, 1500);
    assert_int_equal(c.events[3].value, 1000);
}

/* Rings of TRACE_ENDED ended flows are kept; then the oldest is overwritten and counted. */
static void test_rings_of_ended_flows(void **state)
{
    struct hosts *w = *state;
    struct traces *t = w->t.b->traces;
    struct slot *s;
    struct trace_copy c;
    uint32_t fx, fy, i, first;

    bench_connect(&w->t, &w->x, &w->y, &fx, &fy);
    s = &w->y.qp->slots[fy];
    first = ring_of(&w->y, fy);
    trace_end(s, TOEC_R_RESET);
    for (i = 1; i < TRACE_ENDED; i++) {
        trace_begin(s, TRACE_CONNECT, 1);
        trace_name(s);
        trace_end(s, TOEC_R_OK);
    }
    assert_int_equal(t->ended, TRACE_ENDED);
    assert_int_equal(w->t.b->counters[EC_trace_overwritten], 0);
    c = copy_of(w->t.b, first);
    assert_int_equal(c.ring.serial, 1);
    assert_int_equal(c.events[c.count - 1].value, TOEC_R_RESET);
    trace_begin(s, TRACE_CONNECT, 1);
    assert_int_equal(ring_of(&w->y, fy), first);
    assert_int_equal(w->t.b->counters[EC_trace_overwritten], 1);
    assert_int_equal(t->rings[first].serial, 2);
    assert_int_equal(t->ended, TRACE_ENDED - 1);
    c = copy_of(w->t.b, first);
    KINDS(&c, TRACE_CONNECT);
    assert_int_equal(t->fresh, TRACE_ENDED);
}

/* With all rings in use by open flows, a flow has none, and works. */
static void test_no_ring_is_left(void **state)
{
    struct hosts *w = *state;
    struct traces *t = w->t.b->traces;
    uint32_t fx, fy, fresh = t->fresh;

    t->fresh = t->total;
    bench_connect(&w->t, &w->x, &w->y, &fx, &fy);
    host_send(&w->y, fy, 0, 100);
    bench_run(&w->t, NS_PER_MS);
    assert_null(w->y.qp->traces[fy]);
    assert_int_equal(w->t.b->counters[EC_trace_none], 1);
    host_put(&w->y, TOE_CMD_CLOSE, TOE_F_CLOSE_ABORT, 0, fy, 0, 0);
    bench_run(&w->t, NS_PER_MS);
    assert_int_equal(t->ended, 0);
    t->fresh = fresh;
}

/* A SYN that never becomes a connection leaves no ring of an ended flow. */
static void test_half_open_flows_are_not_kept(void **state)
{
    struct hosts *w = *state;
    struct traces *t = w->t.a->traces;

    host_put(&w->x, TOE_CMD_LISTEN, 0, PORT, 7, 0, 16);
    bench_run(&w->t, NS_PER_MS);
    host_put(&w->y, TOE_CMD_CONNECT, 0, PORT, 4711, IP_A, 0);
    memwire_lose(w->t.wire_a, 1); /* the SYN-ACK */
    bench_run(&w->t, 300 * NS_PER_S);
    host_want(&w->y, TOE_CMD_CONNECT_FAILED);
    memwire_lose(w->t.wire_a, 0);
    bench_run(&w->t, 300 * NS_PER_S);
    assert_int_equal(t->ended, 0);
    /* the active side's end is kept, with the reason */
    assert_int_equal(w->t.b->traces->ended, 1);
}

/* A connect that is refused has its events and the reason. */
static void test_a_refused_connect(void **state)
{
    struct hosts *w = *state;
    struct trace_copy c;

    host_put(&w->y, TOE_CMD_CONNECT, 0, 9, 77, IP_A, 0); /* no listener */
    bench_run(&w->t, NS_PER_S);
    host_want(&w->y, TOE_CMD_CONNECT_FAILED);
    c = copy_of(w->t.b, (uint32_t)(w->t.b->traces->ended_first - w->t.b->traces->rings));
    KINDS(&c, TRACE_CONNECT, TOEC_T_RST_RECEIVED, TRACE_GONE);
    assert_int_equal(c.events[2].value, TOEC_R_REFUSED);
    assert_int_equal(c.ring.remote_port, 9);
}

/* Without memory for rings nothing is recorded, and flows work. */
static void test_without_memory(void **state)
{
    struct hosts *w = *state;
    struct traces *a = w->t.a->traces, *b = w->t.b->traces;
    uint32_t fx, fy;

    w->t.a->traces = w->t.b->traces = NULL;
    bench_connect(&w->t, &w->x, &w->y, &fx, &fy);
    close_both(w, fx, fy);
    assert_null(w->x.qp->traces[fx]);
    w->t.a->traces = a;
    w->t.b->traces = b;
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, hosts_setup, hosts_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_a_connection),
        TEST(test_a_flow_that_timed_out),
        TEST(test_old_events_are_overwritten),
        TEST(test_events_are_joined),
        TEST(test_rings_of_ended_flows),
        TEST(test_no_ring_is_left),
        TEST(test_half_open_flows_are_not_kept),
        TEST(test_a_refused_connect),
        TEST(test_without_memory),
    };

    return cmocka_run_group_tests_name("engine_trace", tests, NULL, NULL);
}
