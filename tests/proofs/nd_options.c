/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nd_options.c - every list of options of neighbour discovery in up to 72 bytes: the walk ends, and
 * its results point within the list.
 */
#include "proof.h"

#include "ip/nd.c"

#define LONG SIZE /* proofs.toml: 72 in the long run */

static toec_u8 list[LONG];

void proof(void)
{
    struct toec_nd_options o;
    unsigned n = nondet_u8(), i = nondet_u8();

    ASSUME(n <= LONG);
    ANYTHING(list);
    if (toec_nd_options(&o, list + LONG - n, n) < 0)
        return;
    if (o.source_mac)
        READABLE(o.source_mac, 6);
    if (o.target_mac)
        READABLE(o.target_mac, 6);
    if (o.mtu)
        READABLE(o.mtu, 4);
    if (o.nonce)
        READABLE(o.nonce, 6);
    PROVE(o.prefixes <= TOEC_IP6_PREFIXES);
    if (i < o.prefixes)
        READABLE(o.prefix[i], TOEC_NDOPT_PREFIX_LEN);
}
