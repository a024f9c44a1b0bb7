/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen.c - listeners: one group per address and port, whose members share new flows
 * (docs/device-contract.md, LISTEN). WEAK members keep the port open for later members (a parent
 * whose children will serve). While all members are WEAK, flows wait with them; they move to
 * members that are not WEAK, one at a time.
 */
#include <stdlib.h>
#include <string.h>

#include "flow_move.h"
#include "listen.h"
#include "relieve.h"
#include "shared.h"
#include "waiting.h"

static int is_group(const struct listen_group *g, const struct toec_addr *addr, int v6only,
                    uint16_t port)
{
    return g->port == port && g->v6only == v6only && memcmp(&g->addr, addr, sizeof(*addr)) == 0;
}

static struct listen_group *find_group(struct engine *e, const struct toec_addr *addr, int v6only,
                                       uint16_t port)
{
    struct listen_group *g = e->groups;

    while (g && !is_group(g, addr, v6only, port))
        g = g->next;
    return g;
}

static int is4(const struct toec_addr *a)
{
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

    return memcmp(a, mapped, sizeof(mapped)) == 0;
}

/* Returns whether the group takes connections of this family. */
static int is_of_family(const struct listen_group *g, int ip6)
{
    static const struct toec_addr any;

    return is4(&g->addr) ? !ip6 : ip6 || (!g->v6only && memcmp(&g->addr, &any, sizeof(any)) == 0);
}

/* Reports to the back end how this engine listens on a port: workers of one address share new
 * connections by it. */
static void report_port(const struct engine *e, uint16_t port)
{
    unsigned how[2] = {NETIO_LISTEN_NOT, NETIO_LISTEN_NOT};
    const struct listen_group *g;
    uint32_t i;
    int ip6;

    for (g = e->groups; g; g = g->next)
        for (i = 0; g->port == port && i < g->count; i++)
            for (ip6 = 0; ip6 < 2; ip6++)
                if (is_of_family(g, ip6))
                    how[ip6] |= g->members[i]->weak ? NETIO_LISTEN_WEAK : NETIO_LISTEN_SERVES;
    for (ip6 = 0; e->netio && ip6 < 2; ip6++)
        netio_listens(e->netio, ip6, port,
                      how[ip6] & NETIO_LISTEN_SERVES ? NETIO_LISTEN_SERVES : how[ip6]);
}

static struct listen_member *find_member(struct qp *qp, uint32_t id)
{
    struct listen_member *m = qp->members;

    while (m && m->id != id)
        m = m->next;
    return m;
}

static void free_group(struct listen_group *g)
{
    struct listen_group **at = &g->engine->groups;

    while (*at != g)
        at = &(*at)->next;
    *at = g->next;
    free(g->members);
    free(g);
}

/* Returns the limit of half-open flows: at most half of the first member's slots. */
static uint32_t syn_backlog(const struct qp *qp)
{
    uint32_t half = qp->cfg.slots / 2;

    if (half < 1)
        return 1;
    return half < 256 ? half : 256;
}

/* Makes a group with its listener in the stack. Returns NULL on failure, with a TOE_R_* in
 * *reason. */
static struct listen_group *new_group(struct qp *qp, const struct toec_addr *addr, int v6only,
                                      uint16_t port, int *reason)
{
    struct engine *e = qp->engine;
    struct listen_group *g = lines_calloc(1, sizeof(*g));
    int rc;

    *reason = TOE_R_NOBUFS;
    if (!g)
        return NULL;
    g->engine = e;
    g->addr = *addr;
    g->port = port;
    g->v6only = v6only;
    g->check_at = UINT64_MAX;
    rc = toec_listen(e->stack, addr, port, g, syn_backlog(qp) | (v6only ? TOEC_LISTEN_V6ONLY : 0),
                     &g->core_id);
    if (rc < 0) {
        free(g);
        *reason = -rc;
        return NULL;
    }
    g->next = e->groups;
    e->groups = g;
    return g;
}

