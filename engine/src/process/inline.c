/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inline.c - libtoe_inline.so: an engine within the program that uses it (toe/inline.h;
 * docs/INLINE.md). It replaces toed's main.c and control.c for the only host, this process.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <toe/inline.h>

#include "attach.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/sleep.h"
#include "capture_area.h"
#include "flows_json.h"
#include "hosts/direct.h"
#include "hosts/exchange.h"
#include "hosts/record.h"
#include "hosts/refs.h"
#include "hosts/rx_hold.h"
#include "hosts/tx_share.h"
#include "interlock.h"
#include "kernel/numa.h"
#include "round/batch.h"
#include "round/engine.h"
#include "round/thread.h"
#include "setup.h"
#include "stats.h"
#include "switch.h"
#include "trace_json.h"
#include "trips_json.h"
#include "worker_names.h"

/* At the end, how long to wait for RSTs to be sent. */
#define RESET_TIME (20 * NS_PER_MS)
/* How often a back end that cannot wake the thread is polled. */
#define POLLED_NETIO (200 * NS_PER_US)
#define ASKERS_MAX   4
#define LEFT_BEHIND  "/run/toehold/inline-*.sock" /* TOEDEV_INLINE_STATS for any process */

struct toedev_inline {
    struct engine *engine;
    struct qp *qp;
    struct options options;
    struct control control; /* the source of the statistics */
    char *words;            /* the text of the options; options points into it */
    char socket[64];
    int side_epoll; /* sockets for statistics and for the claim of the interface */
    int askers[ASKERS_MAX];
    struct client capturer; /* its fd -1: no capture */
    uint32_t orphans;       /* queue pairs that are dropped */
    int commanded;          /* commands were issued since the last round */
    char note[sizeof(((struct toedev_inline_attach *)0)->note)];
};

/* Discards the engine's log messages, which are for toed's log. Here the only host gets all errors
 * as results. */
void log_at(enum toe_log_level level, const char *format, ...)
{
    (void)level;
    (void)format;
}

/* ---- options ---- */

static int read_options(const char *text, struct options *o, char **words, char *err,
                        size_t err_size)
{
    int rc;

    *words = strdup(text);
    if (!*words) {
        snprintf(err, err_size, "no memory");
        return EXIT_RUNTIME;
    }
    rc = options_parse_inside(o, *words, err, err_size);
    if (rc < 0)
        return 0;
    free(*words);
    *words = NULL;
    return rc;
}

static void fill_info(const struct options *o, struct toedev_inline_info *out)
{
    memset(out, 0, sizeof(*out));
    memcpy(out->ip, o->ip, sizeof(out->ip));
    memcpy(out->gateway, o->gateway, sizeof(out->gateway));
    out->prefix_len = o->prefix_len;
    out->has_ip6 = (uint8_t)o->has_ip6;
    out->ip6_auto = (uint8_t)o->ip6_auto;
    memcpy(out->ip6, o->ip6, sizeof(out->ip6));
    out->prefix_len6 = o->prefix_len6;
    out->spin_us = o->spin_us;
}

static void fail_no_cpu(uint32_t cpu, char *err, size_t err_size)
{
    snprintf(err, err_size,
             "--cpu %u: this machine has no such CPU, or the program may not run on it", cpu);
}

/* Checks that the CPU is usable: moves this thread there and back. */
static int probe_cpu(const struct options *o, char *err, size_t err_size)
{
    cpu_set_t before, one;

    if (!o->cpu_count || sched_getaffinity(0, sizeof(before), &before) != 0)
        return 0;
    CPU_ZERO(&one);
    CPU_SET(o->cpu[0], &one);
    if (sched_setaffinity(0, sizeof(one), &one) == 0)
        return sched_setaffinity(0, sizeof(before), &before) == 0 ? 0 : EXIT_RUNTIME;
    fail_no_cpu(o->cpu[0], err, err_size);
    return EXIT_CONFIG;
}

/* Checks that the interface is usable: opens and closes it. */
static int probe_interface(const struct options *o, char *err, size_t err_size)
{
    struct netio_info info;
    struct netio *n = NULL;
    uint8_t mac[6];
    uint32_t mtu;
    struct address_claims addresses;
    struct worker_names names;
    int lock, rc = worker_claim(o, &lock, &addresses, &names, err, err_size);

    if (rc < 0)
        rc = setup_netio(o, 1, 0, -1, worker_group(&names), &n, err, err_size);
    if (rc < 0)
        rc = setup_settle(o, n, &info, &mtu, mac, err, err_size);
    if (n)
        netio_close(n);
    if (lock >= 0)
        close(lock);
    address_release(&addresses);
    return rc < 0 ? 0 : rc;
}

