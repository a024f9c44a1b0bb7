/* SPDX-License-Identifier: Apache-2.0 */
/* rounds.h - measures settings in rounds: in each every setting once, in another order, so that a
 * drift of the machine meets all of them. */
#ifndef TOE_CLI_TUNE_ROUNDS_H
#define TOE_CLI_TUNE_ROUNDS_H

#include "change.h"
#include "workload.h"

#define TUNE_ROUNDS_MAX 15
#define TUNE_FINALISTS  3
#define TUNE_STAGES     2
/* The part of the budget for the first stage; the second confirms its best settings. */
#define TUNE_FIRST_PART 0.6

struct tune_row {
    struct tune_setting setting;
    struct tune_sample samples[TUNE_STAGES][TUNE_ROUNDS_MAX];
    size_t count[TUNE_STAGES];
    unsigned stages; /* in which it was measured: 1 or 2 */
    bool failed;
    char why[TUNE_WHY];
    struct tune_judgement judgement; /* of its last stage */
};

struct tune_trial {
    const struct tune_workload *workload;
    const struct tune_state *before;
    double budget, limit; /* seconds: of all, of one run */
    size_t most;          /* rounds of a stage: TUNE_ROUNDS to TUNE_ROUNDS_MAX */
    enum tune_goal goal;
    bool quiet;
    const char *unit; /* of the throughput */
    struct tune_row rows[TUNE_SETTINGS + 1];
    size_t count; /* [0] is the base; a combination is the last */
};

enum tune_tried { TUNE_MEASURED, TUNE_INTERRUPTED, TUNE_CANNOT };

/* Returns how many rounds of `count` settings fit into a part of the budget, `each` seconds long.
 * Fewer than TUNE_ROUNDS: `count` is too large. */
size_t tune_rounds_that_fit(double seconds, double each, size_t count);

/* Measures all rows in a stage, 0 or 1: *rounds times, or at least TUNE_ROUNDS times within
 * `seconds`. *rounds becomes how often it was. */
enum tune_tried tune_rounds(struct tune_trial *t, const size_t *rows, size_t count, unsigned stage,
                            double seconds, size_t *rounds);

/* Judges a row by its last stage. */
void tune_judge_row(struct tune_trial *t, size_t row);

/* Returns the samples of a row in a stage. */
struct tune_series tune_series_of(const struct tune_row *r, unsigned stage);

#endif
