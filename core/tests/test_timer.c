/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_timer.c - the timer wheel against a naive list of deadlines, over short and long times.
 */
#include "bench.h"
#include "random.h"

#define TIMERS 200
#define TICK   (1ull << 20)

struct timed {
    struct toec_timer t;
    uint64_t deadline; /* 0: not set */
    unsigned fired;
};

struct model {
    struct toec_wheel w;
    struct timed timed[TIMERS];
    uint64_t now;
    unsigned fired;
    int chaos; /* handlers set and cancel timers */
    uint64_t span;
};

/* Returns the first poll time at which this deadline expires, if it was in the future when set. */
static uint64_t round_up(uint64_t deadline)
{
    return (deadline + TICK - 1) / TICK * TICK;
}

static void set(struct model *m, struct timed *x, uint64_t deadline)
{
    toec_wheel_set(&m->w, &x->t, TOEC_TMR_TCP, deadline);
    x->deadline = deadline;
    assert_true(toec_timer_pending(&x->t));
}

static void cancel(struct model *m, struct timed *x)
{
    toec_wheel_cancel(&m->w, &x->t);
    x->deadline = 0;
    assert_false(toec_timer_pending(&x->t));
}

static void fire(void *user, struct toec_timer *t, enum toec_timer_kind kind, toec_time now)
{
    struct model *m = user;
    struct timed *x = TOEC_CONTAINER(t, struct timed, t);

    assert_int_equal(kind, TOEC_TMR_TCP);
    assert_true(now == m->now);
    assert_false(toec_timer_pending(t));
    assert_true(x->deadline != 0 && x->deadline <= now); /* set, and not expired early */
    x->deadline = 0;
    x->fired++;
    m->fired++;
    if (m->chaos) {
        cancel(m, &m->timed[random_below(TIMERS)]);
        set(m, &m->timed[random_below(TIMERS)], now + 1 + random64() % m->span);
    }
}

static void run(struct model *m, uint64_t now)
{
    unsigned i, fired;

    m->now = now;
    do {
        fired = m->fired;
        toec_wheel_run(&m->w, now, fire, m);
        assert_in_range(m->fired - fired, 0, TOEC_WHEEL_MOST);
    } while (m->fired - fired == TOEC_WHEEL_MOST);
    for (i = 0; i < TIMERS; i++) { /* timers still set are not yet due */
        assert_int_equal(toec_timer_pending(&m->timed[i].t), m->timed[i].deadline != 0);
        if (m->timed[i].deadline)
            assert_true(round_up(m->timed[i].deadline) > now / TICK * TICK);
    }
}

static uint64_t earliest(const struct model *m)
{
    uint64_t min = UINT64_MAX;
    unsigned i;

    for (i = 0; i < TIMERS; i++)
        if (m->timed[i].deadline && m->timed[i].deadline < min)
            min = m->timed[i].deadline;
    return min;
}

static struct model *model_new(uint64_t start)
{
    struct model *m = calloc(1, sizeof(*m));

    assert_non_null(m);
    m->now = start;
    toec_wheel_init(&m->w, start);
    return m;
}

static void random_against_naive(struct model *m, uint64_t span, unsigned rounds)
{
    unsigned i;

    m->span = span;
    for (i = 0; i < rounds; i++) {
        struct timed *x = &m->timed[random_below(TIMERS)];
        uint64_t next;

        if (random_below(4) == 0)
            cancel(m, x);
        else
            set(m, x, m->now + 1 + random64() % span);
        if (random_below(3))
            continue;
        next = toec_wheel_next(&m->w, m->now);
        if (earliest(m) == UINT64_MAX) {
            assert_true(next == TOEC_NEVER);
            continue;
        }
        assert_true(next <= round_up(earliest(m)));
        run(m,
            random_below(2) ? (next > m->now ? next : m->now) : m->now + random64() % (span / 2));
    }
}

static void agrees_with_naive(void **state)
{
    static const uint64_t spans[] = {4 * TICK,
                                     40 * TICK,
                                     2000 * TICK,
                                     70000 * TICK,
                                     40000000 * TICK,
                                     0x80000100ull * TICK,
                                     0xbffffff0ull * TICK};
    struct model *m;
    unsigned i;

    (void)state;
    random_begin(7);
    for (i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
        m = model_new(random64() >> 8);
        m->chaos = i % 2;
        random_against_naive(m, spans[i], 20000);
        assert_true(m->fired > 100);
        free(m);
    }
}

/* Ticks are modulo 2^32: the test crosses the wrap often. */
static void survives_wrap(void **state)
{
    struct model *m;
    unsigned i;

    (void)state;
    random_begin(8);
    for (i = 0; i < 50; i++) {
        m = model_new(((1ull << 32) - 1 - random_below(100)) * TICK);
        random_against_naive(m, 1000 * TICK, 400);
        free(m);
    }
}

