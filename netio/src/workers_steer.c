/* SPDX-License-Identifier: Apache-2.0 */
/* workers_steer.c - to which worker of an address a frame goes (workers_steer.h). */
#include <string.h>

#include "workers_steer.h"
#include "workers_table.h"

#define NS_PER_S 1000000000u
#define YOUNG_MS 2000u /* so long, workers that joined are preferred to older ones ... */
#define SAME_MS  200u  /* ... and those that joined within this time are of one age */

static int lives(const struct workers *w, uint32_t number)
{
    return (int)(w->alive >> number & 1);
}

/* How the member listens on the port of a new connection. */
static unsigned listens_on(const struct workers *w, uint32_t number, const struct seen *s)
{
    if (!lives(w, number))
        return NETIO_LISTEN_NOT;
    return atomic_load_explicit(&group_part(&w->g, number)->ports[s->ip6][s->port],
                                memory_order_relaxed);
}

static uint64_t joined_ms(const struct workers *w, uint32_t number)
{
    return atomic_load_explicit(&w->g.shm->members[number].joined_ms, memory_order_relaxed);
}

/* Returns the time since which a worker must have joined to be chosen: a server that is reloaded
 * starts new workers, then has the old ones end. Connections that these do not accept any more
 * would be reset, so they get none once new workers are there. If the old ones stay, they get
 * connections again after two seconds. */
static uint64_t oldest_choice(const struct workers *w, const struct seen *s, unsigned how)
{
    uint64_t newest = 0, joined;
    uint32_t i;

    for (i = 0; i < w->g.count; i++) {
        joined = joined_ms(w, i);
        if (listens_on(w, i, s) == how && joined > newest)
            newest = joined;
    }
    return newest > SAME_MS && group_clock_ms() < newest + YOUNG_MS ? newest - SAME_MS : 0;
}

/* Chooses the worker for a new connection: one that serves the port, else one that keeps it open,
 * else this one, which rejects it. WORKERS_MAX: none; during a reload, or after a death, the peer
 * repeats its SYN until there is one. When workers come and go, the others keep what they have been
 * chosen for (rendezvous hashing). */
static uint32_t choose(const struct workers *w, const struct seen *s)
{
    unsigned how = NETIO_LISTEN_NOT;
    uint32_t best = w->g.number, i;
    uint64_t since, most = 0;

    for (i = 0; i < w->g.count; i++)
        if (listens_on(w, i, s) > how)
            how = listens_on(w, i, s);
    if (how == NETIO_LISTEN_NOT)
        return steer_is_first(s) && group_closed_lately(&w->g, s->ip6, s->port) ? WORKERS_MAX
                                                                                : best;
    since = oldest_choice(w, s, how);
    for (i = 0; i < w->g.count; i++) {
        uint64_t weight = ((s->hash ^ (i + 1) * 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u) | 1;

        weight ^= weight >> 32;
        if (listens_on(w, i, s) != how || joined_ms(w, i) < since || weight < most)
            continue;
        most = weight;
        best = i;
    }
    return best;
}

/* Returns the worker of an arrived segment. */
static uint32_t owner_of(struct workers *w, const struct seen *s)
{
    _Atomic uint64_t *entry = table_find(w->g.shm, s->hash, w->last_ns / NS_PER_S);
    uint32_t number;
    int ended;

    if (!entry)
        return choose(w, s);
    number = table_worker(entry);
    ended = table_is_closed(entry);
    if (s->flags & SEEN_RST)
        table_close(entry);
    /* the same addresses and ports again: TIME-WAIT may be there, but the listener elsewhere */
    if (ended && (s->flags & SEEN_SYN) && listens_on(w, number, s) != NETIO_LISTEN_SERVES)
        return choose(w, s);
    return number < w->g.count && lives(w, number) ? number : choose(w, s);
}

void steer_learn(struct workers *w, const uint8_t *data, uint32_t len, uint32_t number)
{
    _Atomic uint64_t *entry;
    struct seen s;

    workers_look(data, len, 1, w->g.shm->key, &s);
    if (s.kind != SEEN_FLOW)
        return;
    if (s.flags & SEEN_SYN) {
        table_learn(w->g.shm, s.hash, number, w->alive, w->last_ns / NS_PER_S);
        return;
    }
    /* only the owner's word counts: others reject what they do not know */
    entry = table_find(w->g.shm, s.hash, w->last_ns / NS_PER_S);
    if (entry && table_worker(entry) == number && (s.flags & (SEEN_FIN | SEEN_RST)))
        table_close(entry);
}

/* Copies a frame into a ring. Returns 0, or -1 when it is full. */
static int push(struct workers *w, uint32_t number, unsigned ring, const uint8_t *data,
                uint32_t len, uint32_t flags)
{
    struct workers_ring *r = workers_ring(w, number, ring);
    uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed);

    if (len > w->g.stride || head - atomic_load(&r->tail) >= WORKERS_RING)
        return -1;
    memcpy(group_frame(&w->g, number, ring, head), data, len);
    atomic_store_explicit(&r->slots[head % WORKERS_RING].len, len, memory_order_relaxed);
    atomic_store_explicit(&r->slots[head % WORKERS_RING].flags, flags, memory_order_relaxed);
    /* sequentially consistent, as is `sleeping`: the other one sees the frame, or we see it asleep
     */
    atomic_store(&r->head, head + 1);
    return 0;
}

static void hand(struct workers *w, uint32_t number, const struct netio_frame *f)
{
    if (push(w, number, WORKERS_RX, f->data, f->len, f->flags & NETIO_F_L4_CSUM_OK) == 0)
        w->pushed |= (uint64_t)1 << number;
    else
        w->n.stats.rx_dropped++;
}

int steer_frame(struct workers *w, const struct netio_frame *f)
{
    struct seen s;
    uint32_t number;

    workers_look(f->data, f->len, 0, w->g.shm->key, &s);
    switch (s.kind) {
    case SEEN_ALL:
        for (number = 0; number < w->g.count; number++)
            if (number != w->g.number && lives(w, number))
                hand(w, number, f);
        return 1;
    case SEEN_FLOW:
        number = owner_of(w, &s);
        if (number < w->g.count && number != w->g.number)
            hand(w, number, f);
        w->n.stats.rx_dropped += number >= w->g.count;
        return number == w->g.number;
    case SEEN_DROP:
        w->n.stats.rx_dropped++;
        return 0;
    default:
        return 1;
    }
}
