/* SPDX-License-Identifier: Apache-2.0 */
/* verdicts.h - verdicts and conclusions in words. */
#ifndef TOE_CLI_TUNE_VERDICTS_H
#define TOE_CLI_TUNE_VERDICTS_H

#include "trial.h"

#define TUNE_TEXT 512

/* For the table. */
const char *tune_verdict_text(const struct tune_row *r);
/* For JSON: one word. */
const char *tune_verdict_word(enum tune_verdict v);
const char *tune_outcome_word(enum tune_outcome o);
const char *tune_conclusion_word(const struct tune_conclusion_of *c);
/* One sentence: what to do. */
void tune_conclusion_text(const struct tune_trial *t, const struct tune_conclusion_of *c, char *out,
                          size_t size);

#endif
