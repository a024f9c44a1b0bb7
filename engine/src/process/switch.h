/* SPDX-License-Identifier: Apache-2.0 */
/* switch.h - switches and shows the offloads of a running toed. */
#ifndef ENGINE_SWITCH_H
#define ENGINE_SWITCH_H

#include <jansson.h>

#include "control.h"
#include "frames/offload.h"

/* Executes TOEDEV_HELLO_OFFLOAD with this text and returns its answer. NULL: no memory. */
json_t *offload_answer(struct control *c, int fd, const char *text);
json_t *offload_json(const struct offload *o);
/* Returns 0, or -1 with a message when an offload to be switched on is not offered. */
int offload_fixed(uint32_t offered, uint32_t asked, char *err, size_t err_size);

#endif
