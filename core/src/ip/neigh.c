/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neigh.c - the neighbour cache: states and timers of RFC 4861 7.3, also used for ARP; table
 * bounds.
 *
 * Limits under floods: entries that wait for an answer use at most a quarter of the table and evict
 * only each other, at a bounded rate: the oldest failed one, else the newest that a live host would
 * have answered by now. So a new neighbour has time to answer, and older entries still fail after
 * three requests, which frees their places. A sender that found no place takes only those of failed
 * entries: otherwise senders that retry would evict each other's entries, and none would fail.
 *
 * Entries learned from requests of others replace only stale ones. Only a neighbour that we want to
 * send to evicts another, the least recently used first, and none that was just known to be alive.
 */
#include "neigh.h"

#include "ip_out.h"
#include "nd_router.h"
#include "stack.h"

#define REACHABLE_TIME (30 * TOEC_NS_PER_S) /* RFC 4861 10 */
#define DELAY_TIME     (5 * TOEC_NS_PER_S)  /* DELAY_FIRST_PROBE_TIME */
#define REDRAW_TIME    (7200 * TOEC_NS_PER_S)
#define RETRY_TIME     (1 * TOEC_NS_PER_S)    /* R1122-28: one request per second at most */
#define FAILED_TIME    (3 * TOEC_NS_PER_S)    /* senders see the failure without new requests */
#define STALE_TIME     (600 * TOEC_NS_PER_S)  /* R1122-27: unused entries are flushed */
#define ANSWER_TIME    (100 * TOEC_NS_PER_MS) /* a live host has answered by then */
#define NOTICE_TIME    (10 * TOEC_NS_PER_MS)  /* ... and its senders have noticed a failure */
#define ALIVE_TIME     (5 * TOEC_NS_PER_S)    /* confirmed since: not evicted, as on Linux */
#define WAITED         0xffffffffu            /* path.gen: the table was full; no entry has it */
#define MAX_TRIES      3  /* R4861-04: MAX_MULTICAST_SOLICIT; then senders are notified */
#define EVICT_STEPS    64 /* entries examined when the table is full */
/* Entries per second that may evict a waiting one: each sends a broadcast. */
#define RECYCLE_RATE  1000
#define RECYCLE_BURST 64

unsigned long toec_neigh_size(const struct toec_config *cfg)
{
    return (unsigned long)cfg->max_neighbours * sizeof(struct toec_neigh) +
           toec_htab_buckets(cfg->max_neighbours) * sizeof(struct toec_hnode *);
}

void toec_neigh_init(struct toec_stack *s, void *mem)
{
    struct toec_neigh_table *t = &s->neigh;
    toec_u32 n = s->cfg.max_neighbours;
    toec_u8 *buckets = (toec_u8 *)mem + (unsigned long)n * sizeof(struct toec_neigh);

    memset(t, 0, sizeof(*t));
    toec_pool_init(&t->pool, mem, sizeof(struct toec_neigh), n);
    toec_htab_init(&t->by_addr, (struct toec_hnode **)(void *)buckets, toec_htab_buckets(n));
    t->max_unresolved = TOEC_MAX(n / 4, 1u);
    t->next_gen = 1;
    toec_rate_init(&t->recycle, RECYCLE_RATE, RECYCLE_BURST);
}

struct toec_neigh *toec_neigh_find(struct toec_stack *s, const struct toec_addr *addr)
{
    struct toec_hnode *node =
        toec_htab_first(&s->neigh.by_addr, toec_addr_hash(&s->keys.flow, addr, 0));
    struct toec_neigh *n;

    for (; node; node = toec_htab_next(node)) {
        n = TOEC_CONTAINER(node, struct toec_neigh, node);
        if (toec_addr_eq(&n->addr, addr))
            return n;
    }
    return 0;
}

/* ---- the list of unresolved entries, oldest first ---- */

static void unresolved_add(struct toec_neigh_table *t, struct toec_neigh *n)
{
    n->unresolved = 1;
    n->newer = 0;
    n->older = t->newest;
    if (t->newest)
        t->newest->newer = n;
    else
        t->oldest = n;
    t->newest = n;
    t->unresolved++;
}

static void unresolved_del(struct toec_neigh_table *t, struct toec_neigh *n)
{
    if (!n->unresolved)
        return;
    n->unresolved = 0;
    if (n->older)
        n->older->newer = n->newer;
    else
        t->oldest = n->newer;
    if (n->newer)
        n->newer->older = n->older;
    else
        t->newest = n->older;
    t->unresolved--;
}

/* ---- creating and freeing entries ---- */

