/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timer.h - hierarchical timer wheel (Varghese, Lauck 1987): set, cancel and expire in constant
 * time however many timers there are. A tick is 2^20 ns (1.05 ms), so that no division is needed;
 * it is the timestamps' too (R7323-15).
 */
#ifndef TOEC_TIMER_H
#define TOEC_TIMER_H

#include "bits.h"

#define TOEC_TICK_SHIFT 20
#define TOEC_TICK_NS    ((toec_time)1 << TOEC_TICK_SHIFT)

/* Who is told of an expiry. Kinds from TOEC_TMR_TCP on belong to TCP and reach toec_tcp_timer(). */
enum toec_timer_kind {
    TOEC_TMR_NEIGH = 1,   /* a neighbour's state (neigh.c) */
    TOEC_TMR_NEIGH_RETRY, /* who found no room among the neighbours may try again */
    TOEC_TMR_REASS,       /* a datagram waits too long for its fragments */
    TOEC_TMR_ANNOUNCE,    /* gratuitous ARP */
    TOEC_TMR_IP6_OWN,     /* an own address: duplicate detection, lifetimes */
    TOEC_TMR_IP6_RS,      /* router solicitation */
    TOEC_TMR_IP6_EXPIRY,  /* of routers and prefixes */
    TOEC_TMR_IP6_MLD,     /* listener report */
    TOEC_TMR_PMTU,        /* a path MTU is too old */
    TOEC_TMR_TCP = 16
};

#define TOEC_WHEEL_LEVELS 7 /* of 32 slots: 5 bits each, so 35 bits hold any 32-bit tick */
#define TOEC_WHEEL_SLOTS  32
/*
 * A slot of many flows is a list through memory that is in no cache, and a list cannot be fetched
 * ahead. So each timer knows the one that was put into a slot of its number so many before it,
 * which the walk of a list most often comes to so many steps later: it is fetched then.
 */
#define TOEC_WHEEL_AHEAD 16u
/* A tick of a hundred thousand flows may have a thousand timers. What they send would stand before
 * everything else, here and at the peer: so frames have their turn in between. */
#define TOEC_WHEEL_MOST 64u
/* Longest delay: farther ones are cut to it. 3 * 2^30 ticks are 39 days. */
#define TOEC_TIMER_MAX_TICKS 0xbfffffffu

/* All zero: not set. Lives in the object it times; never copied or freed while set. */
struct toec_timer {
    struct toec_timer *next;
    struct toec_timer **pprev; /* 0: not set */
    struct toec_timer *ahead;  /* see TOEC_WHEEL_AHEAD; it may be gone, and is never looked into */
    toec_u32 tick;             /* when, in ticks (modulo 2^32) */
    toec_u8 kind;
    toec_u8 level, slot; /* where in the wheel */
};

struct toec_wheel {
    toec_u64 cur;                     /* every tick before this one has been run */
    toec_u32 levels;                  /* one bit per level that is not empty */
    toec_u32 busy[TOEC_WHEEL_LEVELS]; /* one bit per slot that is not empty */
    struct toec_timer *slot[TOEC_WHEEL_LEVELS][TOEC_WHEEL_SLOTS];
    struct toec_timer *due;     /* set for a tick already run: expire at the next poll */
    struct toec_timer *running; /* being expired now */
    /* Put last into slots of each number, of whatever level; never looked into. */
    struct toec_timer *recent[TOEC_WHEEL_SLOTS][TOEC_WHEEL_AHEAD];
    toec_u8 set[TOEC_WHEEL_SLOTS]; /* how many ever were, modulo 2^8 */
};

TOEC_INLINE int toec_timer_pending(const struct toec_timer *t)
{
    return t->pprev != 0;
}

typedef void toec_timer_fn(void *user, struct toec_timer *t, enum toec_timer_kind kind,
                           toec_time now);

void toec_wheel_init(struct toec_wheel *w, toec_time now);
void toec_wheel_set(struct toec_wheel *w, struct toec_timer *t, enum toec_timer_kind kind,
                    toec_time deadline);
void toec_wheel_cancel(struct toec_wheel *w, struct toec_timer *t);
/* Expires what is due at now, TOEC_WHEEL_MOST at most: the rest waits for the next run, as does a
 * timer set by fn for a time not after now. */
void toec_wheel_run(struct toec_wheel *w, toec_time now, toec_timer_fn *fn, void *user);
/*
 * A time not after the earliest deadline, TOEC_NEVER without timers. It may be earlier than the
 * deadline (when a coarse slot must be spread), never later than its tick.
 */
toec_time toec_wheel_next(const struct toec_wheel *w, toec_time now);

#endif
