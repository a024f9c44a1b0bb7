/* SPDX-License-Identifier: Apache-2.0 */
/*
 * impair_path.c - one direction of an impairing wire (include/toe/impair.h describes it).
 *
 * Frames wait in a ring in order of arrival; due times never decrease along it. A frame chosen for
 * reordering moves from the ring into a short list when it is due, and is delivered when enough
 * others have passed it.
 */
#include <stdlib.h>
#include <string.h>

#include "impair_path.h"
#include "toe/lines.h"

/* SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t next_random(struct impair_path *p)
{
    uint64_t z = p->random += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static int chance(struct impair_path *p, uint64_t probability)
{
    return probability && (next_random(p) >> 32) < probability;
}

/* Returns 0 to limit - 1; the bias of the remainder is below 2^-30 for every limit in use. */
static uint64_t random_below(struct impair_path *p, uint64_t limit)
{
    return limit ? next_random(p) % limit : 0;
}

int impair_path_init(struct impair_path *p, const struct impair_options *o, uint64_t salt,
                     uint32_t frame_size, uint32_t spare)
{
    memset(p, 0, sizeof(*p));
    p->options = *o;
    p->random = o->seed ^ (salt * UINT64_C(0xd1342543de82ef95));
    for (p->ring_size = 1; p->ring_size < o->memory; p->ring_size *= 2)
        ;
    p->ring = lines_calloc(p->ring_size, sizeof(*p->ring));
    if (!p->ring)
        return -1;
    if (pool_init(&p->pool, frame_size, o->memory + spare)) {
        free(p->ring);
        p->ring = NULL;
        return -1;
    }
    return 0;
}

void impair_path_free(struct impair_path *p)
{
    free(p->ring);
    p->ring = NULL;
    pool_free(&p->pool);
}

static int is_lost(struct impair_path *p)
{
    const struct impair_options *o = &p->options;

    if (o->burst_enter) {
        if (chance(p, p->bad ? o->burst_leave : o->burst_enter))
            p->bad = !p->bad;
        if (p->bad)
            return 1;
    }
    return chance(p, o->loss);
}

static void flip_bits(struct impair_path *p, uint8_t *data, uint32_t len)
{
    uint32_t i;

    for (i = 0; len && i < p->options.bits; i++) {
        uint64_t bit = random_below(p, (uint64_t)len * 8);

        data[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    }
}

/* Puts a frame on the line and at the end of the ring, or drops it. */
static void admit(struct impair_path *p, struct impair_entry e, uint64_t now_ns)
{
    const struct impair_options *o = &p->options;

    while (p->line != p->head && p->ring[p->line & (p->ring_size - 1)].line_ns <= now_ns)
        p->line++;
    if ((o->rate && p->head - p->line >= o->queue) ||
        p->head - p->tail + p->held_count >= o->memory) {
        p->stats.overflowed++;
        pool_put(&p->pool, e.offset);
        return;
    }
    e.line_ns = now_ns;
    if (o->rate) {
        if (p->line_free_ns < now_ns)
            p->line_free_ns = now_ns;
        p->line_free_ns += (uint64_t)e.len * 8 * UINT64_C(1000000000) / o->rate;
        e.line_ns = p->line_free_ns;
    }
    e.due_ns = e.line_ns + o->delay_ns + (o->jitter_ns ? random_below(p, o->jitter_ns + 1) : 0);
    if (e.due_ns < p->last_due_ns)
        e.due_ns = p->last_due_ns;
    p->last_due_ns = e.due_ns;
    p->ring[p->head++ & (p->ring_size - 1)] = e;
}

void impair_path_put(struct impair_path *p, uint32_t offset, uint32_t len, uint32_t flags,
                     uint64_t now_ns)
{
    struct impair_entry e = {.offset = offset, .len = len, .flags = flags};
    uint32_t copy;

    p->stats.seen++;
    if (is_lost(p)) {
        p->stats.lost++;
        pool_put(&p->pool, offset);
        return;
    }
    if (chance(p, p->options.corrupt)) {
        p->stats.corrupted++;
        flip_bits(p, p->pool.mem + offset, len);
        e.flags &= ~NETIO_F_L4_CSUM_OK;
    }
    if (chance(p, p->options.duplicate) && pool_get(&p->pool, &copy) == 0) {
        struct impair_entry twin = e;

        p->stats.duplicated++;
        memcpy(p->pool.mem + copy, p->pool.mem + offset, len);
        twin.offset = copy;
        admit(p, twin, now_ns);
    }
    admit(p, e, now_ns);
}

static int take_held(struct impair_path *p, uint64_t now_ns, struct impair_entry *out)
{
    unsigned i;

    for (i = 0; i < p->held_count; i++) {
        if (p->released < p->held[i].after && now_ns < p->held[i].entry.due_ns)
            continue;
        *out = p->held[i].entry;
        p->held_count--;
        memmove(&p->held[i], &p->held[i + 1], (p->held_count - i) * sizeof(p->held[0]));
        return 0;
    }
    return -1;
}

int impair_path_take(struct impair_path *p, uint64_t now_ns, struct impair_entry *out)
{
    for (;;) {
        struct impair_entry *e = &p->ring[p->tail & (p->ring_size - 1)];

        if (take_held(p, now_ns, out) == 0)
            break;
        if (p->tail == p->head || e->due_ns > now_ns)
            return -1;
        if (p->line == p->tail)
            p->line++;
        p->tail++;
        if (p->held_count < IMPAIR_HELD && chance(p, p->options.reorder)) {
            struct impair_held *h = &p->held[p->held_count++];

            p->stats.reordered++;
            h->entry = *e;
            h->entry.due_ns += p->options.hold_ns;
            h->after = p->released + p->options.gap;
            continue;
        }
        p->released++;
        *out = *e;
        break;
    }
    p->stats.passed++;
    return 0;
}

uint64_t impair_path_next(const struct impair_path *p)
{
    uint64_t next = UINT64_MAX;
    unsigned i;

    if (p->tail != p->head)
        next = p->ring[p->tail & (p->ring_size - 1)].due_ns;
    for (i = 0; i < p->held_count; i++) {
        /* A frame that enough others have passed is due at any time. */
        uint64_t due = p->released >= p->held[i].after ? 0 : p->held[i].entry.due_ns;

        if (due < next)
            next = due;
    }
    return next;
}
