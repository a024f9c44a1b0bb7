/* SPDX-License-Identifier: Apache-2.0 */
/* expect.h - see expect.c. Lock held. */
#ifndef TOE_EXPECT_H
#define TOE_EXPECT_H

#include "ctx.h"

/* Notifications for these slots of a struct tqp are likely to come (toe/inline.h, expect). */
TOE_HIDDEN void texpect_events(void *arg, const uint32_t *slots, unsigned n, int data);

#endif
