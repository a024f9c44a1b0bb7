/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.c - the arithmetic of command rings, with any values in the shared counts and entries:
 * indices lie within the ring, room and pending entries never exceed it, and only impossible values
 * are rejected.
 */
#include <toe/ring.h>

#include "proof.h"

#define MOST 64

static struct toe_cmd entries[MOST];

static void producer(void)
{
    uint32_t shared = nondet_u32(), room;
    struct toe_ring_tx r;
    struct toe_cmd c;

    r.entries = entries;
    r.tail_at = &shared;
    r.count = 1u << (nondet_u8() % 7);
    r.head = nondet_u32();
    r.tail = nondet_u32();
    ASSUME(r.head - r.tail <= r.count);
    room = toe_ring_room(&r);
    PROVE(room == TOE_RING_BAD || room <= r.count);
    PROVE(r.head - r.tail <= r.count);
    PROVE((room == TOE_RING_BAD) == (r.head - shared > r.count || r.tail != shared));
    if (toe_ring_has_room(&r)) {
        toe_ring_put(&r, &c);
        PROVE(r.head - r.tail <= r.count);
    }
}

static void consumer(void)
{
    uint32_t shared = nondet_u32(), waiting;
    struct toe_ring_rx r;
    struct toe_cmd c;

    ANYTHING(entries);
    r.entries = entries;
    r.count = 1u << (nondet_u8() % 7);
    r.tail = nondet_u32();
    waiting = toe_ring_waiting(&r, &shared);
    PROVE(waiting == TOE_RING_BAD || waiting <= r.count);
    PROVE((waiting == TOE_RING_BAD) == (shared - r.tail > r.count));
    (void)toe_ring_get(&r, &c);
}

void proof(void)
{
    if (nondet_u8() & 1)
        producer();
    else
        consumer();
}
