/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.c - invariants of every sent frame, checked on the wire alone, with a separate account of
 * sent and delivered data; and invariants between events.
 */
#include <stdio.h>
#include <string.h>

#include "prop.h"

/* ---- the account of a flow ---- */

struct wflow *wflow_of(struct host *h, uint16_t lport, uint16_t rport)
{
    struct wflow *f;
    unsigned i;

    for (i = 0; i < h->wflows; i++) {
        if (h->wflow[i].lport == lport && h->wflow[i].rport == rport)
            return &h->wflow[i];
    }
    if (h->wflows == HOST_WFLOWS) { /* other hosts change: they share the last entry */
        f = &h->wflow[HOST_WFLOWS - 1];
        memset(f, 0, sizeof(*f));
    } else {
        f = &h->wflow[h->wflows++];
    }
    f->lport = lport;
    f->rport = rport;
    return f;
}

/* The SYN that the flow was made from, or the last one; 0 when none was delivered. */
const struct syn *wflow_syn(const struct wflow *f)
{
    if (f->ack_known || f->sure)
        return &f->taken;
    return f->syns ? &f->syn[(f->syns - 1) % WF_SYNS] : 0;
}

static int same_options(const struct syn *a, const struct syn *b)
{
    return a->has_mss == b->has_mss && a->mss == b->mss && a->ws == b->ws && a->ts == b->ts &&
           a->sack == b->sack;
}

/* Finds the flow's SYN: the nearest one below its first ACK, and of equals the first since the
 * previous flow ended. *unclear: later ones with other options may be it as well. */
static const struct syn *find_syn(const struct wflow *f, uint32_t ack, int *unclear)
{
    unsigned n = f->syns < WF_SYNS ? f->syns : WF_SYNS, i;
    const struct syn *best = 0, *other = 0;

    *unclear = 0;
    for (i = 0; i < n; i++) {
        unsigned at = f->syns - 1 - i;
        const struct syn *c = &f->syn[at % WF_SYNS];

        if (ack - c->seq - 1 >= 0x1000000u)
            continue;
        if (at >= f->old_syns) {
            *unclear |= c->unclear || (other && !same_options(other, c));
            other = c;
        }
        if (!best || ack - c->seq < ack - best->seq + (at >= f->old_syns))
            best = c;
    }
    return best;
}

static void range_add(struct wflow *f, uint32_t start, uint32_t end)
{
    unsigned i, n = 0;

    if (start == end)
        return;
    for (i = 0; i < f->gots; i++) {
        struct interval v = f->got[i];

        if (SEQ_LE(start, v.end) && SEQ_LE(v.start, end)) {
            if (SEQ_LT(v.start, start))
                start = v.start;
            if (SEQ_LT(end, v.end))
                end = v.end;
        } else {
            f->got[n++] = v;
        }
    }
    if (n == WF_RANGES) {
        f->lax = 1;
        n--;
    }
    f->got[n].start = start;
    f->got[n].end = end;
    f->gots = n + 1;
}

static int range_has(const struct wflow *f, uint32_t start, uint32_t end)
{
    unsigned i;

    for (i = 0; i < f->gots; i++) {
        if (SEQ_LE(f->got[i].start, start) && SEQ_LE(end, f->got[i].end))
            return 1;
    }
    return f->lax;
}

uint32_t wflow_prefix(const struct wflow *f)
{
    const struct syn *s = wflow_syn(f);
    uint32_t at = (f->ack_known ? f->irs : s ? s->seq : 0) + 1;
    unsigned i;

    for (i = 0; i < f->gots; i++) {
        if (SEQ_LE(f->got[i].start, at) && SEQ_LT(at, f->got[i].end))
            at = f->got[i].end;
    }
    return at;
}

static int scale_of(const struct wflow *f, int own)
{
    const struct syn *s = wflow_syn(f);

    if (!s || s->ws < 0 || f->own.ws < 0)
        return 0;
    return own ? f->own.ws : s->ws > 14 ? 14 : s->ws;
}

/* ---- delivered ---- */

static void in_ack(struct wflow *f, const struct seg *g)
{
    uint32_t edge = g->ack + (g->wnd << ((g->flags & F_SYN) ? 0 : scale_of(f, 0)));

    if (!f->live || SEQ_LT(f->snd_max, g->ack) || SEQ_LE(g->ack, f->iss))
        return;
    if (SEQ_LT(f->ack_in, g->ack))
        f->ack_in = g->ack;
    if (SEQ_LT(f->granted, edge))
        f->granted = edge;
}

