/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop.h - what a stack sends to an address of its own: kept, and handed back to it in the engine's
 * next round. Such frames never reach a back end, another engine or a capture file.
 */
#ifndef ENGINE_LOOP_H
#define ENGINE_LOOP_H

#include <stdint.h>

#include "offload.h"

struct engine;
struct toec_tx;

#define LOOP_FRAMES 64u /* kept at once; with more core/ is told that there is no room */

struct loop {
    uint8_t *mem; /* LOOP_FRAMES times the largest frame; NULL until the first one */
    uint32_t len[LOOP_FRAMES];
    uint32_t head, tail; /* frames handed back, and kept, since the beginning */
};

/* Keeps a frame with tx->local: 0, or -1 when there is no room. p: its payload, whole. */
int loop_keep(struct engine *e, const struct toec_tx *tx, const struct offload_payload *p);
/* Not 0 when there are frames to hand back. */
static inline int loop_waits(const struct loop *l)
{
    return l->head != l->tail;
}
/* Hands back the frames that are there now, not those that they bring about. Returns how many. */
unsigned loop_run(struct engine *e);
void loop_free(struct loop *l);

#endif
