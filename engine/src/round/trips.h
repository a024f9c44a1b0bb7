/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trips.h - the latest round trips measured by an engine's stack, for tools (toe/attach.h,
 * TOEDEV_HELLO_RTT). Nothing is recorded before the first request.
 */
#ifndef ENGINE_TRIPS_H
#define ENGINE_TRIPS_H

#include <stdint.h>

#include <toe/core.h>

#define TRIPS 4096u /* a power of two */

struct engine;

struct trips {
    uint64_t head; /* round trips recorded so far; entry n is at n mod TRIPS */
    struct toec_rtt entry[TRIPS];
};

/* Copies the entries from *since on that are still kept into out. *since becomes the first of them,
 * *head one past the last. In the engine's thread. Returns 0, or -1 without memory. */
int trips_take(struct engine *e, uint64_t *since, uint64_t *head, struct toec_rtt *out);
void trips_free(struct engine *e);

#endif
