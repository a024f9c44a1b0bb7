/* SPDX-License-Identifier: Apache-2.0 */
/*
 * talk.c - fuzz target: a stack with an application, against a peer that knows the windows.
 * Sequence numbers of the peer's segments are given as distances from what is expected, checksums
 * are right, so that inputs reach every state; what else is in them is the fuzzer's.
 *
 * Input: [set-up][set-up of the rarer features, 2 bytes, when its bit 128 is set][a list of acts:
 * the peer's port, and 0..39 a segment, 40..63 the rest]. Checks after each act: the stack sends no
 * byte beyond the window it was offered and none that its application did not write; it
 * acknowledges nothing that was not sent to it; nothing is placed outside the receive window; pools
 * are full in the end.
 */
#include <stdio.h>

#include "tcpsim.h"

#include "fuzz.h"

#define MOST_ACTS 400
#define SEGMENT   1460u
#define FAR       0x40000000u
#define PORTS     4 /* peer's ports 5000.. */

/* The peer's state of a connection. */
struct line {
    uint32_t isn, iss; /* first sequence number of each side */
    uint32_t sent;     /* SND.NXT of the peer, farthest */
    uint32_t heard;    /* RCV.NXT of the peer, as far as it cares: highest byte received */
    uint32_t right;    /* farthest right edge of the windows the peer has offered */
    uint32_t acked;    /* by the stack, last */
    uint32_t syn_wnd;  /* of its SYN: what a server of Fast Open may send into at once */
    uint32_t tsval, tsecr;
    unsigned shift; /* of the peer's window field */
    int open, spoke;
    unsigned syns; /* sent by the peer: with more than one, which numbers are meant is not known */
    uint16_t own_port;
};

struct talk {
    struct sim s;
    struct line line[PORTS];
    struct fuzz_in in;
    toec_u32 listener;
    int rare;          /* the input has a set-up of rarer features */
    toec_u32 fast;     /* of the listener, from the start */
    unsigned keyed;    /* TCP-AO: bits 16384 and 32768 of the set-up */
    uint8_t cookie[8]; /* of Fast Open, from the stack */
};

static int later(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) > 0;
}

static struct conn *conn_of(struct talk *t, unsigned i)
{
    struct conn *c;

    for (c = t->s.host[0].conns; c; c = c->next)
        if (c->remote_port == 5000 + i && c->flow)
            return c;
    return NULL;
}

static void say(const struct talk *t, const char *who, const struct tseg *g)
{
    if (fuzz_verbose)
        fprintf(stderr, "%12.6f %s %u>%u flags %02x seq %u ack %u wnd %u len %u\n",
                (double)t->s.now / 1e9, who, g->sport, g->dport, g->flags, g->seq, g->ack, g->wnd,
                g->len);
}

/* Checks a segment of the stack: the rules that hold for any peer. */
static void hear(struct talk *t, const struct tseg *g)
{
    unsigned i = (unsigned)g->dport - 5000u;
    struct line *l;
    uint32_t end = g->seq + g->len + !!(g->flags & F_SYN) + !!(g->flags & F_FIN), edge;

    say(t, "stack", g);
    if (i >= PORTS)
        return;
    l = &t->line[i];
    if (g->sport != l->own_port)
        return; /* of an earlier connection with this port of the peer */
    if (g->flags & F_RST)
        return;
    if (g->flags & F_SYN) {
        edge = g->seq + 1 + l->syn_wnd; /* nothing but the SYN until a window is offered */
        if (!l->open || l->iss != g->seq || later(edge, l->right))
            l->right = edge;
        l->iss = g->seq;
        l->heard = end;
        if (g->fo_len == (int)sizeof(t->cookie))
            memcpy(t->cookie, g->fo, sizeof(t->cookie));
        l->open = 1;
        if (g->has_ts)
            l->tsecr = g->tsval;
        return;
    }
    if (!l->open)
        return;
    if (g->has_ts)
        l->tsecr = g->tsval;
    if (later(end, l->heard))
        l->heard = end;
    /* RFC 9293 3.8.6: nothing beyond the farthest right edge, except the byte of a zero window
     * probe (3.8.6.1) and a FIN. */
    if (l->syns > 1)
        return;
    if (l->spoke && g->len)
        FUZZ_CHECK(!later(g->seq + g->len, l->right + 1));
    if ((g->flags & F_ACK) && l->spoke) {
        FUZZ_CHECK(!later(g->ack, l->sent));
        l->acked = g->ack;
    }
}

