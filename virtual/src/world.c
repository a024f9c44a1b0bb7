/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world.c - one engine, libtoe, and time as an argument (see world.h). The engine, its control's
 * attach and libtoe are toed's and an application's own code; only the wire, the clock and the
 * machine under libtoe are others (wire.c, host.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <toe/toe.h>

#include "log.h"
#include "world.h"

/* Rounds at one moment before time is made to move: what waits for room would go round for ever. */
#define ROUNDS_MAX 10000u
/* A stack is this old when it is used first: its IPv6 addresses are no longer tentative. */
#define AGE (5 * NS_PER_S)
/* After the end of libtoe its flows may take this long to be reset. */
#define END_TIME (10 * NS_PER_S)

struct world world = {.lock = PTHREAD_MUTEX_INITIALIZER,
                      .settled = PTHREAD_COND_INITIALIZER,
                      .now = WORLD_ORIGIN,
                      .client = {.fd = -1, .pidfd = -1}};

uint64_t engine_clock(void)
{
    return world.now;
}

/* What toed says for people has no place here. */
void log_msg(const char *format, ...)
{
    (void)format;
}

/* FNV-1a over direction, time, length and bytes. */
void world_trace(int direction, const void *packet, size_t n)
{
    const uint8_t *p = packet;
    uint64_t head[3] = {(uint64_t)direction, world.now, n}, h = world.trace;
    size_t i;

    for (i = 0; i < sizeof(head); i++)
        h = (h ^ (head[i / 8] >> i % 8 * 8 & 0xff)) * 0x100000001b3ull;
    for (i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x100000001b3ull;
    world.trace = h;
}

/* The linker's --wrap: what core/ asks of tcp_isn.c comes here. */
struct toec_tuple;
toec_u32 __real_toec_isn(struct toec_stack *s, const struct toec_tuple *id, toec_time now);
toec_u32 __wrap_toec_isn(struct toec_stack *s, const struct toec_tuple *id, toec_time now);

toec_u32 __wrap_toec_isn(struct toec_stack *s, const struct toec_tuple *id, toec_time now)
{
    return world.knobs.isn ? world.knobs.isn : __real_toec_isn(s, id, now);
}

/* ---- coming and going ---- */

static void let_go(void *arg, struct qp *qp)
{
    (void)arg;
    qp->next_unused = world.unused;
    world.unused = qp;
}

static void free_unused(void)
{
    while (world.unused) {
        struct qp *qp = world.unused;

        world.unused = qp->next_unused;
        world.control.memory -= qp->layout.total;
        qp_free(qp);
    }
}

static int make_engine(void)
{
    struct engine_config cfg = {.count = 1,
                                .netio = world.wire,
                                .core = world.knobs.core,
                                .max_qps = 4,
                                .qp_unused = let_go};
    char err[256];

    memcpy(cfg.core.mac, link_own_mac, sizeof(cfg.core.mac));
    world.engine = engine_new(&cfg, world.now, err, sizeof(err));
    if (!world.engine)
        fprintf(stderr, "virtual: %s\n", err);
    return world.engine ? 0 : -1;
}

/* The part of toed's control that an attach looks at. */
static int make_control(void)
{
    struct control *c = &world.control;

    memset(c, 0, sizeof(*c));
    memset(&world.options, 0, sizeof(world.options));
    memcpy(world.options.ip, world.knobs.core.ip, sizeof(world.options.ip));
    memcpy(world.options.gateway, world.knobs.core.gateway, sizeof(world.options.gateway));
    world.options.prefix_len = world.knobs.core.prefix_len;
    world.options.has_ip6 = world.knobs.core.ip6 != TOEC_IP6_OFF;
    memcpy(world.options.ip6, world.knobs.core.ip6_addr, sizeof(world.options.ip6));
    memcpy(world.options.gateway6, world.knobs.core.ip6_gateway, sizeof(world.options.gateway6));
    world.options.prefix_len6 = world.knobs.core.ip6_prefix_len;
    world.options.engines = 1;
    world.options.max_qps = 4;
    world.options.max_memory_mib = 1u << 20;
    c->options = &world.options;
    c->engines = &world.engine;
    c->engine_count = 1;
    c->mtu = world.knobs.core.mtu;
    memcpy(c->mac, link_own_mac, sizeof(c->mac));
    netio_get_info(world.wire, &c->info);
    c->started = world.now;
    c->listen_fd = c->lock_fd = c->signal_fd = c->wake_fd = -1;
    c->regs_fd = registers_new(c);
    return c->regs_fd < 0 ? -1 : 0;
}

static int attach_host(void)
{
    struct toe_options o = {.socket = "virtual",
                            .slots = world.knobs.slots,
                            .tx_size = world.knobs.tx_size,
                            .rx_size = world.knobs.rx_size,
                            .irq_count = 1, /* told at once */
                            .require = 1};

    if (toe_init(&o) == 0)
        return 0;
    fprintf(stderr, "virtual: %s\n", toe_last_error());
    return -1;
}

int world_up(void)
{
    uint64_t now = world.now;

    if (world.up)
        return 0;
    world.now -= AGE;
    world.trace = 0xcbf29ce484222325ull;
    world.wire = wire_new(world.knobs.core.mtu);
    world.up = world.wire && make_engine() == 0;
    if (!world.up && world.wire)
        netio_close(world.wire);
    if (!world.up) {
        world.now = now;
        errno = ENETDOWN;
        return -1;
    }
    world_run(now, NULL, NULL);
    link_greet(world.wire);
    if (make_control() == 0 && attach_host() == 0)
        return 0;
    world_down();
    errno = ENETDOWN;
    return -1;
}

void world_down(void)
{
    if (!world.up)
        return;
    toe_terminate();
    if (world.client.qp)
        qp_drop(world.client.qp);
    if (world.client.fd >= 0)
        close(world.client.fd);
    world.client = (struct client){.fd = -1, .pidfd = -1};
    world_run(world.now + END_TIME, NULL, NULL);
    while (world.engine->qp_count)
        let_go(NULL, world.engine->qps[--world.engine->qp_count]);
    free_unused();
    engine_free(world.engine); /* and the wire */
    world.engine = NULL;
    world.wire = NULL;
    close(world.control.regs_fd);
    world.up = 0;
}

int world_attach(int fd)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return -1;
    if (dup3(pair[0], fd, O_CLOEXEC) < 0) {
        close(pair[0]);
        close(pair[1]);
        return -1;
    }
    close(pair[0]);
    if (world.client.fd >= 0)
        close(world.client.fd);
    world.client = (struct client){.fd = pair[1], .pidfd = -1, .pid = getpid()};
    return 0;
}

static void serve_hello(void)
{
    struct hello_message m;

    if (world.client.fd < 0 || world.client.qp)
        return;
    if (attach_receive(world.client.fd, &m) <= 0)
        return;
    if (attach_client(&world.control, &world.client, &m) != 0) {
        close(world.client.fd);
        world.client.fd = -1;
    }
}

void world_fresh_records(void)
{
    uint32_t q, i;

    for (q = 0; world.up && q < world.engine->qp_count; q++) {
        struct qp *qp = world.engine->qps[q];

        for (i = 0; i < qp->cfg.slots; i++)
            if (qp->slots[i].flow && qp->slots[i].state != SLOT_OPENING)
                record_write(&qp->slots[i]);
    }
}

/* ---- time ---- */

static void step_engine(void)
{
    unsigned i;

    serve_hello();
    for (i = 0; i < ROUNDS_MAX; i++)
        if (!engine_step(world.engine, world.now) && engine_deadline(world.engine) > world.now)
            return;
}

/* Wakes who has something to wake for, and waits until they sleep again or have ended. */
static int serve_sleepers(void)
{
    struct sleeper *s;
    int woke = 0;

    for (s = world.sleepers; s; s = s->next) {
        if (s->woken || !(world.now >= s->deadline || s->ready(s->arg)))
            continue;
        s->woken = 1;
        world.running++;
        woke = 1;
        pthread_cond_signal(&s->wake);
    }
    while (world.running)
        pthread_cond_wait(&world.settled, &world.lock);
    return woke;
}

void world_settle(void)
{
    do {
        if (world.up)
            step_engine();
    } while (pthread_equal(pthread_self(), world.owner) && serve_sleepers());
}

uint64_t world_next(void)
{
    uint64_t t = world.up ? engine_deadline(world.engine) : NEVER;
    struct sleeper *s;

    for (s = world.sleepers; s; s = s->next)
        if (s->deadline < t)
            t = s->deadline;
    return t;
}

int world_run(uint64_t until, int (*done)(void *arg), void *arg)
{
    for (;;) {
        uint64_t next;

        world_settle();
        if (done && done(arg))
            return 1;
        if (world.now >= until)
            return 0;
        next = world_next();
        if (next == NEVER && until == NEVER)
            return -1;
        if (next <= world.now)
            next = world.now + NS_PER_US;
        world.now = next < until ? next : until;
    }
}

/* This thread was woken by the owner, who waits for it. */
static __thread int counted;
__thread int world_stays;

void world_leave(void)
{
    if (!counted)
        return;
    counted = 0;
    world.running--;
    pthread_cond_broadcast(&world.settled);
}

static int sleep_beside_owner(uint64_t deadline, int (*ready)(void *arg), void *arg)
{
    struct sleeper s = {world.sleepers, ready, arg, deadline, 0, 0, PTHREAD_COND_INITIALIZER};
    struct sleeper **at = &world.sleepers;

    world.sleepers = &s;
    world_leave();
    pthread_cond_broadcast(&world.settled); /* who waits for this call to sleep */
    while (!s.woken)
        pthread_cond_wait(&s.wake, &world.lock);
    counted = 1;
    while (*at != &s)
        at = &(*at)->next;
    *at = s.next;
    if (!s.cancelled)
        return ready(arg);
    errno = EDEADLK;
    return -1;
}

void world_cancel(void)
{
    while (world.sleepers) {
        world.sleepers->cancelled = world.sleepers->woken = 1;
        world.running++;
        pthread_cond_signal(&world.sleepers->wake);
        while (world.running)
            pthread_cond_wait(&world.settled, &world.lock);
    }
}

int world_sleep(uint64_t deadline, int (*ready)(void *arg), void *arg)
{
    int r;

    if (ready(arg))
        return 1;
    if (world.now >= deadline)
        return 0;
    if (!pthread_equal(pthread_self(), world.owner))
        return sleep_beside_owner(deadline, ready, arg);
    r = world_run(deadline, ready, arg);
    if (r < 0)
        errno = EDEADLK;
    return r;
}
