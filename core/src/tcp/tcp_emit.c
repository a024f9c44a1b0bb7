/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_emit.c - builds segments (RFC 9293 3.1): of a flow, and in answer to a segment without one.
 */
#include "tcp_emit.h"

#include "../ip/ip_out.h"
#include "tcp.h"
#include "tcp_ao_seg.h"
#include "tcp_delack.h"
#include "tcp_open.h"
#include "tcp_opt.h"
#include "tcp_out.h"
#include "tcp_trace.h"
#include "tcp_urg.h"
#include "tcp_uto.h"

static void prepare(struct toec_outbuf *o, const struct toec_addr *src, const struct toec_addr *dst,
                    unsigned hlen)
{
    o->src = src;
    o->dst = dst;
    o->l4_len = (toec_u16)hlen;
    o->ext_len = 0;
    o->sum_off = TOEC_TCP_SUM;
    o->gso_size = 0;
    o->proto = TOEC_IPPROTO_TCP;
    o->tos = 0;
    o->no_df = 0;
    o->owner = 0;
    o->off = 0;
    o->len = 0;
    o->psrc = 0;
}

/* Writes the option of RFC 5482 if it fits beside the data: RFC 9293 MUST-16. */
static unsigned rare_options(struct toec_tcb *t, toec_u8 *o, unsigned room, toec_u32 len)
{
    if (!(t->rare & TOEC_RARE_UTO) || len + TOEC_TCP_MAX_LEN - TOEC_TCP_LEN > t->mss)
        return 0;
    return toec_uto_option(t, o, room);
}

/* Writes the AO option, after the timestamps, into a segment that is otherwise complete. */
TOEC_NOINLINE void sign(struct toec_stack *s, const struct toec_tcb *t, struct toec_outbuf *o)
{
    toec_ao_sign(s, toec_ao_of(s, t), o, TOEC_TCP_LEN + toec_opt_len(t) - TOEC_AO_LEN);
}

static void point_urgent(struct toec_tcb *t, toec_u8 *h, toec_u32 seq, unsigned flags)
{
    unsigned up = (flags & TOEC_TH_RST) ? 0 : toec_urg_pointer(t, seq);

    if (!up)
        return;
    h[TOEC_TCP_FLAGS] |= TOEC_TH_URG;
    toec_put16(h + TOEC_TCP_URG, up);
}

/* Clears the pending DSACK: a duplicate is reported once (RFC 2883 4). */
static void dsack_sent(struct toec_stack *s, struct toec_tcb *t)
{
    if (!toec_dsack_due(t))
        return;
    TOEC_COUNT(s, tcp_dsack_sent);
    t->dsack.end = t->dsack.start;
    if (t->n_ooo == 0)
        t->flags &= ~TOEC_F_OOO;
}

/* Accounts for a segment that was sent with `sacks` bytes of SACK options. */
static void emitted(struct toec_stack *s, struct toec_tcb *t, unsigned flags, unsigned sacks)
{
    TOEC_COUNT(s, tcp_tx);
    toec_delack_forget(s, t);
    t->flags &= ~(TOEC_F_ACK_NOW | TOEC_F_DELACK);
    if (flags & TOEC_TH_CWR)
        t->ecn.flags &= ~TOEC_ECN_CWR;
    if ((t->flags & TOEC_F_OOO) && sacks)
        dsack_sent(s, t);
    t->delack = 0;
    t->rcv_acked = t->rcv_nxt;
}

/* Returns not 0 when the headers of a segment are as struct toec_tx_segment describes them. */
static int is_plain(const struct toec_stack *s, const struct toec_tcb *t, toec_u32 len)
{
    return t->rare == 0 && !t->pm.no_df &&
           (len <= t->mss || t->pm.sending || s->cfg.segments->bursts) &&
           (t->flags & (TOEC_F_SACK | TOEC_F_OOO)) != (TOEC_F_SACK | TOEC_F_OOO);
}

/* Sends a plain segment without its headers. Returns as toec_ip_segment(). */
static int emit_plain(struct toec_stack *s, struct toec_tcb *t, toec_u32 seq, toec_u32 len,
                      unsigned flags, toec_time now)
{
    struct toec_tx_segment g;
    int r;

    g.tos = t->ecn.tos;
    if ((t->ecn.flags & (TOEC_ECN_TX | TOEC_ECN_ECE)) && !(flags & TOEC_TH_RST))
        flags |= toec_ecn_emit(t, seq, len, &g.tos);
    g.owner = t->owner;
    g.off = seq - t->iss - 1;
    g.len = len;
    g.mss = len > t->mss && t->pm.sending ? len : t->mss;
    g.seq = seq;
    g.ack = t->rcv_nxt;
    g.stamps = (t->flags & TOEC_F_TS) != 0;
    g.ts_val = toec_ticks(now) + t->ts_off;
    g.ts_ecr = t->ts_recent;
    g.wnd = (toec_u16)toec_window_offer(s, t);
    g.flags = (toec_u8)flags;
    r = toec_ip_segment(s, &t->path, &g, now);
    if (r == 0)
        emitted(s, t, flags, 0);
    return r;
}

