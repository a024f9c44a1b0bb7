/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.h - the bytes of streams, requests and answers, known from their offset. */
#ifndef LOAD_PATTERN_H
#define LOAD_PATTERN_H

#include <stdint.h>

/* The longest piece of a stream. */
#define LOAD_PATTERN_MAX (1u << 20)

/* Fills the table; call it once before load_pattern(). */
void load_pattern_init(void);
/* Returns the LOAD_PATTERN_MAX bytes of a stream that begin at offset `at`. */
const uint8_t *load_pattern(uint64_t at);

#endif
