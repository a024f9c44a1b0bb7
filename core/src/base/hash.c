/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.c - SipHash-2-4, multilinear flow hash, Toeplitz.
 */
#include "hash.h"

#include "wire.h"

#define ROTL(x, n) ((x) << (n) | (x) >> (64 - (n)))

static toec_u64 load_le64(const toec_u8 *p)
{
    return (toec_u64)p[0] | (toec_u64)p[1] << 8 | (toec_u64)p[2] << 16 | (toec_u64)p[3] << 24 |
           (toec_u64)p[4] << 32 | (toec_u64)p[5] << 40 | (toec_u64)p[6] << 48 |
           (toec_u64)p[7] << 56;
}

static void sip_rounds(toec_u64 v[4], int n)
{
    while (n-- > 0) {
        v[0] += v[1];
        v[1] = ROTL(v[1], 13) ^ v[0];
        v[0] = ROTL(v[0], 32);
        v[2] += v[3];
        v[3] = ROTL(v[3], 16) ^ v[2];
        v[0] += v[3];
        v[3] = ROTL(v[3], 21) ^ v[0];
        v[2] += v[1];
        v[1] = ROTL(v[1], 17) ^ v[2];
        v[2] = ROTL(v[2], 32);
    }
}

toec_u64 toec_siphash(const toec_u64 key[2], const void *data, unsigned long n)
{
    const toec_u8 *p = data;
    toec_u64 v[4], m;
    toec_u8 last[8];
    unsigned long left;

    v[0] = key[0] ^ 0x736f6d6570736575ull;
    v[1] = key[1] ^ 0x646f72616e646f6dull;
    v[2] = key[0] ^ 0x6c7967656e657261ull;
    v[3] = key[1] ^ 0x7465646279746573ull;
    for (left = n; left >= 8; left -= 8, p += 8) {
        m = load_le64(p);
        v[3] ^= m;
        sip_rounds(v, 2);
        v[0] ^= m;
    }
    memset(last, 0, sizeof(last));
    memcpy(last, p, left);
    last[7] = (toec_u8)n;
    m = load_le64(last);
    v[3] ^= m;
    sip_rounds(v, 2);
    v[0] ^= m;
    v[2] ^= 0xff;
    sip_rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

toec_u32 toec_flow_hash(const struct toec_flow_key *key, const struct toec_addr *local,
                        const struct toec_addr *remote, toec_u16 local_port, toec_u16 remote_port)
{
    toec_u64 h = key->k[0];
    toec_u32 w[8];
    int i;

    memcpy(w, local->b, 16);
    memcpy(w + 4, remote->b, 16);
    for (i = 0; i < 8; i++)
        h += key->k[i + 1] * w[i];
    h += key->k[9] * ((toec_u32)local_port << 16 | remote_port);
    return (toec_u32)(h >> 33) | (toec_addr_is4(remote) ? 0 : TOEC_HASH_IP6);
}

toec_u32 toec_word_hash(const struct toec_flow_key *key, toec_u32 a, toec_u32 b)
{
    return (toec_u32)((key->k[0] + key->k[1] * a + key->k[2] * b) >> 32);
}

toec_u32 toec_addr_hash(const struct toec_flow_key *key, const struct toec_addr *a, toec_u32 b)
{
    toec_u64 h = key->k[0] + key->k[5] * b;
    toec_u32 w[4];
    int i;

    memcpy(w, a->b, 16);
    for (i = 0; i < 4; i++)
        h += key->k[i + 1] * w[i];
    return (toec_u32)(h >> 32);
}

toec_u32 toec_htab_buckets(toec_u32 items)
{
    toec_u32 n = 4;

    while (n < items)
        n *= 2;
    return n;
}

toec_u32 toec_toeplitz(const toec_u8 *key, const toec_u8 *data, unsigned long n)
{
    toec_u32 window = toec_get32(key), h = 0;
    unsigned long i;
    unsigned bit;

    for (i = 0; i < n; i++) {
        for (bit = 0x80; bit; bit >>= 1) {
            h ^= window & (0u - ((data[i] & bit) != 0));
            window = window << 1 | ((key[i + 4] & bit) != 0);
        }
    }
    return h;
}

/* XOR of the 16-bit words of n bytes, n even. */
static unsigned xor_words(const toec_u8 *p, unsigned n)
{
    unsigned x = 0;

    for (; n > 0; n -= 2, p += 2)
        x ^= toec_get16(p);
    return x;
}

/*
 * The key is 0x6d5a repeated, so that both directions of a flow have the same hash (Woo, Park
 * 2012). The key is the same for each 16-bit word of the input and the hash is linear, so the words
 * can be combined (XOR) before hashing.
 */
toec_u32 toec_rss_hash(const struct toec_addr *a, const struct toec_addr *b, toec_u16 pa,
                       toec_u16 pb)
{
    static const toec_u8 key[6] = {0x6d, 0x5a, 0x6d, 0x5a, 0x6d, 0x5a};
    /* As in NICs: 4 bytes of each address for IPv4, 16 for IPv6, then the ports. */
    unsigned skip = toec_addr_is4(a) && toec_addr_is4(b) ? 12 : 0, x = pa ^ pb;
    toec_u8 in[2];

    x ^= xor_words(a->b + skip, 16 - skip) ^ xor_words(b->b + skip, 16 - skip);
    toec_put16(in, x);
    return toec_toeplitz(key, in, 2);
}
