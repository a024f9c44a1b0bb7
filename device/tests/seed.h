/* SPDX-License-Identifier: Apache-2.0 */
/* seed.h - the seed of a test program's random numbers, for device/, netio/, engine/, manager/ and
 * tests/. */
#ifndef TOE_TEST_SEED_H
#define TOE_TEST_SEED_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <toe/number.h>

/* Returns TOEHOLD_SEED, else the fallback, and prints it so that the run can be repeated. Ends the
 * program if TOEHOLD_SEED is not a number up to max. */
static inline uint64_t seed_of_run(uint64_t fallback, uint64_t max)
{
    const char *text = getenv("TOEHOLD_SEED");
    char want[TOE_NUMBER_WANT];
    uint64_t seed = fallback;

    if (text && !toe_number_c(text, 0, max, &seed, want, sizeof(want))) {
        fprintf(stderr, "TOEHOLD_SEED=%s is not %s\n", text, want);
        exit(2);
    }
    fprintf(stderr, "TOEHOLD_SEED=%" PRIu64 "\n", seed);
    return seed;
}

#endif
