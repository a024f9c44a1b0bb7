/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_exchange.c - the times of a flow's exchanges (hosts/exchange.h): what begins and ends one,
 * the host's part, which is not trusted, and the end of the timing.
 */
#include <string.h>

#include "base/clock.h"
#include "bench.h"
#include "hosts/exchange.h"
#include "hosts/trace.h"

static uint64_t clock_now; /* of the timing, apart from the bench's time */

static uint64_t fake_clock(void)
{
    return clock_now;
}

struct pair {
    struct hosts *w;
    uint32_t fx, fy;
    struct exchanges *x; /* of x's flow */
};

static void begin(struct pair *p, void **state)
{
    struct engine *a;

    p->w = *state;
    a = p->w->t.a;
    bench_connect(&p->w->t, &p->w->x, &p->w->y, &p->fx, &p->fy);
    host_put(&p->w->x, TOE_CMD_ACCEPT, 0, 0, p->fx, 0, 0);
    bench_run(&p->w->t, NS_PER_MS);
    assert_int_equal(exchange_begin(a, &p->w->x.qp->slots[p->fx]), 0);
    p->x = a->exchanges;
    p->x->clock = fake_clock;
    assert_int_equal(p->w->x.status->timed, p->fx + 1);
}

static void drop_commands(struct host *h)
{
    struct toe_cmd c;

    while (host_get(h, &c))
        continue;
}

/* y sends a request of n bytes. */
static void request(struct pair *p, uint32_t offset, uint32_t n)
{
    clock_now = p->w->t.now;
    host_send(&p->w->y, p->fy, offset, n);
    bench_run(&p->w->t, 100 * NS_PER_MS);
    drop_commands(&p->w->x);
}

/* x answers; its host's times are `after` ns after the notification, each. */
static void answer(struct pair *p, uint32_t offset, uint32_t n, const uint64_t after[4])
{
    struct toedev_stamps *s = &p->w->x.doorbells->stamps;
    uint64_t event = p->x->now.at[EXCHANGE_EVENT];

    s->taken = event + after[0];
    s->read = event + after[1];
    s->write = event + after[2];
    s->posted = event + after[3];
    clock_now = p->w->t.now;
    host_send(&p->w->x, p->fx, offset, n);
    bench_run(&p->w->t, 100 * NS_PER_MS);
    drop_commands(&p->w->x);
    drop_commands(&p->w->y);
}

static void test_requests_and_answers(void **state)
{
    static const uint64_t after[] = {10, 20, 30, 40};
    struct exchange out[EXCHANGES + 1];
    struct pair p;
    uint64_t first;
    unsigned i, k;

    begin(&p, state);
    for (i = 0; i < 3; i++) {
        request(&p, 100 * i, 100);
        answer(&p, 200 * i, 200, after);
    }
    assert_int_equal(exchange_copy(p.x, out, &first), 3);
    assert_int_equal(first, 0);
    for (i = 0; i < 3; i++) {
        const struct exchange *x = &out[i];

        assert_int_equal(x->bytes_in, 100);
        assert_int_equal(x->bytes_out, 200);
        assert_int_equal(x->at[EXCHANGE_BEFORE], i ? out[i - 1].at[EXCHANGE_OUT] : 0);
        for (k = EXCHANGE_IN; k < EXCHANGE_ACKED; k++)
            assert_true(x->at[k] != 0);
        for (k = 0; k < 4; k++)
            assert_int_equal(x->at[EXCHANGE_TAKEN + k], x->at[EXCHANGE_EVENT] + after[k]);
        /* The acknowledgement is that of the whole answer. */
        assert_true(x->at[EXCHANGE_ACKED] >= x->at[EXCHANGE_COMMAND]);
    }
}

/* A request in two segments counts from the second; further SENDs belong to the answer. */
static void test_parts_of_requests_and_answers(void **state)
{
    static const uint64_t after[] = {10, 20, 30, 40};
    struct exchange out[EXCHANGES + 1];
    struct pair p;
    uint64_t first, second;

    begin(&p, state);
    request(&p, 0, 100);
    second = p.w->t.now;
    request(&p, 100, 50);
    answer(&p, 0, 200, after);
    answer(&p, 200, 300, after);
    assert_int_equal(exchange_copy(p.x, out, &first), 1);
    assert_int_equal(out[0].bytes_in, 150);
    assert_int_equal(out[0].bytes_out, 500);
    assert_true(out[0].at[EXCHANGE_IN] >= second);
}

/* A client sends first: its exchange has no request. */
static void test_a_client(void **state)
{
    static const uint64_t after[] = {0, 0, 0, 0};
    struct exchange out[EXCHANGES + 1];
    struct pair p;
    uint64_t first;

    begin(&p, state);
    answer(&p, 0, 10, after);
    request(&p, 0, 100);
    assert_int_equal(exchange_copy(p.x, out, &first), 1);
    assert_int_equal(out[0].at[EXCHANGE_IN], 0);
    assert_int_equal(out[0].at[EXCHANGE_TAKEN], 0);
    assert_true(out[0].at[EXCHANGE_OUT] >= out[0].at[EXCHANGE_COMMAND]);
    assert_int_equal(p.x->now.at[EXCHANGE_BEFORE], out[0].at[EXCHANGE_OUT]);
}

