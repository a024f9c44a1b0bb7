/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.c - two engines, their hosts and a wire in one thread (pairs.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "pairs.h"
#include "round/engine.h"

#define RING         4096u
#define WARM_UP_EACH 100u            /* answers on each connection, */
#define WARM_UP_MAX  (60 * NS_PER_S) /* ... within this time */

/* A side: an engine, the host on it, and what it has sent and received on each slot. */
struct side {
    struct engine *e;
    struct host host;
    uint32_t *sent, *got; /* bytes, by slot */
    uint32_t *part;       /* received part of a message */
};

struct pair {
    struct bench t; /* its list of unused queue pairs, and the next one's id */
    struct side x, y;
    uint32_t bytes, slots;
    uint64_t answered;
    char path[128];
};

static void let_go(void *arg, struct qp *qp)
{
    struct pair *p = arg;

    p->t.unused[p->t.unused_count++] = qp;
}

static struct engine *make_engine(struct pair *p, char side, uint8_t last)
{
    struct netio_config ncfg = {.ip = {10, 0, 0, last}};
    struct engine_config cfg = {.count = 1,
                                .max_qps = 4,
                                .spin_us = 50,
                                .offload = OFFLOAD_ALL,
                                .qp_unused = let_go,
                                .arg = p};
    struct netio_info info;
    char spec[192], err[256];

    snprintf(spec, sizeof(spec), "wire:%s,side=%c", p->path, side);
    cfg.netio = netio_open(spec, &ncfg, err, sizeof(err));
    if (cfg.netio) {
        netio_get_info(cfg.netio, &info);
        memcpy(cfg.core.mac, info.mac, 6);
        memcpy(cfg.core.ip, ncfg.ip, 4);
        memset(cfg.core.secret, last, sizeof(cfg.core.secret));
        cfg.core.prefix_len = 24;
        cfg.core.mtu = 1500;
        cfg.core.max_flows = p->slots;
    }
    if (!cfg.netio || !(p->t.a = engine_new(&cfg, engine_clock(), err, sizeof(err))))
        fprintf(stderr, "pairs: %s\n", err);
    return p->t.a;
}

static int make_side(struct pair *p, struct side *s, char name, uint8_t last)
{
    struct toedev_qp_config cfg = bench_qp_config(p->slots);

    cfg.sw_entries = cfg.hw_entries = RING;
    cfg.tx_size = cfg.rx_size = p->bytes > 4096 ? 4 * PAIR_BYTES_MAX : 4096;
    s->e = make_engine(p, name, last);
    s->sent = calloc(p->slots, sizeof(*s->sent));
    s->got = calloc(p->slots, sizeof(*s->got));
    s->part = calloc(p->slots, sizeof(*s->part));
    if (!s->e || !s->sent || !s->got || !s->part)
        return -1;
    host_attach(&p->t, s->e, &s->host, &cfg);
    return 0;
}

struct pair *pair_new(const char *folder, unsigned index, const struct pair_run *run)
{
    struct pair *p = aligned_alloc(64, (sizeof(*p) + 63) / 64 * 64);

    if (!p)
        return NULL;
    memset(p, 0, sizeof(*p));
    snprintf(p->path, sizeof(p->path), "%s/w%u", folder, index);
    p->bytes = run->bytes;
    p->slots = run->connections;
    if (make_side(p, &p->x, 'a', 1) == 0 && make_side(p, &p->y, 'b', 2) == 0)
        return p;
    return NULL; /* the program ends */
}

static void free_side(struct side *s)
{
    host_forget(&s->host);
    engine_free(s->e);
    free(s->sent);
    free(s->got);
    free(s->part);
}

void pair_free(struct pair *p)
{
    uint64_t now = engine_clock();
    unsigned i;

    qp_drop(p->x.host.qp);
    qp_drop(p->y.host.qp);
    for (i = 0; p->t.unused_count < 2 && i < 100000; i++) {
        engine_step(p->x.e, now += NS_PER_MS);
        engine_step(p->y.e, now);
    }
    while (p->t.unused_count)
        qp_free(p->t.unused[--p->t.unused_count]);
    free_side(&p->x);
    free_side(&p->y);
    unlink(p->path);
    free(p);
}

/* ---- messages begin with their stream offset, so that errors are detected ---- */

static void say(struct pair *p, struct side *s, uint32_t slot)
{
    uint8_t *tx = s->host.area + toedev_tx_offset(&s->host.cfg, &s->host.layout, slot);
    uint32_t at = s->sent[slot];

    /* sizes are powers of two or divide the buffer, so the first word is never cut */
    memcpy(tx + (at & (s->host.cfg.tx_size - 1)), &at, sizeof(at));
    s->sent[slot] = at + p->bytes;
    host_put(&s->host, TOE_CMD_SEND, TOE_F_SEND_PUSH, 0, slot, p->bytes, 0);
}

/* Handles n received bytes. Returns the number of completed messages, or -1 for a wrong one. */
static int hear(struct pair *p, struct side *s, uint32_t slot, uint32_t n)
{
    const uint8_t *rx = s->host.area + toedev_rx_offset(&s->host.cfg, &s->host.layout, slot);
    int whole = 0;

    s->part[slot] += n;
    for (; s->part[slot] >= p->bytes; s->part[slot] -= p->bytes) {
        uint32_t at;

        memcpy(&at, rx + (s->got[slot] & (s->host.cfg.rx_size - 1)), sizeof(at));
        if (at != s->got[slot])
            return -1;
        s->got[slot] += p->bytes;
        whole++;
    }
    host_put(&s->host, TOE_CMD_RECV, 0, 0, slot, n, 0);
    return whole;
}

/* Handles the commands for the host of s and answers, or sends the next request. Returns 0 or an
 * error. */
static const char *serve(struct pair *p, struct side *s)
{
    struct toe_cmd c;

    while (host_get(&s->host, &c)) {
        uint32_t slot = toe_cmd_flow(&c);
        int whole;

        switch (toe_cmd_type(&c)) {
        case TOE_CMD_DATA_RECEIVED:
            whole = hear(p, s, slot, toe_cmd_arg0(&c));
            if (whole < 0)
                return "bytes are not those that were sent";
            if (s == &p->y)
                p->answered += (uint64_t)whole;
            for (; whole; whole--)
                say(p, s, slot);
            break;
        case TOE_CMD_CONNECT_ESTABLISHED:
            say(p, s, slot);
            break;
        case TOE_CMD_LISTEN_ESTABLISHED:
        case TOE_CMD_SEND_COMPLETE:
            break;
        default:
            return toe_cmd_name(toe_cmd_type(&c));
        }
    }
    return NULL;
}

static const char *turn(struct pair *p, uint64_t now)
{
    const char *error;

    engine_step(p->y.e, now);
    engine_step(p->x.e, now);
    if ((error = serve(p, &p->x)))
        return error;
    engine_step(p->x.e, now);
    engine_step(p->y.e, now);
    return serve(p, &p->y);
}

static uint64_t thread_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* Opens connections as the ring has room. */
static void warm_up(struct pair *p, struct pair_run *run)
{
    uint64_t now = engine_clock(), until = now + WARM_UP_MAX;
    uint32_t opened = 0;

    host_put(&p->x.host, TOE_CMD_LISTEN, 0, PORT, 7, 0, p->slots);
    while (!run->error && p->answered < (uint64_t)p->slots * WARM_UP_EACH) {
        for (; opened < p->slots && toe_ring_room(&p->y.host.sw) > RING / 4; opened++)
            host_put(&p->y.host, TOE_CMD_CONNECT, 0, PORT, opened, IP_A, 0);
        run->error = turn(p, now);
        now = engine_clock();
        if (now > until)
            run->error = "connections do not open";
    }
    if (atomic_fetch_sub(&run->start->cold, 1) == 1)
        atomic_store(&run->start->from, now);
}

void pair_go(struct pair *p, struct pair_run *run)
{
    uint64_t now, from, spent, before;

    warm_up(p, run);
    while (!run->error && !atomic_load_explicit(&run->start->from, memory_order_relaxed))
        run->error = turn(p, engine_clock());
    from = now = engine_clock();
    spent = thread_time();
    before = p->answered;
    while (!run->error && now < from + run->time) {
        run->error = turn(p, now);
        now = engine_clock();
    }
    run->ns = now - from;
    run->cpu_ns = thread_time() - spent;
    run->answered = p->answered - before;
}
