/* SPDX-License-Identifier: Apache-2.0 */
/* sigurg.c - SIGURGs that become due while the lock is held (sigurg.h). */
#include <signal.h>

#include "ctx.h"
#include "sigurg.h"

void tsigurg_owe(int32_t owner, bool thread)
{
    struct tsigurg *due = &tctx.sigurg;
    uint32_t i = 0;

    while (i < due->n && (due->owner[i] != owner || due->thread[i] != thread))
        i++;
    if (owner && i < TSIGURG_MAX) {
        due->owner[i] = owner;
        due->thread[i] = thread;
        due->n = i < due->n ? due->n : i + 1;
    }
}

void tsigurg_send(const struct tsigurg *due)
{
    int saved = errno;

    for (uint32_t i = 0; i < due->n; i++)
        if (due->thread[i])
            sys_call(SYS_tkill, due->owner[i], SIGURG);
        else if (due->owner[i] != -1) /* process group 1 to F_SETOWN, to kill() everyone */
            kill(due->owner[i], SIGURG);
    errno = saved;
}
