/* SPDX-License-Identifier: Apache-2.0 */
/* clock.c - the engine's clock; tests/virtual/ replaces it with a virtual clock. */
#include <time.h>

#include "clock.h"

uint64_t engine_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}
