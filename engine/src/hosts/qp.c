/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qp.c - the life of a queue pair: attach, slots, halt, the death of its owner
 * (docs/device-contract.md: Pieces, Slots, Host death).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/log_limited.h"
#include "commands.h"
#include "events.h"
#include "listen.h"
#include "opening.h"
#include "qp.h"
#include "refs.h"
#include "relieve.h"
#include "rx_hold.h"
#include "trace.h"
#include "tx_share.h"

/* Slots visited in one step when flows are reset: a large queue pair must not stall the others. */
#define REAP_BATCH 256u
/* How long flows that the dead host had closed may take to finish. */
#define ORPHAN_TIME (60 * NS_PER_S)

static int check_attach(const struct qp_attach *a, struct toedev_layout *l, char *err, size_t n)
{
    if (toedev_layout(&a->cfg, l) != 0) {
        snprintf(err, n, "sw %u, hw %u, slots %u, tx %u, rx %u or addresses %u is out of range",
                 a->cfg.sw_entries, a->cfg.hw_entries, a->cfg.slots, a->cfg.tx_size, a->cfg.rx_size,
                 a->cfg.addresses);
        return TOE_R_INVAL;
    }
    if (l->total > a->max_bytes) {
        snprintf(err, n, "%llu MiB asked, %llu MiB left of --max-memory",
                 (unsigned long long)(l->total >> 20), (unsigned long long)(a->max_bytes >> 20));
        return TOE_R_NOBUFS;
    }
    /* When a queue pair is taken over, its eventfd may block; a blocked write is interrupted
     * (irq.h). */
    if (toedev_check_area(a->area_fd, l->total, err, n) != 0 ||
        toedev_check_irq(a->irq_fd, a->again, err, n) != 0)
        return TOE_R_INVAL;
    return 0;
}

#define SMALL_PAGE 4096u
#define HUGE_PAGE  (2u << 20)

/* Returns zeroed memory, on huge pages if available, not resident until it is touched. */
static void *get_pages(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return NULL;
    (void)madvise(p, size, MADV_HUGEPAGE);
    return p;
}

static int make_slots(struct qp *qp)
{
    uint32_t n = qp->cfg.slots;

    qp->slots = get_pages(n * sizeof(*qp->slots));
    qp->free_slots = get_pages(n * sizeof(*qp->free_slots));
    qp->traces = get_pages(n * sizeof(*qp->traces));
    qp->free_count = n;
    return qp->slots && qp->free_slots && qp->traces ? 0 : -1;
}

/* Requests huge pages for buffers if those of one flow fit in a small page, so that few unused
 * bytes become resident. Larger buffers stay on small pages: otherwise buffers of idle flows, and
 * unused parts of buffers, would be resident. */
static void ask_huge(const struct qp *qp)
{
    size_t size = qp->layout.buffers;

    if (qp->cfg.tx_size + qp->cfg.rx_size <= SMALL_PAGE)
        size = qp->layout.total;
    if (size >= HUGE_PAGE)
        (void)madvise(qp->area, size, MADV_HUGEPAGE);
}

/* Maps the area; fd -1: as private memory of this process. */
static int map_area(struct qp *qp, int fd)
{
    void *p = mmap(NULL, qp->layout.total, PROT_READ | PROT_WRITE,
                   fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED, fd, 0);

    if (p == MAP_FAILED)
        return -1;
    qp->area = p;
    if (fd < 0)
        ask_huge(qp);
    qp->doorbells = (const void *)(qp->area + qp->layout.doorbells);
    qp->status = (void *)(qp->area + qp->layout.status);
    toe_ring_rx_init(&qp->sw, qp->area + qp->layout.sw_ring, qp->cfg.sw_entries);
    toe_ring_tx_init(&qp->hw, qp->area + qp->layout.hw_ring, qp->cfg.hw_entries,
                     &qp->doorbells->hw_tail);
    return 0;
}

/* Copies the name, for logs and JSON, as printable ASCII. */
static void copy_name(struct qp *qp, const char *name)
{
    size_t i;

    for (i = 0; i + 1 < sizeof(qp->name) && name[i]; i++)
        qp->name[i] = name[i] >= ' ' && name[i] <= '~' ? name[i] : '?';
}

struct qp *qp_new(const struct qp_attach *a, uint32_t *reason, char *err, size_t err_size)
{
    struct toedev_layout layout;
    struct qp *qp = NULL;

