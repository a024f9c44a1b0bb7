/* SPDX-License-Identifier: Apache-2.0 */
/* exec_file.h - which programs will load libtoe (exec_file.c). */
#ifndef LIBTOE_EXEC_FILE_H
#define LIBTOE_EXEC_FILE_H

#include "libtoe.h"

/* Returns whether this file, executed with this environment, will load this library. */
TOE_HIDDEN bool texec_loads_us(const char *path, char *const envp[]);

#endif
