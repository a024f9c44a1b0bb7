/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qp.c - the host's side of a queue pair's rings: commands out, commands in (SEEDS S1.10-S1.12).
 */
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach.h"
#include "config.h"
#include "dispatch.h"
#include "host.h"
#include "inline.h"
#include "log.h"
#include "moderation.h"
#include "option_apply.h"
#include "qp.h"
#include "tsock.h"

#define SW_ENTRIES       1024u
#define HW_ENTRIES       4096u
#define LOOKS_PER_CHECK  256        /* rounds of waiting between two checks that the TOE is alive */
#define SETTLE_NS        (5 * NSEC) /* a TOE takes commands at once, if it gets CPU time */
#define DRAIN_MAX        1024       /* commands handled before the tail is published */
#define MODERATION_COUNT 1024       /* commands that end a moderated wait early */

struct tqp *tqp_new(const struct tconfig *cfg, uint32_t engine)
{
    struct tqp *qp = calloc(1, sizeof(*qp));

    if (!qp)
        return NULL;
    qp->doorbell_fd = qp->irq_fd = qp->ctl_fd = qp->mem_fd = -1;
    qp->engine = engine;
    qp->cfg = (struct toedev_qp_config){.sw_entries = SW_ENTRIES,
                                        .hw_entries = HW_ENTRIES,
                                        .slots = cfg->slots,
                                        .tx_size = cfg->tx_size,
                                        .rx_size = cfg->rx_size,
                                        .addresses = 2 * SW_ENTRIES};
    qp->slots = calloc(cfg->slots, sizeof(*qp->slots));
    qp->releases = calloc((size_t)TQP_LATER * cfg->slots, sizeof(*qp->releases));
    if (!qp->slots || !qp->releases || toedev_layout(&qp->cfg, &qp->layout) < 0) {
        tqp_detach(qp);
        return NULL;
    }
    return qp;
}

void tqp_use_area(struct tqp *qp, uint8_t *area)
{
    qp->area = area;
    qp->db = (struct toedev_doorbells *)(qp->area + qp->layout.doorbells);
    qp->status = (const struct toedev_status *)(qp->area + qp->layout.status);
    toe_ring_tx_init(&qp->sw, qp->area + qp->layout.sw_ring, qp->cfg.sw_entries,
                     &qp->status->sw_tail);
    toe_ring_rx_init(&qp->hw, qp->area + qp->layout.hw_ring, qp->cfg.hw_entries);
}

