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
    uint32_t *releases;   /* slots that wait for RELEASE, or with TQP_* for another command */
    uint32_t releases_n;
    uint32_t belled; /* SW head when the doorbell was last rung */
    uint32_t sends;  /* calls, see is_news() of send.c */
    struct tmoderation moderation;
    bool armed;      /* an interrupt was requested and may still come; direct: an arrival wakes */
    bool adaptive;   /* interrupt moderation follows the load */
    bool direct;     /* no rings: the TOE is called (inline.c) */
    uint32_t unsent; /* direct: commands since the last flush; their frames may wait for the next */
    uint64_t unsent_at; /* ... and the time of the first of them */
    bool restless;      /* direct: there is always something to do, so sleep only a moment */
    bool ordered;       /* the TOE executes the fence of our doorbells (toe/ring.h) */
    bool broken;        /* the TOE broke the contract or has ended: tctx_progress() tears down */
    bool breached;      /* broken by a breach, which has been logged */
    bool no_bind;       /* the TOE has no BIND */
    bool no_port;       /* ... no PORT */
    bool no_ranges;     /* ... no range of ports in CONNECT */
    int doorbell_fd, irq_fd, ctl_fd, mem_fd;
    uint32_t engine, qp_id;
    uint32_t addresses;           /* entries of the address table written, free-running */
    struct toedev_inline *inside; /* the TOE, when it is in this process */
    uint64_t now;                 /* direct: time of its last call */
    uint32_t events;              /* direct: notifications handled, free-running */
    struct tkept *kept;           /* the area outlives the queue pair (lent_buffers.h) */
    struct toedev_qp_config cfg;
    struct toedev_layout layout;
};

/* In releases: send the CLOSE that resets the flow; send the OPTIONs of a new connection. */
#define TQP_ABORT   0x80000000u
#define TQP_OPTIONS 0x40000000u
#define TQP_LATER   3u /* entries per slot at a time, at most */

/* The application has closed the slot's socket; the final CLOSE_EVENT is still to come. */
#define TSLOT_CLOSING ((struct tsock *)1)

/* Allocates the host's side of a queue pair. NULL: no memory. */
TOE_HIDDEN struct tqp *tqp_new(const struct tconfig *cfg, uint32_t engine);
/* Sets doorbells, status and rings to their places in the area, by the layout. */
TOE_HIDDEN void tqp_use_area(struct tqp *qp, uint8_t *area);
/* After attaching: leaves the fence of doorbells to the TOE, if it and the kernel support that. */
TOE_HIDDEN void tqp_register(struct tqp *qp);

/* Waits for space for one command, and handles the HW ring while waiting. False when the TOE has
 * ended. */
TOE_HIDDEN bool tqp_make_room(struct tqp *qp);
TOE_HIDDEN void tqp_wake(struct tqp *qp);
/* Handles HW commands and returns their number. Never puts SW commands itself (see releases). */
TOE_HIDDEN uint32_t tqp_drain(struct tqp *qp);
/* Sends the RELEASEs, aborts and options that draining left behind. */
TOE_HIDDEN void tqp_flush(struct tqp *qp);
/* Waits until the TOE has handled the commands put, so that a refusal is known. Waits 5 s at
 * most; a working TOE takes no noticeable time. */
TOE_HIDDEN void tqp_settle(struct tqp *qp);
/* While draining: enqueue the RELEASE of the slot, the reset of the flow, or its options. */
TOE_HIDDEN void tqp_release_later(struct tqp *qp, uint32_t slot);
TOE_HIDDEN void tqp_abort_later(struct tqp *qp, uint32_t slot);
TOE_HIDDEN void tqp_options_later(struct tqp *qp, uint32_t slot);
/* Requests an interrupt at the next HW command. */
TOE_HIDDEN void tqp_arm(struct tqp *qp);
/* Notes a breach of the contract by the TOE; the next progress tears the queue pairs down. */
TOE_HIDDEN void tqp_breach(struct tqp *qp, const char *what, uint32_t value);

/* Writes a command; false when the TOE has ended (then nothing was written, and need not be). */
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
 * Announces the commands put. The fence orders the store of our head before the load of `sleeping`;
 * the TOE does the opposite (ring.h), so one of the two sees the other. While commands of an
 * earlier doorbell are unhandled, the TOE is awake and reads the ring again before it sleeps: one
 * doorbell is enough.
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