/* Allocates room for one more member, so that adding it cannot fail. */
static int reserve(struct listen_group *g)
{
    uint32_t room = g->room ? g->room * 2 : 4;
    struct listen_member **m;

    if (g->count < g->room)
        return 0;
    m = lines_calloc(room, sizeof(struct listen_member *));
    if (!m)
        return -1;
    if (g->count)
        memcpy(m, g->members, g->count * sizeof(struct listen_member *));
    free(g->members);
    g->members = m;
    g->room = room;
    return 0;
}

static struct slot *place_for(const struct listen_group *g, uint32_t hash, int weak);
static struct slot *any_place(const struct listen_group *g);

/* Takes a slot of another member of the group: one that is not WEAK if possible. The flow is
 * established, and Linux never resets a connection in the accept queue for want of backlog: if all
 * are full, any member with a free slot takes it. */
static struct slot *other_place(const struct listen_group *g, const struct slot *s)
{
    struct slot *to = place_for(g, s->index, 0);

    if (!to)
        to = place_for(g, s->index, 1);
    return to ? to : any_place(g);
}

/*
 * Moves a listener's unaccepted flows to another member of its group, since Linux has one queue for
 * all processes that share a listener. A flow is reset if no other member has room. For half-open
 * flows this is decided when they open (listen_reopen()).
 */
static void leave_unaccepted(struct listen_member *m, const struct listen_group *g)
{
    struct qp *qp = m->qp;
    uint32_t i;

    /* ends when none is left: a listener without flows needs no walk over the slots */
    for (i = 0; m->flows && i < qp->fresh; i++) {
        struct slot *s = &qp->slots[i];

        if (s->member != m)
            continue;
        if (s->flow && g->count && flow_move(s, s->flow, other_place(g, s)) == 0)
            continue;
        s->doomed |= s->parked; /* its host was never notified of it */
        listen_leave(s);
        if (s->flow)
            toec_abort(qp->engine->stack, s->flow, qp->engine->now);
        else if (s->state == SLOT_OPENING)
            s->doomed = 1;
    }
}

static int serves(const struct listen_group *g, const struct toec_info *i)
{
    static const struct toec_addr any6, any4 = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}};
    int is4 = memcmp(&i->local, &any4, 12) == 0;

    if (g->port != i->local_port)
        return 0;
    return memcmp(&g->addr, &i->local, sizeof(g->addr)) == 0 ||
           (is4 && memcmp(&g->addr, &any4, sizeof(any4)) == 0) ||
           (memcmp(&g->addr, &any6, sizeof(any6)) == 0 && !(is4 && g->v6only));
}

int listen_reopen(struct slot *s, struct toec_tcb *flow)
{
    struct engine *e = s->qp->engine;
    const struct listen_group *g;
    struct toec_info info;

    toec_flow_info(e->stack, flow, &info);
    for (g = e->groups; g; g = g->next)
        if (serves(g, &info) && flow_move(s, flow, other_place(g, s)) == 0)
            return 0;
    return -1;
}

void listen_accepted(struct slot *s)
{
    struct listen_member *m = s->member;

    listen_leave(s);
    if (!m)
        return;
    m->served = 1;
    m->stuck = 0;
    if (!m->weak && !m->announced.count && m->group->count > 1)
        listen_relieve_later(m->group);
}

/* Counts the listeners of all queue pairs of the same user on this engine. */
static uint32_t user_listeners(const struct qp *of)
{
    const struct engine *e = of->engine;
    uint32_t i, n = 0;

    for (i = 0; i < e->qp_count; i++)
        if (e->qps[i]->uid == of->uid)
            n += e->qps[i]->member_count;
    return n;
}

/* Begins or ends a member's turn. A host that waits is notified of a flow at once; a member that
 * does not wait any more may have flows for others. */
