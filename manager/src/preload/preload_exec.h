/* SPDX-License-Identifier: Apache-2.0 */
/* preload_exec.h - the search for the program of an exec (preload_exec.c). */
#ifndef LIBTOE_PRELOAD_EXEC_H
#define LIBTOE_PRELOAD_EXEC_H

#include <limits.h>

#include "libtoe.h"

/* Returns the path of the file that execvp() will find; uses the buffer `to`. */
TOE_HIDDEN const char *preload_find(const char *file, char to[PATH_MAX]);

#endif
