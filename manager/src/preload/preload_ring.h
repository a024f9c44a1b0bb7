/* SPDX-License-Identifier: Apache-2.0 */
/* preload_ring.h - io_uring (preload_ring.c). */
#ifndef LIBTOE_PRELOAD_RING_H
#define LIBTOE_PRELOAD_RING_H

#include "libtoe.h"

/* Checks whether a ring may be created. 0, or -1 with errno ENOSYS. */
TOE_HIDDEN int preload_ring_wanted(void);

#endif
