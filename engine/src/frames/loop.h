/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop.h - loopback: frames that a stack sends to one of its own addresses are queued, and received
 * by the same stack in the engine's next round. They never reach a back end or another engine. A
 * capture shows them (wiretap.h).
 */
#ifndef ENGINE_LOOP_H
#define ENGINE_LOOP_H

#include <stdint.h>

#include "offload.h"

struct engine;
struct toec_tx;

#define LOOP_FRAMES 64u /* queue length; beyond it, core/ gets "no room" from transmit */

struct loop {
    uint8_t *mem; /* LOOP_FRAMES times the largest frame; NULL until the first one */
    uint32_t len[LOOP_FRAMES];
    uint32_t head, tail; /* frames delivered and queued so far */
};

/* Queues a frame with tx->local. Returns 0, or -1 when there is no room. p: its whole payload. */
int loop_keep(struct engine *e, const struct toec_tx *tx, const struct offload_payload *p);
/* Returns non-zero when frames are queued. */
static inline int loop_waits(const struct loop *l)
{
    return l->head != l->tail;
}
/* Delivers the frames queued now, not those sent in reaction to them. Returns how many. */
unsigned loop_run(struct engine *e);
void loop_free(struct loop *l);

#endif
