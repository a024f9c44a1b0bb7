/* SPDX-License-Identifier: Apache-2.0 */
/* record.c - a flow's record in the status area, which the TOE keeps up to date. */
#include <string.h>

#include "inline.h"
#include "qp.h"
#include "record.h"
#include "tsock.h"

bool tsock_record(const struct tsock *s, struct toedev_flow_record *out)
{
    const struct toedev_flow_record *r;

    if (unlikely(s->flow))
        s = s->flow;
    if (!s->qp || s->state == TS_CONNECTING)
        return false;
    if (s->qp->direct)
        tinline_refresh(s->qp, s->slot);
    r = (const struct toedev_flow_record *)(s->qp->area + s->qp->layout.records) + s->slot;
    for (int tries = 0; tries < 1000; tries++) {
        uint32_t seq = __atomic_load_n(&r->seq, __ATOMIC_ACQUIRE);

        memcpy(out, r, sizeof(*out));
        atomic_thread_fence(memory_order_acquire);
        if (!(seq & 1) && __atomic_load_n(&r->seq, __ATOMIC_RELAXED) == seq)
            return true;
        tpause();
    }
    return false;
}
