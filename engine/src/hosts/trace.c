/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.c - rings of flows' events (trace.h).
 *
 * A ring has its first block of events; the second blocks of all rings are an array, the third ones
 * are the next, and so on. A flow with few events touches only its ring.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "exchange.h"
#include "record.h"
#include "trace.h"

#define BLOCKS (TRACE_EVENTS / TRACE_BLOCK)

/* ---- memory ---- */

struct traces *traces_new(uint32_t flows)
{
    struct traces *t = lines_calloc(1, sizeof(*t));
    size_t events;
    uint8_t *p;

    if (!t)
        return NULL;
    t->total = (flows < TRACE_OPEN ? flows : TRACE_OPEN) + TRACE_ENDED;
    events = (size_t)t->total * (BLOCKS - 1) * TRACE_BLOCK_BYTES;
    t->size = events + t->total * sizeof(struct trace_ring);
    p = mmap(NULL, t->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
             0);
    if (p == MAP_FAILED) {
        free(t);
        return NULL;
    }
    t->ended_end = &t->ended_first;
    t->rings = (void *)p;
    t->events = (void *)(p + t->size - events);
    return t;
}

static void drop_owner(struct trace_owner *o)
{
    if (o && --o->refs == 0)
        free(o);
}

void traces_free(struct traces *t)
{
    uint32_t i;

    if (!t)
        return;
    for (i = 0; i < t->fresh; i++)
        drop_owner(t->rings[i].owner);
    munmap(t->rings, t->size);
    free(t);
}

int trace_attach(struct qp *qp)
{
    struct trace_owner *o = calloc(1, sizeof(*o));

    if (!o)
        return -1;
    o->refs = 1;
    o->qp = qp->id;
    o->uid = qp->uid;
    o->pid = qp->pid;
    memcpy(o->name, qp->name, sizeof(o->name));
    qp->trace_owner = o;
    return 0;
}

void trace_detach(struct qp *qp)
{
    drop_owner(qp->trace_owner);
    qp->trace_owner = NULL;
}

/* Returns block n, modulo their number, of a ring. */
static struct trace_event *block_of(const struct traces *t, struct trace_ring *r, uint32_t n)
{
    size_t other = n % BLOCKS;

    if (other == 0)
        return r->first;
    return &t->events[((other - 1) * t->total + (size_t)(r - t->rings)) * TRACE_BLOCK];
}

static struct trace_ring *oldest_ended(struct traces *t)
{
    struct trace_ring *r = t->ended_first;

    t->ended_first = r->follow;
    if (--t->ended == 0)
        t->ended_end = &t->ended_first;
    return r;
}

/* Returns NULL when as many other flows as there are rings are open. */
static struct trace_ring *take_ring(struct engine *e)
{
    struct traces *t = e->traces;
    struct trace_ring *r = t->free;

    if (t->ended < TRACE_ENDED && r) {
        t->free = r->follow;
        return r;
    }
    if (t->ended < TRACE_ENDED && t->fresh < t->total)
        return &t->rings[t->fresh++];
    if (!t->ended) {
        engine_count(e, EC_trace_none);
        return NULL;
    }
    engine_count(e, EC_trace_overwritten);
    return oldest_ended(t);
}

/* ---- events ---- */

void trace_next_block(const struct traces *t, struct trace_ring *r)
{
    r->blocks++;
    r->next = block_of(t, r, r->blocks);
}

static void settle_one(const struct engine *e, struct trace_ring *r, unsigned which)
{
    if (r->calls.n[which])
        trace_add(e, r, r->call_at[which], which == TRACE_SENT ? TRACE_SEND : TRACE_RECV,
                  r->calls.n[which], r->call_bytes[which]);
    r->calls.n[which] = r->call_bytes[which] = 0;
}

