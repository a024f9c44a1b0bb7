/* SPDX-License-Identifier: Apache-2.0 */
/* inline.h - the options of an engine that runs within the command (toe/inline.h). */
#ifndef TOE_CLI_INLINE_H
#define TOE_CLI_INLINE_H

#include <stdbool.h>
#include <stddef.h>

/* Adds an option of the engine; value NULL: the option has none. Returns false after a message. */
bool cli_inline_option(const char *name, const char *value);
/* Returns whether cli_inline_option() has added this option. */
bool cli_inline_given(const char *name);
/* Returns whether cli_inline_option() has added any. */
bool cli_inline_any(void);
/* Returns all added options as words separated by blanks. */
const char *cli_inline_words(void);
/* Checks the added options, or those of the environment when there are none, and sets the variables
 * that select the command's engine ("inline" or "thread"). Returns 0, or an exit code after a
 * message. *reachable: the engine can open its interface; else `why` holds the reason. */
int cli_inline_check(const char *engine, char *why, size_t why_size, bool *reachable);

#endif
