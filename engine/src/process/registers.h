/* SPDX-License-Identifier: Apache-2.0 */
/* registers.h - register page 0, as hosts see it. */
#ifndef ENGINE_REGISTERS_H
#define ENGINE_REGISTERS_H

#include "control.h"

/* A read-only image of register page 0. -1: errno says why not. */
int registers_new(const struct control *c);

#endif
