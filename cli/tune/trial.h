/* SPDX-License-Identifier: Apache-2.0 */
/* trial.h - the whole measurement: a first run, all settings, and once more the best. */
#ifndef TOE_CLI_TUNE_TRIAL_H
#define TOE_CLI_TUNE_TRIAL_H

#include "rounds.h"

struct tune_conclusion_of {
    enum tune_conclusion what;
    size_t best; /* row, of TUNE_USE */
    size_t rounds[TUNE_STAGES];
    bool no_work; /* the workload did nothing */
};

/* Measures. t->rows[0] and those that follow are filled with settings; those that the budget does
 * not allow for are moved to left_out. Returns TUNE_CANNOT after a message. */
enum tune_tried tune_try(struct tune_trial *t, struct tune_workload *w,
                         struct tune_settings *settings, struct tune_conclusion_of *c);

#endif
