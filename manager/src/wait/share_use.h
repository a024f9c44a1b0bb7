/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share_use.h - steps before the first use of a connection that another process owns (share_use.c;
 * share.h describes such sockets). Lock held.
 */
#ifndef LIBTOE_SHARE_USE_H
#define LIBTOE_SHARE_USE_H

#include "tsock.h"

/* Asks the owner of the flow, by a message over the Unix socket itself, to share it from now on. */
TOE_HIDDEN void tshare_ask(struct tsock *s);
/* Whether there are, or were, sockets that need an ask. */
extern TOE_HIDDEN bool tshare_some;
/* Before fd is used: asks for it, if it is such a socket and that is not done yet. Releases the
 * lock while it waits, because the owner of the flow may be another thread of this process. */
static inline void tshare_use(int fd)
{
    struct tsock *s = tsock_get(fd);

    if (unlikely(s && s->unasked))
        tshare_ask(s);
}
/* Replaces the descriptor by the Unix socket `end`; its FD_CLOEXEC is kept. */
TOE_HIDDEN void tshare_replace(int fd, int end);
/* Replaces all the program's descriptors of s by it. */
TOE_HIDDEN void tshare_replace_all(struct tsock *s, int end);
/* Notes on the other end that it has been asked for, visible to every process that will have it. */
TOE_HIDDEN void tshare_note(int end);
TOE_HIDDEN bool tshare_is_noted(int end);

#endif
