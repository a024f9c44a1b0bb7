/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_close.c - how connections end: FIN both ways, half close, TIME-WAIT, resets and the
 * challenge ACKs of RFC 5961, dialogue by dialogue.
 */
#include "tcptalk.h"

static struct toec_usage usage_of(struct talk *t)
{
    struct toec_usage u;

    toec_usage(t->s.host[0].stack, &u);
    return u;
}

/* ---- FIN ---- */

/* RFC 9293 figure 12: we close, they close. RFC 9293 MUST-12, MUST-13. */
static void test_active_close(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    conn_close(t.c);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK | F_FIN, 0, 0, 0);
    talk_say(&t, F_ACK, 0, 1, 0);
    talk_silence(&t);
    talk_say(&t, F_ACK | F_FIN, 0, 1, 0);
    talk_hear(&t, F_ACK, 1, 1, 0);
    assert_true(t.c->gone);
    assert_int_equal(t.c->gone_reason, TOEC_R_OK);
    assert_int_equal(usage_of(&t).flows, 0);
    assert_int_equal(usage_of(&t).time_wait, 1);
    /* a repeated FIN is acknowledged again and restarts 2 MSL */
    craft_pass(&t.s, 50 * SEC);
    talk_say(&t, F_ACK | F_FIN, 0, 1, 0);
    talk_hear(&t, F_ACK, 1, 1, 0);
    craft_pass(&t.s, 50 * SEC);
    assert_int_equal(usage_of(&t).time_wait, 1);
    craft_pass(&t.s, 15 * SEC);
    assert_int_equal(usage_of(&t).time_wait, 0);
    talk_end(&t);
}

/* The peer closes first: CLOSE-WAIT, LAST-ACK, closed without TIME-WAIT. */
static void test_passive_close(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    talk_say(&t, F_ACK | F_FIN, 0, 0, 0);
    talk_hear(&t, F_ACK, 0, 1, 0);
    assert_true(t.c->peer_closed);
    talk_send(&t, 10); /* data is still sent */
    talk_hear(&t, F_ACK, 0, 1, 10);
    conn_close(t.c);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK | F_FIN, 10, 1, 0);
    talk_say(&t, F_ACK, 1, 10, 0);
    assert_false(t.c->gone);
    talk_say(&t, F_ACK, 1, 11, 0);
    assert_true(t.c->gone);
    assert_int_equal(t.c->gone_reason, TOEC_R_OK);
    assert_int_equal(usage_of(&t).time_wait, 0);
    talk_end(&t);
}

/* A RST in LAST-ACK or CLOSING: an application that still has the flow learns of it, as on Linux;
 * one that has closed it does not (RFC 9293 3.10.7.4). */
static void test_rst_in_last_states(void **state)
{
    unsigned closing, closed;

    (void)state;
    for (closing = 0; closing < 2; closing++)
        for (closed = 0; closed < 2; closed++) {
            struct talk t;

            talk_open(&t);
            if (!closing)
                talk_say(&t, F_ACK | F_FIN, 0, 0, 0);
            talk_skip(&t);
            if (closed)
                conn_close(t.c);
            else
                conn_shutdown(t.c);
            craft_poll(&t.s);
            talk_skip(&t);
            if (closing)
                talk_say(&t, F_ACK | F_FIN, 0, 0, 0); /* has not seen our FIN */
            talk_skip(&t);
            talk_say(&t, F_RST | F_ACK, 1, 0, 0);
            assert_true(t.c->gone);
            assert_int_equal(t.c->gone_reason, closed ? TOEC_R_OK : TOEC_R_RESET);
            talk_end(&t);
        }
}

/* RFC 9293 figure 13: both close at once. */
static void test_simultaneous_close(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    conn_close(t.c);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK | F_FIN, 0, 0, 0);
    talk_say(&t, F_ACK | F_FIN, 0, 0, 0); /* has not seen our FIN */
    talk_hear(&t, F_ACK, 1, 1, 0);
    assert_false(t.c->gone);
    talk_say(&t, F_ACK, 1, 1, 0);
    assert_true(t.c->gone);
    assert_int_equal(usage_of(&t).time_wait, 1);
    talk_end(&t);
}

