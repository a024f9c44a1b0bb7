/* SPDX-License-Identifier: Apache-2.0 */
/* keys.h - the keys of a stack, one per use, and random numbers made with one of them. */
#ifndef TOEC_KEYS_H
#define TOEC_KEYS_H

#include "../base/hash.h"

struct toec_stack;

/* Keys derived from the secrets of toec_config, one per use, so that no key reveals another. */
struct toec_keys {
    toec_u64 isn[2];           /* initial sequence numbers (RFC 6528) */
    toec_u64 cookie[2];        /* SYN cookies */
    toec_u64 ts[2];            /* timestamp offsets (RFC 7323 5.4) */
    toec_u64 rand[2];          /* toec_rand32() */
    toec_u64 tfo[2];           /* Fast Open cookies (RFC 7413 4.1.2) */
    struct toec_flow_key flow; /* lookup tables */
};

/* Derives all keys from cfg.secret, cfg.isn_secret and cfg.ip6_secret. */
void toec_derive_keys(struct toec_stack *s);

/* Returns a pseudo-random number that no outsider can predict (SipHash in counter mode). */
toec_u32 toec_rand32(struct toec_stack *s);

#endif
