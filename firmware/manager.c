/* SPDX-License-Identifier: Apache-2.0 */
/* manager.c - the TOE Manager (S2.5, toe.h): queue pairs, and which agent a command is for. */
#include <stddef.h>

#include <toe/cmd.h>

#include "toe.h"

void *memset(void *dst, int c, size_t n);
void *memcpy(void *restrict dst, const void *restrict src, size_t n);

void manager_usage(uint8_t qp)
{
    HOST->QP_SELECT = qp;
    HOST->QP_USED =
        (uint32_t)toe.qps[qp].listeners << HYB_HOST_REGS__QP_USED__LISTENERS_bp | toe.qps[qp].used;
}

/* ---- queue pairs ---- */

/* A queue pair whose slots are not among the firmware's flows stays unattached: only a wrong driver
 * asks for it. */
static void attach(uint8_t qp)
{
    struct qp *q = &toe.qps[qp];
    uint32_t sizes, first, slots;

    HOST->QP_SELECT = qp;
    sizes = HOST->QP_SIZES;
    first = HOST->QP_FIRST;
    slots = 1u << (sizes & 31);
    if (first >= FLOWS || slots > FLOWS - first)
        return;
    memset(q, 0, sizeof(*q));
    q->first = (uint16_t)first;
    q->slots = (uint16_t)slots;
    q->tx_size = 1u << (sizes >> HYB_HOST_REGS__QP_SIZES__TX_LOG_bp & 31);
    q->rx_size = 1u << (sizes >> HYB_HOST_REGS__QP_SIZES__RX_LOG_bp & 31);
    q->attached = 1;
    HOST->QP_ATTACHED = 1u << qp;
}

static void leave(uint8_t qp)
{
    struct qp *q = &toe.qps[qp];
    unsigned i;

    listen_remove_all(qp);
    for (i = 0; i < q->slots; i++)
        if (toe.of_slot[q->first + i])
            agent_orphan(toe.of_slot[q->first + i]);
    agents_reset();
    q->attached = 0;
    q->slots = 0;
    HOST->QP_RESET = 1u << qp;
}

void manager_queue_pairs(void)
{
    uint32_t attaches = HOST->QP_TO_ATTACH, leaves = HOST->QP_TO_RESET;
    uint8_t i;

    for (i = 0; i < HOST_QPS; i++) {
        if (leaves >> i & 1)
            leave(i);
        else if (attaches >> i & 1)
            attach(i);
    }
}

/* ---- commands ---- */

void manager_address(const struct host_command *c, int v6, struct toec_addr *out)
{
    memset(out, 0, sizeof(*out));
    if (v6) {
        memcpy(out->b, c->remote, sizeof(out->b));
        return;
    }
    out->b[10] = out->b[11] = 0xff;
    toe_ip4_bytes(c->arg0, out->b + 12);
}

static int do_listen(const struct host_command *c)
{
    struct toec_addr addr;

    if (c->aux == 0 || ((c->flags & TOE_F_LISTEN_V6ONLY) && !(c->flags & TOE_F_LISTEN_V6)))
        return TOE_R_INVAL;
    manager_address(c, c->flags & TOE_F_LISTEN_V6, &addr);
    return listen_add(c, &addr);
}

/* The local port of an attempt, which CONNECT_FAILED reports. */
static void note_port(struct agent *a)
{
    struct toec_info i;

    toec_flow_info(toe.stack, a->flow, &i);
    a->peer.own_port = i.local_port;
}

/* Returns 0 when the CONNECT has been answered by CONNECT_FAILED; else as an agent's command does.
 * FAST is not carried: the SYN goes at once, as without it. */
static int do_connect(const struct host_command *c, int *answered)
{
    struct toec_addr addr, own;
    struct toec_buffers buffers;
    struct agent *a;
    int rc = -TOE_R_NOBUFS;

    if (c->aux == 0 || c->arg1 > 0xffff)
        return TOE_R_INVAL;
    manager_address(c, c->flags & TOE_F_CONNECT_V6, &addr);
    memset(&own, 0, sizeof(own));
    if (c->flags & TOE_F_CONNECT_V6)
        memcpy(own.b, c->own, sizeof(own.b));
    a = agent_take(c->qp);
    if (a) {
        a->active = 1;
        a->accepted = 1;
        a->cookie = c->flow;
        buffers.owner = a;
        buffers.tx_size = toe.qps[c->qp].tx_size;
        buffers.rx_size = toe.qps[c->qp].rx_size;
        rc = toec_connect_from(toe.stack, &own, &addr, c->aux, (uint16_t)c->arg1, &buffers, toe.now,
                               &a->flow);
    }
    if (rc == 0) {
        note_port(a);
        return 0;
    }
    if (a)
        agent_free(a);
    host_answer(c, TOE_CMD_CONNECT_FAILED, (uint32_t)-rc, 0, c->flow, 0);
    *answered = 1;
    return 0;
}

static int do_option(const struct host_command *c)
{
    struct agent *a;

    if (c->flags == (TOE_F_OPTION_LISTEN | TOE_F_OPTION_CONNECT))
        return TOE_R_INVAL;
    if (c->flags & TOE_F_OPTION_LISTEN)
        return listen_option(c);
    a = agent_opening(c->qp, c->flow);
    if (!a || !a->flow)
        return CROSSED;
    return agent_option(a, c);
}

static int run(const struct host_command *c, int *answered)
{
    struct agent *a;

    if (c->qp >= HOST_QPS || !toe.qps[c->qp].attached)
        return CROSSED; /* it leaves: its ring is not served any more */
    switch (c->type) {
    case TOE_CMD_LISTEN:
        return do_listen(c);
    case TOE_CMD_UNLISTEN:
        return listen_remove(c->qp, c->flow);
    case TOE_CMD_CONNECT:
        return do_connect(c, answered);
    case TOE_CMD_CANCEL:
        a = agent_opening(c->qp, c->flow);
        return a ? agent_cancel(a) : CROSSED;
    case TOE_CMD_OPTION:
        if (c->flags)
            return do_option(c);
        break;
    default:
        break;
    }
    a = agent_named(c);
    return a ? agent_command(a, c) : TOE_R_BADF;
}

void manager_command(void)
{
    struct host_command c;
    int answered = 0, reason;

    host_command(&c);
    reason = run(&c, &answered);
    if (answered)
        return;
    if (reason > 0)
        host_answer(&c, TOE_CMD_ERROR, (uint32_t)reason, c.flow, c.position, c.type);
    else
        host_done();
}