/* FIN and the ACK of ours in one: FIN-WAIT-1 to TIME-WAIT. */
static void test_fin_ack_in_one(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    conn_write(t.c, 100, 1);
    conn_close(t.c);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK | F_FIN, 0, 0, 100);
    talk_say(&t, F_ACK | F_FIN, 0, 101, 0);
    talk_hear(&t, F_ACK, 101, 1, 0);
    assert_true(t.c->gone);
    assert_int_equal(t.c->acked, 100);
    talk_end(&t);
}

/* Half close: our direction ends, the peer's continues as long as it likes. RFC 9293 MAY-1. */
static void test_half_close(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    conn_shutdown(t.c);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK | F_FIN, 0, 0, 0);
    talk_say(&t, F_ACK, 0, 1, 0);
    craft_pass(&t.s, 1000 * SEC);
    talk_say(&t, F_ACK | F_PSH, 0, 1, 500);
    craft_pass(&t.s, SEC);
    talk_hear(&t, F_ACK, 1, 500, 0);
    assert_int_equal(conn_read(t.c, 1000), 500);
    talk_say(&t, F_ACK | F_FIN, 500, 1, 0);
    assert_true(t.c->peer_closed && t.c->gone);
    assert_int_equal(t.c->gone_reason, TOEC_R_OK);
    talk_end(&t);
}

/* A lost FIN is sent again; the last data with it. */
static void test_fin_lost(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    talk_send(&t, 100);
    talk_hear(&t, F_ACK, 0, 0, 100);
    conn_shutdown(t.c);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK | F_FIN, 100, 0, 0);
    craft_pass(&t.s, 300 * MSEC);
    talk_hear(&t, F_ACK | F_FIN, 0, 0, 100);
    talk_say(&t, F_ACK, 0, 100, 0); /* lost once more */
    craft_pass(&t.s, 600 * MSEC);
    talk_hear(&t, F_ACK | F_FIN, 100, 0, 0);
    talk_say(&t, F_ACK, 0, 101, 0);
    craft_pass(&t.s, 10 * SEC);
    talk_silence(&t);
    talk_end(&t);
}

/* FIN-WAIT-2 after a full close ends by itself (a peer that never closes). */
static void test_fin_wait_2_timeout(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    talk_set(&t, TOEC_OPT_LINGER2, 5);
    conn_close(t.c);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK | F_FIN, 0, 0, 0);
    talk_say(&t, F_ACK, 0, 1, 0);
    craft_pass(&t.s, 4 * SEC);
    assert_false(t.c->gone);
    craft_pass(&t.s, 2 * SEC);
    assert_true(t.c->gone);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_fin_wait2_timeout), 1);
    talk_end(&t);
}

/* shutdown() then close(): the timeout starts at the close. */
static void test_fin_wait_2_later_close(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    conn_shutdown(t.c);
    craft_poll(&t.s);
    talk_skip(&t);
    talk_say(&t, F_ACK, 0, 1, 0);
    craft_pass(&t.s, 200 * SEC);
    assert_false(t.c->gone);
    conn_close(t.c);
    craft_pass(&t.s, 59900 * MSEC);
    assert_false(t.c->gone);
    craft_pass(&t.s, 150 * MSEC); /* 60 s, and ticks of 1 ms */
    assert_true(t.c->gone);
    talk_end(&t);
}

/* Closed with received data unread: RST (RFC 2525 2.17). RFC 9293 SHLD-3. */
static void test_close_unread(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_open(&t);
    talk_put(&t, F_ACK | F_PSH, 0, 0, 10);
    conn_close(t.c);
    g = craft_expect(&t.s);
    assert_int_equal(g.flags, F_RST | F_ACK);
    assert_int_equal(g.seq, t.iss + 1);
    assert_true(t.c->gone);
    assert_int_equal(usage_of(&t).flows, 0);
    talk_end(&t);
}

