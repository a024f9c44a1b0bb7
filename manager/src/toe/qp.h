/* SPDX-License-Identifier: Apache-2.0 */
/* qp.h - a queue pair: the device contract's host side (qp.c). Lock held. */
#ifndef LIBTOE_QP_H
#define LIBTOE_QP_H

#include <toe/inline.h>
#include <toe/ring.h>

#include "config.h"
#include "inline.h"
#include "moderation.h"

/* A queue pair. */
struct tqp {
    struct toe_ring_tx sw;
    struct toe_ring_rx hw;
    struct toedev_doorbells *db;
    const struct toedev_status *status;
    uint8_t *area;
    struct tsock **slots; /* flow -> socket, NULL free, TSLOT_CLOSING */
    uint32_t *releases;   /* slots that wait for their RELEASE, or with TQP_* for something else */
    uint32_t releases_n;
    uint32_t belled; /* SW head when the doorbell was last rung */
    uint32_t sends;  /* calls, see is_news() of send.c */
    struct tmoderation moderation;
    bool armed;      /* an interrupt was asked for and may still come; direct: an arrival wakes */
    bool adaptive;   /* interrupt moderation follows the load */
    bool direct;     /* no rings: the TOE is called (inline.c) */
    uint32_t unsent; /* direct: commands since the last flush, whose frames may wait for it */
    bool restless;   /* direct: there is always something to do, so sleep but a moment */
    bool ordered;    /* the TOE does the fence of our doorbells (toe/ring.h) */
    bool broken;     /* the TOE broke the contract or is gone: tctx_progress() tears down */
    bool breached;   /* broken by a breach, which has been said */
    bool no_bind;    /* the TOE has no BIND */
    int doorbell_fd, irq_fd, ctl_fd, mem_fd;
    uint32_t engine, qp_id;
    uint32_t addresses;           /* entries of the address table written, free-running */
    struct toedev_inline *inside; /* the TOE, when it is in this process */
    uint64_t now;                 /* direct: of its last call */
    uint32_t events;              /* direct: notifications handled, free-running */
    struct tkept *kept;           /* the area outlives it (lent_buffers.h) */
    struct toedev_qp_config cfg;
    struct toedev_layout layout;
};

/* In releases: the CLOSE that resets it; the OPTIONs of a connection just established. */
#define TQP_ABORT   0x80000000u
#define TQP_OPTIONS 0x40000000u
#define TQP_LATER   3u /* of one slot at a time, at most */

/* The slot's socket has been closed by the application; its final CLOSE_EVENT is to come. */
#define TSLOT_CLOSING ((struct tsock *)1)

/* A queue pair, its host's side of it alone. NULL: no memory. */
TOE_HIDDEN struct tqp *tqp_new(const struct tconfig *cfg, uint32_t engine);
/* Doorbells, status and rings are where the layout says in the area. */
TOE_HIDDEN void tqp_use_area(struct tqp *qp, uint8_t *area);
/* After attaching: leaves the fence of doorbells to the TOE, where both it and the kernel can. */
TOE_HIDDEN void tqp_register(struct tqp *qp);

/* Room for one command by handling the HW ring meanwhile; false when the TOE is gone. */
TOE_HIDDEN bool tqp_make_room(struct tqp *qp);
TOE_HIDDEN void tqp_wake(struct tqp *qp);
/* Handles HW commands; never puts SW commands itself (see releases). Returns their number. */
TOE_HIDDEN uint32_t tqp_drain(struct tqp *qp);
/* Sends the RELEASEs, aborts and options that draining left behind. */
TOE_HIDDEN void tqp_flush(struct tqp *qp);
/* Waits until the TOE has handled what was put, so that its refusal is known: a second at most, and
 * a TOE that works takes no time. */
TOE_HIDDEN void tqp_settle(struct tqp *qp);
/* While draining: the slot is free for RELEASE; the flow is to be reset; its options are to be
 * said. */
TOE_HIDDEN void tqp_release_later(struct tqp *qp, uint32_t slot);
TOE_HIDDEN void tqp_abort_later(struct tqp *qp, uint32_t slot);
TOE_HIDDEN void tqp_options_later(struct tqp *qp, uint32_t slot);
/* Asks for an interrupt at the next HW command. */
TOE_HIDDEN void tqp_arm(struct tqp *qp);
/* Notes a breach of the contract by the TOE; the queue pairs are given up at the next progress. */
TOE_HIDDEN void tqp_breach(struct tqp *qp, const char *what, uint32_t value);

/* Writes a command; false when the TOE is gone (then nothing was written and nothing matters). */
static inline bool tqp_put(struct tqp *qp, uint8_t type, uint8_t flags, uint16_t aux, uint32_t flow,
                           uint32_t arg0, uint32_t arg1)
{
    struct toe_cmd c = toe_cmd_make(type, flags, aux, flow, arg0, arg1);

    if (qp->direct) {
        tinline_command(qp, &c);
        return true;
    }
    if (unlikely(!toe_ring_has_room(&qp->sw)) && !tqp_make_room(qp))
        return false;
    toe_ring_put(&qp->sw, &c);
    return true;
}

/*
 * Announces what was put. The fence orders our head before our look at sleeping; the TOE does the
 * opposite (ring.h), so one of the two sees the other. While commands that it was rung for wait,
 * the TOE is on its way and does not sleep before it has looked at the ring again: one bell is
 * enough.
 */
static inline void tqp_ring(struct tqp *qp)
{
    if (qp->direct) {
        tinline_sent(qp);
        return;
    }
    toe_ring_store(&qp->db->sw_head, qp->sw.head);
    if (likely(qp->ordered))
        atomic_signal_fence(memory_order_seq_cst);
    else
        atomic_thread_fence(memory_order_seq_cst);
    if (unlikely(toe_ring_load(&qp->status->sleeping)) &&
        (int32_t)(toe_ring_load(&qp->status->sw_tail) - qp->belled) >= 0)
        tqp_wake(qp);
}

static inline bool tqp_send(struct tqp *qp, uint8_t type, uint8_t flags, uint16_t aux,
                            uint32_t flow, uint32_t arg0, uint32_t arg1)
{
    if (!tqp_put(qp, type, flags, aux, flow, arg0, arg1))
        return false;
    tqp_ring(qp);
    return true;
}

#endif