/* Sends a segment with headers. RFC 9293 MUST-2, MUST-45; R7323-07. The IP output completes the
 * checksum. */
TOEC_NOINLINE int emit_built(struct toec_stack *s, struct toec_tcb *t, toec_u32 seq, toec_u32 len,
                             unsigned flags, toec_time now)
{
    struct toec_outbuf o;
    toec_u8 *h = toec_out_l4(&o);
    unsigned hlen = TOEC_TCP_LEN, sacks = 0;
    int r;

    if (t->flags & TOEC_F_TS)
        hlen += toec_opt_ts(h + hlen, toec_ticks(now) + t->ts_off, t->ts_recent);
    if (t->rare & TOEC_RARE_AO)
        hlen += TOEC_AO_LEN;
    /* R2018-02; R2018-06: every ACK carries SACK while there is data beyond a gap. */
    if ((t->flags & (TOEC_F_SACK | TOEC_F_OOO)) == (TOEC_F_SACK | TOEC_F_OOO)) {
        /* On data only if the segment stays within the MSS. */
        toec_u32 room = TOEC_TCP_MAX_LEN - hlen;

        if (len + room > t->mss)
            room = len < t->mss ? t->mss - len : 0;
        if (room > TOEC_TCP_MAX_LEN - hlen)
            room = TOEC_TCP_MAX_LEN - hlen;
        sacks = toec_opt_sack(h + hlen, t, room);
        hlen += sacks;
    }
    if (t->rare)
        hlen += rare_options(t, h + hlen, TOEC_TCP_MAX_LEN - hlen, len);
    prepare(&o, &t->local, &t->remote, hlen);
    o.tos = t->ecn.tos;
    o.no_df = t->pm.no_df;
    if ((t->ecn.flags & (TOEC_ECN_TX | TOEC_ECN_ECE)) && !(flags & TOEC_TH_RST))
        flags |= toec_ecn_emit(t, seq, len, &o.tos);
    toec_tcp_emit(h, t->local_port, t->remote_port, seq, t->rcv_nxt, hlen, flags,
                  toec_window_offer(s, t));
    if (t->rare & TOEC_RARE_URG)
        point_urgent(t, h, seq, flags);
    o.owner = t->owner;
    o.off = seq - t->iss - 1;
    o.len = len;
    if (len > t->mss && !t->pm.sending)
        o.gso_size = t->mss;
    if (t->rare & TOEC_RARE_AO)
        sign(s, t, &o);
    r = toec_ip_output(s, &t->path, &o, now);
    if (r == 0)
        emitted(s, t, flags, sacks);
    return r;
}

/* Sends every segment of a flow except SYNs. */
int toec_emit(struct toec_stack *s, struct toec_tcb *t, toec_u32 seq, toec_u32 len, unsigned flags,
              toec_time now)
{
    if (TOEC_UNLIKELY(s->cfg.segments != 0) && is_plain(s, t, len)) {
        int r = emit_plain(s, t, seq, len, flags, now);

        if (r != TOEC_SEGMENT_BUILD)
            return r;
    }
    return emit_built(s, t, seq, len, flags, now);
}

/* During window probes only a segment that begins at the closed window is acceptable to the peer
 * (RFC 9293 3.10.7.4). Beyond it the peer would accept neither an ACK nor a RST. */
toec_u32 toec_bare_seq(const struct toec_tcb *t)
{
    return (t->flags & (TOEC_F_PERSIST | TOEC_F_ZWIN)) ? t->snd_una : t->snd_max;
}

/* Returns the MSS to advertise; TCP_MAXSEG bounds both directions (tcp(7)). */
static unsigned own_mss(const struct toec_tcb *t)
{
    unsigned mss = toec_own_mss(&t->path);

    return t->pm.user_mss && t->pm.user_mss < mss ? t->pm.user_mss : mss;
}

/* R7323-02, R7323-04: a SYN-ACK carries only options that the SYN offered, and the window of a SYN
 * is not scaled. RFC 9293 MUST-45: the addresses are the flow's. */
