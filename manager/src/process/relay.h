/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay.h - connections that this process and others both use (handover.h): a relay carries bytes
 * between a flow and a Unix socket whose other end the other processes have.
 *
 * It begins as an offer: this process uses the flow as before, until another process asks for it
 * (share.h), or writes. One thread serves all relays, and exists while there are any.
 *
 * With the lock held, except in trelay_serve().
 */
#ifndef LIBTOE_RELAY_H
#define LIBTOE_RELAY_H

#include "tsock.h"

struct relay;

/* Creates an offer of s. The end for other processes is s->child_end (descriptor + 1), which the
 * caller closes. The offer is served from the next trelay_start() on. False: no descriptors, or no
 * memory. */
TOE_HIDDEN bool trelay_offer(struct tsock *s);
/* Starts the thread unless it runs; it serves until no relay is left. False: it cannot be created.
 */
TOE_HIDDEN bool trelay_start(void);
/* Withdraws the offers of the last trelay_offer() that no process has asked for since. */
TOE_HIDDEN void trelay_withdraw(struct tsock *s);
/* Shares s from here on with other processes that have s->child_end and will not ask. */
TOE_HIDDEN void trelay_share(struct tsock *s);
/* Treats the last offer of s as accepted without an ask; this process has no descriptor for s any
 * more. */
TOE_HIDDEN bool trelay_carry(struct tsock *s);
/* Forgets the relays: in a fork child they are the parent's, in a process that ends its
 * successor's. */
TOE_HIDDEN void trelay_forget(void);
/* Returns whether there are relays. */
TOE_HIDDEN bool trelay_any(void);
/* Pauses the thread, if there is one, between two turns: until this process has been copied by a
 * fork, or until `on` is false. Releases the lock while it waits. */
TOE_HIDDEN void trelay_rest(bool on);
/* Serves until no relay is left. Takes the lock. */
TOE_HIDDEN void trelay_serve(void);

#endif
