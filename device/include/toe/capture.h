/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture.h - frames of a running TOE for a tool, by shared memory (toe/attach.h,
 * TOEDEV_HELLO_CAPTURE). The TOE makes a memfd that can neither shrink nor grow and passes it to
 * the tool. The capture lasts as long as the connection.
 *
 *   offset 0          struct toecap_header, written before the tool gets the memory
 *   reasons_at        `reasons` times struct toecap_reason: why frames were dropped
 *   rings_at          `engines` times struct toecap_ring, the indices of each engine's ring
 *   data_at           `engines` times ring_size bytes of records
 *
 * data_at and ring_size are multiples of the page size, so that both sides can map a ring twice in
 * a row: then no record is in two parts.
 *
 * Threads: an engine writes its ring, one thread of the tool reads it. The engine never waits: a
 * record that does not fit is counted in `lost`. Neither side trusts the other. The engine reads
 * only `tail`; the tool checks all it reads.
 */
#ifndef TOE_CAPTURE_H
#define TOE_CAPTURE_H

#include <stdint.h>

/* In C++ the indices are plain, for the __atomic functions. */
#ifdef __cplusplus
#define TOECAP_ATOMIC(type) type
#define TOECAP_ALIGNED(n)   alignas(n)
#define TOECAP_ASSERT       static_assert
#else
#include <stdatomic.h>
#define TOECAP_ATOMIC(type) _Atomic type
#define TOECAP_ALIGNED(n)   _Alignas(n)
#define TOECAP_ASSERT       _Static_assert
#endif

#define TOECAP_MAGIC   0x50414354u /* "TCAP" */
#define TOECAP_VERSION 2u

#define TOECAP_SNAPLEN_MAX 262144u /* bytes of a frame, as in libpcap */
#define TOECAP_MIB_MAX     256u    /* MiB of a ring */
#define TOECAP_ENGINES_MAX 256u
#define TOECAP_NONE        UINT32_MAX /* qp and slot: the frame is of no flow */

struct toecap_header {
    uint32_t magic, version;
    uint32_t engines, reasons;
    uint64_t reasons_at, rings_at, data_at, ring_size; /* bytes; ring_size is a power of two */
    int64_t epoch_ns; /* added to the time of a record: nanoseconds since 1970 */
    uint32_t snaplen; /* bytes recorded of a frame, at most */
    uint8_t mac[6], pad[2];
    char toe[16];    /* "toed", "inline", "thread", "gateware" or "hybrid" */
    char netif[104]; /* the interface, as the TOE's user has named it */
};

/* The name of a counter of `toehold stats`, and its meaning for one frame. */
struct toecap_reason {
    char name[32];
    char text[96];
};

/* The indices count bytes since the start, modulo 2^64; head is the engine's, tail the tool's. */
struct toecap_ring {
    TOECAP_ALIGNED(64) TOECAP_ATOMIC(uint64_t) head;
    TOECAP_ATOMIC(uint64_t) lost; /* frames that did not fit */
    TOECAP_ALIGNED(64) TOECAP_ATOMIC(uint64_t) tail;
};

/* Flags of a record. */
#define TOECAP_OUT     1u /* sent; else received */
#define TOECAP_LOCAL   2u /* looped back: from the TOE to one of its own addresses */
#define TOECAP_VOID    4u /* no frame: skip it */
#define TOECAP_PARTIAL 8u /* the TCP checksum is left to the back end */

/* `cap` bytes of the frame follow; then the next record, at a multiple of 8. */
struct toecap_record {
    uint32_t size;     /* of the record: a multiple of 8 */
    uint32_t flags;    /* TOECAP_* */
    uint64_t time_ns;  /* of the engine's round */
    uint64_t cycle;    /* of hardware: that of the first beat; 0: the TOE has no cycles */
    uint32_t len, cap; /* bytes of the frame, and of those how many follow */
    uint32_t qp, slot; /* of the flow, or TOECAP_NONE */
    /* The flow's id of TOEDEV_HELLO_FLOWS and TOEDEV_HELLO_TRACE is ENGINE.RING.SERIAL, with the
     * engine whose record it is. serial 0: the flow has no events, and so no id. */
    uint32_t ring, serial;
    uint16_t reason;   /* of a drop: 1 + its index in the table; 0: not dropped */
    uint16_t gso_size; /* payload of one segment of a frame of several; 0: one */
    uint32_t pad;
};

TOECAP_ASSERT(sizeof(struct toecap_header) == 192, "layout of the contract");
TOECAP_ASSERT(sizeof(struct toecap_reason) == 128, "layout of the contract");
TOECAP_ASSERT(sizeof(struct toecap_ring) == 128, "layout of the contract");
TOECAP_ASSERT(sizeof(struct toecap_record) == 56, "layout of the contract");

#endif
