/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steer.h - frames that arrived at one engine and are home to another (see steer.c).
 */
#ifndef ENGINE_STEER_H
#define ENGINE_STEER_H

#include "engine_state.h"

/* Rings between count engines for frames of up to frame_size bytes. NULL: no memory. */
struct handover *handover_new(uint32_t count, uint32_t frame_size);
void handover_free(struct handover *h);

/* Which engine a frame is for: its number, or one of these. */
#define STEER_ALL  0xfffffffeu /* everyone wants to know it */
#define STEER_DROP 0xffffffffu
uint32_t steer_home(const uint8_t *frame, uint32_t len, uint32_t here, uint32_t count);

/* Hands the frame over when it is for others. Returns 1 when it is (also) for this engine. */
int steer_out(struct engine *e, const struct netio_frame *f);
/* Feeds what others have handed over to the stack, a bounded number. Returns how many. */
unsigned steer_in(struct engine *e);
/* 1 when frames wait. */
int steer_waiting(const struct engine *e);
void steer_set_engine(struct handover *h, uint32_t id, const struct engine *e);
/* The engine is about to sleep, or awake again: who hands it a frame wakes it. */
void steer_sleeps(struct engine *e, int on);

#endif
