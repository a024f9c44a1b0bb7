/* SPDX-License-Identifier: Apache-2.0 */
/* preload_exec.h - the program that an exec finds (preload_exec.c). */
#ifndef LIBTOE_PRELOAD_EXEC_H
#define LIBTOE_PRELOAD_EXEC_H

#include <limits.h>

#include "libtoe.h"

/* The file that execvp() will find, into `to`. */
TOE_HIDDEN const char *preload_find(const char *file, char to[PATH_MAX]);

#endif