/* In the order of the last of each. */
void trace_settle(const struct engine *e, struct trace_ring *r)
{
    unsigned first = r->call_at[TRACE_SENT] <= r->call_at[TRACE_READ] ? TRACE_SENT : TRACE_READ;

    settle_one(e, r, first);
    settle_one(e, r, !first);
}

/* Joins an event to the one before, if that is in the same block: a retransmission that continues
 * it, or a repeated one. Returns whether it did. */
static int join(const struct trace_ring *r, unsigned kind, uint32_t seq, uint32_t value)
{
    struct trace_event *last = r->next - 1;

    if (((uintptr_t)r->next & (TRACE_BLOCK_BYTES - 1)) == 0 || trace_kind(last) != kind)
        return 0;
    if (kind == TOEC_T_OWN_WINDOW)
        return last->seq == seq;
    if (last->seq + last->value != seq)
        return 0;
    last->value += value;
    return 1;
}

/* Records an event after successive calls, or one that may be joined: apart, so that the usual case
 * needs no stack. */
static __attribute__((noinline)) void core_rarely(const struct engine *e, struct trace_ring *r,
                                                  enum toec_trace_kind what, uint32_t seq,
                                                  uint32_t value)
{
    if (r->calls.any)
        trace_settle(e, r);
    else if (what <= TOEC_T_OWN_WINDOW && join(r, what, seq, value))
        return;
    trace_add(e, r, e->now, what, seq, value);
}

void trace_core(void *owner, enum toec_trace_kind what, toec_u32 seq, toec_u32 value)
{
    struct slot *s = owner;
    const struct engine *e = s->qp->engine;
    struct trace_ring *r = s->qp->traces[s->index];

    record_touch(
        s); /* no event of core/ reports that FIN is acknowledged, or that a timer expired */
    if (!r)
        return;
    if (r->calls.any || what <= TOEC_T_OWN_WINDOW)
        core_rarely(e, r, what, seq, value);
    else
        trace_add(e, r, e->now, what, seq, value);
}

/* ---- the life of a ring ---- */

static __attribute__((noinline)) void change_owner(struct trace_ring *r, struct trace_owner *o)
{
    drop_owner(r->owner);
    r->owner = o;
    o->refs++;
}

static inline void set_owner(struct trace_ring *r, const struct slot *s)
{
    struct trace_owner *o = s->qp->trace_owner;

    r->slot = s->index;
    if (!r->owner) {
        r->owner = o;
        o->refs++;
    } else if (r->owner != o) {
        change_owner(r, o);
    }
}

void trace_begin(struct slot *s, enum trace_event_kind what, uint32_t value)
{
    struct engine *e = s->qp->engine;
    struct traces *t = e->traces;
    struct trace_event *x;
    struct trace_ring *r;

    if (!t)
        return;
    r = take_ring(e);
    if (!r)
        return;
    x = r->first;
    x->at = e->now << TRACE_KIND_BITS | what;
    x->seq = 0;
    x->value = value;
    r->next = x + 1;
    r->blocks = 0; /* the calls are 0: trace_end() has settled them */
    r->named = r->ended = 0;
    r->serial++;
    s->qp->traces[s->index] = r;
    set_owner(r, s);
}

static inline void set_name(struct trace_ring *r, const struct slot *s)
{
    const struct toedev_flow_record *f = record_of(s);

    r->named = 1;
    memcpy(r->local, f->local, sizeof(r->local));
    memcpy(r->remote, f->remote, sizeof(r->remote));
    r->local_port = f->local_port;
    r->remote_port = f->remote_port;
}

void trace_name(struct slot *s)
{
    struct trace_ring *r = s->qp->traces[s->index];

    if (r)
        set_name(r, s);
}

void trace_established(struct slot *s)
{
    const struct engine *e = s->qp->engine;
    struct trace_ring *r = s->qp->traces[s->index];

    if (!r)
        return;
    set_name(r, s);
    trace_add(e, r, e->now, TRACE_ESTABLISHED, 0, 0);
}

