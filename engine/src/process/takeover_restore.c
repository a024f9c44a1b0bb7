/* SPDX-License-Identifier: Apache-2.0 */
/*
 * takeover_restore.c - restores an engine from a saved one (takeover_save.c). The image comes from
 * a toed of root or of our own user, but values that would cause accesses outside of memory are
 * still refused.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/takeover_image.h"
#include "frames/offload.h"
#include "hosts/events.h"
#include "hosts/ip6.h"
#include "hosts/listen.h"
#include "hosts/opening.h"
#include "hosts/record.h"
#include "hosts/relieve.h"
#include "hosts/trace.h"
#include "hosts/waiting.h"
#include "round/engine.h"
#include "takeover_restore.h"
#include "takeover_tables.h"

#define DAMAGED "the image of an engine is damaged"

struct restoring {
    struct engine *e;
    struct takeover *t;
    struct toec_image_in in;
    struct qp *qp;          /* the queue pair of the following slots */
    struct listen_group *g; /* the group of the following members */
    uint32_t flows;         /* flows of slots, including half-open ones */
    uint32_t found;         /* ... of them found in the stack */
    struct takeover_tally *tally;
};

static int take(const struct restoring *r, const struct takeover_table *t, void *to)
{
    return toec_image_take(&r->in, t->row, t->count, to);
}

static struct qp *qp_of(const struct engine *e, uint32_t id)
{
    uint32_t i;

    for (i = 0; i < e->qp_count; i++)
        if (e->qps[i]->id == id)
            return e->qps[i];
    return NULL;
}

/* ---- queue pairs ---- */

static const char *qp_sound(const struct qp *qp)
{
    if (qp->fresh > qp->cfg.slots || qp->hw.head - qp->hw.tail > qp->cfg.hw_entries ||
        qp->leaving > qp->cfg.sw_entries)
        return "the image is damaged: a queue pair has more in it than there is room for";
    return NULL;
}

/* Restores a queue pair. Its memory and descriptors are checked as at attach. */
static const char *restore_qp(struct restoring *r)
{
    static char why[160];
    static struct qp is;
    uint32_t reason;
    struct qp_attach a;
    int doorbell = takeover_take_fd(r->t, toec_image_number(&r->in, TTAG_DOORBELL));

    memset(&is, 0, sizeof(is));
    if (take(r, &takeover_t_qp, &is) || doorbell < 0) {
        if (doorbell >= 0)
            close(doorbell);
        return DAMAGED;
    }
    is.name[sizeof(is.name) - 1] = 0;
    a = (struct qp_attach){.cfg = is.cfg,
                           .area_fd = takeover_take_fd(r->t, toec_image_number(&r->in, TTAG_AREA)),
                           .irq_fd = takeover_take_fd(r->t, toec_image_number(&r->in, TTAG_IRQ)),
                           .id = is.id,
                           .pid = is.pid,
                           .uid = is.uid,
                           .name = is.name,
                           .max_bytes = UINT64_MAX,
                           .again = 1};
    r->qp = qp_new(&a, &reason, why, sizeof(why));
    if (!r->qp) {
        close(doorbell);
        return why;
    }
    close(r->qp->doorbell_fd);
    r->qp->doorbell_fd = doorbell;
    if (engine_enlist(r->e, r->qp) != 0) {
        qp_free(r->qp);
        return "there is no room for as many queue pairs: give --max-qps as it was, or more";
    }
    (void)take(r, &takeover_t_qp, r->qp);
    r->qp->name[sizeof(r->qp->name) - 1] = 0;
    r->tally->qps++;
    if (r->e->cfg.common)
        common_begin(r->e->cfg.common, r->qp);
    return qp_sound(r->qp);
}

static void take_flags(struct slot *s, uint32_t flags)
{
    s->active = (flags & SAVED_ACTIVE) != 0;
    s->announced = (flags & SAVED_ANNOUNCED) != 0;
    s->accepted = (flags & SAVED_ACCEPTED) != 0;
    s->counted = (flags & SAVED_COUNTED) != 0;
    s->half_closed = (flags & SAVED_HALF) != 0;
    s->fast = (flags & SAVED_FAST) != 0;
    s->doomed = (flags & SAVED_DOOMED) != 0;
    s->current = (flags & SAVED_CURRENT) != 0;
}

/* Returns whether a slot in this state must have a flow: commands and events use it unchecked. The
 * flow of a half-open slot becomes known at the end of its handshake. */
static int needs_flow(uint32_t state, uint32_t flags)
{
    return state == SLOT_OPEN || state == SLOT_CLOSING ||
           (state == SLOT_OPENING && flags & (SAVED_ACTIVE | SAVED_FAST));
}

