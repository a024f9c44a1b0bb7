/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_move.c - moves a not yet accepted flow to another slot (flow_move.h).
 *
 * Before a host accepts a flow, it has only been notified of it. So both streams are at their
 * start, and the data received is at the start of the receive buffer.
 */
#include <string.h>

#include "events.h"
#include "flow_move.h"
#include "listen.h"
#include "record.h"
#include "shared.h"
#include "trace.h"

/* Returns whether a flow can move between them. Payload of a host in the engine's thread may be in
 * held frames (rx_hold.h), and there is only one such host. */
static int alike(const struct qp *a, const struct qp *b)
{
    return a->cfg.tx_size == b->cfg.tx_size && a->cfg.rx_size == b->cfg.rx_size && !a->notify &&
           !b->notify && !a->held && !b->held;
}

/* Cleans up the slot that the flow has left. */
static void leave(struct slot *s)
{
    listen_leave(s);
    shared_leave(s);
    s->flow = NULL;
    s->state = SLOT_GONE;
    s->reason = TOE_R_STALE;
    s->pending = 0;
    if (!s->announced) {
        slot_free(s);
        return;
    }
    record_write(s);
    event_pend(s, PEND_FINAL);
}

static void arrive(struct slot *to, const struct slot *from, struct toec_tcb *flow, int half)
{
    to->flow = flow;
    to->state = SLOT_OPEN;
    to->soft_error = from->soft_error;
    to->urgent_at = from->urgent_at;
    to->pend_data = from->rx_reported + from->pend_data;
    listen_enter(to);
    record_write(to);
    trace_established(to);
    event_pend(to, PEND_ESTABLISHED | (to->urgent_at ? PEND_URGENT : 0) |
                       (to->pend_data ? PEND_DATA : 0) | (half ? PEND_HALF : 0));
}

int flow_move(struct slot *s, struct toec_tcb *flow, struct slot *to)
{
    struct engine *e = s->qp->engine;
    struct toec_info info;
    toec_u32 extent;

    if (!to)
        return -1;
    if (!alike(s->qp, to->qp) || (s->announced && !record_claim(s))) {
        slot_free(to);
        return -1;
    }
    if (toec_flow_give(e->stack, flow, to, &extent) < 0) {
        record_unclaim(s);
        slot_free(to);
        return -1;
    }
    toec_flow_info(e->stack, flow, &info);
    memcpy(slot_rx(to), slot_rx(s), extent < s->qp->cfg.rx_size ? extent : s->qp->cfg.rx_size);
    trace_move(to, s);
    shared_accept(to, &info.local, info.local_port);
    arrive(to, s, flow, info.state == TOEC_CLOSE_WAIT);
    leave(s);
    engine_count(e, EC_flows_moved);
    return 0;
}
