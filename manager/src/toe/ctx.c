/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctx.c - coming up, going down, and surviving the TOE (SEEDS S1.14; docs/device-contract.md).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "claim.h"
#include "handover.h"
#include "inherit.h"
#include "internal.h"
#include "share.h"

#define RETRY_NS       (100 * 1000000ull)
#define LOOKS_PER_LIFE 1024 /* empty looks at the rings between two checks that the TOE lives */

struct tctx tctx = {.placeholder_fd = -1};

static bool configure(const struct toe_options *opt)
{
    if (tctx.configured)
        return true;
    if (tconfig_resolve(&tctx.cfg, opt, tctx.last_error, sizeof(tctx.last_error)) < 0)
        return false;
    tctx.configured = true;
    return true;
}

static void drop_qps(void)
{
    while (tctx.qps_n)
        tqp_detach(tctx.qps[--tctx.qps_n]);
}

static struct tqp *attach_one(uint32_t engine, struct twelcome *w)
{
    if (tctx.cfg.place == TPLACE_TOED)
        return tqp_attach(&tctx.cfg, engine, w, tctx.last_error, sizeof(tctx.last_error));
    return tinline_attach(&tctx.cfg, w, tctx.last_error, sizeof(tctx.last_error));
}

/* Who opens the interface answers for all listeners of this process; an inherited one may be for
 * another to serve, until it is used. */
static void announce_here(struct tsock *s)
{
    if (s->state == TS_LISTEN)
        tlisten_begin(s);
}

