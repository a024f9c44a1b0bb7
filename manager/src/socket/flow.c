/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow.c - the life of a flow's slot: from establishment to RELEASE (docs/device-contract.md).
 */
#include "flow.h"
#include "ancillary.h"
#include "batch.h"
#include "handle.h"
#include "inline.h"
#include "lent_buffers.h"
#include "listen.h"
#include "own_port.h"
#include "qp.h"
#include "ready.h"
#include "tsock.h"
#include "zerocopy.h"

void tflow_open(struct tsock *s, struct tqp *qp, uint32_t slot)
{
    s->qp = qp;
    s->slot = slot;
    s->tx = qp->area + toedev_tx_offset(&qp->cfg, &qp->layout, slot);
    s->rx = qp->area + toedev_rx_offset(&qp->cfg, &qp->layout, slot);
    s->tx_free = tinline_room(qp, slot, false);
    s->tx_mask = s->tx_free - 1;
    s->rx_mask = qp->cfg.rx_size - 1;
    s->rx_held = 0;
    s->rx_pos = s->rx_avail = s->rx_unreported = s->tx_pos = 0;
    s->eof = s->oob = 0;
    s->framed = false;
    s->rx_times.n = 0;
    tancillary_options(s);
    s->state = TS_OPEN;
    qp->slots[slot] = s;
}

void tflow_report_read(struct tsock *s)
{
    uint32_t n = s->rx_unreported;

    if (!n || s->state != TS_OPEN)
        return;
    s->rx_unreported = 0;
    tqp_send(s->qp, TOE_CMD_RECV, 0, 0, s->slot, n, 0);
}

void tflow_release(struct tsock *s)
{
    struct tqp *qp = s->qp;

    if (!qp)
        return;
    s->qp = NULL;
    s->rx = s->tx = NULL;
    s->framed = false;
    s->rx_avail = 0;
    /* not put here: this may be within a drain, which must not wait for space (ring.h) */
    qp->slots[s->slot] = TSLOT_CLOSING;
    tqp_release_later(qp, s->slot);
}

void tflow_done(struct tsock *s)
{
    struct tqp *qp = s->qp;

    if (!qp || s->rx_avail || s->claims)
        return;
    tflow_release(s);
    tqp_flush(qp);
}

void tflow_gone(struct tsock *s, int error)
{
    s->state = TS_DEAD;
    if (!s->eof)
        s->eof = TEOF_END;
    if (error)
        s->error = error;
    tport_release(s);
    tzc_gone(s);
    /* Data received before the end can still be read: Linux keeps it after a reset too. */
    if (!s->rx_avail && !s->claims)
        tflow_release(s);
    tobj_notify(&s->obj, tsock_events(s));
}

static void end_open(struct tsock *s)
{
    struct tqp *qp = s->qp;
    bool abort = s->abort || (s->opts.linger_on && s->opts.linger_s == 0);

    tloan_settle(s);
    /* the TOE must know of unread data: it answers a close with RST then, as Linux does */
    tflow_report_read(s);
    tzc_settle(s);
    qp->slots[s->slot] = TSLOT_CLOSING;
    s->qp = NULL;
    tbatch_answered(s);
    tqp_send(qp, TOE_CMD_CLOSE, abort ? TOE_F_CLOSE_ABORT : 0, 0, s->slot, 0, 0);
}

static void end_connecting(struct tsock *s)
{
    struct tqp *qp = s->qp;
    uint32_t cookie = s->handle;

    /* the answer will match no handle; an established flow is then aborted (tconnect_done()) */
    thandle_free(s->handle);
    s->handle = 0;
    s->qp = NULL;
    if (!qp)
        return;
    if (s->fast) {
        qp->slots[s->slot] = TSLOT_CLOSING;
        tqp_send(qp, TOE_CMD_CLOSE, TOE_F_CLOSE_ABORT, 0, s->slot, 0, 0);
    } else {
        tqp_send(qp, TOE_CMD_CANCEL, 0, 0, cookie, 0, 0);
    }
    s->fast = s->fast_sent = 0;
}

void tflow_part(struct tsock *s)
{
    if (s->flow)
        s->flow->face = NULL;
    if (s->face)
        s->face->flow = NULL;
    s->flow = s->face = NULL;
}

void tsock_end(struct tsock *s)
{
    tflow_part(s);
    switch ((enum tsock_state)s->state) {
    case TS_OPEN:
        end_open(s);
        break;
    case TS_CONNECTING:
        end_connecting(s);
        break;
    case TS_LISTEN:
        tlisten_end(s);
        break;
    case TS_DEAD:
        if (s->qp) {
            struct tqp *qp = s->qp;

            tflow_release(s);
            tqp_flush(qp);
        }
        break;
    case TS_NEW:
    case TS_SHARED:
    case TS_FOREIGN:
        break;
    }
    s->state = TS_DEAD;
    s->rx = s->tx = NULL;
    s->framed = false;
    s->rx_avail = 0;
    tclaim_end(s);
}
