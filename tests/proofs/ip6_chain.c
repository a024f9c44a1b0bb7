/* SPDX-License-Identifier: Apache-2.0 */
/* ip6_chain.c - the walk over every chain of extension headers in up to 64 bytes (RFC 7112). */
#include "proof.h"

#include "ip/ip6_ext.c"

#define LONG SIZE /* proofs.toml: 64 in the long run */

static toec_u8 chain[LONG];

void proof(void)
{
    unsigned n = nondet_u8();

    ASSUME(n <= LONG);
    ANYTHING(chain);
    (void)toec_ip6_chain_whole(nondet_u8(), chain + LONG - n, n);
}
