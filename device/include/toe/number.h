/* SPDX-License-Identifier: Apache-2.0 */
/* number.h - numbers in options, variables and file names. */
#ifndef TOE_NUMBER_H
#define TOE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Reads the whole text as a number of this base: 10, 16, or 0 for decimal and, after 0x,
 * hexadecimal (as strtoull() has it, octal after 0). False when the text is empty, has a sign,
 * blanks or anything else that is no digit, or names more than UINT64_MAX; then *out is unchanged.
 * Keeps errno. */
bool toe_number(const char *text, int base, uint64_t *out);

#endif
