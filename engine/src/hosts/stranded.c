/* SPDX-License-Identifier: Apache-2.0 */
/* stranded.c - resets flows that wait for a process that can never accept (stranded.h). */
#include "stranded.h"
#include "record.h"

/* Returns whether only ancestors of the reporter have the listener, which have never accepted and
 * keep it open for others. Any other process could accept later, so flows may wait for it. */
static int is_stranded(const struct listen_group *g, const struct owner *reporter)
{
    uint32_t i;

    for (i = 0; i < g->count; i++) {
        const struct listen_member *m = g->members[i];

        if (!m->weak || m->served || !owner_is_child_of(reporter, &m->qp->owner.self))
            return 0;
    }
    return 1;
}

static void reset(struct slot *s)
{
    struct engine *e = s->qp->engine;

    engine_count(e, EC_stranded);
    listen_leave(s);
    toec_abort(e->stack, s->flow, e->now);
}

/* Resets flows of which no host was notified. */
static void reset_parked(const struct listen_group *g)
{
    struct slot *s;

    while ((s = g->parked.first)) {
        s->doomed = 1; /* nor is it notified of their end */
        reset(s);
    }
}

/* Resets flows that arrived before the member became WEAK, unless its process is just accepting
 * one. */
static void reset_announced(const struct listen_member *m)
{
    struct slot *s, *next;

    for (s = m->announced.first; s; s = next) {
        next = s->open_next;
        if (record_claim(s))
            reset(s);
    }
}

/* Resets the established flows of the listener. Its half-open flows follow as soon as they are
 * established. */
static void reset_waiting(const struct listen_group *g)
{
    uint32_t i;

    reset_parked(g);
    for (i = 0; i < g->count; i++)
        reset_announced(g->members[i]);
}

void stranded_note(struct engine *e, void *arg)
{
    struct stranded_report *r = arg;
    struct listen_group *g;

    for (g = e->groups; g; g = g->next) {
        if (g->port != r->port || !is_stranded(g, &r->owner))
            continue;
        r->found++;
        g->stranded = 1;
        reset_waiting(g);
    }
    toec_output(e->stack, e->now);
    e->idle_until = 0;
}