int toec_emit_syn(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    struct toec_outbuf o;
    toec_u8 *h = toec_out_l4(&o);
    unsigned flags = TOEC_TH_SYN, opts = TOEC_I_TIMESTAMPS | TOEC_I_SACK | TOEC_I_WSCALE;
    toec_u32 ack = 0, wnd = 1u << t->rx_log;
    unsigned hlen, ao = 0;
    int r;

    if (t->state != TOEC_SYN_SENT) {
        /* Only what the peer's SYN offered (RFC 7323 2.2, 3.2; R2018-02). */
        opts = 0;
        if (t->flags & TOEC_F_TS)
            opts |= TOEC_I_TIMESTAMPS;
        if (t->flags & TOEC_F_SACK)
            opts |= TOEC_I_SACK;
        if (t->flags & TOEC_F_WSCALE)
            opts |= TOEC_I_WSCALE;
        flags |= TOEC_TH_ACK;
        ack = t->rcv_nxt;
    }
    flags |= toec_ecn_syn_flags(s, t);
    opts &= ~s->cfg.tcp_without;
    hlen =
        TOEC_TCP_LEN + toec_opt_syn(h + TOEC_TCP_LEN, opts, own_mss(t), toec_wscale_for(t->rx_log),
                                    toec_ticks(now) + t->ts_off, t->ts_recent);
    if (t->rare & TOEC_RARE_AO) { /* together with the four options above: 36 bytes */
        ao = hlen;
        hlen += TOEC_AO_LEN;
    }
    if (t->rare & TOEC_RARE_UTO)
        hlen += toec_uto_option(t, h + hlen, TOEC_TCP_MAX_LEN - hlen);
    if (t->fo.flags) {
        hlen += toec_tfo_option(s, t, h + hlen, TOEC_TCP_MAX_LEN - hlen, now);
        if (t->state >= TOEC_ESTABLISHED)
            wnd = t->rcv_adv - t->rcv_nxt;
    }
    prepare(&o, &t->local, &t->remote, hlen);
    if (t->fo.flags & TOEC_FO_DATA) {
        o.len = toec_tfo_syn_len(s, t);
        o.owner = t->owner;
    }
    o.tos = t->ecn.tos; /* R3168-03: without the ECN field */
    if (wnd > 65535u)
        wnd = 65535u;
    toec_tcp_emit(h, t->local_port, t->remote_port, t->iss, ack, hlen, flags, wnd);
    if (ao)
        toec_ao_sign(s, toec_ao_of(s, t), &o, ao);
    r = toec_ip_output(s, &t->path, &o, now);
    if (r)
        return r;
    TOEC_COUNT(s, tcp_tx);
    toec_delack_forget(s, t);
    t->flags &= ~(TOEC_F_ACK_NOW | TOEC_F_DELACK);
    t->rcv_acked = t->rcv_nxt;
    return 0;
}

int toec_send_bare(struct toec_stack *s, const struct toec_seg *to, toec_u32 seq, toec_u32 ack,
                   unsigned flags, toec_u32 wnd, const toec_u8 *opt, unsigned opt_len,
                   toec_time now)
{
    struct toec_outbuf o;
    struct toec_path path;
    toec_u8 *h = toec_out_l4(&o);
    unsigned hlen;

    memset(&path, 0, sizeof(path));
    if (toec_path_to(s, to->id.remote, &path))
        return -1;
    if (opt_len)
        memcpy(h + TOEC_TCP_LEN, opt, opt_len);
    hlen = TOEC_TCP_LEN + opt_len + (to->auth ? TOEC_AO_LEN : 0u);
    prepare(&o, to->id.local, to->id.remote, hlen);
    toec_tcp_emit(h, to->id.local_port, to->id.remote_port, seq, ack, hlen, flags, wnd);
    if (to->auth)
        toec_ao_sign(s, to->auth, &o, TOEC_TCP_LEN + opt_len);
    if (toec_ip_post(s, &path, &o, now)) {
        TOEC_COUNT(s, tx_unresolved_drop);
        return -1;
    }
    TOEC_COUNT(s, tcp_tx);
    return 0;
}

void toec_send_rst(struct toec_stack *s, const struct toec_seg *g, toec_time now)
{
    int r;

    /* RFC 9293 3.10.7.1: a sequence number the peer must accept */
    if (g->flags & TOEC_TH_ACK)
        r = toec_send_bare(s, g, g->ack, 0, TOEC_TH_RST, 0, 0, 0, now);
    else
        r = toec_send_bare(s, g, 0,
                           g->seq + g->len + ((g->flags & TOEC_TH_SYN) != 0) +
                               ((g->flags & TOEC_TH_FIN) != 0),
                           TOEC_TH_RST | TOEC_TH_ACK, 0, 0, 0, now);
    if (r == 0)
        TOEC_COUNT(s, tcp_rst_sent);
}

void toec_tcb_reset(struct toec_stack *s, struct toec_tcb *t, enum toec_reason why, toec_time now)
{
    /* No RST from SYN-SENT: the peer has no connection to reset (RFC 9293 3.10.5). */
    if (t->state != TOEC_SYN_SENT) {
        if (toec_emit(s, t, toec_bare_seq(t), 0, TOEC_TH_RST | TOEC_TH_ACK, now) == 0) {
            TOEC_COUNT(s, tcp_rst_sent);
            toec_trace(s, t, TOEC_T_RST_SENT, toec_bare_seq(t) - t->iss, 0);
        } else {
            TOEC_COUNT(s, tx_unresolved_drop);
        }
    }
    toec_tcb_gone(s, t, why);
}
