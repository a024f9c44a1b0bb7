/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inline.c - a TOE in this process (toe/inline.h; docs/INLINE.md): its shared object and its queue
 * pair; for a direct one, which has no thread, when it runs and how long a thread may sleep.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <toe/tsc.h>

#include "attach.h"
#include "batch.h"
#include "config.h"
#include "ctx.h"
#include "dispatch.h"
#include "env.h"
#include "inline.h"
#include "internal.h"
#include "log.h"
#include "qp.h"
#include "tsock.h"

#define DIRECT_ENTRIES 256u /* direct: answers between two rounds */
#define ROUNDS_MAX     64   /* before a sleep; after so many, a short one */

TOE_HIDDEN __thread int tinline_inside;

static const struct toedev_inline_ops *ops;

/* ---- the shared object ---- */

static void *load_from(const char *dir, const char *between)
{
    char path[PATH_MAX];

    if ((size_t)snprintf(path, sizeof(path), "%s%s" TOEDEV_INLINE_LIBRARY, dir, between) >=
        sizeof(path))
        return NULL;
    return access(path, R_OK) == 0 ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

/* Tries in order the named one, one beside this object (in the build tree too), the installed one.
 */
static void *load_object(void)
{
    static const char *const beside[] = {"", "../engine/", "../../engine/"};
    const char *named = tenv(TOEDEV_INLINE_LIBRARY_ENV);
    char dir[PATH_MAX];
    Dl_info own;
    void *so;

    if (named && *named)
        return dlopen(named, RTLD_NOW | RTLD_LOCAL);
    if (dladdr(&tctx, &own) && own.dli_fname && strlen(own.dli_fname) < sizeof(dir)) {
        char *slash;

        memcpy(dir, own.dli_fname, strlen(own.dli_fname) + 1);
        slash = strrchr(dir, '/');
        if (slash) {
            slash[1] = 0;
            for (unsigned i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
                so = load_from(dir, beside[i]);
                if (so)
                    return so;
            }
        }
    }
    return dlopen(TOEDEV_INLINE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
}

static int load(char *err, size_t err_size)
{
    toedev_inline_fn get = NULL;
    void *so, *found;

    if (ops)
        return 0;
    tinline_inside++;
    so = load_object();
    found = so ? dlsym(so, TOEDEV_INLINE_SYMBOL) : NULL;
    if (found) {
        memcpy(&get, &found, sizeof(get));
        ops = get();
    } else {
        const char *why = dlerror();

        snprintf(err, err_size, "cannot load the engine: %s", why ? why : TOEDEV_INLINE_LIBRARY);
    }
    tinline_inside--;
    if (ops && ops->version != TOEDEV_INLINE_VERSION) {
        snprintf(err, err_size, "the engine is of version %u, this library wants %u", ops->version,
                 TOEDEV_INLINE_VERSION);
        ops = NULL;
    }
    return ops ? 0 : -1;
}

/* ---- what is known without opening it ---- */

int tinline_know(const struct tconfig *cfg, char *err, size_t err_size)
{
    struct toedev_inline_info *i = &tctx.inside;
    int rc;

    if (load(err, err_size) < 0)
        return -1;
    tinline_inside++;
    rc = ops->check(cfg->inline_options, 0, i, err, err_size);
    tinline_inside--;
    if (rc != 0)
        return -1;
    memcpy(&tctx.ip, i->ip, 4);
    memcpy(&tctx.gw, i->gateway, 4);
    tctx.mask = i->prefix_len ? htonl(UINT32_MAX << (32 - i->prefix_len)) : 0;
    return 0;
}

bool tinline_ip6(struct toedev_ip6 *out)
{
    const struct toedev_inline_info *i = &tctx.inside;

    memset(out, 0, sizeof(*out));
    if (!i->has_ip6)
        return false;
    out->flags = TOEDEV_IP6_ON;
    if (i->prefix_len6) {
        out->count = 1;
        memcpy(out->addr[0], i->ip6, 16);
        out->prefix_len[0] = i->prefix_len6;
    }
    return true;
}

/* ---- coming and going ---- */

static void on_event(void *arg, const struct toe_cmd *c)
{
    struct tqp *qp = arg;

    qp->events++;
    if (likely(!qp->broken))
        tdispatch_command(qp, c);
}

/* Called before the DATA_RECEIVED of these bytes. */
static void on_held(void *arg, uint32_t slot)
{
    const struct tqp *qp = arg;
    struct tsock *s = qp->slots[slot];

    if (likely(s && s != TSLOT_CLOSING))
        s->framed = true;
}

static int open_inside(struct tqp *qp, const struct tconfig *cfg, char *err, size_t err_size)
{
    char name[16] = "";
    struct toedev_inline_attach a = {.qp = qp->cfg, .name = name, .arg = qp, .irq_fd = qp->irq_fd};

    prctl(PR_GET_NAME, name);
    if (qp->direct) {
        a.event = on_event;
        a.expect = texpect_events;
        a.held = on_held;
        a.tx_shared = 1;
        a.hold_min = cfg->hold_min;
    }
    tinline_inside++;
    qp->inside = ops->open(cfg->inline_options, &a, err, err_size);
    tinline_inside--;
    if (!qp->inside)
        return -1;
    if (a.note[0])
        tlog_once("the engine has %s", a.note);
    tqp_use_area(qp, a.area);
    if (qp->direct) {
        qp->ctl_fd = tfd_internal(sys_fcntl(a.wake_fd, F_DUPFD_CLOEXEC, 0));
        return qp->ctl_fd < 0 ? -1 : 0;
    }
    tqp_register(qp);
    qp->doorbell_fd = tfd_internal(sys_fcntl(a.doorbell_fd, F_DUPFD_CLOEXEC, 0));
    qp->db->irq_count = cfg->irq_count;
    qp->db->irq_usec = cfg->irq_usec;
    qp->adaptive = !cfg->irq_count && !cfg->irq_usec;
    return qp->doorbell_fd < 0 ? -1 : 0;
}

struct tqp *tinline_attach(const struct tconfig *cfg, struct twelcome *w, char *err,
                           size_t err_size)
{
    struct tqp *qp;

    if (tinline_know(cfg, err, err_size) < 0)
        return NULL;
    tctx.known = true;
    qp = tqp_new(cfg, 0);
    if (!qp) {
        snprintf(err, err_size, "no memory for a queue pair");
        return NULL;
    }
    qp->direct = cfg->place == TPLACE_INLINE;
    if (qp->direct)
        qp->cfg.sw_entries = qp->cfg.hw_entries = DIRECT_ENTRIES;
    (void)toedev_layout_inside(&qp->cfg, &qp->layout);
    qp->irq_fd = tfd_internal(sys_eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (qp->irq_fd < 0)
        snprintf(err, err_size, "cannot make an eventfd: %s", strerror(errno));
    if (qp->irq_fd < 0 || open_inside(qp, cfg, err, err_size) < 0) {
        tqp_detach(qp);
        return NULL;
    }
    *w = (struct twelcome){
        .engines = 1, .ip = tctx.ip, .mask = tctx.mask, .gw = tctx.gw, .takes_eor = true};
    if (qp->direct && !cfg->busy_poll_given)
        tctx.cfg.busy_poll_us = tctx.inside.spin_us;
    tctx.sleep_until = UINT64_MAX;
    return qp;
}

void tinline_close(struct tqp *qp)
{
    tinline_inside++;
    ops->close(qp->inside);
    tinline_inside--;
    qp->inside = NULL;
}

void tinline_forget(struct tqp *qp)
{
    tinline_inside++;
    ops->forget(qp->inside);
    tinline_inside--;
    qp->inside = NULL;
}

/* ---- direct: the time ---- */

static struct toe_tsc clock_of_calls;

/* Records the time of a call, which is never before an earlier call's. */
static void note_time(struct tqp *qp)
{
    uint64_t now = toe_tsc_now(&clock_of_calls);

    if (likely(now > qp->now))
        qp->now = now;
}

/* ---- direct: commands and rounds ---- */

void tinline_command(struct tqp *qp, const struct toe_cmd *c)
{
    int saved = errno;

    note_time(qp);
    tinline_inside = 1;
    ops->command(qp->inside, c, qp->now);
    tinline_inside = 0;
    if (!qp->unsent++)
        qp->unsent_at = qp->now;
    errno = saved;
}

void tinline_sent(struct tqp *qp)
{
    int saved = errno;

    if (!qp->unsent || (tctx.cfg.batch && tbatch_gathers(qp->unsent, tctx.batch_unanswered,
                                                         tctx.batch_size, qp->now - qp->unsent_at)))
        return;
    tinline_inside = 1;
    ops->flush(qp->inside, qp->now);
    tinline_inside = 0;
    qp->unsent = 0;
    errno = saved;
}

uint32_t tinline_run(struct tqp *qp)
{
    uint32_t before = qp->events;
    int saved = errno;

    note_time(qp);
    tinline_inside = 1;
    ops->run(qp->inside, qp->now, tctx.sleepers != 0);
    tinline_inside = 0;
    qp->unsent = 0;
    qp->armed = false;
    errno = saved;
    return qp->events - before;
}

uint32_t tinline_rest(const struct tqp *qp)
{
    return qp->direct ? ops->rest(qp->inside) : 0;
}

void tinline_refresh(const struct tqp *qp, uint32_t slot)
{
    ops->refresh(qp->inside, slot);
}

bool tinline_refer(struct tqp *qp, uint32_t slot, uint32_t off, const uint8_t *data, uint32_t n)
{
    int saved = errno, r;

    if (!qp->direct)
        return false;
    tinline_inside = 1;
    r = ops->refer(qp->inside, slot, off, data, n);
    tinline_inside = 0;
    errno = saved;
    return r == 0;
}

uint32_t tinline_room(struct tqp *qp, uint32_t slot, bool more)
{
    return qp->direct ? ops->tx_room(qp->inside, slot, more) : qp->cfg.tx_size;
}

void tinline_expect(struct tqp *qp, const uint32_t *slots, unsigned n)
{
    ops->expect(qp->inside, slots, n);
}

void tinline_settle(struct tqp *qp, uint32_t slot)
{
    if (qp->direct)
        ops->settle(qp->inside, slot);
}

uint8_t *tinline_where(struct tqp *qp, uint32_t slot, uint32_t off, uint32_t *n)
{
    const uint8_t *data;

    *n = ops->where(qp->inside, slot, off, *n, &data);
    return (uint8_t *)data; /* for an iovec, which has no const */
}

bool tinline_read_to(struct tqp *qp, uint32_t slot, uint32_t off)
{
    return ops->read_to(qp->inside, slot, off) != 0;
}

void tinline_gather(struct tqp *qp, uint32_t slot, uint32_t off)
{
    ops->gather(qp->inside, slot, off);
}

/* ---- direct: sleeping ---- */

uint32_t tinline_prepare(struct tqp *qp)
{
    uint32_t n = 0;

    qp->restless = false;
    for (int i = 0; i < ROUNDS_MAX; i++) {
        int waits;

        tinline_inside = 1;
        waits = ops->prepare_sleep(qp->inside);
        tinline_inside = 0;
        if (!waits) {
            qp->armed = true;
            return n;
        }
        n += tinline_run(qp);
        tqp_flush(qp);
    }
    qp->restless = true;
    return n;
}

static uint64_t next_round(struct tqp *qp)
{
    uint64_t at;

    if (qp->restless)
        return 1; /* in the past: due now */
    note_time(qp);
    tinline_inside = 1;
    at = ops->deadline(qp->inside, qp->now);
    tinline_inside = 0;
    return at;
}

uint64_t tinline_cap(struct tqp *qp, uint64_t deadline)
{
    uint64_t at = next_round(qp);

    if (at < deadline)
        deadline = at;
    if (deadline < tctx.sleep_until)
        tctx.sleep_until = deadline;
    return deadline;
}

/* Other threads sleep, and this thread leaves the TOE to them: lets arrivals wake them again. They
 * computed their deadline before this thread's call. If the call needs an earlier round, wakes one
 * sleeper for it, once. */
void tinline_hurry(void)
{
    int saved = errno;

    for (uint32_t q = 0; q < tctx.qps_n; q++) {
        struct tqp *qp = tctx.qps[q];
        uint64_t one = 1;

        if (!qp->direct)
            continue;
        if (!qp->armed)
            tinline_prepare(qp);
        if (!tctx.sleep_until || next_round(qp) >= tctx.sleep_until)
            continue;
        tctx.sleep_until = 0;
        (void)!sys_write(qp->irq_fd, &one, sizeof(one));
    }
    errno = saved;
}
