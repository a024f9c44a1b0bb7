/* SPDX-License-Identifier: Apache-2.0 */
/* takeover_save.h - writes an engine down for another toed. */
#ifndef ENGINE_TAKEOVER_SAVE_H
#define ENGINE_TAKEOVER_SAVE_H

#include "base/takeover_image.h"
#include "round/engine.h"

/* It is paused. Returns 0, or -1: no memory. */
int takeover_save_engine(struct engine *e, struct takeover *t);

#endif
