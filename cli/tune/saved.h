/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saved.h - the file that records how everything was set before `toehold tune` changed it. It is on
 * disk before the first change, and is removed after the last has been undone, so that an end by
 * SIGKILL leaves the means to undo. The process that tunes holds a lock on it.
 */
#ifndef TOE_CLI_TUNE_SAVED_H
#define TOE_CLI_TUNE_SAVED_H

#include "saved_state.h"

#define TUNE_STATE_FILE "/run/toehold/tune.json"

enum tune_found { TUNE_NONE, TUNE_FOUND, TUNE_RUNNING, TUNE_INVALID };

/* Creates the file with the state in s->before. Returns false after a message: one exists, or it
 * cannot be written. */
bool tune_save(struct tune_saved *s);

/* Replaces it; s->setting and s->file have changed. */
bool tune_save_again(struct tune_saved *s);

/* Reads and locks it. The reason of TUNE_INVALID is a message. */
enum tune_found tune_load(const char *path, struct tune_saved *s);

/* Removes it and the lock. Returns false after a message. */
bool tune_forget(struct tune_saved *s);

#endif
