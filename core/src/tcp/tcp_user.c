/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_user.c - the calls of RFC 9293 3.10.1 to 3.10.6 that a user makes on a flow.
 */
#include "../ip/ip_out.h"
#include "tcp.h"
#include "tcp_bind.h"
#include "tcp_delack.h"
#include "tcp_emit.h"
#include "tcp_isn.h"
#include "tcp_open.h"
#include "tcp_out.h"
#include "tcp_tables.h"
#include "tcp_timer.h"
#include "tcp_tw.h"

/* ---- OPEN ---- */

/* Finds the path and the local address for remote; returns 0 or an error. local: the requested
 * local address, or 0. */
static int route(struct toec_stack *s, const struct toec_addr *local,
                 const struct toec_addr *remote, struct toec_addr *src, struct toec_path *path)
{
    int r;

    memset(path, 0, sizeof(*path));
    r = toec_path_to(s, remote, path);
    if (r)
        return r;
    if (!local || toec_addr_is_zero(local))
        return toec_source_for(s, remote, src);
    *src = *local;
    if (toec_addr_is4(local) != toec_addr_is4(remote))
        return TOEC_E_INVAL;
    return toec_addr_is_own(s, local) ? 0 : TOEC_E_NOTAVAIL;
}

int toec_connect(struct toec_stack *s, const struct toec_addr *remote, toec_u16 remote_port,
                 toec_u16 local_port, const struct toec_buffers *bufs, toec_time now,
                 struct toec_tcb **flow)
{
    return toec_connect_from(s, 0, remote, remote_port, local_port, bufs, now, flow);
}

/* RFC 9293 MUST-43, MUST-44, MUST-46: the local address may be specified; there are no paths to
 * multicast or broadcast addresses. */
int toec_connect_from(struct toec_stack *s, const struct toec_addr *local,
                      const struct toec_addr *remote, toec_u16 remote_port, toec_u32 local_port,
                      const struct toec_buffers *bufs, toec_time now, struct toec_tcb **flow)
{
    struct toec_path path;
    struct toec_addr src;
    struct toec_tuple id;
    struct toec_tcb *t;
    struct toec_tw *w;
    toec_u32 hash, iss;
    int r;

    if (!remote || toec_addr_is_zero(remote) || remote_port == 0 || !flow || !bufs ||
        !toec_buffers_ok(bufs) ||
        (local_port > 0xffffu && (local_port & 0xffffu) > local_port >> 16))
        return TOEC_E_INVAL;
    r = route(s, local, remote, &src, &path);
    if (r)
        return r;
    id.local = &src;
    id.remote = remote;
    id.local_port = (toec_u16)local_port;
    id.remote_port = remote_port;
    if (local_port == 0 || local_port > 0xffffu)
        id.local_port = toec_port_pick(s, &id, local_port, now);
    if (id.local_port == 0 || !toec_port_is_home(s, &id))
        return TOEC_E_NOTAVAIL;
    hash = toec_tuple_hash(s, &id);
    if (toec_tcb_find(s, hash, &id))
        return TOEC_E_INUSE;
    iss = toec_isn(s, &id, now);
    w = toec_tw_find(s, hash, &id);
    if (w) {
        if (!toec_tw_reusable(w, now))
            return TOEC_E_INUSE;
        iss = toec_tw_reopen(s, w, iss);
    }
    t = toec_tcb_new(s, &id, hash, now);
    if (!t)
        return TOEC_E_NOBUFS;
    toec_tcb_buffers(t, bufs);
    toec_port_hold(s, &t->local, t->local_port, t->pm.reuse);
    t->path = path;
    t->state = TOEC_SYN_SENT;
    t->ts_off = toec_ts_offset(s, &id);
    toec_take_iss(t, iss);
    t->rcv_at = toec_ticks(now);
    *flow = t;
    toec_pend(s, t);
    return 0;
}

/* ---- SEND, RECEIVE ---- */

