/* SPDX-License-Identifier: Apache-2.0 */
/* ready.h - what can be done with a socket now, and notifying those that wait for it (ready.c).
 * Lock held. */
#ifndef LIBTOE_READY_H
#define LIBTOE_READY_H

#include "tsock.h"

/* What epoll would say of this object now, EPOLL* bits (the same numbers as POLL*): all that hold,
 * not only those asked for. For a socket in TS_NEW: 0, the kernel answers for it. */
TOE_HIDDEN uint32_t tsock_events(const struct tsock *s);
TOE_HIDDEN uint32_t tobj_events(struct tobj *o);
/* Must the kernel be asked about the same number as well (an undecided socket, a listener that
 * the kernel serves too, the kernel's part of an epoll instance)? */
TOE_HIDDEN bool tobj_kernel_too(const struct tobj *o);
/* Something changed that `events` (EPOLL* bits) describes: fills ready lists, wakes sleepers. */
TOE_HIDDEN void tobj_notify(struct tobj *o, uint32_t events);

#endif
