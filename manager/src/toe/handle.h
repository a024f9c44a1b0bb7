/* SPDX-License-Identifier: Apache-2.0 */
/* handle.h - numbers for listeners and connects that go through the TOE and come back (handle.c).
 * Lock held. */
#ifndef LIBTOE_HANDLE_H
#define LIBTOE_HANDLE_H

#include "libtoe.h"

struct tsock;

/* A number never 0 and not soon used again, or 0 when all are taken. */
TOE_HIDDEN uint32_t thandle_new(struct tsock *s);
TOE_HIDDEN struct tsock *thandle_get(uint32_t handle);
TOE_HIDDEN void thandle_free(uint32_t handle);
/* After an exec: s has the number that it had. False: no memory. */
TOE_HIDDEN bool thandle_restore(uint32_t handle, struct tsock *s);
/* Calls f for each socket that has a number. f may free its own. */
TOE_HIDDEN void thandle_each(void (*f)(struct tsock *s));

#endif
