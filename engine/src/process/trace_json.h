/* SPDX-License-Identifier: Apache-2.0 */
/* trace_json.h - the last events of flows (hosts/trace.h), as JSON for tools. */
#ifndef ENGINE_TRACE_JSON_H
#define ENGINE_TRACE_JSON_H

#include <jansson.h>

#include "control.h"

/*
 * Returns the answer to TOEDEV_HELLO_TRACE. NULL: the request is malformed or names no engine, or
 * no memory.
 *
 * "list ENGINE RING": the flows that have events, from this ring on, {flows, next}, as flows_json()
 * does. "flow ENGINE.RING.SERIAL": the events of one flow; {"gone": true} if newer flows have
 * overwritten them; {"unknown": true} if there never was such a flow.
 */
json_t *trace_json(struct control *c, const char *request);

#endif
