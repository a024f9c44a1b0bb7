/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_rate.c - delivery rate samples, see tcp_rate.h.
 */
#include "tcp_rate.h"

#include "../tcp/tcb.h"

void toec_rate_start(struct toec_tcb *t, toec_time now)
{
    struct toec_tcp_rate *r = toec_rate_of(t);

    r->first_sent = r->delivered_at = toec_stamp(now);
}

void toec_rate_sent(struct toec_tcb *t, struct toec_tx_mark *m, toec_u32 in_flight, toec_u32 bytes,
                    toec_time now)
{
    struct toec_tcp_rate *r = toec_rate_of(t);

    /* The pipe was empty: the sample interval begins here and excludes the idle time. */
    if (in_flight == 0)
        r->first_sent = r->delivered_at = toec_stamp(now);
    m->delivered = r->delivered;
    m->delivered_at = r->delivered_at;
    m->first_sent = r->first_sent;
    m->lost = r->lost;
    m->in_flight = (in_flight + bytes) | (r->app_limited ? TOEC_TX_APP_LIMITED : 0);
}

void toec_rate_delivered(struct toec_tcb *t, const struct toec_tx_mark *m, toec_u32 bytes,
                         toec_u32 sent_at, int again, toec_time now)
{
    struct toec_tcp_rate *r = toec_rate_of(t);

    r->delivered += bytes;
    r->delivered_at = toec_stamp(now);
    r->rs.newly_acked += bytes;
    if (r->rs.valid && TOEC_SEQ_LT(sent_at, r->newest_sent))
        return;
    r->rs.valid = 1;
    r->newest_sent = sent_at;
    r->prior_at = m->delivered_at;
    r->first_sent = sent_at;
    r->rs.prior_delivered = m->delivered;
    r->rs.lost = m->lost;
    r->rs.in_flight = m->in_flight & TOEC_TX_VOLUME;
    r->rs.app_limited = (m->in_flight & TOEC_TX_APP_LIMITED) != 0;
    r->rs.rtt = again || (m->in_flight & TOEC_TX_MERGED) ? 0 : toec_stamp(now) - sent_at;
    /* the send interval; toec_rate_sample() compares it with the ACK interval */
    r->rs.interval = sent_at - m->first_sent;
}

void toec_rate_sample(struct toec_tcb *t)
{
    struct toec_tcp_rate *r = toec_rate_of(t);
    toec_u32 acks;

    if (r->app_limited && TOEC_SEQ_GT(r->delivered, r->app_limited))
        r->app_limited = 0;
    if (!r->rs.valid)
        return;
    r->rs.delivered = r->delivered - r->rs.prior_delivered;
    r->rs.lost = r->lost - r->rs.lost;
    /* Use the longer interval: ACKs may be delayed or arrive in bursts (ACK compression). */
    acks = r->delivered_at - r->prior_at;
    if (r->rs.interval < acks)
        r->rs.interval = acks;
    /* Shorter than any RTT: the ACK was not for the last transmission. */
    if (r->rs.interval < t->min_rtt || r->rs.interval == 0) {
        r->rs.interval = 0;
        return;
    }
    r->bw = toec_div64((toec_u64)r->rs.delivered << 20, r->rs.interval);
    r->bw_app_limited = r->rs.app_limited;
}

void toec_rate_lost(struct toec_tcb *t, const struct toec_tx_mark *m, toec_u32 bytes, toec_time now)
{
    toec_rate_of(t)->lost += bytes;
    toec_rate_of(t)->rs.newly_lost += bytes;
    if (t->cc_ops->lost)
        t->cc_ops->lost(t, m, bytes, now);
}

void toec_rate_app_limited(struct toec_tcb *t, toec_u32 in_flight)
{
    struct toec_tcp_rate *r = toec_rate_of(t);
    toec_u32 mark = r->delivered + in_flight;

    r->app_limited = mark ? mark : 1;
}
