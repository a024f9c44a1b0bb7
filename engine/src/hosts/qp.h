/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qp.h - queue pairs and their slots, the engine's private side of the device contract.
 *
 * Everything here is private memory; what is shared with the host is reached through the area
 * pointers only, read once into private copies and never trusted (docs/ARCHITECTURE.md rule 5).
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
    SLOT_OPENING, /* CONNECT under way, or a half-open passive flow: the host does not know it */
    SLOT_OPEN,    /* established */
    SLOT_CLOSING, /* the host has closed; only the end is of interest */
    SLOT_GONE     /* flow gone; the host's until RELEASE */
};

/* Notifications that wait to be written; written in the order of these bits. */
#define PEND_ESTABLISHED 1u
#define PEND_URGENT      2u /* before the data: a reader stops at the mark */
#define PEND_DATA        4u
#define PEND_ACKED       8u
#define PEND_HALF        16u
#define PEND_FINAL       32u
#define PEND_FAILED      64u /* CONNECT_FAILED; stands alone */

struct slot {
    struct qp *qp;
    struct toec_tcb *flow; /* NULL: not yet known, or gone */
    uint32_t index;
    uint8_t state;         /* enum slot_state */
    uint8_t pending;       /* PEND_* */
    bool queued : 1;       /* in the queue pair's list of pending slots */
    bool dirty : 1;        /* in the engine's list of records to refresh */
    bool active : 1;       /* opened by CONNECT */
    bool announced : 1;    /* the host knows of it: its commands may name it */
    bool accepted : 1;     /* ACCEPT seen, or no longer of the backlog */
    bool counted : 1;      /* stands in its listener's backlog */
    bool half_closed : 1;  /* the host has ended its sending */
    bool fast : 1;         /* CONNECT_READY was its answer: told, and OPENING yet */
    bool doomed : 1;       /* to be reset as soon as its handle is known */
    bool abort_queued : 1; /* in the engine's list of flows to reset */
    uint8_t tx_less : 4;   /* uses cfg.tx_size >> tx_less of its send buffer (tx_share.c) */
    uint16_t reason;       /* of PEND_FINAL and PEND_FAILED */
    uint16_t soft_error;
    uint32_t cookie;      /* of CONNECT, or listener id */
    uint32_t tx_used;     /* bytes announced by SEND, not yet acknowledged */
    uint32_t una;         /* stream offset of the first byte sent that is not acknowledged */
    struct refs *refs;    /* what is to be sent from elsewhere (refs.h); NULL: nothing ever was */
    uint32_t rx_reported; /* bytes reported by DATA_RECEIVED, not yet given back by RECV */
    uint32_t pend_data, pend_acked;
    uint32_t urgent_at;                  /* stream offset behind the peer's urgent data */
    struct slot *open_next, **open_prev; /* CONNECTs without answer; open_prev NULL: none */
    uint32_t generation, record_seq;
    struct listen_member *member; /* of a passive flow, until accepted */
    struct slot *pend_next, *dirty_next, *abort_next;
    uint64_t dirty_at;
};
_Static_assert(sizeof(void *) != 8 || sizeof(struct slot) == 128, "two cache lines");

/* What was found full: the HW ring, or the common ring of the polling manager. */
#define FULL_RING   1
#define FULL_COMMON 2

#define OPENING_BUCKETS 256u /* of CONNECTs by cookie; a power of two */

#define SHARED_IP6 0x10000u

struct qp {
    struct engine *engine;
    uint32_t id;
    int pid;
    struct user *user;      /* whose it is (users.h); the control thread's */
    uint32_t max_listeners; /* of its user on this engine; 0: any number */
    uid_t uid;
    struct owner owner; /* whose its ports are */
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
    uint32_t *ports; /* of each slot's flow, that shared_leave() gives back, with SHARED_IP6 for one
                      * of IPv6; NULL: not shared */
    uint32_t *free_slots; /* LIFO: the warmest is taken first */
    uint32_t free_count;  /* these, and those that have never been in use: */
    uint32_t fresh;       /* ... from this index on */
    struct slot *pend_first, *pend_last;
    struct listen_member *members;
    uint32_t member_count;
    struct hold_list *held;                /* of each slot (rx_hold.h); NULL: nothing is held */
    struct slot *opening[OPENING_BUCKETS]; /* CONNECTs without answer, by cookie */
    uint32_t opening_salt;

