/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random.h - random numbers for tests: the seed is printed; TOE_TEST_SEED sets it.
 */
#ifndef TEST_RANDOM_H
#define TEST_RANDOM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* One generator for all files of a program: seeded once, also used by the link of tcpsim.h. */
__attribute__((weak)) uint64_t random_state;

/* Each test that draws numbers calls this first, so that it does not depend on those before it. */
static inline void random_begin(uint64_t default_seed)
{
    const char *given = getenv("TOE_TEST_SEED");

    random_state = given ? strtoull(given, 0, 0) : default_seed;
    printf("TOE_TEST_SEED=%llu\n", (unsigned long long)random_state);
}

/* splitmix64 (Steele, Lea, Flood 2014). */
static inline uint64_t random64(void)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* 0..n-1 */
static inline uint32_t random_below(uint32_t n)
{
    return (uint32_t)(random64() >> 32) % n;
}

#endif
