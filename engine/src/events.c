/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.c - notifications from the flows to their host: HW commands and interrupts
 * (docs/device-contract.md: HW commands, Interrupt and moderation).
 *
 * Every event is first noted in its slot and the slot queued once, then written at the end of the
 * step. So DATA_RECEIVED and SEND_COMPLETE merge by themselves, and a full HW ring loses nothing:
 * the slot waits in the list, one entry a flow however many events it had.
 */
#include <errno.h>
#include <unistd.h>

#include "listen.h"
#include "log.h"
#include "qp.h"

/* Longest wait that moderation may ask for. */
#define MODERATION_MAX_US 1000000u

void event_pend(struct slot *s, unsigned what)
{
    struct qp *qp = s->qp;

    s->pending |= what;
    if (s->queued)
        return;
    s->queued = 1;
    s->pend_next = NULL;
    if (qp->pend_last)
        qp->pend_last->pend_next = s;
    else
        qp->pend_first = s;
    qp->pend_last = s;
}

static void put(struct qp *qp, const struct toe_cmd *c)
{
    toe_ring_put(&qp->hw, c);
    qp->hw_commands++;
}

void event_error(struct qp *qp, uint16_t reason, uint32_t flow, uint32_t position, uint8_t type)
{
    struct toe_cmd c = toe_cmd_make(TOE_CMD_ERROR, 0, reason, flow, position, type);

    qp->errors++;
    put(qp, &c);
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

/* The record was written when the event came, before the flow could go away. */
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

void event_full(struct qp *qp)
{
    if (!qp->full)
        engine_count(qp->engine, EC_hw_ring_full);
    qp->full = 1;
}

struct toe_cmd event_next(struct slot *s)
{
    unsigned what = s->pending & -(unsigned)s->pending;
    struct toe_cmd c;

    s->pending &= (uint8_t)~what;
    switch (what) {
    case PEND_ESTABLISHED:
        s->told = 1;
        opening_del(s);
        return established(s);
    case PEND_URGENT:
        return toe_cmd_make(TOE_CMD_URGENT, 0, 0, s->index, s->urgent_at, 0);
    case PEND_DATA:
        c = toe_cmd_make(TOE_CMD_DATA_RECEIVED, 0, 0, s->index, s->pend_data, 0);
        s->rx_told += s->pend_data;
        s->pend_data = 0;
        return c;
    case PEND_ACKED:
        c = toe_cmd_make(TOE_CMD_SEND_COMPLETE, 0, 0, s->index, s->pend_acked, 0);
        s->pend_acked = 0;
        return c;
    case PEND_HALF:
        return toe_cmd_make(TOE_CMD_CLOSE_EVENT, TOE_F_CLOSE_EVENT_HALF, 0, s->index, 0, 0);
    case PEND_FINAL:
        return toe_cmd_make(TOE_CMD_CLOSE_EVENT, 0, s->reason, s->index, 0, 0);
    default: /* PEND_FAILED */
        c = toe_cmd_make(TOE_CMD_CONNECT_FAILED, 0, s->reason, 0, s->cookie, 0);
        engine_count(s->qp->engine, EC_connect_failed);
        slot_free(s);
        return c;
    }
}

/* Nobody reads the notifications of a queue pair that is no longer served. */
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
    uint32_t room = toe_ring_room(&qp->hw);
    unsigned n = 0;
    struct slot *s;

    if (room == TOE_RING_BAD) {
        qp_halt(qp, TOE_R_PROTO);
        return 0;
    }
    while ((s = qp->pend_first) && room) {
        if (s->pending) {
            struct toe_cmd c = event_next(s);

            put(qp, &c);
            n++;
            room--;
        }
        if (s->pending)
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

/* One write to the host's eventfd. It is checked at attach not to block, but the host keeps a
 * handle on it and can change that: the start is noted so that the watcher can end the write. */
void event_interrupt(struct qp *qp)
{
    struct engine *e = qp->engine;
    uint64_t one = 1;
    ssize_t n;

    if (qp->irq_broken)
        return;
    atomic_store(&e->irq_since, e->now);
    n = write(qp->irq_fd, &one, sizeof(one));
    atomic_store(&e->irq_since, 0);
    engine_count(e, EC_interrupts);
    if (n == (ssize_t)sizeof(one) || errno == EAGAIN)
        return; /* a full counter has not been read: the host is about to wake */
    engine_count(e, EC_interrupt_failed);
    qp->irq_broken = 1;
    qp_halt(qp, TOE_R_PROTO);
}

/*
 * Interrupts when the host has armed since the last interrupt and moderation allows it. Called
 * after new commands were published (the fence pairs with the host's between arming and its last
 * look at the ring) and while commands are held back.
 */
static void moderate(struct qp *qp)
{
    const struct toedev_doorbells *d = qp->doorbells;
    uint32_t seq, count, usec;
    uint64_t now = qp->engine->now;

    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    seq = toe_ring_load(&d->irq_seq);
    if (!toe_ring_load(&d->irq_arm) || seq == qp->irq_fired) {
        /* Not armed. Who arms looks at the ring afterwards and finds them. */
        qp->irq_waiting = 0;
        qp->irq_deadline = UINT64_MAX;
        return;
    }
    count = toe_ring_load(&d->irq_count);
    usec = toe_ring_load(&d->irq_usec);
    if (count > 1 && usec > 0) {
        uint32_t unhandled = qp->hw.head - toe_ring_load(&d->hw_tail);

        if (!qp->irq_waiting) {
            qp->irq_waiting = 1;
            qp->irq_deadline =
                now + (usec < MODERATION_MAX_US ? usec : MODERATION_MAX_US) * NS_PER_US;
        }
        if (unhandled < count && now < qp->irq_deadline)
            return;
    }
    qp->irq_waiting = 0;
    qp->irq_deadline = UINT64_MAX;
    qp->irq_fired = seq;
    event_interrupt(qp);
}

unsigned events_flush(struct qp *qp)
{
    unsigned n = 0;

    if (qp->halted || qp->dropped) {
        discard(qp);
        return 0;
    }
    if (qp->tell)
        return direct_tell(qp);
    if (qp->pend_first)
        n = write_pending(qp);
    if (qp->full && !qp->pend_first && toe_ring_room(&qp->hw) != 0)
        qp->full = 0;
    if (qp->hw.head != qp->hw_published) {
        qp->hw_published = qp->hw.head;
        toe_ring_store(&qp->status->hw_head, qp->hw.head);
        moderate(qp);
    } else if (qp->irq_waiting)
        moderate(qp);
    return n;
}

uint64_t events_deadline(const struct qp *qp)
{
    return qp->irq_waiting ? qp->irq_deadline : UINT64_MAX;
}
