/* SPDX-License-Identifier: Apache-2.0 */
/* handle.h - handles: numbers of listeners and connects that the TOE returns in its commands
 * (handle.c). Lock held. */
#ifndef LIBTOE_HANDLE_H
#define LIBTOE_HANDLE_H

#include "libtoe.h"

struct tsock;

/* Allocates a handle, never 0 and not reused soon; returns 0 when all are in use. */
TOE_HIDDEN uint32_t thandle_new(struct tsock *s);
TOE_HIDDEN struct tsock *thandle_get(uint32_t handle);
TOE_HIDDEN void thandle_free(uint32_t handle);
/* After an exec: gives s its old handle. False: no memory. */
TOE_HIDDEN bool thandle_restore(uint32_t handle, struct tsock *s);
/* Calls f for each socket with a handle. f may free that handle. */
TOE_HIDDEN void thandle_each(void (*f)(struct tsock *s));

#endif
