/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workers_shm.h - the memory that the workers of one address share (workers.c): who is there, which
 * ports each listens on, which worker has which connection, and two rings of frames for each
 * worker.
 *
 * The processes are of one user, and a file of mode 0600 is behind it. Still no index or length is
 * used unchecked, and a frame is copied out before it is parsed: a worker that dies at any point,
 * or writes wrong values here, costs others frames at most.
 */
#ifndef TOE_NETIO_WORKERS_SHM_H
#define TOE_NETIO_WORKERS_SHM_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define WORKERS_MAGIC     0x54574b31u /* "TWK1"; changes with this layout */
#define WORKERS_MAX       64u   /* workers of one address; a table entry has six bits for it */
#define WORKERS_RING      256u  /* frames of a ring, a power of two */
#define WORKERS_UNIT      2048u /* the place of a frame is a multiple of it */
#define WORKERS_FRAME_MAX 10240u
#define WORKERS_LINE      64
#define WORKERS_PAGE      4096u
#define WORKERS_TABLE     262144u /* connections, a power of two; sixteen places for each hash */

/* Indices run freely. The producer owns head and the consumer owns tail; both survive their owner:
 * the next one continues there. */
struct workers_ring {
    _Alignas(WORKERS_LINE) _Atomic uint32_t head;
    _Alignas(WORKERS_LINE) _Atomic uint32_t tail;
    _Alignas(WORKERS_LINE) struct {
        _Atomic uint32_t len, flags; /* flags: NETIO_F_L4_CSUM_OK */
    } slots[WORKERS_RING];
};

/* A worker, at its number. */
struct workers_member {
    _Alignas(WORKERS_LINE) _Atomic uint32_t pid; /* 0: none */
    _Atomic uint32_t sleeping;                   /* wants to be woken */
    _Atomic uint64_t joined_ms;                  /* CLOCK_MONOTONIC */
};

/* A port that no longer has the listener of a worker. */
struct workers_closed {
    _Atomic uint32_t what; /* port; bit 16: IPv6; bit 17: in use */
    _Atomic uint64_t at_ms;
};
#define WORKERS_CLOSED 64u /* remembered, a power of two */

struct workers_shm {
    uint32_t magic, count, stride; /* count: the most workers; stride: bytes of a frame's place */
    uint64_t options;              /* hash of what all workers must agree on */
    uint64_t key[2];               /* of the hash of connections */
    /* The interface, as the steering worker has it. steerer: its pid, 0: none. */
    _Alignas(WORKERS_LINE) _Atomic uint32_t steerer;
    _Atomic uint32_t steerer_number;
    uint32_t mtu, ifindex, offered, tso_max, hold_max, flush_calls, queues, standby;
    uint8_t mac[6];
    struct workers_member members[WORKERS_MAX];
    struct workers_closed closed[WORKERS_CLOSED];
    _Atomic uint32_t closed_next;
    _Alignas(WORKERS_PAGE) _Atomic uint64_t table[WORKERS_TABLE]; /* workers_table.h */
};

/* Behind it, for each worker. ports: NETIO_LISTEN_* of IPv4 and IPv6. Then the frames of both
 * rings. */
struct workers_part {
    _Atomic uint8_t ports[2][65536];
    struct workers_ring rings[2];
};

#define WORKERS_RX 0 /* ring: from the steering worker */
#define WORKERS_TX 1 /* ring: to it */

static inline size_t workers_part_size(uint32_t stride)
{
    size_t size = sizeof(struct workers_part) + (size_t)2 * WORKERS_RING * stride;

    return (size + WORKERS_PAGE - 1) / WORKERS_PAGE * WORKERS_PAGE;
}

static inline size_t workers_part_at(uint32_t number, uint32_t stride)
{
    return sizeof(struct workers_shm) + number * workers_part_size(stride);
}

static inline size_t workers_size(uint32_t count, uint32_t stride)
{
    return workers_part_at(count, stride);
}

#endif