static void neigh_free(struct toec_stack *s, struct toec_neigh *n)
{
    toec_timer_cancel(s, &n->timer);
    unresolved_del(&s->neigh, n);
    toec_htab_del(&s->neigh.by_addr, &n->node);
    n->state = TOEC_NEIGH_FREE;
    n->gen = 0;
    toec_pool_put(&s->neigh.pool, n);
}

/*
 * Wakes senders whose entry is not in the table (any more). Not at once: each would evict the next
 * waiting entry, at every poll. Instead, all retry within a second.
 */
static void retry_later(struct toec_stack *s, toec_time now)
{
    if (!toec_timer_pending(&s->neigh.retry))
        toec_timer_set(s, &s->neigh.retry, TOEC_TMR_NEIGH_RETRY, now + RETRY_TIME);
}

void toec_neigh_retry_timer(struct toec_stack *s)
{
    s->send_epoch++;
}

/* Frees an entry, to reuse it for another neighbour. */
static void evict(struct toec_stack *s, struct toec_neigh *n, toec_time now)
{
    TOEC_COUNT(s, neigh_evicted);
    if (n->unresolved)
        retry_later(s, now);
    neigh_free(s, n);
}

/* Returns an unresolved entry to evict, or 0. Entries fail in the order of the list. */
static struct toec_neigh *replaceable(const struct toec_neigh_table *t, enum toec_neigh_want want,
                                      toec_time now)
{
    struct toec_neigh *n = t->oldest;
    unsigned steps;

    if (n && n->state == TOEC_NEIGH_FAILED && now - n->confirmed >= NOTICE_TIME)
        return n;
    if (want == TOEC_NEIGH_SEND_AGAIN)
        return 0;
    n = t->newest;
    for (steps = EVICT_STEPS; n && steps > 0; steps--, n = n->older)
        if (n->state == TOEC_NEIGH_INCOMPLETE && now - n->confirmed >= ANSWER_TIME)
            return n;
    return 0;
}

/* Evicts an unresolved entry to make room for another; returns -1 when none may be. */
static int replace_unresolved(struct toec_stack *s, enum toec_neigh_want want, toec_time now)
{
    struct toec_neigh *n = replaceable(&s->neigh, want, now);

    if (!n || !toec_rate_allow(&s->neigh.recycle, now))
        return -1;
    evict(s, n, now);
    return 0;
}

/*
 * Returns an entry to evict, 0 if none of the next EVICT_STEPS qualifies: a stale one, or
 * (for_sending) one that was not confirmed just now, nor used for sending since the hand passed it
 * last (second chance).
 */
static struct toec_neigh *evictable(struct toec_neigh_table *t, int for_sending, toec_time now)
{
    toec_u32 steps = TOEC_MIN(2 * t->pool.total, (toec_u32)EVICT_STEPS);
    struct toec_neigh *n;

    while (steps-- > 0) {
        n = toec_pool_at(&t->pool, t->hand);
        t->hand = t->hand + 1 == t->pool.total ? 0 : t->hand + 1;
        if (n->unresolved)
            continue;
        if (n->state == TOEC_NEIGH_STALE ||
            (for_sending && !n->used && now - n->confirmed >= ALIVE_TIME))
            return n;
        if (for_sending)
            n->used = 0;
    }
    return 0;
}

/* Evicts an entry to make room for another. Called when the pool is full, so all entries are in
 * use. */
static int make_room(struct toec_stack *s, enum toec_neigh_want want, toec_time now)
{
    struct toec_neigh *n = evictable(&s->neigh, want != TOEC_NEIGH_LEARN, now);

    if (n)
        evict(s, n, now);
    else if (want == TOEC_NEIGH_LEARN || replace_unresolved(s, want, now) < 0)
        return -1;
    return 0;
}

struct toec_neigh *toec_neigh_add(struct toec_stack *s, const struct toec_addr *addr,
                                  enum toec_neigh_want want, toec_time now)
{
    struct toec_neigh_table *t = &s->neigh;
    struct toec_neigh *n;

    if (want != TOEC_NEIGH_LEARN && t->unresolved >= t->max_unresolved) {
        if (replace_unresolved(s, want, now) < 0)
            return 0;
    } else if (t->pool.used == t->pool.total && make_room(s, want, now) < 0) {
        return 0;
    }
    n = toec_pool_get(&t->pool);
    memset(n, 0, sizeof(*n));
    n->addr = *addr;
    n->gen = t->next_gen++;
    if (t->next_gen == WAITED)
        t->next_gen = 1;
    toec_htab_add(&t->by_addr, &n->node, toec_addr_hash(&s->keys.flow, addr, 0));
    return n;
}

/* ---- states (R4861-06) ---- */