static void listen_in(struct talk *t)
{
    struct tseg g;
    unsigned i;

    while (craft_next(&t->s, &g))
        hear(t, &g);
    for (i = 0; i < t->s.sent_n; i++)
        free(t->s.sent[i]);
    t->s.sent_n = t->s.sent_read = 0;
}

/* A distance: mostly nothing or little, sometimes the edges of a window, rarely anything. */
static uint32_t distance(struct talk *t)
{
    static const uint32_t edge[] = {0,     1,      SEGMENT, 2 * SEGMENT, 4096,        65535,
                                    65536, 0x4000, 3000,    0x7fffffff,  0x80000000u, 10 * SEGMENT};
    unsigned how = fuzz_u8(&t->in);

    if (how < 128)
        return 0;
    if (how < 160)
        return (how - 128) * 100u;
    if (how < 184)
        return 0u - (how - 160) * 100u;
    if (how < 184 + sizeof(edge) / sizeof(edge[0]))
        return edge[how - 184];
    if (how < 184 + 2 * sizeof(edge) / sizeof(edge[0]))
        return 0u - edge[how - 184 - sizeof(edge) / sizeof(edge[0])];
    return how < 240 ? fuzz_u8(&t->in) : fuzz_u32(&t->in);
}

/* Options that are hardly ever sent: Fast Open, user timeout. */
static void rare_options(struct talk *t, struct tseg *g)
{
    unsigned what = fuzz_u8(&t->in), i;

    if (what & 1)
        g->uto = fuzz_u16(&t->in);
    if (!(what & 2))
        return;
    memcpy(g->fo, t->cookie, sizeof(t->cookie));
    g->fo_len = what & 4 ? (int)sizeof(t->cookie) : 0;
    if (what & 8) {
        g->fo_len = (int)(what >> 4) % ((int)sizeof(t->cookie) + 1);
        for (i = 0; i < sizeof(t->cookie); i++)
            g->fo[i] = (uint8_t)fuzz_u8(&t->in);
    }
}

static void options(struct talk *t, struct line *l, struct tseg *g)
{
    unsigned what = fuzz_u8(&t->in), n;

    if (what & 1) {
        g->has_ts = 1;
        g->tsval = l->tsval + (what & 2 ? distance(t) : 0);
        g->tsecr = l->tsecr + (what & 4 ? distance(t) : 0);
        if (!(what & 2))
            l->tsval++;
    }
    if ((g->flags & F_SYN) || (what & 8)) {
        if (what & 16)
            g->mss = (int)(what & 32 ? fuzz_u16(&t->in) : SEGMENT);
        if (what & 64)
            g->wscale = (int)(fuzz_u8(&t->in) % 16);
        g->sack_ok = !!(what & 128);
        if (t->rare && (what & 8))
            rare_options(t, g);
    } else if (what & 128) {
        g->n_sack = 1 + (what >> 5 & 1) + (g->has_ts ? 0 : what >> 4 & 1);
        for (n = 0; n < g->n_sack; n++) {
            g->sack[n][0] = l->heard + distance(t);
            g->sack[n][1] = g->sack[n][0] + SEGMENT + distance(t);
        }
    }
}

