/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dispatch.h - upcalls: the only functions that a room calls although they belong to a room above.
 * The TOE and the kernel deliver events to lower rooms; higher rooms decide what a command means
 * for a socket. The calls are direct, so an upcall has no extra cost per event. Lock held.
 */
#ifndef LIBTOE_DISPATCH_H
#define LIBTOE_DISPATCH_H

#include "libtoe.h"

struct toe_cmd;
struct tobj;
struct tqp;
struct tsock;

/* From toe/: applies a HW command to its socket and notifies waiters. Never sends SW commands
 * itself (tqp_flush()). In socket/dispatch.c. */
TOE_HIDDEN void tdispatch_command(struct tqp *qp, const struct toe_cmd *c);
/* From toe/: the TOE has ended. Ends every listener queue, connect and flow, and takes the sockets
 * off their queue pairs. In socket/dispatch.c. */
TOE_HIDDEN void tdispatch_lost(void);
/* From toe/: sends the pending CONNECTs to the next engine. Not while draining. In
 * socket/connect.c. */
TOE_HIDDEN void tconnect_elsewhere(void);
/* From toe/: prefetches what notifications for these slots of a struct tqp will touch
 * (toe/inline.h, expect). In wait/expect.c. */
TOE_HIDDEN void texpect_events(void *arg, const uint32_t *slots, unsigned n, int data);
/* From base/: frees an object whose last reference was dropped. In socket/dispatch.c. */
TOE_HIDDEN void tdispatch_object_end(struct tobj *o);
/* From wait/: the program watches fd. An inherited listener is offloaded or left to the kernel now.
 * 0, or -1 with errno. Afterwards fd may no longer be one of ours. In socket/inherited.c. */
TOE_HIDDEN int tinherit_use(int fd);
/* From socket/: a descriptor of s, which other processes use too, is about to be closed. Ends the
 * offers that no other process holds. When s has no other descriptor, the last offer is relayed. In
 * process/relay.c. */
TOE_HIDDEN void trelay_look(struct tsock *s);

#endif
