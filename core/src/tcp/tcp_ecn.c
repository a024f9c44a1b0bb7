/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_ecn.c - Explicit Congestion Notification (RFC 3168 6.1): negotiation, marks and echoes.
 * RFC 9293 SHLD-8.
 *
 * Choices follow Linux: a retransmitted SYN does not request ECN (6.1.1.1 MAY; tcp_ecn_fallback).
 * An ECN-setup SYN that is itself ECN-capable is not granted ECN, because the path may alter the
 * field.
 */
#include "tcp_ecn.h"

#include "tcb.h"
#include "tcp_out.h"
#include "tcp_trace.h"

#define SETUP (TOEC_TH_ECE | TOEC_TH_CWR)

/* ---- handshake ---- */

/* DCTCP needs ECN: it requests it whatever the policy is, as in Linux. */
static int needs(const struct toec_tcb *t)
{
    return (t->cc_ops->flags & TOEC_CC_ECT) != 0;
}

static int wants(const struct toec_tcb *t)
{
    return t->ecn.policy == TOEC_ECN_ON || needs(t);
}

unsigned toec_ecn_syn_flags(struct toec_stack *s, struct toec_tcb *t)
{
    /* R3168-02: an ECN-setup SYN has ECE and CWR, an ECN-setup SYN-ACK only ECE. */
    if (t->state != TOEC_SYN_SENT) { /* SYN-RECEIVED, or opened by a Fast Open cookie */
        if (t->ecn.flags & TOEC_ECN_RX)
            return TOEC_TH_ECE;
        t->ecn.flags |= TOEC_ECN_PLAIN; /* simultaneous open: the peer's SYN did not request ECN */
        return 0;
    }
    if (wants(t) && t->rexmits == 0) {
        t->ecn.flags |= TOEC_ECN_ASKED;
        return SETUP;
    }
    if ((t->ecn.flags & (TOEC_ECN_ASKED | TOEC_ECN_PLAIN)) == TOEC_ECN_ASKED)
        TOEC_COUNT(s, tcp_ecn_fallback);
    t->ecn.flags |= TOEC_ECN_PLAIN;
    return 0;
}

int toec_ecn_grants(unsigned policy, const struct toec_seg *syn)
{
    return policy != TOEC_ECN_OFF && (syn->flags & SETUP) == SETUP &&
           (syn->tos & TOEC_IP_ECN) == TOEC_IP_NOT_ECT;
}

void toec_ecn_take_syn(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g)
{
    /* RFC 3168 6.1.1: a host that has received, or (in a simultaneous open) sent, a SYN that is not
     * an ECN-setup SYN must not send ECT. */
    if ((toec_ecn_grants(t->ecn.policy, g) || (needs(t) && (g->flags & SETUP) == SETUP)) &&
        !(t->ecn.flags & TOEC_ECN_PLAIN))
        toec_ecn_start(s, t);
    else
        t->ecn.flags &= ~(TOEC_ECN_TX | TOEC_ECN_RX);
}

void toec_ecn_take_synack(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g)
{
    toec_u8 before = t->ecn.flags;

    /* R3168-02: both flags mean that the peer reflects reserved bits, not an ECN-setup SYN-ACK. */
    if (!(before & TOEC_ECN_ASKED) || (g->flags & SETUP) != TOEC_TH_ECE) {
        t->ecn.flags &= ~(TOEC_ECN_TX | TOEC_ECN_RX);
        return;
    }
    toec_ecn_start(s, t);
    /* RFC 3168 6.1.1: a host that has also sent a plain SYN must not send ECT, but the peer may. */
    if (before & TOEC_ECN_PLAIN)
        t->ecn.flags &= ~TOEC_ECN_TX;
}

void toec_ecn_start(struct toec_stack *s, struct toec_tcb *t)
{
    if (!(t->ecn.flags & TOEC_ECN_RX))
        TOEC_COUNT(s, tcp_ecn_flows);
    t->ecn.flags |= TOEC_ECN_TX | TOEC_ECN_RX;
}

/* ---- sending ---- */

unsigned toec_ecn_emit(const struct toec_tcb *t, toec_u32 seq, toec_u32 len, toec_u8 *tos)
{
    unsigned ecn = t->ecn.flags, flags = (ecn & TOEC_ECN_ECE) ? TOEC_TH_ECE : 0;

    /* R3168-01, R3168-06, R3168-07 (RFC 3168 6.1.4 to 6.1.6): ECT only on new data. A mark on a
     * pure ACK, a retransmission or a window probe would not reach the sender that must react. */
    if (!(ecn & TOEC_ECN_TX) || len == 0 || seq != t->snd_max ||
        (t->flags & (TOEC_F_ZWIN | TOEC_F_PERSIST | TOEC_F_PROBED)))
        return flags;
    *tos |= TOEC_IP_ECT0; /* RFC 8311 4.1 leaves ECT(1) to experiments */
    return (ecn & TOEC_ECN_CWR) ? flags | TOEC_TH_CWR : flags;
}

