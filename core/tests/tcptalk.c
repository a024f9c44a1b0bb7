/* SPDX-License-Identifier: Apache-2.0 */
/* tcptalk.c - see tcptalk.h. */
#include "tcptalk.h"

void talk_init(struct talk *t)
{
    memset(t, 0, sizeof(*t));
    craft_init(&t->s);
    t->peer_port = PEER_PORT;
    t->own_port = OWN_PORT;
    t->isn = PEER_ISN;
    t->ts = 0;
    t->sack = 0;
    t->wscale = -1;
    t->tsval = 1000;
    t->wnd = 65535;
    t->mss = 1460;
}

struct tseg talk_seg(struct talk *t, unsigned flags, uint32_t seq, uint32_t ack, uint32_t len)
{
    struct tseg g = seg_make(t->peer_port, t->own_port, flags, t->isn + 1 + seq, 0);

    if (flags & F_ACK)
        g.ack = t->iss + 1 + ack;
    g.wnd = t->wnd;
    g.len = len;
    g.payload_at = seq;
    if (t->ts) {
        g.has_ts = 1;
        g.tsval = t->tsval;
        g.tsecr = t->tsecr;
    }
    return g;
}

void talk_put(struct talk *t, unsigned flags, uint32_t seq, uint32_t ack, uint32_t len)
{
    struct tseg g = talk_seg(t, flags, seq, ack, len);

    craft_send(&t->s, &g);
}

void talk_say(struct talk *t, unsigned flags, uint32_t seq, uint32_t ack, uint32_t len)
{
    talk_put(t, flags, seq, ack, len);
    craft_poll(&t->s);
}

void talk_sack(struct talk *t, uint32_t seq, uint32_t ack, const uint32_t *blocks)
{
    struct tseg g = talk_seg(t, F_ACK, seq, ack, 0);

    for (; blocks[0] != blocks[1]; blocks += 2) {
        g.sack[g.n_sack][0] = t->iss + 1 + blocks[0];
        g.sack[g.n_sack][1] = t->iss + 1 + blocks[1];
        g.n_sack++;
    }
    craft_say(&t->s, &g);
}

void talk_block(struct talk *t, uint32_t ack, uint32_t from, uint32_t to)
{
    uint32_t blocks[4] = {0, 0, 0, 0};

    blocks[0] = from;
    blocks[1] = to;
    talk_sack(t, 0, ack, blocks);
}

void talk_put_marked(struct talk *t, unsigned mark, unsigned flags, uint32_t seq, uint32_t ack,
                     uint32_t len)
{
    t->s.peer_tos = (uint8_t)mark;
    talk_put(t, flags, seq, ack, len);
    t->s.peer_tos = 0;
}

void talk_send(struct talk *t, uint32_t n)
{
    conn_write(t->c, n, 1);
    craft_poll(&t->s);
}

void talk_read(struct talk *t, uint32_t n)
{
    conn_read(t->c, n);
    craft_poll(&t->s);
}

struct tseg talk_hear(struct talk *t, unsigned flags, uint32_t seq, uint32_t ack, uint32_t len)
{
    struct tseg g = craft_expect(&t->s);

    assert_int_equal(g.flags & ~F_PSH, flags);
    assert_int_equal(g.seq - t->iss - 1, seq);
    if (flags & F_ACK)
        assert_int_equal(g.ack - t->isn - 1, ack);
    assert_int_equal(g.len, len);
    assert_int_equal(g.has_ts, t->ts);
    if (g.has_ts)
        t->tsecr = g.tsval;
    return g;
}

void talk_silence(struct talk *t)
{
    craft_expect_none(&t->s);
}

unsigned talk_skip(struct talk *t)
{
    struct tseg g;
    unsigned n = 0;

    while (craft_next(&t->s, &g))
        n++;
    return n;
}

uint64_t talk_count(struct talk *t, enum toec_counter c)
{
    return sim_count(&t->s, 0, c);
}