static int check(const char *text, int probe, struct toedev_inline_info *out, char *err,
                 size_t err_size)
{
    struct options o;
    char *words;
    int rc = read_options(text, &o, &words, err, err_size);

    if (rc != 0)
        return rc;
    fill_info(&o, out);
    if (probe)
        rc = probe_cpu(&o, err, err_size);
    if (probe && rc == 0)
        rc = probe_interface(&o, err, err_size);
    free(words);
    return rc;
}

/* ---- statistics, and the claim of the interface ---- */

static void side_watch(struct toedev_inline *t, int fd)
{
    struct epoll_event ev = {.events = EPOLLIN, .data.fd = fd};

    epoll_ctl(t->side_epoll, EPOLL_CTL_ADD, fd, &ev);
}

/* These functions return 1 when they did some work. */
static int accept_asker(struct toedev_inline *t)
{
    int fd = accept4(t->control.listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    unsigned i;

    if (fd < 0)
        return 0;
    for (i = 0; i < ASKERS_MAX && t->askers[i] >= 0; i++)
        continue;
    if (i == ASKERS_MAX) { /* the oldest has sent nothing: it makes room */
        close(t->askers[0]);
        memmove(t->askers, t->askers + 1, (ASKERS_MAX - 1) * sizeof(t->askers[0]));
        i = ASKERS_MAX - 1;
    }
    t->askers[i] = fd;
    side_watch(t, fd);
    return 1;
}

static int accept_claim(const struct toedev_inline *t)
{
    int fd = accept4(t->control.lock_fd, NULL, NULL, SOCK_CLOEXEC);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static void forget_asker(struct toedev_inline *t, int fd)
{
    unsigned i;

    for (i = 0; i < ASKERS_MAX; i++)
        if (t->askers[i] == fd) { /* the rest stays in the order of age */
            memmove(t->askers + i, t->askers + i + 1, (ASKERS_MAX - 1 - i) * sizeof(fd));
            t->askers[ASKERS_MAX - 1] = -1;
        }
}

/* Begins a capture, which keeps the connection. Returns 0, or -1 to end it. */
static int hear_capturer(struct toedev_inline *t, int fd, const char *text)
{
    struct client cl = {.fd = fd, .pidfd = -1};
    struct ucred cred;
    socklen_t len = sizeof(cred);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) != 0)
        return -1;
    cl.pid = cred.pid;
    cl.uid = cred.uid;
    if (attach_capture(&t->control, &cl, text) != 0)
        return -1;
    t->capturer = cl;
    forget_asker(t, fd);
    return 0;
}

/* Ends the capture: its connection has ended, or has sent a second message. */
static void end_capture(struct toedev_inline *t)
{
    capture_end(&t->control);
    close(t->capturer.fd);
    t->capturer.fd = -1;
}

/* Handles the first message of a connection, answers it if it is a query, and closes the
 * connection. */
static int hear_asker(struct toedev_inline *t, int fd)
{
    struct hello_message m;

    if (attach_receive(fd, &m) < 0)
        return 0;
    attach_discard(&m);
    if (fd == t->capturer.fd) {
        end_capture(t);
        return 1;
    }
    if (m.kind == TOEDEV_HELLO_CAPTURE && hear_capturer(t, fd, m.hello.name) == 0)
        return 1;
    if (m.kind == TOEDEV_HELLO_QUERY)
        query_answer(fd, stats_json(&t->control, m.hello.name));
    else if (m.kind == TOEDEV_HELLO_OFFLOAD)
        query_answer(fd, offload_answer(&t->control, fd, m.hello.name));
    else if (m.kind == TOEDEV_HELLO_RTT)
        query_answer(fd, trips_json(&t->control, m.hello.name));
    else if (m.kind == TOEDEV_HELLO_FLOWS)
        query_answer(fd, flows_json(&t->control, m.hello.name));
    else if (m.kind == TOEDEV_HELLO_TRACE)
        query_answer(fd, trace_json(&t->control, m.hello.name));
    forget_asker(t, fd);
    close(fd);
    return 1;
}

/* Returns non-zero when more may be waiting. */
static int hear(struct toedev_inline *t)
{
    struct epoll_event ev[4];
    int n = epoll_wait(t->side_epoll, ev, 4, 0), done = 0, asked = 0, i;

    for (i = 0; i < n; i++) {
        if (ev[i].data.fd == t->control.listen_fd)
            asked = 1;
        else if (ev[i].data.fd == t->control.lock_fd)
            done += accept_claim(t);
        else
            done += hear_asker(t, ev[i].data.fd);
    }
    if (asked) /* last: it may close a connection that is in ev */
        done += accept_asker(t);
    return done;
}

