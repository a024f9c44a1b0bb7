/* SPDX-License-Identifier: Apache-2.0 */
/* rounds.c - see rounds.h. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../common/message.h"
#include "rounds.h"

size_t tune_rounds_that_fit(double seconds, double each, size_t count)
{
    double rounds = seconds / (each * (double)count);

    return rounds >= TUNE_ROUNDS_MAX ? TUNE_ROUNDS_MAX : rounds < 0 ? 0 : (size_t)rounds;
}

struct tune_series tune_series_of(const struct tune_row *r, unsigned stage)
{
    return (struct tune_series){r->samples[stage], r->count[stage], r->failed};
}

void tune_judge_row(struct tune_trial *t, size_t row)
{
    struct tune_row *r = &t->rows[row];
    unsigned stage = r->stages > 1 ? 1 : 0;
    struct tune_series base = tune_series_of(&t->rows[0], stage), own = tune_series_of(r, stage);

    r->judgement = tune_judge(&base, &own, t->goal);
}

static void show_progress(const struct tune_trial *t, unsigned stage, size_t round, size_t rounds,
                          const char *name)
{
    if (!t->quiet && isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[Kstage %u of %u, round %zu of %zu: %s", stage + 1, TUNE_STAGES,
                round + 1, rounds, name);
}

static void clear_progress(const struct tune_trial *t)
{
    if (!t->quiet && isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}

/* A setting that cannot be measured is left out from then on. */
static void give_up(struct tune_row *r, const char *why)
{
    r->failed = true;
    snprintf(r->why, sizeof r->why, "%s", why);
}

static enum tune_tried measure(struct tune_trial *t, struct tune_row *r, unsigned stage)
{
    struct tune_state target;
    struct tune_result result;
    char why[TUNE_WHY];
    enum tune_end end;

    tune_target(t->before, &r->setting, &target);
    if (!tune_change(&target, why, sizeof why) ||
        !tune_effective(t->before, &r->setting, why, sizeof why)) {
        give_up(r, why);
        return TUNE_MEASURED;
    }
    end = tune_run_once(t->workload, &r->setting, t->limit, &result);
    if (end == TUNE_SIGNALLED)
        return TUNE_INTERRUPTED;
    if (end == TUNE_TIMED_OUT) {
        give_up(r, "the workload took ten times as long as before");
    } else if (result.failed) {
        give_up(r, result.why);
    } else if (strcmp(result.unit, t->unit) != 0) {
        snprintf(why, sizeof why, "the workload gave %s instead of %s", result.unit, t->unit);
        give_up(r, why);
    } else {
        r->samples[stage][r->count[stage]++] = result.sample;
    }
    return TUNE_MEASURED;
}

/* Measures each row once. */
static enum tune_tried one_round(struct tune_trial *t, const size_t *rows, size_t count,
                                 unsigned stage, size_t round, size_t rounds)
{
    size_t i;

    for (i = 0; i < count; i++) {
        struct tune_row *r = &t->rows[rows[(i + round) % count]];

        if (r->failed)
            continue;
        show_progress(t, stage, round, rounds, r->setting.name);
        if (tune_signal() || measure(t, r, stage) == TUNE_INTERRUPTED)
            return TUNE_INTERRUPTED;
        if (r == &t->rows[0] && r->failed)
            return TUNE_CANNOT;
    }
    return TUNE_MEASURED;
}

enum tune_tried tune_rounds(struct tune_trial *t, const size_t *rows, size_t count, unsigned stage,
                            double seconds, size_t *rounds)
{
    enum tune_tried tried = TUNE_MEASURED;
    double end = tune_now() + seconds;
    size_t i;

    for (i = 0; i < count; i++)
        t->rows[rows[i]].stages = stage + 1;
    for (i = 0; i < *rounds && tried == TUNE_MEASURED && (i < TUNE_ROUNDS || tune_now() < end); i++)
        tried = one_round(t, rows, count, stage, i, *rounds);
    *rounds = i;
    clear_progress(t);
    return tried;
}
