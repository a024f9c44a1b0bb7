/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.c - notifications to hosts: HW commands and interrupts (docs/device-contract.md: HW
 * commands, Interrupt and moderation).
 *
 * Every event is first recorded in its slot, which is queued once, and written at the end of the
 * step. So successive DATA_RECEIVED and SEND_COMPLETE events merge, and a full HW ring loses no
 * event: the slot waits in the list, with one entry per flow however many events are pending.
 */
#include "events.h"
#include "base/irq.h"
#include "base/log.h"
#include "direct.h"
#include "exchange.h"
#include "listen.h"
#include "opening.h"
#include "qp.h"
#include "record.h"

/* Further entries of the common ring that an answer may cause: the SW tail, and the last
 * notification. */
#define BESIDES 2u

void event_pend(struct slot *s, unsigned what)
{
    struct qp *qp = s->qp;

    s->pending |= what;
    if (s->queued | s->parked)
        return;
    s->queued = 1;
    s->pend_next = NULL;
    if (qp->pend_last)
        qp->pend_last->pend_next = s;
    else
        qp->pend_first = s;
    qp->pend_last = s;
}

void event_put(struct qp *qp, const struct toe_cmd *c)
{
    if (qp->common) {
        common_put(qp->common, COMMON_COMMAND, qp, c);
        qp->hw.head++;
    } else {
        toe_ring_put(&qp->hw, c);
    }
    qp->hw_commands++;
}

void event_error(struct qp *qp, uint16_t reason, uint32_t flow, uint32_t position, uint8_t type)
{
    struct toe_cmd c = toe_cmd_make(TOE_CMD_ERROR, 0, reason, flow, position, type);

    qp->errors++;
    event_put(qp, &c);
}

static uint32_t mapped_ip4(const struct toec_addr *a)
{
    static const uint8_t prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    unsigned i;

    for (i = 0; i < sizeof(prefix); i++)
        if (a->b[i] != prefix[i])
            return 0;
    return toe_ip4_number(a->b + 12);
}

/* The flow record was written at the time of the event, before the flow could end. */
static struct toe_cmd established(const struct slot *s)
{
    const struct toedev_flow_record *r =
        (const void *)(s->qp->area + s->qp->layout.records + (uint64_t)s->index * TOEDEV_RECORD);
    struct toec_addr remote;
    unsigned i;

    if (s->active)
        return toe_cmd_make(TOE_CMD_CONNECT_ESTABLISHED, 0, r->local_port, s->index, s->cookie, 0);
    for (i = 0; i < sizeof(remote.b); i++)
        remote.b[i] = r->remote[i];
    return toe_cmd_make(TOE_CMD_LISTEN_ESTABLISHED, 0, r->remote_port, s->index,
                        mapped_ip4(&remote), s->cookie);
}

int event_has_room(struct qp *qp)
{
    return toe_ring_has_room(&qp->hw) && (!qp->common || common_room(qp->common) > BESIDES);
}

uint32_t event_room(struct qp *qp)
{
    uint32_t room = toe_ring_room(&qp->hw), common;

    if (!qp->common || room == TOE_RING_BAD)
        return room;
    common = common_room(qp->common);
    common = common < BESIDES ? 0 : common - BESIDES;
    return room < common ? room : common;
}

void event_full(struct qp *qp)
{
    int where = toe_ring_has_room(&qp->hw) ? FULL_COMMON : FULL_RING;

    if (!(qp->full & where))
        engine_count(qp->engine, where == FULL_RING ? EC_hw_ring_full : EC_manager_full);
    qp->full |= where;
}

struct toe_cmd event_next(struct slot *s)
{
    unsigned what = s->pending & -(unsigned)s->pending;
    struct toe_cmd c;

    s->pending &= (uint8_t)~what;
    switch (what) {
    case PEND_ESTABLISHED:
        s->announced = 1;
        if (!s->active)
            record_unclaim(s);
        opening_del(s);
        return established(s);
    case PEND_URGENT:
        return toe_cmd_make(TOE_CMD_URGENT, 0, 0, s->index, s->urgent_at, 0);
    case PEND_DATA:
        if (__builtin_expect(s == s->qp->engine->timed, 0))
            exchange_notified(s->qp->engine);
        c = toe_cmd_make(TOE_CMD_DATA_RECEIVED, 0, 0, s->index, s->pend_data,
                         (uint32_t)(s->qp->engine->now >> 10));
        s->rx_reported += s->pend_data;
        s->pend_data = 0;
        return c;
    case PEND_ACKED:
        if (s->current && s->flow)
            record_write(s);
        c = toe_cmd_make(TOE_CMD_SEND_COMPLETE, 0, 0, s->index, s->pend_acked, 0);
        s->pend_acked = 0;
        return c;
    case PEND_HALF:
        return toe_cmd_make(TOE_CMD_CLOSE_EVENT, TOE_F_CLOSE_EVENT_HALF, 0, s->index, 0, 0);
    case PEND_FINAL:
        return toe_cmd_make(TOE_CMD_CLOSE_EVENT, 0, s->reason, s->index, 0, 0);
    default: /* PEND_FAILED */
        c = toe_cmd_make(TOE_CMD_CONNECT_FAILED, 0, s->reason, 0, s->cookie, record_port(s));
        engine_count(s->qp->engine, EC_connect_failed);
        slot_free(s);
        return c;
    }
}

