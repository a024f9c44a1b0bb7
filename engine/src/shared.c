/* SPDX-License-Identifier: Apache-2.0 */
/* shared.c - an address that the kernel has too, in an engine (shared.h). */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "shared.h"

static uint32_t number(const uint8_t ip[4])
{
    return (uint32_t)ip[0] << 24 | (uint32_t)ip[1] << 16 | (uint32_t)ip[2] << 8 | ip[3];
}

/* ---- routes ---- */

static uint32_t mask_of(uint8_t len)
{
    return len ? UINT32_MAX << (32 - len) : 0;
}

static int better(const void *a, const void *b)
{
    const struct route *x = a, *y = b;

    if (x->len != y->len)
        return x->len > y->len ? -1 : 1;
    return x->metric < y->metric ? -1 : x->metric > y->metric;
}

void routes_sort(struct routes *r)
{
    qsort(r->route, r->count, sizeof(r->route[0]), better);
}

const struct route *routes_find(const struct routes *r, uint32_t to)
{
    uint32_t i;

    for (i = 0; i < r->count; i++)
        if (((to ^ r->route[i].to) & mask_of(r->route[i].len)) == 0)
            return &r->route[i];
    return NULL;
}

static int link_route(void *user, const struct toec_addr *dst, struct toec_addr *hop)
{
    const struct engine *e = user;
    const struct route *r = e->routes ? routes_find(e->routes, number(dst->b + 12)) : NULL;

    if (!r || r->nowhere)
        return -1;
    *hop = *dst;
    if (r->gateway)
        toe_ip4_bytes(r->gateway, hop->b + 12);
    return 0;
}

/* ---- neighbours ---- */

/* Four bytes are written whole or not at all; when there is no room core/ asks again. */
static void link_ask(void *user, const struct toec_addr *addr)
{
    const struct engine *e = user;

    (void)!write(e->cfg.shared->ask_fd, addr->b + 12, 4);
}

const struct toec_link_ops shared_link = {.route = link_route, .ask = link_ask};

void shared_set_neighbour(struct engine *e, void *arg)
{
    const struct shared_neighbour *n = arg;
    struct toec_addr a = {.b = {[10] = 0xff, [11] = 0xff}};

    memcpy(a.b + 12, n->ip, 4);
    toec_neighbour(e->stack, &a, n->known ? n->mac : NULL, engine_clock());
    e->glance_until = 0;
}

void shared_set_routes(struct engine *e, void *arg)
{
    if (!e->routes)
        e->routes = lines_calloc(1, sizeof(*e->routes));
    if (!e->routes) {
        log_msg("engine %u: no memory for the kernel's routes: it reaches nobody", e->cfg.id);
        return;
    }
    memcpy(e->routes, arg, sizeof(*e->routes));
    toec_routes_changed(e->stack);
    e->glance_until = 0;
}

void shared_set_prefix(struct engine *e, void *arg)
{
    toec_set_prefix(e->stack, *(const uint8_t *)arg);
}

static void reset_slots(struct qp *qp)
{
    uint32_t i;

    for (i = 0; i < qp->fresh; i++) {
        struct slot *s = &qp->slots[i];

        if (s->flow)
            toec_abort(qp->engine->stack, s->flow, qp->engine->now);
        else if (s->state == SLOT_OPENING)
            s->doomed = 1;
    }
}

void shared_reset(struct engine *e, void *arg)
{
    uint32_t i;

    (void)arg;
    for (i = 0; i < e->qp_count; i++)
        reset_slots(e->qps[i]);
    toec_output(e->stack, engine_clock());
    e->glance_until = 0;
}

/* ---- ports ---- */

static void note_port(struct slot *s, uint16_t port)
{
    if (s->qp->ports)
        s->qp->ports[s->index] = port;
}

void shared_accept(struct slot *s, uint16_t port)
{
    const struct shared *sh = s->qp->engine->cfg.shared;

    if (!sh || !s->qp->ports)
        return;
    ports_accept(sh->ports, port);
    note_port(s, port);
}

void shared_leave(struct slot *s)
{
    struct qp *qp = s->qp;

    if (!qp->ports || !qp->ports[s->index])
        return;
    ports_leave(qp->engine->cfg.shared->ports, qp->ports[s->index], engine_clock());
    qp->ports[s->index] = 0;
}

int shared_connect(struct slot *s, const struct toec_addr *local, const struct toec_addr *to,
                   uint16_t to_port, uint16_t local_port, const struct toec_buffers *bufs)
{
    struct engine *e = s->qp->engine;
    const struct shared *sh = e->cfg.shared;
    const struct asker who = {.pid = s->qp->pid, .uid = s->qp->uid};
    int rc = TOEC_E_NOTAVAIL;
    unsigned i;

    if (!sh && local_port && !owner_may_use(s->qp, local_port)) {
        engine_count(e, EC_port_refused);
        return -TOE_R_ADDRINUSE;
    }
    if (!sh)
        return toec_connect_from(e->stack, local, to, to_port, local_port, bufs, e->now, &s->flow);
    for (i = 0; i < PORTS_TRIES && (rc == TOEC_E_NOTAVAIL || rc == TOEC_E_INUSE); i++) {
        uint16_t port = local_port;
        int reason = ports_connect(sh->ports, &port, i, &who);

        if (reason == TOE_R_ADDRNOTAVAIL && !local_port)
            continue; /* the next choice may do */
        if (reason) {
            engine_count(e, EC_port_refused);
            return -reason;
        }
        rc = toec_connect_from(e->stack, local, to, to_port, port, bufs, e->now, &s->flow);
        if (rc == 0)
            note_port(s, port);
        else
            ports_leave(sh->ports, port, engine_clock());
        if (local_port)
            break;
    }
    return rc;
}

int shared_listen(const struct qp *qp, uint16_t port, int *kept)
{
    const struct shared *sh = qp->engine->cfg.shared;
    const struct asker who = {.pid = qp->pid, .uid = qp->uid};
    int reason;

    *kept = -1;
    if (sh)
        reason = ports_listen(sh->ports, port, &who, kept);
    else
        reason = owner_may_use(qp, port) ? 0 : TOE_R_ADDRINUSE;
    if (reason)
        engine_count(qp->engine, EC_port_refused);
    return reason;
}

void shared_unlisten(const struct engine *e, uint16_t port, int kept)
{
    if (e->cfg.shared)
        ports_unlisten(e->cfg.shared->ports, port, kept);
}
