/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack.c - segments that no stack has sent. In "pair" mode they come from an off-path attacker,
 * and none may affect a flow (RFC 5961, RFC 7323 5, RFC 5927); each kind is wrong in exactly one
 * way. In "peer" mode they are the peer's own.
 */
#include <string.h>

#include "prop.h"

/* A frame to host `to` with these options (already padded); sums are completed. */
static void put_segment(struct world *w, unsigned to, const struct seg *g, const uint8_t *opt,
                        unsigned opt_len, uint32_t payload_seed, uint32_t payload_at, int forged)
{
    static uint8_t f[14 + 40 + 20 + 60 + 65536];
    uint32_t len = 20 + opt_len + g->len, i, l4 = put_headers(f, to, 6, len);
    uint8_t *t = f + l4;

    memset(t, 0, 20);
    put16(t, g->sport);
    put16(t + 2, g->dport);
    put32(t + 4, g->seq);
    put32(t + 8, g->ack);
    t[12] = (uint8_t)((20 + opt_len) / 4 << 4);
    t[13] = (uint8_t)g->flags;
    put16(t + 14, g->wnd);
    memcpy(t + 20, opt, opt_len);
    for (i = 0; i < g->len; i++)
        t[20 + opt_len + i] = pattern(payload_seed, payload_at + i);
    put16(t + 16, ~sum16(t, len, pseudo_sum(f + 14, 6, len)));
    world_deliver(w, to, f, l4 + len, 0, forged, 0);
}

static unsigned put_ts(uint8_t *o, uint32_t tsval, uint32_t tsecr)
{
    o[0] = o[1] = 1;
    o[2] = 8;
    o[3] = 10;
    put32(o + 4, tsval);
    put32(o + 8, tsecr);
    return 12;
}

static int has_ts(const struct wflow *f)
{
    return wflow_syn(f) && wflow_syn(f)->ts && f->own.ts;
}

static uint32_t latest_ts(const struct wflow *f)
{
    return f->tsvals ? f->tsval[(f->tsvals - 1) % WF_TS] : 0;
}

enum forged { FORGE_RST, FORGE_SYN, FORGE_ACK_AHEAD, FORGE_OUTSIDE, FORGE_ACK_OLD, FORGE_PAWS };

/* Makes *g wrong in the way of `kind`; returns 0 if that is impossible now. */
static int forge_what(const struct host *h, const struct conn *c, const struct wflow *f,
                      const struct event *e, struct seg *g, uint32_t *tsval)
{
    uint32_t v = (uint32_t)e->a[3];

    (void)h;
    switch ((enum forged)((uint64_t)e->a[2] % 6)) {
    case FORGE_RST: /* RFC 5961 3.2: only RCV.NXT itself resets */
        g->flags = F_RST | (e->a[4] & 1 ? F_ACK : 0);
        g->seq += 1 + v % 100000;
        g->len = 0;
        /* ... and a FIN or data on their way may have made it so */
        return SEQ_LT(wflow_prefix(f) + 70000, g->seq);
    case FORGE_SYN: /* RFC 5961 4.2 */
        g->flags = F_SYN | (e->a[4] & 1 ? F_ACK : 0);
        g->seq += v;
        g->len = 0;
        return 1;
    case FORGE_ACK_AHEAD: /* RFC 5961 5.2 */
        g->ack = f->snd_max + c->tx_size + 1 + v % 1000000;
        return 1;
    case FORGE_OUTSIDE:
        g->seq = e->a[4] & 1 ? f->right + (16u << 20) + v % 100000 : g->seq - 70000 - v % 100000;
        return 1;
    case FORGE_ACK_OLD:
        g->ack = f->ack_in - 0x40000000u - v % 1000000;
        return 1;
    default:
        *tsval = f->last_tsecr - 1 - v % 100000;
        return has_ts(f);
    }
}

void forge(struct world *w, const struct event *e)
{
    struct host *h = &w->host[(uint64_t)e->a[0] % w->hosts];
    struct conn *c = conn_of(h, e->a[1]);
    struct toec_info info;
    struct wflow *f;
    struct seg g;
    uint8_t opt[12];
    uint32_t tsval;

    if (w->hosts == 1 || !c || !c->flow)
        return;
    toec_flow_info(h->stack, c->flow, &info);
    f = wflow_of(h, c->lport, c->rport);
    if (info.state < TOEC_ESTABLISHED || !f->ack_known || !f->live || c->iss != f->iss)
        return;
    memset(&g, 0, sizeof(g));
    g.sport = c->rport;
    g.dport = c->lport;
    g.flags = F_ACK;
    g.seq = f->last_ack;
    g.ack = f->ack_in;
    g.wnd = (uint32_t)e->a[3] & 0xffff;
    g.len = 1 + (uint32_t)e->a[4] % 1000;
    tsval = latest_ts(f);
    if (!forge_what(h, c, f, e, &g, &tsval))
        return;
    put_segment(w, h->index, &g, opt, has_ts(f) ? put_ts(opt, tsval, f->last_tsval) : 0, ~f->irs, 0,
                1);
}

