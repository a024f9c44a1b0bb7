/* SPDX-License-Identifier: Apache-2.0 */
/* irq.c - see irq.h. */
#include <errno.h>
#include <unistd.h>

#include <toe/ring.h>

#include "clock.h"
#include "irq.h"

/* The longest delay that moderation may request. */
#define MODERATION_MAX_US 1000000u

static int settled(struct irq *i)
{
    i->waiting = 0;
    i->deadline = UINT64_MAX;
    return 0;
}

int irq_due(struct irq *i, const struct toedev_doorbells *d, uint32_t head, uint64_t now)
{
    uint32_t seq = toe_ring_load(&d->irq_seq), count, usec;

    if (!toe_ring_load(&d->irq_arm) || seq == i->fired)
        return settled(i); /* not armed: a host checks the ring after it arms, and finds them */
    count = toe_ring_load(&d->irq_count);
    usec = toe_ring_load(&d->irq_usec);
    if (count > 1 && usec > 0) {
        uint32_t unhandled = head - toe_ring_load(&d->hw_tail);

        if (!i->waiting) {
            i->waiting = 1;
            i->deadline = now + (usec < MODERATION_MAX_US ? usec : MODERATION_MAX_US) * NS_PER_US;
        }
        if (unhandled < count && now < i->deadline)
            return 0;
    }
    settled(i);
    i->fired = seq;
    return 1;
}

int irq_write(struct irq *i, int fd, atomic_ullong *since, uint64_t now)
{
    uint64_t one = 1;
    ssize_t n;

    atomic_store(since, now);
    n = write(fd, &one, sizeof(one));
    atomic_store(since, 0);
    if (n == (ssize_t)sizeof(one) || errno == EAGAIN)
        return 0; /* a full counter has not been read: the host is about to wake */
    i->broken = 1;
    return -1;
}
