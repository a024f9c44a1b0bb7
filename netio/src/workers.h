/* SPDX-License-Identifier: Apache-2.0 */
/* workers.h - one worker of an address: its role (workers_lead.c) and its frames (workers.c). */
#ifndef TOE_NETIO_WORKERS_H
#define TOE_NETIO_WORKERS_H

#include "pool.h"
#include "workers_group.h"

#define WORKERS_SPEC 512

struct workers {
    struct netio n;
    struct netio *inner; /* of the worker that steers: the interface; of others: a standby, or NULL
                          */
    struct group g;
    char spec[WORKERS_SPEC]; /* of inner */
    struct netio_config cfg; /* of inner */
    int steers;
    int set;             /* epoll set: n.fd */
    int steerer_fd;      /* pidfd of the worker that steers; -1: none */
    uint32_t steerer;    /* its pid; 0: none */
    uint64_t alive;      /* members that lived when it was last checked; a bit for each number */
    int closing;         /* some port has lost a listener lately */
    uint64_t last_ns;    /* time of the last call */
    uint64_t service_ns; /* when to check the group again */
    uint64_t pushed;     /* members to wake: frames were put into their rings */
    struct pool pool;    /* received frames of a worker that does not steer */
    int asleep, keep;    /* announced as sleeping; other threads sleep while this one polls */
    int blocked;         /* a ring or the interface was full: try again soon */
    uint8_t ip6[NETIO_IP6_MAX][16];
    unsigned ip6_count;
};

/* ---- workers_lead.c ---- */

/* Joins the group: as the worker that steers if there is none. Returns 0, or -1 with a sentence. */
int lead_join(struct workers *w, const struct netio_group *names, uint32_t count,
              const struct netio_err *err);
/* Checks who lives and who steers, every 10 ms; takes over if the worker that steered has ended. */
void lead_service(struct workers *w);
/* Before a sleep: returns whether lead_service() has something to do; it is due then. */
int lead_has_news(struct workers *w);
/* Returns when to call lead_service() without another reason. UINT64_MAX: never. */
uint64_t lead_deadline(const struct workers *w);

static inline struct workers_ring *workers_ring(const struct workers *w, uint32_t number,
                                                unsigned ring)
{
    return &group_part(&w->g, number)->rings[ring];
}

/* Returns the number of frames that wait in a ring. A false index counts as none. */
static inline uint32_t workers_waiting(struct workers_ring *r)
{
    uint32_t n = atomic_load(&r->head) - atomic_load_explicit(&r->tail, memory_order_relaxed);

    return n <= WORKERS_RING ? n : 0;
}

#endif
