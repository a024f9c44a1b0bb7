/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_shm.h - the memory two ends of a wire share: one ring of frames in each direction.
 *
 * The other side may write anything here at any time. So each side keeps its own indices in private
 * memory and only publishes them here. It reads only the other's index, checks it, and copies a
 * frame out before it parses it.
 */
#ifndef TOE_NETIO_WIRE_SHM_H
#define TOE_NETIO_WIRE_SHM_H

#include <stdatomic.h>
#include <stdint.h>

#define WIRE_MAGIC 0x54574932u /* "TWI2" */
#ifndef WIRE_SLOTS             /* the fuzz target has fewer */
#define WIRE_SLOTS 1024u       /* a power of two */
#endif
#define WIRE_CACHE   64
#define WIRE_UNIT    2048u /* slots are a multiple of it */
#define WIRE_MTU_MIN 68u   /* RFC 791 */
#define WIRE_MTU_MAX 9000u

/* A frame larger than a slot continues in the next ones. */
struct wire_slot {
    _Atomic uint32_t len;   /* of the whole frame */
    _Atomic uint32_t flags; /* NETIO_F_L4_CSUM_OK; the upper half: gso_size */
};

/* What a consumer accepts, besides frames of the MTU with checksums. */
#define WIRE_TAKES_PARTIAL 1u /* TCP segments without checksum */
#define WIRE_TAKES_LARGE   2u /* up to BIG_FRAME */

/* Indices run freely; slot i is i mod WIRE_SLOTS. */
struct wire_ring {
    _Alignas(WIRE_CACHE) _Atomic uint32_t head;     /* producer's: frames written */
    _Alignas(WIRE_CACHE) _Atomic uint32_t tail;     /* consumer's: frames taken */
    _Alignas(WIRE_CACHE) _Atomic uint32_t sleeping; /* consumer's: wants to be woken */
    _Atomic uint32_t takes;                         /* consumer's: WIRE_TAKES_* */
    _Alignas(WIRE_CACHE) struct wire_slot slots[WIRE_SLOTS];
};

struct wire_shm {
    struct wire_ring rings[2]; /* [0]: from a to b, [1]: from b to a */
    /* Then the frames: slots of ring 0, slots of ring 1. */
};

/* Returns how many slots a frame of len bytes fills. */
static inline uint32_t wire_slots_of(uint32_t len, uint32_t slot_size)
{
    return (len + slot_size - 1) / slot_size;
}

/* A frame of the MTU with an 802.1Q tag fits in one slot. */
static inline uint32_t wire_slot_size(uint32_t mtu)
{
    return (mtu + 18 + WIRE_UNIT - 1) / WIRE_UNIT * WIRE_UNIT;
}

static inline size_t wire_shm_size(uint32_t mtu)
{
    return sizeof(struct wire_shm) + (size_t)2 * WIRE_SLOTS * wire_slot_size(mtu);
}

#endif
