/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qp.h - queue pairs and their slots, the engine's private side of the device contract.
 *
 * Everything here is private memory. Memory shared with the host is accessed through the area
 * pointers only; it is read once into private copies and never trusted (docs/ARCHITECTURE.md rule
 * 5).
 */
#ifndef ENGINE_QP_H
#define ENGINE_QP_H

#include <stdbool.h>

#include <toe/attach.h>
#include <toe/ring.h>

#include "base/pace.h"
#include "frames/engine_state.h"
#include "owner.h"
#include "polling.h"
#include "users.h"

enum slot_state {
    SLOT_FREE = 0,
    SLOT_OPENING, /* CONNECT in progress, or half-open and not announced */
    SLOT_OPEN,    /* established */
    SLOT_CLOSING, /* the host has closed; only the flow's end is still reported */
    SLOT_GONE     /* the flow has ended; the host owns the slot until RELEASE */
};

/* Pending notifications, written in the order of these bits. */
#define PEND_ESTABLISHED 1u
#define PEND_URGENT      2u /* precedes the data: a reader stops at the mark */
#define PEND_DATA        4u
#define PEND_ACKED       8u
#define PEND_HALF        16u
#define PEND_FINAL       32u
#define PEND_FAILED      64u /* CONNECT_FAILED; without any other */

struct trace_ring;
struct trace_owner;

struct slot {
    struct qp *qp;
    struct toec_tcb *flow; /* NULL: not yet known, or gone */
    uint32_t index;
    uint8_t state;         /* enum slot_state */
    uint8_t pending;       /* PEND_* */
    bool queued : 1;       /* in the queue pair's list of pending slots */
    bool dirty : 1;        /* in the engine's list of records to refresh */
    bool active : 1;       /* opened by CONNECT */
    bool announced : 1;    /* the host has been notified of it: its commands may name it */
    bool accepted : 1;     /* ACCEPT received, or no longer in the backlog */
    bool counted : 1;      /* counted in its listener's backlog */
    bool half_closed : 1;  /* the host has half-closed the flow */
    bool fast : 1;         /* answered by CONNECT_READY: announced, but still OPENING */
    bool doomed : 1;       /* to be reset as soon as its handle is known */
    bool abort_queued : 1; /* in the engine's list of flows to reset */
    bool current : 1;      /* OPTION NOTSENT_LOWAT: its record is written with SEND_COMPLETE */
    bool parked : 1;       /* waits with a WEAK member, whose host is not notified of it */
    uint8_t tx_less : 4;   /* uses cfg.tx_size >> tx_less of its send buffer (tx_share.c) */
    uint16_t reason;       /* of PEND_FINAL and PEND_FAILED */
    uint16_t soft_error;
    uint32_t cookie;      /* of CONNECT, or listener id */
    uint32_t tx_used;     /* bytes announced by SEND, not yet acknowledged */
    uint32_t una;         /* stream offset of the first byte sent that is not acknowledged */
    struct refs *refs;    /* payload sent by reference (refs.h); NULL: never used */
    uint32_t rx_reported; /* bytes reported by DATA_RECEIVED, not yet released by RECV */
    uint32_t pend_data, pend_acked;
    uint32_t urgent_at; /* stream offset just after the peer's urgent data */
    /* Of the list that it is in: unanswered CONNECTs, or established flows that no host has
     * accepted (waiting.h). open_prev NULL: in none. */
    struct slot *open_next, **open_prev;
    uint32_t generation, record_seq;
    struct listen_member *member; /* of a passive flow, until accepted */
    struct slot *pend_next, *dirty_next, *abort_next;
    uint64_t dirty_at;
};
_Static_assert(sizeof(void *) != 8 || sizeof(struct slot) == 128, "two cache lines");

/* Which ring was full: the HW ring, or the common ring of the polling manager. */
#define FULL_RING   1
#define FULL_COMMON 2

#define OPENING_BUCKETS 256u /* unanswered CONNECTs by cookie; a power of two */

#define SHARED_IP6 0x10000u

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): whole cache lines */
struct qp {
    struct engine *engine;
    uint32_t id;
    int pid;
    struct user *user;      /* its user's account (users.h); owned by the control thread */
    uint32_t max_listeners; /* limit of its user on this engine; 0: none */
    uid_t uid;
    struct owner owner; /* the owner of its ports */
    struct pace pace;   /* of its commands */
    char name[sizeof(((struct toedev_hello *)0)->name)];
    struct toedev_qp_config cfg;
    struct toedev_layout layout;

    uint8_t *area; /* shared */
    const struct toedev_doorbells *doorbells;
    struct toedev_status *status;
    struct toe_ring_rx sw;
    struct toe_ring_tx hw;
    uint32_t hw_published;

