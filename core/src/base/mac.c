/* SPDX-License-Identifier: Apache-2.0 */
/* mac.c - HMAC-SHA-1 (RFC 2104) and AES-128-CMAC (RFC 4493), computed incrementally: see mac.h. */
#include "mac.h"

/* ---- HMAC ---- */

static void hmac_pad(struct toec_hmac *h, unsigned byte)
{
    toec_u8 pad[64];
    unsigned i;

    for (i = 0; i < sizeof(pad); i++)
        pad[i] = (toec_u8)(h->pad[i] ^ byte);
    toec_sha1_start(&h->hash);
    toec_sha1_add(&h->hash, pad, sizeof(pad));
}

static void hmac_start(struct toec_hmac *h, const toec_u8 *key, unsigned len)
{
    memset(h->pad, 0, sizeof(h->pad));
    if (len > sizeof(h->pad)) { /* RFC 2104 2 */
        toec_sha1_start(&h->hash);
        toec_sha1_add(&h->hash, key, len);
        toec_sha1_end(&h->hash, h->pad);
    } else {
        memcpy(h->pad, key, len);
    }
    hmac_pad(h, 0x36);
}

static void hmac_end(struct toec_hmac *h, toec_u8 *out)
{
    toec_sha1_end(&h->hash, out);
    hmac_pad(h, 0x5c);
    toec_sha1_add(&h->hash, out, TOEC_SHA1_LEN);
    toec_sha1_end(&h->hash, out);
}

/* ---- CMAC ---- */

static void cmac_start(struct toec_cmac *c, const toec_u8 *key)
{
    toec_aes_key(&c->aes, key);
    memset(c->x, 0, sizeof(c->x));
    c->n = 0;
}

static void cmac_block(struct toec_cmac *c)
{
    unsigned i;

    for (i = 0; i < TOEC_AES_BLOCK; i++)
        c->x[i] ^= c->last[i];
    toec_aes_encrypt(&c->aes, c->x);
    c->n = 0;
}

static void cmac_add(struct toec_cmac *c, const toec_u8 *p, toec_u32 n)
{
    while (n) {
        toec_u32 part;

        if (c->n == TOEC_AES_BLOCK) /* the full block is not the last one */
            cmac_block(c);
        part = TOEC_MIN(TOEC_AES_BLOCK - c->n, n);
        memcpy(c->last + c->n, p, part);
        c->n += part;
        p += part;
        n -= part;
    }
}

/* Doubles in GF(2^128): shifts left by one bit and reduces (RFC 4493 2.3). */
static void cmac_double(toec_u8 *k)
{
    unsigned carry = k[0] >> 7, i;

    for (i = 0; i + 1 < TOEC_AES_BLOCK; i++)
        k[i] = (toec_u8)(k[i] << 1 | k[i + 1] >> 7);
    k[TOEC_AES_BLOCK - 1] = (toec_u8)(k[TOEC_AES_BLOCK - 1] << 1 ^ (carry ? 0x87u : 0));
}

/* RFC 4493 2.4: the last block is complete (K1) or padded (K2). */
static void cmac_end(struct toec_cmac *c, toec_u8 *out)
{
    toec_u8 k[TOEC_AES_BLOCK];
    unsigned i;

    memset(k, 0, sizeof(k));
    toec_aes_encrypt(&c->aes, k);
    cmac_double(k);
    if (c->n < TOEC_AES_BLOCK) {
        cmac_double(k);
        memset(c->last + c->n, 0, TOEC_AES_BLOCK - c->n);
        c->last[c->n] = 0x80;
    }
    for (i = 0; i < TOEC_AES_BLOCK; i++)
        c->last[i] ^= k[i];
    cmac_block(c);
    memcpy(out, c->x, TOEC_AES_BLOCK);
}

/* ---- either ---- */

void toec_mac_start(struct toec_mac *m, enum toec_ao_alg alg, const toec_u8 *key, unsigned len)
{
    m->alg = alg;
    if (alg == TOEC_AO_HMAC_SHA1)
        hmac_start(&m->u.hmac, key, len);
    else
        cmac_start(&m->u.cmac, key);
}

void toec_ao_feed(struct toec_mac *m, const void *data, toec_u32 n)
{
    if (m->alg == TOEC_AO_HMAC_SHA1)
        toec_sha1_add(&m->u.hmac.hash, data, n);
    else
        cmac_add(&m->u.cmac, data, n);
}

void toec_mac_end(struct toec_mac *m, toec_u8 out[TOEC_MAC_MOST])
{
    if (m->alg == TOEC_AO_HMAC_SHA1)
        hmac_end(&m->u.hmac, out);
    else
        cmac_end(&m->u.cmac, out);
    memset(&m->u, 0, sizeof(m->u));
}
