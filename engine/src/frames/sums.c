/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sums.c - the internet checksum (RFC 1071) with vector instructions (sums.h).
 *
 * A vector of 16-bit words w is converted to signed words w - 32768 by one exclusive or. A
 * multiply-add by ones then gives 32-bit sums of adjacent pairs, which are accumulated per lane. At
 * the end, 32768 is added for each word. A vector adds at most 65536 to a lane, so a lane does not
 * overflow within 2^14 vectors.
 */
#include <string.h>

#include "sums.h"

static int always(void)
{
    return 1;
}

static toec_u16 plain_copy(void *dst, const void *src, unsigned long n)
{
    memcpy(dst, src, n);
    return toec_sum(dst, n);
}

#if defined(__x86_64__)
#include <immintrin.h>

#define BLOCK 16384ul /* vectors */
/* Below these sizes plain C is as fast: there are few vectors, and adding up their lanes costs as
 * much. With a copy the limit is lower, since a separate pass over the bytes is saved. */
#define SHORT      192ul
#define SHORT_COPY 128ul

static toec_u16 fold(uint64_t x)
{
    x = (x & 0xffffffffu) + (x >> 32);
    x = (x & 0xffffffffu) + (x >> 32);
    x = (x & 0xffffu) + (x >> 16);
    return (toec_u16)((x & 0xffffu) + (x >> 16));
}

/* Defines a sum of vectors, which also copies them to `to` unless it is NULL, and returns the bytes
 * processed. One definition serves both widths and both uses; the compiler makes four functions of
 * it. */
#define SUM_VECTORS(NAME, TARGET, TYPE, LOAD, STORE, XOR, MADD, ADD, SET16, SET32, LANES)          \
    __attribute__((target(TARGET), always_inline)) static inline unsigned long NAME(               \
        uint64_t *sum, uint8_t *to, const uint8_t *p, unsigned long n)                             \
    {                                                                                              \
        const TYPE sign = SET16(-32768), ones = SET16(1);                                          \
        const unsigned long width = sizeof(TYPE);                                                  \
        unsigned long left = n / width, done = 0, k;                                               \
                                                                                                   \
        while (left) {                                                                             \
            unsigned long block = left < BLOCK ? left : BLOCK;                                     \
            TYPE a = SET32(0), b = SET32(0), v, w;                                                 \
                                                                                                   \
            for (k = 0; k + 2 <= block; k += 2, done += 2 * width) {                               \
                v = LOAD((const void *)(p + done));                                                \
                w = LOAD((const void *)(p + done + width));                                        \
                if (to) {                                                                          \
                    STORE((void *)(to + done), v);                                                 \
                    STORE((void *)(to + done + width), w);                                         \
                }                                                                                  \
                a = ADD(a, MADD(XOR(v, sign), ones));                                              \
                b = ADD(b, MADD(XOR(w, sign), ones));                                              \
            }                                                                                      \
            if (k < block) {                                                                       \
                v = LOAD((const void *)(p + done));                                                \
                if (to)                                                                            \
                    STORE((void *)(to + done), v);                                                 \
                a = ADD(a, MADD(XOR(v, sign), ones));                                              \
                done += width;                                                                     \
            }                                                                                      \
            *sum += LANES(a) + LANES(b) + block * (width / 2) * 32768;                             \
            left -= block;                                                                         \
        }                                                                                          \
        return done;                                                                               \
    }

/* Plain C sums the rest, or all of it when it is short. A vector contains whole words, so the
 * partial sums may be added directly (RFC 1071 2). */
#define SUM_FUNCTIONS(NAME, TARGET, VECTORS)                                                       \
    __attribute__((target(TARGET))) static toec_u16 NAME##_sum(const void *data, unsigned long n)  \
    {                                                                                              \
        const uint8_t *p = data;                                                                   \
        uint64_t sum = 0;                                                                          \
        unsigned long done;                                                                        \
                                                                                                   \
        if (n < SHORT)                                                                             \
            return toec_sum(data, n);                                                              \
        done = VECTORS(&sum, NULL, p, n);                                                          \
        return toec_sum_add(fold(sum), toec_sum(p + done, n - done), 0);                           \
    }                                                                                              \
                                                                                                   \
    __attribute__((target(TARGET))) static toec_u16 NAME##_copy(void *dst, const void *src,        \
                                                                unsigned long n)                   \
    {                                                                                              \
        const uint8_t *p = src;                                                                    \
        uint8_t *to = dst;                                                                         \
        uint64_t sum = 0;                                                                          \
        unsigned long done;                                                                        \
                                                                                                   \
        if (n < SHORT_COPY)                                                                        \
            return plain_copy(dst, src, n);                                                        \
        done = VECTORS(&sum, to, p, n);                                                            \
        return toec_sum_add(fold(sum), plain_copy(to + done, p + done, n - done), 0);              \
    }

/* ---- AVX2: 32 bytes ---- */

static int has_avx2(void)
{
    return __builtin_cpu_supports("avx2") != 0;
}

__attribute__((target("avx2"))) static inline uint64_t lanes_avx2(__m256i a)
{
    const __m256i x = _mm256_add_epi64(_mm256_cvtepi32_epi64(_mm256_castsi256_si128(a)),
                                       _mm256_cvtepi32_epi64(_mm256_extracti128_si256(a, 1)));
    const __m128i y = _mm_add_epi64(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));

    return (uint64_t)_mm_cvtsi128_si64(y) + (uint64_t)_mm_extract_epi64(y, 1);
}

SUM_VECTORS(vectors_avx2, "avx2", __m256i, _mm256_loadu_si256, _mm256_storeu_si256,
            _mm256_xor_si256, _mm256_madd_epi16, _mm256_add_epi32, _mm256_set1_epi16,
            _mm256_set1_epi32, lanes_avx2)
SUM_FUNCTIONS(avx2, "avx2", vectors_avx2)

/* ---- AVX-512: 64 bytes ---- */

#define AVX512 "avx512f,avx512bw"

static int has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
}

__attribute__((target(AVX512))) static inline uint64_t lanes_avx512(__m512i a)
{
    return (uint64_t)_mm512_reduce_add_epi64(
        _mm512_add_epi64(_mm512_cvtepi32_epi64(_mm512_castsi512_si256(a)),
                         _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(a, 1))));
}

SUM_VECTORS(vectors_avx512, AVX512, __m512i, _mm512_loadu_si512, _mm512_storeu_si512,
            _mm512_xor_si512, _mm512_madd_epi16, _mm512_add_epi32, _mm512_set1_epi16,
            _mm512_set1_epi32, lanes_avx512)
SUM_FUNCTIONS(avx512, AVX512, vectors_avx512)

#endif

const struct sums sums_all[] = {{"plain", always, toec_sum, plain_copy},
#if defined(__x86_64__)
                                {"avx2", has_avx2, avx2_sum, avx2_copy},
                                {"avx512", has_avx512, avx512_sum, avx512_copy},
#endif
                                {NULL, NULL, NULL, NULL}};

const struct sums *sums = &sums_all[0];
static int chosen;

void sums_use(const struct sums *one)
{
    sums = one;
    chosen = 1;
}

void sums_choose(void)
{
    const struct sums *best = sums_all, *one;

    if (chosen)
        return;
    for (one = sums_all; one->name; one++)
        if (one->works())
            best = one;
    sums_use(best);
}
