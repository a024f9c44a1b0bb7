/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_moderation.c - the delay of frames that follows the load, in virtual time: where it settles
 * and how fast, that it stays there, and that clients who wait for answers are not slowed down.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/moderation.h"

#define SEEDS  200u
#define SETTLE 12u  /* windows after which the level is found */
#define LONG   400u /* windows of a constant load */
#define SECOND (1000000000ull / MODERATION_WINDOW)
#define SMALL  64u /* bytes of a frame */
#define FULL   1514u

struct random {
    uint64_t state;
};

/* xorshift64*: Marsaglia 2003, Vigna 2016. */
static uint64_t below(struct random *r, uint64_t n)
{
    r->state ^= r->state >> 12;
    r->state ^= r->state << 25;
    r->state ^= r->state >> 27;
    return (r->state * 2685821657736338717ull >> 16) % n;
}

static struct random seeded(uint64_t seed)
{
    return (struct random){seed * 0x9e3779b97f4a7c15ull + 1};
}

static void window(struct moderation *m, uint64_t rate, uint32_t bytes)
{
    struct moderation_sample s = {.ns = MODERATION_WINDOW,
                                  .load.frames = rate * MODERATION_WINDOW / 1000000000ull};

    s.load.bytes = s.load.frames * bytes;
    moderation_decide(m, &s);
}

/* Frames arrive at this rate, give or take three percent, whatever the delay. */
static void open_window(struct moderation *m, struct random *r, uint64_t rate, uint32_t bytes)
{
    window(m, rate * (970 + below(r, 61)) / 1000, bytes);
}

/* Clients that wait for each answer: one frame per round trip of us and the delay. */
static void closed_window(struct moderation *m, uint64_t clients, uint64_t us)
{
    window(m, clients * 1000000u / (us + moderation_delay(m)), SMALL);
}

struct range {
    uint8_t least, most;
};

static struct range levels(struct moderation *m, struct random *r, uint64_t rate, uint32_t bytes,
                           unsigned windows)
{
    struct range seen = {m->level, m->level};

    while (windows--) {
        open_window(m, r, rate, bytes);
        seen.least = m->level < seen.least ? m->level : seen.least;
        seen.most = m->level > seen.most ? m->level : seen.most;
    }
    return seen;
}

static void a_constant_load_settles_on_neighbours(void **state)
{
    uint64_t seed;

    (void)state;
    for (seed = 1; seed <= SEEDS; seed++) {
        struct random r = seeded(seed);
        uint64_t rate = 1000 + below(&r, 1000000);
        struct moderation m = {0};
        struct range seen;

        levels(&m, &r, rate, SMALL, SETTLE);
        seen = levels(&m, &r, rate, SMALL, LONG);
        assert_in_range(seen.most - seen.least, 0, 1);
        assert_int_equal(m.refusals, 0);
    }
}

static void every_step_of_load_settles_again(void **state)
{
    uint64_t seed;
    unsigned step;

    (void)state;
    for (seed = 1; seed <= SEEDS; seed++) {
        struct random r = seeded(seed);
        struct moderation m = {0};

        for (step = 0; step < 8; step++) {
            uint64_t rate = 1000 + below(&r, 500000);
            struct range seen;

            levels(&m, &r, rate, SMALL, SETTLE + 60); /* a refusal at the step holds 20 windows */
            seen = levels(&m, &r, rate, SMALL, 40);
            assert_in_range(seen.most - seen.least, 0, 1);
        }
    }
}

/* Up to the level in single steps, without a turn; down when the load ends. */
static void a_step_is_followed_without_a_turn(void **state)
{
    struct random r = seeded(1);
    struct moderation m = {0};
    uint8_t before = 0;
    unsigned i;

    (void)state;
    levels(&m, &r, 10000, SMALL, SETTLE);
    assert_int_equal(moderation_delay(&m), 0);
    for (i = 0; i < SETTLE; i++) {
        open_window(&m, &r, 120000, SMALL);
        assert_in_range(m.level, before, before + 1u);
        before = m.level;
    }
    assert_int_equal(moderation_delay(&m), 250); /* 30 frames; 100 us would have 12 */
    open_window(&m, &r, 10000, SMALL);
    if (m.level)
        open_window(&m, &r, 10000, SMALL);
    assert_int_equal(moderation_delay(&m), 0);
}

static void light_loads_are_never_delayed(void **state)
{
    uint64_t seed;

    (void)state;
    for (seed = 1; seed <= SEEDS; seed++) {
        struct random r = seeded(seed);
        struct moderation m = {0};
        unsigned i;

        for (i = 0; i < LONG; i++) {
            window(&m, below(&r, 99000), SMALL);
            assert_int_equal(moderation_delay(&m), 0);
        }
    }
}