/* Can a flow be made from it? Not from a SYN with RST, or from one that acknowledges unsent data
 * (RFC 9293 3.10.7.3). */
static int may_open(const struct wflow *f, const struct seg *g)
{
    if (!(g->flags & F_SYN) || (g->flags & F_RST))
        return 0;
    return !(g->flags & F_ACK) || (f->live && SEQ_LT(f->iss, g->ack) && SEQ_LE(g->ack, f->snd_max));
}

static void remember_syn(struct wflow *f, const struct syn *new)
{
    unsigned n = f->syns < WF_SYNS ? f->syns : WF_SYNS, i;
    int unclear = 0;

    for (i = 0; i < n; i++) {
        struct syn *s = &f->syn[i];

        if (s->seq != new->seq || same_options(s, new))
            continue;
        s->unclear = unclear = 1;
    }
    f->syn[f->syns % WF_SYNS] = *new;
    f->syn[f->syns++ % WF_SYNS].unclear = unclear;
}

/* The stream ends with the first of its FINs, whatever a peer sends after it. */
static void in_fin(struct wflow *f, uint32_t seq)
{
    range_add(f, seq, seq + 1);
    if (!f->fin_in || SEQ_LT(seq, f->fin_in_seq))
        f->fin_in_seq = seq;
    f->fin_in = 1;
}

void wire_in(struct host *h, const uint8_t *frame, uint32_t len, int forged)
{
    struct wflow *f;
    struct seg g;

    if (!seg_parse(frame, len, &g))
        return;
    if (h->world->trace)
        seg_print(h->world, "to", h->index, &g);
    f = wflow_of(h, g.dport, g.sport);
    if (may_open(f, &g))
        remember_syn(f, &g.opt);
    if (g.has_ts)
        f->tsval[f->tsvals++ % WF_TS] = g.tsval;
    if (forged)
        return; /* the rest must have no effect */
    if (g.flags & F_RST) {
        f->rsts_in++;
        return;
    }
    range_add(f, g.seq + ((g.flags & F_SYN) != 0), g.seq + ((g.flags & F_SYN) != 0) + g.len);
    if (g.flags & F_FIN)
        in_fin(f, g.seq + ((g.flags & F_SYN) != 0) + g.len);
    if (g.flags & F_ACK)
        in_ack(f, &g);
}

void wire_opened(struct host *h, struct wflow *f)
{
    const struct frame *in = h->world->in;
    struct seg g;

    if (f->ack_known || !in || !seg_parse(in->data, in->len, &g) || g.dport != f->lport ||
        g.sport != f->rport || !wflow_syn(f))
        return;
    if (!(g.flags & F_SYN) && f->syns > f->old_syns + 1) {
        f->lax =
            1; /* the ACK of a simultaneous open, in which several SYNs came: our ACK will show */
        return;
    }
    f->taken = g.flags & F_SYN ? g.opt : *wflow_syn(f); /* the ACK of a simultaneous open */
    f->sure = 1;
}

unsigned wire_life(struct host *from, const uint8_t *frame, uint32_t len)
{
    struct seg g;

    return seg_parse(frame, len, &g) ? wflow_of(from, g.sport, g.dport)->lives : 0;
}

/*
 * A forged segment has a flow's numbers except one. Once that flow has ended nothing in it is
 * wrong: a listener requires only an ACK of a cookie.
 */
int wire_is_pointless(struct host *to, const struct frame *f)
{
    struct seg g;
    unsigned i;

    if (!seg_parse(f->data, f->len, &g))
        return 0;
    for (i = 0; i < to->conns; i++) {
        const struct conn *c = to->conn[i];

        if (c->flow && c->lport == g.dport && c->rport == g.sport)
            return 0;
    }
    return 1;
}

/* Would `at` believe this ACK? */
static int acks_something(struct host *at, const struct seg *g)
{
    const struct wflow *f = wflow_of(at, g->dport, g->sport);

    return (g->flags & (F_ACK | F_SYN | F_RST)) == F_ACK && f->live && SEQ_LT(f->iss, g->ack) &&
           SEQ_LE(g->ack, f->snd_max);
}

