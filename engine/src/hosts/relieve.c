/* SPDX-License-Identifier: Apache-2.0 */
/* relieve.c - moves flows from WEAK members of a listener to members that wait (relieve.h). */
#include "relieve.h"
#include "flow_move.h"
#include "listen.h"

void listen_relieve_later(struct listen_group *g)
{
    g->due = 1;
    g->engine->listen_due = 1;
}

/* Returns the least busy member that is not WEAK and has no flow to accept. */
static struct listen_member *waiting_member(const struct listen_group *g)
{
    struct listen_member *best = NULL;
    uint32_t i;

    for (i = 0; i < g->count; i++) {
        struct listen_member *m = g->members[i];

        if (!m->weak && !m->flows && m->qp->free_count &&
            (!best || m->qp->free_count > best->qp->free_count))
            best = m;
    }
    return best;
}

/* Moves flows that a WEAK member has not accepted to members that wait for one. A flow that cannot
 * move stays. */
static void relieve_member(const struct listen_group *g, const struct listen_member *m)
{
    struct qp *qp = m->qp;
    uint32_t i, left = m->flows;

    for (i = 0; left && i < qp->fresh; i++) {
        struct slot *s = &qp->slots[i];
        struct listen_member *to;

        if (s->member != m)
            continue;
        left--;
        if (!s->flow || s->state != SLOT_OPEN)
            continue;
        to = waiting_member(g);
        if (!to)
            return;
        (void)flow_move(s, s->flow, listen_take(to));
    }
}

/* Does what listen_relieve_later() noted for a group. A WEAK member whose commands wait is left for
 * the next round: one of them may be the ACCEPT of a flow. */
static void relieve(struct listen_group *g)
{
    uint32_t i;

    g->due = 0;
    for (i = 0; i < g->count; i++) {
        const struct listen_member *m = g->members[i];

        if (!m->weak || !m->flows)
            continue;
        if (!m->qp->notify && toe_ring_waiting(&m->qp->sw, &m->qp->doorbells->sw_head) != 0)
            listen_relieve_later(g);
        else
            relieve_member(g, m);
    }
}

void listen_relieve(struct engine *e)
{
    struct listen_group *g;

    e->listen_due = 0;
    for (g = e->groups; g; g = g->next)
        if (g->due)
            relieve(g);
}
