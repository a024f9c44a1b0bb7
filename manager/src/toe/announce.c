/* SPDX-License-Identifier: Apache-2.0 */
/* announce.c - LISTEN: announces listeners to the TOE (announce.h). */
#include "announce.h"
#include "ctx.h"
#include "ip6.h"
#include "listen_defer.h"
#include "option.h"
#include "option_apply.h"
#include "qp.h"
#include "tsock.h"

/* Returns the backlog for LISTEN. As on Linux 0 lets one connection wait, and a negative one is the
 * largest, as __sys_listen() takes it as unsigned. */
static uint32_t backlog_of(const struct tsock *s)
{
    return s->backlog < 0 ? SOMAXCONN : (uint32_t)s->backlog;
}

static void announce(struct tsock *s, bool weak)
{
    uint32_t backlog = backlog_of(s);
    uint8_t flags = weak ? TOE_F_LISTEN_WEAK : 0;

    if (s->ip6)
        flags |= TOE_F_LISTEN_V6 | (s->opts.v6only ? TOE_F_LISTEN_V6ONLY : 0);
    for (uint32_t q = 0; q < tctx.qps_n; q++) {
        struct tqp *qp = tctx.qps[q];
        uint32_t at = s->ip6 ? tip6_entry(qp, &s->local6, NULL) : ntohl(s->local_ip);

        tqp_send(qp, TOE_CMD_LISTEN, flags, ntohs(s->local_port), s->handle, at, backlog);
    }
    s->announced = s->announcing = 1;
    s->weak = weak;
    if (s->opts.fastopen)
        tfast_announce(s);
    if (s->opts.defer)
        tlisten_option(s, TOE_OPT_DEFER_ACCEPT, s->opts.defer);
    if (tsock_reuse(s))
        tlisten_option(s, TOE_OPT_REUSE, tsock_reuse(s));
    tpath_apply(s);
    s->announcing = 0;
}

/* Waits once for LISTEN and its options together: on a busy machine each wait costs a turn of this
 * process and one of the engine. */
void tlisten_announce(struct tsock *s, bool weak)
{
    announce(s, weak);
    tctx_settle();
}

void tlisten_begin(struct tsock *s)
{
    bool inherited = s->inherited && !s->used;

    s->later = tctx.stays && !s->used && !inherited;
    tlisten_announce(s, inherited || s->later);
    if (s->later)
        tlisten_defer();
}

/* Does not wait: the listener exists already, so nothing can be refused, and the engine gives the
 * connections to another process whichever of the two is announced first. */
void tlisten_weaken(struct tsock *s)
{
    announce(s, true);
}

void tsock_use(struct tsock *s)
{
    s->used = 1;
    if (likely(s->announced && !s->weak))
        return;
    if (s->state == TS_LISTEN && tctx_need() && (!s->announced || s->weak))
        tlisten_announce(s, false);
}
