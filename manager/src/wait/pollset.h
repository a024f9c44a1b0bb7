/* SPDX-License-Identifier: Apache-2.0 */
/* pollset.h - poll(2) for select.c and the preload library (poll.c; <poll.h> is the system's). */
#ifndef LIBTOE_POLLSET_H
#define LIBTOE_POLLSET_H

#include "libtoe.h"

/* Returns whether any of these descriptors is libtoe's. Otherwise the kernel alone serves the call.
 */
TOE_HIDDEN bool tpoll_any(const struct pollfd *fds, nfds_t n);

/*
 * Does poll(2) over descriptors of the TOE and of the kernel until `deadline` (tclock_ns() time; 0:
 * does not wait). as_select: an entry counts only for the events that select(2) means by its
 * POLLIN, POLLOUT and POLLPRI; otherwise hang-ups and errors always count, as in poll. Fills
 * revents. Returns the number of entries that count, 0 when the deadline has passed, -1 with errno
 * (EINTR, ENOMEM, EMFILE).
 */
TOE_HIDDEN int tpoll_wait(struct pollfd *fds, nfds_t n, bool as_select, uint64_t deadline,
                          const sigset_t *mask);

/* Returns the deadline `sec`, `nsec` from now; both are in range. */
TOE_HIDDEN uint64_t tpoll_deadline(uint64_t sec, uint64_t nsec);

#endif