static void segment(struct talk *t, unsigned i, unsigned flags)
{
    struct line *l = &t->line[i];
    struct conn *c = conn_of(t, i);
    struct tseg g = seg_make((uint16_t)(5000 + i), l->own_port, flags, 0, 0);
    uint32_t end, shift;

    g.seq = l->sent + distance(t);
    if (flags & F_ACK)
        g.ack = l->heard + distance(t);
    g.wnd = fuzz_u8(&t->in) << 8;
    if (g.wnd == 0xff00)
        g.wnd = 0xffff;
    g.len = (flags & F_SYN) && !t->rare ? 0 : fuzz_u8(&t->in) * 8u;
    options(t, l, &g);
    g.payload_at = g.seq - l->isn - 1;
    if (flags & F_URG)
        g.urg = (uint16_t)fuzz_u16(&t->in);
    if (flags & F_SYN) {
        l->syns++;
        if (!c || l->syns == 1) { /* the first acknowledgement counts, whatever came before */
            l->isn = g.seq;
            l->sent = l->acked = g.seq;
        }
        if (!(flags & F_ACK))
            l->syn_wnd = g.wnd;
        if (g.wscale >= 0)
            l->shift = g.wscale > 14 ? 14 : (unsigned)g.wscale;
    }
    end = g.seq + g.len + !!(flags & F_SYN) + !!(flags & F_FIN);
    /* A number beyond any window is ignored. */
    if (later(end, l->sent) && end - l->acked < FAR)
        l->sent = end;
    /* Scaling of the window may have been refused or agreed: the larger of both is the bound. */
    shift = flags & F_SYN ? 0 : l->shift;
    if ((flags & F_ACK) && l->open && g.ack - l->iss < FAR &&
        later(g.ack + (g.wnd << shift), l->right)) {
        l->right = g.ack + (g.wnd << shift);
    } else if ((flags & F_SYN) && !(flags & F_ACK) && l->open &&
               later(l->iss + 1 + g.wnd, l->right)) {
        l->right = l->iss + 1 + g.wnd;
    }
    l->spoke = 1;
    say(t, "peer ", &g);
    craft_send(&t->s, &g);
}

static void raw(struct talk *t)
{
    uint8_t b[128] = {0};
    size_t n;
    const uint8_t *p = fuzz_bytes(&t->in, 20 + fuzz_u8(&t->in) % 100, &n);

    memcpy(b, p, n);
    if (n >= 20)
        craft_send_raw(&t->s, b, (uint32_t)n);
}

static void read_some(struct conn *c)
{
    uint32_t n = (uint32_t)(c->received - c->read);

    if (!c->flow || !n)
        return;
    c->read += n; /* bytes are not compared: the peer may have sent a place twice */
    if (!c->closed)
        assert_int_equal(toec_recv(c->host->stack, c->flow, n, c->host->sim->now), 0);
}

static void icmp(struct talk *t, unsigned i)
{
    struct line *l = &t->line[i];
    struct tseg q = seg_make(l->own_port, (uint16_t)(5000 + i), F_ACK, l->heard, l->sent);
    unsigned kind = fuzz_u8(&t->in);

    q.seq = l->heard + distance(t);
    if (sim_ip6) /* unreachable, too big, time exceeded, parameter problem */
        craft_icmp(&t->s, 1 + (kind & 3), kind >> 2 & 7, fuzz_u16(&t->in), &q);
    else
        craft_icmp(&t->s, kind & 1 ? 3 : 11, kind >> 1 & 15, fuzz_u16(&t->in), &q);
}

static void begin(struct line *l, uint16_t own_port, uint32_t isn)
{
    memset(l, 0, sizeof(*l));
    l->own_port = own_port;
    l->tsval = 1000;
    l->isn = l->sent = l->acked = isn;
}

/* The program connects; bits 2 and 4: with data on the SYN if the stack has a cookie, without one.
 */
static void connect_line(struct talk *t, unsigned i)
{
    unsigned how = fuzz_u8(&t->in);
    struct conn *c;
    int rc;

    c = sim_connect_from(&t->s, 0, how & 1 ? 80 : 0, (uint16_t)(5000 + i), &rc);
    if (c->gone)
        return;
    begin(&t->line[i], c->local_port, 0x10000u * i);
    if ((how & 2) && toec_fastopen(t->s.host[0].stack, c->flow, !!(how & 4), t->s.now) > 0)
        conn_write(c, how * 16, 1);
}

static void set_option(struct talk *t, struct conn *c)
{
    static const uint8_t all[] = {TOEC_OPT_NODELAY,      TOEC_OPT_KEEPALIVE, TOEC_OPT_KEEPIDLE,
                                  TOEC_OPT_KEEPINTVL,    TOEC_OPT_KEEPCNT,   TOEC_OPT_CC,
                                  TOEC_OPT_USER_TIMEOUT, TOEC_OPT_CORK,      TOEC_OPT_QUICKACK,
                                  TOEC_OPT_LINGER2,      TOEC_OPT_ECN,       TOEC_OPT_SYNCNT,
                                  TOEC_OPT_ADV_UTO,      TOEC_OPT_TOS,       TOEC_OPT_MTU_DISCOVER,
                                  TOEC_OPT_MAXSEG,       TOEC_OPT_MAX_PACING};
    unsigned which = fuzz_u8(&t->in);
    uint32_t value = fuzz_u8(&t->in);

    if (which & 128)
        value = value << (which >> 3 & 8) | fuzz_u8(&t->in);
    if (c && !c->closed)
        (void)toec_set_option(t->s.host[0].stack, c->flow, all[which % sizeof(all)], value,
                              t->s.now);
    else
        (void)toec_listen_option(t->s.host[0].stack, t->listener, all[which % sizeof(all)], value);
}