    struct slot *slots;
    struct trace_ring **traces; /* of each slot's flow (trace.h); NULL: none */
    struct trace_owner *trace_owner;
    uint32_t *ports; /* port of each slot's flow, SHARED_IP6 if IPv6; NULL: address not shared */
    uint32_t *free_slots; /* LIFO: the slot most recently used is taken first */
    uint32_t free_count;  /* free slots: those in free_slots, and those never used yet */
    uint32_t fresh;       /* slots from this index on have never been used */
    struct slot *pend_first, *pend_last;
    struct listen_member *members;
    uint32_t member_count;
    int stuck;                             /* one of them is (relieve.c) */
    struct hold_list *held;                /* of each slot (rx_hold.h); NULL: nothing is held */
    struct slot *opening[OPENING_BUCKETS]; /* unanswered CONNECTs, by cookie */
    uint32_t opening_salt;

    int irq_fd, doorbell_fd;
    int area_fd;           /* for a toed that takes over; -1: the area is memory of this process */
    uint32_t ip6_seq;      /* of status.ip6 */
    struct common *common; /* ring for its HW commands; NULL: its own HW ring */
    atomic_int irq_failed; /* set by the manager: the queue pair must be halted */
    int last_due;          /* halted, and its host is not notified yet */

    uint16_t halted;     /* TOE_R_*: no longer served; 0: not halted */
    int dropped;         /* the host has detached or died */
    uint32_t leaving;    /* ... but this many of its commands are still to be processed */
    int paced;           /* commands wait for the user's rate */
    int full;            /* FULL_*: each counted once until there is room again */
    uint32_t abort_next; /* slots from this index on are still to be reset (dropped or halted) */
    int abort_all;       /* also reset flows that the host had closed */
    uint64_t orphan_deadline; /* when flows that have not finished are reset */

    /* Direct queue pairs (direct.c) deliver notifications to this function, without rings,
     * doorbells or interrupts. NULL: not direct. */
    void (*notify)(void *arg, const struct toe_cmd *c);
    /* Announces slots that are likely to get notifications soon (see toe/inline.h). May be NULL. */
    void (*expect)(void *arg, const uint32_t *slots, unsigned n, int data);
    void *notify_arg;
    int tx_shared; /* flows use a share of their send buffers, and the host supports it */
    struct toe_ring_rx answers; /* reads the HW ring, which is this process's own memory */

    uint64_t sw_commands, hw_commands, errors;
    struct qp *next_unused;

    struct outlet outlet; /* owned by the manager; last, in separate cache lines */
};

/* The parameters of an attach. qp_new() owns the descriptors, also on failure. */
struct qp_attach {
    struct toedev_qp_config cfg;
    int area_fd, irq_fd;
    uint32_t id;
    int pid;
    uid_t uid;
    const char *name;
    uint64_t max_bytes; /* largest area to accept */
    int again;          /* restored: was checked at attach, not checked again */
};

/*
 * Checks an attach (a sealed memfd of the right size on plain pages, an eventfd that does not
 * block) and makes the queue pair. On failure returns NULL, with a TOE_R_* in *reason and a message
 * in err.
 */
struct qp *qp_new(const struct qp_attach *a, uint32_t *reason, char *err, size_t err_size);
/* Makes a queue pair for a host within this process. The area is private memory allocated here;
 * doorbell and interrupt exist unless the queue pair is direct. Owns irq_fd. On failure returns
 * NULL, with a message in err. */
struct qp *qp_new_inside(const struct toedev_qp_config *cfg, int irq_fd, const char *name,
                         void (*notify)(void *arg, const struct toe_cmd *c), void *arg, char *err,
                         size_t err_size);
void qp_free(struct qp *qp);
/* Drops a queue pair whose host has gone. Commands that it had announced are processed, flows that
 * it has not closed are reset, and the others must finish within a time limit. */
void qp_drop(struct qp *qp);
/* Continues with the announced commands of a dropped queue pair. Returns work done. */
unsigned qp_leave(struct qp *qp);
/* Stops serving a queue pair whose rings are broken and resets its flows. Its host gets a last
 * ERROR, if there is room, and an interrupt. */
void qp_halt(struct qp *qp, uint16_t reason);
/* Continues the resets that qp_drop() and qp_halt() began. Returns work done. */
unsigned qp_reap(struct qp *qp);
/* Returns 1 when it was dropped and no slot is in use. */
int qp_unused(const struct qp *qp);

static inline void slot_fetch(const struct slot *s)
{
    size_t at;

    for (at = 0; at < sizeof(*s); at += 64)
        __builtin_prefetch((const uint8_t *)s + at, 1);
}
struct slot *slot_take(struct qp *qp);
void slot_free(struct slot *s);
static inline uint8_t *slot_tx(const struct slot *s)
{
    return s->qp->area + toedev_tx_offset(&s->qp->cfg, &s->qp->layout, s->index);
}
/* Returns how many bytes of the send buffer are in use: a power of two. */
static inline uint32_t slot_tx_size(const struct slot *s)
{
    return s->qp->cfg.tx_size >> s->tx_less;
}
static inline uint8_t *slot_rx(const struct slot *s)
{
    return s->qp->area + toedev_rx_offset(&s->qp->cfg, &s->qp->layout, s->index);
}

#endif
