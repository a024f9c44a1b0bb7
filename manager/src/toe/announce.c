/* SPDX-License-Identifier: Apache-2.0 */
/* announce.c - LISTEN: announces listeners to the TOE (announce.h). */
#include <string.h>

#include "announce.h"
#include "ctx.h"
#include "host.h"
#include "ip6.h"
#include "listen_defer.h"
#include "log.h"
#include "option.h"
#include "option_apply.h"
#include "qp.h"
#include "stranded.h"
#include "tsock.h"

struct tsock *tlisten_in_turns;
bool tlisten_some_weak;
#define AGAIN_NS NSEC

static bool unsettled; /* a turn has begun since tlisten_settle() */

/* Returns the backlog for LISTEN. As on Linux 0 lets one connection wait, and a negative one is the
 * largest, as __sys_listen() takes it as unsigned. */
static uint32_t backlog_of(const struct tsock *s)
{
    return s->backlog < 0 ? SOMAXCONN : (uint32_t)s->backlog;
}

/* Returns whether processes may share the listener. Where flows stay on their queue pair, and where
 * one process owns the TOE, there are no turns. */
static bool has_turns(const struct tsock *s)
{
    return s->inherited && s->state == TS_LISTEN && tctx.cfg.place == TPLACE_TOED && !tctx.stays;
}

static void enlist(struct tsock *s)
{
    if (s->in_turns)
        return;
    s->in_turns = 1;
    s->turn_next = tlisten_in_turns;
    tlisten_in_turns = s;
}

void tlisten_no_turns(struct tsock *s)
{
    struct tsock **at = &tlisten_in_turns;

    if (!s->in_turns)
        return;
    while (*at != s)
        at = &(*at)->turn_next;
    *at = s->turn_next;
    s->in_turns = 0;
}

void tlisten_inherit(struct tsock *s)
{
    if (!s->obj.items || !has_turns(s))
        return;
    enlist(s);
    tlisten_some_weak = true;
}

void tlisten_restore(struct tsock *s)
{
    if (!s->announced || !has_turns(s))
        return;
    enlist(s);
    tlisten_some_weak |= s->weak && s->used;
}

/* Sends LISTEN to all queue pairs. */
static void send_listen(struct tsock *s, bool weak)
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
    s->announced = 1;
    s->weak = weak;
    if (!has_turns(s))
        return;
    enlist(s);
    tlisten_some_weak |= weak && s->used;
}

static void announce(struct tsock *s, bool weak)
{
    s->announcing = 1;
    s->refused = 0;
    if (!weak && has_turns(s))
        send_listen(s, true); /* so the TOE knows that processes take turns */
    send_listen(s, weak);
    if (s->opts.fastopen)
        tfast_announce(s);
    if (s->opts.defer)
        tlisten_option(s, TOE_OPT_DEFER_ACCEPT, s->opts.defer);
    if (tsock_reuse(s))
        tlisten_option(s, TOE_OPT_REUSE, tsock_reuse(s));
    tpath_apply(s);
    s->announcing = 0;
}

/* Handles a LISTEN that the TOE has refused: the next use of the listener tries again, after a
 * second, so that a program which waits for it in a loop does not spin. */
static void refused(struct tsock *s)
{
    tlog("the TOE refuses to listen on port %u: %s; this process cannot accept there",
         ntohs(s->local_port), strerror(s->refused));
    s->announced = 0;
    s->listen_again_at = tclock_ns() + AGAIN_NS;
    if (s->inherited)
        tstranded_refused(s);
}

/* Waits once for LISTEN and its options together: on a busy machine each wait costs a turn of this
 * process and one of the engine. */
void tlisten_announce(struct tsock *s, bool weak)
{
    announce(s, weak);
    tctx_settle();
    if (unlikely(s->refused))
        refused(s);
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
    s->inherited = 1; /* by others: from now on processes share it */
    announce(s, true);
}

void tsock_watch(struct tsock *s)
{
    if (!has_turns(s)) {
        tsock_use(s);
        return;
    }
    s->used = 1;
    if (!s->announced && !s->refused && tctx_need() && !s->announced)
        tlisten_announce(s, true);
    tlisten_some_weak |= s->weak;
}

void tsock_use(struct tsock *s)
{
    s->used = 1;
    if (likely(s->announced && !s->weak))
        return;
    if (s->announced && has_turns(s)) {
        send_listen(s, false);
        unsettled = true;
        return;
    }
    if (s->refused && tclock_ns() < s->listen_again_at)
        return;
    if (s->state == TS_LISTEN && tctx_need() && (!s->announced || s->weak))
        tlisten_announce(s, false);
}

void tlisten_settle(void)
{
    if (likely(!unsettled))
        return;
    unsettled = false;
    tctx_settle();
}

void tlisten_turn_end(struct tsock *s)
{
    send_listen(s, true);
}