/* Discards pending notifications of a queue pair that is no longer served. */
static void discard(struct qp *qp)
{
    struct slot *s;

    while ((s = qp->pend_first)) {
        qp->pend_first = s->pend_next;
        s->queued = 0;
        if (s->pending & (PEND_FINAL | PEND_FAILED))
            slot_free(s);
        s->pending = 0;
    }
    qp->pend_last = NULL;
}

/* Writes pending notifications while there is room. Returns how many. */
static unsigned write_pending(struct qp *qp)
{
    uint32_t room = event_room(qp);
    unsigned n = 0;
    struct slot *s;

    if (room == TOE_RING_BAD) {
        qp_halt(qp, TOE_R_PROTO);
        return 0;
    }
    while ((s = qp->pend_first) && room) {
        if (s->pending && !s->parked) {
            struct toe_cmd c = event_next(s);

            event_put(qp, &c);
            n++;
            room--;
        }
        if (s->pending && !s->parked)
            continue;
        qp->pend_first = s->pend_next;
        if (!qp->pend_first)
            qp->pend_last = NULL;
        s->queued = 0;
    }
    if (qp->pend_first)
        event_full(qp);
    return n;
}

void events_write(struct qp *qp)
{
    if (!qp->notify && !qp->halted && qp->pend_first && event_room(qp) != TOE_RING_BAD)
        (void)write_pending(qp);
}

/* Interrupts now, whether armed or not. */
static void interrupt(struct qp *qp)
{
    struct engine *e = qp->engine;

    if (qp->outlet.irq.broken)
        return;
    engine_count(e, EC_interrupts);
    if (irq_write(&qp->outlet.irq, qp->irq_fd, &e->irq_since, e->now) == 0)
        return;
    engine_count(e, EC_interrupt_failed);
    qp_halt(qp, TOE_R_PROTO);
}

/* Interrupts if due; called after new commands were published, and while moderation delays one. */
static void moderate(struct qp *qp)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (irq_due(&qp->outlet.irq, qp->doorbells, qp->hw.head, qp->engine->now))
        interrupt(qp);
}

void event_sw_tail(struct qp *qp)
{
    const struct toe_cmd tail = {{qp->sw.tail, 0}};

    if (qp->common)
        common_put(qp->common, COMMON_TAIL, qp, &tail);
    else
        toe_ring_store(&qp->status->sw_tail, qp->sw.tail);
}

/* Sends the last notification as one entry, so that it cannot be split. */
static void last_by_manager(struct qp *qp)
{
    struct toe_cmd c = toe_cmd_make(TOE_CMD_ERROR, 0, qp->halted, 0, qp->sw.tail, 0);
    int room = toe_ring_has_room(&qp->hw);

    qp->last_due = common_room(qp->common) == 0;
    if (qp->last_due)
        return;
    common_put(qp->common, room ? COMMON_LAST : COMMON_WAKE, qp, &c);
    if (!room)
        return;
    qp->hw.head++;
    qp->hw_commands++;
    qp->errors++;
}

void event_last(struct qp *qp)
{
    if (qp->common) {
        last_by_manager(qp);
        return;
    }
    qp->last_due = 0;
    if (toe_ring_has_room(&qp->hw)) {
        event_error(qp, qp->halted, 0, qp->sw.tail, 0);
        toe_ring_store(&qp->status->hw_head, qp->hw.head);
    }
    interrupt(qp);
}

int event_gone(struct qp *qp)
{
    return !qp->common || common_room(qp->common) != 0;
}

/* Follows the manager, which publishes and interrupts: halts the queue pair when an interrupt
 * failed. */
static void heed_manager(struct qp *qp)
{
    qp->hw_published = qp->hw.head;
    if (!atomic_load_explicit(&qp->irq_failed, memory_order_relaxed))
        return;
    engine_count(qp->engine, EC_interrupt_failed);
    qp_halt(qp, TOE_R_PROTO);
}

unsigned events_flush(struct qp *qp)
{
    unsigned n = 0;

    if (qp->last_due)
        event_last(qp);
    if (qp->halted || qp->dropped) {
        discard(qp);
        return 0;
    }
    if (qp->notify)
        return direct_notify(qp);
    if (qp->pend_first)
        n = write_pending(qp);
    if (qp->full && !qp->pend_first && event_room(qp) != 0)
        qp->full = 0;
    if (qp->common)
        heed_manager(qp);
    else if (qp->hw.head != qp->hw_published) {
        qp->hw_published = qp->hw.head;
        toe_ring_store(&qp->status->hw_head, qp->hw.head);
        moderate(qp);
    } else if (qp->outlet.irq.waiting)
        moderate(qp);
    return n;
}

uint64_t events_deadline(const struct qp *qp)
{
    return qp->common ? UINT64_MAX : qp->outlet.irq.deadline;
}
