/* SPDX-License-Identifier: Apache-2.0 */
/* saved_json.h - a saved state as JSON, and back. */
#ifndef TOE_CLI_TUNE_SAVED_JSON_H
#define TOE_CLI_TUNE_SAVED_JSON_H

#include <jansson.h>

#include "saved_state.h"

/* Returns the state as an object, or NULL without memory. */
json_t *tune_saved_json(const struct tune_saved *s);

/* Fills s from such an object. Returns false when any part of it is missing or invalid. */
bool tune_saved_parse(const json_t *root, struct tune_saved *s);

#endif
