/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune_trial_test.c - the whole measurement of `toehold tune` in made-up environments with a known
 * answer, in virtual time: this file takes the place of the machine, the workload and the clock.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../tune/trial.h"

#define SEEDS 200

/* ---- the environment ---- */

/* What a setting does, as factors of the base. */
struct effect {
    const char *name;
    double throughput, cpu, latency;
};

static struct {
    const struct effect *effects; /* NULL name ends them; a name may be part of a setting's */
    double noise;                 /* standard deviation of the logarithm of a sample */
    double busiest, run_seconds, seconds;
    const char *fails;     /* the setting whose runs fail */
    unsigned runs, signal; /* a signal comes in this run, 0: never */
    uint64_t random;
} world;

static double uniform(void)
{
    world.random ^= world.random << 13;
    world.random ^= world.random >> 7;
    world.random ^= world.random << 17;
    return ((double)(world.random >> 11) + 0.5) / 9007199254740992.0;
}

static double noisy(double value)
{
    return value *
           exp(world.noise * sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform()));
}

double tune_now(void)
{
    return world.seconds;
}

int tune_signal(void)
{
    return 0;
}

bool tune_change(const struct tune_state *target, char *why, size_t why_size)
{
    (void)target;
    (void)why;
    (void)why_size;
    return true;
}

bool tune_effective(const struct tune_state *before, const struct tune_setting *s, char *why,
                    size_t why_size)
{
    (void)before;
    (void)s;
    (void)why;
    (void)why_size;
    return true;
}

enum tune_end tune_run_once(const struct tune_workload *w, const struct tune_setting *s,
                            double limit, struct tune_result *r)
{
    double throughput = 1000, cpu = 1e-4, latency = 1e5;
    const struct effect *e;

    (void)w;
    memset(r, 0, sizeof *r);
    r->unit = "requests/s";
    r->seconds = fmin(limit, world.run_seconds);
    world.seconds += r->seconds;
    if (++world.runs == world.signal)
        return TUNE_SIGNALLED;
    if (world.run_seconds > limit)
        return TUNE_TIMED_OUT;
    r->failed = world.fails && !strcmp(world.fails, s->name);
    snprintf(r->why, sizeof r->why, "the workload ended with 1");
    for (e = world.effects; e->name; e++)
        if (strstr(s->name, e->name)) {
            throughput *= e->throughput;
            cpu *= e->cpu;
            latency *= e->latency;
        }
    r->sample.metric[TUNE_THROUGHPUT] = noisy(throughput);
    r->sample.metric[TUNE_CPU] = noisy(cpu);
    r->sample.metric[TUNE_P50] = noisy(latency);
    r->sample.metric[TUNE_P99] = noisy(3 * latency);
    r->sample.busiest = world.busiest;
    return TUNE_ENDED;
}

/* ---- one measurement ---- */

static char *const command[] = {(char *)"true", NULL};

static struct {
    struct tune_trial trial;
    struct tune_workload workload;
    struct tune_settings settings;
    struct tune_conclusion_of conclusion;
    struct tune_state before;
} run;

static void add(const char *name, enum tune_place place, uint32_t flip)
{
    struct tune_setting *s = &run.settings.all[run.settings.count++];

    s->place = place;
    s->nic_flip = flip;
    snprintf(s->name, sizeof s->name, "%s", name);
}

static void prepare(const struct effect *effects, double noise, double busiest, unsigned seed)
{
    memset(&run, 0, sizeof run);
    memset(&world, 0, sizeof world);
    world.effects = effects;
    world.noise = noise;
    world.busiest = busiest;
    world.random = 0x9e3779b97f4a7c15u * (seed + 1);
    world.run_seconds = 0.5;
    add("as it is", TUNE_KERNEL, 0);
    add("toed", TUNE_TOED, 0);
    add("inline", TUNE_INLINE, 0);
    add("tso off", TUNE_KERNEL, 1u << NIC_TSO);
    add("gro on", TUNE_KERNEL, 1u << NIC_GRO);
    add("buffers 4M", TUNE_KERNEL, 0);
    run.settings.all[5].buffers = 4 << 20;
    run.workload.command = command;
    run.trial.workload = &run.workload;
    run.trial.before = &run.before;
    run.trial.budget = 60;
    run.trial.most = TUNE_ROUNDS_MAX;
    run.trial.quiet = true;
}

static enum tune_tried measure(void)
{
    return tune_try(&run.trial, &run.workload, &run.settings, &run.conclusion);
}

static const char *best(void)
{
    return run.trial.rows[run.conclusion.best].setting.name;
}

