/* SPDX-License-Identifier: Apache-2.0 */
/* moderation.h - interrupt moderation that follows the load (SEEDS S3.3). */
#ifndef LIBTOE_MODERATION_H
#define LIBTOE_MODERATION_H

#include <stdint.h>

#define TMODERATION_LEVELS 3

/* All zero: no load seen yet. */
struct tmoderation {
    uint64_t since;  /* when the current window began, nanoseconds */
    uint64_t best;   /* highest recent rate, commands per second */
    uint32_t tail;   /* HW tail when the window began */
    uint32_t sleeps; /* in the window */
    uint32_t steady; /* windows since the rate without a wait was last measured */
    uint32_t hold;   /* windows until a longer wait is tried again */
    uint8_t level;   /* index of the wait */
    uint8_t backoff; /* consecutive steps that cost throughput */
    uint8_t probing; /* level to return to after a window without a wait, 0: none */
    uint8_t stepped; /* the last window began with a longer wait */
};

/*
 * Called at each arming of the interrupt with the HW tail and the time. Returns the microseconds
 * that the TOE may wait for more commands before it wakes the host, 0: none.
 */
uint32_t tmoderation_usec(struct tmoderation *m, uint32_t tail, uint64_t now);

#endif