int toec_send(struct toec_stack *s, struct toec_tcb *t, toec_u32 n, int push, toec_time now)
{
    /* during the handshake SND.UNA is the ISN, and the SYN takes no buffer space */
    int opening = t->state < TOEC_ESTABLISHED || (t->fo.flags & TOEC_FO_SYN);
    toec_u32 used;

    (void)now;
    if (t->flags & (TOEC_F_FIN | TOEC_F_USER_GONE))
        return TOEC_E_INVAL;
    used = t->snd_end - (opening ? t->iss + 1 : t->snd_una);
    if (n > (1u << t->tx_log) - used)
        return TOEC_E_INVAL;
    t->snd_end += n;
    if (push)
        t->flags |= TOEC_F_PUSH;
    else
        t->flags &= ~TOEC_F_PUSH;
    if (t->state >= TOEC_ESTABLISHED || (t->fo.flags & TOEC_FO_HOLD)) {
        t->fo.flags &= (toec_u8)~TOEC_FO_HOLD;
        toec_pend(s, t);
    }
    return 0;
}

/* Returns the received bytes that the owner has not read. */
static toec_u32 unread(const struct toec_tcb *t)
{
    int fin = t->state == TOEC_CLOSE_WAIT || t->state == TOEC_CLOSING || t->state == TOEC_LAST_ACK;

    return t->state < TOEC_ESTABLISHED ? 0 : t->rcv_nxt - t->rcv_read - (toec_u32)fin;
}

int toec_recv(struct toec_stack *s, struct toec_tcb *t, toec_u32 n, toec_time now)
{
    toec_u32 size = 1u << t->rx_log, most = 65535u << toec_rcv_scale(t), edge, step;

    (void)now;
    if (n > unread(t))
        return TOEC_E_INVAL;
    t->rcv_read += n;
    /* Send a separate window update only when the peer may be waiting for it: the edge it knows is
     * behind by a quarter of the buffer (or of the window field's range, if less). ACKs carry
     * smaller changes.
     * RFC 9293 MUST-39: nor when toec_window_offer() would not advance the edge. */
    edge = t->rcv_read + size;
    if (TOEC_SEQ_GT(edge, t->rcv_nxt + most))
        edge = t->rcv_nxt + most;
    size = size < most ? size : most;
    step = size / 2 < t->mss ? size / 2 : t->mss;
    step = step > size / 4 ? step : size / 4;
    if ((TOEC_SEQ_GE(edge, t->rcv_adv + step) && t->state >= TOEC_ESTABLISHED &&
         t->state <= TOEC_FIN_WAIT_2) ||
        toec_delack_read(t)) {
        t->flags |= TOEC_F_ACK_NOW;
        toec_pend(s, t);
    }
    return 0;
}

/* ---- CLOSE, ABORT ---- */

static void queue_fin(struct toec_stack *s, struct toec_tcb *t)
{
    if (t->flags & TOEC_F_FIN)
        return;
    t->flags |= TOEC_F_FIN;
    if (t->state == TOEC_ESTABLISHED)
        t->state = TOEC_FIN_WAIT_1;
    else if (t->state == TOEC_CLOSE_WAIT)
        t->state = TOEC_LAST_ACK;
    /* no more data follows for which a Fast Open SYN could wait */
    if (t->state >= TOEC_ESTABLISHED || (t->fo.flags & TOEC_FO_HOLD)) {
        t->fo.flags &= (toec_u8)~TOEC_FO_HOLD;
        toec_pend(s, t);
    }
}

/* RFC 9293 MAY-1. */
int toec_shutdown(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    (void)now;
    if (t->flags & TOEC_F_FIN)
        return TOEC_E_INVAL;
    queue_fin(s, t);
    return 0;
}

/* RFC 9293 SHLD-3. */
int toec_close(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    if (t->flags & TOEC_F_USER_GONE)
        return TOEC_E_INVAL;
    if (t->state == TOEC_SYN_SENT) { /* RFC 9293 3.10.4: delete the TCB */
        toec_tcb_gone(s, t, TOEC_R_ABORTED);
        return 0;
    }
    if (unread(t)) {
        TOEC_COUNT(s, tcp_close_unread); /* RFC 9293 3.6.1, RFC 2525 2.17 */
        return toec_abort(s, t, now);
    }
    t->flags |= TOEC_F_USER_GONE;
    t->flags &= ~TOEC_F_CORK;
    queue_fin(s, t);
    if (t->state == TOEC_FIN_WAIT_2)
        toec_keep_start(s, t, TOEC_MS(t->linger2 * 1000ull), now);
    return 0;
}

