/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neigh.h - the neighbour cache: IP address to Ethernet address, with the states of RFC
 * 4861 7.3.2, in a bounded table.
 */
#ifndef TOEC_NEIGH_H
#define TOEC_NEIGH_H

#include "../base/hash.h"
#include "../base/pool.h"
#include "../base/rate.h"
#include "../base/timer.h"
#include "ip.h"

enum toec_neigh_state {
    TOEC_NEIGH_FREE = 0,
    TOEC_NEIGH_INCOMPLETE, /* requested, not yet answered: senders wait */
    TOEC_NEIGH_REACHABLE,  /* confirmed within the last 30 s */
    TOEC_NEIGH_STALE,      /* known, neither confirmed recently nor used: verified when used */
    TOEC_NEIGH_PROBE,      /* in use; verified by unicast requests from 5 s after the first use */
    TOEC_NEIGH_FAILED      /* did not answer: senders get an error until it is freed */
};

/* Why an entry is created, see toec_neigh_add(). */
enum toec_neigh_want {
    TOEC_NEIGH_LEARN = 0, /* the neighbour sent a request */
    TOEC_NEIGH_SEND,      /* a sender needs it */
    TOEC_NEIGH_SEND_AGAIN /* ... and found the table full before */
};

struct toec_neigh {
    /* In by_addr; first, so that the pool's free link overwrites nothing else */
    struct toec_hnode node;
    struct toec_neigh *newer, *older; /* list of unresolved entries */
    struct toec_timer timer;
    toec_time
        confirmed; /* when last known to be reachable; unresolved: when it entered the state */
    struct toec_addr addr;
    toec_u32 gen; /* never 0 while in use; changes with each use of the entry, so that stale paths
                   * are detected */
    toec_u8 mac[6];
    toec_u8 state;
    toec_u8 tries;      /* requests sent in this state */
    toec_u8 used;       /* used for sending since this was last cleared */
    toec_u8 unresolved; /* INCOMPLETE or FAILED: in the list */
    toec_u8 router;     /* IsRouter (RFC 4861 5.1) */
};

struct toec_neigh_table {
    struct toec_pool pool;
    struct toec_htab by_addr;
    struct toec_neigh *oldest, *newest; /* unresolved entries */
    toec_u32 unresolved, max_unresolved;
    toec_u32 hand; /* clock hand of the search for an entry to evict */
    toec_u32 next_gen;
    struct toec_rate recycle; /* limits the eviction of waiting entries */
    struct toec_timer retry;  /* for senders that found the table full */
};

unsigned long toec_neigh_size(const struct toec_config *cfg);
void toec_neigh_init(struct toec_stack *s, void *mem);
void toec_neigh_timer(struct toec_stack *s, struct toec_timer *timer, toec_time now);
void toec_neigh_retry_timer(struct toec_stack *s);

/*
 * Finds the Ethernet address for this path. Returns 0 with *mac set, TOEC_SEND_WAIT (resolution is
 * in progress) or TOEC_SEND_UNREACH.
 */
int toec_neigh_lookup(struct toec_stack *s, struct toec_path *path, const toec_u8 **mac,
                      toec_time now);

struct toec_neigh *toec_neigh_find(struct toec_stack *s, const struct toec_addr *addr);
/*
 * Creates an entry without state: call toec_neigh_stale() or _reachable() next. Returns 0 when the
 * table is full of entries that must stay, or too many wait for an answer.
 */
struct toec_neigh *toec_neigh_add(struct toec_stack *s, const struct toec_addr *addr,
                                  enum toec_neigh_want want, toec_time now);
void toec_neigh_stale(struct toec_stack *s, struct toec_neigh *n, toec_time now);
/* Restores the new entry n from `is`, with this deadline (restore.c). */
void toec_neigh_again(struct toec_stack *s, struct toec_neigh *n, const struct toec_neigh *is,
                      toec_time deadline);
void toec_neigh_reachable(struct toec_stack *s, struct toec_neigh *n, toec_time now);

/*
 * Confirms the neighbour of this path, since new data arrived from beyond it (forward progress of
 * RFC 4861 7.3.1), which saves probes. Cheap; call it when data is newly acknowledged.
 */
void toec_path_confirm(struct toec_stack *s, const struct toec_path *path, toec_time now);
/*
 * Reports that nothing was received for several timeouts (RFC 9293 3.8.3 (b), negative advice). The
 * neighbour is verified now, unless it was confirmed recently; the path is looked up again.
 */
void toec_path_doubt(struct toec_stack *s, struct toec_path *path, toec_time now);

#endif