/* Times of a host that are out of order are not known; those that the TOE takes itself are. */
static void test_times_of_a_host_are_not_trusted(void **state)
{
    static const struct {
        uint64_t after[4];
        int taken, read; /* known */
    } table[] = {
        {{10, 20, 30, 40}, 1, 1},         {{10, 5, 30, 40}, 1, 0},
        {{10, 35, 30, 40}, 1, 0},         {{10, 20, 50, 40}, 1, 1},
        {{10, 20, 30, 5}, 0, 0},          {{(uint64_t)-1, 20, 30, 40}, 0, 0},
        {{1ull << 40, 20, 30, 40}, 0, 0}, {{10, 20, 30, 1ull << 40}, 0, 0},
    };
    struct exchange out[EXCHANGES + 1];
    struct pair p;
    uint64_t first;
    uint32_t i;

    begin(&p, state);
    for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const struct exchange *x;

        request(&p, 100 * i, 100);
        answer(&p, 200 * i, 200, table[i].after);
        x = &out[exchange_copy(p.x, out, &first) - 1];
        assert_int_equal(x->at[EXCHANGE_TAKEN] != 0, table[i].taken);
        assert_int_equal(x->at[EXCHANGE_POSTED] != 0, table[i].taken);
        assert_int_equal(x->at[EXCHANGE_WRITE] != 0, table[i].taken);
        assert_int_equal(x->at[EXCHANGE_READ] != 0, table[i].read);
        assert_true(x->at[EXCHANGE_EVENT] && x->at[EXCHANGE_OUT] >= x->at[EXCHANGE_COMMAND]);
    }
}

static void test_old_ones_are_overwritten(void **state)
{
    static const uint64_t after[] = {10, 20, 30, 40};
    static struct exchange out[EXCHANGES + 1];
    struct pair p;
    uint64_t first;
    uint32_t i;

    begin(&p, state);
    for (i = 0; i < EXCHANGES + 10; i++) {
        p.x->until = UINT64_MAX;
        request(&p, i, 1);
        answer(&p, i, 1, after);
        assert_int_equal(p.w->t.a->timed != NULL, 1);
    }
    assert_int_equal(exchange_copy(p.x, out, &first), EXCHANGES + 1);
    assert_int_equal(first, 9);
}

static void test_the_lease_ends(void **state)
{
    struct exchange out[EXCHANGES + 1];
    struct pair p;
    struct slot *s;
    uint64_t first;

    begin(&p, state);
    s = &p.w->x.qp->slots[p.fx];
    bench_run(&p.w->t, EXCHANGE_LEASE / 2);
    assert_int_equal(exchange_begin(p.w->t.a, s), 0); /* renewed */
    bench_run(&p.w->t, EXCHANGE_LEASE / 2 + NS_PER_MS);
    request(&p, 0, 100);
    assert_ptr_equal(p.w->t.a->timed, s);
    bench_run(&p.w->t, EXCHANGE_LEASE);
    request(&p, 100, 100);
    assert_null(p.w->t.a->timed);
    assert_int_equal(p.w->x.status->timed, 0);
    assert_int_equal(exchange_begin(p.w->t.a, s), 0); /* from the start */
    assert_int_equal(exchange_copy(p.x, out, &first), 0);
}

static void test_one_flow_at_a_time(void **state)
{
    uint32_t gx, gy;
    struct slot *other;
    struct pair p;

    begin(&p, state);
    bench_connect(&p.w->t, &p.w->x, &p.w->y, &gx, &gy);
    other = &p.w->x.qp->slots[gx];
    assert_int_equal(exchange_begin(p.w->t.a, other), 1);
    assert_int_equal(p.w->x.status->timed, p.fx + 1);
    bench_run(&p.w->t, EXCHANGE_LEASE + NS_PER_MS);
    assert_int_equal(exchange_begin(p.w->t.a, other), 0);
    assert_int_equal(p.w->x.status->timed, gx + 1);
}

static void test_the_flow_ends(void **state)
{
    struct pair p;

    begin(&p, state);
    host_put(&p.w->x, TOE_CMD_CLOSE, TOE_F_CLOSE_ABORT, 0, p.fx, 0, 0);
    bench_run(&p.w->t, NS_PER_MS);
    assert_null(p.w->t.a->timed);
    assert_int_equal(p.w->x.status->timed, 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, hosts_setup, hosts_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_requests_and_answers),
        TEST(test_parts_of_requests_and_answers),
        TEST(test_a_client),
        TEST(test_times_of_a_host_are_not_trusted),
        TEST(test_old_ones_are_overwritten),
        TEST(test_the_lease_ends),
        TEST(test_one_flow_at_a_time),
        TEST(test_the_flow_ends),
    };

    return cmocka_run_group_tests_name("engine_exchange", tests, NULL, NULL);
}