static const struct tune_row *row(const char *name)
{
    size_t i;

    for (i = 0; i < run.trial.count; i++)
        if (!strcmp(run.trial.rows[i].setting.name, name))
            return &run.trial.rows[i];
    fail_msg("no row %s", name);
    return NULL;
}

/* ---- environments with a known answer ---- */

/* The CPU is the limit: work that leaves it is throughput (SEEDS S3.4). */
static const struct effect cpu_bound[] = {{"toed", 1.3, 0.75, 0.8},
                                          {"inline", 1.12, 0.9, 0.9},
                                          {"tso off", 0.7, 1.4, 1.4},
                                          {"gro on", 1.02, 0.99, 1},
                                          {NULL, 0, 0, 0}};

/* The load is small: a TOE only burns CPU that polls, offloads save CPU that is idle. */
static const struct effect idle[] = {{"toed", 1, 3, 0.7},
                                     {"inline", 1, 1.4, 1.1},
                                     {"tso off", 1, 1.1, 1},
                                     {"gro on", 1, 0.8, 1},
                                     {NULL, 0, 0, 0}};

/* Two settings of the kernel that add up. */
static const struct effect both[] = {
    {"gro on", 1.2, 0.8, 0.9}, {"buffers 4M", 1.15, 1, 1}, {"toed", 0.9, 1.2, 1}, {NULL, 0, 0, 0}};

static const struct effect nothing[] = {{NULL, 0, 0, 0}};

static void test_cpu_bound_offload_wins(void **state)
{
    unsigned seed;

    (void)state;
    for (seed = 0; seed < SEEDS; seed++) {
        prepare(cpu_bound, 0.02, 0.99, seed);
        assert_int_equal(measure(), TUNE_MEASURED);
        assert_int_equal(run.conclusion.what, TUNE_USE);
        assert_string_equal(best(), "toed");
        assert_int_equal(row("tso off")->judgement.verdict, TUNE_WORSE);
    }
}

static void test_idle_stays_on_the_kernel(void **state)
{
    unsigned seed;

    (void)state;
    for (seed = 0; seed < SEEDS; seed++) {
        prepare(idle, 0.005, 0.15, seed);
        assert_int_equal(measure(), TUNE_MEASURED);
        assert_int_equal(run.conclusion.what, TUNE_LEAVE);
        assert_int_equal(row("toed")->judgement.verdict, TUNE_TRADE);
        assert_int_equal(row("gro on")->judgement.verdict, TUNE_IDLE);
    }
}

static void test_noise_gives_no_verdict(void **state)
{
    unsigned seed;

    (void)state;
    for (seed = 0; seed < SEEDS; seed++) {
        prepare(cpu_bound, 1.0, 0.99, seed);
        assert_int_equal(measure(), TUNE_MEASURED);
        assert_int_equal(run.conclusion.what, TUNE_NO_VERDICT);
    }
}

/* Where all settings are clearly worse, the base may vary as it likes. */
static void test_all_are_worse(void **state)
{
    static const struct effect worse[] = {
        {"toed", 0.01, 100, 100},   {"inline", 0.01, 100, 100},     {"tso off", 0.01, 100, 100},
        {"gro on", 0.01, 100, 100}, {"buffers 4M", 0.01, 100, 100}, {NULL, 0, 0, 0}};

    (void)state;
    prepare(worse, 0.3, 0.99, 3);
    assert_int_equal(measure(), TUNE_MEASURED);
    assert_int_equal(run.conclusion.what, TUNE_LEAVE);
    assert_true(row("as it is")->judgement.spread[TUNE_THROUGHPUT].high >
                1.25 * row("as it is")->judgement.spread[TUNE_THROUGHPUT].low);
}

/* Nothing differs and little varies: what is better by chance is not confirmed. */
static void test_nothing_is_better(void **state)
{
    unsigned seed;

    (void)state;
    for (seed = 0; seed < SEEDS; seed++) {
        prepare(nothing, 0.03, 0.99, seed);
        assert_int_equal(measure(), TUNE_MEASURED);
        assert_int_equal(run.conclusion.what, TUNE_LEAVE);
    }
}

static void test_settings_are_combined(void **state)
{
    unsigned seed;

    (void)state;
    for (seed = 0; seed < SEEDS; seed++) {
        prepare(both, 0.01, 0.99, seed);
        assert_int_equal(measure(), TUNE_MEASURED);
        assert_int_equal(run.conclusion.what, TUNE_USE);
        assert_string_equal(best(), "gro on + buffers 4M");
        assert_int_equal(run.trial.rows[run.conclusion.best].setting.buffers, 4 << 20);
    }
}

