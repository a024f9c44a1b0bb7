/* SPDX-License-Identifier: Apache-2.0 */
/* ip4_options.c - the walk over every option area of an IPv4 header. */
#include "proof.h"

#include "ip/ip4_in.c"

static toec_u8 header[20 + SIZE]; /* proofs.toml: 40 in the long run */
static struct toec_stack s;

void proof(void)
{
    unsigned hlen = nondet_u8();

    ASSUME(hlen >= 20 && hlen <= sizeof(header) && hlen % 4 == 0);
    ANYTHING(header);
    (void)check_options(&s, header + sizeof(header) - hlen, hlen);
}