static void side(void *arg)
{
    (void)hear(arg);
}

/* Opens the socket for statistics. Failure is an error only when the socket was requested. */
static int open_socket(struct toedev_inline *t, char *err, size_t err_size)
{
    int asked = t->options.socket != NULL, rc;

    if (!asked) {
        snprintf(t->socket, sizeof(t->socket), TOEDEV_INLINE_STATS, (int)getpid());
        t->options.socket = t->socket;
        attach_sweep(LEFT_BEHIND);
    }
    rc = control_open(&t->control, err, err_size);
    if (rc == 0) {
        side_watch(t, t->control.listen_fd);
        return 0;
    }
    if (t->control.listen_fd >= 0)
        close(t->control.listen_fd);
    t->control.listen_fd = -1;
    return asked ? -1 : 0;
}

/* ---- opening and closing ---- */

static void let_go(void *arg, struct qp *qp)
{
    struct toedev_inline *t = arg;

    (void)qp;
    t->orphans++;
}

static void free_all(struct toedev_inline *t)
{
    unsigned i;

    if (t->control.listen_fd >= 0)
        attach_unlink(&t->control);
    if (t->capturer.fd >= 0)
        end_capture(t);
    if (t->engine) {
        hold_end(t->engine);
        t->engine->qp_count = 0;
        engine_free(t->engine);
    }
    if (t->qp)
        qp_free(t->qp);
    if (t->control.lock_fd >= 0)
        close(t->control.lock_fd);
    address_release(&t->control.addresses);
    if (t->side_epoll >= 0)
        close(t->side_epoll);
    for (i = 0; i < ASKERS_MAX; i++)
        if (t->askers[i] >= 0)
            close(t->askers[i]);
    free(t->words);
    free(t);
}

static int make_engine(struct toedev_inline *t, char *err, size_t err_size)
{
    struct control *c = &t->control;
    struct engine_config cfg = {.count = 1,
                                .max_qps = 1,
                                .spin_us = t->options.spin_us,
                                .offload = t->options.offload,
                                .vlan = (uint16_t)t->options.vlan,
                                .inside = 1,
                                .pinned = t->options.cpu_count != 0,
                                .cpu = t->options.cpu[0],
                                .side_fd = t->side_epoll,
                                .side = side,
                                .qp_unused = let_go,
                                .arg = t};
    struct worker_names names;
    uint64_t seed;

    if (setup_secret(&t->options, &seed) != 0) {
        snprintf(err, err_size, "no random numbers: %s", strerror(errno));
        return -1;
    }
    setup_boot_secret(&t->options, t->note, sizeof(t->note));
    if (worker_claim(&t->options, &c->lock_fd, &c->addresses, &names, err, err_size) >= 0)
        return -1;
    if (c->lock_fd >= 0)
        side_watch(t, c->lock_fd);
    if (setup_netio(&t->options, seed, 0, -1, worker_group(&names), &cfg.netio, err, err_size) >= 0)
        return -1;
    if (setup_settle(&t->options, cfg.netio, &c->info, &c->mtu, c->mac, err, err_size) < 0) {
        cfg.scope = c->info.ifindex;
        setup_core(&t->options, c->mac, c->mtu, 0, &cfg.core);
        port_range_read(PORT_RANGE_SYS, &c->ports[0]);
        setup_ports(&c->ports[0], &c->info, &cfg.core);
        t->engine = engine_new(&cfg, engine_clock(), err, err_size);
    }
    if (!t->engine) {
        netio_close(cfg.netio);
        return -1;
    }
    return offload_fixed(t->engine->offload.offered, t->options.offload_asked, err, err_size);
}

static int make_qp(struct toedev_inline *t, struct toedev_inline_attach *a, char *err,
                   size_t err_size)
{
    int irq = -1;

    if (!a->event) {
        irq = fcntl(a->irq_fd, F_DUPFD_CLOEXEC, 0);
        if (irq < 0) {
            snprintf(err, err_size, "no descriptor: %s", strerror(errno));
            return -1;
        }
    }
    t->qp = qp_new_inside(&a->qp, irq, a->name, a->event, a->arg, err, err_size);
    if (!t->qp)
        return -1;
    t->qp->expect = a->event ? a->expect : NULL;
    t->qp->tx_shared = a->event && a->tx_shared;
    if (engine_adopt(t->engine, t->qp) != 0) {
        snprintf(err, err_size, "cannot watch a queue pair: %s", strerror(errno));
        return -1;
    }
    if (a->event && hold_begin(t->engine, t->qp, a->hold_min, a->held, a->arg) != 0) {
        snprintf(err, err_size, "no memory to hold received frames");
        return -1;
    }
    memcpy(a->note, t->note, sizeof(a->note));
    a->area = t->qp->area;
    a->doorbell_fd = t->qp->doorbell_fd;
    a->wake_fd = t->engine->epoll_fd;
    return 0;
}

