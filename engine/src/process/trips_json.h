/* SPDX-License-Identifier: Apache-2.0 */
/* trips_json.h - the round trips of an engine, as JSON for tools. */
#ifndef ENGINE_TRIPS_JSON_H
#define ENGINE_TRIPS_JSON_H

#include <jansson.h>

#include "control.h"

/* Returns the answer to TOEDEV_HELLO_RTT with this text, "ENGINE SINCE". NULL: no memory, or no
 * such engine. */
json_t *trips_json(struct control *c, const char *text);

#endif
