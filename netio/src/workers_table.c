/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workers_table.c - which worker has which connection (workers_table.h).
 *
 * An entry, from its lowest bit: 6 worker, 1 closed, 1 in use, 12 time of the last use in units of
 * 64 s, 44 bits of the hash. A hash has the 16 places of two neighbouring cache lines.
 */
#include "workers_table.h"

#define USED       128u
#define TIME_SHIFT 8
#define TIME_MASK  0xfffu
#define TIME_UNIT  64u
#define TIMES      ((uint64_t)TIME_MASK << TIME_SHIFT)
#define TAG_SHIFT  20
#define LINE_WORDS 8u
#define WAYS       16u

static uint64_t tag_of(uint64_t hash)
{
    return hash >> TAG_SHIFT << TAG_SHIFT;
}

static uint64_t time_of(uint64_t now_s)
{
    return (now_s / TIME_UNIT & TIME_MASK) << TIME_SHIFT;
}

/* Returns the index of a place. */
static uint32_t place_of(uint64_t hash, uint32_t way)
{
    uint32_t first = (uint32_t)hash & (WORKERS_TABLE - 1) & ~(LINE_WORDS - 1);

    return (first + way) & (WORKERS_TABLE - 1);
}

static _Atomic uint64_t *place(struct workers_shm *shm, uint64_t hash, uint32_t way)
{
    return &shm->table[place_of(hash, way)];
}

static uint64_t get(const _Atomic uint64_t *entry)
{
    return atomic_load_explicit(entry, memory_order_relaxed);
}

static void put(_Atomic uint64_t *entry, uint64_t value)
{
    atomic_store_explicit(entry, value, memory_order_relaxed);
}

uint32_t table_peek(const struct workers_shm *shm, uint64_t hash)
{
    uint32_t i;

    for (i = 0; i < WAYS; i++) {
        const _Atomic uint64_t *entry = &shm->table[place_of(hash, i)];

        if ((get(entry) & USED) && tag_of(get(entry)) == tag_of(hash))
            return table_worker(entry);
    }
    return WORKERS_MAX;
}

_Atomic uint64_t *table_find(struct workers_shm *shm, uint64_t hash, uint64_t now_s)
{
    uint32_t i;

    for (i = 0; i < WAYS; i++) {
        _Atomic uint64_t *entry = place(shm, hash, i);
        uint64_t value = get(entry);

        if (!(value & USED) || tag_of(value) != tag_of(hash))
            continue;
        if ((value & TIMES) != time_of(now_s))
            put(entry, (value & ~TIMES) | time_of(now_s));
        return entry;
    }
    return NULL;
}

/* Returns how gladly an entry is replaced. */
static uint32_t worth(uint64_t value, uint64_t alive, uint64_t now_s)
{
    uint32_t age = (uint32_t)((time_of(now_s) - (value & TIMES)) >> TIME_SHIFT & TIME_MASK);

    if (!(value & USED))
        return UINT32_MAX;
    if (value & TABLE_CLOSED)
        return 2 * TIME_MASK + 2 + age;
    if (!(alive >> (value & (WORKERS_MAX - 1)) & 1))
        return TIME_MASK + 1 + age;
    return age;
}

void table_learn(struct workers_shm *shm, uint64_t hash, uint32_t worker, uint64_t alive,
                 uint64_t now_s)
{
    _Atomic uint64_t *entry = table_find(shm, hash, now_s);
    uint32_t i, best = 0;

    for (i = 0; !entry && i < WAYS; i++)
        if (worth(get(place(shm, hash, i)), alive, now_s) >
            worth(get(place(shm, hash, best)), alive, now_s))
            best = i;
    if (!entry)
        entry = place(shm, hash, best);
    put(entry, tag_of(hash) | time_of(now_s) | USED | (worker & (WORKERS_MAX - 1)));
}

void table_close(_Atomic uint64_t *entry)
{
    put(entry, get(entry) | TABLE_CLOSED);
}
