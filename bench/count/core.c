/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core.c - core/ alone against crafted segments, in virtual time (count.h). Connections have time
 * stamps, SACK and window scaling, as those of Linux have.
 */
#include "tcptalk.h"

#include "count.h"

#define FULL  1448u /* payload of a full segment with time stamps */
#define BATCH 16u
#define SMALL 64u

static void set_up(struct talk *t)
{
    talk_init(t);
    t->ts = 1;
    t->sack = 1;
    t->wscale = 7;
    t->wnd = 16384; /* 2 MiB */
    t->s.host[0].tx_buf = t->s.host[0].rx_buf = 1u << 21;
    t->rtt = MSEC;
}

static void tick(struct talk *t)
{
    t->s.now += 10 * USEC;
    t->tsval = (uint32_t)(t->s.now / MSEC);
}

/* Checks the sent segments: none is missing; stores the time stamp to echo. */
static void sent(struct talk *t, unsigned segments)
{
    struct tseg g;

    for (; segments; segments--) {
        g = craft_expect(&t->s);
        t->tsecr = g.tsval;
    }
    craft_expect_none(&t->s);
    craft_forget(&t->s);
}

/* Frees nothing, as that would be counted. */
static void done(struct talk *t)
{
    sent(t, 0);
    assert_int_equal(t->s.place_violations, 0);
}

/* ---- a receiver: each batch of segments is followed by a read and a poll ---- */

static void receive(struct talk *t, uint32_t *at, unsigned segments, unsigned batch, unsigned acks)
{
    unsigned i;

    for (i = 1; i <= segments; i++) {
        tick(t);
        talk_put(t, F_ACK, *at, 0, FULL);
        *at += FULL;
        if (i % batch == 0) {
            assert_int_equal(conn_read(t->c, FULL * batch), FULL * batch);
            craft_poll(&t->s);
            sent(t, acks);
        }
    }
}

static void received(unsigned events, unsigned batch)
{
    struct talk t;
    uint32_t at = 0;

    set_up(&t);
    talk_passive(&t);
    receive(&t, &at, 8 * BATCH, batch, 1); /* quickacks at the start */
    count_begin();
    receive(&t, &at, events, batch, 1);
    done(&t);
}

static void data_in(unsigned events)
{
    received(events, 2);
}

static void data_in_batch(unsigned events)
{
    received(events, BATCH);
}

/* ---- a sender ---- */

/* Acknowledges the data in flight, one ACK for two segments. */
static void acknowledge(struct talk *t, int poll)
{
    uint32_t at = (uint32_t)t->c->acked;

    while (at != (uint32_t)t->c->sent) {
        uint32_t left = (uint32_t)t->c->sent - at;

        at += left < 2 * FULL ? left : 2 * FULL;
        tick(t);
        talk_put(t, F_ACK, 0, at, 0);
        if (poll)
            craft_poll(&t->s);
    }
}

static void send_some(struct talk *t, unsigned segments)
{
    tick(t);
    assert_int_equal(conn_write(t->c, segments * FULL, 1), segments * FULL);
    craft_poll(&t->s);
}

/* Opens a connection with a window of 1024 segments. With a shorter round trip the ACKs of a window
 * would be a train that ends slow start. */
static void sender(struct talk *t, unsigned segments_at_once)
{
    unsigned i, open = 8;

    set_up(t);
    t->s.host[0].cfg.max_gso = segments_at_once * FULL;
    t->rtt = 20 * MSEC;
    talk_passive(t);
    for (i = 0; i < 40; i++) {
        send_some(t, open);
        t->s.now += 20 * MSEC;
        acknowledge(t, 1);
        craft_forget(&t->s);
        if (open < 1024)
            open += open / 2 < 128 ? open / 2 : 128;
        t->s.now += MSEC;
    }
    assert_true(t->c->acked == t->c->sent);
}

static void data_out(unsigned events, unsigned batch, unsigned segments_at_once)
{
    struct talk t;
    unsigned i, flight = 0;

    sender(&t, segments_at_once);
    count_begin();
    for (i = 0; i < events; i += batch) {
        send_some(&t, batch);
        flight += batch;
        sent(&t, batch);
        if (flight >= 64) { /* input is not counted here */
            acknowledge(&t, 0);
            flight = 0;
        }
    }
    done(&t);
}

static void data_out_one(unsigned events)
{
    data_out(events, 1, 0);
}

static void data_out_batch(unsigned events)
{
    data_out(events, BATCH, 0);
}

static void data_out_gso(unsigned events)
{
    data_out(events, BATCH, BATCH);
}

/* ACKs of two segments each that trigger no transmission. */
static void ack_in(unsigned events)
{
    struct talk t;

    sender(&t, 0);
    send_some(&t, 2 * events);
    sent(&t, 2 * events); /* the window allows all of them */
    count_begin();
    acknowledge(&t, 1);
    done(&t);
}

