/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.h - answers to the sockets that one epoll_wait() reported. Lock held.
 *
 * With a direct TOE a program answers the reported sockets one after the other and comes back. What
 * it sends leaves when half of them are answered and when all are, or with its next call that makes
 * progress. That needs few system calls of the back end, and the peer gets its first half while the
 * program works on the second.
 */
#ifndef LIBTOE_BATCH_H
#define LIBTOE_BATCH_H

#include "ctx.h"
#include "tsock.h"

static inline void ttold_begin(void)
{
    tctx.told = 0;
    if (unlikely(!++tctx.told_round))
        tctx.told_round = 1;
}
static inline void ttold_note(struct tsock *s)
{
    if (s->qp && s->told_round != tctx.told_round) {
        s->told_round = tctx.told_round;
        tctx.told_most = ++tctx.told;
    }
}
/* Told by the last epoll_wait(), which looked at the rings, and not answered yet. */
static inline bool ttold_fresh(const struct tsock *s)
{
    return s->told_round && s->told_round == tctx.told_round;
}
static inline void ttold_answered(struct tsock *s)
{
    if (ttold_fresh(s) && tctx.told) {
        s->told_round = 0;
        tctx.told--;
    }
}

#endif
