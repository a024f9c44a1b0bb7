/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctx.c - attaching to the TOE, progress, and surviving its loss (SEEDS S1.14;
 * docs/device-contract.md).
 */
#include <stdio.h>
#include <string.h>

#include "announce.h"
#include "attach.h"
#include "config.h"
#include "ctx.h"
#include "dispatch.h"
#include "handle.h"
#include "host.h"
#include "inline.h"
#include "internal.h"
#include "lock.h"
#include "log.h"
#include "qp.h"
#include "stranded.h"
#include "tsock.h"

#define RETRY_NS       (100 * 1000000ull)
#define LOG_NS         (1000 * 1000000ull)
#define LOOKS_PER_LIFE 1024 /* polls of empty rings between two checks that the TOE is alive */

struct tctx tctx = {.placeholder_fd = -1};

static char logged_error[sizeof(tctx.last_error)]; /* the last reason that log_failure() logged */

static bool configure(const struct toe_options *opt)
{
    if (tctx.configured)
        return true;
    if (tconfig_resolve(&tctx.cfg, opt, tctx.last_error, sizeof(tctx.last_error)) < 0)
        return false;
    tctx.configured = true;
    return true;
}

void tctx_detach(void)
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

/* The process that opens the interface serves all its listeners. An inherited listener may be for
 * another process to serve, until this one uses it. */
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
            tctx_detach();
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
        tctx_detach();
        return false;
    }
    tctx.ip = w.ip;
    tctx.mask = w.mask;
    tctx.gw = w.gw;
    tctx.shared = w.shared;
    tctx.stays = w.stays;
    tctx.takes_eor = w.takes_eor;
    tctx.generation++;
    tctx.idle_looks = 0;
    tctx.state = TC_UP;
    logged_error[0] = '\0'; /* log it again if it comes back */
    tstranded_attached();
    if (tctx.cfg.place != TPLACE_TOED)
        thandle_each(announce_here);
    return true;
}

/* Logs why attaching fails, when the reason has changed. */
static void log_failure(const char *consequence)
{
    if (strcmp(logged_error, tctx.last_error) == 0)
        return;
    memcpy(logged_error, tctx.last_error, sizeof(logged_error));
    tlog("%s%s", tctx.last_error, consequence);
}

/* The same for a try that will be repeated: at most once a second, as reasons may alternate. */
static void log_retry(uint64_t now)
{
    static uint64_t next;

    if (now < next || strcmp(logged_error, tctx.last_error) == 0)
        return;
    next = now + LOG_NS;
    log_failure("; trying to attach again");
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
        /* a child with inherited listeners keeps trying: its parent had a TOE */
        tctx.state = tctx.configured && tctx.listeners ? TC_LOST : TC_FAILED;
        log_failure(tctx.state == TC_LOST ? "; this process cannot accept on its listeners yet"
                    : tctx.cfg.require    ? "; refused, as TOEHOLD_REQUIRE asks"
                                          : "; this process runs on the kernel's TCP");
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
    /* addresses from routers are known only once it is open; opening also reports errors */
    return ok && !tctx.inside.ip6_auto ? true : tctx_need();
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
        log_retry(now);
        tstranded_unattached();
        return false;
    }
    thandle_each(announce_used);
    return true;
}

void tctx_lost(void)
{
    bool logged = false;

    tctx.state = TC_LOST;
    tctx.retry_at = 0;
    for (uint32_t q = 0; q < tctx.qps_n; q++) {
        logged |= tctx.qps[q]->breached;
        tctx.qps[q]->broken = true; /* ends waits for ring space */
    }
    if (!logged)
        tlog("the TOE has ended; connections over it are reset");
    tdispatch_lost();
    tctx_detach();
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
        /* Other threads sleep on the interrupt that this drain has used up. Request the next
         * one, and drain again: commands may have come before the arming. */
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

void tctx_settle(void)
{
    for (uint32_t q = 0; q < tctx.qps_n; q++)
        tqp_settle(tctx.qps[q]);
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

const char *toe_last_error(void)
{
    return tctx.last_error;
}
