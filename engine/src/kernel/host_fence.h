/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_fence.h - the doorbell fence (toe/ring.h), executed on behalf of all hosts by an engine
 * about to sleep. The engine sleeps rarely, while hosts ring for every command.
 */
#ifndef TOE_ENGINE_ORDER_H
#define TOE_ENGINE_ORDER_H

#include <stdint.h>

/* Returns whether an engine that polls for spin_us before it sleeps should issue the hosts' fence.
 * An engine that sleeps at once should not, as it would interrupt its hosts' cores each time. Also
 * 0 where the kernel does not support it (before Linux 4.16, some sandboxes). */
int host_fence_wanted(uint32_t spin_us);

/* Makes every running thread of the registered processes execute a fence. Returns 0 when all have;
 * -1 when the kernel has no memory for it: a doorbell may have been missed. */
int host_fence(void);

#endif
