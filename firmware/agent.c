/* SPDX-License-Identifier: Apache-2.0 */
/* agent.c - TOE Agents: commands and events of one connection (toe.h). As engine/src/hosts does it.
 */
#include <stddef.h>

#include <toe/cmd.h>

#include "toe.h"

void *memset(void *dst, int c, size_t n);

/* ---- agents and slots ---- */

static struct agent *unused_agent(void)
{
    unsigned i;

    for (i = 0; i < AGENTS; i++)
        if (toe.agents[i].state == AGENT_FREE)
            return &toe.agents[i];
    return 0;
}

struct agent *agent_take(uint8_t qp)
{
    struct qp *q = &toe.qps[qp];
    struct agent *a = q->used < q->slots ? unused_agent() : 0;
    unsigned slot = 0;

    if (!a)
        return 0;
    while (toe.of_slot[q->first + slot])
        slot++;
    memset(a, 0, sizeof(*a));
    a->state = AGENT_OPENING;
    a->at.qp = qp;
    a->at.slot = (uint16_t)slot;
    a->record_seq = toe.record_seq[q->first + slot];
    a->generation = ++toe.generation[q->first + slot];
    toe.of_slot[q->first + slot] = a;
    q->used++;
    manager_usage(qp);
    return a;
}

/* Gives the slot back; the agent may stay. */
static void leave_slot(struct agent *a)
{
    struct qp *q = &toe.qps[a->at.qp];

    if (a->at.slot == NO_SLOT)
        return;
    toe.record_seq[q->first + a->at.slot] = a->record_seq;
    toe.of_slot[q->first + a->at.slot] = 0;
    q->used--;
    manager_usage(a->at.qp);
    a->at.slot = NO_SLOT;
}

void agent_free(struct agent *a)
{
    report_drop(a);
    listen_leave(a);
    leave_slot(a);
    if (a->doomed)
        toe.dooms--;
    a->flow = 0;
    a->state = AGENT_FREE;
}

static void doom(struct agent *a)
{
    if (!a->doomed)
        toe.dooms++;
    a->doomed = 1;
}

struct agent *agent_named(const struct host_command *c)
{
    const struct qp *q = &toe.qps[c->qp];
    struct agent *a = c->flow < q->slots ? toe.of_slot[q->first + c->flow] : 0;

    return a && a->announced ? a : 0;
}

struct agent *agent_opening(uint8_t qp, uint32_t cookie)
{
    const struct qp *q = &toe.qps[qp];
    unsigned i;

    for (i = 0; i < q->slots; i++) {
        struct agent *a = toe.of_slot[q->first + i];

        if (a && a->active && !a->announced && a->cookie == cookie && !(a->pending & PEND_FAILED))
            return a;
    }
    return 0;
}

void agent_orphan(struct agent *a)
{
    report_drop(a);
    listen_leave(a);
    leave_slot(a);
    if (a->state == AGENT_GONE) {
        agent_free(a);
        return;
    }
    a->dirty = 0;
    doom(a);
}

void agents_reset(void)
{
    unsigned i;

    for (i = 0; toe.dooms && i < AGENTS; i++) {
        struct agent *a = &toe.agents[i];

        if (a->state != AGENT_FREE && a->doomed && a->flow)
            toec_abort(toe.stack, a->flow, toe.now); /* TOEC_EV_GONE frees it */
    }
}

/* ---- commands ---- */

/* Converts a refusal by core/. */
static int from_core(int rc)
{
    return rc < 0 ? -rc : 0;
}

/* Suppresses every notification but the end from now on. */
static void closing(struct agent *a)
{
    a->state = AGENT_CLOSING;
    a->pending &= (uint8_t) ~(PEND_ESTABLISHED | PEND_URGENT | PEND_DATA | PEND_ACKED | PEND_HALF);
    a->accepted = 1;
    listen_leave(a);
}

static int do_send(struct agent *a, const struct host_command *c)
{
    int reason;

    if (a->state != AGENT_OPEN || a->half_closed)
        return TOE_R_NOTCONN;
    if (c->arg0 == 0)
        return TOE_R_INVAL;
    if (c->arg0 > toe.qps[a->at.qp].tx_size - a->tx_used)
        return TOE_R_MSGSIZE;
    a->tx_used += c->arg0; /* before the call, which subtracts what is acknowledged during it */
    reason =
        from_core(toec_send(toe.stack, a->flow, c->arg0, !!(c->flags & TOE_F_SEND_PUSH), toe.now));
    if (reason)
        a->tx_used -= c->arg0;
    else if (c->flags & TOE_F_SEND_URGENT)
        reason = from_core(toec_urgent(toe.stack, a->flow, toe.now));
    transmit_now(a);
    return reason;
}

static int do_recv(struct agent *a, const struct host_command *c)
{
    if (a->state != AGENT_OPEN)
        return TOE_R_NOTCONN;
    if (c->arg0 == 0)
        return TOE_R_INVAL;
    if (c->arg0 > a->rx_reported)
        return TOE_R_MSGSIZE;
    a->rx_reported -= c->arg0;
    return from_core(toec_recv(toe.stack, a->flow, c->arg0, toe.now));
}

