/* SPDX-License-Identifier: Apache-2.0 */
/* decide.c - see decide.h. */
#include <math.h>
#include <stdlib.h>

#include "decide.h"

#define SAMPLES_MAX 256

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static struct tune_spread spread_of(double *values, size_t n)
{
    size_t trim = n >= TUNE_TRIM ? 1 : 0;
    struct tune_spread out = {NAN, NAN, NAN};

    if (n == 0)
        return out;
    qsort(values, n, sizeof *values, ascending);
    out.median = (values[(n - 1) / 2] + values[n / 2]) / 2;
    out.low = values[trim];
    out.high = values[n - 1 - trim];
    return out;
}

struct tune_spread tune_spread_of(const struct tune_series *s, enum tune_metric m)
{
    double values[SAMPLES_MAX];
    size_t i, n = 0;

    for (i = 0; i < s->count && n < SAMPLES_MAX; i++) {
        if (!isfinite(s->samples[i].metric[m]))
            return (struct tune_spread){NAN, NAN, NAN};
        values[n++] = s->samples[i].metric[m];
    }
    return spread_of(values, n);
}

/* Returns the median load of the busiest core. */
static double load_of(const struct tune_series *s)
{
    double values[SAMPLES_MAX];
    size_t i, n = s->count < SAMPLES_MAX ? s->count : SAMPLES_MAX;

    for (i = 0; i < n; i++)
        values[i] = s->samples[i].busiest;
    return spread_of(values, n).median;
}

static enum tune_outcome compare(enum tune_metric m, struct tune_spread base,
                                 struct tune_spread setting)
{
    bool above = setting.low > base.high && setting.median >= base.median * (1 + TUNE_LEAST);
    bool below = setting.high < base.low && setting.median <= base.median * (1 - TUNE_LEAST);

    if (isnan(base.median) || isnan(setting.median) || base.median <= 0 || setting.median <= 0)
        return TUNE_UNKNOWN;
    if (m == TUNE_THROUGHPUT)
        return above ? TUNE_GAIN : below ? TUNE_LOSS : TUNE_SAME;
    return below ? TUNE_GAIN : above ? TUNE_LOSS : TUNE_SAME;
}

static bool is_goal(enum tune_metric m, enum tune_goal goal, bool busy)
{
    switch (goal) {
    case TUNE_GOAL_THROUGHPUT:
        return m == TUNE_THROUGHPUT;
    case TUNE_GOAL_LATENCY:
        return m == TUNE_P50 || m == TUNE_P99;
    case TUNE_GOAL_CPU:
        return m == TUNE_CPU;
    default:
        return m != TUNE_CPU || busy;
    }
}

static enum tune_verdict verdict_of(const struct tune_judgement *j, enum tune_goal goal, bool busy)
{
    bool gain = false, loss = false, other_gain = false, other_loss = false;
    int m;

    for (m = 0; m < TUNE_METRICS; m++) {
        bool counts = is_goal(m, goal, busy);

        gain = gain || (counts && j->outcome[m] == TUNE_GAIN);
        loss = loss || (counts && j->outcome[m] == TUNE_LOSS);
        other_gain = other_gain || (!counts && j->outcome[m] == TUNE_GAIN);
        other_loss = other_loss || (!counts && j->outcome[m] == TUNE_LOSS);
    }
    /* without a goal, whatever is lost counts; a goal is worth a loss elsewhere */
    if (goal == TUNE_BALANCED)
        loss = loss || other_loss;
    if (gain)
        return loss ? TUNE_TRADE : TUNE_BETTER;
    if (loss || other_loss)
        return other_gain ? TUNE_TRADE : TUNE_WORSE;
    if (other_gain)
        return goal == TUNE_BALANCED ? TUNE_IDLE : TUNE_TRADE;
    return TUNE_WITHIN;
}

struct tune_judgement tune_judge(const struct tune_series *base, const struct tune_series *setting,
                                 enum tune_goal goal)
{
    struct tune_judgement j = {.verdict = TUNE_TOO_FEW};
    bool enough = base->count >= TUNE_ROUNDS && setting->count >= TUNE_ROUNDS;
    bool busy = load_of(base) >= TUNE_BUSY;
    int m;

    for (m = 0; m < TUNE_METRICS; m++) {
        struct tune_spread before = tune_spread_of(base, m);

        j.spread[m] = tune_spread_of(setting, m);
        if (!enough || setting->failed)
            continue;
        j.outcome[m] = compare(m, before, j.spread[m]);
        if (j.outcome[m] == TUNE_GAIN && is_goal(m, goal, busy))
            j.score += fabs(log(j.spread[m].median / before.median));
    }
    if (setting->failed)
        j.verdict = TUNE_FAILED;
    else if (enough)
        j.verdict = verdict_of(&j, goal, busy);
    return j;
}

/* Returns whether the metric that the goal looks at first varies too much without any change. */
static bool is_noisy(const struct tune_series *base, enum tune_goal goal)
{
    enum tune_metric m = goal == TUNE_GOAL_LATENCY ? TUNE_P50
                         : goal == TUNE_GOAL_CPU   ? TUNE_CPU
                                                   : TUNE_THROUGHPUT;
    struct tune_spread s = tune_spread_of(base, m);

    return !(s.median > 0) || (s.high - s.low) / s.median > TUNE_NOISY;
}

/* Returns whether each setting differs from the base, or cannot be used. */
static bool is_decided(const struct tune_judgement *settings, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        if (settings[i].verdict == TUNE_WITHIN || settings[i].verdict == TUNE_TOO_FEW)
            return false;
    return true;
}

enum tune_conclusion tune_conclude(const struct tune_series *base,
                                   const struct tune_judgement *settings, size_t count,
                                   enum tune_goal goal, size_t *best)
{
    double most = 0;
    size_t i;

    for (i = 0; i < count; i++)
        if (settings[i].verdict == TUNE_BETTER && settings[i].score > most) {
            most = settings[i].score;
            *best = i;
        }
    if (most > 0)
        return TUNE_USE;
    if (count && is_decided(settings, count))
        return TUNE_LEAVE;
    return base->count < TUNE_ROUNDS || is_noisy(base, goal) ? TUNE_NO_VERDICT : TUNE_LEAVE;
}