static void set_weak(struct listen_member *m, int weak)
{
    m->weak = weak;
    m->stuck = 0;
    m->group->turns |= weak;
    if (!weak)
        m->group->stranded = 0;
    if (!weak)
        listen_relieve_group(m->group);
    else if (m->announced.count)
        listen_relieve_later(m->group);
    report_port(m->group->engine, m->group->port);
}

/* Changes the listener that the queue pair already has by this id. */
static int change(struct listen_member *m, int same, uint32_t backlog, int weak)
{
    if (!same)
        return TOE_R_ADDRINUSE;
    m->backlog = backlog;
    set_weak(m, weak);
    return 0;
}

/* Adds a member. There is room for it. */
static struct listen_member *enter(struct listen_group *g, struct qp *qp, struct listen_member *m)
{
    m->group = g;
    m->qp = qp;
    g->stranded = 0;
    m->next = qp->members;
    qp->members = m;
    qp->member_count++;
    g->members[g->count++] = m;
    return m;
}

/* Makes a member of the group for this address and port, and the group if needed. Returns NULL on
 * failure, with a TOE_R_* in *reason. */
static struct listen_member *join(struct qp *qp, const struct toec_addr *addr, int v6only,
                                  uint16_t port, int *reason)
{
    struct listen_group *g = find_group(qp->engine, addr, v6only, port);
    struct listen_member *m;

    if (!g)
        g = new_group(qp, addr, v6only, port, reason);
    if (!g)
        return NULL;
    m = lines_calloc(1, sizeof(*m));
    if (!m || reserve(g) != 0) {
        free(m);
        if (g->count == 0) {
            toec_unlisten(qp->engine->stack, g->core_id);
            free_group(g);
        }
        *reason = TOE_R_NOBUFS;
        return NULL;
    }
    return enter(g, qp, m);
}

struct listen_group *listen_restore_group(struct engine *e, const uint8_t addr[16], int v6only,
                                          uint16_t port, uint32_t core_id)
{
    struct listen_group *g = lines_calloc(1, sizeof(*g));

    if (!g)
        return NULL;
    g->engine = e;
    memcpy(&g->addr, addr, sizeof(g->addr));
    g->port = port;
    g->v6only = v6only;
    g->core_id = core_id;
    g->check_at = UINT64_MAX;
    g->next = e->groups;
    e->groups = g;
    return g;
}

struct listen_member *listen_restore_member(struct listen_group *g, struct qp *qp)
{
    struct listen_member *m = reserve(g) == 0 ? lines_calloc(1, sizeof(*m)) : NULL;

    if (m && owners_add(qp, g->port, 0) != 0) {
        free(m);
        m = NULL;
    }
    return m ? enter(g, qp, m) : NULL;
}

struct listen_member *listen_member_of(struct qp *qp, uint32_t id)
{
    return find_member(qp, id);
}

int listen_add(struct qp *qp, const struct toec_addr *addr, int v6only, uint16_t port, uint32_t id,
               uint32_t backlog, int weak)
{
    struct listen_member *m = find_member(qp, id);
    struct ports_held held;
    int reason, mine;

    if (m)
        return change(m, is_group(m->group, addr, v6only, port), backlog, weak);
    /* One more is allowed if WEAK: a host makes a listener weak by adding a new one, then removing
     * the old one. */
    if (qp->member_count >= LISTENERS_PER_QP + !!weak)
        return TOE_R_NOBUFS;
    if (qp->max_listeners && user_listeners(qp) >= qp->max_listeners + !!weak)
        return TOE_R_NOBUFS;
    reason = shared_listen(qp, addr, v6only, port, &held); /* for each: users may differ */
    if (reason)
        return reason;
    reason = owners_add(qp, port, 1);
    mine = reason == 0;
    m = reason ? NULL : join(qp, addr, v6only, port, &reason);
    if (!m) {
        if (mine)
            owners_del(qp, port);
        shared_unlisten(qp->engine, port, &held);
        return reason;
    }
    m->id = id;
    m->held = held;
    m->backlog = backlog;
    set_weak(m, weak);
    return 0;
}