/* Data after a full close cannot be read: RST. */
static void test_data_after_close(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_open(&t);
    conn_close(t.c);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK | F_FIN, 0, 0, 0);
    talk_say(&t, F_ACK | F_PSH, 0, 1, 10);
    g = craft_expect(&t.s);
    assert_true(g.flags & F_RST);
    assert_true(t.c->gone);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_data_after_close), 1);
    /* later segments find no flow */
    talk_say(&t, F_ACK, 10, 1, 0);
    assert_true(craft_expect(&t.s).flags & F_RST);
    talk_end(&t);
}

/* close() after everything was read, the peer's FIN too. */
static void test_close_after_eof(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    talk_put(&t, F_ACK | F_FIN, 0, 0, 10);
    assert_int_equal(conn_read(t.c, 100), 10);
    conn_close(t.c);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK | F_FIN, 0, 11, 0); /* ACK and FIN in one */
    talk_silence(&t);
    talk_say(&t, F_ACK, 11, 1, 0);
    assert_int_equal(t.c->gone_reason, TOEC_R_OK);
    assert_true(t.c->gone);
    talk_end(&t);
}

/* A FIN needs no room: a zero window does not keep it out. */
static void test_fin_in_zero_window(void **state)
{
    struct talk t;
    uint32_t at;

    (void)state;
    talk_init(&t);
    t.s.host[0].rx_buf = 4096;
    talk_passive(&t);
    for (at = 0; at < 4096; at += 1024)
        talk_say(&t, F_ACK, at, 0, 1024);
    talk_skip(&t);
    talk_say(&t, F_ACK | F_FIN, 4096, 0, 0);
    talk_hear(&t, F_ACK, 0, 4097, 0);
    assert_true(t.c->peer_closed);
    assert_int_equal(conn_read(t.c, 5000), 4096);
    conn_close(t.c);
    craft_poll(&t.s);
    talk_say(&t, F_ACK, 4097, 1, 0);
    assert_true(t.c->gone);
    talk_end(&t);
}

/* Closed while the handshake still runs. */
static void test_close_in_syn_sent(void **state)
{
    struct sim s;
    struct conn *c;

    (void)state;
    craft_init(&s);
    craft_start(&s);
    c = sim_connect(&s, 0, 80);
    conn_write(c, 100, 1);
    conn_close(c);
    assert_true(c->gone);
    craft_poll(&s);
    craft_expect_none(&s);
    sim_assert_clean(&s);
    sim_stop(&s);
}

/* Data and FIN queued during the handshake are sent when it completes. */
static void test_shutdown_in_syn_sent(void **state)
{
    struct sim s;
    struct conn *c;
    struct tseg g, r;

    (void)state;
    craft_init(&s);
    craft_start(&s);
    c = sim_connect(&s, 0, 80);
    conn_write(c, 100, 1);
    conn_shutdown(c);
    craft_poll(&s);
    g = craft_expect(&s);
    r = seg_make(80, c->local_port, F_SYN | F_ACK, 300, g.seq + 1);
    craft_say(&s, &r);
    r = craft_expect(&s);
    assert_int_equal(r.flags & ~F_PSH, F_FIN | F_ACK);
    assert_int_equal(r.len, 100);
    conn_abort(c);
    sim_stop(&s);
}

/* ---- RST and SYN (RFC 5961) ---- */

/* RFC 5961 3.2: exactly RCV.NXT resets; in the window or at its right edge draws a challenge;
 * outside nothing. */
static void test_rst_table(void **state)
{
    static const struct {
        int32_t at; /* from RCV.NXT */
        int what;   /* 0 nothing, 1 challenge, 2 reset */
    } table[] = {{0, 2},     {1, 1},      {1000, 1}, {65535, 1},
                 {65536, 0}, {100000, 0}, {-1, 0},   {-1000, 0}};
    unsigned i, ack;

    (void)state;
    for (i = 0; i < sizeof(table) / sizeof(*table); i++) {
        for (ack = 0; ack < 2; ack++) {
            struct talk t;

            talk_open(&t);
            talk_say(&t, ack ? F_RST | F_ACK : F_RST, (uint32_t)table[i].at, 0, 0);
            if (table[i].what == 1)
                talk_hear(&t, F_ACK, 0, 0, 0);
            talk_silence(&t);
            assert_int_equal(t.c->gone, table[i].what == 2);
            if (table[i].what == 2)
                assert_int_equal(t.c->gone_reason, TOEC_R_RESET);
            talk_end(&t);
        }
    }
}

