/* SPDX-License-Identifier: Apache-2.0 */
/* preload_stdio.h - what dup2() tells the C library's buffered files (preload_stdio.c). */
#ifndef LIBTOE_PRELOAD_STDIO_H
#define LIBTOE_PRELOAD_STDIO_H

#include "libtoe.h"

/* The number leads elsewhere now: a standard file over it follows. */
TOE_HIDDEN void preload_stdio_moved(int fd);

#endif
