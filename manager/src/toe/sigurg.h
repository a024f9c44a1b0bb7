/* SPDX-License-Identifier: Apache-2.0 */
/* sigurg.h - SIGURGs that become due while the lock is held (sigurg.c). */
#ifndef LIBTOE_SIGURG_H
#define LIBTOE_SIGURG_H

#include "libtoe.h"

/* Receivers of SIGURG when the lock is released. Further ones than TSIGURG_MAX are dropped. */
#define TSIGURG_MAX 16u
struct tsigurg {
    uint32_t n;
    int32_t owner[TSIGURG_MAX];
    bool thread[TSIGURG_MAX]; /* owner is a thread's number (F_OWNER_TID) */
};

/* Enqueues a SIGURG for the owner, 0: none. It is sent after the lock is released, because its
 * handler may use the socket. Lock held. */
TOE_HIDDEN void tsigurg_owe(int32_t owner, bool thread);
/* Sends the SIGURGs that became due while the lock was held. Lock not held. */
TOE_HIDDEN void tsigurg_send(const struct tsigurg *due);

#endif
