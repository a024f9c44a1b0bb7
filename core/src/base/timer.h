/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timer.h - hierarchical timer wheel (Varghese, Lauck 1987): set, cancel and expire in constant
 * time for any number of timers. A tick is 2^20 ns (1.05 ms), so no division is needed; TCP
 * timestamps use the same tick (R7323-15).
 */
#ifndef TOEC_TIMER_H
#define TOEC_TIMER_H

#include "bits.h"

#define TOEC_TICK_SHIFT 20
#define TOEC_TICK_NS    ((toec_time)1 << TOEC_TICK_SHIFT)

/* Which function handles an expiry. Kinds from TOEC_TMR_TCP on belong to TCP and reach
 * toec_tcp_timer(). */
enum toec_timer_kind {
    TOEC_TMR_NEIGH = 1,   /* a neighbour's state (neigh.c) */
    TOEC_TMR_NEIGH_RETRY, /* senders that found the neighbour table full retry */
    TOEC_TMR_REASS,       /* reassembly timeout of a datagram */
    TOEC_TMR_ANNOUNCE,    /* gratuitous ARP */
    TOEC_TMR_IP6_OWN,     /* an own address: duplicate detection, lifetimes */
    TOEC_TMR_IP6_RS,      /* router solicitation */
    TOEC_TMR_IP6_EXPIRY,  /* of routers and prefixes */
    TOEC_TMR_IP6_MLD,     /* listener report */
    TOEC_TMR_PMTU,        /* a path MTU expires */
    TOEC_TMR_TCP = 16
};

#define TOEC_WHEEL_LEVELS 7 /* of 32 slots: 5 bits each, so 35 bits hold any 32-bit tick */
#define TOEC_WHEEL_SLOTS  32
/*
 * With many flows, a slot is a linked list through memory outside the caches, and a list cannot be
 * prefetched. So each timer records the one that was inserted TOEC_WHEEL_AHEAD insertions earlier
 * into a slot of the same number. The walk of a list usually reaches that timer as many steps
 * later, and prefetches it.
 */
#define TOEC_WHEEL_AHEAD 16u
/* With a hundred thousand flows, a tick may have a thousand timers. Their packets would delay all
 * others, here and at the peer, so the run is limited and received frames are processed in between.
 */
#define TOEC_WHEEL_MOST 64u
/* Longest delay; longer ones are clamped. 3 * 2^30 ticks are 39 days. */
#define TOEC_TIMER_MAX_TICKS 0xbfffffffu

/* All zero: not set. Embedded in the object it belongs to; never copied or freed while set. */
struct toec_timer {
    struct toec_timer *next;
    struct toec_timer **pprev; /* 0: not set */
    /* See TOEC_WHEEL_AHEAD; only prefetched, never read: it may be freed */
    struct toec_timer *ahead;
    toec_u32 tick; /* expiry in ticks (modulo 2^32) */
    toec_u8 kind;
    toec_u8 level, slot; /* position in the wheel */
};

struct toec_wheel {
    toec_u64 cur;                     /* every tick before this one has been run */
    toec_u32 levels;                  /* one bit per level that is not empty */
    toec_u32 busy[TOEC_WHEEL_LEVELS]; /* one bit per slot that is not empty */
    struct toec_timer *slot[TOEC_WHEEL_LEVELS][TOEC_WHEEL_SLOTS];
    struct toec_timer *due;     /* set for a tick already run: these expire at the next poll */
    struct toec_timer *running; /* being expired now */
    /* Most recent insertions into slots of each number, at any level; never read. */
    struct toec_timer *recent[TOEC_WHEEL_SLOTS][TOEC_WHEEL_AHEAD];
    toec_u8 set[TOEC_WHEEL_SLOTS]; /* number of insertions, modulo 2^8 */
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
/* Expires timers due at now, at most TOEC_WHEEL_MOST. The rest waits for the next run, as do timers
 * that fn sets for a time not after now. */
void toec_wheel_run(struct toec_wheel *w, toec_time now, toec_timer_fn *fn, void *user);
/*
 * Returns a time not after the earliest deadline, TOEC_NEVER without timers. It may be before the
 * deadline (when a coarse slot must be redistributed), never after its tick.
 */
toec_time toec_wheel_next(const struct toec_wheel *w, toec_time now);

#endif
