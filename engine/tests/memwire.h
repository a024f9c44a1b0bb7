/* SPDX-License-Identifier: Apache-2.0 */
/* memwire.h - the wire in memory that the tests of the engine use as back end. */
#ifndef ENGINE_TESTS_MEMWIRE_H
#define ENGINE_TESTS_MEMWIRE_H

#include <toe/netio.h>

/* Sees each frame that a side sends. */
struct memwire_tap {
    void (*seen)(struct memwire_tap *tap, const uint8_t *frame, uint32_t len);
};

void memwire_pair(struct netio **a, struct netio **b);
/* The next count sends find no room; -1: all of them, until called again. */
void memwire_refuse(struct netio *n, int count);
/* From now on each nth send finds no room; 0: none. */
void memwire_refuse_each(struct netio *n, unsigned nth);
/* From now on, or no longer, all that is sent is lost. */
void memwire_lose(struct netio *n, int all);
void memwire_watch(struct netio *n, struct memwire_tap *tap);
/* From now on a receive returns so many frames at most; 0: as many as are asked for. */
void memwire_trickle(struct netio *n, unsigned most);
/* As many received frames may be held at once (0 at first); before hold_begin(). */
void memwire_hold(struct netio *n, uint32_t max);
/* Frames in the engine's hands. netio_close() with any ends the test. */
uint32_t memwire_out_there(const struct netio *n);
/* A frame arrives. */
void memwire_inject(struct netio *n, const uint8_t *frame, uint32_t len);

#endif
