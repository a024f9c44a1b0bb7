/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - the engine's clock, in nanoseconds. */
#ifndef ENGINE_CLOCK_H
#define ENGINE_CLOCK_H

#include <stdint.h>

#define NS_PER_US 1000ull
#define NS_PER_MS 1000000ull
#define NS_PER_S  1000000000ull

/* Returns CLOCK_MONOTONIC. tests/virtual/ replaces it with a virtual clock. */
uint64_t engine_clock(void);

#endif