int toec_abort(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    /* Send the data that the windows allow, as if each toec_send() had sent it at once. */
    if (t->state >= TOEC_ESTABLISHED && TOEC_SEQ_LT(t->snd_max, t->snd_end))
        (void)toec_tcp_output(s, t, now);
    toec_tcb_reset(s, t, TOEC_R_ABORTED, now);
    return 0;
}

/* ---- STATUS ---- */

/* Converts 2^10 ns to microseconds, rounded down: times 128 / 125. */
static toec_u32 to_us(toec_u32 t)
{
    return t + (toec_u32)toec_div64((toec_u64)t * 3u, 125u);
}

int toec_flow_give(struct toec_stack *s, struct toec_tcb *t, void *owner, toec_u32 *extent)
{
    (void)s;
    if ((t->state != TOEC_ESTABLISHED && t->state != TOEC_CLOSE_WAIT) ||
        t->rcv_read != t->irs + 1 || t->snd_end != t->iss + 1)
        return TOEC_E_INVAL;
    t->owner = owner;
    *extent = (t->n_ooo ? t->rcv_adv : t->rcv_nxt) - t->rcv_read;
    return 0;
}

void toec_flow_info(const struct toec_stack *s, const struct toec_tcb *t, struct toec_info *out)
{
    toec_u64 lap = (toec_u64)1 << 32;
    int open = t->state >= TOEC_ESTABLISHED;

    (void)s;
    memset(out, 0, sizeof(*out));
    out->local = t->local;
    out->remote = t->remote;
    out->local_port = t->local_port;
    out->remote_port = t->remote_port;
    out->state = t->state;
    out->ws_send = (toec_u8)toec_snd_scale(t);
    out->ws_recv = (toec_u8)toec_rcv_scale(t);
    out->opts = (toec_u8)(((t->flags & TOEC_F_TS) ? TOEC_I_TIMESTAMPS : 0) |
                          ((t->flags & TOEC_F_SACK) ? TOEC_I_SACK : 0) |
                          ((t->flags & TOEC_F_WSCALE) ? TOEC_I_WSCALE : 0) |
                          ((t->ecn.flags & TOEC_ECN_RX) ? TOEC_I_ECN : 0) |
                          ((t->ecn.flags & TOEC_ECN_SEEN) ? TOEC_I_ECN_SEEN : 0) |
                          ((t->fo.flags & TOEC_FO_ACKED) ? TOEC_I_SYN_DATA : 0));
    if (t->fo.flags & TOEC_FO_SYN)
        out->state = TOEC_SYN_RECEIVED; /* open for the application, not yet for the peer */
    out->mss_send = t->mss;
    out->pmtu = t->pm.mtu ? t->pm.mtu : t->path.mtu;
    out->mss_recv = toec_own_mss(&t->path) - toec_opt_len(t);
    out->srtt_us = to_us(t->srtt >> 3);
    out->rttvar_us = to_us(t->rttvar >> 2);
    out->rto_us = to_us(t->rto * 4u << 10);
    out->min_rtt_us = to_us(t->min_rtt);
    out->cwnd = t->cwnd;
    out->ssthresh = t->cc.ssthresh;
    out->snd_wnd = t->snd_wnd;
    toec_cc_info(t, out);
    out->retransmits = t->tally.retransmits;
    out->dup_acks = t->tally.dup_acks;
    if (!open)
        return;
    out->rcv_wnd = TOEC_SEQ_GT(t->rcv_adv, t->rcv_nxt) ? t->rcv_adv - t->rcv_nxt : 0;
    out->in_flight = t->snd_max - t->snd_una;
    toec_rack_info(t, out);
    out->bytes_acked = lap * t->tx_wraps + (t->snd_una - t->iss - 1) -
                       ((t->flags & TOEC_F_FIN) && TOEC_SEQ_GT(t->snd_una, t->snd_end));
    out->bytes_sent = out->bytes_acked + out->in_flight;
    out->bytes_received = lap * t->rx_wraps + (t->rcv_read - t->irs - 1) + unread(t);
}