/* With a goal, what the others lose does not count. */
static void test_goals(void **state)
{
    static const struct {
        enum tune_goal goal;
        const char *best;
    } cases[] = {{TUNE_GOAL_LATENCY, "toed"}, {TUNE_GOAL_CPU, "gro on"}};
    size_t i;

    (void)state;
    for (i = 0; i < 2; i++) {
        prepare(idle, 0.005, 0.15, 1);
        run.trial.goal = cases[i].goal;
        assert_int_equal(measure(), TUNE_MEASURED);
        assert_int_equal(run.conclusion.what, TUNE_USE);
        assert_string_equal(best(), cases[i].best);
    }
    prepare(idle, 0.005, 0.15, 1);
    run.trial.goal = TUNE_GOAL_THROUGHPUT;
    measure();
    assert_int_equal(run.conclusion.what, TUNE_LEAVE);
}

/* ---- budget, failures, signals ---- */

static void test_budget(void **state)
{
    static const double seconds[] = {0.001, 0.1, 0.5, 1, 2, 3};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        prepare(cpu_bound, 0.02, 0.99, 7);
        world.run_seconds = seconds[i];
        assert_int_equal(measure(), TUNE_MEASURED);
        /* the rounds of the second stage are never fewer than a verdict needs */
        assert_true(world.seconds <= 60 + 5 * (TUNE_FINALISTS + 2) * seconds[i]);
        assert_true(run.conclusion.rounds[0] >= TUNE_ROUNDS);
        assert_true(run.conclusion.rounds[0] <= TUNE_ROUNDS_MAX);
        /* what does not fit is named */
        assert_int_equal(run.settings.count + run.settings.left_out_count, 6);
        assert_true(row("as it is")->count[0] == run.conclusion.rounds[0]);
    }
    assert_true(run.settings.left_out_count > 0);
}

/* Where tune sets the length of samples, it makes them as short as the settings need. */
static void test_length_of_samples(void **state)
{
    unsigned budget;

    (void)state;
    for (budget = 15; budget < 400; budget++) {
        prepare(cpu_bound, 0.02, 0.99, 7);
        run.workload.command = NULL;
        run.trial.budget = budget;
        assert_int_equal(measure(), TUNE_MEASURED);
        assert_int_equal(run.settings.left_out_count, 0);
        assert_true(run.workload.seconds >= 0.2 && run.workload.seconds <= 2);
    }
    prepare(cpu_bound, 0.02, 0.99, 7);
    run.workload.command = NULL;
    run.trial.budget = 10;
    assert_int_equal(measure(), TUNE_MEASURED);
    assert_int_equal(run.settings.left_out_count, 2);
}

static void test_budget_too_small(void **state)
{
    (void)state;
    prepare(cpu_bound, 0.02, 0.99, 7);
    world.run_seconds = 10;
    assert_int_equal(measure(), TUNE_CANNOT);
    assert_int_equal(world.runs, 1);
    prepare(cpu_bound, 0.02, 0.99, 7);
    world.run_seconds = 100; /* longer than all of it */
    assert_int_equal(measure(), TUNE_CANNOT);
    assert_int_equal(world.runs, 1);
}

static void test_failures(void **state)
{
    (void)state;
    prepare(cpu_bound, 0.02, 0.99, 7);
    world.fails = "toed";
    assert_int_equal(measure(), TUNE_MEASURED);
    assert_int_equal(row("toed")->judgement.verdict, TUNE_FAILED);
    assert_int_equal(row("toed")->count[0], 0);
    assert_string_equal(best(), "inline"); /* the next best */
    prepare(cpu_bound, 0.02, 0.99, 7);
    world.fails = "as it is";
    assert_int_equal(measure(), TUNE_CANNOT);
}

static void test_signals(void **state)
{
    unsigned at;

    (void)state;
    for (at = 1; at < 60; at++) {
        prepare(cpu_bound, 0.02, 0.99, 7);
        world.signal = at;
        assert_int_equal(measure(), TUNE_INTERRUPTED);
        assert_int_equal(world.runs, at);
    }
}

/* ---- never a verdict within the spread ---- */

static void fill(struct tune_sample *s, size_t n, double center, double width)
{
    size_t i;
    int m;

    for (i = 0; i < n; i++) {
        for (m = 0; m < TUNE_METRICS; m++)
            s[i].metric[m] = center * (1 + width * (uniform() - 0.5));
        s[i].busiest = uniform();
    }
}

