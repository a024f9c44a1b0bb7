/* SPDX-License-Identifier: Apache-2.0 */
/*
 * polling.h - the polling manager (SEEDS S1.15), which replaces interrupts by the engines.
 *
 * With it, an engine writes the notifications of all its queue pairs into one common ring; each
 * entry names its queue pair. The manager, a separate thread, polls the common rings of all
 * engines, writes each command into the HW ring of its queue pair, and interrupts hosts that sleep.
 * Hosts see no difference: the contract is the same.
 *
 * Ownership: qp.hw is the engine's copy of a HW ring's state. Its head counts the commands given to
 * the manager, so the engine checks for room before it writes, and the manager never waits for a
 * host. The manager's part of a queue pair is its outlet. Everything whose order matters is an
 * entry of the common ring. The SW tail is one, since it may pass a command only once the ERROR for
 * that command is in the HW ring. The end of a queue pair is another, since its memory may be freed
 * only when the manager no longer accesses it.
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

/* The manager's part of a queue pair. When the engine interrupts, only irq is used. */
struct outlet {
    _Alignas(LINE) struct irq irq;
    struct toe_ring_tx ring; /* the HW ring */
    uint32_t published;      /* its head in the status block */
    int irq_fd;
    struct toedev_status *status;
    const struct toedev_doorbells *doorbells;
    struct qp *qp;
    struct common *common;
    struct outlet *next; /* in the manager's list of outlets to publish */
    bool listed;
    bool wake; /* interrupt, whether armed or not */
    bool gone; /* the engine has freed it */
};

enum common_kind {
    COMMON_COMMAND, /* write into the HW ring */
    COMMON_LAST,    /* ... and interrupt, whether armed or not */
    COMMON_WAKE,    /* only that interrupt */
    COMMON_LOOK,    /* check whether an interrupt is due */
    COMMON_TAIL,    /* publish the SW tail */
    COMMON_GONE     /* the last entry of this queue pair */
};

/* Entries of an engine's common ring. */
#define COMMON_ENTRIES 16384u

/* Allocates the manager of `engines` engines, each with a ring of `entries` entries, a power of
 * two. NULL: no memory. */
struct polling *polling_new(uint32_t engines, uint32_t entries);
void polling_free(struct polling *p);
/* Returns the value for engine_config.common. */
struct common *polling_ring(struct polling *p, uint32_t engine);

/* Start and end its thread. polling_start() returns 0 or an errno. The engines must start after it,
 * and end before polling_join(), which hands out the remaining entries. */
int polling_start(struct polling *p, int pinned, uint32_t cpu);
void polling_join(struct polling *p);
/* Like engine_pause() and engine_resume(), while the engines are paused. When polling_pause()
 * returns, all their entries have been handed out. No effect with p NULL. */
void polling_pause(struct polling *p);
void polling_resume(struct polling *p);
/* Runs one round of the thread's loop. Returns work done. */
unsigned polling_round(struct polling *p, uint64_t now);
/* Returns when the next round is needed at the latest, given no arrivals, in virtual time.
 * UINT64_MAX: no need. */
uint64_t polling_deadline(const struct polling *p);
/* For the watcher: like engine_unblock(). */
void polling_unblock(struct polling *p, uint64_t before);

/* ---- for the engine ---- */

/* Returns the number of entries that may be put now. */
uint32_t common_room(struct common *c);
/* Returns 1 when the manager has handed out every entry: hosts see them, and the SW tails. */
int common_is_handed_out(struct common *c);
/* Puts an entry. The caller has checked for room. cmd: for COMMAND and LAST; for TAIL, w[0] is the
 * tail. */
void common_put(struct common *c, enum common_kind kind, struct qp *qp, const struct toe_cmd *cmd);
/* Registers a queue pair in its current state. */
void common_begin(struct common *c, struct qp *qp);
/* Adds the manager's work since the last call to the engine's counters. */
void common_tally(struct engine *e);

#endif
