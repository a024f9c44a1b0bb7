/* SPDX-License-Identifier: Apache-2.0 */
/*
 * irq.h - the interrupt of a queue pair (docs/device-contract.md: Interrupt and moderation). Only
 * the thread that writes the HW ring uses it: the engine, or the polling manager (polling.h).
 */
#ifndef ENGINE_IRQ_H
#define ENGINE_IRQ_H

#include <stdatomic.h>
#include <stdint.h>

#include <toe/device.h>

#include "clock.h"

/* An interrupt write that takes longer than this is interrupted, and its queue pair is halted. */
#define IRQ_TIME (50 * NS_PER_MS)

struct irq {
    uint32_t fired;    /* the doorbells.irq_seq last answered by an interrupt */
    int broken;        /* a write has failed or blocked; no more are made */
    int waiting;       /* commands are written whose interrupt moderation delays */
    uint64_t deadline; /* when moderation lets that interrupt through; UINT64_MAX: none */
};

/*
 * Returns whether to interrupt now: the host has armed since the last interrupt, and moderation
 * allows it. Called after new commands were published up to head, followed by a full fence, and
 * again while moderation delays the interrupt. The fence pairs with the host's between arming and
 * its last check of the ring.
 */
int irq_due(struct irq *i, const struct toedev_doorbells *d, uint32_t head, uint64_t now);

/* Writes once to the host's eventfd. Attach checks that it does not block, but the host keeps a
 * descriptor and can change that later. The start time is stored in `since`, so that a watcher can
 * interrupt the write. Returns -1 when the write failed; `broken` is set then. */
int irq_write(struct irq *i, int fd, atomic_ullong *since, uint64_t now);

#endif