/* Removes a member. at: the pointer to it in the queue pair's list. */
static void remove_member(struct listen_member **at)
{
    struct listen_member *m = *at;
    struct listen_group *g = m->group;
    struct engine *e = g->engine;
    uint16_t port = g->port;
    uint32_t i = 0;

    while (g->members[i] != m)
        i++;
    g->count--;
    memmove(&g->members[i], &g->members[i + 1], (g->count - i) * sizeof(struct listen_member *));
    *at = m->next;
    m->qp->member_count--;
    if (g->count == 0)
        toec_unlisten(e->stack, g->core_id); /* drops the half-open flows */
    leave_unaccepted(m, g);
    if (g->count == 0)
        free_group(g);
    owners_del(m->qp, port);
    shared_unlisten(e, port, &m->held);
    free(m);
    report_port(e, port);
}

int listen_remove(struct qp *qp, uint32_t id)
{
    struct listen_member **at = &qp->members;

    while (*at && (*at)->id != id)
        at = &(*at)->next;
    if (!*at)
        return TOE_R_NOENT;
    remove_member(at);
    return 0;
}

static int fastopen_key(struct listen_member *m, uint32_t low, uint32_t high)
{
    uint64_t half = (uint64_t)high << 32 | low;
    unsigned i;

    if (m->key_bytes >= sizeof(m->keys))
        return TOE_R_INVAL;
    for (i = 0; i < 8; i++)
        m->keys[m->key_bytes++] = (uint8_t)(half >> 8 * i);
    return 0;
}

/* Sets the option, also on flows that are not yet accepted: OPTION follows LISTEN, and flows may
 * have arrived in between. */
static void set_reuse(struct listen_group *g, uint32_t reuse)
{
    struct engine *e = g->engine;
    uint32_t n, i;

    for (n = 0; n < g->count; n++) {
        const struct listen_member *m = g->members[n];

        for (i = 0; m->flows && i < m->qp->fresh; i++) {
            struct slot *s = &m->qp->slots[i];

            if (s->member == m && s->flow)
                (void)toec_set_option(e->stack, s->flow, TOEC_OPT_REUSE, reuse, e->now);
        }
    }
}

int listen_option(struct qp *qp, uint32_t id, uint16_t option, uint32_t arg0, uint32_t arg1)
{
    struct listen_member *m = find_member(qp, id);
    struct listen_group *g;
    int rc;

    if (!m)
        return TOE_R_NOENT;
    g = m->group;
    switch (option) {
    case TOE_OPT_FASTOPEN:
        rc = toec_listen_fastopen(
            g->engine->stack, g->core_id,
            (arg0 < TOEC_FASTOPEN_NOCOOKIE ? arg0 : TOEC_FASTOPEN_NOCOOKIE - 1) |
                (arg1 ? TOEC_FASTOPEN_NOCOOKIE : 0));
        break;
    case TOE_OPT_FASTOPEN_KEY:
        return fastopen_key(m, arg0, arg1);
    case TOE_OPT_FASTOPEN_KEYS:
        if (arg0 > 2 || m->key_bytes < 16 * arg0)
            return TOE_R_INVAL;
        rc = toec_listen_fastopen_key(g->engine->stack, g->core_id, m->keys, arg0);
        m->key_bytes = 0;
        break;
    case TOE_OPT_REUSE:
        if (toec_listen_option(g->engine->stack, g->core_id, TOEC_OPT_REUSE, arg0) < 0)
            return TOE_R_NOPROTOOPT;
        set_reuse(g, arg0);
        return 0;
    case TOE_OPT_MTU_DISCOVER:
    case TOE_OPT_MAXSEG:
    case TOE_OPT_TOS:
    case TOE_OPT_ECN:
    case TOE_OPT_DEFER_ACCEPT:
        if (toec_listen_option(g->engine->stack, g->core_id, (enum toec_option)option, arg0) < 0)
            return TOE_R_NOPROTOOPT;
        return 0;
    default:
        return TOE_R_NOPROTOOPT;
    }
    return rc < 0 ? -rc : 0;
}

