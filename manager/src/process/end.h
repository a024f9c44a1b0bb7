/* SPDX-License-Identifier: Apache-2.0 */
/* end.h - the process ends, or ends its use of the TOE (end.c). */
#ifndef LIBTOE_END_H
#define LIBTOE_END_H

#include "libtoe.h"

/* Ends the process's use of the TOE. Its connections are closed gracefully, as the kernel closes a
 * dying process's sockets, or left to another process that stays behind for its children. Other
 * threads run until the process has ended, and must not attach again. Takes the lock, unless this
 * thread has it: then it died inside libtoe, and nothing can be done. */
TOE_HIDDEN void tctx_end(void);

#endif
