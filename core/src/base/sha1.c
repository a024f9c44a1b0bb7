/* SPDX-License-Identifier: Apache-2.0 */
/* sha1.c - SHA-1 (RFC 3174, method 1), only for HMAC-SHA-1-96 of TCP-AO (RFC 5926 3.2.1). */
#include "sha1.h"

#include "wire.h"

static toec_u32 rol(toec_u32 x, unsigned n)
{
    return x << n | x >> (32 - n);
}

/* f and K of step i (RFC 3174 5). */
static toec_u32 sha1_f(unsigned i, toec_u32 b, toec_u32 c, toec_u32 d)
{
    if (i < 20)
        return ((b & c) | (~b & d)) + 0x5a827999u;
    if (i < 40)
        return (b ^ c ^ d) + 0x6ed9eba1u;
    if (i < 60)
        return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcu;
    return (b ^ c ^ d) + 0xca62c1d6u;
}

/* RFC 3174 6.1 */
static void sha1_block(toec_u32 h[5], const toec_u8 *p)
{
    toec_u32 w[80], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], next;
    unsigned i;

    for (i = 0; i < 16; i++)
        w[i] = toec_get32(p + 4 * i);
    for (; i < 80; i++)
        w[i] = rol(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    for (i = 0; i < 80; i++) {
        next = rol(a, 5) + sha1_f(i, b, c, d) + e + w[i];
        e = d;
        d = c;
        c = rol(b, 30);
        b = a;
        a = next;
    }
    h[0] += a;
    h[1] += b;
    h[2] += c;
    h[3] += d;
    h[4] += e;
}

void toec_sha1_start(struct toec_sha1 *c)
{
    c->h[0] = 0x67452301u;
    c->h[1] = 0xefcdab89u;
    c->h[2] = 0x98badcfeu;
    c->h[3] = 0x10325476u;
    c->h[4] = 0xc3d2e1f0u;
    c->n = 0;
}

void toec_sha1_add(struct toec_sha1 *c, const toec_u8 *p, toec_u32 n)
{
    while (n) {
        toec_u32 at = c->n % 64u, part = TOEC_MIN(64u - at, n);

        if (part == 64u) {
            sha1_block(c->h, p);
        } else {
            memcpy(c->block + at, p, part);
            if (at + part == 64u)
                sha1_block(c->h, c->block);
        }
        c->n += part;
        p += part;
        n -= part;
    }
}

/* RFC 3174 4 */
void toec_sha1_end(struct toec_sha1 *c, toec_u8 out[TOEC_SHA1_LEN])
{
    unsigned at = c->n % 64u, i;

    c->block[at++] = 0x80;
    if (at > 56) {
        memset(c->block + at, 0, 64 - at);
        sha1_block(c->h, c->block);
        at = 0;
    }
    memset(c->block + at, 0, 64 - at);
    toec_put32(c->block + 56, c->n >> 29);
    toec_put32(c->block + 60, c->n << 3);
    sha1_block(c->h, c->block);
    for (i = 0; i < 5; i++)
        toec_put32(out + 4 * i, c->h[i]);
}