static int slot_sound(const struct restoring *r, const struct saved_slot *is)
{
    const struct qp *qp = r->qp;

    return qp && is->index < qp->fresh && is->state <= SLOT_GONE && !qp->slots[is->index].qp &&
           is->tx_used <= qp->cfg.tx_size && is->rx_reported <= qp->cfg.rx_size &&
           is->pending < 2 * PEND_FAILED && is->port < 2 * SHARED_IP6 &&
           !(is->flags & SAVED_FLOW) == !needs_flow(is->state, is->flags);
}

/* Restores a slot, except for its flow and member, which are restored later. */
static const char *restore_slot(struct restoring *r)
{
    struct saved_slot is;
    struct slot *s;

    if (take(r, &takeover_t_slot, &is) || !slot_sound(r, &is))
        return "the image is damaged: a slot is none of its queue pair";
    s = &r->qp->slots[is.index];
    s->qp = r->qp;
    s->index = is.index;
    s->state = (uint8_t)is.state;
    take_flags(s, is.flags);
    s->reason = (uint16_t)is.reason;
    s->soft_error = (uint16_t)is.soft_error;
    s->cookie = is.cookie;
    s->tx_used = is.tx_used;
    s->una = is.una;
    s->rx_reported = is.rx_reported;
    s->pend_data = is.pend_data;
    s->pend_acked = is.pend_acked;
    s->urgent_at = is.urgent_at;
    s->generation = is.generation;
    s->record_seq = is.record_seq;
    if (r->qp->ports)
        r->qp->ports[is.index] = is.port;
    if (is.flags & SAVED_CONNECTING)
        opening_add(s);
    if (is.pending)
        event_pend(s, is.pending);
    if (is.flags & SAVED_ABORT) {
        s->abort_queued = 1;
        s->abort_next = r->e->abort_first;
        r->e->abort_first = s;
    }
    if (is.flags & SAVED_MEMBER)
        s->dirty_at = (uint64_t)is.member + 1; /* member id + 1 until link_slots() */
    r->flows += is.state == SLOT_OPENING || is.flags & SAVED_FLOW;
    return NULL;
}

/* Builds the list of free slots, and links slots to their listeners. */
static const char *link_slots(struct qp *qp)
{
    uint32_t i, n = 0;

    for (i = 0; i < qp->fresh; i++) {
        struct slot *s = &qp->slots[i];
        uint64_t member = s->dirty_at;

        if (!s->qp)
            return "the image is damaged: a slot is missing";
        s->dirty_at = 0;
        if (s->state == SLOT_FREE)
            qp->free_slots[n++] = i;
        if (!member)
            continue;
        s->member = listen_member_of(qp, (uint32_t)(member - 1));
        if (!s->member)
            return "the image is damaged: a flow has a listener that is not there";
        s->member->flows++;
        if (s->counted)
            waiting_add(s);
    }
    qp->free_count = n + qp->cfg.slots - qp->fresh;
    return NULL;
}

/* ---- listeners ---- */

static const char *restore_group(struct restoring *r)
{
    struct saved_group is;

    if (take(r, &takeover_t_group, &is) || is.port > UINT16_MAX)
        return DAMAGED;
    r->g = listen_restore_group(r->e, is.addr, (int)is.v6only, (uint16_t)is.port, is.core_id);
    r->tally->listeners++;
    return r->g ? NULL : "no memory for the listeners";
}

static const char *restore_member(struct restoring *r)
{
    struct saved_member is;
    struct listen_member *m;
    const uint8_t *keys;
    unsigned n = 0;
    struct qp *qp;
    uint64_t held;

    if (take(r, &takeover_t_member, &is) || !r->g)
        return DAMAGED;
    qp = qp_of(r->e, is.qp);
    if (!qp)
        return "the image is damaged: a listener is of a queue pair that is not there";
    m = listen_restore_member(r->g, qp);
    if (!m)
        return "no memory for the listeners";
    m->id = is.id;
    m->backlog = is.backlog;
    m->weak = is.weak != 0;
    m->group->turns |= m->weak;
    listen_relieve_later(m->group);
    m->held.kept[0] = takeover_take_fd(r->t, toec_image_number(&r->in, TTAG_KEPT));
    m->held.kept[1] = takeover_take_fd(r->t, toec_image_number(&r->in, TTAG_KEPT6));
    held = toec_image_number(&r->in, TTAG_HELD);
    m->held.has[0] = held == 0 || (held & 1);
    m->held.has[1] = (held & 2) != 0;
    keys = toec_image_find(&r->in, TTAG_KEYS, &n);
    if (keys && n <= sizeof(m->keys)) {
        memcpy(m->keys, keys, n);
        m->key_bytes = n;
    }
    return NULL;
}

/* ---- the engine ---- */

