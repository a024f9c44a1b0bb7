/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sum.c - the internet checksum (RFC 1071): sums of native words, the same on both byte orders.
 */
#include "wire.h"

static toec_u16 fold64(toec_u64 x)
{
    toec_u32 y;

    x = (x & 0xffffffffu) + (x >> 32);
    y = (toec_u32)(x & 0xffffffffu) + (toec_u32)(x >> 32);
    y += y < (toec_u32)(x >> 32); /* end-around carry */
    y = (y & 0xffffu) + (y >> 16);
    y = (y & 0xffffu) + (y >> 16);
    return (toec_u16)y;
}

toec_u16 toec_sum(const void *data, unsigned long n)
{
    const toec_u8 *p = data;
    toec_u64 a = 0, b = 0, x, y;
    toec_u32 w[4];
    toec_u8 last[4];

    /* Two accumulators, with the end-around carry added at once: 16 bytes per turn. */
    for (; n >= 16; n -= 16, p += 16) {
        memcpy(&x, p, 8);
        memcpy(&y, p + 8, 8);
        a += x;
        a += a < x;
        b += y;
        b += b < y;
    }
    a = (a & 0xffffffffu) + (a >> 32) + (b & 0xffffffffu) + (b >> 32);
    if (n >= 8) {
        memcpy(w, p, 8);
        a += (toec_u64)w[0] + w[1];
        n -= 8;
        p += 8;
    }
    if (n >= 4) {
        memcpy(w, p, 4);
        a += w[0];
        n -= 4;
        p += 4;
    }
    if (n) { /* up to three bytes, padded with zeros on the right */
        memset(last, 0, 4);
        last[0] = p[0];
        if (n > 1)
            last[1] = p[1];
        if (n > 2)
            last[2] = p[2];
        memcpy(w, last, 4);
        a += w[0];
    }
    return fold64(a);
}

toec_u16 toec_sum_add(toec_u16 a, toec_u16 b, int odd)
{
    toec_u32 x = b;

    if (odd) /* RFC 1071 2(B): a part that begins at an odd byte has its bytes swapped */
        x = (x & 0xffu) << 8 | x >> 8;
    x += a;
    return (toec_u16)((x & 0xffffu) + (x >> 16));
}

void toec_tx_finish(const struct toec_tx *tx, toec_u8 *frame, toec_u32 frame_len)
{
    if (tx->csum_start == 0)
        return;
    toec_put_sum(frame + tx->csum_start + tx->csum_offset,
                 (toec_u16)~toec_sum(frame + tx->csum_start, frame_len - tx->csum_start));
}
