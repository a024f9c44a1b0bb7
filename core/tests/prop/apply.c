/* SPDX-License-Identifier: Apache-2.0 */
/* apply.c - executes the events of a script. Bounds all arguments here, so that any script can run,
 * a shrunk one too. */
#include <stdlib.h>
#include <string.h>

#include "prop.h"

static struct host *host_of(struct world *w, int64_t n)
{
    return &w->host[(uint64_t)n % w->hosts];
}

/* Returns connection n (modulo) of a host, or 0; it may have ended. */
struct conn *conn_of(struct host *h, int64_t n)
{
    return h->conns ? h->conn[(uint64_t)n % h->conns] : 0;
}

static struct conn *live_conn(struct world *w, const struct event *e)
{
    struct host *h = host_of(w, e->a[0]);
    struct conn *c = conn_of(h, e->a[1]);

    if (!c || !c->flow || c->closed)
        return 0;
    h->due = w->now;
    return c;
}

static void must_take(struct conn *c, const char *what, int r)
{
    if (r)
        prop_fail(c->host->world, "refused", "%s: %d", what, r);
}

static void do_listen(struct world *w, const struct event *e)
{
    struct host *h = host_of(w, e->a[0]);
    uint16_t port = (uint16_t)e->a[1];
    struct toec_addr any;
    toec_u32 id;
    unsigned i;

    for (i = 0; i < h->listeners; i++) {
        if (h->listener[i].port == port)
            return;
    }
    if (h->listeners == HOST_LISTENERS || port == 0)
        return;
    memset(&any, 0, sizeof(any));
    if (toec_listen(h->stack, &any, port, h, (toec_u32)e->a[2], &id))
        prop_fail(w, "refused", "listening on %u", port);
    h->listener[h->listeners].id = id;
    h->listener[h->listeners++].port = port;
}

static void do_unlisten(struct world *w, const struct event *e)
{
    struct host *h = host_of(w, e->a[0]);
    unsigned n;

    if (!h->listeners)
        return;
    n = (unsigned)((uint64_t)e->a[1] % h->listeners);
    if (toec_unlisten(h->stack, h->listener[n].id))
        prop_fail(w, "refused", "unlisten");
    h->listener[n] = h->listener[--h->listeners];
    h->due = w->now;
}

static void do_send(struct world *w, const struct event *e)
{
    struct conn *c = live_conn(w, e);
    uint64_t room, n = (uint64_t)e->a[2];

    if (!c || c->shut)
        return;
    room = c->tx_size - (c->sent - c->acked);
    if (n > room)
        n = room;
    if (n == 0)
        return;
    c->sent += n;
    must_take(c, "send",
              toec_send(c->host->stack, c->flow, (toec_u32)n, e->a[3] != 0, host_now(c->host)));
}

static void do_end(struct world *w, const struct event *e)
{
    struct conn *c = live_conn(w, e);

    if (!c)
        return;
    switch (e->op) {
    case E_shut:
        if (!c->shut) {
            c->shut = 1;
            must_take(c, "shutdown", toec_shutdown(c->host->stack, c->flow, host_now(c->host)));
        }
        break;
    case E_close:
        c->closed = 1;
        must_take(c, "close", toec_close(c->host->stack, c->flow, host_now(c->host)));
        break;
    default:
        c->closed = 1;
        must_take(c, "abort", toec_abort(c->host->stack, c->flow, host_now(c->host)));
        if (!c->gone)
            prop_fail(w, "abort", "the flow is not gone when abort returns");
    }
}

static void do_option(struct world *w, const struct event *e)
{
    struct conn *c = live_conn(w, e);

    if (c)
        (void)toec_set_option(c->host->stack, c->flow, (enum toec_option)e->a[2], (toec_u32)e->a[3],
                              host_now(c->host));
}

static void do_recv(struct world *w, const struct event *e)
{
    struct conn *c = live_conn(w, e);

    if (c)
        conn_recv(c, (uint64_t)e->a[2]);
}

static void do_connect(struct world *w, const struct event *e)
{
    struct host *h = host_of(w, e->a[0]);

    if ((uint16_t)e->a[1] && (uint16_t)e->a[2] &&
        host_connect(h, (uint16_t)e->a[1], (uint16_t)e->a[2]))
        h->due = w->now;
}

/* An old frame arrives again. */
static void do_replay(struct world *w, const struct event *e)
{
    struct host *h = host_of(w, e->a[0]);
    const struct frame *f;
    unsigned kept = h->sent < HISTORY ? h->sent : HISTORY;

    if (!kept || w->hosts == 1)
        return;
    f = h->history[(h->sent - 1 - (uint64_t)e->a[1] % kept) % HISTORY];
    world_deliver(w, 1 - h->index, f->data, f->len, (toec_time)e->a[2] * USEC, 0, f->life);
}

static void do_network(struct world *w, const struct event *e)
{
    struct host *h = host_of(w, e->a[0]);

    switch (e->op) {
    case E_refuse:
        h->refuse = e->a[1];
        break;
    case E_no_open:
        h->no_open = e->a[1] != 0;
        break;
    case E_lose:
        h->lose = e->a[1];
        break;
    case E_late:
        h->late = e->a[1];
        h->late_by = (toec_time)e->a[2] * USEC;
        break;
    case E_twice:
        h->twice = e->a[1];
        h->twice_by = (toec_time)e->a[2] * USEC;
        break;
    case E_mark:
        h->mark = e->a[1];
        break;
    default:
        h->flip = e->a[1];
    }
}

void world_apply(struct world *w, const struct event *e)
{
    switch (e->op) {
    case E_run:
        world_run(w, (toec_time)e->a[0] * USEC);
        break;
    case E_listen:
        do_listen(w, e);
        break;
    case E_unlisten:
        do_unlisten(w, e);
        break;
    case E_connect:
        do_connect(w, e);
        break;
    case E_send:
        do_send(w, e);
        break;
    case E_recv:
        do_recv(w, e);
        break;
    case E_shut:
    case E_close:
    case E_abort:
        do_end(w, e);
        break;
    case E_option:
        do_option(w, e);
        break;
    case E_replay:
        do_replay(w, e);
        break;
    case E_forge:
        forge(w, e);
        break;
    case E_icmp:
        forge_icmp(w, e);
        break;
    case E_seg:
        if (w->hosts == 1)
            peer_segment(w, e);
        break;
    case E_hand:
        hand_over(host_of(w, e->a[0]));
        break;
    case E_arp:
        w->no_arp = !e->a[0];
        break;
    default:
        do_network(w, e);
    }
}