static void a_stream_of_a_gigabit_is_delayed(void **state)
{
    struct random r = seeded(1);
    struct moderation m = {0};
    struct range seen;

    (void)state;
    levels(&m, &r, 82000, FULL, SETTLE);
    seen = levels(&m, &r, 82000, FULL, LONG);
    assert_int_equal(seen.least, MODERATION_LEVELS - 1);
    /* Half of it is worth it for a stream, not for small frames. */
    m = (struct moderation){0};
    levels(&m, &r, 41000, FULL, SETTLE);
    assert_int_equal(moderation_delay(&m), 250);
    m = (struct moderation){0};
    levels(&m, &r, 41000, SMALL, SETTLE);
    assert_int_equal(moderation_delay(&m), 0);
}

static void many_frames_need_no_long_delay(void **state)
{
    static const struct {
        uint32_t rate, us;
    } cases[] = {{110000, 250}, {200000, 100}, {400000, 50}, {2000000, 25}};
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct random r = seeded(i + 1);
        struct moderation m = {0};

        levels(&m, &r, cases[i].rate, SMALL, SETTLE);
        assert_int_equal(moderation_delay(&m), cases[i].us);
    }
}

/* Clients that a delay slows down: it is tried for less than three percent of a minute. */
static void clients_that_wait_are_hardly_slowed_down(void **state)
{
    uint64_t seed;

    (void)state;
    for (seed = 1; seed <= SEEDS; seed++) {
        struct random r = seeded(seed);
        uint64_t clients = 1 + below(&r, 64), us = 40 + below(&r, 160);
        struct moderation m = {0};
        unsigned i, delayed = 0;

        for (i = 0; i < 60 * SECOND; i++) {
            delayed += moderation_delay(&m) != 0;
            closed_window(&m, clients, us);
        }
        assert_in_range(delayed, 0, 60 * SECOND * 3 / 100);
    }
}

/* A stream, and clients that wait after it at the rate that the delay leaves them. */
static void another_load_is_measured_again(void **state)
{
    struct random r = seeded(1);
    struct moderation m = {0};
    unsigned i, delayed = 0;

    (void)state;
    levels(&m, &r, 300000, SMALL, LONG);
    assert_int_not_equal(moderation_delay(&m), 0);
    for (i = 0; i < 10 * SECOND; i++) {
        closed_window(&m, 16, 60);
        delayed += moderation_delay(&m) != 0;
    }
    assert_in_range(delayed, 0, SECOND);
}

static void one_pause_of_the_machine_changes_nothing(void **state)
{
    struct random r = seeded(1);
    struct moderation m = {0};

    (void)state;
    levels(&m, &r, 82000, FULL, SETTLE + 1);
    window(&m, 30000, FULL);
    assert_int_equal(moderation_delay(&m), 250);
    open_window(&m, &r, 82000, FULL);
    window(&m, 30000, FULL);
    assert_int_equal(moderation_delay(&m), 250);
    window(&m, 30000, FULL); /* twice in a row: another load */
    assert_int_equal(moderation_delay(&m), 0);
    assert_int_equal(m.hold, 0);
}

static void windows_are_cut_by_time(void **state)
{
    struct moderation m = {0};
    struct moderation_load all = {UINT64_MAX - 1000, UINT64_MAX - 1000}; /* the counts wrap */
    uint64_t now = 1;

    (void)state;
    (void)moderation_usec(&m, &all, now);
    m = (struct moderation){.since = now, .before = all};
    while (moderation_usec(&m, &all, now) == 0) {
        now += 100000;
        all.frames += 12;
        all.bytes += 12 * SMALL;
        assert_in_range(now, 0, 3ull * MODERATION_WINDOW);
    }
    assert_int_equal(now, 1 + 2ull * MODERATION_WINDOW);
    assert_int_equal(moderation_usec(&m, &all, now), 25);
    /* A sleep without frames is one window. */
    assert_int_equal(moderation_usec(&m, &all, now + 3600 * 1000000000ull), 0);
}

static void words_of_the_setting(void **state)
{
    (void)state;
    assert_int_equal(moderation_parse("auto"), MODERATION_AUTO);
    assert_int_equal(moderation_parse("off"), 0);
    assert_int_equal(moderation_parse("250"), 250);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_constant_load_settles_on_neighbours),
        cmocka_unit_test(every_step_of_load_settles_again),
        cmocka_unit_test(a_step_is_followed_without_a_turn),
        cmocka_unit_test(light_loads_are_never_delayed),
        cmocka_unit_test(a_stream_of_a_gigabit_is_delayed),
        cmocka_unit_test(many_frames_need_no_long_delay),
        cmocka_unit_test(clients_that_wait_are_hardly_slowed_down),
        cmocka_unit_test(another_load_is_measured_again),
        cmocka_unit_test(one_pause_of_the_machine_changes_nothing),
        cmocka_unit_test(windows_are_cut_by_time),
        cmocka_unit_test(words_of_the_setting),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
