/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbosity.h - what a verb prints on standard error beside errors (message.h): --quiet leaves out
 * notices, --verbose adds details. Both are options of every verb (options.c).
 */
#ifndef TOE_CLI_COMMON_VERBOSITY_H
#define TOE_CLI_COMMON_VERBOSITY_H

#include <stdbool.h>

enum cli_verbosity { CLI_QUIET, CLI_NORMAL, CLI_VERBOSE };

void cli_set_verbosity(enum cli_verbosity v);
enum cli_verbosity cli_verbosity(void);

/* Prints one line, "toehold: ...\n", unless --quiet: for what a user should know, and need not act
 * on. */
void cli_notice(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints one line with --verbose: what is being done, and with what. */
void cli_detail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
