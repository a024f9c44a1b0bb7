/* SPDX-License-Identifier: Apache-2.0 */
/*
 * irq.h - the interrupt of a queue pair (docs/device-contract.md: Interrupt and moderation). It is
 * for one thread alone, the one that writes the HW ring: the engine, or the manager of polling.h.
 */
#ifndef ENGINE_IRQ_H
#define ENGINE_IRQ_H

#include <stdatomic.h>
#include <stdint.h>

#include <toe/device.h>

#include "clock.h"

/* An interrupt write that takes longer than this is ended and its queue pair halted. */
#define IRQ_TIME (50 * NS_PER_MS)

struct irq {
    uint32_t fired;    /* doorbells.irq_seq that has had its interrupt */
    int broken;        /* a write has failed or blocked: none again */
    int waiting;       /* commands written that moderation holds back */
    uint64_t deadline; /* of them; UINT64_MAX: none */
};

/*
 * Whether to interrupt now: the host has armed since the last interrupt and moderation allows it.
 * Asked after new commands were published up to head and a full fence (which pairs with the host's
 * between arming and its last look at the ring), and again while commands are held back.
 */
int irq_due(struct irq *i, const struct toedev_doorbells *d, uint32_t head, uint64_t now);

/* One write to the host's eventfd. It is checked at attach not to block, but the host keeps a
 * handle on it and can change that: the start is noted in since, so that a watcher can end the
 * write. -1: it failed, which breaks it. */
int irq_write(struct irq *i, int fd, atomic_ullong *since, uint64_t now);

#endif
