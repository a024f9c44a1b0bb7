/* SPDX-License-Identifier: Apache-2.0 */
/* end.c - the process ends, or ends its use of the TOE (end.h). */
#include <stdlib.h>

#include "ctx.h"
#include "end.h"
#include "exec_relay.h"
#include "flow.h"
#include "handle.h"
#include "host.h"
#include "internal.h"
#include "lock.h"
#include "qp.h"
#include "share.h"
#include "tsock.h"

static void end_handle(struct tsock *s)
{
    tsock_end(s);
}

/* Waits until the TOE has taken all our commands, so that the end of the process does not overtake
 * a CLOSE. Gives up after longer than a working TOE ever needs. */
static void drain_out(void)
{
    uint64_t limit = tclock_ns() + NSEC / 10;

    for (uint32_t q = 0; q < tctx.qps_n; q++) {
        struct tqp *qp = tctx.qps[q];

        tqp_ring(qp);
        while (!qp->broken && toe_ring_load(&qp->status->sw_tail) != qp->sw.head &&
               tclock_ns() < limit) {
            struct timespec ts = {0, 20000};

            tqp_drain(qp);
            tqp_flush(qp);
            thost_ppoll(NULL, 0, &ts, NULL, NULL);
        }
    }
}

static void terminate_locked(void)
{
    if (tctx.state == TC_UP) {
        thandle_each(end_handle);
        for (uint32_t q = 0; q < tctx.qps_n; q++) {
            struct tqp *qp = tctx.qps[q];

            for (uint32_t i = 0; i < qp->cfg.slots; i++)
                if (qp->slots[i] && qp->slots[i] != TSLOT_CLOSING)
                    tsock_end(qp->slots[i]);
        }
        drain_out();
        tctx_detach();
    }
    tfd_internal_close(tctx.placeholder_fd);
    tctx.placeholder_fd = -1;
    tctx.state = TC_COLD;
    tctx.configured = false;
}

void toe_terminate(void)
{
    tctx_lock();
    terminate_locked();
    tctx_unlock();
}

/* Drops the queue pairs without using them: another process owns them now. */
static void leave_to_successor(void)
{
    for (uint32_t q = 0; q < tctx.qps_n; q++)
        for (uint32_t i = 0; i < tctx.qps[q]->cfg.slots; i++)
            if (tctx.qps[q]->slots[i] && tctx.qps[q]->slots[i] != TSLOT_CLOSING)
                tshare_orphan(tctx.qps[q]->slots[i]);
    tctx.qps_n = 0;
}

void tctx_end(void)
{
    if (tlock_inside())
        return;
    atomic_store(&tctx.ended, true);
    tctx_lock();
    if (tctx.state == TC_UP && thandover_succeed())
        leave_to_successor();
    else if (tctx.state == TC_UP)
        terminate_locked();
    tctx.state = TC_FAILED;
    tctx_unlock();
}

static void __attribute__((destructor)) at_exit(void)
{
    tctx_end();
}

/* quick_exit() calls no destructors. */
static void __attribute__((constructor)) before_quick_exit(void)
{
    at_quick_exit(tctx_end);
}
