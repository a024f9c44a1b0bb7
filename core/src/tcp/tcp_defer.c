/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_defer.c - TCP_DEFER_ACCEPT: a listener whose connections are told when their first data has
 * come, or when so many times of the SYN-ACK's timer have passed (tcp(7)).
 *
 * As Linux: the peer's bare ACK of our SYN-ACK is left unheard, and the flow stays half open. Its
 * timer runs on but sends nothing; the last time it does, so that the peer's answer opens it.
 */
#include "tcp_defer.h"

#include "tcp.h"
#include "tcp_timer.h"

int toec_deferred(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g)
{
    /* without a timer: of a cookie, which nobody could wait for */
    if (!(t->rare & TOEC_RARE_HALF) || !(t->flags & TOEC_F_RTX))
        return 0;
    if (g->len || (g->flags & TOEC_TH_FIN) || t->rexmits >= t->stage.half.listener->defer) {
        if (t->rare & TOEC_RARE_ACKED) { /* no timeout has been for want of an ACK */
            t->rare &= (toec_u8)~TOEC_RARE_ACKED;
            t->rexmits = 0;
        }
        return 0;
    }
    t->rtt_start = 0; /* no sample: the times count from the initial RTO */
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
    /* From here on it is any half-open flow, whose SYN-ACK is lost. */
    t->rare &= (toec_u8)~TOEC_RARE_ACKED;
    t->stalled_at = toec_ticks(now);
    t->snd_nxt = t->iss;
    toec_pend(s, t);
    return 1;
}