/* ---- requests and answers ---- */

static void requests(struct talk *t, uint32_t *at, unsigned n)
{
    for (; n; n--) {
        tick(t);
        talk_put(t, F_ACK | F_PSH, *at, *at, SMALL); /* acknowledges the previous answer */
        *at += SMALL;
        assert_int_equal(conn_read(t->c, SMALL), SMALL);
        assert_int_equal(conn_write(t->c, SMALL, 1), SMALL);
        craft_poll(&t->s);
        sent(t, 1);
    }
}

static void request(unsigned events)
{
    struct talk t;
    uint32_t at = 0;

    set_up(&t);
    talk_passive(&t);
    requests(&t, &at, 64);
    count_begin();
    requests(&t, &at, events);
    done(&t);
}

/* ---- connections ---- */

static void peer_syn_options(struct tseg *g)
{
    g->mss = 1460;
    g->sack_ok = 1;
    g->wscale = 7;
    g->has_ts = 1;
}

static struct tseg answer(struct talk *t, struct tseg *g, unsigned flags, unsigned want)
{
    struct tseg a;

    if (flags) {
        g->flags = flags;
        craft_send(&t->s, g);
    }
    craft_poll(&t->s);
    a = craft_expect(&t->s);
    assert_int_equal(a.flags & (F_SYN | F_FIN | F_ACK | F_RST), want);
    g->ack = a.seq + ((want & (F_SYN | F_FIN)) != 0);
    g->tsecr = a.tsval;
    return a;
}

/* The segment without the options of a SYN. */
static void opened(struct tseg *g)
{
    g->mss = g->wscale = -1;
    g->sack_ok = 0;
    g->seq++;
}

/* Opens a connection from the peer, which also closes first. */
static void one_passive(struct talk *t, uint16_t port)
{
    struct tseg g = seg_make(port, OWN_PORT, F_SYN, PEER_ISN, 0);
    struct conn *c;

    tick(t);
    g.tsval = t->tsval;
    peer_syn_options(&g);
    answer(t, &g, F_SYN, F_SYN | F_ACK);
    opened(&g);
    g.flags = F_ACK;
    craft_send(&t->s, &g);
    c = t->s.host[0].conns;
    assert_true(c->established);
    g.flags = F_FIN | F_ACK;
    craft_send(&t->s, &g);
    g.seq++;
    conn_close(c);
    answer(t, &g, 0, F_FIN | F_ACK);
    g.flags = F_ACK;
    craft_send(&t->s, &g);
    craft_poll(&t->s);
    assert_true(c->gone && c->gone_reason == TOEC_R_OK);
    sent(t, 0);
}

/* Opens a connection from the stack, which also closes first and so keeps a TIME-WAIT. */
static void one_active(struct talk *t, uint16_t port)
{
    struct tseg g = seg_make(OWN_PORT, 0, 0, PEER_ISN, 0);
    struct conn *c;

    (void)port;
    tick(t);
    g.tsval = t->tsval;
    c = sim_connect(&t->s, 0, OWN_PORT);
    g.dport = c->local_port;
    answer(t, &g, 0, F_SYN);
    peer_syn_options(&g);
    answer(t, &g, F_SYN | F_ACK, F_ACK);
    assert_true(c->established);
    opened(&g);
    conn_close(c);
    answer(t, &g, 0, F_FIN | F_ACK);
    answer(t, &g, F_FIN | F_ACK, F_ACK);
    craft_poll(&t->s);
    assert_true(c->gone && c->gone_reason == TOEC_R_OK);
    sent(t, 0);
}

static void connections(unsigned events, void (*one)(struct talk *t, uint16_t port))
{
    struct talk t;
    unsigned i;

    set_up(&t);
    t.s.host[0].tx_buf = t.s.host[0].rx_buf = 4096;
    t.s.host[0].cfg.max_time_wait = 128; /* full before counting begins */
    talk_passive(&t);
    for (i = 0; i < events + 200; i++) {
        if (i == 200)
            count_begin();
        one(&t, (uint16_t)(10000 + i));
    }
    done(&t);
}

static void connection_passive(unsigned events)
{
    connections(events, one_passive);
}

static void connection_active(unsigned events)
{
    connections(events, one_active);
}

int main(int argc, char **argv)
{
    static const struct count_case cases[] = {
        {"data_in", data_in},
        {"data_in_batch", data_in_batch},
        {"data_out", data_out_one},
        {"data_out_batch", data_out_batch},
        {"data_out_gso", data_out_gso},
        {"ack_in", ack_in},
        {"request", request},
        {"connection_passive", connection_passive},
        {"connection_active", connection_active},
    };

    return count_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
