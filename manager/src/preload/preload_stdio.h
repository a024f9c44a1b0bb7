/* SPDX-License-Identifier: Apache-2.0 */
/* preload_stdio.h - updates the C library's buffered files after dup2() (preload_stdio.c). */
#ifndef LIBTOE_PRELOAD_STDIO_H
#define LIBTOE_PRELOAD_STDIO_H

#include "libtoe.h"

/* Makes a standard file follow its number, which now refers to another object. */
TOE_HIDDEN void preload_stdio_moved(int fd);

#endif
