/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - prints what was measured, as a table or as JSON. */
#ifndef TOE_CLI_TUNE_REPORT_H
#define TOE_CLI_TUNE_REPORT_H

#include "trial.h"

struct tune_report {
    const struct tune_trial *trial;
    const struct tune_settings *settings;
    const struct tune_conclusion_of *conclusion;
    const char *interface, *workload;
    const char *applied; /* what --apply has done; NULL: nothing */
};

void tune_print_text(const struct tune_report *r);
/* Returns false without memory. */
bool tune_print_json(const struct tune_report *r);

/* Prints what would be tried. */
void tune_print_plan(const struct tune_settings *s, const struct tune_state *before);
bool tune_print_plan_json(const struct tune_settings *s, const char *interface);

#endif
