/* SPDX-License-Identifier: Apache-2.0 */
/* takeover_save.c - saves an engine: its queue pairs, their slots, its listeners, its stack.
 * Payload is not copied: it is in memory that hosts and both processes share. */
#include <string.h>

#include "base/clock.h"
#include "base/takeover_image.h"
#include "hosts/listen.h"
#include "takeover_save.h"
#include "takeover_tables.h"

static void fields(struct toec_image_out *o, const struct takeover_table *t, const void *from)
{
    toec_image_fields(o, t->row, t->count, from);
}

static uint32_t flags_of(const struct slot *s)
{
    return (s->flow ? SAVED_FLOW : 0) | (s->active && s->open_prev ? SAVED_CONNECTING : 0) |
           (s->active ? SAVED_ACTIVE : 0) | (s->announced ? SAVED_ANNOUNCED : 0) |
           (s->accepted ? SAVED_ACCEPTED : 0) | (s->counted ? SAVED_COUNTED : 0) |
           (s->half_closed ? SAVED_HALF : 0) | (s->fast ? SAVED_FAST : 0) |
           (s->doomed ? SAVED_DOOMED : 0) | (s->abort_queued ? SAVED_ABORT : 0) |
           (s->member ? SAVED_MEMBER : 0) | (s->current ? SAVED_CURRENT : 0);
}

static void save_slot(struct toec_image_out *o, const struct slot *s)
{
    const struct saved_slot saved = {
        .index = s->index,
        .state = s->state,
        .pending = s->state == SLOT_FREE ? 0 : s->pending,
        .flags = s->state == SLOT_FREE ? 0 : flags_of(s),
        .reason = s->reason,
        .soft_error = s->soft_error,
        .cookie = s->cookie,
        .tx_used = s->tx_used,
        .una = s->una,
        .rx_reported = s->rx_reported,
        .pend_data = s->pend_data,
        .pend_acked = s->pend_acked,
        .urgent_at = s->urgent_at,
        .generation = s->generation,
        .record_seq = s->record_seq,
        .member = s->member ? s->member->id : 0,
        .port = s->qp->ports ? s->qp->ports[s->index] : 0,
    };

    toec_image_begin(o, TREC_SLOT);
    fields(o, &takeover_t_slot, &saved);
    toec_image_end(o);
}

static void save_qp(struct toec_image_out *o, struct takeover *t, const struct qp *qp)
{
    uint32_t i;

    toec_image_begin(o, TREC_QP);
    fields(o, &takeover_t_qp, qp);
    toec_image_int(o, TTAG_AREA, takeover_fd(t, qp->area_fd));
    toec_image_int(o, TTAG_IRQ, takeover_fd(t, qp->irq_fd));
    toec_image_int(o, TTAG_DOORBELL, takeover_fd(t, qp->doorbell_fd));
    toec_image_end(o);
    for (i = 0; i < qp->fresh; i++)
        save_slot(o, &qp->slots[i]);
}

static void save_member(struct toec_image_out *o, struct takeover *t, const struct listen_member *m)
{
    const struct saved_member saved = {
        .qp = m->qp->id, .id = m->id, .backlog = m->backlog, .weak = m->weak != 0};

    toec_image_begin(o, TREC_MEMBER);
    fields(o, &takeover_t_member, &saved);
    toec_image_bytes(o, TTAG_KEYS, m->keys, m->key_bytes);
    toec_image_int(o, TTAG_KEPT, takeover_fd(t, m->held.kept[0]));
    toec_image_int(o, TTAG_KEPT6, takeover_fd(t, m->held.kept[1]));
    toec_image_int(o, TTAG_HELD, (toec_u64)(m->held.has[0] | m->held.has[1] << 1));
    toec_image_end(o);
}

static void save_group(struct toec_image_out *o, struct takeover *t, const struct listen_group *g)
{
    struct saved_group saved = {.v6only = g->v6only != 0, .port = g->port, .core_id = g->core_id};
    uint32_t i;

    memcpy(saved.addr, &g->addr, sizeof(saved.addr));
    toec_image_begin(o, TREC_GROUP);
    fields(o, &takeover_t_group, &saved);
    toec_image_end(o);
    for (i = 0; i < g->count; i++)
        save_member(o, t, g->members[i]);
}

static void save_counters(struct toec_image_out *o, struct engine *e)
{
#define X(name, description) #name,
    static const char *const names[] = {ENGINE_COUNTERS(X)};
#undef X
    unsigned i;

    common_tally(e);
    for (i = 0; i < EC_MAX; i++) {
        toec_image_begin(o, TREC_COUNTER);
        toec_image_bytes(o, TTAG_NAME, names[i], (unsigned)strlen(names[i]));
        toec_image_int(o, TTAG_VALUE, e->counters[i]);
        toec_image_end(o);
    }
}

/* Names an owner in the image. A flow's owner is slot `index` of queue pair `id`; a listener's
 * owner is the group with its handle. */
static void name_of(void *arg, void *owner, int listener, toec_u64 *out)
{
    const struct slot *s = owner;

    (void)arg;
    if (listener)
        *out = ((const struct listen_group *)owner)->core_id;
    else
        *out = (uint64_t)s->qp->id << 32 | s->index;
}

int takeover_save_engine(struct engine *e, struct takeover *t)
{
    const struct toec_saver to = {.arg = t, .put = takeover_put, .name = name_of};
    const struct listen_group *g;
    struct toec_image_out o;
    uint32_t i;

    takeover_section(t, SECTION_ENGINE, e->cfg.id);
    toec_image_start(&o, takeover_put, t);
    toec_image_begin(&o, TREC_ENGINE);
    toec_image_int(&o, TTAG_ORDERS, (uint64_t)(e->orders != 0));
    toec_image_int(&o, TTAG_OFFLOAD, e->offload.wanted);
    toec_image_end(&o);
    save_counters(&o, e);
    for (i = 0; i < e->qp_count; i++)
        save_qp(&o, t, e->qps[i]);
    for (g = e->groups; g; g = g->next)
        save_group(&o, t, g);
    takeover_section_end(t);
    takeover_section(t, SECTION_CORE, e->cfg.id);
    if (toec_save(e->stack, &to, engine_clock()) != 0)
        t->failed = 1;
    takeover_section_end(t);
    return t->failed || o.failed ? -1 : 0;
}
