/* SPDX-License-Identifier: Apache-2.0 */
/* stack.h - the replacement of core/: the functions of toe/core.h, and its settings. */
#ifndef IDEAL_STACK_H
#define IDEAL_STACK_H

#include "ideal.h"

/* Sets the settings and the place of the results; call it before the engine is created. */
void ideal_use(struct ideal *i);

#endif
