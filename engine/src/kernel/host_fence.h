/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_fence.h - the fence of a doorbell, done for all hosts at once by the engine that is about to
 * sleep (toe/ring.h): it sleeps seldom, they ring for every command.
 */
#ifndef TOE_ENGINE_ORDER_H
#define TOE_ENGINE_ORDER_H

#include <stdint.h>

/* Whether an engine that polls for so long before it sleeps does it: not one that sleeps at once,
 * which would interrupt the cores of its hosts each time. Nor where the kernel cannot (before Linux
 * 4.16, some sandboxes). */
int host_fence_wanted(uint32_t spin_us);

/* Every thread that runs, of a process that has registered for it, has fenced when this returns 0.
 * -1: the kernel has no memory to ask them with; somebody may have rung unheard. */
int host_fence(void);

#endif