static bool attach_all(void)
{
    struct twelcome w = {.engines = 1};

    for (uint32_t e = 0; e < w.engines; e++) {
        struct tqp *qp = attach_one(e, &w);

        if (!qp) {
            drop_qps();
            return false;
        }
        tctx.qps[tctx.qps_n++] = qp;
    }
    if (tctx.placeholder_fd < 0)
        tctx.placeholder_fd =
            tfd_internal(sys_socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (tctx.placeholder_fd < 0) {
        snprintf(tctx.last_error, sizeof(tctx.last_error), "cannot make a socket: %s",
                 strerror(errno));
        drop_qps();
        return false;
    }
    tctx.ip = w.ip;
    tctx.mask = w.mask;
    tctx.gw = w.gw;
    tctx.shared = w.shared;
    tctx.stays = w.stays;
    tctx.generation++;
    tctx.idle_looks = 0;
    tctx.state = TC_UP;
    if (tctx.cfg.place != TPLACE_TOED)
        thandle_each(announce_here);
    return true;
}

bool tctx_attached(void)
{
    return tctx.qps_n != 0;
}

bool tctx_need(void)
{
    int saved = errno;

    if (likely(tctx.state == TC_UP))
        return true;
    if (tctx.state == TC_LOST)
        return tctx_retry();
    if (tctx.state == TC_FAILED)
        return false;
    if (!configure(NULL) || !attach_all()) {
        /* a child with inherited listeners goes on trying: its parent had a TOE */
        tctx.state = tctx.configured && tctx.listeners ? TC_LOST : TC_FAILED;
        tlog_once("%s; %s", tctx.last_error,
                  tctx.cfg.require ? "refused, as TOEHOLD_REQUIRE asks"
                                   : "this process runs on the kernel's TCP");
    }
    errno = saved;
    return tctx.state == TC_UP;
}

bool tctx_know(void)
{
    int saved = errno;
    bool ok;

    if (likely(tctx.state == TC_UP) || (tctx.known && tctx.state == TC_COLD))
        return true;
    if (tctx.state != TC_COLD || !configure(NULL) || tctx.cfg.place == TPLACE_TOED)
        return tctx_need();
    ok = tinline_know(&tctx.cfg, tctx.last_error, sizeof(tctx.last_error)) == 0;
    if (ok)
        tctx.known = true;
    errno = saved;
    /* what only routers tell is known when it is open; what is wrong is said there too */
    return ok && !tctx.inside.ip6_auto ? true : tctx_need();
}

void tctx_before_rights_change(void)
{
    tctx_lock();
    if (tctx.state == TC_COLD && (tctx.listeners || tinherit_waits()))
        tctx_need();
    tctx_unlock();
}

static void announce_used(struct tsock *s)
{
    if (s->state == TS_LISTEN && s->used)
        tlisten_announce(s, false);
}

bool tctx_retry(void)
{
    uint64_t now = tclock_ns();

    if (tctx.state != TC_LOST || now < tctx.retry_at)
        return tctx.state == TC_UP;
    tctx.retry_at = now + RETRY_NS;
    if (!attach_all()) {
        tlog_once("cannot attach again: %s; trying on", tctx.last_error);
        return false;
    }
    thandle_each(announce_used);
    return true;
}

static void lose(struct tsock *s)
{
    if (s->state == TS_LISTEN) {
        tlisten_drop_queue(s);
        s->announced = 0;
        /* Who sleeps on it looks again, and for the next TOE: what was to wake it goes with the
         * queue pairs, out of an epoll instance even before its sleeper has seen it. */
        tobj_notify(&s->obj, EPOLLIN | EPOLLRDNORM);
    } else if (s->state == TS_CONNECTING) {
        tconnect_failed(s->handle, ECONNRESET);
    }
}

void tctx_lost(void)
{
    bool said = false;

    tctx.state = TC_LOST;
    tctx.retry_at = 0;
    for (uint32_t q = 0; q < tctx.qps_n; q++) {
        said |= tctx.qps[q]->breached;
        tctx.qps[q]->broken = true; /* nobody waits for room any more */
    }
    if (!said)
        tlog("the TOE has ended; connections over it are reset");
    thandle_each(lose);
    for (uint32_t q = 0; q < tctx.qps_n; q++) {
        struct tqp *qp = tctx.qps[q];

        for (uint32_t i = 0; i < qp->cfg.slots; i++) {
            struct tsock *s = qp->slots[i];
            int error;

            qp->slots[i] = NULL;
            if (!s || s == TSLOT_CLOSING)
                continue;
            error = s->state == TS_OPEN || s->rx_avail ? ECONNRESET : s->error;
            tclaim_lost(s, qp);
            s->qp = NULL;
            s->rx_avail = 0; /* the buffers go with the queue pair */
            s->rx = s->tx = NULL;
            s->framed = false;
            tflow_gone(s, error);
        }
    }
    drop_qps();
}

static bool any_broken(bool look)
{
    for (uint32_t q = 0; q < tctx.qps_n; q++) {
        struct tqp *qp = tctx.qps[q];

        if (qp->broken || (look && (tqp_gone(qp) || toe_ring_load(&qp->status->halted))))
            return true;
    }
    return false;
}

uint32_t tctx_progress(void)
{
    uint32_t n = 0;
    bool look = false, broken = false;

    for (uint32_t q = 0; q < tctx.qps_n; q++) {
        struct tqp *qp = tctx.qps[q];

        n += tqp_drain(qp);
        tqp_flush(qp);
        broken |= qp->broken;
        /* Others sleep on the interrupt that this drain has used up: ask for the next one, and
         * look again for what came in between (the TOE saw no arming for it). */
        while (unlikely(tctx.sleepers && !qp->armed && !qp->broken && !qp->direct)) {
            tqp_arm(qp);
            n += tqp_drain(qp);
            tqp_flush(qp);
        }
    }
    if (unlikely(tctx.elsewhere))
        tconnect_elsewhere();
    if (n) {
        tctx.idle_looks = 0;
    } else if (unlikely(++tctx.idle_looks >= LOOKS_PER_LIFE)) {
        tctx.idle_looks = 0;
        look = true;
    }
    if (unlikely(broken || look) && any_broken(look))
        tctx_lost();
    if (unlikely(tctx.state == TC_LOST && tctx.listeners))
        tctx_retry();
    return n;
}

int toe_init(const struct toe_options *opt)
{
    int r = 0;

    tctx_lock();
    if (tctx.state == TC_FAILED)
        tctx.state = TC_COLD;
    if (tctx.state == TC_COLD) {
        tctx.configured = false;
        if (!configure(opt)) {
            r = terr(EINVAL);
        } else if (!attach_all()) {
            tctx.state = TC_FAILED;
            r = terr(ENETDOWN);
        }
    }
    tctx_unlock();
    return r;
}

static void end_handle(struct tsock *s)
{
    tsock_end(s);
}

/* Waits until the TOE has taken all our commands, so that a CLOSE is not overtaken by our death;
 * given up when it takes longer than a TOE that works ever needs. */
static void drain_out(void)
{
    uint64_t limit = tclock_ns() + NSEC / 10;

    for (uint32_t q = 0; q < tctx.qps_n; q++) {
        struct tqp *qp = tctx.qps[q];

        tqp_ring(qp);
        while (!qp->broken && toe_ring_load(&qp->status->sw_tail) != qp->sw.head &&
               tclock_ns() < limit) {
            struct timespec ts = {0, 20000};

            tqp_drain(qp);
            tqp_flush(qp);
            thost_ppoll(NULL, 0, &ts, NULL, NULL);
        }
    }
}

static void terminate_locked(void)
{
    if (tctx.state == TC_UP) {
        thandle_each(end_handle);
        for (uint32_t q = 0; q < tctx.qps_n; q++) {
            struct tqp *qp = tctx.qps[q];

            for (uint32_t i = 0; i < qp->cfg.slots; i++)
                if (qp->slots[i] && qp->slots[i] != TSLOT_CLOSING)
                    tsock_end(qp->slots[i]);
        }
        drain_out();
        drop_qps();
    }
    tfd_internal_close(tctx.placeholder_fd);
    tctx.placeholder_fd = -1;
    tctx.state = TC_COLD;
    tctx.configured = false;
}

void toe_terminate(void)
{
    tctx_lock();
    terminate_locked();
    tctx_unlock();
}

/* Another process has the queue pairs: here nothing more is done with them. */
static void leave_to_successor(void)
{
    for (uint32_t q = 0; q < tctx.qps_n; q++)
        for (uint32_t i = 0; i < tctx.qps[q]->cfg.slots; i++)
            if (tctx.qps[q]->slots[i] && tctx.qps[q]->slots[i] != TSLOT_CLOSING)
                tshare_orphan(tctx.qps[q]->slots[i]);
    tctx.qps_n = 0;
}

void tctx_end(void)
{
    if (tlock_inside())
        return;
    atomic_store(&tctx.ended, true);
    tctx_lock();
    if (tctx.state == TC_UP && thandover_succeed())
        leave_to_successor();
    else if (tctx.state == TC_UP)
        terminate_locked();
    tctx.state = TC_FAILED;
    tctx_unlock();
}

static void __attribute__((destructor)) at_exit(void)
{
    tctx_end();
}

/* Which calls no destructors. */
static void __attribute__((constructor)) before_quick_exit(void)
{
    at_quick_exit(tctx_end);
}

const char *toe_last_error(void)
{
    return tctx.last_error;
}