static int do_close(struct agent *a, const struct host_command *c)
{
    switch (c->flags) {
    case TOE_F_CLOSE_ABORT: /* also while it closes, when that takes too long */
        closing(a);
        return from_core(toec_abort(toe.stack, a->flow, toe.now));
    case TOE_F_CLOSE_HALF:
        if (a->state != AGENT_OPEN || a->half_closed)
            return TOE_R_NOTCONN;
        a->half_closed = 1;
        return from_core(toec_shutdown(toe.stack, a->flow, toe.now));
    case 0:
        if (a->state != AGENT_OPEN)
            return TOE_R_NOTCONN;
        closing(a);
        return from_core(toec_close(toe.stack, a->flow, toe.now));
    default:
        return TOE_R_INVAL;
    }
}

int agent_option(struct agent *a, const struct host_command *c)
{
    if (c->aux == TOE_OPT_NOTSENT_LOWAT) {
        a->current = c->arg0 != 0;
        return 0;
    }
    if (c->aux < TOE_OPT_NODELAY || (c->aux > TOE_OPT_ADV_UTO && c->aux < TOE_OPT_MAX_PACING))
        return TOE_R_NOPROTOOPT;
    if (toec_set_option(toe.stack, a->flow, (enum toec_option)c->aux, c->arg0, toe.now) < 0)
        return TOE_R_NOPROTOOPT;
    return 0;
}

static int do_accept(struct agent *a)
{
    if (a->active || a->accepted)
        return TOE_R_NOTCONN;
    a->accepted = 1;
    listen_leave(a);
    return 0;
}

static int do_release(struct agent *a)
{
    if (a->state != AGENT_GONE || a->pending)
        return TOE_R_NOTCONN; /* its end is not reported yet */
    agent_free(a);
    return 0;
}

int agent_command(struct agent *a, const struct host_command *c)
{
    if (c->type == TOE_CMD_RELEASE)
        return do_release(a);
    if (a->state == AGENT_GONE)
        return CROSSED;
    switch (c->type) {
    case TOE_CMD_SEND:
        return do_send(a, c);
    case TOE_CMD_RECV:
        return do_recv(a, c);
    case TOE_CMD_CLOSE:
        return do_close(a, c);
    case TOE_CMD_OPTION:
        return a->state == AGENT_OPEN ? agent_option(a, c) : TOE_R_NOTCONN;
    case TOE_CMD_ACCEPT:
        return do_accept(a);
    default:
        return TOE_R_NOSYS;
    }
}

int agent_cancel(struct agent *a)
{
    if (a->state != AGENT_GONE) {
        a->state = AGENT_OPENING; /* not announced: it ends as a failed one */
        a->pending = 0;
        return from_core(toec_abort(toe.stack, a->flow, toe.now));
    }
    a->pending = PEND_FAILED;
    a->reason = TOE_R_ABORTED;
    return 0;
}

/* ---- events of core/ ---- */

static void on_established(struct agent *a, struct toec_tcb *flow)
{
    struct toec_info i;

    a->flow = flow;
    a->state = AGENT_OPEN;
    if (a->doomed)
        return; /* agents_reset() */
    toec_flow_info(toe.stack, flow, &i);
    a->peer.ip4 =
        i.remote.b[10] == 0xff && i.remote.b[0] == 0 ? toe_ip4_number(i.remote.b + 12) : 0;
    a->peer.remote_port = i.remote_port;
    a->peer.own_port = i.local_port;
    if (!a->active)
        listen_enter(a);
    report_record(a);
    report_pend(a, PEND_ESTABLISHED);
}

static void on_gone(struct agent *a, struct toec_tcb *flow, uint16_t reason)
{
    int opening = a->state == AGENT_OPENING;

    a->reason = reason;
    if (a->doomed || (opening && !a->active)) { /* the host does not know it */
        agent_free(a);
        return;
    }
    a->flow = flow; /* valid within this event: for the record */
    if (!opening)
        report_record(a);
    a->flow = 0;
    a->state = AGENT_GONE;
    a->dirty = 0;
    listen_leave(a);
    if (opening)
        report_pend(a, PEND_FAILED);
    else
        report_pend(a, PEND_FINAL);
}

void agent_event(struct agent *a, struct toec_tcb *flow, enum toec_event ev, uint32_t arg)
{
    unsigned open = a->state == AGENT_OPEN && !a->doomed;

    toe.active = a;
    switch (ev) {
    case TOEC_EV_ESTABLISHED:
        on_established(a, flow);
        break;
    case TOEC_EV_DATA:
        a->pend_data += arg;
        if (open)
            report_pend(a, PEND_DATA);
        break;
    case TOEC_EV_ACKED:
        a->tx_used -= arg;
        a->pend_acked += arg;
        if (open)
            report_pend(a, PEND_ACKED);
        break;
    case TOEC_EV_PEER_CLOSED:
        if (open)
            report_pend(a, PEND_HALF);
        break;
    case TOEC_EV_URGENT:
        a->urgent_at = arg;
        if (open)
            report_pend(a, PEND_URGENT);
        break;
    case TOEC_EV_ERROR:
        a->soft_error = (uint16_t)arg;
        break;
    case TOEC_EV_GONE:
        on_gone(a, flow, (uint16_t)arg);
        return;
    default:
        return;
    }
    report_touch(a);
}
