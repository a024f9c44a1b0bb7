/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - parses the options of a verb by their table. */
#ifndef TOE_CLI_COMMON_OPTIONS_H
#define TOE_CLI_COMMON_OPTIONS_H

#include <stdbool.h>

#include "option_table.h"

/*
 * Parses the options of a verb; names must be written in full. --help and -h, which every verb has,
 * print its help, set *help and end the parsing; so does --describe with the description of help.h.
 * Returns an exit code, CLI_USAGE after a message; optind is the first other word.
 */
int cli_options(const struct cli_options *o, int argc, char **argv, bool *help);

#endif
