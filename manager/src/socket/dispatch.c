/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dispatch.c - HW commands to sockets (SEEDS S1.12; dispatch.h): every command becomes a change of
 * a socket and a notification. Handlers never send SW commands, so that a wait for space in the SW
 * ring can drain the HW ring.
 */
#include "dispatch.h"
#include "ancillary.h"
#include "connect.h"
#include "ctx.h"
#include "epoll.h"
#include "fastopen.h"
#include "fdtab.h"
#include "flow.h"
#include "handle.h"
#include "lent_buffers.h"
#include "listen.h"
#include "notsent.h"
#include "qp.h"
#include "ready.h"
#include "stamps.h"
#include "tsock.h"
#include "urgent.h"
#include "zerocopy.h"

/* Returns the socket of the flow in the command; NULL when the application has closed it. */
static struct tsock *flow_sock(struct tqp *qp, const struct toe_cmd *c)
{
    uint32_t slot = toe_cmd_flow(c);
    struct tsock *s;

    if (unlikely(slot >= qp->cfg.slots || !qp->slots[slot])) {
        tqp_breach(qp, "a command for a flow that is not there", slot);
        return NULL;
    }
    s = qp->slots[slot];
    return s == TSLOT_CLOSING ? NULL : s;
}

/* Resets a connection whose program has shut both directions down and gets data all the same (RFC
 * 9293 3.6.1; tcp_rcv_state_process() of Linux): the peer must learn that it is not read. What was
 * there before the n bytes can still be read. */
static void refuse_data(struct tqp *qp, struct tsock *s, uint32_t n)
{
    if (!s->abort) {
        tqp_abort_later(qp, s->slot);
        s->error = ECONNRESET;
    }
    s->abort = 1;
    if (s->rx_avail != n || s->claims)
        return;
    s->rx_pos += n;
    s->rx_avail = 0;
    s->rx_unreported += n;
}

static void data_received(struct tqp *qp, const struct toe_cmd *c)
{
    struct tsock *s = flow_sock(qp, c);
    uint32_t n = toe_cmd_arg0(c);

    if (unlikely(!s || s->state != TS_OPEN))
        return;
    if (unlikely(n > s->rx_mask + 1 - s->rx_avail - s->rx_unreported - s->rx_held)) {
        tqp_breach(qp, "more data than the receive buffer holds", n);
        return;
    }
    /* after shutdown(SHUT_RD) Linux still receives data, but the reader sees the end of the stream
     */
    s->rx_avail += n;
    if (unlikely(s->stamped))
        tancillary_received(s, s->rx_pos + s->rx_avail, toe_cmd_arg1(c));
    tstamps_data(s);
    if (unlikely(s->shut == (TSHUT_RD | TSHUT_WR)))
        refuse_data(qp, s, n);
    if (unlikely(s->oob))
        turgent_data(s);
    tobj_notify(&s->obj, EPOLLIN | EPOLLRDNORM);
}

static void urgent(struct tqp *qp, const struct toe_cmd *c)
{
    struct tsock *s = flow_sock(qp, c);

    if (s && s->state == TS_OPEN)
        turgent_announced(s, toe_cmd_arg0(c));
}

static void send_complete(struct tqp *qp, const struct toe_cmd *c)
{
    struct tsock *s = flow_sock(qp, c);
    uint32_t n = toe_cmd_arg0(c);
    bool was_writable;

    if (unlikely(!s || s->state != TS_OPEN))
        return;
    if (unlikely(n > s->tx_mask + 1 - s->tx_free)) {
        tqp_breach(qp, "more bytes acknowledged than sent", n);
        return;
    }
    was_writable = !s->bounded && tsock_has_space(s);
    s->tx_free += n;
    if (unlikely(s->zc))
        tzc_acked(s);
    /* Also when no send failed: a poller may have found the socket not writable. */
    if (unlikely((!was_writable && tnotsent_writable(s)) || s->lingering))
        tobj_notify(&s->obj, EPOLLOUT | EPOLLWRNORM);
}

/* A reset in CLOSE-WAIT is a broken pipe (Linux, tcp_reset()). */
static int end_error(const struct tsock *s, int reason)
{
    if (s->abort)
        return 0; /* refuse_data() has reported it */
    if (reason == TOE_R_STALE)
        return ECONNRESET; /* accepted here, but another process got it */
    return reason == ECONNRESET && s->eof && !(s->shut & TSHUT_WR) ? EPIPE : reason;
}

static void close_event(struct tqp *qp, const struct toe_cmd *c)
{
    struct tsock *s = flow_sock(qp, c);
    uint32_t slot = toe_cmd_flow(c);

    if (qp->broken)
        return;
    if (toe_cmd_flags(c) & TOE_F_CLOSE_EVENT_HALF) {
        if (s && s->state == TS_OPEN) {
            s->eof = TEOF_FIN;
            tobj_notify(&s->obj, tsock_events(s) | EPOLLIN | EPOLLRDHUP);
        }
        return;
    }
    if (s) {
        if (s->listener && toe_cmd_aux(c) == TOE_R_STALE)
            tlisten_stale(s);
        else if (s->state == TS_OPEN)
            tflow_gone(s, end_error(s, toe_cmd_aux(c)));
        else if (s->fast)
            tfast_ended(s, toe_cmd_aux(c));
    } else {
        tqp_release_later(qp, slot);
    }
}

