/* SPDX-License-Identifier: Apache-2.0 */
/* shared.c - an address shared with the kernel, in an engine (shared.h). */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "kernel/routes.h"
#include "shared.h"

static int link_route(void *user, const struct toec_addr *dst, struct toec_addr *hop)
{
    const struct engine *e = user;
    const struct route *r = e->routes ? routes_find(e->routes, dst) : NULL;

    if (!r || r->nowhere)
        return -1;
    *hop = r->has_gateway ? r->gateway : *dst;
    return 0;
}

/* ---- neighbours ---- */

/* Requests a neighbour. A request is written whole or not at all; when there is no room core/
 * requests it again. */
static void link_ask(void *user, const struct toec_addr *addr)
{
    const struct engine *e = user;

    (void)!write(e->cfg.shared->ask_fd, addr, sizeof(*addr));
}

const struct toec_link_ops shared_link = {.route = link_route, .ask = link_ask};

void shared_set_neighbour(struct engine *e, void *arg)
{
    const struct shared_neighbour *n = arg;

    toec_neighbour(e->stack, &n->addr, n->known ? n->mac : NULL, engine_clock());
    e->idle_until = 0;
}

void shared_set_routes(struct engine *e, void *arg)
{
    if (!e->routes)
        e->routes = lines_calloc(1, sizeof(*e->routes));
    if (!e->routes) {
        log_error("engine %u: no memory for the kernel's routes: it sends no packet", e->cfg.id);
        return;
    }
    memcpy(e->routes, arg, sizeof(*e->routes));
    toec_routes_changed(e->stack);
    e->idle_until = 0;
}

void shared_set_prefix(struct engine *e, void *arg)
{
    toec_set_prefix(e->stack, *(const uint8_t *)arg);
}

/* ---- addresses ---- */

/* Returns whether the flow's local address remains. */
typedef int (*stays_fn)(const struct toec_addr *local, const void *arg);

static void reset_slots(struct qp *qp, stays_fn stays, const void *arg)
{
    struct toec_stack *stack = qp->engine->stack;
    struct toec_info info;
    uint32_t i;

    for (i = 0; i < qp->fresh; i++) {
        struct slot *s = &qp->slots[i];

        if (!s->flow) {
            s->doomed |= s->state == SLOT_OPENING; /* half-open: its family is not known */
            continue;
        }
        toec_flow_info(stack, s->flow, &info);
        if (!stays(&info.local, arg))
            toec_abort(stack, s->flow, qp->engine->now);
    }
}

static void reset_flows(struct engine *e, stays_fn stays, const void *arg)
{
    uint32_t i;

    for (i = 0; i < e->qp_count; i++)
        reset_slots(e->qps[i], stays, arg);
    toec_output(e->stack, engine_clock());
    e->idle_until = 0;
}

static int is_of_ip6(const struct toec_addr *local, const void *arg)
{
    (void)arg;
    return !routes_is4(local);
}

void shared_reset(struct engine *e, void *arg)
{
    reset_flows(e, is_of_ip6, arg);
}

static int is_there(const struct toec_addr *local, const void *arg)
{
    const struct addresses6 *now = arg;
    uint32_t i;

    for (i = 0; i < now->count && i < TOEC_GIVEN_MAX; i++)
        if (memcmp(local, &now->given[i].addr, sizeof(*local)) == 0)
            return 1;
    return routes_is4(local);
}

/* Returns whether an address has been lost; otherwise no flow is reset. */
static int loses(const struct engine *e, const struct addresses6 *now)
{
    struct toec_own_addr own[TOEC_GIVEN_MAX];
    unsigned n = toec_own_addresses(e->stack, own, TOEC_GIVEN_MAX), i;

    for (i = 0; i < n; i++)
        if (!is_there(&own[i].addr, now))
            return 1;
    return 0;
}

void shared_set_addresses6(struct engine *e, void *arg)
{
    const struct addresses6 *now = arg;

    if (e->cfg.core.ip6 == TOEC_IP6_OFF)
        return;
    if (loses(e, now))
        reset_flows(e, is_there, now); /* first, so that the RSTs reach the peers */
    toec_set_addresses6(e->stack, now->given,
                        now->count < TOEC_GIVEN_MAX ? now->count : TOEC_GIVEN_MAX);
    e->idle_until = 0;
}

/* ---- ports ---- */

static void note_port(struct slot *s, uint16_t port, int ip6)
{
    if (s->qp->ports)
        s->qp->ports[s->index] = port | (ip6 ? SHARED_IP6 : 0);
}

void shared_accept(struct slot *s, const struct toec_addr *local, uint16_t port)
{
    const struct shared *sh = s->qp->engine->cfg.shared;
    int ip6 = !routes_is4(local);

    if (!sh || !s->qp->ports)
        return;
    ports_accept(sh->ports[ip6], port);
    note_port(s, port, ip6);
}

/* Returns what the flow of the slot leaves behind at its port; *at: its local address. */
static enum ports_left left_behind(const struct slot *s, struct toec_addr *at)
{
    struct toec_stack *stack = s->qp->engine->stack;
    int reuse = s->flow ? toec_flow_waits(stack, s->flow) : -1;
    struct toec_info info;