    int irq_fd, doorbell_fd;
    int area_fd;           /* for a toed that takes over; -1: memory of this process */
    uint32_t ip6_seq;      /* of status.ip6 */
    struct common *common; /* where its HW commands go; NULL: into its HW ring */
    atomic_int irq_failed; /* the manager tells: the queue pair is to be halted */
    int last_due;          /* halted, and its host is still to be told */

    uint16_t halted;          /* TOE_R_*, no longer served */
    int dropped;              /* the owner has gone */
    uint32_t leaving;         /* ... but so many of its commands are still to be done first */
    int paced;                /* commands wait for the user's rate */
    int full;                 /* FULL_*: each counted once until there is room */
    uint32_t abort_next;      /* slots from here on are still to be reset (dropped or halted) */
    int abort_all;            /* also those that the owner had closed */
    uint64_t orphan_deadline; /* flows that finish by themselves are reset then */

    /* Direct (direct.c): notifications go to this function, and there are no rings, doorbells or
     * interrupts. NULL: not direct. */
    void (*tell)(void *arg, const struct toe_cmd *c);
    /* ... that are likely to come for these slots, before they do: see toe/inline.h. May be NULL.
     */
    void (*expect)(void *arg, const uint32_t *slots, unsigned n, int data);
    void *tell_arg;
    int tx_shared;              /* flows use a share of their send buffers, as the host knows */
    struct toe_ring_rx answers; /* what stands in the HW ring, which is memory of our own */

    uint64_t sw_commands, hw_commands, errors;
    struct qp *next_unused;

    struct outlet outlet; /* the manager's; last, in cache lines of its own */
};

/* What an attach brings. The descriptors are taken over, also on failure. */
struct qp_attach {
    struct toedev_qp_config cfg;
    int area_fd, irq_fd;
    uint32_t id;
    int pid;
    uid_t uid;
    const char *name;
    uint64_t max_bytes; /* largest area to accept */
    int again; /* was checked when it attached; what its host can change since counts no more */
};

/*
 * Checks an attach (sealed memfd of the right size on plain pages, an eventfd that does not block)
 * and makes the queue pair. On failure returns NULL, *reason is a TOE_R_* and err says it in words.
 */
struct qp *qp_new(const struct qp_attach *a, uint32_t *reason, char *err, size_t err_size);
/* The same for a host that is this process: the area is made here, of memory of its own, and
 * doorbell and interrupt where tell is NULL. irq_fd is taken over. NULL with err. */
struct qp *qp_new_inside(const struct toedev_qp_config *cfg, int irq_fd, const char *name,
                         void (*tell)(void *arg, const struct toe_cmd *c), void *arg, char *err,
                         size_t err_size);
void qp_free(struct qp *qp);
/* The owner has gone: what it had announced is done, flows it has not closed are reset, the rest
 * finishes within a time. */
void qp_drop(struct qp *qp);
/* Goes on with what a queue pair that leaves had announced. Returns work done. */
unsigned qp_leave(struct qp *qp);
/* Stops serving a queue pair whose rings are broken. Its flows are reset; an ERROR, where there is
 * room, and an interrupt are the last it hears. */
void qp_halt(struct qp *qp, uint16_t reason);
/* Goes on with the resetting that qp_drop() and qp_halt() began. Returns work done. */
unsigned qp_reap(struct qp *qp);
/* 1 when it was dropped and no slot is in use. */
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
/* What of that is in use: a power of two. */
static inline uint32_t slot_tx_size(const struct slot *s)
{
    return s->qp->cfg.tx_size >> s->tx_less;
}
static inline uint8_t *slot_rx(const struct slot *s)
{
    return s->qp->area + toedev_rx_offset(&s->qp->cfg, &s->qp->layout, s->index);
}

#endif
