/* SPDX-License-Identifier: Apache-2.0 */
/*
 * direct.c - a queue pair whose host is a part of this program and runs in the engine's own thread
 * (toe/inline.h). Its commands are calls; its notifications are calls at the end of a round.
 * Immediate answers to commands wait in the HW ring until then. That ring is private memory.
 *
 * The host must not issue commands from within a notification: it queues them (manager/,
 * tqp_flush()).
 */
#include "direct.h"
#include "commands.h"
#include "events.h"
#include "qp.h"

/* Delivers the answers from the HW ring. */
static unsigned notify_answers(struct qp *qp)
{
    /* the host's doorbell memory, written here on its behalf */
    struct toedev_doorbells *d = (void *)(qp->area + qp->layout.doorbells);
    struct toe_cmd c;
    unsigned n = 0;

    while (toe_ring_get(&qp->answers, &c)) {
        qp->notify(qp->notify_arg, &c);
        n++;
    }
    toe_ring_store(&d->hw_tail, qp->answers.tail);
    return n;
}

void direct_command(struct qp *qp, const struct toe_cmd *raw)
{
    if (qp->halted || qp->dropped)
        return;
    if (!toe_ring_has_room(&qp->hw) && !command_can_answer(qp))
        notify_answers(qp);
    command_run(qp, raw, (uint32_t)qp->sw_commands++);
}

unsigned direct_notify(struct qp *qp)
{
    unsigned n = 0, answers = 0;
    struct slot *s;

    if (qp->hw.head != qp->answers.tail)
        answers = notify_answers(qp);
    while ((s = qp->pend_first)) {
        while (s->pending) {
            struct toe_cmd c = event_next(s);

            qp->notify(qp->notify_arg, &c);
            n++;
        }
        qp->pend_first = s->pend_next;
        s->queued = 0;
    }
    qp->pend_last = NULL;
    qp->hw_commands += n;
    return n + answers;
}