/*
 * A flow that ended by RST leaves no TIME-WAIT, and its ports may be used again at once. Then
 * nothing in TCP distinguishes its bytes and ACKs from the next flow's, except that they live for
 * at most an MSL (RFC 9293 3.4.1): the network drops them.
 */
int wire_is_stale(struct host *from, const struct frame *f)
{
    struct seg g;

    return seg_parse(f->data, f->len, &g) && f->life != wflow_of(from, g.sport, g.dport)->lives &&
           (g.len || (g.flags & F_FIN) || acks_something(&from->world->host[1 - from->index], &g));
}

/* An ACK makes a flow: with a cookie used twice, a new one without a new SYN. */
void wire_cookie(struct host *h, struct wflow *f)
{
    const struct frame *in = h->world->in;
    struct seg g;

    if (!in || !seg_parse(in->data, in->len, &g) || (g.flags & F_SYN))
        return;
    f->again = f->over;
    f->cookie = f->ack_known = 1;
    f->over = f->fin_sent = f->fin_in = 0;
    f->irs = f->taken.seq = g.seq - 1;
    f->last_ack = f->right = g.seq;
    f->iss = g.ack - 1; /* an invalid SYN-ACK may have arrived in between */
    f->snd_max = g.ack;
}

/* The next SYN opens another flow, whose ISS may be the same, because no time need have passed.
 * Earlier SYNs do not belong to it, except the one whose delivery ends the old flow. */
void wire_gone(struct host *h, struct wflow *f)
{
    const struct frame *in = h->world->in;
    struct seg g;

    f->over = 1;
    f->sure = 0;
    f->old_syns = f->syns;
    if (f->syns && in && seg_parse(in->data, in->len, &g) && (g.flags & F_SYN) &&
        g.dport == f->lport && g.sport == f->rport)
        f->old_syns--;
}

/* ---- sent ---- */

static void out_ip6(struct host *h, const uint8_t *frame, uint32_t len)
{
    const uint8_t *ip = frame + 14;
    struct world *w = h->world;
    uint8_t own[16];

    if (get16(frame + 12) != 0x86dd || len < 54 || ip[0] >> 4 != 6 || get16(ip + 4) + 54 != len)
        prop_fail(w, "frame", "malformed IPv6, %u bytes", len);
    if (len - 14 > h->cfg.mtu)
        prop_fail(w, "frame", "%u bytes on an MTU of %u", len - 14, h->cfg.mtu);
    own_address(h->index, own);
    if (ip[7] == 0 || (ip[6] == 6 && memcmp(ip + 8, own, 16) != 0))
        prop_fail(w, "frame", "IPv6 source or hop limit");
    if (ip[6] == 58 && sum16(ip + 40, len - 54, pseudo_sum(ip, 58, len - 54)) != 0xffff)
        prop_fail(w, "frame", "ICMPv6 checksum");
}

static void out_ip(struct host *h, const uint8_t *frame, uint32_t len)
{
    const uint8_t *ip = frame + 14;
    struct world *w = h->world;
    uint32_t total = len >= 34 ? get16(ip + 2) : 0;

    if (memcmp(frame + 6, h->cfg.mac, 6) != 0)
        prop_fail(w, "frame", "source address of the frame is not ours");
    if (prop_ip6) {
        out_ip6(h, frame, len);
        return;
    }
    if (frame[12] == 8 && frame[13] == 6) {
        if (len < 42 || get16(frame + 14) != 1 || get16(frame + 20) - 1 > 1)
            prop_fail(w, "frame", "malformed ARP");
        return;
    }
    if (frame[12] != 8 || frame[13] != 0 || len < 34 || ip[0] != 0x45 || total + 14 != len)
        prop_fail(w, "frame", "malformed IPv4: length %u, total length %u", len, total);
    if (total > h->cfg.mtu)
        prop_fail(w, "frame", "%u bytes on an MTU of %u", total, h->cfg.mtu);
    if (sum16(ip, 20, 0) != 0xffff)
        prop_fail(w, "frame", "IPv4 checksum");
    if (memcmp(ip + 12, h->cfg.ip, 4) != 0 || ip[8] == 0)
        prop_fail(w, "frame", "IPv4 source or TTL");
    if (ip[9] == 1 && sum16(ip + 20, total - 20, 0) != 0xffff)
        prop_fail(w, "frame", "ICMP checksum");
}