/* RFC 5961 4.2: a SYN with any number draws only a challenge ACK. */
static void test_syn_in_window(void **state)
{
    static const int32_t at[] = {-1, 0, 1000, 100000, -100000};
    unsigned i;

    (void)state;
    for (i = 0; i < 5; i++) {
        struct talk t;

        talk_open(&t);
        talk_say(&t, F_SYN, (uint32_t)at[i], 0, 0);
        talk_hear(&t, F_ACK, 0, 0, 0);
        talk_say(&t, F_SYN | F_ACK, (uint32_t)at[i], 0, 0);
        talk_hear(&t, F_ACK, 0, 0, 0);
        assert_false(t.c->gone);
        talk_end(&t);
    }
}

/* RFC 5961 5.2: an ACK of unsent data, or a very old one, draws a challenge ACK. RFC 9293
 * MAY-12. */
static void test_ack_range(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    talk_say(&t, F_ACK | F_PSH, 0, 1, 10);
    talk_hear(&t, F_ACK, 0, 0, 0);
    talk_say(&t, F_ACK | F_PSH, 0, 0x80000000u, 10);
    talk_hear(&t, F_ACK, 0, 0, 0);
    talk_say(&t, F_ACK | F_PSH, 0, (uint32_t)-70000, 10);
    talk_hear(&t, F_ACK, 0, 0, 0);
    assert_int_equal(t.c->received, 0);
    /* within the largest window: old, but its text counts */
    talk_say(&t, F_ACK | F_PSH, 0, (uint32_t)-60000, 10);
    assert_int_equal(t.c->received, 10);
    talk_end(&t);
}

/* A flood of them is not answered one for one; another flow's answers are untouched by it. */
static void test_challenge_limit(void **state)
{
    struct talk t;
    struct tseg g;
    unsigned i, n = 0;

    (void)state;
    talk_open(&t);
    g = seg_make(6000, 80, F_SYN, 100, 0);
    craft_say(&t.s, &g);
    g = craft_expect(&t.s);
    g = seg_make(6000, 80, F_ACK, 101, g.seq + 1);
    craft_send(&t.s, &g);
    for (i = 0; i < 1000; i++) {
        talk_put(&t, F_SYN, 5, 0, 0);
        while (craft_next(&t.s, &g))
            n++;
    }
    assert_int_equal(n, 5);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_challenge_limited), 995);
    g = seg_make(6000, 80, F_SYN, 105, 0);
    craft_send(&t.s, &g);
    g = craft_expect(&t.s);
    assert_int_equal(g.dport, 6000);
    craft_pass(&t.s, 2 * SEC);
    talk_put(&t, F_SYN, 5, 0, 0);
    craft_expect(&t.s);
    conn_abort(t.s.host[0].conns);
    talk_end(&t);
}

/* A segment without ACK, SYN or RST is dropped (RFC 9293 3.10.7.4, fifth). */
static void test_no_ack_bit(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    talk_say(&t, F_PSH, 0, 0, 10);
    assert_int_equal(t.c->received, 0);
    talk_silence(&t);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_no_ack_bit), 1);
    talk_end(&t);
}

/* Abort: RST with the next sequence number, GONE before it returns. */
static void test_abort(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_open(&t);
    talk_send(&t, 100);
    talk_hear(&t, F_ACK, 0, 0, 100);
    conn_abort(t.c);
    assert_true(t.c->gone);
    assert_int_equal(t.c->gone_reason, TOEC_R_ABORTED);
    g = craft_expect(&t.s);
    assert_int_equal(g.flags, F_RST | F_ACK);
    assert_int_equal(g.seq, t.iss + 101);
    talk_end(&t);
}

