/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_open.c - opening of connections: the SYN's options, SYN-SENT (RFC 9293 3.10.7.3), and the
 * transition to ESTABLISHED that active and passive opens share.
 */
#include "tcp_open.h"

#include "tcp.h"
#include "tcp_emit.h"
#include "tcp_in.h"
#include "tcp_listen.h"
#include "tcp_text.h"
#include "tcp_timer.h"
#include "tcp_trace.h"
#include "tcp_uto.h"

/* Returns the MSS to advertise: the path's MTU less the fixed headers. RFC 9293 MUST-67, SHLD-6;
 * R6691-01. */
unsigned toec_own_mss(const struct toec_path *path)
{
    unsigned mss = path->mtu - path->hlen - TOEC_TCP_LEN; /* RFC 9293 3.7.1 */

    return mss < 65535u ? mss : 65535u;
}

unsigned toec_wscale_for(unsigned rx_log)
{
    return rx_log > 15 ? rx_log - 15 : 0;
}

/* RFC 9293 MUST-15, MUST-16; R6691-02, R7323-01, R7323-03, R7323-06: both sides must have offered
 * an option. */
void toec_take_options(struct toec_tcb *t, const struct toec_seg *g)
{
    toec_u32 mss = g->mss, own = toec_own_mss(&t->path);

    if (mss == 0)
        mss = TOEC_PATH_IP6(&t->path) ? TOEC_MSS_DEFAULT6 : TOEC_MSS_DEFAULT4;
    if (mss < TOEC_MSS_MIN)
        mss = TOEC_MSS_MIN;
    t->pm.peer_mss = (toec_u16)mss;
    if (mss > own)
        mss = own;
    if (g->has_ts) {
        t->flags |= TOEC_F_TS;
        t->ts_recent = g->tsval; /* RFC 7323 4.3: PAWS begins with the SYN's own value */
    }
    if (g->sack_ok)
        t->flags |= TOEC_F_SACK;
    if (g->has_wscale) {
        t->flags |= TOEC_F_WSCALE;
        t->scales = (toec_u8)(g->wscale << 4 | toec_wscale_for(t->rx_log));
    }
    t->mss = (toec_u16)(mss - toec_opt_len(t)); /* RFC 6691 3 */
}

void toec_take_irs(struct toec_tcb *t, toec_u32 irs, toec_u32 ticks)
{
    toec_u32 size = 1u << t->rx_log;

    t->irs = irs;
    t->rcv_nxt = irs + 1;
    t->rcv_read = irs + 1;
    t->rcv_acked = irs + 1;
    t->rcv_adv = irs + 1 + (size < 65535u ? size : 65535u);
    t->rcv_at = ticks;
}

void toec_take_iss(struct toec_tcb *t, toec_u32 iss)
{
    t->iss = iss;
    t->snd_una = iss;
    t->snd_nxt = iss;
    t->snd_max = iss;
    t->snd_end = iss + 1;
    t->snd_sml = iss;
    t->recover = iss;
}

/* RFC 9293 MUST-10, MUST-11: TOEC_RARE_HALF marks flows that came from LISTEN. */
void toec_established(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g,
                      toec_time now)
{
    toec_u32 acked; /* bytes of the SYN's data */

    if (t->rare & TOEC_RARE_HALF)
        toec_half_open_del(s, t);
    t->flags &= ~TOEC_F_RTX;
    t->state = TOEC_ESTABLISHED;
    t->snd_una = t->iss + 1;
    t->snd_nxt = t->snd_una;
    acked = toec_tfo_synack(s, t, g);
    t->snd_wl1 = g->seq;
    t->snd_wnd = (g->flags & TOEC_TH_SYN) ? g->wnd : toec_seg_wnd(t, g);
    t->max_wnd = t->snd_wnd;
    if (t->rexmits == 0 && t->rtt_start)
        toec_rtt_timed(s, t, (toec_u32)(now >> 10) - t->rtt_start);
    else if (t->rexmits)
        t->rto = (toec_u16)(TOEC_MS(3000) / 4u); /* R6298-13 */
    toec_cc_start(s, t, now);
    t->rexmits = 0;
    t->backoff = 0;
    t->rare &= (toec_u8)~TOEC_RARE_SOFT;
    t->rtt_start = (toec_u32)(now >> 10);
    TOEC_COUNT(s, tcp_established);
    toec_event(s, t, TOEC_EV_ESTABLISHED, 0);
    if (acked)
        toec_event(s, t, TOEC_EV_ACKED, acked);
    if (t->flags & TOEC_F_KEEPALIVE)
        toec_keep_start(s, t, TOEC_MS_LEAST(t->keep_idle * 1000ull), now);
    if (t->flags & TOEC_F_FIN)
        toec_state_set(s, t, TOEC_FIN_WAIT_1); /* closed while opening (RFC 9293 3.10.4) */
    toec_pend(s, t);
}

/* RFC 9293 3.10.7.3 */
void toec_synsent_input(struct toec_stack *s, struct toec_tcb *t, struct toec_seg *g, toec_time now)
{
    int ack = (g->flags & TOEC_TH_ACK) != 0;

    if (ack && (TOEC_SEQ_LE(g->ack, t->iss) || TOEC_SEQ_GT(g->ack, t->iss + 1 + t->fo.syn_len))) {
        if (!(g->flags & TOEC_TH_RST))
            toec_send_rst(s, g, now);
        TOEC_COUNT(s, tcp_bad_ack);
        toec_syn_soon(s, t, now);
        return;
    }
    if (g->flags & TOEC_TH_RST) {
        if (ack) {
            TOEC_COUNT(s, tcp_rst_received);
            toec_trace_una(s, t, TOEC_T_RST_RECEIVED, 0);
            toec_tcb_gone(s, t, TOEC_R_REFUSED);
        }
        return;
    }
    if (!(g->flags & TOEC_TH_SYN)) {
        TOEC_COUNT(s, tcp_no_ack_bit);
        return;
    }
    /* The echoed timestamp was never sent: an old duplicate (RFC 7323 3.2). */
    if (ack && g->has_ts && g->tsecr && t->snd_max != t->iss &&
        toec_ticks(now) - (g->tsecr - t->ts_off) > TOEC_PAWS_IDLE) {
        TOEC_COUNT(s, tcp_paws);
        return;
    }
    toec_take_irs(t, g->seq, toec_ticks(now));
    toec_take_options(t, g);
    toec_pm_start(s, t);
    if (ack)
        toec_ecn_take_synack(s, t, g);
    else
        toec_ecn_take_syn(s, t, g);
    if (g->uto)
        toec_uto_input(t, g);
    if (!ack) { /* simultaneous open */
        TOEC_COUNT(s, tcp_simultaneous_open);
        toec_state_set(s, t, TOEC_SYN_RECEIVED);
        t->snd_nxt = t->iss;
        t->snd_wnd = g->wnd;
        t->rexmits = 0;
        toec_pend(s, t);
        return;
    }
    toec_established(s, t, g, now);
    t->flags |= TOEC_F_ACK_NOW;
    g->seq++; /* text or FIN on the SYN-ACK is processed like any other */
    g->flags &= ~TOEC_TH_SYN;
    toec_trim(t, g);
    if (g->len || (g->flags & TOEC_TH_FIN))
        toec_text(s, t, g, now);
}
