/* SPDX-License-Identifier: Apache-2.0 */
/*
 * env.h - LD_PRELOAD and the TOEHOLD_ variables as they were when the program started: a server may
 * clean or replace its environment before its first socket, or before it executes another program.
 */
#ifndef LIBTOE_ENV_H
#define LIBTOE_ENV_H

#include "libtoe.h"

/* As getenv(); returns the value at the start for a variable that is no longer set. */
TOE_HIDDEN const char *tenv(const char *name);
/* Returns the i-th variable as of the start, NAME=VALUE; NULL after the last. */
TOE_HIDDEN char *tenv_kept(size_t i);

#endif