/* Data sent just before precedes the reset, as far as the window allows. */
static void test_abort_after_send(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_init(&t);
    t.wnd = 300;
    talk_passive(&t);
    assert_int_equal(conn_write(t.c, 400, 1), 400);
    conn_abort(t.c);
    talk_hear(&t, F_ACK, 0, 0, 300);
    g = craft_expect(&t.s);
    assert_int_equal(g.flags, F_RST | F_ACK);
    assert_int_equal(g.seq, t.iss + 1 + 300);
    assert_true(t.c->gone);
    talk_end(&t);
}

/* ---- TIME-WAIT ---- */

static void into_time_wait(struct talk *t)
{
    talk_passive(t);
    conn_close(t->c);
    craft_poll(&t->s);
    talk_hear(t, F_ACK | F_FIN, 0, 0, 0);
    talk_say(t, F_ACK | F_FIN, 0, 1, 0);
    talk_hear(t, F_ACK, 1, 1, 0);
    assert_int_equal(usage_of(t).time_wait, 1);
}

/* RFC 6191, RFC 9293 3.6.1: a newer SYN reopens the pair, with a higher ISN; an old one does not.
 * RFC 9293 SHLD-4, MAY-2. */
static void test_time_wait_reopen(void **state)
{
    static const struct {
        int ts;
        int32_t seq; /* from the peer's last */
        int32_t tsval;
        int opens;
    } table[] = {{0, 1, 0, 1},       {0, 100000, 0, 1}, {0, -100, 0, 0}, {1, 100, 1, 1},
                 {1, -100000, 1, 1}, {1, 100, -1, 0},   {1, -100, 0, 0}, {1, 100, 0, 1}};
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(table) / sizeof(*table); i++) {
        struct talk t;
        struct tseg g;

        talk_init(&t);
        t.ts = table[i].ts;
        into_time_wait(&t);
        craft_pass(&t.s, 5 * SEC);
        g = talk_seg(&t, F_SYN, 1 + (uint32_t)table[i].seq, 0, 0);
        g.tsval = t.tsval + (uint32_t)table[i].tsval;
        g.mss = 1460;
        craft_say(&t.s, &g);
        if (table[i].opens) {
            struct tseg a = craft_expect(&t.s);

            assert_int_equal(a.flags, F_SYN | F_ACK);
            assert_int_equal(a.ack, g.seq + 1);
            assert_true((int32_t)(a.seq - (t.iss + 2)) > 0);
            assert_int_equal(usage_of(&t).time_wait, 0);
            assert_int_equal(talk_count(&t, TOEC_C_tcp_tw_reopened), 1);
        } else {
            talk_hear(&t, F_ACK, 1, 1, 0);
            assert_int_equal(usage_of(&t).time_wait, 1);
        }
        sim_stop(&t.s);
    }
}

/* Stray RSTs do not end TIME-WAIT, stray ACKs are not answered without end. */
static void test_time_wait_strays(void **state)
{
    struct talk t;
    unsigned i, n;

    (void)state;
    talk_init(&t);
    into_time_wait(&t);
    talk_say(&t, F_RST, 2, 0, 0);
    assert_int_equal(usage_of(&t).time_wait, 1);
    talk_silence(&t);
    talk_say(&t, F_ACK, 1, 1, 0); /* as it should be */
    talk_silence(&t);
    craft_pass(&t.s, 2 * SEC);
    for (i = 0; i < 100; i++)
        talk_say(&t, F_ACK, 500, 1, 0);
    n = talk_skip(&t);
    assert_int_equal(n, 1);
    talk_end(&t);
}

/* No room for another entry: the oldest is evicted, the flow still closes. */
static void test_time_wait_full(void **state)
{
    struct sim s;
    uint32_t id;
    int i;

    (void)state;
    sim_init(&s, 2);
    s.host[0].cfg.max_time_wait = 10;
    s.host[0].cfg.max_flows = 20;
    sim_start(&s);
    sim_listen(&s, 1, 80, 0, &id);
    for (i = 0; i < 50; i++) {
        struct conn *c = sim_connect(&s, 0, 80), *p;

        sim_run(&s, i == 0 ? 5 * SEC : 10 * MSEC);
        assert_true(c->established);
        p = conn_peer(c);
        conn_close(c);
        sim_run(&s, 10 * MSEC);
        conn_close(p);
        sim_run(&s, 10 * MSEC);
        assert_true(c->gone && p->gone);
        assert_int_equal(c->gone_reason, TOEC_R_OK);
    }
    assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_tw_recycled), 40);
    sim_run(&s, 100 * SEC);
    sim_assert_clean(&s);
    sim_stop(&s);
}

