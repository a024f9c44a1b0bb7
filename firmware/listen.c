/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen.c - listeners (toe.h): a group for each address and port, whose members share new
 * connections (docs/device-contract.md, LISTEN). While all members of a group are WEAK, a SYN is
 * dropped: its peer repeats it.
 */
#include <stddef.h>

#include <toe/cmd.h>

#include "toe.h"

static int same(const struct toec_addr *a, const struct toec_addr *b)
{
    unsigned i;

    for (i = 0; i < sizeof(a->b); i++)
        if (a->b[i] != b->b[i])
            return 0;
    return 1;
}

static struct member *find(uint8_t qp, uint32_t id)
{
    unsigned i;

    for (i = 0; i < MEMBERS; i++) {
        struct member *m = &toe.members[i];

        if (m->in_use && m->qp == qp && m->id == id)
            return m;
    }
    return 0;
}

static struct member *unused_member(void)
{
    unsigned i;

    for (i = 0; i < MEMBERS; i++)
        if (!toe.members[i].in_use)
            return &toe.members[i];
    return 0;
}

/* Returns the group for this address and port, or one that is unused; 0: there is none. */
static struct group *group_for(const struct toec_addr *addr, uint16_t port, int v6only)
{
    struct group *unused = 0;
    unsigned i;

    for (i = 0; i < GROUPS; i++) {
        struct group *g = &toe.groups[i];

        if (g->count == 0)
            unused = g;
        else if (g->port == port && g->v6only == v6only && same(&g->addr, addr))
            return g;
    }
    return unused;
}

int listen_add(const struct host_command *c, const struct toec_addr *addr)
{
    int v6only = !!(c->flags & TOE_F_LISTEN_V6ONLY), weak = !!(c->flags & TOE_F_LISTEN_WEAK);
    struct member *m = find(c->qp, c->flow);
    struct group *g = group_for(addr, c->aux, v6only);
    int rc;

    if (m) { /* changes backlog and WEAK, for the same address and port */
        if (!g || g->count == 0 || &toe.groups[m->group] != g)
            return TOE_R_ADDRINUSE;
        m->backlog = c->arg1;
        m->weak = (uint8_t)weak;
        return 0;
    }
    m = unused_member();
    if (!m || !g)
        return TOE_R_NOBUFS;
    if (g->count == 0) {
        rc = toec_listen(toe.stack, addr, c->aux, g, FLOWS / 4 | (v6only ? TOEC_LISTEN_V6ONLY : 0),
                         &g->core_id);
        if (rc < 0)
            return -rc;
        g->addr = *addr;
        g->port = c->aux;
        g->v6only = (uint8_t)v6only;
    }
    g->count++;
    m->in_use = 1;
    m->qp = c->qp;
    m->group = (uint8_t)(g - toe.groups);
    m->weak = (uint8_t)weak;
    m->id = c->flow;
    m->backlog = c->arg1;
    m->waiting = 0;
    toe.qps[c->qp].listeners++;
    manager_usage(c->qp);
    return 0;
}

/* Resets the connections of a listener that are not accepted. The host has not got those that are
 * half-open; the others end with a notification. */
static void reset_unaccepted(const struct member *m)
{
    unsigned i;

    for (i = 0; i < AGENTS; i++) {
        struct agent *a = &toe.agents[i];

        if (a->state == AGENT_FREE || a->member != m)
            continue;
        listen_leave(a);
        if (a->flow)
            toec_abort(toe.stack, a->flow, toe.now);
        else if (a->state == AGENT_OPENING)
            agent_orphan(a);
    }
}

static void remove_member(struct member *m)
{
    struct group *g = &toe.groups[m->group];

    g->count--;
    if (g->count == 0)
        toec_unlisten(toe.stack, g->core_id); /* drops what is half-open */
    reset_unaccepted(m);
    m->in_use = 0;
    toe.qps[m->qp].listeners--;
    manager_usage(m->qp);
}

int listen_remove(uint8_t qp, uint32_t id)
{
    struct member *m = find(qp, id);

    if (!m)
        return TOE_R_NOENT;
    remove_member(m);
    return 0;
}

void listen_remove_all(uint8_t qp)
{
    unsigned i;

    for (i = 0; i < MEMBERS; i++)
        if (toe.members[i].in_use && toe.members[i].qp == qp)
            remove_member(&toe.members[i]);
}

int listen_option(const struct host_command *c)
{
    struct member *m = find(c->qp, c->flow);

    if (!m)
        return TOE_R_NOENT;
    switch (c->aux) {
    case TOE_OPT_MTU_DISCOVER:
    case TOE_OPT_MAXSEG:
    case TOE_OPT_TOS:
    case TOE_OPT_ECN:
    case TOE_OPT_DEFER_ACCEPT:
    case TOE_OPT_REUSE:
        return toec_listen_option(toe.stack, toe.groups[m->group].core_id, (enum toec_option)c->aux,
                                  c->arg0) < 0
                   ? TOE_R_NOPROTOOPT
                   : 0;
    default:
        return TOE_R_NOPROTOOPT;
    }
}

/* Of the members that are not WEAK and have room, the one whose queue pair has the fewest flows;
 * the search begins at the hash. */
struct agent *listen_pick(const struct group *g, uint32_t hash)
{
    struct member *best = 0;
    struct agent *a;
    unsigned i;

    for (i = 0; i < MEMBERS; i++) {
        struct member *m = &toe.members[(hash + i) % MEMBERS];
        const struct qp *q = &toe.qps[m->qp];

        if (m->in_use && &toe.groups[m->group] == g && !m->weak && m->waiting <= m->backlog &&
            q->used < q->slots && (!best || q->used < toe.qps[best->qp].used))
            best = m;
    }
    a = best ? agent_take(best->qp) : 0;
    if (a) {
        a->member = best;
        a->cookie = best->id;
    }
    return a;
}

void listen_enter(struct agent *a)
{
    if (!a->member || a->counted)
        return;
    a->counted = 1;
    a->member->waiting++;
}

void listen_leave(struct agent *a)
{
    if (a->member)
        a->member->waiting -= a->counted;
    a->counted = 0;
    a->member = 0;
}
