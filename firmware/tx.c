/* SPDX-License-Identifier: Apache-2.0 */
/* tx.c - copies and sums in one pass, by words whatever the alignment (tx.h). */
#include "tx.h"

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

    memcpy(&word, from, 4); /* one instruction: the processor loads words from any address */
    return word;
}

static inline uint32_t copy_words(uint32_t *to, const uint8_t *from, uint32_t n, uint32_t sum)
{
    unsigned i;

    for (; n >= 8; n -= 8, to += 8, from += 32)
#pragma GCC unroll 8
        for (i = 0; i < 8; i++) {
            to[i] = load(from + 4 * i);
            sum = add(sum, to[i]);
        }
    if (n >= 4) {
#pragma GCC unroll 4
        for (i = 0; i < 4; i++) {
            to[i] = load(from + 4 * i);
            sum = add(sum, to[i]);
        }
        n -= 4, to += 4, from += 16;
    }
    for (; n; n--, to++, from += 4) {
        *to = load(from);
        sum = add(sum, *to);
    }
    return sum;
}

/* Up to three bytes behind words. A third one has the weight of a first: 2^16 is 1 in ones'
 * complement. */
static inline uint32_t copy_end(uint8_t *to, const uint8_t *from, uint32_t n, uint32_t sum)
{
    if (n & 2) {
        uint16_t half;

        memcpy(&half, from, 2);
        memcpy(to, &half, 2);
        sum = add(sum, half);
        to += 2, from += 2;
    }
    if (n & 1) {
        *to = *from;
        sum = add(sum, *from);
    }
    return sum;
}

/* Copies words that no checksum has. */
static inline void copy_plain(uint32_t *to, const uint8_t *from, uint32_t n)
{
    unsigned i;

    if (n >= 8) { /* the headers before those of TCP: 34 bytes, 54 of IPv6 */
#pragma GCC unroll 8
        for (i = 0; i < 8; i++)
            to[i] = load(from + 4 * i);
        n -= 8, to += 8, from += 32;
    }
    for (; n; n--, to++, from += 4)
        *to = load(from);
}

uint32_t tx_copy_sum(void *dst, const void *src, uint32_t n, uint32_t sum)
{
    uint8_t *to = dst;
    const uint8_t *from = src;
    uint32_t whole;

    if (((uintptr_t)to & 2) && n >= 2) { /* the words of the slot are aligned from here on */
        to[0] = from[0], to[1] = from[1];
        sum = add(sum, from[0] | (uint32_t)from[1] << 8);
        to += 2, from += 2, n -= 2;
    }
    whole = n & ~3u;
    sum = copy_words((uint32_t *)(void *)to, from, whole / 4, sum);
    return copy_end(to + whole, from + whole, n & 3, sum);
}

uint32_t tx_copy_headers(uint8_t *frame, const struct toec_tx *tx)
{
    uint32_t *to = (uint32_t *)(void *)frame;
    const uint8_t *from = tx->hdr;
    uint32_t before = tx->csum_start / 4, words = tx->hdr_len / 4, sum = 0;

    copy_plain(to, from, before);
    if (tx->csum_start & 2) { /* even: headers before TCP have an even length */
        to[before] = load(from + 4 * before);
        sum = to[before] >> 16;
        before++;
    }
    sum = copy_words(to + before, from + 4 * before, words - before, sum);
    return copy_end(frame + 4 * words, from + 4 * words, tx->hdr_len & 3, sum);
}

uint16_t tx_fold(uint32_t sum)
{
    sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)(sum + (sum >> 16));
}
