/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.h - answers to the sockets that one epoll_wait() reported. Lock held.
 *
 * With a direct TOE, a program answers the reported sockets one after the other and waits again.
 * Its frames are sent when all of them are answered, or with its next call that makes progress, and
 * GATHER_MOST at once. So the back end makes few system calls. Once the first frame has waited for
 * GATHER_NS, the program takes long over its answers. Then GATHER_SLOW frames are enough, or the
 * answers to half of the sockets: the peer gets them while the program works on the others.
 */
#ifndef LIBTOE_BATCH_H
#define LIBTOE_BATCH_H

#include "ctx.h"
#include "tsock.h"

#define GATHER_MOST 64u
#define GATHER_SLOW 16u
#define GATHER_NS   50000u

/* Returns whether `unsent` frames wait for further ones: so many of the `size` reported sockets are
 * not answered yet, and the first frame has waited for age_ns. */
static inline bool tbatch_gathers(uint32_t unsent, uint32_t unanswered, uint32_t size,
                                  uint64_t age_ns)
{
    if (!unanswered || unsent >= GATHER_MOST)
        return false;
    return age_ns < GATHER_NS || (unsent < GATHER_SLOW && 2 * unsent < size);
}

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
