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

static inline void tbatch_begin(void)
{
    tctx.batch_unanswered = 0;
    if (unlikely(!++tctx.batch_round))
        tctx.batch_round = 1;
}
static inline void tbatch_report(struct tsock *s)
{
    if (s->qp && s->epoll_reported != tctx.batch_round) {
        s->epoll_reported = tctx.batch_round;
        tctx.batch_size = ++tctx.batch_unanswered;
    }
}
/* Told by the last epoll_wait(), which looked at the rings, and not answered yet. */
static inline bool tbatch_unanswered(const struct tsock *s)
{
    return s->epoll_reported && s->epoll_reported == tctx.batch_round;
}
static inline void tbatch_answered(struct tsock *s)
{
    if (tbatch_unanswered(s) && tctx.batch_unanswered) {
        s->epoll_reported = 0;
        tctx.batch_unanswered--;
    }
}

#endif
