/* SPDX-License-Identifier: Apache-2.0 */
/* takeover_save.h - saves the state of an engine for another toed. */
#ifndef ENGINE_TAKEOVER_SAVE_H
#define ENGINE_TAKEOVER_SAVE_H

#include "base/takeover_image.h"
#include "round/engine.h"

/* Saves a paused engine. Returns 0, or -1 without memory. */
int takeover_save_engine(struct engine *e, struct takeover *t);

#endif
