/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_ecn.c - Explicit Congestion Notification (RFC 3168 6.1): negotiation, marks and echoes.
 * RFC 9293 SHLD-8.
 *
 * Chosen as Linux does: a SYN sent again asks no more (6.1.1.1 MAY; tcp_ecn_fallback), and an
 * ECN-setup SYN that is itself ECN-capable is refused, as the path may not keep the field.
 */
#include "tcp_ecn.h"

#include "tcb.h"
#include "tcp_out.h"

#define SETUP (TOEC_TH_ECE | TOEC_TH_CWR)

/* ---- handshake ---- */

/* DCTCP is of no use without: it asks whatever the policy is, as in Linux. */
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
    /* R3168-02: an ECN-setup SYN has ECE and CWR, an ECN-setup SYN-ACK has ECE alone. */
    if (t->state != TOEC_SYN_SENT) { /* SYN-RECEIVED, or opened by a Fast Open cookie */
        if (t->ecn.flags & TOEC_ECN_RX)
            return TOEC_TH_ECE;
        t->ecn.flags |= TOEC_ECN_PLAIN; /* of a simultaneous open: the peer's SYN did not ask */
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
    /* RFC 3168 6.1.1: who has received, or (in a simultaneous open) sent, one SYN that is no
     * ECN-setup SYN does not send ECT. */
    if ((toec_ecn_grants(t->ecn.policy, g) || (needs(t) && (g->flags & SETUP) == SETUP)) &&
        !(t->ecn.flags & TOEC_ECN_PLAIN))
        toec_ecn_start(s, t);
    else
        t->ecn.flags &= ~(TOEC_ECN_TX | TOEC_ECN_RX);
}

void toec_ecn_take_synack(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g)
{
    toec_u8 before = t->ecn.flags;

    /* R3168-02: both flags are a peer that reflects reserved bits, not an ECN-setup SYN-ACK. */
    if (!(before & TOEC_ECN_ASKED) || (g->flags & SETUP) != TOEC_TH_ECE) {
        t->ecn.flags &= ~(TOEC_ECN_TX | TOEC_ECN_RX);
        return;
    }
    toec_ecn_start(s, t);
    /* RFC 3168 6.1.1: who has sent a plain SYN as well must not send ECT, but the peer may. */
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

    /* R3168-01, R3168-06, R3168-07 (RFC 3168 6.1.4 to 6.1.6): ECT on new data alone. A mark on a
     * pure ACK, a retransmission or a window probe would not reach who must react. */
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
    /* RFC 3168 6.1.2: CWR is set after a cut for whatever reason. */
    t->ecn.flags |= TOEC_ECN_CUT | TOEC_ECN_CWR;
    t->ecn.cut_end = t->snd_max;
}

/* ---- receiving ---- */

/*
 * R8257-01: ECE says whether the segments acknowledged were marked, so a change of marks ends a
 * delayed ACK. What came before is acknowledged by an ACK of its own, lest it be counted with the
 * wrong ones (its MAY; as Linux). CWR means nothing then.
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
        if (mark != TOEC_IP_NOT_ECT) /* else a retransmission: it tells nothing */
            echo_exactly(s, t, mark == TOEC_IP_CE, now);
        return;
    }
    /* CWR first: it answers the marks before it, and this segment's own counts anew. */
    if ((g->flags & TOEC_TH_CWR) && (t->ecn.flags & TOEC_ECN_ECE)) {
        t->ecn.flags &= ~TOEC_ECN_ECE;
        t->flags |= TOEC_F_ACK_NOW; /* the peer's window may be one segment */
    }
    if (mark != TOEC_IP_CE)
        return;
    TOEC_COUNT(s, tcp_ecn_ce);
    /* R3168-05: every ACK carries ECE until the peer says CWR. */
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
    /* R3168-04: once for each window of data. The CWR that ends the echo stands on the segment
     * behind cut_end, so only what lies beyond it tells of another mark. */
    if ((t->ecn.flags & TOEC_ECN_CUT) &&
        (t->ecn.cut_end == t->snd_una || toec_is_out(t, t->ecn.cut_end)))
        return;
    if (t->flags & (TOEC_F_FAST | TOEC_F_LOSS))
        return; /* this window of data has cut it already */
    TOEC_COUNT(s, tcp_ecn_cuts);
    if (t->rack.episode)
        t->rack.episode->undo.on =
            0; /* what is found out of an earlier loss does not take this back */
    toec_cc_congested(t, TOEC_CC_ECN, a->now);
    t->stage.cwv.nv_loss = 0; /* no recovery follows, after which to look back */
    if (t->cwnd > t->cc.ssthresh && !toec_cc_owns_cwnd(t))
        t->cwnd = t->cc.ssthresh;
    toec_ecn_cut(t);
}
