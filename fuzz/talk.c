/* SPDX-License-Identifier: Apache-2.0 */
/*
 * talk.c - fuzz target: a stack with an application in conversation with a peer that knows where
 * the windows are. Sequence numbers of the peer's segments are given as distances from what is
 * expected, checksums are right, so that inputs reach every state; what else is in them is the
 * fuzzer's.
 *
 * Input: [set-up][a list of acts: the peer's port, and 0..39 a segment, 40..63 the rest]. Checks
 * after each act: the stack sends no byte beyond the window it was offered and none that its
 * application did not write; it acknowledges nothing that was not sent to it; nothing is placed
 * outside the receive window; pools are full in the end.
 */
#include <stdio.h>

#include "tcpsim.h"

#include "fuzz.h"

#define MOST_ACTS 400
#define SEGMENT   1460u
#define FAR       0x40000000u
#define PORTS     4 /* peer's ports 5000.. */

/* What the peer knows of a connection. */
struct line {
    uint32_t isn, iss; /* first sequence number of each side */
    uint32_t sent;     /* SND.NXT of the peer, farthest */
    uint32_t heard;    /* RCV.NXT of the peer, as far as it cares: farthest byte that came */
    uint32_t right;    /* farthest right edge of the windows the peer has offered */
    uint32_t acked;    /* by the stack, last */
    uint32_t tsval, tsecr;
    unsigned shift; /* of the peer's window field */
    int open, spoke, synced;
    unsigned syns; /* sent by the peer: with more than one, which numbers are meant is not known */
    uint16_t own_port;
};

struct talk {
    struct sim s;
    struct line line[PORTS];
    struct fuzz_in in;
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

static int verbose; /* TOE_FUZZ_VERBOSE: the conversation on stderr */

static void say(const struct talk *t, const char *who, const struct tseg *g)
{
    if (verbose)
        fprintf(stderr, "%12.6f %s %u>%u flags %02x seq %u ack %u wnd %u len %u\n",
                (double)t->s.now / 1e9, who, g->sport, g->dport, g->flags, g->seq, g->ack, g->wnd,
                g->len);
}

/* A segment of the stack on a line: the rules that hold whatever the peer does. */
static void hear(struct talk *t, const struct tseg *g)
{
    unsigned i = (unsigned)g->dport - 5000u;
    struct line *l;
    uint32_t end = g->seq + g->len + !!(g->flags & F_SYN) + !!(g->flags & F_FIN);

    say(t, "stack", g);
    if (i >= PORTS)
        return;
    l = &t->line[i];
    if (g->sport != l->own_port)
        return; /* of an earlier connection with this port of the peer */
    if (g->flags & F_RST)
        return;
    if (g->flags & F_SYN) {
        l->iss = g->seq;
        l->heard = end;
        l->right = g->seq + 1; /* nothing but the SYN until a window is offered */
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
    /* RFC 9293 3.8.6: nothing beyond the farthest right edge, but for the one byte of a zero window
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
    g.len = flags & F_SYN ? 0 : fuzz_u8(&t->in) * 8u;
    options(t, l, &g);
    g.payload_at = g.seq - l->isn - 1;
    if (flags & F_URG)
        g.urg = (uint16_t)fuzz_u16(&t->in);
    if (flags & F_SYN) {
        l->syns++;
        if (!c || !l->spoke) {
            l->isn = g.seq;
            l->sent = l->acked = g.seq;
        }
        if (g.wscale >= 0)
            l->shift = g.wscale > 14 ? 14 : (unsigned)g.wscale;
    }
    end = g.seq + g.len + !!(flags & F_SYN) + !!(flags & F_FIN);
    /* What is farther away than any window counts for nothing. */
    if (later(end, l->sent) && end - l->acked < FAR)
        l->sent = end;
    /* Scaling of the window may have been refused or agreed: the larger of both is the bound. */
    shift = flags & F_SYN ? 0 : l->shift;
    if ((flags & F_ACK) && g.ack - l->iss < FAR &&
        (!l->synced || later(g.ack + (g.wnd << shift), l->right))) {
        l->right = g.ack + (g.wnd << shift);
        l->synced = 1;
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

static void user(struct talk *t, unsigned i, unsigned act)
{
    struct conn *c = conn_of(t, i);
    struct conn *made;
    uint16_t own;
    int rc;

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
        own = (uint16_t)(fuzz_u8(&t->in) & 1 ? 80 : 0);
        made = sim_connect_from(&t->s, 0, own, (uint16_t)(5000 + i), &rc);
        if (!made->gone)
            begin(&t->line[i], made->local_port, 0x10000u * i);
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
        t->s.host[0].tx_room = -1; /* it would be asked for room all that time */
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
    if (n < 32 || n >= 40) /* more segments may come in one batch */
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

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    setenv("CMOCKA_TEST_ABORT", "1", 1); /* an assert of the simulation is a finding */
    verbose = getenv("TOE_FUZZ_VERBOSE") != NULL;
    return 0;
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
    t.s.host[0].cfg.max_flows = 8;
    t.s.host[0].cfg.max_listeners = 2;
    t.s.host[0].cfg.max_time_wait = 4;
    t.s.host[0].cfg.max_neighbours = 4;
    t.s.host[0].cfg.max_datagrams = 1;
    t.s.host[0].cfg.cc = set_up & 1 ? TOEC_CC_NEWRENO : TOEC_CC_CUBIC;
    t.s.host[0].tx_buf = set_up & 2 ? 65536 : 4096;
    t.s.host[0].rx_buf = set_up & 4 ? 65536 : 4096;
    t.s.host[0].cfg.max_gso = set_up & 8 ? 16384 : 0;
    t.s.retry = 5 * MSEC; /* or all of a run is asking for room */
    craft_start(&t.s);
    sim_listen(&t.s, 0, 80, set_up & 16 ? 1 : 4, NULL);
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
