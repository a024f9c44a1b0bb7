/* SPDX-License-Identifier: Apache-2.0 */
/* registers.h - register page 0 for hosts. */
#ifndef ENGINE_REGISTERS_H
#define ENGINE_REGISTERS_H

#include "control.h"

/* Returns a descriptor of a read-only image of register page 0, or -1 with errno. */
int registers_new(const struct control *c);

#endif
