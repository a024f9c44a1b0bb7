/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port.c - the port functions of core/ (toe/port.h): copies payload between frames and the slots'
 * ring buffers, passes frames to the back end, and turns events into notifications (events.c).
 *
 * user is the struct engine, the owner of a flow its struct slot, the owner of a listener its
 * struct listen_group.
 */
#include <string.h>

#include "frames/engine_state.h"
#include "frames/gro.h"
#include "frames/sums.h"
#include "frames/vlan.h"
#include "frames/wiretap.h"
#include "hosts/events.h"
#include "hosts/exchange.h"
#include "hosts/listen.h"
#include "hosts/record.h"
#include "hosts/refs.h"
#include "hosts/rx_hold.h"
#include "hosts/shared.h"
#include "hosts/stranded.h"
#include "hosts/trace.h"

/* Finds the payload of tx. */
static void find_payload(const struct toec_tx *tx, struct offload_payload *p)
{
    const struct slot *s = tx->owner;
    uint32_t size, from;

    if (!tx->src && refs_any(s)) {
        refs_payload(s->qp->engine, s, tx->off, tx->len, p);
        return;
    }
    p->count = 1;
    if (tx->src) {
        p->ref[0] = (struct netio_ref){tx->src->data + tx->off, tx->len};
        return;
    }
    size = slot_tx_size(s);
    from = tx->off & (size - 1);
    p->ref[0] = (struct netio_ref){slot_tx(s) + from, size - from};
    if (size - from >= tx->len) {
        p->ref[0].len = tx->len;
        return;
    }
    p->ref[1] = (struct netio_ref){slot_tx(s), tx->len - (size - from)};
    p->count = 2;
}

static int transmit_large(struct engine *e, const struct toec_tx *tx)
{
    struct offload_payload p;

    find_payload(tx, &p);
    if (offload_send(e, tx, &p) == 0)
        return 0;
    engine_count(e, EC_tx_no_room);
    return -1;
}

int toec_port_transmit(void *user, const struct toec_tx *tx)
{
    struct engine *e = user;
    struct offload_payload p;
    struct netio_frame f;
    struct vlan_tx tagged;

    if (__builtin_expect(e->timed != NULL, 0) && tx->owner == e->timed && tx->len)
        exchange_frame(e);
    if (tx->local) {
        p.count = 0;
        if (tx->len)
            find_payload(tx, &p);
        return loop_keep(e, tx, &p);
    }
    if (e->cfg.vlan) {
        vlan_tag(&tagged, tx, e->cfg.vlan);
        tx = &tagged.tx;
    }
    if (offload_holds(&e->offload) && offload_push(e) != 0) {
        engine_count(e, EC_tx_no_room);
        return -1;
    }
    if (tx->gso_size)
        return transmit_large(e, tx);
    if (netio_tx_alloc(e->netio, &f) != 0) {
        engine_count(e, EC_tx_no_room);
        return -1;
    }
    p.count = 0;
    if (tx->len)
        find_payload(tx, &p);
    if (tx->hdr_len + tx->len > f.cap) {
        netio_tx_cancel(e->netio, &f);
        engine_count(e, EC_tx_too_big);
        if (wiretap_on(e))
            wiretap_unsent(e, tx, &p, DROP_tx_too_big);
        return 0;
    }
    memcpy(f.data, tx->hdr, tx->hdr_len);
    if (offload_may_refer(tx, tx->len, &f)) {
        offload_refer(e, tx, &p, &f);
        return 0;
    }
    offload_fill(e, tx, &p, 0, tx->len, &f);
    wiretap_submit(e, &f, tx->owner);
    return 0;
}

void toec_port_place(void *user, void *owner, toec_u32 off, const struct toec_packet *p,
                     toec_u32 p_off, toec_u32 len)
{
    struct engine *e = user;
    struct slot *s = owner;
    uint32_t size = s->qp->cfg.rx_size, to = off & (size - 1), first = size - to;

    if (e->hold.min && hold_put_off(e, s, off, p, p_off, len))
        return;
    if (first > len)
        first = len;
    gro_copy(slot_rx(s) + to, p, p_off, first);
    gro_copy(slot_rx(s), p, p_off + first, len - first);
}

