/* SPDX-License-Identifier: Apache-2.0 */
/* tsc_test.c - the clock of toe/tsc.h against CLOCK_MONOTONIC: read continuously, after sleeps of
 * several lengths, and with its calibration corrupted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <toe/tsc.h>

#define MS       1000000u
#define OFF_MOST (100u * 1000) /* promised are tens of nanoseconds */

/* Between two readings of the clock, with a tolerance. */
static void check(struct toe_tsc *c)
{
    uint64_t before = toe_tsc_clock(), now = toe_tsc_now(c), after = toe_tsc_clock();

    assert_true(now + OFF_MOST >= before);
    assert_true(now <= after + OFF_MOST);
}

static void asked_all_the_time_it_is_the_clock(void **state)
{
    struct toe_tsc c = {0};
    uint64_t end = toe_tsc_clock() + 50 * MS;

    (void)state;
    while (toe_tsc_clock() < end)
        check(&c);
}

static void after_a_sleep_it_is_the_clock(void **state)
{
    static const long sleeps[] = {100000, 400000, 900000, 2 * MS, 20 * MS};
    struct toe_tsc c = {0};
    unsigned i, n;

    (void)state;
    for (i = 0; i < 4 * sizeof(sleeps) / sizeof(sleeps[0]); i++) {
        struct timespec t = {0, sleeps[i % (sizeof(sleeps) / sizeof(sleeps[0]))]};

        nanosleep(&t, NULL);
        for (n = 0; n < 100; n++)
            check(&c);
    }
}

#if defined(__x86_64__)
/* A thread delayed between the two readings does not treat them as simultaneous. */
static void a_wait_between_counter_and_clock_is_seen(void **state)
{
    struct timespec t = {0, 2 * MS};
    struct toe_tsc c = {0};
    unsigned i;

    (void)state;
    for (i = 0; i < 5; i++) {
        uint64_t end = toe_tsc_clock() + 3 * MS, at;

        while (toe_tsc_clock() < end)
            check(&c);
        at = __rdtsc();
        nanosleep(&t, NULL);
        (void)toe_tsc_resync(&c, at);
        check(&c);
    }
}
#endif

/* A counter that stopped, ran ahead or restarted (another CPU) is detected within a millisecond. */
static void a_counter_that_jumps_is_found(void **state)
{
    static const int64_t jumps[] = {-1000000000, 1000000000, INT64_MIN / 2, INT64_MAX / 2};
    struct toe_tsc c = {0};
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(jumps) / sizeof(jumps[0]); i++) {
        uint64_t end = toe_tsc_clock() + 5 * MS;

        while (toe_tsc_clock() < end)
            (void)toe_tsc_now(&c);
        (void)toe_tsc_now(&c); /* the last one may be of before a long wait for the processor */
        c.base_tsc += (uint64_t)jumps[i];
        (void)toe_tsc_now(&c); /* out of range: reads CLOCK_MONOTONIC */
        check(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asked_all_the_time_it_is_the_clock),
        cmocka_unit_test(after_a_sleep_it_is_the_clock),
#if defined(__x86_64__)
        cmocka_unit_test(a_wait_between_counter_and_clock_is_seen),
#endif
        cmocka_unit_test(a_counter_that_jumps_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
