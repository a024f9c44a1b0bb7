/* SPDX-License-Identifier: Apache-2.0 */
/* switch.h - offloads of a toed that runs, switched and shown. */
#ifndef ENGINE_SWITCH_H
#define ENGINE_SWITCH_H

#include <jansson.h>

#include "control.h"
#include "frames/offload.h"

/* What TOEDEV_HELLO_OFFLOAD with this text answers. NULL: no memory. */
json_t *offload_answer(struct control *c, int fd, const char *text);
json_t *offload_json(const struct offload *o);
/* 0, or -1 and a sentence when something asked for (to be on) is not offered. */
int offload_fixed(uint32_t offered, uint32_t asked, char *err, size_t err_size);

#endif
