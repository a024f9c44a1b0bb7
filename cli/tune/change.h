/* SPDX-License-Identifier: Apache-2.0 */
/* change.h - moves the machine from one state to another, and checks that it is there. */
#ifndef TOE_CLI_TUNE_CHANGE_H
#define TOE_CLI_TUNE_CHANGE_H

#include "saved.h"

#define TUNE_WHY 320

/* Sets everything as in `target`, what differs alone, and waits until the link is up if it was.
 * Returns false with the reason. */
bool tune_change(const struct tune_state *target, char *why, size_t why_size);

/* Returns whether the words of the setting are as it wants them: some depend on others. */
bool tune_effective(const struct tune_state *before, const struct tune_setting *s, char *why,
                    size_t why_size);

/* Sets everything as it was before and compares. Returns false after messages; what is gone with
 * its interface or its toed is no failure. */
bool tune_restore(const struct tune_saved *s);

/* Undoes what the saved state describes, the file of settings too, and forgets it. */
bool tune_revert(struct tune_saved *s);

#endif
