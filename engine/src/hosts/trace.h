/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - a ring of the last events of each flow, for `toehold trace`: what toec_config.trace
 * reports, events of toec_port_event(), and the program's calls. Rings of ended flows are kept,
 * TRACE_ENDED of them, until newer flows need them; EC_trace_overwritten counts these.
 *
 * Successive SENDs and RECVs are one event each, as long as nothing else happens: a connection with
 * many requests still shows its last loss, and a request costs no event. Memory of events that were
 * never recorded is not touched.
 */
#ifndef ENGINE_TRACE_H
#define ENGINE_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "qp.h"

#define TRACE_EVENTS      64u /* of each flow */
#define TRACE_BLOCK       8u  /* events that are adjacent in memory */
#define TRACE_BLOCK_BYTES 128u
#define TRACE_KIND_BITS   8      /* of trace_event.at */
#define TRACE_OPEN        32768u /* open flows of an engine that have a ring; later ones have none */
#define TRACE_ENDED       1024u  /* ended flows of an engine whose events are kept */

/* Events beside enum toec_trace_kind. */
enum trace_event_kind {
    TRACE_CONNECT = TOEC_T_MAX, /* value: the peer's port */
    TRACE_SYN,                  /* the peer's SYN has arrived */
    TRACE_ESTABLISHED,
    TRACE_PEER_CLOSED, /* the peer's FIN has arrived */
    TRACE_ACCEPT,
    TRACE_SEND, /* seq: calls; value: bytes */
    TRACE_RECV, /* seq: calls; value: bytes read */
    TRACE_SHUTDOWN,
    TRACE_CLOSE,
    TRACE_ABORT,
    TRACE_MOVED,      /* to another listener, before it was accepted; value: its queue pair */
    TRACE_TAKEN_OVER, /* by a new toed; earlier events are lost. value: enum toec_state */
    TRACE_GONE,       /* value: enum toec_reason */
    TRACE_MAX
};

struct trace_event {
    uint64_t at; /* CLOCK_MONOTONIC in ns, times 256, plus the kind */
    uint32_t seq, value;
};
_Static_assert(sizeof(struct trace_event) == 16, "four in a cache line");

/* The host whose flows they are; it may be gone. */
struct trace_owner {
    uint32_t refs; /* rings, and the queue pair */
    uint32_t qp, uid;
    int pid;
    char name[sizeof(((struct qp *)0)->name)];
};

enum { TRACE_SENT, TRACE_READ };

/* A flow's ring with its first block; the others are apart (trace.c). */
struct trace_ring {
    union { /* memory of rings is aligned to pages, so that blocks are aligned to their size */
        struct {
            struct trace_event *next; /* where the next event goes */
            union {
                uint32_t n[2]; /* by TRACE_SENT and TRACE_READ */
                uint64_t any;
            } calls;                /* successive SENDs and RECVs that are not events yet, ... */
            uint64_t call_at[2];    /* ... the time of the last one, CLOCK_MONOTONIC in ns, ... */
            uint32_t call_bytes[2]; /* ... and what they add up to */
            uint32_t blocks;        /* full blocks of events so far */
            uint16_t named, ended;
            struct trace_ring *follow; /* in the list of free rings, or of ended ones */
            struct trace_owner *owner; /* NULL: never used */
            uint32_t serial;           /* flows so far that have used it */
            uint32_t slot;             /* of the queue pair */
            /* From the first flow record on (named). */
            uint8_t local[16], remote[16];
            uint16_t local_port, remote_port;
        };
        uint8_t lines[TRACE_BLOCK_BYTES];
    };
    struct trace_event first[TRACE_BLOCK]; /* block of events */
};
_Static_assert(sizeof(struct trace_ring) == 256 &&
                   TRACE_BLOCK * sizeof(struct trace_event) == TRACE_BLOCK_BYTES,
               "two cache lines and the first block");

