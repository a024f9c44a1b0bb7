/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mac.h - the message authentication codes of TCP-AO (RFC 5926): HMAC-SHA-1 (RFC 2104, RFC 3174)
 * and AES-128-CMAC (RFC 4493), and the two primitives they use.
 */
#ifndef TOEC_MAC_H
#define TOEC_MAC_H

#include "aes.h"
#include "sha1.h"

#define TOEC_MAC_MOST 20u /* bytes of a MAC before truncation, and of a traffic key */

struct toec_hmac {
    struct toec_sha1 hash;
    toec_u8 pad[64]; /* the key, padded with zeros */
};

struct toec_cmac {
    struct toec_aes aes;
    toec_u8 x[TOEC_AES_BLOCK];
    toec_u8 last[TOEC_AES_BLOCK];
    unsigned n; /* bytes in last, which holds back the block that may be the final one */
};

/* A MAC computation in progress. */
struct toec_mac {
    enum toec_ao_alg alg;
    union {
        struct toec_hmac hmac;
        struct toec_cmac cmac;
    } u;
};

/* Returns the bytes of a MAC, and of its traffic keys. */
TOEC_INLINE unsigned toec_mac_len(enum toec_ao_alg alg)
{
    return alg == TOEC_AO_HMAC_SHA1 ? TOEC_SHA1_LEN : TOEC_AES_BLOCK;
}

/* Starts a MAC. The key has any length for HMAC, TOEC_AES_BLOCK bytes for CMAC. toec_ao_feed() adds
 * bytes. */
void toec_mac_start(struct toec_mac *m, enum toec_ao_alg alg, const toec_u8 *key, unsigned len);
/* Writes toec_mac_len() bytes and clears the key material in *m. */
void toec_mac_end(struct toec_mac *m, toec_u8 out[TOEC_MAC_MOST]);

#endif
