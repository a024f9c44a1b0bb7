/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_text.c - segment text and FIN (RFC 9293 3.10.7.4, seventh and eighth). Text is placed
 * directly at its stream offset, in order or not. Also decides when to acknowledge it (RFC 9293
 * 3.8.6.3, RFC 5681 4.2).
 */
#include "tcp_text.h"

#include "../ip/ip4_in.h"
#include "tcp.h"
#include "tcp_delack.h"
#include "tcp_emit.h"
#include "tcp_out.h"
#include "tcp_sack.h"
#include "tcp_trace.h"
#include "tcp_tw.h"

/* Handles an in-order FIN; rcv_nxt is already beyond it. Returns not 0 when the flow was freed. */
static int on_fin(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    t->flags = (t->flags | TOEC_F_ACK_NOW) & ~(TOEC_F_OOO | TOEC_F_OOO_FIN);
    toec_ooo_clear(s, t);
    t->dsack.end = t->dsack.start;
    toec_pend(s, t);
    switch (t->state) {
    case TOEC_ESTABLISHED:
        t->state = TOEC_CLOSE_WAIT;
        break;
    case TOEC_FIN_WAIT_1: /* our FIN is not acknowledged, else the state would be FIN-WAIT-2 */
        toec_state_set(s, t, TOEC_CLOSING);
        break;
    default: /* FIN-WAIT-2 */
        if (!(t->flags & TOEC_F_USER_GONE))
            toec_event(s, t, TOEC_EV_PEER_CLOSED, 0);
        toec_send_ack(s, t, now);
        toec_tw_enter(s, t, now);
        return 1;
    }
    if (!(t->flags & TOEC_F_USER_GONE))
        toec_event(s, t, TOEC_EV_PEER_CLOSED, 0);
    return 0;
}

/* Returns not 0 when a quick ACK is due. As on Linux (tcp_event_data_recv(),
 * tcp_in_quickack_mode()), the first segments of a flow, and those after a pause, are acknowledged
 * at once: a sender in slow start needs every ACK, and one with Nagle holds its second small write
 * until the first is acknowledged. Not in a flow whose data answers data. */
static int quick_ack(struct toec_tcb *t, toec_u32 ticks)
{
    if (toec_delack_idle(t, ticks) > t->rto * 4u)
        t->quick = TOEC_QUICKACKS;
    if (t->quick == 0)
        return 0;
    t->quick--;
    return !(t->flags & TOEC_F_PINGPONG);
}

/* Schedules an ACK for the next poll, or within 40 ms. RFC 9293 MUST-40, MUST-58, MUST-59, SHLD-18,
 * SHLD-19; R1122-26, R5681-13, R5681-14. */
static void schedule_ack(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g,
                         toec_time now)
{
    if (t->flags & (TOEC_F_DELACK | TOEC_F_ACK_NOW)) { /* RFC 9293 3.8.6.3: every second segment */
        t->flags |= TOEC_F_ACK_NOW;
        toec_pend(s, t);
        return;
    }
    t->delack = 1;
    if (quick_ack(t, toec_ticks(now)) || g->len > t->mss) {
        toec_delack_data(t, toec_ticks(now));
        t->flags |= TOEC_F_ACK_NOW;
        toec_pend(s, t);
        return;
    }
    if (g->flags & TOEC_TH_PSH)
        t->delack |= TOEC_DELACK_PUSHED;
    toec_delack_start(s, t, now);
}

static void place(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g)
{
    if (g->len)
        toec_pkt_place(s, t->owner, g->seq - t->irs - 1, g->pkt, g->off, g->len);
}

/* RFC 9293 SHLD-31, MAY-13. */
static void out_of_order(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g,
                         toec_time now)
{
    int fin = (g->flags & TOEC_TH_FIN) != 0;

    if (fin && (t->flags & TOEC_F_OOO_FIN) && t->rcv_fin != g->seq + g->len)
        fin = 0; /* conflicting FINs: the first one is valid */
    if (g->len == 0 && !fin) {
        ; /* nothing is left to store */
    } else if (toec_ooo_add(s, t, g->seq, g->seq + g->len + (toec_u32)fin)) {
        TOEC_COUNT(s, tcp_ooo_full);
    } else {
        TOEC_COUNT(s, tcp_out_of_order);
        place(s, t, g);
        if (fin) {
            t->flags |= TOEC_F_OOO_FIN;
            t->rcv_fin = g->seq + g->len;
        }
    }
    t->quick = TOEC_QUICKACKS;
    toec_send_ack(s, t, now); /* R5681-07: an immediate duplicate ACK for each segment */
}

void toec_text(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g, toec_time now)
{
    toec_u32 to = g->seq + g->len, data, offset;
    int fin = (g->flags & TOEC_TH_FIN) != 0;

    if (t->state != TOEC_ESTABLISHED && t->state != TOEC_FIN_WAIT_1 &&
        t->state != TOEC_FIN_WAIT_2) {
        toec_pend(s, t); /* after the peer's FIN there is no text */
        return;
    }
    if ((t->flags & TOEC_F_USER_GONE) && g->len) {
        /* The application no longer reads (RFC 9293 3.6.1): notify the peer by RST. */
        TOEC_COUNT(s, tcp_data_after_close);
        toec_tcb_reset(s, t, TOEC_R_ABORTED, now);
        return;
    }
    if (g->seq != t->rcv_nxt) {
        out_of_order(s, t, g, now);
        return;
    }
    place(s, t, g);
    if (t->flags & TOEC_F_OOO)
        t->flags |= TOEC_F_ACK_NOW;        /* R5681-08: the segment fills all or part of a gap */
    if ((t->flags & TOEC_F_OOO) && !fin) { /* data beyond a FIN is not part of the stream */
        toec_dsack_queued(t, t->rcv_nxt, to);
        to = toec_ooo_advance(s, t, to);
        if ((t->flags & TOEC_F_OOO_FIN) && TOEC_SEQ_GT(to, t->rcv_fin)) {
            to = t->rcv_fin;
            fin = 1;
        }
    }
    data = to - t->rcv_nxt;
    offset = t->rcv_nxt - t->irs - 1;
    if (offset + data < offset)
        t->rx_wraps++;
    t->rcv_nxt = to + (toec_u32)fin;
    if (data)
        toec_event(s, t, TOEC_EV_DATA, data);
    if (fin) {
        on_fin(s, t, now);
        return;
    }
    schedule_ack(s, t, g, now);
}
