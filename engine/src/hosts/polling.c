/* SPDX-License-Identifier: Apache-2.0 */
/* polling.c - see polling.h. */
#define _GNU_SOURCE
#include <sched.h>

#include "base/clock.h"
#include "base/irq.h"
#include "base/sleep.h"
#include "base/spawn.h"
#include "polling.h"
#include "qp.h"

/* Entries handed out from one ring before hosts are notified and the next ring is served. */
#define DEAL_BUDGET 64u
/* After so many polls without work the thread yields the CPU. It never stops polling otherwise. */
#define LOOKS_PER_YIELD 1024u

struct entry {
    struct toe_cmd cmd;
    struct qp *qp;
    uint32_t kind;
    atomic_uint turn; /* position + 1 once the entry is written; stored last */
};
_Static_assert(sizeof(void *) != 8 || sizeof(struct entry) == 32, "two in a cache line");

/* Single producer: the engine; single consumer: the manager. Positions are free-running
 * counters. */
struct common {
    _Alignas(LINE) struct entry *entries;
    uint32_t count;               /* a power of two */
    _Alignas(LINE) uint32_t head; /* the engine's */
    uint32_t tail_seen;           /* the manager's tail as last read */
    _Alignas(LINE) atomic_uint tail;
    atomic_ullong dealt, wakes; /* since common_tally() */
};

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): whole cache lines */
struct polling {
    struct common *rings;
    uint32_t count;
    pthread_t thread;
    int has_thread;
    struct gate gate;
    atomic_int quit;
    _Alignas(LINE) struct outlet *first; /* outlets to publish */
    atomic_ullong irq_since;             /* shared: like engine.irq_since */
};

struct polling *polling_new(uint32_t engines, uint32_t entries)
{
    struct polling *p = lines_calloc(1, sizeof(*p));
    uint32_t i;

    if (!p)
        return NULL;
    gate_init(&p->gate);
    p->rings = lines_calloc(engines, sizeof(*p->rings));
    for (i = 0; p->rings && i < engines; i++) {
        p->rings[i].count = entries;
        p->rings[i].entries = lines_calloc(entries, sizeof(struct entry));
        p->count = i + 1;
        if (!p->rings[i].entries)
            break;
    }
    if (p->rings && i == engines)
        return p;
    polling_free(p);
    return NULL;
}

void polling_free(struct polling *p)
{
    uint32_t i;

    if (!p)
        return;
    for (i = 0; i < p->count; i++)
        free(p->rings[i].entries);
    free(p->rings);
    free(p);
}

struct common *polling_ring(struct polling *p, uint32_t engine)
{
    return p ? &p->rings[engine] : NULL;
}

/* ---- the engine's side ---- */

uint32_t common_room(struct common *c)
{
    if (c->head - c->tail_seen > c->count / 2)
        c->tail_seen = atomic_load_explicit(&c->tail, memory_order_acquire);
    return c->count - (c->head - c->tail_seen);
}

int common_is_handed_out(struct common *c)
{
    c->tail_seen = atomic_load_explicit(&c->tail, memory_order_acquire);
    return c->tail_seen == c->head;
}

void common_put(struct common *c, enum common_kind kind, struct qp *qp, const struct toe_cmd *cmd)
{
    struct entry *e = &c->entries[c->head & (c->count - 1)];

    if (cmd)
        e->cmd = *cmd;
    e->qp = qp;
    e->kind = kind;
    atomic_store_explicit(&e->turn, ++c->head, memory_order_release);
}

void common_begin(struct common *c, struct qp *qp)
{
    struct outlet *o = &qp->outlet;

    o->ring = qp->hw;
    o->published = qp->hw_published;
    o->irq_fd = qp->irq_fd;
    o->status = qp->status;
    o->doorbells = qp->doorbells;
    o->qp = qp;
    o->common = c;
    qp->common = c;
    if (o->irq.waiting)
        common_put(c, COMMON_LOOK, qp, NULL);
}

void common_tally(struct engine *e)
{
    struct common *c = e->cfg.common;

    if (!c)
        return;
    e->counters[EC_manager_commands] += atomic_exchange(&c->dealt, 0);
    e->counters[EC_manager_wakes] += atomic_exchange(&c->wakes, 0);
}

/* ---- the manager's ---- */

static void list(struct polling *p, struct outlet *o)
{
    if (o->listed)
        return;
    o->listed = true;
    o->next = p->first;
    p->first = o;
}

