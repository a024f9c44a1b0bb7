/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checksum.c - the checksum of every length up to 160 bytes reads just these bytes, and ends.
 */
#include "proof.h"

#include "base/sum.c"

#define LONG 160

static toec_u8 data[LONG];

void proof(void)
{
    unsigned n = nondet_u8();

    ASSUME(n <= LONG);
    (void)toec_sum(data + LONG - n, n); /* the bytes' values decide nothing */
}
