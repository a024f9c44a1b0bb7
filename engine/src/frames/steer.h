/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steer.h - hands frames over to their home engine when they arrived at another (see steer.c).
 */
#ifndef ENGINE_STEER_H
#define ENGINE_STEER_H

#include "engine_state.h"

/* Allocates the rings between `count` engines, for frames of up to frame_size bytes. NULL: no
 * memory. */
struct handover *handover_new(uint32_t count, uint32_t frame_size);
void handover_free(struct handover *h);

/* Returns the home engine of a frame: its number, or one of these. */
#define STEER_ALL  0xfffffffeu /* for all engines */
#define STEER_DROP 0xffffffffu
uint32_t steer_home(const uint8_t *frame, uint32_t len, uint32_t here, uint32_t count);

/* Hands the frame over to the other engines that it is for. Returns 1 when it is (also) for this
 * engine. */
int steer_out(struct engine *e, const struct netio_frame *f);
/* Delivers frames that other engines handed over to the stack, a bounded number. Returns how
 * many. */
unsigned steer_in(struct engine *e);
/* Returns 1 when handed-over frames are waiting. */
int steer_waiting(const struct engine *e);
void steer_set_engine(struct handover *h, uint32_t id, const struct engine *e);
/* Marks the engine as about to sleep (on) or awake. An engine that hands it a frame wakes it. */
void steer_sleeps(struct engine *e, int on);

#endif
