/* SPDX-License-Identifier: Apache-2.0 */
/* help.h - the text and the description of a verb, from the table of its options. */
#ifndef TOE_CLI_COMMON_HELP_H
#define TOE_CLI_COMMON_HELP_H

#include "option_table.h"

/* Prints the text of --help on standard output. Nothing if the verb gives no usage. */
void cli_help_print(const struct cli_options *o);

/* Prints the version of toehold and of the device contract. */
void cli_help_version(void);

/* Prints a JSON object on standard output: usage, text, after, arguments, and options, each with
 * name, letter, value, help, and the range of a number. Completion and the manual page are made
 * from it. */
void cli_help_describe(const struct cli_options *o);

#endif
