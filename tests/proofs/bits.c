/* SPDX-License-Identifier: Apache-2.0 */
/* bits.c - 64-bit shifts by halves, and bit searches, for all arguments: as the machine's own. */
#include "proof.h"

#include "base/bits.h"

void proof(void)
{
    toec_u64 x = nondet_u64();
    toec_u32 w = nondet_u32();
    unsigned n = nondet_u8(), at;

    ASSUME(n < 64);
    PROVE(toec_shr64(x, n) == x >> n);
    PROVE(toec_shl64(x, n) == x << n);
    if (!w)
        return;
    at = toec_ctz32(w);
    PROVE(at < 32 && (w >> at & 1) && (at == 0 || (w & ((1u << at) - 1)) == 0));
    at = toec_msb32(w);
    PROVE(at < 32 && w >> at == 1);
}