void trace_move(struct slot *to, struct slot *from)
{
    struct trace_ring *r = from->qp->traces[from->index];

    if (from == from->qp->engine->timed)
        exchange_end(from->qp->engine);
    from->qp->traces[from->index] = NULL;
    to->qp->traces[to->index] = r;
    if (!r)
        return;
    set_owner(r, to);
    trace_put(to, TRACE_MOVED, to->qp->id);
}

/* Apart, so that the usual end needs no stack. */
static __attribute__((noinline)) void settled_end(struct slot *s, uint32_t reason)
{
    trace_settle(s->qp->engine, s->qp->traces[s->index]);
    trace_end(s, reason);
}

void trace_end(struct slot *s, uint32_t reason)
{
    struct engine *e = s->qp->engine;
    struct traces *t = e->traces;
    struct trace_ring *r = s->qp->traces[s->index];

    if (!r)
        return;
    if (__builtin_expect(s == e->timed, 0))
        exchange_end(e);
    if (r->calls.any) {
        settled_end(s, reason);
        return;
    }
    s->qp->traces[s->index] = NULL;
    if (!r->named) {
        r->follow = t->free;
        t->free = r;
        return;
    }
    r->ended = 1;
    t->ended++;
    *t->ended_end = r;
    t->ended_end = &r->follow;
    trace_add(e, r, e->now, TRACE_GONE, 0, reason);
}

/* ---- for readers ---- */

void trace_id(const struct slot *s, uint32_t *ring, uint32_t *serial)
{
    const struct trace_ring *r = s->qp->traces[s->index];

    *ring = r ? (uint32_t)(r - s->qp->engine->traces->rings) : 0;
    *serial = r ? r->serial : 0;
}

int trace_known(const struct traces *t, uint32_t ring, uint32_t serial)
{
    return t && ring < t->fresh && serial != 0 && serial <= t->rings[ring].serial;
}

struct slot *trace_slot(const struct engine *e, uint32_t ring, uint32_t serial)
{
    const struct trace_ring *r = &e->traces->rings[ring];
    uint32_t i;

    if (r->serial != serial || !r->named || r->ended)
        return NULL;
    for (i = 0; i < e->qp_count; i++) {
        const struct qp *qp = e->qps[i];

        if (qp->id == r->owner->qp && r->slot < qp->fresh && qp->traces[r->slot] == r)
            return &qp->slots[r->slot];
    }
    return NULL;
}

static void copy_calls(struct trace_copy *out, unsigned which)
{
    const struct trace_ring *r = &out->ring;
    unsigned kind = which == TRACE_SENT ? TRACE_SEND : TRACE_RECV;

    if (r->calls.n[which])
        out->events[out->count++] = (struct trace_event){
            r->call_at[which] << TRACE_KIND_BITS | kind, r->calls.n[which], r->call_bytes[which]};
}

void trace_copy(const struct traces *t, uint32_t ring, struct trace_copy *out)
{
    struct trace_ring *r = &t->rings[ring];
    uint32_t in_block = (uint32_t)(r->next - block_of(t, r, r->blocks)), i;
    unsigned first = r->call_at[TRACE_SENT] <= r->call_at[TRACE_READ] ? TRACE_SENT : TRACE_READ;

    out->ring = *r;
    out->owner = *r->owner;
    out->total = r->blocks * TRACE_BLOCK + in_block;
    out->lost = out->total < TRACE_EVENTS ? 0 : out->total - TRACE_EVENTS;
    out->count = 0;
    for (i = out->lost; i != out->total; i++)
        out->events[out->count++] = block_of(t, r, i / TRACE_BLOCK)[i % TRACE_BLOCK];
    copy_calls(out, first);
    copy_calls(out, !first);
}

uint64_t trace_time(const struct trace_event *e, uint64_t now)
{
    uint64_t mask = UINT64_MAX >> TRACE_KIND_BITS;

    return now - ((now - (e->at >> TRACE_KIND_BITS)) & mask);
}
