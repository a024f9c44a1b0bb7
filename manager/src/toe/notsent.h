/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notsent.h - TCP_NOTSENT_LOWAT (tcp(7)): with more bytes not sent than the mark, a socket is not
 * writable and takes no more. Lock held.
 */
#ifndef LIBTOE_NOTSENT_H
#define LIBTOE_NOTSENT_H

#include "eor.h"
#include "tsock.h"

/* Sets s->bounded. */
static inline void tnotsent_bound(struct tsock *s)
{
    s->bounded = s->opts.notsent_lowat || s->fast || s->eor.n[0];
}

/* Takes s->opts.notsent_lowat into account from now on, and sends OPTION if s has a flow. */
TOE_HIDDEN void tnotsent_apply(struct tsock *s);
/* Returns the bytes not sent yet, of those that the TOE has been given. It is an upper bound where
 * the TOE has sent since it wrote the flow record. */
TOE_HIDDEN uint32_t tnotsent_bytes(const struct tsock *s);
/* For s->bounded. Returns whether to report EPOLLOUT: less than half of the mark is not sent, so
 * that a woken writer can write a while (tcp_stream_memory_free() of Linux). */
TOE_HIDDEN bool tnotsent_low(const struct tsock *s);
/* For s->bounded. Returns the bytes that one step of a write may add: 0 at the mark. Before the
 * connection is open, those that the SYN carries. */
TOE_HIDDEN uint32_t tnotsent_room(const struct tsock *s);

/* Returns whether to report EPOLLOUT. */
static inline bool tnotsent_writable(const struct tsock *s)
{
    return tsock_has_space(s) && (likely(!s->bounded) || tnotsent_low(s));
}

#endif
