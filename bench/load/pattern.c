/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.c - a periodic byte pattern (pattern.h). */
#include "pattern.h"

/* A prime: lost or repeated blocks of any common size change the bytes. */
#define PATTERN_PERIOD 65521u

static uint8_t pattern[PATTERN_PERIOD + LOAD_PATTERN_MAX];

void load_pattern_init(void)
{
    uint32_t i;

    for (i = 0; i < PATTERN_PERIOD; i++)
        pattern[i] = (uint8_t)((i * 2654435761u) >> 24);
    for (; i < sizeof pattern; i++)
        pattern[i] = pattern[i - PATTERN_PERIOD];
}

const uint8_t *load_pattern(uint64_t at)
{
    return pattern + at % PATTERN_PERIOD;
}
