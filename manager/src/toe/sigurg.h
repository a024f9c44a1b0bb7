/* SPDX-License-Identifier: Apache-2.0 */
/* sigurg.h - SIGURGs that fall due while the lock is held (sigurg.c). */
#ifndef LIBTOE_SIGURG_H
#define LIBTOE_SIGURG_H

#include "libtoe.h"

/* To whom SIGURG is sent when the lock is released. Past this many, further ones are dropped. */
#define TSIGURG_MAX 16u
struct tsigurg {
    uint32_t n;
    int32_t owner[TSIGURG_MAX];
    bool thread[TSIGURG_MAX]; /* owner is a thread's number (F_OWNER_TID) */
};

/* Enqueues one for the owner, 0: none. Its handler may use the socket, so it is sent when the lock
 * has been released. Lock held. */
TOE_HIDDEN void tsigurg_owe(int32_t owner, bool thread);
/* Sends those that fell due while the lock was held. Lock not held. */
TOE_HIDDEN void tsigurg_send(const struct tsigurg *due);

#endif