static int start_thread(struct toedev_inline *t, char *err, size_t err_size)
{
    int rc = engine_start(t->engine);

    if (rc == EINVAL && t->options.cpu_count)
        fail_no_cpu(t->options.cpu[0], err, err_size);
    else if (rc != 0)
        snprintf(err, err_size, "cannot start a thread: %s", strerror(rc));
    return rc == 0 ? 0 : -1;
}

static struct toedev_inline *new_inline(const char *text, char *err, size_t err_size)
{
    struct toedev_inline *t = calloc(1, sizeof(*t));
    unsigned i;

    if (!t || read_options(text, &t->options, &t->words, err, err_size) != 0) {
        free(t);
        return NULL;
    }
    t->options.err = NULL;
    t->capturer.fd = -1;
    for (i = 0; i < ASKERS_MAX; i++)
        t->askers[i] = -1;
    t->control.options = &t->options;
    t->control.listen_fd = t->control.lock_fd = -1;
    t->control.addresses = (struct address_claims){{-1, -1}};
    t->control.signal_fd = t->control.wake_fd = t->control.regs_fd = -1;
    t->control.engines = &t->engine;
    t->control.engine_count = 1;
    t->control.started = engine_clock();
    t->side_epoll = epoll_create1(EPOLL_CLOEXEC);
    if (t->side_epoll >= 0)
        return t;
    snprintf(err, err_size, "no descriptor: %s", strerror(errno));
    free_all(t);
    return NULL;
}

static struct toedev_inline *inline_open(const char *text, struct toedev_inline_attach *a,
                                         char *err, size_t err_size)
{
    struct numa_policy was;
    struct toedev_inline *t;
    int rc;

    snprintf(err, err_size, "no memory");
    t = new_inline(text, err, err_size);
    if (!t)
        return NULL;
    t->control.toe = a->event ? "inline" : "thread";
    /* Failure is not reported: the engine does not write to the program's output. */
    (void)numa_prefer(t->options.cpu_count ? numa_node_of(NUMA_SYS, t->options.cpu[0]) : NUMA_ANY,
                      &was);
    rc = make_engine(t, err, err_size);
    numa_restore(&was);
    if (rc == 0 && open_socket(t, err, err_size) == 0 && make_qp(t, a, err, err_size) == 0 &&
        (a->event || start_thread(t, err, err_size) == 0))
        return t;
    free_all(t);
    return NULL;
}

/* Runs rounds until the queue pair is unused, or until the given time. */
static void run_out(struct toedev_inline *t, uint64_t until)
{
    struct engine *e = t->engine;
    uint64_t now;

    while (!t->orphans && (now = engine_clock()) < until) {
        uint64_t wait = engine_deadline(e), most = now + NS_PER_MS;
        struct epoll_event ev;

        if (engine_step(e, now))
            continue;
        if (wait > most)
            wait = most;
        if (wait <= now || netio_prepare_sleep(e->netio))
            continue;
        (void)engine_epoll(e->epoll_fd, &ev, 1, wait - now);
    }
}

static void inline_close(struct toedev_inline *t)
{
    uint64_t now;

    engine_join(t->engine);
    now = engine_clock();
    t->engine->now = now;
    t->qp->notify = NULL; /* no more notifications, */
    t->qp->expect = NULL;
    t->engine->hold.min = 0; /* ... and no more reads */
    qp_drop(t->qp);
    run_out(t, now + t->options.linger_ms * NS_PER_MS);
    if (!t->orphans) {
        engine_stop(t->engine);
        run_out(t, engine_clock() + RESET_TIME);
    }
    free_all(t);
}

/* Called in a child after fork(). The memory is a copy-on-write copy of the parent's, except what
 * netio shares with the kernel or other processes, which is not accessed. Only the claim and the
 * socket for statistics are closed, as they would outlive the parent; the other descriptors close
 * at exec. */
static void inline_forget(struct toedev_inline *t)
{
    if (t->control.lock_fd >= 0)
        close(t->control.lock_fd);
    address_release(&t->control.addresses);
    netio_forget(t->engine->netio);
    if (t->control.listen_fd >= 0)
        close(t->control.listen_fd);
    if (t->capturer.fd >= 0) /* its tool would wait for the end of the child too */
        close(t->capturer.fd);
}

