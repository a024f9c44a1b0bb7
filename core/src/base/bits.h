/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits.h - bit search and 64-bit arithmetic without the compiler's support library: on 32-bit
 * machines a 64-bit division, a 64-bit shift by a variable and a bit search would each become a
 * call into libgcc, but core/ has no undefined symbols except those of port.h (SEEDS S4.1).
 */
#ifndef TOEC_BITS_H
#define TOEC_BITS_H

#include "base.h"

/* Index of the lowest set bit; x is not 0. De Bruijn multiplication. */
TOEC_INLINE unsigned toec_ctz32(toec_u32 x)
{
    static const toec_u8 position[32] = {0,  1,  28, 2,  29, 14, 24, 3,  30, 22, 20,
                                         15, 25, 17, 4,  8,  31, 27, 13, 23, 21, 19,
                                         16, 7,  26, 12, 18, 6,  11, 5,  10, 9};

    return position[((x & (0u - x)) * 0x077cb531u) >> 27];
}

/* Index of the highest set bit; x is not 0. */
TOEC_INLINE unsigned toec_msb32(toec_u32 x)
{
    unsigned r = 0;

    if (x & 0xffff0000u) {
        x >>= 16;
        r += 16;
    }
    if (x & 0xff00u) {
        x >>= 8;
        r += 8;
    }
    if (x & 0xf0u) {
        x >>= 4;
        r += 4;
    }
    if (x & 0xcu) {
        x >>= 2;
        r += 2;
    }
    return r + (x >> 1);
}

/* x >> n, 0 <= n < 64, by constant shifts of the halves. */
TOEC_INLINE toec_u64 toec_shr64(toec_u64 x, unsigned n)
{
    toec_u32 hi = (toec_u32)(x >> 32), lo = (toec_u32)x;

    if (n >= 32)
        return hi >> (n - 32);
    if (n == 0)
        return x;
    return (toec_u64)(hi >> n) << 32 | (lo >> n | hi << (32 - n));
}

/* x << n, 0 <= n < 64. */
TOEC_INLINE toec_u64 toec_shl64(toec_u64 x, unsigned n)
{
    toec_u32 hi = (toec_u32)(x >> 32), lo = (toec_u32)x;

    if (n >= 32)
        return (toec_u64)(lo << (n - 32)) << 32;
    if (n == 0)
        return x;
    return (toec_u64)(hi << n | lo >> (32 - n)) << 32 | (lo << n);
}

/*
 * n / d by steps of 32-bit work only; d is not 0. Restoring division on the low word once the high
 * word has been reduced below d.
 */
TOEC_INLINE toec_u64 toec_div64_by_steps(toec_u64 n, toec_u32 d)
{
    toec_u32 hi = (toec_u32)(n >> 32), lo = (toec_u32)n, rem, carry;
    toec_u32 q_hi = hi / d, q_lo = 0;
    int i;

    rem = hi % d;
    if (d <= 0xffffu) { /* two 32/16 steps are exact */
        hi = rem << 16 | lo >> 16;
        q_lo = (hi / d) << 16;
        lo = (hi % d) << 16 | (lo & 0xffffu);
        return (toec_u64)q_hi << 32 | (q_lo | lo / d);
    }
    for (i = 0; i < 32; i++) {
        carry = rem >> 31;
        rem = rem << 1 | lo >> 31;
        lo <<= 1;
        q_lo <<= 1;
        if (carry || rem >= d) {
            rem -= d;
            q_lo |= 1;
        }
    }
    return (toec_u64)q_hi << 32 | q_lo;
}

/* n / d, rounded down; d is not 0. */
TOEC_INLINE toec_u64 toec_div64(toec_u64 n, toec_u32 d)
{
#ifdef __LP64__
    return n / d;
#else
    if ((n >> 32) == 0)
        return (toec_u32)n / d;
    return toec_div64_by_steps(n, d);
#endif
}

#endif
