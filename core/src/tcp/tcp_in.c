/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_in.c - processing of a segment for a flow in SYN-RECEIVED or later (RFC 9293 3.10.7.4): the
 * checks, in the order of the RFC. ACKs are handled in tcp_ack.c, text and FIN in tcp_text.c.
 */
#include "tcp_in.h"

#include "tcp.h"
#include "tcp_ack.h"
#include "tcp_defer.h"
#include "tcp_emit.h"
#include "tcp_open.h"
#include "tcp_opt.h"
#include "tcp_out.h"
#include "tcp_sack.h"
#include "tcp_text.h"
#include "tcp_trace.h"
#include "tcp_urg.h"
#include "tcp_uto.h"

/*
 * Rate-limits answers to segments that may be forged (RFC 5961 7). The limit is per flow, so that
 * one connection's limit reveals nothing about another (CVE-2016-5696). R5961-04, R5961-05. */
static int may_challenge(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    toec_u32 ticks = toec_ticks(now);

    if (t->state < TOEC_ESTABLISHED && t->snd_nxt == t->iss)
        return 0; /* our pending SYN is sent first and carries the same ACK */
    if (t->challenges == 0 || ticks - t->challenge_at >= TOEC_CHALLENGE_T) {
        t->challenge_at = ticks;
        t->challenges = 0;
    }
    if (t->challenges >= TOEC_CHALLENGE_N) {
        TOEC_COUNT(s, tcp_challenge_limited);
        return 0;
    }
    t->challenges++;
    TOEC_COUNT(s, tcp_challenge_acks);
    return 1;
}

void toec_challenge(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    if (may_challenge(s, t, now))
        toec_send_ack(s, t, now);
}

/* Returns not 0 when the timestamp is older than TS.Recent (RFC 7323 5.3 R1). R7323-13, R7323-16.
 * There is no fast path that bypasses this check for expected ACKs (R7323-17). */
static int paws_stale(const struct toec_tcb *t, const struct toec_seg *g, toec_time now)
{
    if (!TOEC_SEQ_LT(g->tsval, t->ts_recent))
        return 0;
    /* RFC 7323 5.5: after 24 days TS.Recent is invalid */
    return toec_ticks(now) - t->rcv_at < TOEC_PAWS_IDLE;
}

/* Records data below RCV.NXT as a duplicate (RFC 2883 4.1), unless it is also below IRS. */
static void note_old(struct toec_tcb *t, const struct toec_seg *g)
{
    toec_u32 end = g->seq + g->len, received = t->rcv_nxt - t->irs - 1;

    if (t->rx_wraps || t->rcv_nxt - g->seq <= received)
        toec_dsack_note(t, g->seq, TOEC_SEQ_LT(end, t->rcv_nxt) ? end : t->rcv_nxt);
}

/* Acknowledges an unacceptable segment (RFC 9293 3.10.7.4): data or FIN at the next poll; a bare
 * ACK, which might be part of an ACK loop, at a limited rate. */
static void ack_unacceptable(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g,
                             toec_time now)
{
    if (g->flags & TOEC_TH_RST)
        return;
    if (g->len || (g->flags & TOEC_TH_FIN)) {
        if (TOEC_SEQ_LT(g->seq, t->rcv_nxt))
            note_old(t, g);
        t->flags |= TOEC_F_ACK_NOW;
        toec_pend(s, t);
    } else {
        toec_challenge(s, t, now);
    }
}

/* First check of RFC 9293 3.10.7.4, the table of 3.4: returns not 0 when acceptable. In addition to
 * the table, a segment of length 0 at the right edge of the window is accepted. If a peer has
 * filled the window and lost a segment in it, all its ACKs (or its RST) have that sequence number.
 * RFC 9293 MUST-66: a closed window accepts RST and URG. */
static int seq_acceptable(const struct toec_tcb *t, const struct toec_seg *g)
{
    toec_u32 len = g->len + ((g->flags & TOEC_TH_SYN) != 0) + ((g->flags & TOEC_TH_FIN) != 0);
    int open = TOEC_SEQ_GT(t->rcv_adv, t->rcv_nxt);

    if (len == 0)
        return open ? TOEC_SEQ_GE(g->seq, t->rcv_nxt) && TOEC_SEQ_LE(g->seq, t->rcv_adv)
                    : g->seq == t->rcv_nxt;
    if (!open) /* an in-order segment still carries an ACK, and a FIN needs no room */
        return g->seq == t->rcv_nxt;
    /* The segment begins in the window, or before it and reaches RCV.NXT. Distances are compared,
     * because signed comparisons are ambiguous at a distance of 2^31. */
    return g->seq - t->rcv_nxt < t->rcv_adv - t->rcv_nxt || t->rcv_nxt - g->seq < len;
}