static void out_syn(struct host *h, struct wflow *f, const struct seg *g)
{
    unsigned i;

    if (g->flags & F_FIN)
        prop_fail(h->world, "flags", "SYN with FIN");
    if (!f->live || f->over || f->iss != g->seq ||
        (f->ack_known && (!(g->flags & F_ACK) || g->ack != f->irs + 1))) { /* another incarnation */
        f->live = 1;
        f->lives++;
        f->over = 0;
        f->iss = g->seq;
        f->snd_max = g->seq + 1;
        f->ack_in = f->granted = g->seq + 1;
        f->ack_known = f->fin_sent = f->fin_in = 0;
        f->gots = f->rsts_in = 0;
        if (!(g->flags & F_ACK))
            f->syns = f->old_syns = 0; /* segments before our open were not for this flow */
        f->own_ecn = f->own_plain = f->cookie = f->again = f->sure = 0;
        f->lax = 0;
    }
    f->own = g->opt;
    f->own_ecn |= (g->flags & F_ECN) != 0;
    f->own_plain |= (g->flags & F_ECN) == 0;
    if (!(g->flags & F_ACK))
        return;
    for (i = 0; i < f->syns && i < WF_SYNS; i++) {
        if (f->syn[(f->syns - 1 - i) % WF_SYNS].seq + 1 == g->ack)
            break;
    }
    if (i == f->syns || i == WF_SYNS)
        prop_fail(h->world, "acknowledged", "SYN-ACK of %u: no such SYN came", g->ack);
}

static void out_options(struct host *h, struct wflow *f, const struct seg *g)
{
    const struct syn *s = wflow_syn(f);
    struct world *w = h->world;
    unsigned i;

    if (g->fault)
        prop_fail(w, "options", "%s", g->fault);
    if (g->flags & F_SYN) {
        if (g->n_sack)
            prop_fail(w, "options", "SACK blocks in a SYN");
        return;
    }
    if (g->opt.has_mss || g->opt.ws >= 0 || g->opt.sack)
        prop_fail(w, "options", "an option of SYNs elsewhere");
    if (!s || f->cookie)
        return;
    if (!(g->flags & F_RST) && g->has_ts != (s->ts && f->own.ts))
        prop_fail(w, "options", "timestamp %d, peer offered %d, we %d", g->has_ts, s->ts,
                  f->own.ts);
    if (g->n_sack && !(s->sack && f->own.sack))
        prop_fail(w, "options", "SACK not negotiated");
    for (i = 0; i < g->n_sack; i++) {
        /* RFC 2883 4: the first may report a duplicate, of any segment not accepted. */
        if (i == 0 && SEQ_LT(g->sack[i].start, g->sack[i].end) && SEQ_LE(g->sack[i].end, g->ack))
            continue;
        if (!SEQ_LT(g->sack[i].start, g->sack[i].end) ||
            !range_has(f, g->sack[i].start, g->sack[i].end))
            prop_fail(w, "acknowledged", "SACK %u:%u was not received", g->sack[i].start,
                      g->sack[i].end);
        if (SEQ_LT(g->sack[i].start, g->ack) && i > 0) /* RFC 2883 4: only the first */
            prop_fail(w, "options", "SACK %u:%u lies below ACK %u", g->sack[i].start,
                      g->sack[i].end, g->ack);
    }
}

static void out_timestamps(struct host *h, struct wflow *f, const struct seg *g)
{
    unsigned i, n = f->tsvals < WF_TS ? f->tsvals : WF_TS;

    if (!g->has_ts || (g->flags & F_RST))
        return;
    /* A cookie has the options of its SYN in the low bits of TSval, and another SYN others, or no
     * timestamp at all. */
    if (f->ack_known && !((g->flags & F_SYN) && f->syns > 1) && SEQ_LT(g->tsval, f->last_tsval))
        prop_fail(h->world, "timestamps", "TSval %u after %u", g->tsval, f->last_tsval);
    f->last_tsval = g->tsval;
    f->last_tsecr = g->tsecr;
    if (!(g->flags & F_ACK) || f->tsvals > WF_TS)
        return;
    for (i = 0; i < n; i++) {
        if (f->tsval[i] == g->tsecr)
            return;
    }
    prop_fail(h->world, "timestamps", "TSecr %u never came", g->tsecr);
}