int toec_ecn_is_cut(const struct toec_tcb *t)
{
    return (t->ecn.flags & TOEC_ECN_CUT) && toec_is_out(t, t->ecn.cut_end);
}

void toec_ecn_cut(struct toec_tcb *t)
{
    if (!(t->ecn.flags & TOEC_ECN_TX))
        return;
    /* RFC 3168 6.1.2: CWR is set after a cut for any reason. */
    t->ecn.flags |= TOEC_ECN_CUT | TOEC_ECN_CWR;
    t->ecn.cut_end = t->snd_max;
}

/* ---- receiving ---- */

/*
 * R8257-01: ECE shows whether the acknowledged segments were marked, so a change of marks ends a
 * delayed ACK. Earlier segments are acknowledged by a separate ACK, so that the sender does not
 * count them with the wrong ones (RFC 8257's MAY; as in Linux). CWR has no meaning here.
 */
static void echo_exactly(struct toec_stack *s, struct toec_tcb *t, int ce, toec_time now)
{
    if (ce == ((t->ecn.flags & TOEC_ECN_ECE) != 0))
        return;
    if (t->delack || (t->flags & (TOEC_F_DELACK | TOEC_F_ACK_NOW)))
        toec_send_ack(s, t, now);
    t->ecn.flags ^= TOEC_ECN_ECE;
    t->flags |= TOEC_F_ACK_NOW;
}

void toec_ecn_data(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g,
                   toec_time now)
{
    unsigned mark = g->tos & TOEC_IP_ECN;

    if (!(t->ecn.flags & TOEC_ECN_RX) || (g->flags & TOEC_TH_SYN) || g->len == 0)
        return;
    if (mark != TOEC_IP_NOT_ECT)
        t->ecn.flags |= TOEC_ECN_SEEN;
    if (needs(t)) {
        if (mark == TOEC_IP_CE)
            TOEC_COUNT(s, tcp_ecn_ce);
        if (mark != TOEC_IP_NOT_ECT) /* else a retransmission, which has no mark to report */
            echo_exactly(s, t, mark == TOEC_IP_CE, now);
        return;
    }
    /* CWR first: it answers earlier marks; the mark of this segment starts a new echo. */
    if ((g->flags & TOEC_TH_CWR) && (t->ecn.flags & TOEC_ECN_ECE)) {
        t->ecn.flags &= ~TOEC_ECN_ECE;
        t->flags |= TOEC_F_ACK_NOW; /* the peer's window may be one segment */
    }
    if (mark != TOEC_IP_CE)
        return;
    TOEC_COUNT(s, tcp_ecn_ce);
    /* R3168-05: every ACK carries ECE until the peer sends CWR. */
    if (!(t->ecn.flags & TOEC_ECN_ECE)) {
        t->ecn.flags |= TOEC_ECN_ECE;
        t->flags |= TOEC_F_ACK_NOW;
    }
}

void toec_ecn_ack(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g,
                  struct toec_cc_ack *a)
{
    t->ecn.echo = (g->flags & TOEC_TH_ECE) != 0;
    if (!t->ecn.echo)
        return;
    TOEC_COUNT(s, tcp_ecn_echoes);
    a->ece_bytes = a->delivered;
    /* R3168-04: once per window of data. The segment after cut_end carries the CWR that ends the
     * echo, so only an ACK beyond cut_end reports another mark. */
    if ((t->ecn.flags & TOEC_ECN_CUT) &&
        (t->ecn.cut_end == t->snd_una || toec_is_out(t, t->ecn.cut_end)))
        return;
    if (t->flags & (TOEC_F_FAST | TOEC_F_LOSS))
        return; /* the window was already cut for this window of data */
    TOEC_COUNT(s, tcp_ecn_cuts);
    toec_trace_una(s, t, TOEC_T_ECN_CUT, t->cwnd);
    if (t->rack.episode)
        t->rack.episode->undo.on = 0; /* undoing an earlier loss must not undo this cut */
    toec_cc_congested(t, TOEC_CC_ECN, a->now);
    t->stage.cwv.nv_loss = 0; /* no recovery follows that would adjust ssthresh at its end */
    if (t->cwnd > t->cc.ssthresh && !toec_cc_owns_cwnd(t))
        t->cwnd = t->cc.ssthresh;
    toec_ecn_cut(t);
}
