/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_urg.c - urgent data (RFC 9293 3.8.5, RFC 6093): RFC 9293 MUST-30, of any length (MUST-31).
 *
 * The stream is not affected: urgent bytes are placed and reported like all others. The owner is
 * notified of their end at once and whenever it moves (MUST-32, MUST-33). The pointer is that of
 * the RFCs, after the last urgent byte (MUST-62), as Linux sends and accepts it without tcp_stdurg.
 * It is never used as an offset into a segment, so any value is harmless. SHLD-13: URG is sent only
 * on request of the application.
 */
#include "tcp_urg.h"

#include "tcp.h"

int toec_urgent(struct toec_stack *s, struct toec_tcb *t, toec_time now)
{
    /* nothing was ever sent; the test also holds after 2 GiB and more */
    int none = t->snd_end == t->iss + 1 && t->snd_una - t->iss <= 1 && !t->tx_wraps;

    (void)now;
    if (none || (t->flags & (TOEC_F_FIN | TOEC_F_USER_GONE)))
        return TOEC_E_INVAL;
    t->urg.snd_up = t->snd_end;
    t->rare |= TOEC_RARE_URG;
    if (t->state < TOEC_ESTABLISHED)
        return 0;
    /* notify the peer at once, even if the window does not allow the data */
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
    return ahead < 65535u ? ahead : 65535u; /* if the distance exceeds the field, its maximum */
}

void toec_urg_input(struct toec_stack *s, struct toec_tcb *t, const struct toec_seg *g)
{
    toec_u32 up = g->seq + g->urg, ahead = t->urg.rcv_up - t->rcv_nxt;
    int waits = (t->rare & TOEC_RARE_UP) &&
                ahead - 1 < 65535u + (1u << t->rx_log); /* rcv_up was reported and is still ahead */

    if (t->state != TOEC_ESTABLISHED && t->state != TOEC_FIN_WAIT_1 && t->state != TOEC_FIN_WAIT_2)
        return; /* RFC 9293 3.10.7.4, sixth: URG is ignored after the peer's FIN */
    /* The urgent data has already arrived or was reported, or the pointer is 0. */
    if (g->urg == 0 || TOEC_SEQ_LE(up, t->rcv_nxt) || (waits && TOEC_SEQ_LE(up, t->urg.rcv_up)))
        return;
    t->rare |= TOEC_RARE_UP;
    t->urg.rcv_up = up;
    TOEC_COUNT(s, tcp_urgent);
    if (!(t->flags & TOEC_F_USER_GONE))
        toec_event(s, t, TOEC_EV_URGENT, up - t->irs - 1);
}