static void hand_out(struct polling *p, const struct entry *e)
{
    struct outlet *o = &e->qp->outlet;

    switch ((enum common_kind)e->kind) {
    case COMMON_COMMAND:
        toe_ring_put(&o->ring, &e->cmd);
        break;
    case COMMON_LAST:
        toe_ring_put(&o->ring, &e->cmd);
        o->wake = true;
        break;
    case COMMON_WAKE:
        o->wake = true;
        break;
    case COMMON_LOOK:
        break;
    case COMMON_TAIL:
        toe_ring_store(&o->status->sw_tail, (uint32_t)e->cmd.w[0]);
        return;
    case COMMON_GONE:
        o->gone = true;
        break;
    }
    list(p, o);
}

static unsigned deal(struct polling *p, struct common *c)
{
    uint32_t tail = atomic_load_explicit(&c->tail, memory_order_relaxed);
    unsigned n;

    for (n = 0; n < DEAL_BUDGET; n++, tail++) {
        const struct entry *e = &c->entries[tail & (c->count - 1)];

        if (atomic_load_explicit(&e->turn, memory_order_acquire) != tail + 1)
            break;
        hand_out(p, e);
    }
    if (!n)
        return 0;
    atomic_store_explicit(&c->tail, tail, memory_order_release);
    atomic_fetch_add_explicit(&c->dealt, n, memory_order_relaxed);
    return n;
}

/* Interrupts the host. When that fails, the engine halts the queue pair. */
static void interrupt(struct polling *p, struct outlet *o, uint64_t now)
{
    o->wake = false;
    if (o->irq.broken)
        return;
    atomic_fetch_add_explicit(&o->common->wakes, 1, memory_order_relaxed);
    if (irq_write(&o->irq, o->irq_fd, &p->irq_since, now) == 0)
        return;
    atomic_store(&o->qp->irq_failed, 1);
    wake_fd_write(o->qp->engine->wake_fd);
}

/* Publishes to the listed outlets; those whose interrupt moderation delays stay in the list. */
static void notify(struct polling *p, uint64_t now)
{
    struct outlet *o, **at = &p->first;

    for (o = p->first; o; o = o->next) {
        if (o->published == o->ring.head)
            continue;
        o->published = o->ring.head;
        toe_ring_store(&o->status->hw_head, o->published);
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    while ((o = *at)) {
        struct qp *qp = o->qp;

        if (o->wake || irq_due(&o->irq, o->doorbells, o->ring.head, now))
            interrupt(p, o, now);
        if (o->irq.waiting && !o->gone) {
            at = &o->next;
            continue;
        }
        *at = o->next;
        o->listed = false;
        if (o->gone && qp->engine->cfg.qp_unused)
            qp->engine->cfg.qp_unused(qp->engine->cfg.arg, qp); /* last access to it */
    }
}

unsigned polling_round(struct polling *p, uint64_t now)
{
    unsigned n = 0;
    uint32_t i;

    for (i = 0; i < p->count; i++)
        n += deal(p, &p->rings[i]);
    if (p->first)
        notify(p, now);
    return n;
}

uint64_t polling_deadline(const struct polling *p)
{
    const struct outlet *o;
    uint64_t at = UINT64_MAX;

    for (o = p->first; o; o = o->next)
        if (o->irq.deadline < at)
            at = o->irq.deadline;
    return at;
}

static void *run(void *arg)
{
    struct polling *p = arg;
    unsigned vain = 0;

    while (!atomic_load_explicit(&p->quit, memory_order_relaxed)) {
        /* Read before the round: the engines are paused when the gate is shut, so a round that
         * finds no work has seen all their entries. A round that began before has not. */
        int shut = gate_is_shut(&p->gate);

        if (polling_round(p, engine_clock())) {
            vain = 0;
            continue;
        }
        if (shut)
            gate_pass(&p->gate);
        engine_relax();
        if (++vain % LOOKS_PER_YIELD == 0)
            sched_yield();
    }
    while (polling_round(p, engine_clock()))
        ;
    return NULL;
}

int polling_start(struct polling *p, int pinned, uint32_t cpu)
{
    const struct spawn s = {
        .name = "toed-manager", .pinned = pinned, .cpu = cpu, .run = run, .arg = p};
    int rc;

    atomic_store(&p->quit, 0);
    rc = spawn(&p->thread, &s);
    p->has_thread = rc == 0;
    return rc;
}

void polling_join(struct polling *p)
{
    if (!p || !p->has_thread)
        return;
    atomic_store(&p->quit, 1);
    gate_open(&p->gate);
    spawn_join(p->thread, &p->irq_since);
    p->has_thread = 0;
}

void polling_pause(struct polling *p)
{
    if (!p)
        return;
    gate_shut(&p->gate);
    if (p->has_thread)
        gate_await(&p->gate, p->thread, &p->irq_since);
}

void polling_resume(struct polling *p)
{
    if (p)
        gate_open(&p->gate);
}

void polling_unblock(struct polling *p, uint64_t before)
{
    if (p && p->has_thread)
        spawn_unblock(p->thread, &p->irq_since, before);
}
