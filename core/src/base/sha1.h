/* SPDX-License-Identifier: Apache-2.0 */
/* sha1.h - SHA-1 (RFC 3174, method 1), only for HMAC-SHA-1-96 of TCP-AO (RFC 5926 3.2.1). */
#ifndef TOEC_SHA1_H
#define TOEC_SHA1_H

#include "base.h"

#define TOEC_SHA1_LEN 20u

struct toec_sha1 {
    toec_u32 h[5];
    toec_u32 n; /* bytes so far: always far below 2^29 */
    toec_u8 block[64];
};

void toec_sha1_start(struct toec_sha1 *c);
void toec_sha1_add(struct toec_sha1 *c, const toec_u8 *p, toec_u32 n);
void toec_sha1_end(struct toec_sha1 *c, toec_u8 out[TOEC_SHA1_LEN]);

#endif