    *reason = check_attach(a, &layout, err, err_size);
    if (*reason == 0) {
        qp = lines_calloc(1, sizeof(*qp));
        *reason = TOE_R_NOBUFS;
        snprintf(err, err_size, "no memory for %u slots", a->cfg.slots);
    }
    if (!qp) {
        close(a->area_fd);
        close(a->irq_fd);
        return NULL;
    }
    qp->cfg = a->cfg;
    qp->layout = layout;
    qp->id = a->id;
    qp->pid = a->pid;
    qp->uid = a->uid;
    (void)!getrandom(&qp->opening_salt, sizeof(qp->opening_salt), GRND_NONBLOCK);
    qp->irq_fd = a->irq_fd;
    qp->area_fd = a->area_fd;
    qp->doorbell_fd = -1;
    qp->outlet.irq.deadline = UINT64_MAX;
    qp->orphan_deadline = UINT64_MAX;
    copy_name(qp, a->name);
    qp->doorbell_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (qp->doorbell_fd < 0 || make_slots(qp) != 0 || map_area(qp, a->area_fd) != 0) {
        snprintf(err, err_size, "cannot make a queue pair of %u slots: %s", a->cfg.slots,
                 strerror(errno));
        qp_free(qp);
        return NULL;
    }
    *reason = 0;
    return qp;
}

static struct qp *no_qp(struct qp *qp, char *err, size_t err_size)
{
    snprintf(err, err_size, "cannot make a queue pair: %s", strerror(errno));
    if (qp)
        qp_free(qp);
    return NULL;
}

struct qp *qp_new_inside(const struct toedev_qp_config *cfg, int irq_fd, const char *name,
                         void (*notify)(void *arg, const struct toe_cmd *c), void *arg, char *err,
                         size_t err_size)
{
    struct qp *qp = lines_calloc(1, sizeof(*qp));

    if (!qp) {
        if (irq_fd >= 0)
            close(irq_fd);
        return no_qp(NULL, err, err_size);
    }
    qp->cfg = *cfg;
    qp->pid = getpid();
    qp->uid = getuid();
    qp->irq_fd = irq_fd;
    qp->area_fd = -1;
    qp->doorbell_fd = -1;
    qp->outlet.irq.broken = notify != NULL;
    qp->outlet.irq.deadline = UINT64_MAX;
    qp->orphan_deadline = UINT64_MAX;
    qp->notify = notify;
    qp->notify_arg = arg;
    copy_name(qp, name);
    (void)!getrandom(&qp->opening_salt, sizeof(qp->opening_salt), GRND_NONBLOCK);
    errno = EINVAL;
    if (toedev_layout_inside(cfg, &qp->layout) != 0 || make_slots(qp) != 0 || map_area(qp, -1) != 0)
        return no_qp(qp, err, err_size);
    madvise(qp->area, qp->layout.total, MADV_DONTFORK);
    if (notify) {
        toe_ring_rx_init(&qp->answers, qp->area + qp->layout.hw_ring, cfg->hw_entries);
        return qp;
    }
    qp->doorbell_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return qp->doorbell_fd < 0 ? no_qp(qp, err, err_size) : qp;
}

void qp_free(struct qp *qp)
{
    if (qp->area)
        munmap(qp->area, qp->layout.total);
    if (qp->doorbell_fd >= 0)
        close(qp->doorbell_fd);
    if (qp->irq_fd >= 0)
        close(qp->irq_fd);
    if (qp->area_fd >= 0)
        close(qp->area_fd);
    for (uint32_t i = 0; i < qp->fresh; i++)
        refs_free(&qp->slots[i]);
    hold_qp_free(qp);
    if (qp->slots)
        munmap(qp->slots, qp->cfg.slots * sizeof(*qp->slots));
    free(qp->ports);
    if (qp->free_slots)
        munmap(qp->free_slots, qp->cfg.slots * sizeof(*qp->free_slots));
    trace_detach(qp); /* if no engine has done so */
    if (qp->traces)
        munmap(qp->traces, qp->cfg.slots * sizeof(*qp->traces));
    free(qp);
}

/* Returns how many free slots have been in use before. */
static uint32_t given_back(const struct qp *qp)
{
    return qp->free_count - (qp->cfg.slots - qp->fresh);
}

struct slot *slot_take(struct qp *qp)
{
    uint32_t i;
    struct slot *s;

