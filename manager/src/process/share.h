/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share.h - the sockets that the users of a connection have when several processes use it.
 *
 * Its number is a Unix socket, the same open file in all of them. So the kernel orders their reads,
 * keeps its flags, and detects the last close. libtoe keeps the names and options (TS_SHARED). The
 * process that owns the flow carries bytes between it and the other end (relay.h). The other end
 * has a name that encodes the names of the connection: a process that gets such a number by exec or
 * SCM_RIGHTS recognises it by that.
 *
 * A child of fork begins with an offer: its parent uses the flow as before. The child asks, by a
 * message over that same socket, before it first uses it; from then on both share it.
 *
 * With the lock held.
 */
#ifndef LIBTOE_SHARE_H
#define LIBTOE_SHARE_H

#include "tsock.h"

/* ---- in the processes that use it (its first use: share_use.h) ---- */

/* Asks for all such sockets, or those that an exec leaves open, before a program gets them that
 * will not ask. */
TOE_HIDDEN void tshare_use_all(bool at_exec);
/* Returns whether there is a socket that has not been asked for. */
TOE_HIDDEN bool tshare_any_unasked(void);
/* Checks a number received from another process, and registers it if it is such a socket. */
TOE_HIDDEN bool tshare_adopt(int fd);
/* Makes s, a connection of the parent whose numbers have become Unix sockets, TS_SHARED. */
TOE_HIDDEN void tshare_inherit(struct tsock *s);
/* Marks a flow of the parent's as not available in this process. */
TOE_HIDDEN void tshare_orphan(struct tsock *s);

/* ---- in the process that owns the flow ---- */

/* Returns whether the program has a number of s. */
TOE_HIDDEN bool tshare_has_number(const struct tsock *s);
/* Divides s: its numbers and registrations now belong to the Unix socket `end`, and the new socket
 * `flow` gets the flow. nonblock: O_NONBLOCK before the division. */
TOE_HIDDEN void tshare_divide(struct tsock *s, bool nonblock, struct tsock *flow, int end);
/* Give our end of a pair the names of s, and the other end its flags and time limits. */
TOE_HIDDEN void tshare_name(int unix_fd, const struct tsock *s);
TOE_HIDDEN void tshare_prepare(int end, const struct tsock *s);

/* An ask: a duplicate of the asker's end, and the descriptor for the answer. -1: none. */
struct tshare_ask {
    int end, answer;
};
/* As recv(): reads bytes that others have written, and an ask, which is not part of these bytes.
 * Also without the lock. */
TOE_HIDDEN ssize_t tshare_hear(int unix_fd, void *buf, size_t n, struct tshare_ask *ask);
/* Answers an ask: the asker uses this end instead. */
TOE_HIDDEN void tshare_answer(int answer, int end);

#endif
