/* SPDX-License-Identifier: Apache-2.0 */
/* apply.h - `toehold tune --apply`: sets what is best, so that --revert can undo it. */
#ifndef TOE_CLI_TUNE_APPLY_H
#define TOE_CLI_TUNE_APPLY_H

#include "change.h"

/* Sets it; for a TOE writes a file of settings for `toehold run`, which must not exist. Returns
 * false after a message, with nothing changed; else what was done in `text`. */
bool tune_apply(struct tune_saved *s, const struct tune_setting *best, const char *file, char *text,
                size_t size);

#endif
