/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h - the command rings of the device contract: one producer, one consumer, shared memory.
 *
 * Heads and tails are free-running 32-bit counts; the entry of position p is p mod entries. Each
 * entry carries a phase bit: 1 on the first lap, 0 on the second, and so on, so a polling consumer
 * sees a new entry without reading the head. (A fresh area is all zero, which is the phase of an
 * entry not yet written.) The word with the phase is stored last, with release.
 *
 * Rule for hosts: while waiting for room in the SW ring, keep handling the HW ring, because a TOE
 * takes no commands while it has no room to answer. A full HW ring loses nothing: the TOE keeps
 * per-flow sums and writes them when there is room.
 *
 * Doorbell, host side: put, publish, full fence, and when status.sleeping is not 0 write the
 * doorbell eventfd. TOE side: set sleeping, full fence, look at the rings again, sleep. A fence for
 * each doorbell is slow: it waits until the TOE's core has released the cache lines just written.
 * Where status.orders is set, the TOE issues the fence for all registered processes whenever it is
 * about to sleep (membarrier(2), MEMBARRIER_CMD_GLOBAL_EXPEDITED). Such a host needs only a
 * compiler barrier, no fence.
 *
 * Threading: each structure belongs to one thread at a time. Neither side trusts the other's
 * counts: every count read is checked against the ring's size.
 */
#ifndef TOE_RING_H
#define TOE_RING_H

#include <stdint.h>

#include <toe/cmd.h>

/* The other side's count is impossible: it is broken or hostile. */
#define TOE_RING_BAD UINT32_MAX

/* Producer: the host of the SW ring, the TOE of the HW ring. */
struct toe_ring_tx {
    struct toe_cmd *entries; /* shared */
    const uint32_t *tail_at; /* shared: where the consumer publishes its tail */
    uint32_t count;          /* entries, a power of two */
    uint32_t head;           /* own, private truth */
    uint32_t tail;           /* the consumer's tail as last read and checked */
};

/* Consumer: the TOE of the SW ring, the host of the HW ring. */
struct toe_ring_rx {
    const struct toe_cmd *entries; /* shared */
    uint32_t count;                /* a power of two */
    uint32_t tail;                 /* own, private truth */
};

static inline uint32_t toe_ring_load(const uint32_t *p)
{
    return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}
static inline void toe_ring_store(uint32_t *p, uint32_t v)
{
    __atomic_store_n(p, v, __ATOMIC_RELEASE);
}

/* Phase of position p: (p / count) even: 1, odd: 0. */
static inline uint64_t toe_ring_phase(uint32_t p, uint32_t count)
{
    return (p & count) ? 0 : TOE_CMD_PHASE;
}

static inline void toe_ring_tx_init(struct toe_ring_tx *r, void *entries, uint32_t count,
                                    const uint32_t *tail_at)
{
    r->entries = (struct toe_cmd *)entries;
    r->tail_at = tail_at;
    r->count = count;
    r->head = 0;
    r->tail = 0;
}

static inline void toe_ring_rx_init(struct toe_ring_rx *r, const void *entries, uint32_t count)
{
    r->entries = (const struct toe_cmd *)entries;
    r->count = count;
    r->tail = 0;
}

/*
 * Returns the number of entries that may be put now; TOE_RING_BAD when the consumer's tail is
 * impossible (it moved back, or past our head). Reads the shared tail.
 */
static inline uint32_t toe_ring_room(struct toe_ring_tx *r)
{
    uint32_t tail = toe_ring_load(r->tail_at);

    if (r->head - tail > r->head - r->tail)
        return TOE_RING_BAD;
    r->tail = tail;
    return r->count - (r->head - tail);
}

/* Returns 1 when there is room according to the tail last read. Does not read shared memory. */
static inline int toe_ring_has_room(const struct toe_ring_tx *r)
{
    return r->head - r->tail < r->count;
}

/* Writes one command, which a polling consumer sees at once. The caller has checked that there is
 * room. */
static inline void toe_ring_put(struct toe_ring_tx *r, const struct toe_cmd *c)
{
    struct toe_cmd *e = &r->entries[r->head & (r->count - 1)];
    uint64_t w0 = toe_le64(c->w[0]) & ~TOE_CMD_PHASE;

    w0 |= toe_ring_phase(r->head, r->count);
    __atomic_store_n(&e->w[1], c->w[1], __ATOMIC_RELAXED);
    __atomic_store_n(&e->w[0], toe_le64(w0), __ATOMIC_RELEASE);
    r->head++;
}

/*
 * Takes the next command into private memory. Returns 1, or 0 when there is none. The tail moves;
 * publish it with toe_ring_store() to the shared place when convenient (a batch at a time).
 */
static inline int toe_ring_get(struct toe_ring_rx *r, struct toe_cmd *out)
{
    const struct toe_cmd *e = &r->entries[r->tail & (r->count - 1)];
    uint64_t w0 = __atomic_load_n(&e->w[0], __ATOMIC_ACQUIRE);

    if ((toe_le64(w0) & TOE_CMD_PHASE) != toe_ring_phase(r->tail, r->count))
        return 0;
    out->w[1] = __atomic_load_n(&e->w[1], __ATOMIC_RELAXED);
    out->w[0] = w0;
    r->tail++;
    return 1;
}

/* Returns 1 when toe_ring_get() would return a command. */
static inline int toe_ring_ready(const struct toe_ring_rx *r)
{
    const struct toe_cmd *e = &r->entries[r->tail & (r->count - 1)];

    return (toe_le64(__atomic_load_n(&e->w[0], __ATOMIC_RELAXED)) & TOE_CMD_PHASE) ==
           toe_ring_phase(r->tail, r->count);
}

/*
 * Returns the number of entries waiting according to the producer's published head; TOE_RING_BAD
 * when the head is more than the ring's size ahead of our tail.
 */
static inline uint32_t toe_ring_waiting(const struct toe_ring_rx *r, const uint32_t *head_at)
{
    uint32_t n = toe_ring_load(head_at) - r->tail;

    return n > r->count ? TOE_RING_BAD : n;
}

#endif
