/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_fields.c - segments whose headers the integrator has read (toec_input_flow()): compares the
 * 4-tuple with the flow's, in the place of a hash and a table, and does nothing else before
 * toec_segment().
 */
#include "../ip/ip6_addr.h"
#include "tcb.h"
#include "tcp_in.h"

static int same4(const toec_u8 *a, const toec_u8 *b)
{
    toec_u32 x, y;

    memcpy(&x, a, 4);
    memcpy(&y, b, 4);
    return x == y;
}

static int same16(const toec_u8 *bytes, const struct toec_addr *a)
{
    struct toec_addr b;

    memcpy(b.b, bytes, 16);
    return toec_addr_eq(&b, a);
}

/* Returns not 0 when the segment has the addresses of the flow, and the own one is still in use:
 * what toec_tcb_find() and the checks of IP decide about a frame. */
static int addresses_fit(struct toec_stack *s, const struct toec_tcb *t,
                         const struct toec_rx_segment *r)
{
    int v6 = (t->node.hash & TOEC_HASH_IP6) != 0;

    if (v6 != (r->v6 != 0))
        return 0;
    if (!v6)
        return same4(r->remote, t->remote.b + 12) && same4(r->local, t->local.b + 12) && s->ip4;
    return same16(r->remote, &t->remote) && same16(r->local, &t->local) &&
           toec_own_find(s, &t->local);
}

static void fill(struct toec_seg *g, const struct toec_tcb *t, const struct toec_rx_segment *r)
{
    g->pkt = r->pkt;
    g->header = r->header;
    g->id.local = &t->local;
    g->id.remote = &t->remote;
    g->id.local_port = t->local_port;
    g->id.remote_port = t->remote_port;
    g->seq = r->seq;
    g->ack = r->ack;
    g->off = r->off;
    g->len = r->len;
    g->wnd = r->wnd;
    g->flags = r->flags;
    g->tsval = r->ts_val;
    g->tsecr = r->ts_ecr;
    g->has_ts = r->stamps;
    g->tos = r->tos;
    g->mss = 0;
    g->sack_ok = 0;
    g->unscaled = 0;
    g->has_wscale = 0;
    g->wscale = 0;
    g->n_sack = 0;
    g->urg = 0;
    g->uto = 0;
    g->has_fo = 0;
    g->fo_len = 0;
    g->ao_n = 0;
    g->auth = 0;
    g->hash = t->node.hash;
}

int toec_input_flow(struct toec_stack *s, struct toec_tcb *t, const struct toec_rx_segment *r,
                    toec_time now)
{
    struct toec_seg g;

    if (t->local_port != r->local_port || t->remote_port != r->remote_port ||
        t->state < TOEC_ESTABLISHED || (t->rare & TOEC_RARE_AO) || !addresses_fit(s, t, r))
        return -1;
    TOEC_COUNT(s, rx_frames);
    TOEC_COUNT_ADD(s, rx_bytes, r->pkt->len);
    TOEC_COUNT(s, tcp_rx);
    fill(&g, t, r);
    toec_segment(s, t, &g, now);
    return 0;
}
