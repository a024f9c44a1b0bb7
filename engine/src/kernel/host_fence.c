/* SPDX-License-Identifier: Apache-2.0 */
/* host_fence.c - see host_fence.h; membarrier(2). */
#define _GNU_SOURCE
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host_fence.h"

#define SPIN_LEAST_US 20u

static long membarrier(int cmd)
{
    return syscall(SYS_membarrier, cmd, 0, 0);
}

int host_fence_wanted(uint32_t spin_us)
{
    long known = membarrier(MEMBARRIER_CMD_QUERY);

    return spin_us >= SPIN_LEAST_US && known > 0 && (known & MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}

int host_fence(void)
{
    return membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED) == 0 ? 0 : -1;
}