/* Our own connect over a pair in TIME-WAIT: with timestamps after a second, else refused. */
static void test_time_wait_connect(void **state)
{
    int ts;

    (void)state;
    for (ts = 0; ts < 2; ts++) {
        struct talk t;
        struct tseg g;
        int r;

        talk_init(&t);
        t.ts = ts;
        talk_active(&t);
        conn_close(t.c);
        craft_poll(&t.s);
        talk_skip(&t);
        talk_say(&t, F_ACK | F_FIN, 0, 1, 0);
        talk_skip(&t);
        assert_int_equal(usage_of(&t).time_wait, 1);
        sim_connect_from(&t.s, 0, t.own_port, OWN_PORT, &r);
        assert_int_equal(r, TOEC_E_INUSE);
        craft_pass(&t.s, 2 * SEC);
        sim_connect_from(&t.s, 0, t.own_port, OWN_PORT, &r);
        assert_int_equal(r, ts ? 0 : TOEC_E_INUSE);
        if (ts) {
            craft_poll(&t.s);
            g = craft_expect(&t.s);
            assert_int_equal(g.flags, F_SYN);
            assert_true((int32_t)(g.seq - t.iss) > 0);
        }
        sim_stop(&t.s);
    }
}

/* The states' names as the flow information shows them. */
static void test_states(void **state)
{
    struct talk t;
    struct toec_info i;

    (void)state;
    talk_open(&t);
    toec_flow_info(t.s.host[0].stack, t.c->flow, &i);
    assert_int_equal(i.state, TOEC_ESTABLISHED);
    assert_int_equal(i.local_port, OWN_PORT);
    assert_int_equal(i.remote_port, PEER_PORT);
    conn_shutdown(t.c);
    craft_poll(&t.s);
    toec_flow_info(t.s.host[0].stack, t.c->flow, &i);
    assert_int_equal(i.state, TOEC_FIN_WAIT_1);
    talk_say(&t, F_ACK, 0, 1, 0);
    toec_flow_info(t.s.host[0].stack, t.c->flow, &i);
    assert_int_equal(i.state, TOEC_FIN_WAIT_2);
    talk_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_active_close),       cmocka_unit_test(test_passive_close),
        cmocka_unit_test(test_simultaneous_close), cmocka_unit_test(test_fin_ack_in_one),
        cmocka_unit_test(test_half_close),         cmocka_unit_test(test_fin_lost),
        cmocka_unit_test(test_fin_wait_2_timeout), cmocka_unit_test(test_fin_wait_2_later_close),
        cmocka_unit_test(test_close_unread),       cmocka_unit_test(test_data_after_close),
        cmocka_unit_test(test_close_after_eof),    cmocka_unit_test(test_fin_in_zero_window),
        cmocka_unit_test(test_close_in_syn_sent),  cmocka_unit_test(test_shutdown_in_syn_sent),
        cmocka_unit_test(test_rst_table),          cmocka_unit_test(test_syn_in_window),
        cmocka_unit_test(test_ack_range),          cmocka_unit_test(test_challenge_limit),
        cmocka_unit_test(test_no_ack_bit),         cmocka_unit_test(test_abort),
        cmocka_unit_test(test_abort_after_send),   cmocka_unit_test(test_time_wait_reopen),
        cmocka_unit_test(test_time_wait_strays),   cmocka_unit_test(test_time_wait_full),
        cmocka_unit_test(test_time_wait_connect),  cmocka_unit_test(test_states),
        cmocka_unit_test(test_rst_in_last_states),
    };

    return cmocka_run_group_tests_name("tcp_close", tests, 0, 0);
}