/* The rings of an engine. */
struct traces {
    struct trace_ring *rings;
    struct trace_event *events; /* other blocks than the first of each ring */
    uint32_t total, fresh;      /* rings; those at and above fresh were never used */
    struct trace_ring *free;    /* list */
    struct trace_ring *ended_first, **ended_end; /* list, oldest first, and its end */
    uint32_t ended;                              /* its length */
    size_t size;
};

/* Makes rings for so many flows at once. NULL: no memory; the engine works without rings. */
struct traces *traces_new(uint32_t flows);
void traces_free(struct traces *t);

/* Prepares a queue pair. Returns 0, or -1: no memory. */
int trace_attach(struct qp *qp);
/* Of a queue pair that is no longer in use. */
void trace_detach(struct qp *qp);

/* Begins the ring of a slot's flow with this event. */
void trace_begin(struct slot *s, enum trace_event_kind what, uint32_t value);
/* Copies addresses and ports from the flow record, which the host may have changed: they are for
 * people only. */
void trace_name(struct slot *s);
/* ... and records that the flow is established. */
void trace_established(struct slot *s);
/* toec_config.trace; owner is the slot. */
void trace_core(void *owner, enum toec_trace_kind what, toec_u32 seq, toec_u32 value);
/* Passes the ring on with the flow. */
void trace_move(struct slot *to, struct slot *from);
/* Ends the ring of a flow that has ended; frees it if the flow has no name. */
void trace_end(struct slot *s, uint32_t reason);

/* For the inline functions: makes events of successive calls; continues in the next block. */
void trace_settle(const struct engine *e, struct trace_ring *r);
void trace_next_block(const struct traces *t, struct trace_ring *r);

static inline void trace_add(const struct engine *e, struct trace_ring *r, uint64_t at,
                             unsigned kind, uint32_t seq, uint32_t value)
{
    struct trace_event *x = r->next;

    x->at = at << TRACE_KIND_BITS | kind;
    x->seq = seq;
    x->value = value;
    r->next = x + 1;
    if (((uintptr_t)r->next & (TRACE_BLOCK_BYTES - 1)) == 0)
        trace_next_block(e->traces, r);
}

static inline void trace_put(struct slot *s, enum trace_event_kind what, uint32_t value)
{
    const struct engine *e = s->qp->engine;
    struct trace_ring *r = s->qp->traces[s->index];

    if (!r)
        return;
    if (r->calls.any)
        trace_settle(e, r);
    trace_add(e, r, e->now, what, 0, value);
}

static inline void trace_call(struct slot *s, unsigned which, uint32_t bytes)
{
    struct trace_ring *r = s->qp->traces[s->index];

    if (!r)
        return;
    r->calls.n[which]++;
    r->call_at[which] = s->qp->engine->now;
    r->call_bytes[which] += bytes;
}

/* Sets the numbers that name a slot's flow to people: its ring, and which flow of the ring it is.
 * serial 0: the flow has no ring. */
void trace_id(const struct slot *s, uint32_t *ring, uint32_t *serial);

/* Returns whether a flow of this name has existed; t may be NULL. */
int trace_known(const struct traces *t, uint32_t ring, uint32_t serial);
/* Returns the slot of a known flow. NULL: it has ended, or was never established. */
struct slot *trace_slot(const struct engine *e, uint32_t ring, uint32_t serial);

/* A copy of a ring with its events in order, the successive calls among them. */
struct trace_copy {
    struct trace_ring ring;
    struct trace_owner owner;
    uint32_t total; /* events so far, without successive calls */
    uint32_t lost;  /* those of them that were overwritten */
    uint32_t count; /* of events here */
    struct trace_event events[TRACE_EVENTS + 2u];
};
void trace_copy(const struct traces *t, uint32_t ring, struct trace_copy *out);
/* Returns the time of an event, given the time now. */
uint64_t trace_time(const struct trace_event *e, uint64_t now);
static inline unsigned trace_kind(const struct trace_event *e)
{
    return (unsigned)(e->at & 255u);
}

#endif
