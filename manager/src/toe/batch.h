/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.h - answers to the sockets that one epoll_wait() reported. Lock held.
 *
 * With a direct TOE, a program answers the reported sockets one after the other and waits again.
 * Its frames are sent when half of the sockets are answered and when all are, or with its next call
 * that makes progress. So the back end makes few system calls, and the peer gets the first half
 * while the program works on the second.
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
/* Returns whether the last epoll_wait() reported s and s is not answered yet. That epoll_wait()
 * handled the rings. */
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