static void restore_counter(struct restoring *r)
{
#define X(name, description) #name,
    static const char *const names[] = {ENGINE_COUNTERS(X)};
#undef X
    unsigned n, i;
    const uint8_t *name = toec_image_find(&r->in, TTAG_NAME, &n);

    for (i = 0; name && i < EC_MAX; i++)
        if (strlen(names[i]) == n && memcmp(names[i], name, n) == 0)
            r->e->counters[i] = toec_image_number(&r->in, TTAG_VALUE);
}

static const char *restore_record(struct restoring *r)
{
    switch (r->in.type) {
    case TREC_ENGINE:
        r->e->orders = (int)toec_image_number(&r->in, TTAG_ORDERS);
        offload_set(r->e, (uint32_t)toec_image_number(&r->in, TTAG_OFFLOAD));
        return NULL;
    case TREC_COUNTER:
        restore_counter(r);
        return NULL;
    case TREC_QP:
        return restore_qp(r);
    case TREC_SLOT:
        return restore_slot(r);
    case TREC_GROUP:
        return restore_group(r);
    case TREC_MEMBER:
        return restore_member(r);
    default:
        return NULL; /* a counter of a later release */
    }
}

static int take_flow(void *arg, toec_u64 name, struct toec_tcb *flow, const struct toec_open *info,
                     struct toec_buffers *out)
{
    struct restoring *r = arg;
    uint32_t id = (uint32_t)(name >> 32), index = (uint32_t)name;
    struct slot *s;

    (void)info;
    if (!r->qp || r->qp->id != id)
        r->qp = qp_of(r->e, id);
    if (!r->qp || index >= r->qp->fresh)
        return -1;
    s = &r->qp->slots[index];
    if (s->state == SLOT_FREE || s->state == SLOT_GONE || s->flow)
        return -1;
    s->flow = flow; /* for a half-open slot only while restoring, to detect a second flow */
    r->found++;
    out->owner = s;
    out->tx_size = r->qp->cfg.tx_size;
    out->rx_size = r->qp->cfg.rx_size;
    r->tally->flows++;
    return 0;
}

static int take_listener(void *arg, toec_u64 name, toec_u32 id, const struct toec_addr *addr,
                         toec_u16 port, void **owner)
{
    const struct restoring *r = arg;
    struct listen_group *g = r->e->groups;

    (void)addr;
    while (g && (g->core_id != id || g->port != port))
        g = g->next;
    *owner = g;
    return g && name == id ? 0 : -1;
}

static const char *restore_core(struct restoring *r)
{
    const struct toec_restorer by = {.arg = r, .flow = take_flow, .listener = take_listener};
    size_t n = 0;
    const uint8_t *core = takeover_find(r->t, SECTION_CORE, r->e->cfg.id, &n);
    const char *wrong;

    if (!core)
        return "the image has no stack of this engine";
    r->qp = NULL;
    r->e->now = engine_clock();
    wrong = toec_restore(r->e->stack, core, n, &by, r->e->now);
    if (!wrong && r->found != r->flows)
        wrong = "the image is damaged: a slot has lost its flow";
    return wrong;
}

/* Marks the flow record to be refreshed, as if the flow had just changed. */
static void touch_record(struct slot *s)
{
    if (s->flow) {
        struct toec_info info;

        toec_flow_info(s->qp->engine->stack, s->flow, &info);
        trace_begin(s, TRACE_TAKEN_OVER, info.state);
        record_write(s);
        trace_name(s);
    }
    if (s->state == SLOT_OPENING && !s->active && !s->fast)
        s->flow = NULL;
    if (s->flow)
        record_touch(s);
}

static void touch_records(struct engine *e)
{
    uint32_t i, j;

    for (i = 0; i < e->qp_count; i++)
        for (j = 0; j < e->qps[i]->fresh; j++)
            touch_record(&e->qps[i]->slots[j]);
}

const char *takeover_restore_engine(struct engine *e, struct takeover *t,
                                    struct takeover_tally *tally)
{
    struct restoring r = {.e = e, .t = t, .tally = tally};
    size_t n = 0;
    const uint8_t *p = takeover_find(t, SECTION_ENGINE, e->cfg.id, &n);
    const char *wrong = NULL;
    uint32_t i;
    int got;

    if (!p)
        return "the image has no such engine";
    toec_image_open(&r.in, p, n);
    while (!wrong && (got = toec_image_next(&r.in)) != 0)
        wrong = got < 0 ? DAMAGED : restore_record(&r);
    for (i = 0; !wrong && i < e->qp_count; i++)
        wrong = link_slots(e->qps[i]);
    if (!wrong)
        wrong = restore_core(&r);
    if (wrong)
        return wrong;
    touch_records(e);
    for (i = 0; i < e->qp_count; i++) {
        e->qps[i]->status->orders = (uint32_t)e->orders;
        e->qps[i]->status->timed = 0;
    }
    e->ip6_epoch = toec_own_epoch(e->stack) - 1;
    ip6_update(e);
    e->core_deadline = e->now;
    return NULL;
}
