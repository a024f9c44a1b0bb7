/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relieve.c - moves flows that no host has accepted to members of the listener that wait
 * (relieve.h).
 *
 * The host clears WEAK when its process waits for a connection, and sets it when the process has
 * accepted one. That is not exact: a process may go from poll() to a lock that another one holds
 * while it waits in accept(). So a flow that its host has left alone for STUCK_TIME moves too, if
 * another member waits. Only in groups that have or had WEAK members, whose processes share one
 * listener: sockets with SO_REUSEPORT have queues of their own on Linux too.
 */
#include "relieve.h"
#include "flow_move.h"
#include "listen.h"
#include "waiting.h"

/* A process that was woken for a connection mostly accepts it much earlier. */
#define STUCK_TIME (10 * NS_PER_MS)

void listen_relieve_later(struct listen_group *g)
{
    g->due = 1;
    g->engine->listen_due = 1;
}

static int waits(const struct listen_member *m)
{
    return !m->weak && !m->stuck && !m->announced.count;
}

static int has_room(const struct listen_member *m)
{
    return m->qp->free_count && !m->qp->leaving;
}

/* Returns the least busy member that waits. except: not this one; may be NULL. */
static struct listen_member *waiting_member(const struct listen_group *g,
                                            const struct listen_member *except)
{
    struct listen_member *best = NULL;
    uint32_t i;

    for (i = 0; i < g->count; i++) {
        struct listen_member *m = g->members[i];

        if (m != except && waits(m) && has_room(m) &&
            (!best || m->qp->free_count > best->qp->free_count))
            best = m;
    }
    return best;
}

/* Moves flows of which the host of m was notified. A flow that cannot move stays. */
static void move_announced(const struct listen_group *g, const struct listen_member *m)
{
    struct slot *s, *next;

    for (s = m->announced.first; s; s = next) {
        struct listen_member *to = waiting_member(g, m);

        next = s->open_next;
        if (!to)
            return;
        (void)flow_move(s, s->flow, listen_take(to));
    }
}

/* Notifies hosts that wait of parked flows, one each. The only member gets all: no other one could
 * take them. */
static void move_parked(const struct listen_group *g)
{
    struct slot *s, *next;

    for (s = g->parked.first; s; s = next) {
        struct listen_member *m = s->member, *to = m;

        next = s->open_next;
        if (g->count > 1 && !waits(m))
            to = waiting_member(g, NULL);
        if (!to || to->weak)
            return;
        if (to == m)
            waiting_announce(s);
        else
            (void)flow_move(s, s->flow, listen_take(to));
    }
}

/* Returns whether a flow is with a member that is to accept it, while another one waits. */
static int may_be_stuck(const struct listen_group *g)
{
    uint32_t i;

    for (i = 0; i < g->count; i++) {
        const struct listen_member *m = g->members[i];

        if (!m->weak && !m->stuck && m->announced.count && waiting_member(g, m))
            return 1;
    }
    return 0;
}

static void look_again(struct listen_group *g)
{
    struct engine *e = g->engine;
    uint32_t i;

    g->check_at = UINT64_MAX;
    if (!g->turns || !may_be_stuck(g))
        return;
    for (i = 0; i < g->count; i++) {
        struct listen_member *m = g->members[i];

        m->oldest = m->announced.first;
        m->generation = m->oldest ? m->oldest->generation : 0;
    }
    g->check_at = e->now + STUCK_TIME;
    if (g->check_at < e->listen_check)
        e->listen_check = g->check_at;
}

/* Marks members whose oldest flow is the same as STUCK_TIME ago. */
static void find_stuck(struct listen_group *g)
{
    uint32_t i;

    for (i = 0; i < g->count; i++) {
        struct listen_member *m = g->members[i];
        const struct slot *s = m->announced.first;

        if (s && s == m->oldest && s->generation == m->generation)
            m->stuck = m->qp->stuck = 1;
    }
}

void listen_relieve_group(struct listen_group *g)
{
    int checked = g->engine->now >= g->check_at;
    uint32_t i;

    g->due = 0;
    if (checked)
        find_stuck(g);
    for (i = 0; i < g->count; i++) {
        const struct listen_member *m = g->members[i];

        if ((m->weak || m->stuck) && m->announced.count)
            move_announced(g, m);
    }
    move_parked(g);
    if (checked || g->check_at == UINT64_MAX)
        look_again(g);
}

void listen_relieve(struct engine *e)
{
    struct listen_group *g;

    e->listen_due = 0;
    e->listen_check = UINT64_MAX;
    for (g = e->groups; g; g = g->next) {
        if (g->due || e->now >= g->check_at)
            listen_relieve_group(g);
        if (g->check_at < e->listen_check)
            e->listen_check = g->check_at;
    }
}

void listen_has_room(const struct qp *qp)
{
    const struct listen_member *m;

    for (m = qp->members; m; m = m->next)
        if (!m->weak && m->group->parked.count)
            listen_relieve_later(m->group);
}

void listen_heard(struct qp *qp)
{
    struct listen_member *m;

    if (!qp->stuck)
        return;
    qp->stuck = 0;
    for (m = qp->members; m; m = m->next) {
        if (m->stuck && m->group->count > 1)
            listen_relieve_later(m->group);
        m->stuck = 0;
    }
}
