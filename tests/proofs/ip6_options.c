/* SPDX-License-Identifier: Apache-2.0 */
/* ip6_options.c - the walk over the options of every extension header of up to 64 bytes. */
#include "proof.h"

#include "ip/ip6_ext.c"

#define LONG SIZE /* proofs.toml: 64 in the long run */

static toec_u8 header[LONG];

void proof(void)
{
    unsigned n = nondet_u8(), at = 0;
    enum toec_opt_verdict v;

    ASSUME(n >= TOEC_EXT_MIN && n <= LONG && n % 8 == 0);
    ANYTHING(header);
    v = toec_ip6_options(header + LONG - n, n, nondet_u8() & 1, &at);
    PROVE(at < n || v == TOEC_OPTS_OK);
    PROVE(at <= n);
}
