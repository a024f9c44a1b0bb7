/* SPDX-License-Identifier: Apache-2.0 */
/* trial.c - see trial.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/message.h"
#include "trial.h"

/* Seconds of a sample when tune sets the length: of the URL's load, and when it watches. */
#define SAMPLE_LEAST 0.2
#define SAMPLE_MOST  2.0
/* What a run takes besides its sample: a process, a warm-up. */
#define OVERHEAD 1.3
/* A run that takes this many times the seconds of the first, and this part of the budget, is ended.
 */
#define LIMIT_TIMES 10
#define LIMIT_PART  0.1

/* A length that fits exactly may be computed a little longer. */
#define ROUNDING 1e-6

static bool sets_length(const struct tune_workload *w)
{
    return !w->command;
}

/* Runs the workload once as everything is. Returns its seconds in *each. */
static enum tune_tried first_run(struct tune_trial *t, struct tune_workload *w, double *each)
{
    struct tune_setting base = {0};
    struct tune_result r;
    enum tune_end end;

    w->seconds = SAMPLE_LEAST;
    end = tune_run_once(w, &base, t->budget, &r);
    if (end == TUNE_SIGNALLED)
        return TUNE_INTERRUPTED;
    if (end == TUNE_TIMED_OUT) {
        cli_message("tune: the workload runs longer than the budget of %.0f s; give one that ends "
                    "sooner, a larger --budget, or --watch",
                    t->budget);
        return TUNE_CANNOT;
    }
    if (r.failed) {
        cli_message("tune: %s", r.why);
        return TUNE_CANNOT;
    }
    t->unit = r.unit;
    *each = r.seconds;
    t->limit = fmax(LIMIT_PART * t->budget, LIMIT_TIMES * r.seconds);
    return TUNE_MEASURED;
}

/* Determines the length of a sample or the number of settings, so that TUNE_ROUNDS rounds fit into
 * the budget. Returns how many rows are measured, 0 after a message. */
static size_t plan(const struct tune_trial *t, struct tune_workload *w, size_t count, double *each)
{
    double all = t->budget * TUNE_FIRST_PART, most;

    if (sets_length(w)) {
        double length = all / (double)count / TUNE_ROUNDS / OVERHEAD;

        w->seconds = fmin(SAMPLE_MOST, fmax(SAMPLE_LEAST, length));
        *each = w->seconds * OVERHEAD;
    }
    most = all / TUNE_ROUNDS / *each + ROUNDING;
    if (most >= (double)count)
        return count;
    if (most >= 2)
        return (size_t)most;
    cli_message("tune: a run takes %.1f s, and a verdict needs %d of them: give --budget %.0f or a "
                "shorter workload",
                *each, 2 * TUNE_ROUNDS, ceil(2 * TUNE_ROUNDS * *each / TUNE_FIRST_PART));
    return 0;
}

static int by_score(const void *a, const void *b)
{
    const struct tune_row *x = *(const struct tune_row *const *)a,
                          *y = *(const struct tune_row *const *)b;

    if (x->judgement.score != y->judgement.score)
        return x->judgement.score < y->judgement.score ? 1 : -1;
    return (x > y) - (x < y);
}

/* Selects the rows for the second stage: the base, the best, and all that are better on the kernel
 * in one. Returns how many, 1 if only the base is left. */
static size_t finalists(struct tune_trial *t, size_t *rows)
{
    const struct tune_row *better[TUNE_SETTINGS];
    const struct tune_setting *parts[TUNE_SETTINGS];
    size_t n = 0, i, count = 1;

    rows[0] = 0;
    for (i = 1; i < t->count; i++)
        if (t->rows[i].judgement.verdict == TUNE_BETTER)
            better[n++] = &t->rows[i];
    qsort(better, n, sizeof *better, by_score);
    for (i = 0; i < n; i++) {
        parts[i] = &better[i]->setting;
        if (i < TUNE_FINALISTS)
            rows[count++] = (size_t)(better[i] - t->rows);
    }
    if (t->count < sizeof t->rows / sizeof *t->rows &&
        tune_combine(parts, n, &t->rows[t->count].setting))
        rows[count++] = t->count++;
    return count;
}

static void judge(struct tune_trial *t)
{
    size_t i;

    for (i = 0; i < t->count; i++)
        tune_judge_row(t, i);
}

/* Returns how many rounds fit, within what a verdict needs and what is permitted. */
static size_t rounds_within(const struct tune_trial *t, double seconds, double each, size_t count)
{
    size_t n = tune_rounds_that_fit(seconds, each, count);

    return n < TUNE_ROUNDS ? TUNE_ROUNDS : n > t->most ? t->most : n;
}

/* Concludes from the finalists; if nothing was better, from all rows. */
static void conclude(const struct tune_trial *t, const size_t *rows, size_t count,
                     struct tune_conclusion_of *c)
{
    struct tune_series base = tune_series_of(&t->rows[0], count > 1 ? 1 : 0);
    struct tune_judgement j[TUNE_SETTINGS];
    size_t i, best = 0, n = count > 1 ? count : t->count;

    for (i = 1; i < n; i++)
        j[i - 1] = t->rows[count > 1 ? rows[i] : i].judgement;
    c->what = tune_conclude(&base, j, n - 1, t->goal, &best);
    c->best = c->what == TUNE_USE ? rows[best + 1] : 0; /* of the finalists */
}

/* Measures the best once more: the first stage has chosen them by chance too. */
static enum tune_tried confirm(struct tune_trial *t, double each, struct tune_conclusion_of *c)
{
    size_t rows[TUNE_FINALISTS + 2], count = finalists(t, rows);
    double left = t->budget * (1 - TUNE_FIRST_PART);
    enum tune_tried tried = TUNE_MEASURED;

    if (count > 1) {
        c->rounds[1] = rounds_within(t, left, each, count);
        tried = tune_rounds(t, rows, count, 1, left, &c->rounds[1]);
    }
    if (tried != TUNE_MEASURED)
        return tried;
    judge(t);
    conclude(t, rows, count, c);
    return TUNE_MEASURED;
}

/* Settings that the budget has no time for are the last of the list. */
static void leave_out(struct tune_settings *s, size_t count)
{
    size_t i;

    for (i = count; i < s->count; i++)
        tune_leave_out(s, s->all[i].name, "no time for it: a larger --budget");
    if (count < s->count)
        s->count = count;
}

enum tune_tried tune_try(struct tune_trial *t, struct tune_workload *w,
                         struct tune_settings *settings, struct tune_conclusion_of *c)
{
    size_t rows[TUNE_SETTINGS], i;
    enum tune_tried tried;
    double each;

    tried = first_run(t, w, &each);
    if (tried != TUNE_MEASURED)
        return tried;
    leave_out(settings, plan(t, w, settings->count, &each));
    if (settings->count == 0)
        return TUNE_CANNOT;
    for (i = 0; i < settings->count; i++) {
        t->rows[i].setting = settings->all[i];
        rows[i] = i;
    }
    t->count = settings->count;
    c->rounds[0] = rounds_within(t, t->budget * TUNE_FIRST_PART, each, t->count);
    tried = tune_rounds(t, rows, t->count, 0, t->budget * TUNE_FIRST_PART, &c->rounds[0]);
    if (tried == TUNE_MEASURED) {
        judge(t);
        tried = confirm(t, each, c);
    }
    if (tried == TUNE_CANNOT)
        cli_message("tune: %s", t->rows[0].why);
    c->no_work =
        tried == TUNE_MEASURED && !(t->rows[0].judgement.spread[TUNE_THROUGHPUT].median > 0);
    return tried;
}