    if (qp->free_count == 0 || qp->halted || qp->dropped || qp->leaving)
        return NULL;
    i = given_back(qp) ? qp->free_slots[given_back(qp) - 1] : qp->fresh++;
    qp->free_count--;
    s = &qp->slots[i];
    s->qp = qp;
    s->index = i;
    s->flow = NULL;
    s->state = SLOT_OPENING;
    s->pending = 0;
    s->active = s->announced = s->accepted = s->counted = s->half_closed = s->doomed = 0;
    s->reason = s->soft_error = 0;
    s->urgent_at = 0;
    s->cookie = s->tx_used = s->una = s->rx_reported = s->pend_data = s->pend_acked = 0;
    s->member = NULL;
    s->open_prev = NULL;
    s->fast = s->current = 0;
    tx_share_begin(s);
    s->generation++;
    return s;
}

void slot_free(struct slot *s)
{
    struct qp *qp = s->qp;

    listen_leave(s);
    opening_del(s);
    refs_drop(s);
    hold_drop(s);
    s->state = SLOT_FREE;
    s->announced = 0;
    s->pending = 0; /* its entry in the pending list is removed in its turn */
    qp->free_slots[given_back(qp)] = s->index;
    qp->free_count++;
    if (qp->free_count == 1 && qp->engine->parked)
        listen_has_room(qp);
}

void qp_halt(struct qp *qp, uint16_t reason)
{
    if (qp->halted)
        return;
    qp->halted = reason;
    __atomic_store_n(&qp->status->halted, reason, __ATOMIC_RELEASE);
    event_last(qp);
    engine_count(qp->engine, EC_qp_halted);
    log_limited_warning(
        "queue pair %u (%s, pid %d) halted: %s at SW position %u, its flows are reset", qp->id,
        qp->name, qp->pid, toe_reason_name(reason), qp->sw.tail);
    listen_remove_all(qp);
    qp->abort_all = 1;
    qp->abort_next = 0;
}

static void drop_now(struct qp *qp)
{
    qp->dropped = 1;
    qp->abort_next = 0;
    qp->orphan_deadline = qp->engine->now + ORPHAN_TIME;
    listen_remove_all(qp);
}

void qp_drop(struct qp *qp)
{
    uint32_t waiting;

    if (qp->dropped || qp->leaving)
        return;
    waiting = qp->notify || qp->halted ? 0 : toe_ring_waiting(&qp->sw, &qp->doorbells->sw_head);
    qp->leaving = waiting == TOE_RING_BAD ? 0 : waiting;
    if (!qp->leaving)
        drop_now(qp);
}

/* Served in turn with the other queue pairs. Commands that the host announces later are ignored,
 * since its processes may still map the memory; so are commands that wait for anything except their
 * turn. */
unsigned qp_leave(struct qp *qp)
{
    unsigned n = qp->halted ? 0 : commands_run(qp);

    qp->leaving -= n < qp->leaving ? n : qp->leaving;
    if (n == 0 || qp->halted)
        qp->leaving = 0;
    if (!qp->leaving)
        drop_now(qp);
    return n + 1;
}

/* Ends one flow of a queue pair that is no longer served: as the kernel does with the sockets of a
 * killed process, unless the host has broken the contract. */
static void reap_slot(struct slot *s)
{
    struct engine *e = s->qp->engine;

    if (s->state == SLOT_OPENING && !s->flow)
        s->doomed = 1; /* bounded by the handshake's retransmissions */
    else if (s->flow && !s->qp->abort_all && s->state == SLOT_OPEN && s->accepted) {
        engine_count(e, EC_orphan_closed);
        command_close_left(s);
    } else if (s->flow && (s->qp->abort_all || s->state != SLOT_CLOSING)) {
        engine_count(e, EC_orphan_aborted);
        toec_abort(e->stack, s->flow, e->now);
    } else if (s->state == SLOT_GONE)
        slot_free(s);
}

unsigned qp_reap(struct qp *qp)
{
    uint32_t end = qp->abort_next + REAP_BATCH;

    if (!qp->dropped && !qp->halted)
        return 0;
    if (qp->engine->now >= qp->orphan_deadline) {
        qp->orphan_deadline = UINT64_MAX; /* resets them all in a second pass */
        qp->abort_all = 1;
        qp->abort_next = 0;
        return 1;
    }
    if (qp->abort_next >= qp->fresh)
        return 0;
    if (end > qp->fresh)
        end = qp->fresh;
    for (; qp->abort_next < end; qp->abort_next++)
        reap_slot(&qp->slots[qp->abort_next]);
    return 1;
}

int qp_unused(const struct qp *qp)
{
    return qp->dropped && qp->free_count == qp->cfg.slots;
}
