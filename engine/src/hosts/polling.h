/* SPDX-License-Identifier: Apache-2.0 */
/*
 * polling.h - the polling manager (SEEDS S1.15), in the place of interrupts by the engines.
 *
 * An engine then writes what its queue pairs are told into one common ring, each entry with the
 * queue pair that it is for. A thread of its own, the manager, polls the common rings of all
 * engines, writes each command into the HW ring of its queue pair, and interrupts hosts that sleep.
 * Hosts notice no difference: the contract is the same.
 *
 * Who owns what. qp.hw is the engine's account of a HW ring: head counts what it has given to the
 * manager, so that it knows room before it writes, and the manager never waits for a host. What the
 * manager has of a queue pair is its outlet. Whatever has an order is an entry: the SW tail, which
 * may pass a command only when its ERROR stands in the HW ring, and the end of a queue pair, whose
 * memory may go only when the manager will not touch it again.
 */
#ifndef ENGINE_POLLING_H
#define ENGINE_POLLING_H

#include <stdbool.h>

#include <toe/lines.h>
#include <toe/ring.h>

#include "base/irq.h"

struct common;
struct engine;
struct polling;
struct qp;

/* The manager's part of a queue pair; interrupts by the engine use irq alone. */
struct outlet {
    _Alignas(LINE) struct irq irq;
    struct toe_ring_tx ring; /* the HW ring */
    uint32_t published;      /* its head in the status block */
    int irq_fd;
    struct toedev_status *status;
    const struct toedev_doorbells *doorbells;
    struct qp *qp;
    struct common *common;
    struct outlet *next; /* in the list of those that are to be told */
    bool listed;
    bool wake; /* armed or not */
    bool gone; /* the engine has let it go */
};

enum common_kind {
    COMMON_COMMAND, /* into the HW ring */
    COMMON_LAST,    /* ... and an interrupt, armed or not */
    COMMON_WAKE,    /* that interrupt alone */
    COMMON_LOOK,    /* whether an interrupt is due */
    COMMON_TAIL,    /* the SW tail */
    COMMON_GONE     /* nothing more comes for this queue pair */
};

/* Entries of the ring of an engine. */
#define COMMON_ENTRIES 16384u

/* The manager of so many engines, each with a ring of `entries`, a power of two. NULL: no memory.
 */
struct polling *polling_new(uint32_t engines, uint32_t entries);
void polling_free(struct polling *p);
/* For engine_config.common. */
struct common *polling_ring(struct polling *p, uint32_t engine);

/* Starts and ends its thread. polling_start() returns 0 or an errno; the engines start afterwards,
 * and have ended before polling_join(), which hands out what they have left. */
int polling_start(struct polling *p, int pinned, uint32_t cpu);
void polling_join(struct polling *p);
/* As engine_pause() and engine_resume(), of engines that are paused: all that they have left is
 * handed out when it returns. p NULL: nothing happens. */
void polling_pause(struct polling *p);
void polling_resume(struct polling *p);
/* One round, as the thread does it all the time: returns what it found to do. */
unsigned polling_round(struct polling *p, uint64_t now);
/* When a round is needed at the latest, given no arrivals, in virtual time. UINT64_MAX: no need. */
uint64_t polling_deadline(const struct polling *p);
/* For the one who watches: as engine_unblock(). */
void polling_unblock(struct polling *p, uint64_t before);

/* ---- for the engine ---- */

/* Entries that may be put now. */
uint32_t common_room(struct common *c);
/* 1 when the manager has handed out all that was put: hosts see it, the SW tail too. */
int common_is_handed_out(struct common *c);
/* The caller has made sure of room. cmd: of COMMAND and LAST; w[0] of TAIL is the tail. */
void common_put(struct common *c, enum common_kind kind, struct qp *qp, const struct toe_cmd *cmd);
/* A queue pair comes, as it stands. */
void common_begin(struct common *c, struct qp *qp);
/* Adds what the manager has done since last asked to the engine's counters. */
void common_tally(struct engine *e);

#endif