static void set_options(const struct talk *t, struct tseg *g)
{
    g->mss = t->mss;
    g->sack_ok = t->sack;
    g->wscale = t->wscale;
    g->has_ts = t->ts;
    g->tsval = t->tsval;
    g->tsecr = t->tsecr;
}

void talk_passive(struct talk *t)
{
    struct tseg g;

    craft_start(&t->s);
    sim_listen(&t->s, 0, t->own_port, 0, 0);
    g = talk_seg(t, F_SYN | t->syn_flags, (uint32_t)-1, 0, 0);
    set_options(t, &g);
    craft_say(&t->s, &g);
    g = craft_expect(&t->s);
    t->heard_syn = g.flags & ~(F_SYN | F_ACK);
    assert_int_equal(g.flags & ~t->heard_syn, F_SYN | F_ACK);
    assert_int_equal(t->heard_syn & ~(F_ECE | F_CWR), 0);
    assert_int_equal(g.ack, t->isn + 1);
    t->iss = g.seq;
    t->tsecr = g.tsval;
    if (t->rtt)
        craft_pass(&t->s, t->rtt);
    talk_say(t, F_ACK, 0, 0, 0);
    t->c = t->s.host[0].conns;
    assert_non_null(t->c);
    assert_true(t->c->established);
    talk_silence(t);
}

void talk_open(struct talk *t)
{
    talk_init(t);
    talk_passive(t);
}

void talk_full(struct talk *t)
{
    uint32_t at;

    talk_init(t);
    t->s.host[0].rx_buf = 4096;
    talk_passive(t);
    for (at = 0; at < 4096; at += 1024)
        talk_say(t, F_ACK | F_PSH, at, 0, 1024);
    talk_skip(t);
}

void talk_under_way(struct talk *t, unsigned n)
{
    unsigned i;

    talk_passive(t);
    talk_send(t, n * 1460);
    for (i = 0; i < n; i++)
        talk_hear(t, F_ACK, i * 1460, 0, 1460);
    talk_silence(t);
}

void talk_flight(struct talk *t, int sack, unsigned n)
{
    t->sack = sack;
    t->rtt = 100 * MSEC;
    talk_under_way(t, n);
}

void talk_connect(struct talk *t)
{
    craft_start(&t->s);
    t->peer_port = OWN_PORT;
    t->c = sim_connect(&t->s, 0, OWN_PORT);
    t->own_port = t->c->local_port;
}

void talk_active(struct talk *t)
{
    struct tseg g;

    talk_connect(t);
    craft_poll(&t->s);
    g = craft_expect(&t->s);
    t->heard_syn = g.flags & ~F_SYN;
    assert_int_equal(g.flags & ~t->heard_syn, F_SYN);
    assert_int_equal(t->heard_syn & ~(F_ECE | F_CWR), 0);
    t->iss = g.seq;
    t->tsecr = g.tsval;
    g = talk_seg(t, F_SYN | F_ACK | t->syn_flags, (uint32_t)-1, 0, 0);
    set_options(t, &g);
    craft_say(&t->s, &g);
    assert_true(t->c->established);
    talk_hear(t, F_ACK, 0, 0, 0);
}

void talk_end(struct talk *t)
{
    if (t->c)
        conn_abort(t->c);
    craft_pass(&t->s, 100 * SEC);
    sim_assert_clean(&t->s);
    sim_stop(&t->s);
}

struct toec_info talk_info(struct talk *t)
{
    struct toec_info info;

    toec_flow_info(t->s.host[0].stack, t->c->flow, &info);
    return info;
}

int talk_option(struct talk *t, enum toec_option option, uint32_t value)
{
    return toec_set_option(t->s.host[0].stack, t->c->flow, option, value, t->s.now);
}

void talk_set(struct talk *t, enum toec_option option, uint32_t value)
{
    assert_int_equal(talk_option(t, option, value), 0);
}
