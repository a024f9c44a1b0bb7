/* SPDX-License-Identifier: Apache-2.0 */
/* flows_json.h - listeners and flows of an engine, as JSON for tools. */
#ifndef ENGINE_FLOWS_JSON_H
#define ENGINE_FLOWS_JSON_H

#include <jansson.h>

#include "control.h"

/*
 * Returns the answer to TOEDEV_HELLO_FLOWS. from is "ENGINE QP INDEX": the first queue pair wanted,
 * and where in it to begin, "0 0 0" for all of engine 0. The answer has at most FLOWS_BATCH
 * entries, and `next`, the text to ask for the rest, or null. NULL: from is malformed or names no
 * engine, or no memory.
 */
#define FLOWS_BATCH 512u
json_t *flows_json(struct control *c, const char *from);

#endif
