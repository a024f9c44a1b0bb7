/* SPDX-License-Identifier: Apache-2.0 */
/* end.h - the process ends, or ends its use of the TOE (end.c). */
#ifndef LIBTOE_END_H
#define LIBTOE_END_H

#include "libtoe.h"

/* The process ends: its connections are closed as the kernel closes a dying process's sockets,
 * gracefully, or left to another process that stays behind for its children. Other threads go on
 * until the process is gone, and must not bring up what has been taken down. Takes the lock, unless
 * this thread has it: then it died inside, and nothing can be done. */
TOE_HIDDEN void tctx_end(void);

#endif
