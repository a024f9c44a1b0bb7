/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_reclaim.c - frees a TCB when all are in use and a new flow needs one: resets a flow that has
 * been stalled for long (RFC 6429 3 allows this when resources are low, R6429-01). An attacker who
 * opens connections and then closes the window or stops answering (Sockstress, CVE-2008-4609)
 * cannot lock out others.
 */
#include "tcp_reclaim.h"

#include "tcp_emit.h"
#include "tcp_tables.h"
#include "tcp_timer.h"

#define SAMPLES 16u

int toec_reclaim(struct toec_stack *s, toec_time now)
{
    struct toec_pool *pool = &s->tcp->flows;
    struct toec_tcb *worst = 0;
    toec_u32 most = TOEC_RECLAIM_T, i;

    /* Samples a few flows at random, so that the cost does not depend on their number. If an
     * attacker holds a large share of the flows, the sample contains one of them. The timeout
     * doubles with each attempt, so it shows how long the flow has been stalled. */
    for (i = 0; i < SAMPLES; i++) {
        struct toec_tcb *t = toec_pool_at(pool, toec_rand32(s) % pool->total);
        toec_u32 waits = toec_backed_off(t);

        if ((t->flags & TOEC_F_RTX) && waits >= most) {
            most = waits;
            worst = t;
        }
    }
    if (!worst)
        return -1;
    TOEC_COUNT(s, tcp_reclaimed);
    toec_tcb_reset(s, worst, TOEC_R_NOBUFS, now);
    return 0;
}