/* Checks the ACK field and the window. */
static void out_receive(struct host *h, struct wflow *f, const struct seg *g)
{
    uint32_t edge = g->ack + (g->wnd << ((g->flags & F_SYN) ? 0 : scale_of(f, 1))), prefix;

    if (!f->ack_known) {
        int unclear = 0;
        const struct syn *s = f->sure ? &f->taken : find_syn(f, g->ack, &unclear);

        if (!s)
            prop_fail(h->world, "acknowledged", "ACK %u: no SYN came below it", g->ack);
        f->taken = *s;
        f->cookie |= unclear;
        f->ack_known = 1;
        f->irs = s->seq;
        f->last_ack = g->ack;
        edge = g->ack + (g->wnd << ((g->flags & F_SYN) ? 0 : scale_of(f, 1)));
        f->right = edge;
        f->last_tsval = g->tsval;
    }
    if (SEQ_LT(g->ack, f->last_ack))
        prop_fail(h->world, "acknowledged", "ACK %u after %u", g->ack, f->last_ack);
    prefix = wflow_prefix(f);
    if (!f->lax && SEQ_LT(prefix, g->ack))
        prop_fail(h->world, "acknowledged", "ACK %u, received to %u", g->ack, prefix);
    f->last_ack = g->ack;
    if (f->cookie || g->flags & F_SYN || (f->fin_in && SEQ_LT(f->fin_in_seq, g->ack)))
        return; /* not scaled; no more data can arrive */
    if (SEQ_LT(edge + (1u << scale_of(f, 1)) - 1, f->right))
        prop_fail(h->world, "window shrank", "right edge %u after %u", edge, f->right);
    if (SEQ_LT(f->right, edge))
        f->right = edge;
}

/* Checks the sequence number and the payload. */
static void out_send(struct host *h, struct wflow *f, const struct seg *g)
{
    struct world *w = h->world;
    uint32_t syn = (g->flags & F_SYN) != 0, fin = (g->flags & F_FIN) != 0;
    uint32_t end = g->seq + syn + g->len + fin, mss, least;
    const struct syn *s = wflow_syn(f);

    if (SEQ_LT(g->seq, f->iss) || SEQ_LT(f->snd_max, g->seq))
        prop_fail(w, "sequence", "seq %u, ISS %u, sent to %u", g->seq, f->iss, f->snd_max);
    if (f->fin_sent && SEQ_LT(f->fin_seq + 1, end))
        prop_fail(w, "sequence", "%u lies beyond the FIN at %u", end, f->fin_seq);
    if (fin) {
        if (f->fin_sent && f->fin_seq != end - 1)
            prop_fail(w, "sequence", "FIN at %u, then at %u", f->fin_seq, end - 1);
        f->fin_sent = 1;
        f->fin_seq = end - 1;
    }
    if (SEQ_LT(f->snd_max, end))
        f->snd_max = end;
    mss = s && s->has_mss && s->mss ? s->mss : prop_ip6 ? 1220 : 536; /* RFC 9293 MUST-15 */
    /* RFC 9293 has no least value; core/ has, against tiny segments, and its cookies another. */
    least = toec_counters(h->stack)[TOEC_C_tcp_cookies_taken] ? 216 : 64;
    if (mss < least)
        mss = least;
    if (!f->cookie && g->len && g->len + (g->hlen - 20) > mss)
        prop_fail(w, "segment size", "%u bytes and %u of options, MSS %u", g->len, g->hlen - 20,
                  mss);
    if (!f->cookie && !syn && g->len + fin > 1 && SEQ_LT(f->granted, end))
        prop_fail(w, "beyond the window", "sent to %u, offered to %u", end, f->granted);
}

