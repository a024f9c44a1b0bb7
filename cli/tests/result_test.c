/* SPDX-License-Identifier: Apache-2.0 */
/* result_test.c - percentiles, deviation and bins against those of the sorted samples. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../rtt/result.h"

#define N 20000u

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Times that spread over `octaves` doublings from `least` on. */
static void fill(struct result *r, uint64_t *v, uint64_t least, unsigned octaves)
{
    uint64_t x = 88172645463325252ull;
    unsigned i;

    assert_true(result_init(r, 1000000000u));
    for (i = 0; i < N; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        v[i] = least + x % (least << (x >> 32) % (octaves + 1));
        result_sample(r, i * 1000000ull, v[i], i, 0);
    }
    qsort(v, N, sizeof *v, by_size);
}

static void test_percentiles_are_those_of_the_samples(void **state)
{
    static uint64_t v[N];
    static const double percents[] = {0.01, 1, 25, 50, 90, 99, 99.9, 100};
    struct result r = {0};
    size_t i;

    (void)state;
    fill(&r, v, 350, 24);
    assert_int_equal(result_samples(&r), N);
    for (i = 0; i < sizeof percents / sizeof percents[0]; i++) {
        uint64_t want = v[(size_t)ceil(percents[i] / 100 * N) - 1];
        uint64_t got = hist_percentile(r.hist, percents[i]);

        /* counters resolve three digits and return their largest value */
        assert_true(got >= want && got <= want + want / 1000 + 1);
    }
    assert_int_equal(r.min, v[0]);
    assert_int_equal(r.max, v[N - 1]);
    result_free(&r);
}

static void test_mean_and_deviation(void **state)
{
    static const uint64_t v[] = {2, 4, 4, 4, 5, 5, 7, 9};
    struct result r = {0};
    size_t i;

    (void)state;
    assert_true(result_init(&r, 1000000000u));
    assert_true(result_mean(&r) == 0 && result_deviation(&r) == 0);
    for (i = 0; i < 8; i++)
        result_sample(&r, i, v[i], i, 0);
    assert_true(result_mean(&r) == 5);
    assert_true(result_deviation(&r) == 2);
    result_free(&r);
}

static void check_bins(const struct result *r, unsigned want)
{
    struct bin bins[BINS_MAX];
    unsigned n = result_bins(r, bins, want), i;
    uint64_t sum = 0;

    assert_in_range(n, 1, want);
    for (i = 0; i < n; i++) {
        assert_true(bins[i].from < bins[i].to);
        assert_true(i == 0 || bins[i].from == bins[i - 1].to);
        sum += bins[i].count;
    }
    assert_int_equal(bins[0].from, r->min);
    assert_int_equal(bins[n - 1].to, r->max + 1);
    assert_int_equal(sum, result_samples(r));
}

static void test_bins_have_each_sample_once(void **state)
{
    static uint64_t v[N];
    unsigned octaves, want;

    (void)state;
    for (octaves = 0; octaves < 30; octaves += 3) {
        struct result r = {0};

        fill(&r, v, 97, octaves);
        for (want = 1; want <= BINS_MAX; want++)
            check_bins(&r, want);
        result_free(&r);
    }
}

static void test_few_samples_have_few_bins(void **state)
{
    struct result r = {0};
    struct bin bins[BINS_MAX];

    (void)state;
    assert_true(result_init(&r, 1000000000u));
    assert_int_equal(result_bins(&r, bins, 16), 0);
    result_sample(&r, 0, 7, 0, 0);
    assert_int_equal(result_bins(&r, bins, 16), 1);
    check_bins(&r, 16);
    result_sample(&r, 0, 9, 0, 0);
    assert_int_equal(result_bins(&r, bins, 16), 3);
    check_bins(&r, 16);
    result_free(&r);
}

/* The histogram and totals of a module give the same result as its samples. */
static void test_totals_are_as_samples(void **state)
{
    struct result one = {0}, all = {0};
    unsigned i;

    (void)state;
    assert_true(result_init(&one, 1000000000u) && result_init(&all, 1000000000u));
    for (i = 0; i < 10; i++)
        result_sample(&one, 5, 400 + 4 * (i % 2), i, 0);
    result_bin(&all, 400, 5);
    result_bin(&all, 404, 5);
    result_bin(&all, 408, 0);
    result_totals(&all, 5, 10, 4020, 5 * 400.0 * 400 + 5 * 404.0 * 404, 400, 404);
    result_totals(&all, 6, 0, 0, 0, UINT64_MAX, 0);
    assert_true(result_mean(&one) == result_mean(&all));
    assert_true(result_deviation(&one) == result_deviation(&all));
    assert_true(one.min == all.min && one.max == all.max);
    assert_int_equal(hist_percentile(one.hist, 50), hist_percentile(all.hist, 50));
    assert_int_equal(all.intervals[0].samples, 10);
    assert_int_equal(all.interval_count, 1);
    result_free(&one);
    result_free(&all);
}

static void test_intervals_follow_time(void **state)
{
    struct result r = {0};

    (void)state;
    assert_true(result_init(&r, 1000));
    result_sample(&r, 10, 5, 0, 0);
    result_sample(&r, 999, 7, 1, 0);
    result_sample(&r, 5001, 9, 2, 0);
    assert_int_equal(r.interval_count, 2);
    assert_int_equal(r.intervals[0].samples, 2);
    assert_true(r.intervals[0].sum == 12);
    assert_int_equal(r.intervals[1].at_ns, 5000);
    result_free(&r);
}

static void test_counters_and_flows_have_names(void **state)
{
    struct result r = {0};

    (void)state;
    assert_true(result_init(&r, 1000));
    ++*result_count(&r, "lost", "text");
    ++*result_count(&r, "lost", "text");
    assert_int_equal(result_counted(&r, "lost"), 2);
    assert_int_equal(result_counted(&r, "other"), 0);
    assert_int_equal(result_flow(&r, "a"), 0);
    assert_int_equal(result_flow(&r, "b"), 1);
    assert_int_equal(result_flow(&r, "a"), 0);
    result_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_percentiles_are_those_of_the_samples),
        cmocka_unit_test(test_mean_and_deviation),
        cmocka_unit_test(test_bins_have_each_sample_once),
        cmocka_unit_test(test_few_samples_have_few_bins),
        cmocka_unit_test(test_totals_are_as_samples),
        cmocka_unit_test(test_intervals_follow_time),
        cmocka_unit_test(test_counters_and_flows_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