/* Its local port stays the socket's name until the next connect(), as on Linux. */
static void connect_failed(const struct toe_cmd *c)
{
    struct tsock *s = thandle_get(toe_cmd_arg0(c));

    if (s && s->state == TS_CONNECTING && toe_cmd_arg1(c))
        s->local_port = htons((uint16_t)toe_cmd_arg1(c));
    tconnect_failed(toe_cmd_arg0(c), toe_cmd_aux(c));
}

static void error_event(struct tqp *qp, const struct toe_cmd *c)
{
    unsigned reason = toe_cmd_aux(c), type = toe_cmd_arg1(c);
    const char *name = toe_cmd_name(type);

    if (type == TOE_CMD_CONNECT) {
        tconnect_failed(toe_cmd_flow(c), (int)reason);
        return;
    }
    if (type == TOE_CMD_LISTEN) {
        struct tsock *s = thandle_get(toe_cmd_flow(c));

        if (s && s->state == TS_LISTEN)
            tlisten_refused(s, (int)reason);
        return;
    }
    if (type == TOE_CMD_BIND) {
        qp->no_bind |= reason == TOE_R_NOSYS;
        tctx.bind_refused |= reason == TOE_R_ADDRINUSE;
        return;
    }
    if (type == TOE_CMD_PORT) {
        qp->no_port |= reason == TOE_R_NOSYS;
        return;
    }
    /* Our command was for a flow that had ended: its CLOSE_EVENT precedes this one in the ring. */
    if (reason == TOE_R_NOTCONN || reason == TOE_R_BADF || reason == TOE_R_NOENT)
        return;
    if (type == TOE_CMD_OPTION)
        return;
    tqp_breach(qp, name ? name : "a command was refused", reason);
}

void tdispatch_command(struct tqp *qp, const struct toe_cmd *c)
{
    switch (toe_cmd_type(c)) {
    case TOE_CMD_DATA_RECEIVED:
        data_received(qp, c);
        break;
    case TOE_CMD_SEND_COMPLETE:
        send_complete(qp, c);
        break;
    case TOE_CMD_LISTEN_ESTABLISHED:
        tlisten_established(qp, c);
        break;
    case TOE_CMD_CONNECT_ESTABLISHED:
        tconnect_done(qp, c);
        break;
    case TOE_CMD_CONNECT_READY:
        tconnect_ready(qp, c);
        break;
    case TOE_CMD_URGENT:
        urgent(qp, c);
        break;
    case TOE_CMD_CONNECT_PORT:
        tconnect_port(qp, c);
        break;
    case TOE_CMD_CONNECT_FAILED:
        connect_failed(c);
        break;
    case TOE_CMD_CLOSE_EVENT:
        close_event(qp, c);
        break;
    case TOE_CMD_ERROR:
        error_event(qp, c);
        break;
    default:
        tqp_breach(qp, "unknown HW command", toe_cmd_type(c));
    }
}

static void lose(struct tsock *s)
{
    if (s->state == TS_LISTEN) {
        tlisten_drop_queue(s);
        s->announced = 0;
        /* Wakes sleepers, to wait for the next TOE. The interrupt that would wake them is closed
         * with the queue pairs, and so leaves an epoll instance before its sleeper has seen it. */
        tobj_notify(&s->obj, EPOLLIN | EPOLLRDNORM);
    } else if (s->state == TS_CONNECTING) {
        tconnect_failed(s->handle, ECONNRESET);
    }
}

/* Detaches s from its queue pair, whose buffers are about to be freed. */
static void lose_flow(struct tqp *qp, struct tsock *s)
{
    int error = s->state == TS_OPEN || s->rx_avail ? ECONNRESET : s->error;

    tclaim_lost(s, qp);
    s->qp = NULL;
    if (s->rx_avail)
        s->eof = TEOF_END; /* its bytes are lost: the stream does not end in order */
    s->rx_avail = 0;
    s->rx = s->tx = NULL;
    s->framed = false;
    tflow_gone(s, error);
}

void tdispatch_lost(void)
{
    thandle_each(lose);
    for (uint32_t q = 0; q < tctx.qps_n; q++) {
        struct tqp *qp = tctx.qps[q];

        for (uint32_t i = 0; i < qp->cfg.slots; i++) {
            struct tsock *s = qp->slots[i];

            qp->slots[i] = NULL;
            if (s && s != TSLOT_CLOSING)
                lose_flow(qp, s);
        }
    }
}

void tdispatch_object_end(struct tobj *o)
{
    if (o->items)
        tepoll_forget_object(o);
    if (o->kind == TOBJ_SOCK)
        tsock_end((struct tsock *)o);
    else if (o->kind == TOBJ_EPOLL)
        tepoll_end((struct tepoll *)o);
}
