/* SPDX-License-Identifier: Apache-2.0 */
/* preload_ring.h - system calls that bypass the C library (preload_ring.c). */
#ifndef LIBTOE_PRELOAD_RING_H
#define LIBTOE_PRELOAD_RING_H

#include "libtoe.h"

/* Does syscall(2) without the C library, whose names may not be resolved yet. */
TOE_HIDDEN long raw_syscall(long n, ...);

#endif
