/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_uto.c - limits on the time without progress: R2 (RFC 9293 3.8.3), the user's own timeout
 * (MUST-21, Linux's TCP_USER_TIMEOUT), and the one negotiated with the peer (RFC 5482).
 *
 * RFC 5482 3.1: a flow with ADV_UTO set advertises it to the peer and uses the larger of both
 * values, within bounds. A timeout set by the user takes precedence (CHANGEABLE is then false). A
 * flow without ADV_UTO ignores the option: R5482-01.
 */
#include "tcp_uto.h"

#include "tcp.h"

#define L_LIMIT 100u    /* seconds: RFC 9293 SHLD-11, RFC 5482 3.1 */
#define U_LIMIT 86400u  /* a day: an attacker cannot hold a flow for longer (RFC 5482 4) */
#define OWED    3u      /* segments that carry the option, as it is not acknowledged */
#define MINUTES 0x8000u /* the granularity bit */
#define UTO_MAX (0x7fffu * 60u)

/* R5482-02, R5482-03, R5482-05. */
toec_u32 toec_user_timeout(const struct toec_tcb *t)
{
    toec_u32 s;

    if (t->user_timeout || !t->uto.adv || !t->uto.remote)
        return t->user_timeout;
    s = t->uto.remote & (MINUTES - 1);
    if (t->uto.remote & MINUTES)
        s *= 60u;
    s = t->uto.adv > s ? t->uto.adv : s;
    s = s > L_LIMIT ? s : L_LIMIT;
    s = s < U_LIMIT ? s : U_LIMIT;
    return TOEC_MS_LEAST(s * 1000ull);
}

/* RFC 9293 MUST-20 to MUST-23. As in Linux, the user timeout replaces the count of retransmissions
 * for data; for a SYN or a window probe it applies in addition to the count. */
int toec_is_over(const struct toec_tcb *t, int persist, toec_u32 ticks)
{
    toec_u32 limit = toec_user_timeout(t), since = t->stalled_at;
    unsigned r2 = TOEC_R2_DATA;

    if (persist && t->uto.shut)
        since = t->uto.shut_at; /* even if the peer answers each probe: R6429-01 */
    if (limit && ticks - since >= limit)
        return 1;
    if (t->state == TOEC_SYN_SENT)
        r2 = t->fo.syn_retries ? t->fo.syn_retries : TOEC_R2_SYN;
    else if (t->state == TOEC_SYN_RECEIVED)
        r2 = TOEC_R2_SYNACK;
    else if (limit && !persist)
        return 0;
    return t->rexmits > r2;
}

toec_u32 toec_uto_clamp(const struct toec_tcb *t, toec_u32 at, toec_u32 ticks)
{
    toec_u32 limit = toec_user_timeout(t), end;

    if (!limit || (!t->rexmits && !t->uto.shut))
        return at;
    end = limit + (t->uto.shut ? t->uto.shut_at : t->stalled_at);
    if (TOEC_SEQ_GE(end, at))
        return at;
    return TOEC_SEQ_GT(end, ticks) ? end : ticks + 1;
}

int toec_uto_set(struct toec_stack *s, struct toec_tcb *t, toec_u32 seconds)
{
    if (seconds > UTO_MAX)
        return TOEC_E_INVAL;
    t->uto.adv = seconds;
    t->uto.owed = seconds ? OWED : 0;
    if (!seconds) {
        t->rare &= (toec_u8)~TOEC_RARE_UTO;
        return 0;
    }
    t->rare |= TOEC_RARE_UTO;
    if (t->state >= TOEC_ESTABLISHED) {
        t->flags |= TOEC_F_ACK_NOW;
        toec_pend(s, t);
    }
    return 0;
}

unsigned toec_uto_option(struct toec_tcb *t, toec_u8 *o, unsigned room)
{
    if (room < TOEC_TCPOPT_UTO_LEN)
        return 0;
    o[0] = TOEC_TCPOPT_UTO;
    o[1] = TOEC_TCPOPT_UTO_LEN;
    if (t->uto.adv < MINUTES)
        toec_put16(o + 2, t->uto.adv);
    else
        toec_put16(o + 2, MINUTES | (t->uto.adv + 59) / 60);
    if (t->state >= TOEC_ESTABLISHED && --t->uto.owed == 0) /* a SYN is retransmitted anyway */
        t->rare &= (toec_u8)~TOEC_RARE_UTO;
    return TOEC_TCPOPT_UTO_LEN;
}

/* R5482-04. */
void toec_uto_input(struct toec_tcb *t, const struct toec_seg *g)
{
    if (g->uto & (MINUTES - 1)) /* RFC 5482 3.1: zero is reserved and ignored */
        t->uto.remote = g->uto;
}
