/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handover.h - connections across fork: the child of a server that forks per connection talks to
 * its peer through the parent.
 *
 * The flow belongs to the parent's queue pair. At fork each open connection gets a pair of Unix
 * sockets. In the child one of them takes the connection's number, so that all the child does with
 * it is the kernel's. When the parent closes its own last descriptor while the child's end is open,
 * a thread of the parent carries bytes between the other end and the flow until both ways have
 * ended. Linux keeps such a connection open for the child in the same way.
 *
 * All with the lock held.
 */
#ifndef TOE_HANDOVER_H
#define TOE_HANDOVER_H

#include "libtoe.h"

/* Around fork, in this order; in_child before the table of objects is made the child's own. */
TOE_HIDDEN void thandover_before(void);
TOE_HIDDEN void thandover_in_parent(void);
TOE_HIDDEN void thandover_in_child(void);

/* The last descriptor of s is about to be closed. True: a child still uses the connection; s lives
 * on, and fd leads no longer to it. */
TOE_HIDDEN bool thandover_close(struct tsock *s, int fd);
/* s ends: its end of the pair too. */
TOE_HIDDEN void thandover_end(struct tsock *s);

#endif
