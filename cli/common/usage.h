/* SPDX-License-Identifier: Apache-2.0 */
/* usage.h - the usage text of the whole program, and of verbs that have no text of their own. */
#ifndef TOE_CLI_USAGE_H
#define TOE_CLI_USAGE_H

/* Prints the text of all verbs on standard output. */
void cli_usage(void);

/* Prints the text of "run", "stats" or "offload" on standard output. */
void cli_usage_of(const char *verb);

#endif