/* Second check: RST (RFC 5961 3.2). The segment is in the window. R5961-01; RFC 9293 MUST-11,
 * MUST-12, SHLD-2. */
static void on_rst(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g,
                   toec_time now)
{
    if (g->seq != t->rcv_nxt) {
        toec_challenge(s, t, now);
        return;
    }
    TOEC_COUNT(s, tcp_rst_received);
    toec_trace_una(s, t, TOEC_T_RST_RECEIVED, 0);
    if (t->fo.flags & TOEC_FO_SYN)
        toec_tfo_end(s, t, 1, now);
    if (t->state == TOEC_SYN_RECEIVED)
        toec_tcb_gone(s, t, (t->rare & TOEC_RARE_HALF) ? TOEC_R_RESET : TOEC_R_REFUSED);
    else if ((t->state == TOEC_CLOSING || t->state == TOEC_LAST_ACK) &&
             (t->flags & TOEC_F_USER_GONE))
        toec_tcb_gone(s, t, TOEC_R_OK); /* RFC 9293 3.10.7.4: closed without an error */
    else
        toec_tcb_gone(s, t, TOEC_R_RESET);
}

/* Handles the peer's SYN in SYN-RECEIVED: a retransmission, or the SYN-ACK of a simultaneous open.
 * Returns not 0 when the segment needs no further processing. */
static int syn_again(struct toec_stack *s, struct toec_tcb *t, struct toec_seg *g)
{
    if (t->state != TOEC_SYN_RECEIVED || g->seq != t->irs)
        return 0;
    if (g->flags & TOEC_TH_RST)
        return 0;
    if (g->flags & TOEC_TH_ACK) {
        /* Simultaneous open (RFC 9293 3.5, figure 8): the SYN-ACK is processed as an ACK. */
        toec_ecn_take_synack(s, t, g);
        g->seq++;
        g->flags &= ~(TOEC_TH_SYN | TOEC_TH_ECE);
        g->unscaled = 1;
        return 0;
    }
    TOEC_COUNT(s, tcp_syn_again);
    toec_ecn_take_syn(s, t, g);
    t->snd_nxt = t->iss; /* our SYN-ACK was lost */
    toec_pend(s, t);
    return 1;
}

/* RFC 7323 4.3: updates TS.Recent if the segment covers Last.ACK.sent: its timestamp is the one to
 * echo in the next ACK. Without the option negotiated, nothing reads TS.Recent. R7323-12. */
static void take_timestamp(struct toec_tcb *t, const struct toec_seg *g, toec_time now)
{
    if (TOEC_SEQ_LE(g->seq, t->rcv_acked) &&
        (TOEC_SEQ_GE(g->tsval, t->ts_recent) || toec_ticks(now) - t->rcv_at >= TOEC_PAWS_IDLE))
        t->ts_recent = g->tsval;
}

void toec_trim(struct toec_tcb *t, struct toec_seg *g)
{
    toec_u32 skip, end;

    if (TOEC_SEQ_LT(g->seq, t->rcv_nxt)) {
        skip = t->rcv_nxt - g->seq;
        note_old(t, g);
        if (skip > g->len) { /* entirely old, including the FIN */
            g->flags &= ~TOEC_TH_FIN;
            skip = g->len;
            g->seq = t->rcv_nxt - skip;
        }
        g->seq += skip;
        g->off += skip;
        g->len -= skip;
        t->flags |= TOEC_F_ACK_NOW;
    }
    end = TOEC_SEQ_GT(t->rcv_adv, t->rcv_nxt) ? t->rcv_adv : t->rcv_nxt;
    if (g->len && TOEC_SEQ_GT(g->seq + g->len, end)) {
        g->len = TOEC_SEQ_LT(g->seq, end) ? end - g->seq : 0;
        g->flags &= ~TOEC_TH_FIN;
        t->flags |= TOEC_F_ACK_NOW;
    }
}

/*
 * Returns not 0 for an ACK of a peer that does not know yet that its window probe's byte was
 * accepted: its ACKs carry the sequence number before that byte (toec_bare_seq()). The ACK field is
 * processed; if both ends were in this state, each would otherwise wait for the other forever. A
 * keep-alive looks the same, so such a segment is also answered, once, and its timestamp is echoed.
 */
static int is_ack_of_prober(const struct toec_tcb *t, const struct toec_seg *g)
{
    return g->seq == t->rcv_nxt - 1 && g->len == 0 && t->state >= TOEC_ESTABLISHED &&
           (g->flags & (TOEC_TH_SYN | TOEC_TH_FIN | TOEC_TH_RST | TOEC_TH_URG | TOEC_TH_ACK)) ==
               TOEC_TH_ACK;
}

/* Runs checks one to four. Returns 0 to continue with the segment, 1 to process only its ACK and
 * answer it, -1 when it was dropped. R5961-02, R7323-09, R7323-14: PAWS does not apply to a RST. */
