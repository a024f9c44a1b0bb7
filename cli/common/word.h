/* SPDX-License-Identifier: Apache-2.0 */
/* word.h - words of commands that are printed for a shell. */
#ifndef TOE_CLI_COMMON_WORD_H
#define TOE_CLI_COMMON_WORD_H

#include <stdbool.h>
#include <stddef.h>

/* Writes text as one word of a shell command, quoted if necessary, of at most size bytes. Returns
 * false when it does not fit: out is then empty. */
bool cli_word(char *out, size_t size, const char *text);

/* Prints it on standard output. */
void cli_print_word(const char *text);

#endif