/* Polling at each returned deadline reaches a timer in at most one step per level. */
static void few_wakeups(void **state)
{
    static const uint64_t delays[] = {
        1, TICK, 33 * TICK, 200 * TICK, 72000000ull * TICK, 0xbffffffeull * TICK};
    struct model *m;
    unsigned i, steps;

    (void)state;
    for (i = 0; i < sizeof(delays) / sizeof(delays[0]); i++) {
        m = model_new(123456789ull * TICK + 5);
        set(m, &m->timed[0], m->now + delays[i]);
        for (steps = 0; m->fired == 0; steps++)
            run(m, toec_wheel_next(&m->w, m->now));
        assert_true(steps <= TOEC_WHEEL_LEVELS);
        assert_true(m->now < 123456789ull * TICK + 5 + delays[i] + TICK); /* at most a tick late */
        assert_true(toec_wheel_next(&m->w, m->now) == TOEC_NEVER);
        free(m);
    }
}

/* A long sleep skips empty slots at once and still expires timers in the order of ticks. */
static void long_jump(void **state)
{
    struct model *m = model_new(0);
    unsigned i;

    (void)state;
    for (i = 0; i < TIMERS; i++)
        set(m, &m->timed[i], 1 + i * 7919ull * TICK);
    run(m, 0x20000000ull * TICK);
    assert_int_equal(m->fired, TIMERS);
    free(m);
}

static void past_deadline_waits_for_next_run(void **state)
{
    struct model *m = model_new(1000 * TICK);

    (void)state;
    run(m, 1001 * TICK);
    set(m, &m->timed[0], 500 * TICK);
    assert_true(toec_wheel_next(&m->w, m->now) == m->now);
    run(m, m->now);
    assert_int_equal(m->fired, 1);
    set(m, &m->timed[0], 500 * TICK);
    cancel(m, &m->timed[0]);
    assert_true(toec_wheel_next(&m->w, m->now) == TOEC_NEVER);
    free(m);
}

/* A deadline beyond the range of the wheel is shortened to the longest delay, never taken for the
 * past. */
static void endless_deadline_is_cut(void **state)
{
    struct model *m = model_new(77 * TICK);

    (void)state;
    set(m, &m->timed[0], TOEC_NEVER);
    m->timed[0].deadline = (77 + 0xbfffffffull) * TICK;
    run(m, (77 + 0xbffffffeull) * TICK);
    assert_int_equal(m->fired, 0);
    run(m, (77 + 0xbfffffffull) * TICK);
    assert_int_equal(m->fired, 1);
    free(m);
}

struct pair {
    struct toec_wheel w;
    struct toec_timer t[2];
    unsigned fired;
};

static void cancel_other(void *user, struct toec_timer *t, enum toec_timer_kind kind, toec_time now)
{
    struct pair *p = user;

    (void)kind, (void)now;
    p->fired++;
    toec_wheel_cancel(&p->w, &p->t[t == &p->t[0]]);
}

static void handler_cancels_one_due_with_it(void **state)
{
    struct pair p;

    (void)state;
    memset(&p, 0, sizeof(p));
    toec_wheel_init(&p.w, 0);
    toec_wheel_set(&p.w, &p.t[0], TOEC_TMR_TCP, 5 * TICK);
    toec_wheel_set(&p.w, &p.t[1], TOEC_TMR_TCP, 5 * TICK);
    toec_wheel_run(&p.w, 10 * TICK, cancel_other, &p);
    assert_int_equal(p.fired, 1);
    assert_true(toec_wheel_next(&p.w, 10 * TICK) == TOEC_NEVER);
}

/* Many timers expire in one tick: the wheel returns in between so that frames are served, and loses
 * no timer. One that has not yet expired may be cancelled or set again like any other. */
static void many_at_once_have_several_turns(void **state)
{
    struct model *m = model_new(0);
    unsigned i;

    (void)state;
    for (i = 0; i < TIMERS; i++)
        set(m, &m->timed[i], (1 + i % 3) * TICK);
    m->now = 10 * TICK;
    toec_wheel_run(&m->w, m->now, fire, m);
    assert_int_equal(m->fired, TOEC_WHEEL_MOST);
    assert_true(toec_wheel_next(&m->w, m->now) == m->now);
    for (i = 0; i < TIMERS && !m->timed[i].deadline; i++)
        ;
    cancel(m, &m->timed[i]);
    for (; !m->timed[i].deadline; i++)
        ;
    set(m, &m->timed[i], 20 * TICK);
    run(m, m->now);
    assert_int_equal(m->fired, TIMERS - 2);
    assert_true(toec_wheel_next(&m->w, m->now) > m->now);
    run(m, 20 * TICK);
    assert_int_equal(m->fired, TIMERS - 1);
    assert_true(toec_wheel_next(&m->w, m->now) == TOEC_NEVER);
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_naive),
        cmocka_unit_test(survives_wrap),
        cmocka_unit_test(few_wakeups),
        cmocka_unit_test(long_jump),
        cmocka_unit_test(past_deadline_waits_for_next_run),
        cmocka_unit_test(endless_deadline_is_cut),
        cmocka_unit_test(handler_cancels_one_due_with_it),
        cmocka_unit_test(many_at_once_have_several_turns),
    };

    return cmocka_run_group_tests_name("timer", tests, 0, 0);
}
