/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_icmp.c - effects of ICMP errors on flows (RFC 1122 4.2.3.9, RFC 5461, RFC 5927, RFC 1191).
 * Any host can forge one, so it must quote an outstanding sequence number, and its effects are
 * limited.
 */
#include "tcp_icmp.h"

#include "tcp.h"
#include "tcp_if.h"
#include "tcp_timer.h"
#include "tcp_trace.h"

/*
 * Returns not 0 for errors that end a connection attempt: protocol and port unreachable (RFC 9293
 * SHLD-26), and a firewall's "prohibited" (RFC 1812 5.2.7.1), as in Linux.
 */
static int is_hard(const struct toec_icmp_err *e)
{
    return e->type == TOEC_ICMP4_UNREACH &&
           (e->code == TOEC_ICMP4_UNREACH_PROTO || e->code == TOEC_ICMP4_UNREACH_PORT ||
            e->code == TOEC_ICMP4_UNREACH_NET_ADMIN || e->code == TOEC_ICMP4_UNREACH_HOST_ADMIN ||
            e->code == TOEC_ICMP4_UNREACH_ADMIN);
}

static void soft_error(struct toec_tcb *t, enum toec_reason why)
{
    t->reason = (toec_u8)why;
    t->rare |= TOEC_RARE_SOFT;
}

/* RFC 9293 MUST-47, MUST-54, MUST-56, SHLD-25. */
void toec_tcp_icmp_error(struct toec_stack *s, const struct toec_icmp_err *e, toec_time now)
{
    enum toec_reason why = toec_icmp_reason(e);
    struct toec_tuple id;
    struct toec_tcb *t;

    id.local = &e->local;
    id.remote = &e->remote;
    id.local_port = e->local_port;
    id.remote_port = e->remote_port;
    t = toec_tcb_find(s, toec_tuple_hash(s, &id), &id);
    /* R5927-01, R1191-05: accept only errors that quote outstanding data */
    if (!t || TOEC_SEQ_LT(e->seq, t->snd_una) || TOEC_SEQ_GE(e->seq, t->snd_max)) {
        TOEC_COUNT(s, tcp_icmp_ignored);
        return;
    }
    if ((t->rare & TOEC_RARE_AO) && toec_ao_ignores(s, t, e))
        return;
    if (e->type == TOEC_ICMP4_UNREACH && e->code == TOEC_ICMP4_UNREACH_FRAG) {
        toec_pm_too_big(s, t, e->seq, e->mtu, now);
        return;
    }
    /* A hard error ends a connection attempt but never an established connection (R5927-02). All
     * other errors are soft in both cases (RFC 9293 MUST-56): they give the reason when R2 is
     * reached. */
    if (is_hard(e) && t->state < TOEC_ESTABLISHED) {
        toec_tcb_gone(s, t, why);
        return;
    }
    TOEC_COUNT(s, tcp_icmp_soft);
    toec_trace_una(s, t, TOEC_T_ERROR, (toec_u32)why);
    soft_error(t, why);
    if (t->state >= TOEC_ESTABLISHED && !(t->flags & TOEC_F_USER_GONE))
        toec_event(s, t, TOEC_EV_ERROR, (toec_u32)why);
}

void toec_unreachable(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    TOEC_COUNT(s, tcp_unreachable);
    /* The local neighbour resolution reports it, so it is trusted: ends a connection attempt
     * (EHOSTUNREACH). */
    if (t->state == TOEC_SYN_SENT) {
        toec_tcb_gone(s, t, TOEC_R_HOSTUNREACH);
        return;
    }
    toec_trace_una(s, t, TOEC_T_ERROR, TOEC_R_HOSTUNREACH);
    soft_error(t, TOEC_R_HOSTUNREACH);
    if (t->state >= TOEC_ESTABLISHED && !(t->flags & TOEC_F_USER_GONE))
        toec_event(s, t, TOEC_EV_ERROR, TOEC_R_HOSTUNREACH);
    toec_watch(s, t, now);
}

void toec_watch(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    if (t->flags & TOEC_F_RTX)
        return;
    /* The timer retries data, FIN and SYN, until R2. A flow with only an ACK to send needs no
     * timer: the peer retransmits, and that is acknowledged. */
    if (t->state < TOEC_ESTABLISHED ||
        TOEC_SEQ_LT(t->snd_una, t->snd_end + ((t->flags & TOEC_F_FIN) != 0)))
        toec_rtx_start(s, t, now);
}
