/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay.h - connections that this process and others both use (handover.h): a relay carries bytes
 * between a flow and a Unix socket whose other end the others have.
 *
 * It begins as an offer: the flow is this process's as before, until somebody asks for it
 * (share.h), or writes. All relays are served by one thread, which is there while there are any.
 *
 * With the lock held, but for trelay_serve().
 */
#ifndef LIBTOE_RELAY_H
#define LIBTOE_RELAY_H

#include "tsock.h"

struct relay;

/* An offer of s; the end for others is s->child_end (descriptor + 1), to be closed by the caller.
 * False: no descriptors, or no memory. It is served from the next trelay_start() on. */
TOE_HIDDEN bool trelay_offer(struct tsock *s);
/* There is a thread that serves, now and until no relay is left. False: it cannot be made. */
TOE_HIDDEN bool trelay_start(void);
/* Takes back the offers that trelay_offer() made last and that no process has asked for since. */
TOE_HIDDEN void trelay_withdraw(struct tsock *s);
/* Others have s->child_end, and will not ask: from here on this process and they share s. */
TOE_HIDDEN void trelay_share(struct tsock *s);
/* The last offer of s is taken without an ask, and this process has no descriptor for s any more.
 */
TOE_HIDDEN bool trelay_carry(struct tsock *s);
/* In a fork child: they are the parent's. Of one that ends: they are its successor's. */
TOE_HIDDEN void trelay_forget(void);
/* Are there any? */
TOE_HIDDEN bool trelay_any(void);
/* The thread, if there is one, rests: between two turns. The lock is given back meanwhile. Until
 * the copy of this process that is made then, or until on is false. */
TOE_HIDDEN void trelay_rest(bool on);
/* Serves until no relay is left. Takes the lock. */
TOE_HIDDEN void trelay_serve(void);

#endif