void wire_out(struct host *h, const uint8_t *frame, uint32_t len)
{
    struct world *w = h->world;
    struct wflow *f;
    struct seg g;

    out_ip(h, frame, len);
    if (is_discovery(frame) || frame[prop_ip6 ? 20 : 23] != 6)
        return;
    if (!seg_parse(frame, len, &g))
        prop_fail(w, "frame", "TCP header or checksum");
    if (w->trace)
        seg_print(w, "by", h->index, &g);
    f = wflow_of(h, g.sport, g.dport);
    if (g.urg || (g.flags & F_URG) ||
        ((g.flags & F_ECN) && !(g.flags & F_SYN) && !f->own_ecn && !f->cookie))
        prop_fail(w, "flags", "%02x, urgent pointer %u", g.flags, g.urg);
    /* RFC 3168 6.1.1: not after a SYN of ours without it; a stack that opened the flow from a
     * cookie knows only the SYN that came back */
    if (ecn_of(frame) &&
        ((g.flags & (F_SYN | F_RST)) || !g.len || (!f->cookie && (!f->own_ecn || f->own_plain))))
        prop_fail(w, "flags", "ECN-capable, flags %02x", g.flags);
    if (g.flags & F_RST) {
        h->rsts++;
        if (g.flags & (F_SYN | F_FIN) || g.len)
            prop_fail(w, "flags", "RST with %02x and %u bytes", g.flags, g.len);
        return;
    }
    if (!(g.flags & (F_SYN | F_ACK)))
        prop_fail(w, "flags", "neither SYN nor ACK");
    if (g.flags & F_SYN)
        out_syn(h, f, &g);
    else if (!f->live)
        prop_fail(w, "sequence", "a segment before any SYN");
    if (g.flags & F_ACK)
        out_receive(h, f, &g);
    out_options(h, f, &g);
    out_timestamps(h, f, &g);
    out_send(h, f, &g);
}

/* ---- between events ---- */

static void check_counters(struct host *h)
{
    const toec_u64 *c = toec_counters(h->stack);
    struct world *w = h->world;
    unsigned i;

    for (i = 0; i < TOEC_C_MAX; i++) {
        if (c[i] < h->last[i])
            prop_fail(w, "counters", "counter %u went back", i);
        h->last[i] = c[i];
    }
    if (c[TOEC_C_rx_frames] != h->delivered || c[TOEC_C_tx_frames] != h->accepted)
        prop_fail(w, "counters", "frames: %llu of %llu in, %llu of %llu out", c[TOEC_C_rx_frames],
                  (unsigned long long)h->delivered, c[TOEC_C_tx_frames],
                  (unsigned long long)h->accepted);
    if (c[TOEC_C_tx_full] != h->refused)
        prop_fail(w, "counters", "%llu refusals counted, %llu made", c[TOEC_C_tx_full],
                  (unsigned long long)h->refused);
    /* A packet that waits for a neighbour is counted, and again when it is dropped. */
    if (c[TOEC_C_tcp_rst_sent] < h->rsts ||
        (h->world->over && c[TOEC_C_tcp_rst_sent] > h->rsts + c[TOEC_C_tx_unresolved_drop]))
        prop_fail(w, "counters", "%llu RST counted, %llu sent", c[TOEC_C_tcp_rst_sent],
                  (unsigned long long)h->rsts);
}

void check_host(struct host *h)
{
    struct toec_usage u;

    toec_usage(h->stack, &u);
    if (u.flows != h->open_now)
        prop_fail(h->world, "pools", "%u flows, their owners hold %u", u.flows, h->open_now);
    if (u.half_open > u.flows || u.time_wait > h->cfg.max_time_wait || u.listeners != h->listeners)
        prop_fail(h->world, "pools", "half open %u of %u, TIME-WAIT %u, listeners %u of %u",
                  u.half_open, u.flows, u.time_wait, u.listeners, h->listeners);
    check_counters(h);
}

/* Returns not 0 when the flow waits for a timer. */
static int owes(struct conn *c, const struct toec_info *i)
{
    switch (i->state) {
    case TOEC_SYN_SENT:
    case TOEC_SYN_RECEIVED:
    case TOEC_FIN_WAIT_1:
    case TOEC_CLOSING:
    case TOEC_LAST_ACK:
        return 1;
    case TOEC_FIN_WAIT_2:
        return c->closed;
    default:
        return i->in_flight || c->sent > i->bytes_sent;
    }
}

void check_deadline(struct host *h, toec_time deadline)
{
    unsigned i;

    for (i = 0; i < h->conns; i++) {
        struct conn *c = h->conn[i];
        struct toec_info info;

        if (!c->flow)
            continue;
        toec_flow_info(h->stack, c->flow, &info);
        if (info.state >= TOEC_ESTABLISHED && (info.cwnd == 0 || info.mss_send == 0))
            prop_fail(h->world, "flow", "cwnd %u, MSS %u", info.cwnd, info.mss_send);
        if (deadline == TOEC_NEVER && owes(c, &info))
            prop_fail(h->world, "no timer", "state %u, in flight %u, %llu of %llu sent", info.state,
                      info.in_flight, info.bytes_sent, (unsigned long long)c->sent);
    }
}
