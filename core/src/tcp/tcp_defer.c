/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_defer.c - TCP_DEFER_ACCEPT: the listener reports a connection only when its first data has
 * arrived, or when the SYN-ACK's timer has expired a given number of times (tcp(7)).
 *
 * As in Linux, the peer's bare ACK of our SYN-ACK is ignored, and the flow stays half open. Its
 * timer keeps running but sends nothing. The last expiry retransmits the SYN-ACK, so that the
 * peer's answer opens the flow.
 */
#include "tcp_defer.h"

#include "tcp.h"
#include "tcp_timer.h"

int toec_deferred(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g)
{
    /* a flow without a timer comes from a SYN cookie: nothing would end the wait */
    if (!(t->rare & TOEC_RARE_HALF) || !(t->flags & TOEC_F_RTX))
        return 0;
    if (g->len || (g->flags & TOEC_TH_FIN) || t->rexmits >= t->stage.half.listener->defer) {
        if (t->rare & TOEC_RARE_ACKED) { /* the timeouts so far were not due to a missing ACK */
            t->rare &= (toec_u8)~TOEC_RARE_ACKED;
            t->rexmits = 0;
        }
        return 0;
    }
    t->rtt_start = 0; /* no sample: the timeouts count from the initial RTO */
    t->rare |= TOEC_RARE_ACKED;
    TOEC_COUNT(s, tcp_deferred);
    return 1;
}

int toec_defer_timeout(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    if (!(t->rare & TOEC_RARE_ACKED))
        return 0;
    t->rexmits++;
    t->backoff++;
    if (t->rexmits < t->stage.half.listener->defer) {
        toec_rtx_start(s, t, now);
        return 1;
    }
    /* From here on treat it as a half-open flow whose SYN-ACK was lost. */
    t->rare &= (toec_u8)~TOEC_RARE_ACKED;
    t->stalled_at = toec_ticks(now);
    t->snd_nxt = t->iss;
    toec_pend(s, t);
    return 1;
}
