/* SPDX-License-Identifier: Apache-2.0 */
/* layers.h - the files of settings, for a command that `toehold run` executes. */
#ifndef TOE_CLI_RUN_LAYERS_H
#define TOE_CLI_RUN_LAYERS_H

#include <stdbool.h>

/*
 * Exports the settings of [run], [log] and the top that come from files or a profile as TOEHOLD_*
 * variables, unless these are set. file: of --config, "": --no-config; profile: of --profile; NULL:
 * not given. Returns false after a message.
 */
bool cli_run_layers(const char *file, const char *profile);

/* Returns the path of toed's socket by environment, files and default. */
const char *cli_run_socket(void);

/* Adds the settings of [inline] to the options of the engine (inline.h), unless
 * TOEHOLD_INLINE_OPTIONS is set. To be called after cli_run_layers() and after the command line has
 * added its own, which win. Returns false after a message. */
bool cli_run_inline_layers(void);

#endif