/* ---- direct ---- */

static void command(struct toedev_inline *t, const struct toe_cmd *c, uint64_t now)
{
    t->engine->now = now;
    t->commanded = 1;
    t->engine->idle_until = 0;
    direct_command(t->qp, c);
}

static void flush(struct toedev_inline *t, uint64_t now)
{
    t->engine->now = now;
    toec_output(t->engine->stack, now);
    netio_tx_flush(t->engine->netio, now);
    if (t->engine->timed)
        exchange_flushed(t->engine);
}

static unsigned run(struct toedev_inline *t, uint64_t now, int others)
{
    netio_keep_waking(t->engine->netio, others);
    run_side_hook(t->engine, now);
    t->commanded = 0;
    return engine_poll_idle(t->engine, now);
}

static uint32_t rest(const struct toedev_inline *t)
{
    return batch_rest(t->engine);
}

/* Serves connections once more before sleeping, however recently that was done: the program's epoll
 * instance is edge-triggered, and a call that did not sleep may have consumed the event. */
static int prepare_sleep(struct toedev_inline *t)
{
    return hear(t) != 0 || netio_prepare_sleep(t->engine->netio);
}

static uint64_t deadline(struct toedev_inline *t, uint64_t now)
{
    struct engine *e = t->engine;
    uint64_t at;

    if (t->commanded) { /* a command may have set a timer */
        t->commanded = 0;
        e->now = now;
        e->core_deadline = toec_poll(e->stack, now);
        e->idle_until = 0;
    }
    if (t->qp->pend_first || t->qp->hw.head != t->qp->answers.tail)
        return now; /* run() handles it */
    at = engine_deadline(e);
    if (netio_fd(t->engine->netio) < 0 && at > now + POLLED_NETIO)
        at = now + POLLED_NETIO;
    return at;
}

static void refresh(struct toedev_inline *t, uint32_t slot)
{
    struct slot *s = &t->qp->slots[slot];

    if (s->flow && s->state != SLOT_OPENING)
        record_write(s);
}

static int refer(struct toedev_inline *t, uint32_t slot, uint32_t off, const uint8_t *data,
                 uint32_t n)
{
    return slot < t->qp->cfg.slots ? refs_add(&t->qp->slots[slot], off, data, n) : -1;
}

/* Prefetches in steps, each for all slots, as expect_frames() does. */
static void expect(struct toedev_inline *t, const uint32_t *slots, unsigned n)
{
    const struct qp *qp = t->qp;
    unsigned i;

    for (i = 0; i < n; i++)
        if (slots[i] < qp->cfg.slots)
            slot_fetch(&qp->slots[slots[i]]);
    for (i = 0; i < n; i++)
        if (slots[i] < qp->cfg.slots && qp->slots[slots[i]].flow)
            toec_expect_flow(t->engine->stack, qp->slots[slots[i]].flow);
}

static uint32_t tx_room(struct toedev_inline *t, uint32_t slot, int more)
{
    struct slot *s = &t->qp->slots[slot];

    return more ? tx_share_grow(s) : slot_tx_size(s);
}

static void settle(struct toedev_inline *t, uint32_t slot)
{
    if (slot < t->qp->cfg.slots)
        refs_settle(&t->qp->slots[slot]);
}

static uint32_t where(struct toedev_inline *t, uint32_t slot, uint32_t off, uint32_t n,
                      const uint8_t **data)
{
    return hold_where(&t->qp->slots[slot], off, n, data);
}

static int read_to(struct toedev_inline *t, uint32_t slot, uint32_t off)
{
    return hold_release(&t->qp->slots[slot], off);
}

static void gather(struct toedev_inline *t, uint32_t slot, uint32_t off)
{
    hold_gather(&t->qp->slots[slot], off);
}

static const struct toedev_inline_ops ops = {
    .version = TOEDEV_INLINE_VERSION,
    .check = check,
    .open = inline_open,
    .close = inline_close,
    .forget = inline_forget,
    .command = command,
    .flush = flush,
    .run = run,
    .rest = rest,
    .prepare_sleep = prepare_sleep,
    .deadline = deadline,
    .refresh = refresh,
    .refer = refer,
    .expect = expect,
    .tx_room = tx_room,
    .settle = settle,
    .where = where,
    .read_to = read_to,
    .gather = gather,
};

__attribute__((visibility("default"))) const struct toedev_inline_ops *toedev_inline(void)
{
    return &ops;
}