static void set_state(struct toec_stack *s, struct toec_neigh *n, enum toec_neigh_state state,
                      toec_time deadline)
{
    int unresolved = state == TOEC_NEIGH_INCOMPLETE || state == TOEC_NEIGH_FAILED;

    if (unresolved && !n->unresolved) {
        unresolved_add(&s->neigh, n);
    } else if (!unresolved && n->unresolved) {
        unresolved_del(&s->neigh, n);
        s->send_epoch++;
    }
    n->state = (toec_u8)state;
    toec_timer_set(s, &n->timer, TOEC_TMR_NEIGH, deadline);
}

void toec_neigh_stale(struct toec_stack *s, struct toec_neigh *n, toec_time now)
{
    n->used = 0;
    set_state(s, n, TOEC_NEIGH_STALE, now + STALE_TIME);
}

/* Returns RetransTimer, which routers may set for IPv6 (RFC 4861 6.3.4). */
static toec_time retry_time(const struct toec_stack *s, const struct toec_neigh *n)
{
    return toec_addr_is4(&n->addr) ? RETRY_TIME : s->ip6.retrans;
}

/* Returns ReachableTime: for IPv6 randomized every two hours (RFC 4861 6.3.4), 0.5 to 1.5 times its
 * base. */
static toec_time reachable_time(struct toec_stack *s, const struct toec_neigh *n, toec_time now)
{
    toec_u32 base = s->ip6.base_reachable;

    if (toec_addr_is4(&n->addr))
        return REACHABLE_TIME;
    if (now >= s->ip6.reachable_draw) {
        s->ip6.reachable_draw = now + REDRAW_TIME;
        s->ip6.reachable = (toec_time)(base / 2 + toec_rand32(s) % base) * TOEC_NS_PER_MS;
    }
    return s->ip6.reachable;
}

void toec_neigh_reachable(struct toec_stack *s, struct toec_neigh *n, toec_time now)
{
    n->confirmed = now;
    set_state(s, n, TOEC_NEIGH_REACHABLE, now + reachable_time(s, n, now));
}

void toec_neigh_again(struct toec_stack *s, struct toec_neigh *n, const struct toec_neigh *is,
                      toec_time deadline)
{
    memcpy(n->mac, is->mac, 6);
    n->confirmed = is->confirmed;
    n->tries = TOEC_MIN(is->tries, (toec_u8)MAX_TRIES);
    n->used = is->used;
    n->router = is->router;
    set_state(s, n, (enum toec_neigh_state)is->state, deadline);
}

/* Requests the neighbour's address: by broadcast or multicast, or from mac only when it is not 0.
 */
static void ask(struct toec_stack *s, const struct toec_neigh *n, const toec_u8 *mac)
{
    if (s->cfg.link)
        s->cfg.link->ask(s->cfg.user, &n->addr);
    else if (toec_addr_is4(&n->addr))
        toec_arp_request(s, toec_addr_get4(&n->addr), mac);
    else
        toec_nd_solicit(s, &n->addr, mac);
}

static void incomplete(struct toec_stack *s, struct toec_neigh *n, toec_time now)
{
    n->tries = 1;
    n->confirmed = now;
    set_state(s, n, TOEC_NEIGH_INCOMPLETE, now + retry_time(s, n));
    if (n->router)
        toec_router_lost(s, &n->addr, 0, now);
    ask(s, n, 0);
}

static void failed(struct toec_stack *s, struct toec_neigh *n, toec_time now)
{
    TOEC_COUNT(s, neigh_failed);
    n->confirmed = now;
    set_state(s, n, TOEC_NEIGH_FAILED, now + FAILED_TIME);
    if (!toec_addr_is4(&n->addr)) /* choose another router, if it was one */
        toec_router_lost(s, &n->addr, 0, now);
    s->send_epoch++;
}

void toec_neighbour(struct toec_stack *s, const struct toec_addr *addr, const toec_u8 *mac,
                    toec_time now)
{
    struct toec_neigh *n = toec_neigh_find(s, addr);

    if (!n || (!mac && n->state == TOEC_NEIGH_FAILED))
        return;
    if (!mac) {
        failed(s, n, now);
        return;
    }
    if (!n->unresolved && !toec_mac_eq(n->mac, mac))
        TOEC_COUNT(s, neigh_changed);
    memcpy(n->mac, mac, 6);
    toec_neigh_reachable(s, n, now);
}

static void reachable_timer(struct toec_stack *s, struct toec_neigh *n, toec_time now)
{
    toec_time reachable = reachable_time(s, n, now);

    if (now - n->confirmed < reachable) /* toec_path_confirm() does not move the timer */
        toec_timer_set(s, &n->timer, TOEC_TMR_NEIGH, n->confirmed + reachable);
    else
        toec_neigh_stale(s, n, now);
}

