/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_reclaim.c - all TCBs are in use and one more is wanted: a flow that has stood still for long
 * is reset (RFC 6429 3: the system may when resources are low, R6429-01). Who opens connections and
 * then shuts the window or falls silent (Sockstress, CVE-2008-4609) cannot keep others out.
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

    /* A few at random, as cost must not depend on how many there are: where an attacker holds a
     * good part of the flows one of his is among them. The wait between two attempts doubles, so
     * it tells how long the flow has stood still already. */
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
