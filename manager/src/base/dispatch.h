/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dispatch.h - the door: the only functions that a room calls although they belong to a room above.
 * The TOE and the kernel deliver events from below; what a command means for a socket is decided
 * above. Direct calls, so that the door costs nothing per event. Lock held.
 */
#ifndef LIBTOE_DISPATCH_H
#define LIBTOE_DISPATCH_H

#include "libtoe.h"

struct toe_cmd;
struct tobj;
struct tqp;
struct tsock;

/* From toe/: a HW command becomes a change of a socket and a notification. Never sends SW commands
 * itself (tqp_flush()). In socket/dispatch.c. */
TOE_HIDDEN void tdispatch_command(struct tqp *qp, const struct toe_cmd *c);
/* From toe/: the TOE is gone. Ends every listener queue, connect and flow, and takes the sockets
 * off their queue pairs. In socket/dispatch.c. */
TOE_HIDDEN void tdispatch_lost(void);
/* From toe/: sends the CONNECTs that the next engine is to have. Not while draining. In
 * socket/connect.c. */
TOE_HIDDEN void tconnect_elsewhere(void);
/* From toe/: prefetches what notifications for these slots of a struct tqp will touch
 * (toe/inline.h, expect). In wait/expect.c. */
TOE_HIDDEN void texpect_events(void *arg, const uint32_t *slots, unsigned n, int data);
/* From base/: the last reference to the object is dropped; it is given up. In socket/dispatch.c. */
TOE_HIDDEN void tdispatch_object_end(struct tobj *o);
/* From wait/: the program watches fd. An inherited listener is offloaded or left to the kernel now.
 * 0, or -1 with errno. fd may lead to nothing of ours afterwards. In socket/inherited.c. */
TOE_HIDDEN int tinherit_use(int fd);
/* From socket/: a descriptor of s, which other processes use too, is about to be closed. Ends the
 * offers that no other process holds. A last one is carried when s has no other descriptor. In
 * process/relay.c. */
TOE_HIDDEN void trelay_look(struct tsock *s);

#endif
