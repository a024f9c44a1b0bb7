/* SPDX-License-Identifier: Apache-2.0 */
/* test_hist.c - the histogram against sorted values, and its counters at their edges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hlog.h"

#define N 20000

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* The ranges of neighbouring counters are adjacent, and at most 0.1 % wide. */
static void test_counters_have_no_gap(void **state)
{
    uint64_t low = 0;
    uint32_t i;

    (void)state;
    for (i = 0; i < HIST_COUNTS; i++) {
        uint64_t high = hist_highest_of(i);

        if (low > (uint64_t)HIST_HIGHEST)
            break;
        assert_int_equal(hist_index(low), i);
        if (high <= (uint64_t)HIST_HIGHEST)
            assert_int_equal(hist_index(high), i);
        assert_true((high - low) * 1000 <= high);
        low = high + 1;
    }
    assert_true(low > (uint64_t)HIST_HIGHEST);
}

static void test_percentiles_are_those_of_sorted_values(void **state)
{
    static const double percents[] = {0, 1, 50, 90, 99, 99.9, 99.99, 100};
    static uint64_t v[N];
    struct hist *h = hist_new();
    uint64_t seed = 42, sum = 0;
    size_t i;

    (void)state;
    for (i = 0; i < N; i++) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        v[i] = (seed >> 33) >> (seed >> 59); /* of all sizes */
        sum += v[i];
        hist_record(h, v[i]);
    }
    qsort(v, N, sizeof v[0], by_value);
    assert_int_equal(h->total, N);
    assert_int_equal(h->min, v[0]);
    assert_int_equal(h->max, v[N - 1]);
    assert_true((uint64_t)h->sum == sum);
    for (i = 0; i < sizeof percents / sizeof percents[0]; i++) {
        size_t rank = (size_t)(percents[i] / 100 * N + 0.999999);
        uint64_t want = v[rank ? rank - 1 : 0], got = hist_percentile(h, percents[i]);

        assert_true(got >= want && (got - want) * 1000 <= want);
    }
    assert_int_equal(hist_at_least(h, 0), N);
    assert_int_equal(hist_at_least(h, v[N - 1]), 1);
    free(h);
}

static void test_an_hour_is_the_most_and_nothing_is_zero(void **state)
{
    struct hist *h = hist_new();

    (void)state;
    assert_int_equal(hist_percentile(h, 50), 0);
    hist_record(h, UINT64_MAX);
    assert_int_equal(hist_at_least(h, HIST_HIGHEST), 1);
    assert_int_equal(h->high, hist_index(HIST_HIGHEST) + 1);
    assert_true(h->high <= HIST_COUNTS);
    hist_reset(h);
    assert_int_equal(h->total, 0);
    assert_int_equal(hist_at_least(h, 0), 0);
    free(h);
}

static void test_sums_are_as_if_recorded_in_one(void **state)
{
    struct hist *a = hist_new(), *b = hist_new(), *one = hist_new();
    uint64_t i;

    (void)state;
    for (i = 1; i < 1000; i++) {
        hist_record(i % 3 ? a : b, i * i);
        hist_record(one, i * i);
    }
    hist_add(a, b);
    assert_memory_equal(a, one, sizeof *a);
    free(a);
    free(b);
    free(one);
}

/* tests/system/test_loadgen.py decodes the rest. */
static void test_the_encoding_begins_as_the_format_says(void **state)
{
    struct hist *h = hist_new();
    char *text;

    (void)state;
    hist_record(h, 1000);
    text = hist_encode(h);
    assert_memory_equal(text, "HISTFAAA", 8); /* 0x1c849314, a length below 65536 */
    free(text);
    free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counters_have_no_gap),
        cmocka_unit_test(test_percentiles_are_those_of_sorted_values),
        cmocka_unit_test(test_an_hour_is_the_most_and_nothing_is_zero),
        cmocka_unit_test(test_sums_are_as_if_recorded_in_one),
        cmocka_unit_test(test_the_encoding_begins_as_the_format_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
