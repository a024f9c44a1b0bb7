/* SPDX-License-Identifier: Apache-2.0 */
/* ready.h - readiness of sockets, and notification of the threads that wait for it (ready.c). Lock
 * held. */
#ifndef LIBTOE_READY_H
#define LIBTOE_READY_H

#include "tsock.h"

/* Return the EPOLL* bits (the same numbers as POLL*) that hold for this object now, not only the
 * requested ones. 0 for a socket in TS_NEW: the kernel reports its events. */
TOE_HIDDEN uint32_t tsock_events(const struct tsock *s);
TOE_HIDDEN uint32_t tobj_events(struct tobj *o);
/* Returns whether the kernel must be asked about the same number as well (an undecided socket, a
 * listener that the kernel serves too, the kernel's part of an epoll instance). */
TOE_HIDDEN bool tobj_kernel_too(const struct tobj *o);
/* Adds the object to ready lists and wakes sleepers, after a change described by `events` (EPOLL*
 * bits). */
TOE_HIDDEN void tobj_notify(struct tobj *o, uint32_t events);

#endif
