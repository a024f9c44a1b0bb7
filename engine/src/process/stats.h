/* SPDX-License-Identifier: Apache-2.0 */
/* stats.h - statistics, as JSON for tools. */
#ifndef ENGINE_STATS_H
#define ENGINE_STATS_H

#include <jansson.h>

#include "control.h"

/* Returns the answer to TOEDEV_HELLO_QUERY with this name. NULL: no memory. */
json_t *stats_json(struct control *c, const char *more);
/* Sends an answer in one message, and frees it. */
void query_answer(int fd, json_t *j);

#endif
