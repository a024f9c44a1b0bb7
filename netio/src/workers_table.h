/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workers_table.h - which worker has which connection. The steering worker learns it from frames
 * that workers send, as a switch does, and writes the table alone. It is in shared memory, so the
 * next steering worker has it too; an entry is one atomic word, valid at any time.
 */
#ifndef TOE_NETIO_WORKERS_TABLE_H
#define TOE_NETIO_WORKERS_TABLE_H

#include "workers_shm.h"

/* Returns the worker of a connection, WORKERS_MAX: there is none. For workers that do not steer. */
uint32_t table_peek(const struct workers_shm *shm, uint64_t hash);
/* Returns the entry of a connection, NULL: there is none. now_s: seconds of any clock that does not
 * go back; use marks the entry as recently used. */
_Atomic uint64_t *table_find(struct workers_shm *shm, uint64_t hash, uint64_t now_s);
/* Makes an entry, or changes its worker. If all its places are in use it replaces an ended
 * connection, else that of a worker not in `alive`, else the one unused for the longest time. */
void table_learn(struct workers_shm *shm, uint64_t hash, uint32_t worker, uint64_t alive,
                 uint64_t now_s);
/* Marks that a side has closed or reset the connection. */
void table_close(_Atomic uint64_t *entry);

static inline uint32_t table_worker(const _Atomic uint64_t *entry)
{
    return (uint32_t)(atomic_load_explicit(entry, memory_order_relaxed) & (WORKERS_MAX - 1));
}

#define TABLE_CLOSED 64u

static inline int table_is_closed(const _Atomic uint64_t *entry)
{
    return (atomic_load_explicit(entry, memory_order_relaxed) & TABLE_CLOSED) != 0;
}

#endif