static void rare_act(struct talk *t, unsigned i)
{
    struct toec_stack *stack = t->s.host[0].stack;
    struct conn *c = conn_of(t, i);
    unsigned what = fuzz_u8(&t->in);
    uint8_t keys[32];

    switch (what % 5) {
    case 0:
        if (c && !c->closed)
            (void)toec_urgent(stack, c->flow, t->s.now);
        break;
    case 1:
        set_option(t, c);
        break;
    case 2: /* DSCP, and marks of congestion */
        t->s.peer_tos = (uint8_t)fuzz_u8(&t->in);
        break;
    case 3:
        memset(keys, (int)fuzz_u8(&t->in), sizeof(keys));
        (void)toec_listen_fastopen_key(stack, t->listener, keys, what / 5 % 3);
        break;
    default:
        (void)toec_listen_fastopen(stack, t->listener,
                                   (what / 5 & 3) | (what & 64 ? TOEC_FASTOPEN_NOCOOKIE : 0));
    }
}

static void user(struct talk *t, unsigned i, unsigned act)
{
    struct conn *c = conn_of(t, i);

    if (!c && act != 5)
        return;
    switch (act) {
    case 0:
        conn_write(c, fuzz_u16(&t->in) % 20000, (int)(fuzz_u8(&t->in) & 1));
        break;
    case 1:
        read_some(c);
        break;
    case 2:
        conn_shutdown(c);
        break;
    case 3:
        conn_close(c);
        break;
    case 4:
        conn_abort(c);
        break;
    case 5:
        if (c || t->s.host[0].opened > 64)
            break;
        connect_line(t, i);
        break;
    case 6:
        if (!c->closed)
            (void)toec_set_option(c->host->stack, c->flow, (enum toec_option)(fuzz_u8(&t->in) % 24),
                                  fuzz_u16(&t->in), t->s.now);
        break;
    default:
        break;
    }
}

/* Segments, the user's calls, and everything else. */
static void other_act(struct talk *t, unsigned i, unsigned n)
{
    switch (n) {
    case 0:
    case 1:
    case 2:
        user(t, i, 0);
        break;
    case 3:
    case 4:
        user(t, i, 1);
        break;
    case 5:
    case 6:
    case 7:
    case 8:
        user(t, i, fuzz_u8(&t->in) % 7);
        break;
    case 9:
    case 10:
    case 11:
        craft_pass(&t->s, (uint64_t)fuzz_u8(&t->in) * MSEC);
        break;
    case 12:
    case 13:
        t->s.host[0].tx_room = -1; /* it would have to make room all that time */
        craft_pass(&t->s, (uint64_t)fuzz_u8(&t->in) * SEC);
        break;
    case 14:
    case 15:
        icmp(t, i);
        break;
    case 16:
    case 17:
        raw(t);
        break;
    case 18:
        t->s.host[0].tx_room = fuzz_u8(&t->in) & 1 ? -1 : (int)(fuzz_u8(&t->in) & 3);
        break;
    case 19:
        t->s.peer_silent = (int)(fuzz_u8(&t->in) & 1);
        break;
    case 20:
        rare_act(t, i);
        break;
    default:
        segment(t, i, fuzz_u8(&t->in));
    }
}

static void act(struct talk *t)
{
    static const unsigned flags[] = {F_ACK, F_ACK,         F_ACK | F_PSH, F_ACK | F_FIN,
                                     F_SYN, F_SYN | F_ACK, F_RST,         F_RST | F_ACK};
    unsigned what = fuzz_u8(&t->in), i = what & (PORTS - 1), n = what >> 2;

    if (n < 40)
        segment(t, i, flags[n & 7]);
    else
        other_act(t, i, n - 40);
    if (n < 32 || n >= 40) /* more segments may arrive in one batch */
        craft_poll(&t->s);
}

