/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share_use.h - what a process does before it first uses a connection that another process owns
 * (share_use.c; share.h describes such sockets). Lock held.
 */
#ifndef LIBTOE_SHARE_USE_H
#define LIBTOE_SHARE_USE_H

#include "tsock.h"

/* Asks the owner of the flow, by a message over the Unix socket itself, to share it from now on. */
TOE_HIDDEN void tshare_ask(struct tsock *s);
/* There are, or were, sockets that have to be asked for. */
extern TOE_HIDDEN bool tshare_some;
/* Before fd is used: asks, where it is such a socket and that has not been done. Releases the lock
 * meanwhile, because the owner of the flow may be another thread of this process. */
static inline void tshare_use(int fd)
{
    struct tsock *s = tsock_get(fd);

    if (unlikely(s && s->unasked))
        tshare_ask(s);
}
/* The descriptor becomes the Unix socket `end`, with its own FD_CLOEXEC. */
TOE_HIDDEN void tshare_replace(int fd, int end);
/* All the program's descriptors of s become it. */
TOE_HIDDEN void tshare_replace_all(struct tsock *s, int end);
/* Notes on the other end that it has been asked for, for every process that will have it. */
TOE_HIDDEN void tshare_note(int end);
TOE_HIDDEN bool tshare_is_noted(int end);

#endif
