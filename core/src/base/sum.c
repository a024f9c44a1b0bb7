/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sum.c - the internet checksum (RFC 1071): sums of native words, the same on both byte orders.
 */
#include "wire.h"

toec_u16 toec_sum(const void *data, unsigned long n)
{
    const toec_u8 *p = data;
    toec_u64 a = 0, b = 0, c = 0, d = 0, x[4];
    toec_u32 w[4];
    toec_u8 last[4];

    /* 32 bytes per iteration into four accumulators, each with an immediate end-around carry. */
    for (; n >= 32; n -= 32, p += 32) {
        memcpy(x, p, 32);
        a += x[0];
        a += a < x[0];
        b += x[1];
        b += b < x[1];
        c += x[2];
        c += c < x[2];
        d += x[3];
        d += d < x[3];
    }
    a = (a & 0xffffffffu) + (a >> 32) + (b & 0xffffffffu) + (b >> 32) + (c & 0xffffffffu) +
        (c >> 32) + (d & 0xffffffffu) + (d >> 32);
    if (n >= 16) {
        memcpy(w, p, 16);
        a += ((toec_u64)w[0] + w[1]) + ((toec_u64)w[2] + w[3]);
        n -= 16;
        p += 16;
    }
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
    return toec_fold64(a);
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
