/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trips.h - the last round trips that an engine's stack has timed, for tools (toe/attach.h,
 * TOEDEV_HELLO_RTT). Nothing is kept until the first asks.
 */
#ifndef ENGINE_TRIPS_H
#define ENGINE_TRIPS_H

#include <stdint.h>

#include <toe/core.h>

#define TRIPS 4096u /* a power of two */

struct engine;

struct trips {
    uint64_t head; /* ever timed since the first was asked; entry n is at n mod TRIPS */
    struct toec_rtt entry[TRIPS];
};

/* Copies those from *since on, as far as they are kept, into out; *since becomes the first of them,
 * *head one behind the last. In the engine's thread. 0, or -1 without memory. */
int trips_take(struct engine *e, uint64_t *since, uint64_t *head, struct toec_rtt *out);
void trips_free(struct engine *e);

#endif
