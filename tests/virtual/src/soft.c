/* SPDX-License-Identifier: Apache-2.0 */
/*
 * soft.c - the TOE of tests/virtual/: one engine over core/, and the part of toed's control that an
 * attach uses; both are toed's own code.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <toe/counters.h>

#include "base/clock.h"
#include "base/log.h"
#include "hosts/record.h"
#include "process/attach.h"
#include "process/registers.h"
#include "round/engine.h"
#include "world.h"

/* Rounds at one moment before time is made to move: what waits for room would go round for ever. */
#define ROUNDS_MAX 10000u

static struct {
    struct engine *engine;
    struct control control;
    struct options options;
    struct client client; /* libtoe */
    struct qp *unused;
} soft = {.client = {.fd = -1, .pidfd = -1}};

uint64_t engine_clock(void)
{
    return world.now;
}

/* Discards toed's log messages. */
void log_at(enum toe_log_level level, const char *format, ...)
{
    (void)level;
    (void)format;
}

/* The linker's --wrap: replaces tcp_isn.c for core/. */
struct toec_tuple;
toec_u32 __real_toec_isn(struct toec_stack *s, const struct toec_tuple *id, toec_time now);
toec_u32 __wrap_toec_isn(struct toec_stack *s, const struct toec_tuple *id, toec_time now);

toec_u32 __wrap_toec_isn(struct toec_stack *s, const struct toec_tuple *id, toec_time now)
{
    return world.knobs.isn ? world.knobs.isn : __real_toec_isn(s, id, now);
}

static void let_go(void *arg, struct qp *qp)
{
    (void)arg;
    qp->next_unused = soft.unused;
    soft.unused = qp;
}

static void free_unused(void)
{
    while (soft.unused) {
        struct qp *qp = soft.unused;

        soft.unused = qp->next_unused;
        soft.control.memory -= qp->layout.total;
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
    soft.engine = engine_new(&cfg, world.now, err, sizeof(err));
    if (!soft.engine)
        fprintf(stderr, "virtual: %s\n", err);
    return soft.engine ? 0 : -1;
}

/* The part of toed's control that an attach uses. */
static int make_control(void)
{
    struct control *c = &soft.control;

    memset(c, 0, sizeof(*c));
    memset(&soft.options, 0, sizeof(soft.options));
    memcpy(soft.options.ip, world.knobs.core.ip, sizeof(soft.options.ip));
    memcpy(soft.options.gateway, world.knobs.core.gateway, sizeof(soft.options.gateway));
    soft.options.prefix_len = world.knobs.core.prefix_len;
    soft.options.has_ip6 = world.knobs.core.ip6 != TOEC_IP6_OFF;
    memcpy(soft.options.ip6, world.knobs.core.ip6_addr, sizeof(soft.options.ip6));
    memcpy(soft.options.gateway6, world.knobs.core.ip6_gateway, sizeof(soft.options.gateway6));
    soft.options.prefix_len6 = world.knobs.core.ip6_prefix_len;
    soft.options.engines = 1;
    soft.options.max_qps = 4;
    soft.options.max_memory_mib = 1u << 20;
    c->options = &soft.options;
    c->engines = &soft.engine;
    c->engine_count = 1;
    c->mtu = world.knobs.core.mtu;
    memcpy(c->mac, link_own_mac, sizeof(c->mac));
    netio_get_info(world.wire, &c->info);
    c->started = world.now;
    c->listen_fd = c->lock_fd = c->signal_fd = c->wake_fd = -1;
    c->regs_fd = registers_new(c);
    return c->regs_fd < 0 ? -1 : 0;
}

int device_up(void)
{
    if (make_engine() != 0)
        return -1;
    if (make_control() == 0)
        return 0;
    engine_free(soft.engine);
    return -1;
}

void device_down(void)
{
    while (soft.engine->qp_count)
        let_go(NULL, soft.engine->qps[--soft.engine->qp_count]);
    free_unused();
    engine_free(soft.engine); /* and the wire */
    soft.engine = NULL;
    close(soft.control.regs_fd);
}

void device_greet(int fd)
{
    if (soft.client.fd >= 0)
        close(soft.client.fd);
    soft.client = (struct client){.fd = fd, .pidfd = -1, .pid = getpid()};
}

void device_leave(void)
{
    if (soft.client.qp)
        qp_drop(soft.client.qp);
    if (soft.client.fd >= 0)
        close(soft.client.fd);
    soft.client = (struct client){.fd = -1, .pidfd = -1};
}

static void serve_hello(void)
{
    struct hello_message m;

    if (soft.client.fd < 0 || soft.client.qp)
        return;
    if (attach_receive(soft.client.fd, &m) <= 0)
        return;
    if (attach_client(&soft.control, &soft.client, &m) != 0) {
        close(soft.client.fd);
        soft.client.fd = -1;
    }
}

void device_step(void)
{
    unsigned i;

    serve_hello();
    for (i = 0; i < ROUNDS_MAX; i++)
        if (!engine_step(soft.engine, world.now) && engine_deadline(soft.engine) > world.now)
            return;
}

uint64_t device_deadline(void)
{
    return engine_deadline(soft.engine);
}

/* The engine refreshes them only every 20 ms. */
void device_fresh_records(void)
{
    uint32_t q, i;

    for (q = 0; q < soft.engine->qp_count; q++) {
        struct qp *qp = soft.engine->qps[q];

        for (i = 0; i < qp->cfg.slots; i++)
            if (qp->slots[i].flow && qp->slots[i].state != SLOT_OPENING)
                record_write(&qp->slots[i]);
    }
}

int64_t device_counter(const char *name)
{
    static const char *const names[] = {
#define NAME(n, description) #n,
        TOEC_COUNTERS(NAME)
#undef NAME
    };
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], name) == 0)
            return world.up ? (int64_t)toec_counters(soft.engine->stack)[i] : 0;
    return -1;
}

void device_usage(uint32_t out[4])
{
    struct toec_usage u;

    toec_usage(soft.engine->stack, &u);
    out[0] = u.flows;
    out[1] = u.half_open;
    out[2] = u.listeners;
    out[3] = u.time_wait;
}