toec_u16 toec_port_checksum(void *user, const struct toec_packet *p, toec_u32 p_off, toec_u32 len)
{
    (void)user;
    return sums->sum(p->data + p_off,
                     len); /* never called for joined frames: their checksums are verified */
}

void toec_port_copy(void *user, void *dst, const struct toec_packet *p, toec_u32 p_off,
                    toec_u32 len)
{
    (void)user;
    gro_copy(dst, p, p_off, len);
}

int toec_port_open(void *user, void *listener_owner, const struct toec_open *info,
                   struct toec_buffers *out)
{
    struct listen_group *g = listener_owner;
    struct slot *s = listen_pick(g, info->hash);

    (void)user;
    if (!s)
        return -1;
    shared_accept(s, &info->local, info->local_port);
    trace_begin(s, TRACE_SYN, 0);
    out->owner = s;
    out->tx_size = s->qp->cfg.tx_size;
    out->rx_size = s->qp->cfg.rx_size;
    return 0;
}

static void on_established(struct slot *s, struct toec_tcb *flow)
{
    struct engine *e = s->qp->engine;

    s->flow = flow;
    s->state = SLOT_OPEN;
    if (s->doomed && !s->active && listen_reopen(s, flow) == 0)
        return;
    if (!s->doomed && stranded_refuses(s)) {
        engine_count(e, EC_stranded);
        s->doomed = 1;
    }
    if (s->doomed) {
        /* core/ must not be called back from here: reset at the end of the step */
        if (!s->abort_queued) {
            s->abort_queued = 1;
            s->abort_next = e->abort_first;
            e->abort_first = s;
        }
        return;
    }
    if (!s->active)
        listen_enter(s);
    record_write(s);
    trace_established(s);
    event_pend(s, PEND_ESTABLISHED);
}

static void on_gone(struct slot *s, uint16_t reason)
{
    /* A parked flow that ends leaves without a trace: its process may never run to release it. */
    int opening = s->state == SLOT_OPENING,
        silent = s->doomed || (opening && !s->active) || s->parked;

    if (opening && s->active && s->flow) {
        record_write(s); /* its local port */
        trace_name(s);
    }
    trace_end(s, reason);
    refs_drop(s);
    shared_leave(s);
    s->flow = NULL;
    s->reason = reason;
    s->state = SLOT_GONE;
    listen_leave(s);
    if (silent) {
        slot_free(s); /* the host was never notified of it */
    } else if (opening && !s->fast) {
        event_pend(s, PEND_FAILED);
    } else {
        record_write(s);
        event_pend(s, PEND_FINAL);
    }
}

void toec_port_event(void *user, void *owner, struct toec_tcb *flow, enum toec_event ev,
                     toec_u32 arg)
{
    struct engine *e = user;
    struct slot *s = owner;

    if (e->hold.slot) {
        if (ev == TOEC_EV_DATA)
            hold_in_order(e, s, arg);
        else
            hold_copy(e);
    }
    if (__builtin_expect(s == e->timed, 0))
        exchange_event(e, ev, arg);
    switch (ev) {
    case TOEC_EV_ESTABLISHED:
        on_established(s, flow);
        break;
    case TOEC_EV_DATA:
        if (s->state == SLOT_OPEN) {
            s->pend_data += arg;
            event_pend(s, PEND_DATA);
        }
        break;
    case TOEC_EV_ACKED:
        s->tx_used -= arg;
        s->una += arg;
        if (s->refs)
            refs_acked(s);
        if (s->state == SLOT_OPEN) {
            s->pend_acked += arg;
            event_pend(s, PEND_ACKED);
        }
        break;
    case TOEC_EV_PEER_CLOSED:
        trace_put(s, TRACE_PEER_CLOSED, 0);
        if (s->state == SLOT_OPEN)
            event_pend(s, PEND_HALF);
        break;
    case TOEC_EV_URGENT:
        if (s->state == SLOT_OPEN) {
            s->urgent_at = arg;
            event_pend(s, PEND_URGENT);
        }
        break;
    case TOEC_EV_ERROR:
        s->soft_error = (uint16_t)arg;
        break;
    case TOEC_EV_GONE:
        on_gone(s, (uint16_t)arg);
        return;
    }
    record_touch(s);
}