static void test_never_within_the_spread(void **state)
{
    struct tune_sample a[TUNE_ROUNDS_MAX], b[TUNE_ROUNDS_MAX];
    unsigned i, gains = 0;
    int m;

    (void)state;
    world.random = 4711;
    for (i = 0; i < 20000; i++) {
        size_t n = 1 + i % TUNE_ROUNDS_MAX;
        struct tune_series base = {a, n, false}, own = {b, 1 + i / 7 % TUNE_ROUNDS_MAX, false};
        struct tune_judgement j;

        fill(a, n, 100, uniform());
        fill(b, own.count, 60 + 80 * uniform(), uniform());
        j = tune_judge(&base, &own, TUNE_BALANCED);
        for (m = 0; m < TUNE_METRICS; m++) {
            struct tune_spread x = tune_spread_of(&base, m), y = tune_spread_of(&own, m);
            bool overlap = x.low <= y.high && y.low <= x.high;
            bool few = base.count < TUNE_ROUNDS || own.count < TUNE_ROUNDS;

            assert_true(x.low <= x.median && x.median <= x.high);
            if (overlap || few)
                assert_true(j.outcome[m] == TUNE_SAME || j.outcome[m] == TUNE_UNKNOWN);
            gains += j.outcome[m] == TUNE_GAIN;
        }
        if (base.count < TUNE_ROUNDS || own.count < TUNE_ROUNDS)
            assert_int_equal(j.verdict, TUNE_TOO_FEW);
        if (j.verdict == TUNE_BETTER)
            assert_true(j.score > 0);
    }
    assert_true(gains > 1000); /* the property has been put to the test */
}

static void test_differences_that_are_too_small(void **state)
{
    struct tune_sample a[TUNE_ROUNDS], b[TUNE_ROUNDS];
    struct tune_series base = {a, TUNE_ROUNDS, false}, own = {b, TUNE_ROUNDS, false};

    (void)state;
    fill(a, TUNE_ROUNDS, 100, 0);
    fill(b, TUNE_ROUNDS, 101.9, 0);
    assert_int_equal(tune_judge(&base, &own, TUNE_BALANCED).outcome[TUNE_THROUGHPUT], TUNE_SAME);
    fill(b, TUNE_ROUNDS, 102.1, 0);
    assert_int_equal(tune_judge(&base, &own, TUNE_BALANCED).outcome[TUNE_THROUGHPUT], TUNE_GAIN);
}

static void test_metrics_that_are_missing(void **state)
{
    struct tune_sample a[TUNE_ROUNDS], b[TUNE_ROUNDS];
    struct tune_series base = {a, TUNE_ROUNDS, false}, own = {b, TUNE_ROUNDS, false};
    struct tune_judgement j;
    size_t i;

    (void)state;
    fill(a, TUNE_ROUNDS, 100, 0);
    fill(b, TUNE_ROUNDS, 50, 0);
    for (i = 0; i < TUNE_ROUNDS; i++)
        b[i].metric[TUNE_CPU] = 100;
    b[3].metric[TUNE_P50] = NAN; /* one is enough */
    a[0].metric[TUNE_P99] = NAN;
    j = tune_judge(&base, &own, TUNE_BALANCED);
    assert_int_equal(j.outcome[TUNE_P50], TUNE_UNKNOWN);
    assert_int_equal(j.outcome[TUNE_P99], TUNE_UNKNOWN);
    assert_int_equal(j.outcome[TUNE_THROUGHPUT], TUNE_LOSS);
    assert_int_equal(j.verdict, TUNE_WORSE);
}

/* From TUNE_TRIM samples on, one stray sample does not hide a difference; two do. */
static void test_stray_samples(void **state)
{
    struct tune_sample a[TUNE_TRIM], b[TUNE_TRIM];
    struct tune_series base = {a, TUNE_TRIM, false}, own = {b, TUNE_TRIM, false};

    (void)state;
    fill(a, TUNE_TRIM, 100, 0);
    fill(b, TUNE_TRIM, 150, 0);
    b[4].metric[TUNE_THROUGHPUT] = 10;
    assert_int_equal(tune_judge(&base, &own, TUNE_BALANCED).outcome[TUNE_THROUGHPUT], TUNE_GAIN);
    b[5].metric[TUNE_THROUGHPUT] = 10;
    assert_int_equal(tune_judge(&base, &own, TUNE_BALANCED).outcome[TUNE_THROUGHPUT], TUNE_SAME);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu_bound_offload_wins),
        cmocka_unit_test(test_idle_stays_on_the_kernel),
        cmocka_unit_test(test_noise_gives_no_verdict),
        cmocka_unit_test(test_nothing_is_better),
        cmocka_unit_test(test_all_are_worse),
        cmocka_unit_test(test_settings_are_combined),
        cmocka_unit_test(test_goals),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_length_of_samples),
        cmocka_unit_test(test_budget_too_small),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_never_within_the_spread),
        cmocka_unit_test(test_differences_that_are_too_small),
        cmocka_unit_test(test_metrics_that_are_missing),
        cmocka_unit_test(test_stray_samples),
    };

    return cmocka_run_group_tests_name("tune", tests, NULL, NULL);
}
