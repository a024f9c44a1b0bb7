/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_urg.c - urgent data (RFC 9293 3.8.5, RFC 6093): RFC 9293 MUST-30, of any length (MUST-31).
 *
 * The stream is not touched: urgent bytes are placed and told as all others, and the owner learns
 * where they end, at once and each time that moves (MUST-32, MUST-33). The pointer is that of the
 * RFCs, behind the last urgent byte (MUST-62), as Linux sends and takes it without tcp_stdurg.
 * Nothing here is used as an offset into a segment, so pointers of any value are harmless. SHLD-13:
 * URG is sent for who asks for it alone.
 */
#include "tcp_urg.h"

#include "tcp.h"

int toec_urgent(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    /* nothing was ever sent; asked so that it holds beyond 2 GiB, too */
    int none = t->snd_end == t->iss + 1 && t->snd_una - t->iss <= 1 && !t->tx_wraps;

    (void)now;
    if (none || (t->flags & (TOEC_F_FIN | TOEC_F_USER_GONE)))
        return TOEC_E_INVAL;
    t->urg.snd_up = t->snd_end;
    t->rare |= TOEC_RARE_URG;
    if (t->state < TOEC_ESTABLISHED)
        return 0;
    /* told at once, whether or not the window lets the data go */
    t->flags |= TOEC_F_ACK_NOW;
    toec_pend(s, t);
    return 0;
}

int toec_urg_waits(const struct toec_tcb *t)
{
    return (t->rare & TOEC_RARE_URG) && TOEC_SEQ_GT(t->urg.snd_up, t->snd_max);
}

unsigned toec_urg_pointer(struct toec_tcb *t, toec_u32 seq)
{
    toec_u32 ahead = t->urg.snd_up - seq;

    if (TOEC_SEQ_LE(t->urg.snd_up, t->snd_una)) {
        t->rare &= (toec_u8)~TOEC_RARE_URG;
        return 0;
    }
    if (TOEC_SEQ_LE(t->urg.snd_up, seq))
        return 0;
    return ahead < 65535u ? ahead : 65535u; /* of more than the field can say: there is more */
}

void toec_urg_input(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g)
{
    toec_u32 up = g->seq + g->urg, ahead = t->urg.rcv_up - t->rcv_nxt;
    int waits =
        (t->rare & TOEC_RARE_UP) && ahead - 1 < 65535u + (1u << t->rx_log); /* it was told of */

    if (t->state != TOEC_ESTABLISHED && t->state != TOEC_FIN_WAIT_1 && t->state != TOEC_FIN_WAIT_2)
        return; /* RFC 9293 3.10.7.4, sixth: after the peer's FIN there is none */
    /* What it points to has come and was told of, or it points nowhere. */
    if (g->urg == 0 || TOEC_SEQ_LE(up, t->rcv_nxt) || (waits && TOEC_SEQ_LE(up, t->urg.rcv_up)))
        return;
    t->rare |= TOEC_RARE_UP;
    t->urg.rcv_up = up;
    TOEC_COUNT(s, tcp_urgent);
    if (!(t->flags & TOEC_F_USER_GONE))
        toec_event(s, t, TOEC_EV_URGENT, up - t->irs - 1);
}