/* kind 0: fragmentation needed, 1..3: unreachable; 8 and more: quotes unsent data. */
void forge_icmp(struct world *w, const struct event *e)
{
    struct host *h = &w->host[(uint64_t)e->a[0] % w->hosts];
    struct conn *c = conn_of(h, e->a[1]);
    uint64_t kind = (uint64_t)e->a[2];
    uint8_t f[54 + 128], quoted[8];
    struct wflow *wf;
    uint32_t len;

    if (!c || !c->flow)
        return;
    wf = wflow_of(h, c->lport, c->rport);
    if (!wf->live || !c->established)
        return;
    put16(quoted, c->lport);
    put16(quoted + 2, c->rport);
    put32(quoted + 4, kind & 8 ? wf->ack_in - 1000 - (uint32_t)e->a[3] : wf->ack_in);
    len = icmp_error(f, h->index, kind & 3, (uint32_t)e->a[3] & 0xffff, quoted);
    world_deliver(w, h->index, f, len, 0, 1, 0);
}

/* ---- peer mode ---- */

#define OPT_TS    1
#define OPT_MSS   2
#define OPT_WS    4
#define OPT_SOK   8
#define OPT_SACK  16
#define OPT_BAD   32 /* malformed, by v */
#define OPT_ABS   64 /* seq is absolute: a SYN's */
#define OPT_NO_TS 128

static unsigned peer_options(const struct event *e, const struct wflow *f, uint8_t *o)
{
    static const uint8_t bad[4][4] = {{2, 0, 0, 0}, {8, 40, 1, 1}, {5, 3, 9, 1}, {3, 1, 1, 3}};
    unsigned want = (unsigned)e->a[7], n = 0;
    uint32_t v = (uint32_t)e->a[8], u = (uint32_t)e->a[9];

    if (want & OPT_MSS) {
        o[n] = 2;
        o[n + 1] = 4;
        put16(o + n + 2, v & 0xffff);
        n += 4;
    }
    if (want & OPT_WS) {
        o[n] = 1;
        o[n + 1] = 3;
        o[n + 2] = 3;
        o[n + 3] = (uint8_t)u;
        n += 4;
    }
    if (want & OPT_SOK) {
        o[n] = o[n + 1] = 1;
        o[n + 2] = 4;
        o[n + 3] = 2;
        n += 4;
    }
    if ((want & OPT_TS) || (!(want & OPT_NO_TS) && has_ts(f)))
        n += put_ts(o + n, latest_ts(f) + (want & OPT_ABS ? v : v & 1), f->last_tsval);
    if (want & OPT_SACK) {
        o[n] = o[n + 1] = 1;
        o[n + 2] = 5;
        o[n + 3] = 10;
        put32(o + n + 4, f->snd_max - v);
        put32(o + n + 8, f->snd_max - v + u);
        n += 12;
    }
    if (want & OPT_BAD) {
        memcpy(o + n, bad[v & 3], 4);
        n += 4;
    }
    return n;
}

/* Several SYNs have arrived, and it is not known yet which of them the stack has accepted. */
static int unsure_of_syn(const struct wflow *f)
{
    unsigned i, n = f->syns < WF_SYNS ? f->syns : WF_SYNS;

    if (f->ack_known || f->sure)
        return 0;
    for (i = 1; i < n; i++) {
        if (f->syn[i].seq != f->syn[0].seq)
            return 1;
    }
    return 0;
}

/* seq: from RCV.NXT as the stack has reported it; ack: from SND.MAX. */
void peer_segment(struct world *w, const struct event *e)
{
    struct host *h = &w->host[0];
    uint8_t opt[60];
    struct wflow *f;
    struct seg g;
    uint32_t irs;

    memset(&g, 0, sizeof(g));
    g.sport = (uint16_t)e->a[0];
    g.dport = (uint16_t)e->a[1];
    g.flags = (unsigned)e->a[2] & 0x3f & ~F_URG;
    f = wflow_of(h, g.dport, g.sport);
    irs = wflow_syn(f) ? wflow_syn(f)->seq : 0;
    g.seq = (uint32_t)e->a[3];
    if (!(e->a[7] & OPT_ABS))
        g.seq += f->ack_known ? f->last_ack : irs + 1;
    g.ack = f->snd_max + (uint32_t)e->a[4];
    g.len = (uint32_t)e->a[5] % 9000;
    g.wnd = (uint32_t)e->a[6] & 0xffff;
    if (!(g.flags & F_SYN) && unsure_of_syn(f))
        g.len = 0; /* their stream offsets would be ambiguous */
    if ((g.flags & F_SYN) && !f->ack_known)
        irs = g.seq; /* its stream begins here */
    put_segment(w, 0, &g, opt, peer_options(e, f, opt), irs,
                g.seq + ((g.flags & F_SYN) != 0) - irs - 1, 0);
    world_give(w); /* the next one depends on it */
}
