/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aes.h - AES with a key of 128 bits, encryption (FIPS 197), only for AES-128-CMAC-96 of TCP-AO
 * (RFC 5926 3.2.2).
 */
#ifndef TOEC_AES_H
#define TOEC_AES_H

#include "base.h"

#define TOEC_AES_BLOCK 16u

struct toec_aes {
    toec_u8 round[11][TOEC_AES_BLOCK]; /* round keys */
};

void toec_aes_key(struct toec_aes *a, const toec_u8 key[TOEC_AES_BLOCK]);
void toec_aes_encrypt(const struct toec_aes *a, toec_u8 block[TOEC_AES_BLOCK]);

#endif