void toec_neigh_timer(struct toec_stack *s, struct toec_timer *timer, toec_time now)
{
    struct toec_neigh *n = TOEC_CONTAINER(timer, struct toec_neigh, timer);

    switch (n->state) {
    case TOEC_NEIGH_REACHABLE:
        reachable_timer(s, n, now);
        return;
    case TOEC_NEIGH_PROBE:
        if (n->tries == MAX_TRIES) { /* the old address is dead: broadcast the request */
            incomplete(s, n, now);
            return;
        }
        n->tries++;
        ask(s, n, n->mac);
        toec_timer_set(s, timer, TOEC_TMR_NEIGH, now + retry_time(s, n));
        return;
    case TOEC_NEIGH_INCOMPLETE:
        if (n->tries == MAX_TRIES) { /* R4861-04 */
            failed(s, n, now);
            return;
        }
        n->tries++;
        ask(s, n, 0);
        toec_timer_set(s, timer, TOEC_TMR_NEIGH, now + retry_time(s, n));
        return;
    default: /* stale and failed entries expire */
        neigh_free(s, n);
    }
}

/* ---- lookups by senders ---- */

/* Finds or creates the entry of a path whose entry was evicted or never existed. */
static struct toec_neigh *attach(struct toec_stack *s, struct toec_path *path, toec_time now)
{
    struct toec_neigh *n = toec_neigh_find(s, &path->next_hop);

    if (!n) {
        n = toec_neigh_add(s, &path->next_hop,
                           path->gen == WAITED ? TOEC_NEIGH_SEND_AGAIN : TOEC_NEIGH_SEND, now);
        if (!n) {
            TOEC_COUNT(s, neigh_full);
            path->gen = WAITED;
            retry_later(s, now);
            return 0;
        }
        incomplete(s, n, now);
    }
    path->neigh = (toec_u16)toec_pool_index(&s->neigh.pool, n);
    path->gen = n->gen;
    return n;
}

/* Does what toec_neigh_lookup() does, for a path whose entry is not in use or not known. */
TOEC_NOINLINE int lookup_slowly(struct toec_stack *s, struct toec_path *path, const toec_u8 **mac,
                                toec_time now)
{
    struct toec_neigh *n = toec_pool_at(&s->neigh.pool, path->neigh);

    if (path->gen == 0 || n->gen != path->gen) {
        if (s->cfg.local && toec_addr_is_own(s, &path->next_hop)) {
            *mac = s->cfg.mac; /* marks the frame as a local one */
            return 0;
        }
        n = attach(s, path, now);
        if (!n)
            return TOEC_SEND_WAIT;
    }
    n->used = 1;
    *mac = n->mac;
    switch (n->state) {
    case TOEC_NEIGH_STALE:
        /* RFC 4861 7.3.3 DELAY: leaves time for the layer above to confirm before the first probe.
         */
        n->tries = 0;
        set_state(s, n, TOEC_NEIGH_PROBE, now + DELAY_TIME);
        return 0;
    case TOEC_NEIGH_INCOMPLETE:
        return TOEC_SEND_WAIT;
    case TOEC_NEIGH_FAILED:
        return TOEC_SEND_UNREACH;
    default:
        return 0;
    }
}

int toec_neigh_lookup(struct toec_stack *s, struct toec_path *path, const toec_u8 **mac,
                      toec_time now)
{
    struct toec_neigh *n = toec_pool_at(&s->neigh.pool, path->neigh);

    if (TOEC_UNLIKELY(path->gen == 0 || n->gen != path->gen ||
                      (n->state != TOEC_NEIGH_REACHABLE && n->state != TOEC_NEIGH_PROBE)))
        return lookup_slowly(s, path, mac, now);
    n->used = 1;
    *mac = n->mac;
    return 0;
}

void toec_path_confirm(struct toec_stack *s, const struct toec_path *path, toec_time now)
{
    struct toec_neigh *n = toec_pool_at(&s->neigh.pool, path->neigh);

    if (path->gen == 0 || n->gen != path->gen)
        return;
    n->confirmed = now;
    if (n->state == TOEC_NEIGH_STALE || n->state == TOEC_NEIGH_PROBE)
        toec_neigh_reachable(s, n, now);
}

void toec_path_doubt(struct toec_stack *s, struct toec_path *path, toec_time now)
{
    struct toec_neigh *n = toec_pool_at(&s->neigh.pool, path->neigh);
    int known = path->gen != 0 && n->gen == path->gen;

    path->gen = 0;
    if (!known || n->unresolved || now - n->confirmed < RETRY_TIME ||
        (n->state == TOEC_NEIGH_PROBE && n->tries))
        return;
    n->tries = 0;
    set_state(s, n, TOEC_NEIGH_PROBE, now);
}
