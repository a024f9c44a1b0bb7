/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share.h - the socket of a connection that several processes use: what its users have.
 *
 * Its number is a Unix socket, the same open file in all of them, so that the kernel keeps order
 * between them: who reads, what flags it has, when the last has closed it. Libtoe keeps the names
 * and options (TS_SHARED). The process that has the flow carries bytes between it and the other end
 * (relay.h), which has a name of its own that tells those of the connection: who gets such a
 * number by exec or SCM_RIGHTS knows it by that.
 *
 * A child of fork begins with an offer: its parent goes on with the flow as before. The child asks,
 * by a message over that very socket, before it first uses it; from then on both share.
 *
 * With the lock held.
 */
#ifndef LIBTOE_SHARE_H
#define LIBTOE_SHARE_H

#include "tsock.h"

/* ---- who uses it (its first use: share_use.h) ---- */

/* Before another program, which will not ask, gets the numbers that an exec leaves open, or all. */
TOE_HIDDEN void tshare_use_all(bool at_exec);
/* Is there one that has not been asked for? */
TOE_HIDDEN bool tshare_any_unasked(void);
/* A number that came from another process: is it such a socket? Then it is known from here on. */
TOE_HIDDEN bool tshare_adopt(int fd);
/* A connection of the parent's, whose numbers have become Unix sockets. */
TOE_HIDDEN void tshare_inherit(struct tsock *s);
/* The parent's flow: nothing of it is here. */
TOE_HIDDEN void tshare_orphan(struct tsock *s);

/* ---- who has the flow ---- */

/* Does a number of the program's lead there? */
TOE_HIDDEN bool tshare_has_number(const struct tsock *s);
/* Numbers and registrations of s lead to the Unix socket; `flow`, new, has the flow. O_NONBLOCK was
 * so when both were the same. */
TOE_HIDDEN void tshare_divide(struct tsock *s, bool nonblock, struct tsock *flow, int end);
/* Our end of a pair has the names of s; theirs the flags and time limits. */
TOE_HIDDEN void tshare_name(int unix_fd, const struct tsock *s);
TOE_HIDDEN void tshare_prepare(int end, const struct tsock *s);

/* An ask: one more of the asker's end, and where its answer goes. -1: there is none. */
struct tshare_ask {
    int end, answer;
};
/* As recv(): what others have written, and an ask, which is no byte of theirs. Without the lock
 * too. */
TOE_HIDDEN ssize_t tshare_hear(int unix_fd, void *buf, size_t n, struct tshare_ask *ask);
/* The asker is to use this end instead. */
TOE_HIDDEN void tshare_answer(int answer, int end);

#endif
