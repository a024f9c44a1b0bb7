/* SPDX-License-Identifier: Apache-2.0 */
/* exec_env.h - the environment across exec (exec_env.c). */
#ifndef LIBTOE_EXEC_ENV_H
#define LIBTOE_EXEC_ENV_H

#include "libtoe.h"

/* The environment for a program that inherits a listener by exec. _room() returns the number of
 * pointers needed, 0: envp can be used as it is. _fill() fills them. */
TOE_HIDDEN size_t texec_env_room(char *const envp[]);
TOE_HIDDEN void texec_env_fill(char *const envp[], char *to[]);

#endif
