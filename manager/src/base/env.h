/* SPDX-License-Identifier: Apache-2.0 */
/*
 * env.h - LD_PRELOAD and the TOEHOLD_ variables as they were when the program started: a server may
 * clean or replace its environment before its first socket, or before it executes another program.
 */
#ifndef LIBTOE_ENV_H
#define LIBTOE_ENV_H

#include "libtoe.h"

/* As getenv(); a variable that is not set any more is what it was at the start. */
TOE_HIDDEN const char *tenv(const char *name);
/* Those of the start, NAME=VALUE; NULL behind the last. */
TOE_HIDDEN char *tenv_kept(size_t i);

#endif