    if (reuse < 0)
        return s->state == SLOT_OPENING ? PORTS_UNOPENED : PORTS_ENDED;
    toec_flow_info(stack, s->flow, &info);
    *at = info.local;
    return reuse & TOEC_REUSE_ADDR ? PORTS_WAITS_REUSE : PORTS_WAITS;
}

void shared_leave(struct slot *s)
{
    struct qp *qp = s->qp;
    struct toec_addr at;
    enum ports_left left;
    uint32_t has;

    if (!qp->ports || !qp->ports[s->index])
        return;
    has = qp->ports[s->index];
    left = left_behind(s, &at);
    ports_leave(qp->engine->cfg.shared->ports[!!(has & SHARED_IP6)], (uint16_t)has, left,
                left >= PORTS_WAITS ? &at : NULL, engine_clock());
    qp->ports[s->index] = 0;
}

/* Returns whether connections can be opened from the address; all zero: the stack chooses it. */
static int is_own(const struct engine *e, const struct toec_addr *local)
{
    static const struct toec_addr any;
    struct toec_own_addr own[TOEC_GIVEN_MAX];
    unsigned n, i;

    if (routes_is4(local) || memcmp(local, &any, sizeof(any)) == 0)
        return 1;
    n = toec_own_addresses(e->stack, own, TOEC_GIVEN_MAX);
    for (i = 0; i < n; i++)
        if (memcmp(local, &own[i].addr, sizeof(*local)) == 0)
            return 1;
    return 0;
}

/* Opens the connection from the given port, or with 0 from one after the other of those that may
 * be chosen. */
static int connect_from_ports(struct slot *s, struct ports *ports, const struct toec_addr *local,
                              const struct toec_addr *to, uint16_t to_port, uint16_t given,
                              const struct asker *who, const struct toec_buffers *bufs)
{
    struct engine *e = s->qp->engine;
    struct ports_search search = {0};
    int rc;

    do {
        uint16_t port = given;
        int reason = ports_connect(ports, local, &port, &search, who);

        if (reason) {
            engine_count(e, EC_port_refused);
            return -reason;
        }
        rc = toec_connect_from(e->stack, local, to, to_port, port, bufs, e->now, &s->flow);
        if (rc == 0)
            note_port(s, port, !routes_is4(to));
        else
            ports_leave(ports, port, PORTS_UNOPENED, NULL, engine_clock());
    } while (!given && (rc == TOEC_E_INUSE || rc == TOEC_E_NOTAVAIL));
    return rc;
}

int shared_connect(struct slot *s, const struct toec_addr *local, const struct toec_addr *to,
                   uint16_t to_port, uint32_t local_port, const struct toec_buffers *bufs)
{
    const uint32_t within = local_port > 0xffff ? local_port : 0;
    const uint16_t given = within ? 0 : (uint16_t)local_port;
    struct engine *e = s->qp->engine;
    const struct shared *sh = e->cfg.shared;
    const struct asker who = {.pid = s->qp->pid, .uid = s->qp->uid, .within = within};
    struct ports *ports = sh ? sh->ports[!routes_is4(to)] : NULL;

    if (!sh && given && !owner_may_use(s->qp, given)) {
        engine_count(e, EC_port_refused);
        return -TOE_R_ADDRINUSE;
    }
    if (!sh)
        return toec_connect_from(e->stack, local, to, to_port, local_port, bufs, e->now, &s->flow);
    if (!ports)
        return TOEC_E_UNREACH;
    if (!is_own(e, local))
        return TOEC_E_NOTAVAIL;
    return connect_from_ports(s, ports, local, to, to_port, given, &who, bufs);
}

/* Returns whether a listener at this address serves the family. */
static int serves(const struct toec_addr *addr, int v6only, int ip6)
{
    static const struct toec_addr any;

    if (memcmp(addr, &any, sizeof(any)) == 0)
        return ip6 || !v6only;
    return routes_is4(addr) != ip6;
}

int shared_listen(const struct qp *qp, const struct toec_addr *addr, int v6only, uint16_t port,
                  struct ports_held *held)
{
    const struct shared *sh = qp->engine->cfg.shared;
    const struct asker who = {.pid = qp->pid, .uid = qp->uid};
    int reason = 0, ip6;

    *held = (struct ports_held){.kept = {-1, -1}};
    if (!sh)
        reason = owner_may_use(qp, port) ? 0 : TOE_R_ADDRINUSE;
    for (ip6 = 0; sh && ip6 < 2 && !reason; ip6++) {
        if (!sh->ports[ip6] || !serves(addr, v6only, ip6))
            continue;
        reason = ports_listen(sh->ports[ip6], addr, port, &who, &held->kept[ip6]);
        held->has[ip6] = reason == 0;
    }
    if (reason) {
        shared_unlisten(qp->engine, port, held);
        engine_count(qp->engine, EC_port_refused);
    }
    return reason;
}

void shared_unlisten(const struct engine *e, uint16_t port, const struct ports_held *held)
{
    int ip6;

    for (ip6 = 0; e->cfg.shared && ip6 < 2; ip6++)
        if (held->has[ip6])
            ports_unlisten(e->cfg.shared->ports[ip6], port, held->kept[ip6]);
}
