/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timer.c - hierarchical timer wheel (Varghese, Lauck 1987, scheme 7).
 *
 * A timer is at the level of the highest 5-bit digit in which its tick differs from `cur`, in the
 * slot of that digit. So all timers of a level expire before those of the next level, and a slot is
 * redistributed to lower levels when `cur` reaches its start. Ticks are modulo 2^32. At the top
 * level (two bits, four slots), slots behind `cur` belong to the next round; therefore a delay must
 * stay below 3 * 2^30 ticks.
 */
#include "timer.h"

#define DIGIT     5
#define TOP       (TOEC_WHEEL_LEVELS - 1)
#define UNSLOTTED 0xff /* level of timers in `due` and `running` */

static void push(struct toec_wheel *w, unsigned slot, struct toec_timer **list,
                 struct toec_timer *t)
{
    struct toec_timer **recent = &w->recent[slot][w->set[slot]++ % TOEC_WHEEL_AHEAD];

    t->ahead = *recent;
    *recent = t;
    t->next = *list;
    t->pprev = list;
    if (t->next)
        t->next->pprev = &t->next;
    *list = t;
}

static void place(struct toec_wheel *w, struct toec_timer *t)
{
    toec_u32 differs = t->tick ^ (toec_u32)w->cur;
    unsigned level = differs ? toec_msb32(differs) / DIGIT : 0;
    unsigned slot = t->tick >> (DIGIT * level) & (TOEC_WHEEL_SLOTS - 1);

    t->level = (toec_u8)level;
    t->slot = (toec_u8)slot;
    push(w, slot, &w->slot[level][slot], t);
    w->busy[level] |= 1u << slot;
    w->levels |= 1u << level;
}

/* Clears the bits of an empty slot. */
static void vacate(struct toec_wheel *w, unsigned level, unsigned slot)
{
    w->busy[level] &= ~(1u << slot);
    if (w->busy[level] == 0)
        w->levels &= ~(1u << level);
}

void toec_wheel_init(struct toec_wheel *w, toec_time now)
{
    memset(w, 0, sizeof(*w));
    w->cur = now >> TOEC_TICK_SHIFT;
}

void toec_wheel_cancel(struct toec_wheel *w, struct toec_timer *t)
{
    if (!t->pprev)
        return;
    *t->pprev = t->next;
    if (t->next)
        t->next->pprev = t->pprev;
    t->pprev = 0;
    if (t->level != UNSLOTTED && !w->slot[t->level][t->slot])
        vacate(w, t->level, t->slot);
}

void toec_wheel_set(struct toec_wheel *w, struct toec_timer *t, enum toec_timer_kind kind,
                    toec_time deadline)
{
    toec_u64 tick = (deadline >> TOEC_TICK_SHIFT) + ((deadline & (TOEC_TICK_NS - 1)) != 0);

    toec_wheel_cancel(w, t);
    t->kind = (toec_u8)kind;
    if (tick < w->cur) {
        t->level = UNSLOTTED;
        t->tick = (toec_u32)w->cur - 1;
        push(w, 0, &w->due, t);
        return;
    }
    if (tick - w->cur > TOEC_TIMER_MAX_TICKS)
        tick = w->cur + TOEC_TIMER_MAX_TICKS;
    t->tick = (toec_u32)tick;
    place(w, t);
}

/* Finds the earliest slot in use: its first tick and its level. Returns 0 when there is none. */
static int earliest(const struct toec_wheel *w, toec_u64 *tick, unsigned *level)
{
    toec_u32 cur = (toec_u32)w->cur, busy, start;
    unsigned l, slot;

    if (w->levels == 0)
        return 0;
    l = toec_ctz32(w->levels);
    busy = w->busy[l];
    if (l == TOP) { /* four slots in a ring: the first one after cur's */
        slot = (cur >> (DIGIT * TOP)) + 1;
        while (!(busy >> (slot & 3) & 1))
            slot++;
        start = (toec_u32)(slot & 3) << (DIGIT * TOP);
    } else {
        slot = toec_ctz32(busy);
        start = (cur & ~((2u << (DIGIT * (l + 1) - 1)) - 1)) | slot << (DIGIT * l);
    }
    *tick = w->cur + (start - cur);
    *level = l;
    return 1;
}

/* Moves cur to tick, and redistributes slots that begin there to lower levels. */
static void advance(struct toec_wheel *w, toec_u64 tick)
{
    struct toec_timer *t, *next;
    unsigned l, slot;

    w->cur = tick;
    for (l = 1; l < TOEC_WHEEL_LEVELS; l++) {
        if ((toec_u32)tick & ((1u << (DIGIT * l)) - 1))
            return;
        slot = (toec_u32)tick >> (DIGIT * l) & (TOEC_WHEEL_SLOTS - 1);
        t = w->slot[l][slot];
        w->slot[l][slot] = 0;
        vacate(w, l, slot);
        for (; t; t = next) {
            TOEC_PREFETCH(t->ahead);
            next = t->next;
            place(w, t);
        }
    }
}

/* Appends the whole list at *tail; returns the new tail. */
static struct toec_timer **take(struct toec_timer **list, struct toec_timer **tail)
{
    struct toec_timer *t = *list;

    *list = 0;
    for (; t; t = t->next) {
        TOEC_PREFETCH(t->ahead);
        t->level = UNSLOTTED;
        *tail = t;
        t->pprev = tail;
        tail = &t->next;
    }
    return tail;
}

/* Moves all due timers to `running`, which is empty. */
static void collect(struct toec_wheel *w, toec_u64 target)
{
    struct toec_timer **tail;
    toec_u64 tick = 0;
    unsigned level = 0;

    tail = take(&w->due, &w->running);
    while (earliest(w, &tick, &level) && tick <= target) {
        if (level == 0) {
            tail = take(&w->slot[0][tick & (TOEC_WHEEL_SLOTS - 1)], tail);
            vacate(w, 0, tick & (TOEC_WHEEL_SLOTS - 1));
            tick++;
        }
        advance(w, tick);
    }
    if (w->cur <= target)
        advance(w, target + 1);
}

TOEC_NOINLINE void run(struct toec_wheel *w, toec_time now, toec_timer_fn *fn, void *user)
{
    struct toec_timer *t;
    unsigned left = TOEC_WHEEL_MOST;

    if (!w->running)
        collect(w, now >> TOEC_TICK_SHIFT);
    while ((t = w->running) != 0 && left-- > 0) { /* a handler may cancel other timers in it */
        toec_wheel_cancel(w, t);
        fn(user, t, (enum toec_timer_kind)t->kind, now);
    }
}

void toec_wheel_run(struct toec_wheel *w, toec_time now, toec_timer_fn *fn, void *user)
{
    toec_u64 target = now >> TOEC_TICK_SHIFT;

    if (w->due || w->running || (w->levels && target >= w->cur))
        run(w, now, fn, user);
    else if (target >= w->cur)
        w->cur = target + 1; /* nothing is set */
}

toec_time toec_wheel_next(const struct toec_wheel *w, toec_time now)
{
    toec_u64 tick = 0;
    unsigned level = 0;

    if (w->due || w->running)
        return now;
    return earliest(w, &tick, &level) ? tick << TOEC_TICK_SHIFT : TOEC_NEVER;
}
