/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork.c - a child is a separate process to the TOE (SEEDS S1.15; peers' fault: workers forked
 * after listen()).
 *
 * Queue pairs stay the parent's. The child inherits listeners and announces each at its first use.
 * If the parent has not used its listener, that becomes WEAK, because the child is likely to serve
 * it (a master that listens, workers that accept). Connections stay the parent's; the child reaches
 * the peers through the parent (handover.h).
 */
#include <pthread.h>

#include "announce.h"
#include "attach.h"
#include "config.h"
#include "ctx.h"
#include "epoll.h"
#include "fdtab.h"
#include "fork.h"
#include "handle.h"
#include "handover.h"
#include "internal.h"
#include "lent_buffers.h"
#include "listen.h"
#include "listen_defer.h"
#include "lock.h"
#include "qp.h"
#include "route.h"
#include "tsock.h"
#include "wait.h"

/* Held by a thread that forks while a descriptor exists for one child only (vfork() as a fork()).
 */
static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;
static __thread bool is_alone;

void tfork_alone_begin(void)
{
    pthread_mutex_lock(&alone);
    is_alone = true;
}

void tfork_alone_end(void)
{
    is_alone = false;
    pthread_mutex_unlock(&alone);
}

static __thread bool is_copying;

int tfork_copy(void)
{
    int pid;

    is_copying = true;
    pid = fork();
    is_copying = false;
    return pid;
}

static void keep_open(struct tsock *s)
{
    if (s->state == TS_LISTEN && !s->announced)
        tlisten_announce(s, true);
}

/* Keeps the ports of listeners inherited from the parent open, because children of this process may
 * serve them, one after another. Not where one process owns the TOE. */
static void keep_listeners(void)
{
    if (!tctx.listeners || tctx.cfg.place != TPLACE_TOED)
        return;
    if (tctx_need())
        thandle_each(keep_open);
}

static void before(void)
{
    if (is_copying)
        return;
    tlock_enter(); /* a signal handler may fork too: defer it during this fork */
    if (!is_alone)
        pthread_mutex_lock(&alone);
    tctx_lock();
    keep_listeners();
    tlisten_leave_to_children();
    thandover_before();
}

static void weaken(struct tsock *s)
{
    if (s->state == TS_LISTEN && s->announced && !s->used && !s->weak)
        tlisten_weaken(s);
}

void tfork_lends_listeners(void)
{
    int saved = errno;

    /* where flows stay, a WEAK listener gets none until it is used, if ever */
    if (!tctx.listeners || tctx.stays)
        return;
    tctx_lock();
    tctx_progress();
    if (tctx.state == TC_UP)
        thandle_each(weaken);
    tctx_unlock();
    errno = saved;
}

void tlisten_pass(int fd)
{
    struct tsock *s;

    tctx_lock();
    s = tsock_get(fd);
    if (s && s->state == TS_LISTEN) {
        s->later = 0;
        if (s->announced && !s->used && !s->weak)
            tlisten_weaken(s);
    }
    tctx_unlock();
}

static void in_parent(void)
{
    int saved = errno;

    if (is_copying)
        return;
    thandover_in_parent();
    tctx_progress();
    if (tctx.state == TC_UP)
        thandle_each(weaken);
    tctx_unlock();
    if (!is_alone)
        pthread_mutex_unlock(&alone);
    tlock_leave();
    errno = saved;
}

/* Marks a connection of the parent's, of which only the placeholder exists here. */
static void orphan(struct tsock *s)
{
    if (s->state == TS_CONNECTING) {
        thandle_free(s->handle);
        s->handle = 0;
        s->fast = s->fast_sent = 0;
    }
    s->state = TS_FOREIGN;
    s->qp = NULL;
    s->rx = s->tx = NULL;
    s->framed = false;
    s->rx_avail = 0;
    s->error = 0;
}

static void orphan_handle(struct tsock *s)
{
    if (s->state == TS_CONNECTING) {
        orphan(s);
    } else if (s->state == TS_LISTEN) {
        struct tsock *c;

        /* the parent accepts the connections in the queue */
        while ((c = tlisten_dequeue(s))) {
            orphan(c);
            tobj_put(&c->obj);
        }
        s->announced = s->used = s->weak = 0;
        s->inherited = 1;
        tlisten_inherit(s);
    }
}

/* Forgets other threads, which do not exist here, and wired descriptors, which are the parent's. */
static void forget_sleepers(struct tobj *o)
{
    o->waiters = NULL;
    if (o->kind == TOBJ_EPOLL)
        tepoll_fork_child((struct tepoll *)o);
    else if (o->kind == TOBJ_SOCK)
        tclaim_forget((struct tsock *)o);
}

static void in_child(void)
{
    int saved = errno;

    if (is_copying)
        return;
    tlock_forget();
    thandover_in_child();
    for (uint32_t q = 0; q < tctx.qps_n; q++)
        for (uint32_t i = 0; i < tctx.qps[q]->cfg.slots; i++) {
            struct tsock *s = tctx.qps[q]->slots[i];

            if (s && s != TSLOT_CLOSING && !s->listener)
                orphan(s);
        }
    thandle_each(orphan_handle);
    while (tctx.qps_n)
        tqp_forget(tctx.qps[--tctx.qps_n]);
    tfd_internal_close(tctx.placeholder_fd);
    tctx.placeholder_fd = -1;
    tctx.sleepers = tctx.batch_unanswered = 0;
    tctx.polling = false;
    tctx.sigurg.n = 0; /* the parent sends them */
    if (tctx.state != TC_FAILED)
        tctx.state = TC_COLD;
    twait_forget();
    troute_forget();
    tlisten_later_forget();
    tfd_each(forget_sleepers);
    tctx_unlock();
    is_alone = false;
    pthread_mutex_unlock(&alone);
    tlock_leave();
    errno = saved;
}

long tfork_by(long (*make)(void *arg), void *arg)
{
    long r;

    before();
    r = make(arg);
    if (r == 0) {
        tproc_own();
        in_child();
    } else {
        in_parent();
    }
    return r;
}

static void __attribute__((constructor)) at_start(void)
{
    pthread_atfork(before, in_parent, in_child);
}