void tqp_register(struct tqp *qp)
{
    int saved = errno;

    qp->ordered = toe_ring_load(&qp->status->orders) &&
                  sys_call(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
    errno = saved;
}

void tqp_wake(struct tqp *qp)
{
    uint64_t one = 1;
    int saved = errno;

    qp->belled = qp->sw.head;
    /* EAGAIN: the counter is at its maximum, so the TOE will wake anyway */
    (void)!sys_write(qp->doorbell_fd, &one, sizeof(one));
    errno = saved;
}

void tqp_breach(struct tqp *qp, const char *what, uint32_t value)
{
    if (!qp->broken)
        tlog("the TOE broke the device contract: %s (%u); its connections are reset", what, value);
    qp->broken = qp->breached = true;
}

bool tqp_make_room(struct tqp *qp)
{
    for (unsigned look = 1; !qp->broken; look++) {
        uint32_t room = toe_ring_room(&qp->sw);

        if (room == TOE_RING_BAD)
            tqp_breach(qp, "SW tail out of range", toe_ring_load(&qp->status->sw_tail));
        else if (room) {
            /* the counters are free-running: advance `belled` past handled doorbells */
            if ((int32_t)(qp->sw.tail - qp->belled) > 0)
                qp->belled = qp->sw.tail;
            return true;
        }
        tqp_ring(qp);
        /* ring.h: a TOE without space for answers takes no commands, so keep handling answers */
        tqp_drain(qp);
        if (look % LOOKS_PER_CHECK == 0 && (tqp_gone(qp) || toe_ring_load(&qp->status->halted)))
            qp->broken = true;
        thost_yield(look);
    }
    return false;
}

void tqp_release_later(struct tqp *qp, uint32_t slot)
{
    if (qp->releases_n < TQP_LATER * qp->cfg.slots)
        qp->releases[qp->releases_n++] = slot;
    else
        tqp_breach(qp, "a flow ended twice", slot);
}

void tqp_abort_later(struct tqp *qp, uint32_t slot)
{
    tqp_release_later(qp, slot | TQP_ABORT);
}

void tqp_options_later(struct tqp *qp, uint32_t slot)
{
    tqp_release_later(qp, slot | TQP_OPTIONS);
}

static void announce_options(const struct tqp *qp, uint32_t slot)
{
    struct tsock *s = qp->slots[slot];

    if (s && s != TSLOT_CLOSING)
        tconnect_options(s);
}

void tqp_flush(struct tqp *qp)
{
    uint32_t head = qp->sw.head;

    if (likely(!qp->releases_n))
        return;
    /* in order: the abort precedes the release of the same slot. A put may drain, and so append. */
    for (uint32_t i = 0; i < qp->releases_n; i++) {
        uint32_t slot = qp->releases[i];

        if (slot & TQP_ABORT) {
            tqp_put(qp, TOE_CMD_CLOSE, TOE_F_CLOSE_ABORT, 0, slot & ~TQP_ABORT, 0, 0);
        } else if (slot & TQP_OPTIONS) {
            announce_options(qp, slot & ~TQP_OPTIONS);
        } else {
            qp->slots[slot] = NULL;
            tqp_put(qp, TOE_CMD_RELEASE, 0, 0, slot, 0, 0);
        }
    }
    qp->releases_n = 0;
    if (qp->sw.head != head)
        tqp_ring(qp);
}

void tqp_arm(struct tqp *qp)
{
    if (qp->direct)
        return; /* twait_arm() prepares the sleep */
    if (qp->adaptive) {
        uint32_t usec = tmoderation_usec(&qp->moderation, qp->hw.tail, tclock_ns());

        /* A TOE that sleeps lets frames wait by itself (toed --moderation), and wakes this host
         * once for all of them; another wait would be added to that. */
        if (toe_ring_load(&qp->status->sleeping))
            usec = 0;
        toe_ring_store(&qp->db->irq_usec, usec);
        toe_ring_store(&qp->db->irq_count, usec ? MODERATION_COUNT : 1);
    }
    toe_ring_store(&qp->db->irq_arm, 1);
    toe_ring_store(&qp->db->irq_seq, qp->db->irq_seq + 1);
    qp->armed = true;
    /* Orders the arming before the caller's last check of the ring. No doorbell: a sleeping TOE has
     * no commands for the host, and checks the arming when it has one. */
    atomic_thread_fence(memory_order_seq_cst);
}

uint32_t tqp_drain(struct tqp *qp)
{
    struct toe_cmd c;
    uint32_t n = 0;

    if (qp->direct)
        return tinline_run(qp);
    while (n < DRAIN_MAX && toe_ring_get(&qp->hw, &c)) {
        tdispatch_command(qp, &c);
        n++;
        if (unlikely(qp->broken))
            break;
    }
    if (n) {
        toe_ring_store(&qp->db->hw_tail, qp->hw.tail);
        qp->armed = false;
    }
    return n;
}

void tqp_settle(struct tqp *qp)
{
    uint64_t limit = tclock_ns() + SETTLE_NS;
    uint32_t head = qp->sw.head;
    unsigned looks = 0;

    while (!qp->direct && !qp->broken &&
           (int32_t)(toe_ring_load(&qp->status->sw_tail) - head) < 0 && tclock_ns() < limit) {
        tqp_drain(qp);
        tqp_flush(qp);
        if (tqp_gone(qp))
            qp->broken = true;
        thost_yield(looks++);
    }
    tqp_drain(qp);
    tqp_flush(qp);
}