static int check(struct toec_stack *s, struct toec_tcb *t, struct toec_seg *g, toec_time now)
{
    if ((g->flags & TOEC_TH_SYN) && syn_again(s, t, g))
        return -1;
    if ((t->fo.flags & TOEC_FO_SYN) && toec_tfo_syn_again(s, t, g))
        return -1;
    if ((t->flags & TOEC_F_TS) && !(g->flags & TOEC_TH_RST)) {
        /* RFC 7323 3.2 SHOULD drop a segment without the negotiated timestamp. As on Linux, it only
         * passes without PAWS: middleboxes strip the option from a handshake's last ACK, and the
         * keep-alives of several systems lack it. */
        if (!g->has_ts) {
            TOEC_COUNT(s, tcp_no_timestamp);
        } else if (paws_stale(t, g, now)) {
            TOEC_COUNT(s, tcp_paws);
            ack_unacceptable(s, t, g, now);
            return -1;
        }
    }
    if (!seq_acceptable(t, g)) {
        TOEC_COUNT(s, tcp_out_of_window);
        if (is_ack_of_prober(t, g))
            return 1;
        ack_unacceptable(s, t, g, now);
        return -1;
    }
    if (g->flags & TOEC_TH_RST) {
        on_rst(s, t, g, now);
        return -1;
    }
    if (g->flags & TOEC_TH_SYN) {
        toec_challenge(s, t, now); /* RFC 5961 4.2 */
        return -1;
    }
    if (!(g->flags & TOEC_TH_ACK)) {
        TOEC_COUNT(s, tcp_no_ack_bit);
        return -1;
    }
    return 0;
}

/* Answers an ACK that a half-open flow cannot accept with RST; the flow stays. */
static void rst_for(struct toec_stack *s, const struct toec_tcb *t, const struct toec_seg *g,
                    toec_time now)
{
    toec_u8 opt[12];
    unsigned n = 0;

    /* R7323-08: if negotiated, a RST carries the timestamp option, too; R7323-10: without the ACK
     * bit TSecr is 0 */
    if (t->flags & TOEC_F_TS)
        n = toec_opt_ts(opt, toec_ticks(now) + t->ts_off, 0);
    if (toec_send_bare(s, g, g->ack, 0, TOEC_TH_RST, 0, opt, n, now) == 0)
        TOEC_COUNT(s, tcp_rst_sent);
}

/* In SYN-RECEIVED, also after a Fast Open: returns not 0 when the segment does not acknowledge our
 * SYN; it is answered with RST. */
static int syn_not_acked(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g,
                         toec_time now)
{
    if (TOEC_SEQ_GT(g->ack, t->snd_una) && TOEC_SEQ_LE(g->ack, t->snd_max))
        return 0;
    rst_for(s, t, g, now);
    return -1;
}

void toec_segment(struct toec_stack *s, struct toec_tcb *t, struct toec_seg *g, toec_time now)
{
    int ack_alone;

    if (t->state == TOEC_SYN_SENT) {
        toec_synsent_input(s, t, g, now);
        return;
    }
    ack_alone = check(s, t, g, now);
    if (ack_alone < 0)
        return;
    if ((t->state == TOEC_SYN_RECEIVED || (t->fo.flags & TOEC_FO_SYN)) &&
        syn_not_acked(s, t, g, now))
        return;
    /* Before TS.Recent is updated: a forged timestamp with a guessed ACK would block the flow by
     * PAWS. */
    if (toec_ack_check(s, t, g, now))
        return;
    if (t->state == TOEC_SYN_RECEIVED && toec_deferred(s, t, g))
        return;
    if (g->has_ts)
        take_timestamp(t, g, now);
    t->rcv_at = toec_ticks(now);
    if (t->state == TOEC_SYN_RECEIVED)
        toec_established(s, t, g, now);
    if (((g->tos & TOEC_IP_ECN) | (g->flags & TOEC_TH_CWR)) != 0)
        toec_ecn_data(s, t, g, now);
    if (t->fo.flags & TOEC_FO_SYN)
        toec_tfo_acked(s, t, now);
    if (g->uto)
        toec_uto_input(t, g);
    if (toec_ack_input(s, t, g, now))
        return;
    if (ack_alone) { /* data that the ACK allows to send answers it as well */
        if (may_challenge(s, t, now)) {
            t->flags |= TOEC_F_ACK_NOW;
            toec_pend(s, t);
        }
        return;
    }
    if (g->flags & TOEC_TH_URG)
        toec_urg_input(s, t, g);
    if (g->len || g->seq != t->rcv_nxt)
        toec_trim(t, g);
    if (g->len || (g->flags & TOEC_TH_FIN))
        toec_text(s, t, g, now);
    else if (t->flags & TOEC_F_ACK_NOW)
        toec_pend(s, t);
}