static void holds(struct talk *t)
{
    struct toec_usage u;

    toec_usage(t->s.host[0].stack, &u);
    FUZZ_CHECK(u.flows == t->s.host[0].open_now);
    FUZZ_CHECK(t->s.place_violations == 0);
}

static void end(struct talk *t)
{
    struct conn *c;

    t->s.host[0].tx_room = -1;
    t->s.peer_silent = 0;
    for (c = t->s.host[0].conns; c; c = c->next)
        conn_abort(c);
    craft_pass(&t->s, 300 * SEC);
    listen_in(t);
    sim_assert_clean(&t->s);
    sim_stop(&t->s);
}

/* The stack's configuration, from the first bytes of the input. */
static void configure(struct talk *t, unsigned what)
{
    struct host *h = &t->s.host[0];
    unsigned rare = what & 128 ? fuzz_u16(&t->in) : 0;

    t->rare = !!(what & 128);
    h->cfg.max_flows = 8;
    h->cfg.max_listeners = 2;
    h->cfg.max_time_wait = 4;
    h->cfg.max_neighbours = 4;
    h->cfg.max_datagrams = 1;
    h->cfg.cc = what & 1 ? TOEC_CC_NEWRENO : TOEC_CC_CUBIC;
    h->tx_buf = what & 2 ? 65536 : 4096;
    h->rx_buf = what & 4 ? 65536 : 4096;
    h->cfg.max_gso = what & 8 ? 16384 : 0;
    if (!t->rare)
        return;
    h->cfg.cc = rare & 3;
    h->cfg.ecn = rare >> 2 & 3;
    h->cfg.mtu_probing = rare >> 4 & 3;
    h->cfg.tcp_without = rare >> 6 & (TOEC_I_TIMESTAMPS | TOEC_I_SACK | TOEC_I_WSCALE);
    if (rare & 512)
        h->cfg.max_flows = 3;
    if (rare & 1024)
        h->cfg.mtu = 9000;
    if (rare & 2048)
        h->tx_buf = h->rx_buf = 1u << 18;
    if (rare & (16384 | 32768)) {
        t->keyed = rare;
        h->cfg.max_ao_keys = 4;
        h->cfg.ao = &sim_ao;
    }
    if (rare & 4096)
        t->fast = 2 | (rare & 8192 ? TOEC_FASTOPEN_NOCOOKIE : 0);
}

/* TCP-AO: a key for another host only; or (32768) the peer is expected to use it. */
static void listen_keyed(struct talk *t)
{
    struct toec_ao_mkt k;

    memset(&k, 0, sizeof(k));
    k.remote.b[10] = k.remote.b[11] = 0xff;
    k.remote.b[12] = 99;
    if (sim_ip6)
        memset(k.remote.b + 10, 0, 3);
    k.prefix = t->keyed & 32768 ? 0 : 8;
    if (sim_ip6 && k.prefix)
        k.remote.b[0] = 0xfc;
    k.alg = t->keyed & 16384 ? TOEC_AO_HMAC_SHA1 : TOEC_AO_AES_CMAC;
    k.send_id = 1;
    k.recv_id = 2;
    k.secret = (const uint8_t *)"secret";
    k.secret_len = 6;
    FUZZ_CHECK(toec_listen_ao_add(t->s.host[0].stack, t->listener, &k) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct talk t;
    unsigned set_up, i, acts;

    memset(&t, 0, sizeof(t));
    t.in.p = data;
    t.in.left = size;
    set_up = fuzz_u8(&t.in);
    sim_ip6 = (set_up & 64) != 0;
    craft_init(&t.s);
    configure(&t, set_up);
    t.s.retry = 5 * MSEC; /* or all of a run is asking for room */
    craft_start(&t.s);
    sim_listen(&t.s, 0, 80, set_up & 16 ? 1 : 4, &t.listener);
    if (t.keyed)
        listen_keyed(&t);
    if (t.fast)
        toec_listen_fastopen(t.s.host[0].stack, t.listener, t.fast);
    for (i = 0; i < PORTS; i++)
        begin(&t.line[i], 80, set_up & 32 ? 0xfffff000u : 0x1000u * i);
    for (acts = 0; t.in.left && acts < MOST_ACTS; acts++) {
        act(&t);
        listen_in(&t);
        holds(&t);
    }
    end(&t);
    return 0;
}