void listen_remove_all(struct qp *qp)
{
    while (qp->members)
        remove_member(&qp->members);
}

struct slot *listen_take(struct listen_member *m)
{
    struct slot *s = slot_take(m->qp);

    if (s) {
        s->member = m;
        m->flows++;
        s->cookie = m->id;
    }
    return s;
}

static uint32_t slots_used(const struct listen_member *m)
{
    return m->qp->cfg.slots - m->qp->free_count;
}

static int is_better(const struct listen_member *m, const struct listen_member *than)
{
    if (m->stuck != than->stuck)
        return than->stuck;
    return slots_used(m) < slots_used(than);
}

/* Returns the member (WEAK or not, as given) whose queue pair has the fewest flows, starting the
 * search at the hash. With blocking workers that serve one connection each, no connection then
 * waits for a busy worker while another is idle. */
static struct listen_member *least_busy(const struct listen_group *g, uint32_t hash, int weak)
{
    struct listen_member *best = NULL;
    uint32_t i, at = g->count ? hash % g->count : 0;

    for (i = 0; i < g->count; i++, at = at + 1 < g->count ? at + 1 : 0) {
        struct listen_member *m = g->members[at];

        if (m->weak == weak && m->used <= m->backlog && (!best || is_better(m, best)))
            best = m;
    }
    return best;
}

static struct slot *place_for(const struct listen_group *g, uint32_t hash, int weak)
{
    struct listen_member *m = least_busy(g, hash, weak);
    struct slot *s = m ? listen_take(m) : NULL;
    uint32_t i;

    /* Its queue pair may have no free slot because of other ports: then take any member's. */
    for (i = 0; m && i < g->count && !s; i++)
        if (g->members[i]->weak == weak && g->members[i]->used <= g->members[i]->backlog)
            s = listen_take(g->members[i]);
    return s;
}

/* Takes a slot whatever the backlogs are. */
static struct slot *any_place(const struct listen_group *g)
{
    struct slot *s = NULL;
    uint32_t i;

    for (i = 0; i < g->count && !s; i++)
        s = listen_take(g->members[i]);
    return s;
}

static int serves_any(const struct listen_group *g)
{
    uint32_t i;

    for (i = 0; i < g->count; i++)
        if (!g->members[i]->weak)
            return 1;
    return 0;
}

/* Returns whether flows may wait with the WEAK members: when there are no others, or processes take
 * turns. WEAK members share one backlog. */
static int may_wait(const struct listen_group *g)
{
    uint32_t i, waiting = 0;

    for (i = 0; i < g->count; i++)
        waiting += g->members[i]->used;
    return g->count && waiting <= g->members[0]->backlog;
}

struct slot *listen_pick(struct listen_group *g, uint32_t hash)
{
    struct slot *s = place_for(g, hash, 0);
    int room;

    if (s)
        return s;
    if (serves_any(g) && !g->turns) {
        room = least_busy(g, hash, 0) != NULL;
    } else {
        room = may_wait(g);
        s = room ? place_for(g, hash, 1) : NULL;
    }
    if (!s)
        engine_count(g->engine, room ? EC_no_slot : EC_backlog_full);
    return s;
}

void listen_enter(struct slot *s)
{
    struct listen_member *m = s->member;

    if (!m || s->counted)
        return;
    waiting_add(s);
    /* Another may have begun to wait during the handshake. */
    if (m->group->turns && m->group->count > 1)
        listen_relieve_later(m->group);
}

void listen_leave(struct slot *s)
{
    if (!s->member)
        return;
    waiting_del(s);
    s->member->flows--;
    s->member = NULL;
}
