/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_data.c - data both ways without loss: ACKs, windows, Nagle, probes, timestamps, wrapping
 * (RFC 9293 3.7, 3.8, RFC 7323), dialogue by dialogue.
 */
#include "tcptalk.h"

/* ---- delayed ACKs (RFC 9293 3.8.6.3) ---- */

/* A message that is answered in the same round: one frame carries answer and ACK. RFC 9293 MUST-58.
 */
static void test_ack_rides_on_answer(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    talk_passive(&t);
    talk_put(&t, F_ACK | F_PSH, 0, 0, 100);
    assert_int_equal(conn_read(t.c, 1000), 100);
    conn_write(t.c, 256, 1);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK, 0, 100, 256);
    talk_silence(&t);
    craft_pass(&t.s, 100 * MSEC);
    talk_silence(&t);
    talk_end(&t);
}

/* A message that is not answered is acknowledged within 500 ms (MUST-40, R5681-13), here 40. RFC
 * 9293 SHLD-18; R1122-26. */
static void test_delayed_ack(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    talk_passive(&t);
    talk_say(&t, F_ACK | F_PSH, 0, 0, 100);
    talk_silence(&t);
    craft_pass(&t.s, 30 * MSEC);
    talk_silence(&t);
    craft_pass(&t.s, 20 * MSEC);
    talk_hear(&t, F_ACK, 0, 100, 0);
    talk_silence(&t);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_delayed_acks), 1);
    talk_end(&t);
}

/* Every second segment is acknowledged at once (SHLD-19, R5681-14); a batch by one ACK. */
static void test_ack_every_second(void **state)
{
    struct talk t;
    uint32_t at = 0;
    int i;

    (void)state;
    talk_init(&t);
    talk_passive(&t);
    for (i = 0; i < 20; i++, at += 1000) /* the quick ACKs of a young flow */
        talk_say(&t, F_ACK, at, 0, 1000);
    talk_skip(&t);
    conn_read(t.c, 100000);
    craft_pass(&t.s, SEC);
    talk_skip(&t);
    talk_say(&t, F_ACK, at, 0, 1000);
    talk_silence(&t);
    talk_say(&t, F_ACK, at + 1000, 0, 1000);
    talk_hear(&t, F_ACK, 0, at + 2000, 0);
    for (i = 2; i < 10; i++)
        talk_put(&t, F_ACK, at + (uint32_t)i * 1000, 0, 1000);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK, 0, at + 10000, 0);
    talk_silence(&t);
    talk_end(&t);
}

static void test_quickack_option(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    talk_passive(&t);
    toec_set_option(t.s.host[0].stack, t.c->flow, TOEC_OPT_QUICKACK, 1, t.s.now);
    craft_poll(&t.s);
    talk_say(&t, F_ACK | F_PSH, 0, 0, 100);
    talk_hear(&t, F_ACK, 0, 100, 0);
    talk_end(&t);
}

/* ---- out of order, SACK generation (RFC 2018 4) ---- */

static void assert_blocks(const struct talk *t, const struct tseg *g, unsigned n,
                          const uint32_t *blocks)
{
    unsigned i;

    assert_int_equal(g->n_sack, n);
    for (i = 0; i < n; i++) {
        assert_int_equal(g->sack[i][0] - t->isn - 1, blocks[2 * i]);
        assert_int_equal(g->sack[i][1] - t->isn - 1, blocks[2 * i + 1]);
    }
}

/* A duplicate ACK at once for each (R5681-07), with SACKs (R2018-06); the block that was just
 * received comes first (R2018-03), then those reported last (R2018-05). */
static void test_sack_generation(void **state)
{
    static const uint32_t one[] = {100, 200}, two[] = {300, 400, 100, 200};
    static const uint32_t three[] = {500, 600, 300, 400, 100, 200};
    static const uint32_t grown[] = {100, 250, 500, 600, 300, 400};
    static const uint32_t rest[] = {500, 600, 300, 400};
    struct talk t;
    struct tseg g;

    (void)state;
    talk_init(&t);
    t.sack = t.ts = 1;
    talk_passive(&t);
    talk_put(&t, F_ACK, 100, 0, 100);
    g = talk_hear(&t, F_ACK, 0, 0, 0);
    assert_blocks(&t, &g, 1, one);
    talk_put(&t, F_ACK, 300, 0, 100);
    g = talk_hear(&t, F_ACK, 0, 0, 0);
    assert_blocks(&t, &g, 2, two);
    talk_put(&t, F_ACK, 500, 0, 100);
    g = talk_hear(&t, F_ACK, 0, 0, 0);
    assert_blocks(&t, &g, 3, three);
    talk_put(&t, F_ACK, 200, 0, 50);
    g = talk_hear(&t, F_ACK, 0, 0, 0);
    assert_blocks(&t, &g, 3, grown);
    /* R2018-04: a fourth block has no room beside the timestamp */
    talk_put(&t, F_ACK, 700, 0, 100);
    g = talk_hear(&t, F_ACK, 0, 0, 0);
    assert_int_equal(g.n_sack, 3);
    /* R5681-08: the first gap is filled: acknowledged at once, and delivered */
    talk_say(&t, F_ACK, 0, 0, 100);
    g = talk_hear(&t, F_ACK, 0, 250, 0);
    assert_int_equal(t.c->received, 250);
    assert_int_equal(g.n_sack, 3);
    talk_say(&t, F_ACK, 600, 0, 100);
    talk_skip(&t);
    talk_say(&t, F_ACK, 250, 0, 50);
    g = talk_hear(&t, F_ACK, 0, 400, 0);
    assert_int_equal(g.n_sack, 1);
    (void)rest;
    talk_say(&t, F_ACK, 400, 0, 100);
    talk_hear(&t, F_ACK, 0, 800, 0);
    assert_int_equal(conn_read(t.c, 10000), 800);
    talk_end(&t);
}

/* Four blocks fit without timestamps (R2018-04); none is sent to a peer that did not ask for them
 * (R2018-02). */
static void test_sack_room(void **state)
{
    int sack;

    (void)state;
    for (sack = 0; sack < 2; sack++) {
        struct talk t;
        uint32_t i;

        talk_init(&t);
        t.sack = sack;
        talk_passive(&t);
        for (i = 1; i < 7; i++) {
            talk_put(&t, F_ACK, i * 200, 0, 100);
            assert_int_equal(craft_expect(&t.s).n_sack, sack ? (i < 4 ? i : 4) : 0);
        }
        talk_end(&t);
    }
}

/* More gaps than are remembered: the segment is dropped and counted, and comes again. */
static void test_ooo_bounded(void **state)
{
    struct talk t;
    uint32_t i;

    (void)state;
    talk_init(&t);
    t.sack = 1;
    talk_passive(&t);
    for (i = 1; i <= 20; i++)
        talk_say(&t, F_ACK, i * 200, 0, 100);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_ooo_full), 4);
    talk_skip(&t);
    /* it still grows where it touches */
    talk_say(&t, F_ACK, 300, 0, 100);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_ooo_full), 4);
    for (i = 0; i <= 41; i++)
        talk_say(&t, F_ACK, i * 100, 0, 100);
    assert_int_equal(t.c->received, 4200);
    assert_int_equal(conn_read(t.c, 10000), 4200);
    talk_end(&t);
}

/* A FIN beyond a gap is remembered with the data before it. */
static void test_fin_out_of_order(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    talk_passive(&t);
    talk_say(&t, F_ACK | F_FIN, 100, 0, 50);
    talk_hear(&t, F_ACK, 0, 0, 0);
    assert_false(t.c->peer_closed);
    talk_say(&t, F_ACK, 0, 0, 100);
    talk_hear(&t, F_ACK, 0, 151, 0);
    assert_true(t.c->peer_closed);
    assert_int_equal(conn_read(t.c, 1000), 150);
    talk_end(&t);
}

/* Two different ends of the stream: the first claim stands, and nothing is read beyond it. */
static void test_two_fins(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    talk_passive(&t);
    talk_say(&t, F_ACK | F_FIN, 100, 0, 50);
    talk_say(&t, F_ACK | F_FIN, 100, 0, 80);
    talk_say(&t, F_ACK, 151, 0, 80);
    talk_say(&t, F_ACK, 0, 0, 100);
    assert_int_equal(t.c->received, 150);
    assert_true(t.c->peer_closed);
    talk_end(&t);
}

/* Segments that overlap what is there: each byte is taken once. */
static void test_overlap(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    talk_passive(&t);
    talk_say(&t, F_ACK, 0, 0, 100);
    talk_say(&t, F_ACK, 50, 0, 100);
    assert_int_equal(t.c->received, 150);
    talk_say(&t, F_ACK, 200, 0, 100);
    talk_say(&t, F_ACK, 100, 0, 500);
    assert_int_equal(t.c->received, 600);
    talk_skip(&t);
    /* an old segment is acknowledged again (RFC 9293 3.10.7.4) */
    talk_say(&t, F_ACK, 0, 0, 100);
    talk_hear(&t, F_ACK, 0, 600, 0);
    assert_int_equal(t.c->received, 600);
    assert_int_equal(conn_read(t.c, 1000), 600);
    talk_end(&t);
}

/* Urgent data is delivered in line, whatever the pointer says. */
static void test_urgent(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_init(&t);
    talk_passive(&t);
    g = talk_seg(&t, F_ACK | F_URG | F_PSH, 0, 0, 10);
    g.urg = 60000;
    craft_send(&t.s, &g);
    assert_int_equal(conn_read(t.c, 100), 10);
    talk_end(&t);
}

/* ---- receive window (RFC 9293 3.8.6.2.2) ---- */

/* The window closes as the reader lags, is never exceeded, and is opened in useful steps. RFC 9293
 * SHLD-14, MAY-8; R7323-05. */
static void test_receive_window(void **state)
{
    struct talk t;
    struct tseg g;
    uint32_t at = 0, wnd;

    (void)state;
    talk_init(&t);
    t.s.host[0].rx_buf = 8192;
    talk_passive(&t);
    while (at < 8000) {
        talk_say(&t, F_ACK, at, 0, 1000);
        at += 1000;
    }
    talk_skip(&t);
    talk_say(&t, F_ACK, 8000, 0, 1000); /* 192 fit */
    assert_int_equal(t.c->received, 8192);
    g = craft_expect(&t.s);
    assert_int_equal(g.ack - t.isn - 1, 8192);
    assert_int_equal(g.wnd, 0);
    /* a probe of a closed window is answered, its byte not taken */
    talk_say(&t, F_ACK, 8192, 0, 1);
    g = talk_hear(&t, F_ACK, 0, 8192, 0);
    assert_int_equal(g.wnd, 0);
    /* silly steps are kept to ourselves */
    conn_read(t.c, 100);
    craft_poll(&t.s);
    talk_silence(&t);
    talk_say(&t, F_ACK, 8192, 0, 1);
    assert_int_equal(craft_expect(&t.s).wnd, 0);
    /* a quarter of the buffer is worth an update */
    conn_read(t.c, 2000);
    craft_poll(&t.s);
    g = talk_hear(&t, F_ACK, 0, 8192, 0);
    wnd = g.wnd;
    assert_int_equal(wnd, 2100);
    conn_read(t.c, 8192);
    craft_poll(&t.s);
    g = talk_hear(&t, F_ACK, 0, 8192, 0);
    assert_int_equal(g.wnd, 8192);
    talk_end(&t);
}

/* The right edge moves left by no more than the rounding of a scale (RFC 7323 2.4), and what was
 * offered is still taken. */
static void test_window_edge(void **state)
{
    struct talk t;
    struct tseg g;
    uint32_t at = 0, edge = 0, n;

    (void)state;
    random_begin(5);
    talk_init(&t);
    t.s.host[0].rx_buf = 1 << 24; /* scale 9: steps of 512 */
    t.wscale = 0;
    t.ts = 1;
    talk_passive(&t);
    for (n = 0; n < 2000; n++) {
        uint32_t len = 1 + random_below(1000);

        talk_say(&t, F_ACK, at, 0, len);
        at += len;
        if (random_below(3) == 0)
            conn_read(t.c, random_below(3000));
        craft_poll(&t.s);
        while (craft_next(&t.s, &g)) {
            uint32_t e = g.ack - t.isn - 1 + (g.wnd << 9);

            assert_true((int32_t)(e - edge) > -512);
            assert_true(e <= t.c->read + (1 << 24));
            if ((int32_t)(e - edge) > 0)
                edge = e;
        }
        if (t.s.sent_n > 4000)
            break;
    }
    talk_end(&t);
}

/* ---- send window, silly windows, persist (RFC 9293 3.8.6) ---- */

/* RFC 9293 MUST-35, MUST-36, SHLD-29, SHLD-30. */
static void test_zero_window_probe(void **state)
{
    struct talk t;
    struct tseg g;
    unsigned n;

    (void)state;
    talk_init(&t);
    t.wnd = 0;
    talk_passive(&t);
    conn_write(t.c, 5000, 1);
    craft_poll(&t.s);
    talk_silence(&t);
    /* one byte, again and again, less and less often */
    craft_pass(&t.s, 300 * MSEC);
    g = talk_hear(&t, F_ACK, 0, 0, 1);
    talk_say(&t, F_ACK, 0, 0, 0); /* still closed */
    talk_silence(&t);
    craft_pass(&t.s, 600 * SEC);
    n = 0;
    while (craft_next(&t.s, &g)) {
        assert_int_equal(g.len, 1);
        assert_int_equal(g.seq, t.iss + 1);
        n++;
        talk_put(&t, F_ACK, 0, 0, 0);
    }
    assert_true(n >= 6 && n < 20);
    /* a peer that answers is never given up (MUST-37) */
    for (n = 0; n < 60; n++) {
        craft_pass(&t.s, 120 * SEC);
        talk_put(&t, F_ACK, 0, 0, 0);
        talk_skip(&t);
    }
    assert_false(t.c->gone);
    /* the window opens: all of it goes, from the first byte */
    t.wnd = 65535;
    talk_say(&t, F_ACK, 0, 0, 0);
    talk_hear(&t, F_ACK, 0, 0, 1460);
    talk_hear(&t, F_ACK, 1460, 0, 1460);
    talk_hear(&t, F_ACK, 2920, 0, 1460);
    talk_hear(&t, F_ACK, 4380, 0, 620);
    talk_end(&t);
}

/* The probe's byte may be taken; then the rest follows it. */
static void test_zero_window_probe_taken(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    t.wnd = 0;
    talk_passive(&t);
    conn_write(t.c, 2000, 1);
    craft_pass(&t.s, 2 * SEC);
    talk_hear(&t, F_ACK, 0, 0, 1);
    talk_skip(&t);
    t.wnd = 8000;
    talk_say(&t, F_ACK, 0, 1, 0);
    talk_hear(&t, F_ACK, 1, 0, 1460);
    talk_hear(&t, F_ACK, 1461, 0, 539);
    assert_int_equal(t.c->acked, 1);
    talk_end(&t);
}

/* ... which the peer may say right after it has said that the window is open. */
static void test_zero_window_probe_taken_late(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    t.wnd = 0;
    talk_passive(&t);
    conn_write(t.c, 2000, 1);
    craft_pass(&t.s, 300 * MSEC);
    talk_hear(&t, F_ACK, 0, 0, 1);
    t.wnd = 8000;
    talk_put(&t, F_ACK, 0, 0, 0);
    talk_put(&t, F_ACK, 0, 1, 500);
    assert_int_equal(t.c->acked, 1);
    assert_int_equal(t.c->received, 500);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK, 1, 500, 1460);
    talk_hear(&t, F_ACK, 1461, 500, 539);
    talk_silence(&t);
    talk_say(&t, F_ACK, 500, 2001, 0); /* never sent */
    assert_int_equal(talk_count(&t, TOEC_C_tcp_bad_ack), 1);
    talk_end(&t);
}

/* A peer that does not answer probes is given up in the end. */
static void test_zero_window_dead(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    t.wnd = 0;
    talk_passive(&t);
    conn_write(t.c, 2000, 1);
    craft_pass(&t.s, 4000 * SEC);
    assert_true(t.c->gone);
    assert_int_equal(t.c->gone_reason, TOEC_R_TIMEDOUT);
    talk_end(&t);
}

/* A peer that keeps its window shut may do so while there is a user, but not hold what the user has
 * left behind for ever. */
static void test_zero_window_orphan(void **state)
{
    struct talk t;
    struct tseg g;
    int n;

    (void)state;
    talk_init(&t);
    t.wnd = 0;
    talk_passive(&t);
    conn_write(t.c, 2000, 1);
    craft_pass(&t.s, SEC);
    conn_close(t.c);
    for (n = 0; n < 20; n++) {
        craft_pass(&t.s, 60 * SEC);
        assert_true(n > 5 || !t.c->gone); /* a few minutes for who is slow */
        if (!t.c->gone)
            talk_put(&t, F_ACK, 0, 0, 0);
    }
    assert_true(t.c->gone);
    assert_int_equal(t.c->gone_reason, TOEC_R_TIMEDOUT);
    memset(&g, 0, sizeof(g));
    while (craft_next(&t.s, &g))
        ;
    assert_int_equal(g.flags, F_RST | F_ACK);
    assert_int_equal(g.seq, t.iss + 1); /* where the peer's window is shut */
    t.c = 0;
    talk_end(&t);
}

/* A FIN waits for a zero window, too, and gets through when it opens. */
static void test_zero_window_fin(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    t.wnd = 0;
    talk_passive(&t);
    conn_write(t.c, 10, 1);
    conn_shutdown(t.c);
    craft_pass(&t.s, 5 * SEC);
    talk_skip(&t);
    t.wnd = 1000;
    talk_say(&t, F_ACK, 0, 0, 0);
    talk_hear(&t, F_ACK | F_FIN, 0, 0, 10);
    talk_say(&t, F_ACK, 0, 11, 0);
    assert_int_equal(t.c->acked, 10);
    talk_end(&t);
}

/* RFC 9293 3.8.6.2.1: no silly segments into a small window; when nothing moves, what fits. RFC
 * 9293 MUST-38. */
static void test_sender_sws(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    t.wnd = 3000;
    talk_passive(&t);
    conn_write(t.c, 10000, 1);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK, 0, 0, 1460);
    talk_hear(&t, F_ACK, 1460, 0, 1460);
    talk_silence(&t); /* 80 bytes of window are left */
    t.wnd = 100;
    talk_say(&t, F_ACK, 0, 2920, 0);
    talk_silence(&t);
    craft_pass(&t.s, 2 * SEC);
    talk_hear(&t, F_ACK, 2920, 0, 100);
    t.wnd = 1500; /* half of the largest window seen */
    talk_skip(&t);
    talk_say(&t, F_ACK, 0, 3020, 0);
    talk_hear(&t, F_ACK, 3020, 0, 1460);
    talk_end(&t);
}

/* The peer takes back window (a bad idea, RFC 9293 3.8.6): no data beyond, no hang. RFC 9293
 * MUST-34, MAY-7. */
static void test_window_shrinks(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    talk_passive(&t);
    conn_write(t.c, 20000, 1);
    craft_poll(&t.s);
    assert_int_equal(talk_skip(&t), 10);
    t.wnd = 0;
    talk_say(&t, F_ACK, 0, 2920, 0);
    talk_silence(&t);
    craft_pass(&t.s, 2 * SEC);
    assert_true(talk_skip(&t) > 0);
    t.wnd = 65535;
    talk_say(&t, F_ACK, 0, 2920, 0);
    talk_hear(&t, F_ACK, 2920, 0, 1460);
    talk_end(&t);
}

/* A peer that shrinks its window to nothing in the middle of a recovery: when it opens again, all
 * goes on, with SACK and without. */
static void test_window_shrinks_in_recovery(void **state)
{
    static const uint32_t blocks[] = {1460, 5840, 0, 0};
    struct talk t;
    int sack, i;

    (void)state;
    for (sack = 0; sack < 2; sack++) {
        talk_init(&t);
        t.sack = sack;
        talk_passive(&t);
        conn_write(t.c, 14600, 1);
        craft_poll(&t.s);
        assert_int_equal(talk_skip(&t), 10);
        for (i = 0; i < 3; i++) {
            if (sack)
                talk_sack(&t, 0, 0, blocks);
            else
                talk_say(&t, F_ACK, 0, 0, 0);
        }
        assert_int_equal(talk_count(&t, TOEC_C_tcp_fast_recoveries), 1);
        talk_skip(&t);
        t.wnd = 0;
        talk_say(&t, F_ACK, 0, 0, 0);
        for (i = 0; i < 3; i++) {
            craft_pass(&t.s, SEC);
            talk_say(&t, F_ACK, 0, 0, 0);
        }
        assert_true(talk_count(&t, TOEC_C_tcp_window_probes) > 0);
        talk_skip(&t);
        t.wnd = 65535;
        talk_say(&t, F_ACK, 0, 0, 0);
        craft_pass(&t.s, 60 * SEC);
        assert_true(talk_skip(&t) > 0);
        talk_end(&t);
    }
}

/* While a byte beyond the window is out as a probe, what carries none must keep to the window, or
 * the peer would take neither ACKs nor a reset. */
static void test_ack_in_zero_window(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    t.wnd = 0;
    talk_passive(&t);
    conn_write(t.c, 2000, 1);
    craft_pass(&t.s, 300 * MSEC);
    talk_hear(&t, F_ACK, 0, 0, 1);
    talk_say(&t, F_ACK, 0, 0, 0); /* still closed */
    talk_silence(&t);
    talk_say(&t, F_ACK, 0, 0, 1000);
    talk_hear(&t, F_ACK, 0, 1000, 0);
    talk_put(&t, F_ACK, 2000, 0, 1000); /* out of order */
    talk_hear(&t, F_ACK, 0, 1000, 0);
    conn_abort(t.c);
    talk_hear(&t, F_RST | F_ACK, 0, 1000, 0);
    talk_end(&t);
}

/* The peer kept its window shut for long: no loss was behind it, so what is sent when it opens is
 * not timed as if there had been. */
static void test_timeout_after_zero_window(void **state)
{
    struct talk t;
    uint32_t taken;
    int i;

    (void)state;
    for (taken = 0; taken < 2; taken++) { /* the probe's byte */
        talk_init(&t);
        t.wnd = 0;
        talk_passive(&t);
        conn_write(t.c, 1000, 1);
        for (i = 0; i < 120; i++) {
            craft_pass(&t.s, SEC);
            talk_put(&t, F_ACK, 0, 0, 0);
        }
        talk_skip(&t);
        t.wnd = 65535;
        talk_say(&t, F_ACK, 0, taken, 0);
        talk_hear(&t, F_ACK, taken, 0, 1000 - taken); /* is lost */
        craft_pass(&t.s, 2 * SEC);
        talk_hear(&t, F_ACK, taken, 0, 1000 - taken);
        talk_end(&t);
    }
}

/* A window shut on one byte under way: it was a small segment, but is none that Nagle waits for. */
static void test_nagle_after_zero_window(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    talk_passive(&t);
    conn_write(t.c, 1, 1);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK, 0, 0, 1);
    conn_write(t.c, 99, 1);
    t.wnd = 0;
    talk_say(&t, F_ACK, 0, 0, 0);
    craft_pass(&t.s, 2 * SEC);
    talk_skip(&t);
    t.wnd = 65535;
    talk_say(&t, F_ACK, 0, 0, 0);
    talk_hear(&t, F_ACK, 0, 0, 100);
    talk_end(&t);
}

/* The peer has filled the window, the first segment was lost: its ACKs stand at the edge of the
 * window, and count. */
static void test_ack_at_window_edge(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    t.s.host[0].rx_buf = 4096;
    talk_passive(&t);
    conn_write(t.c, 1000, 1);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK, 0, 0, 1000);
    talk_put(&t, F_ACK, 1460, 0, 1460);
    talk_put(&t, F_ACK, 2920, 0, 1176);
    assert_int_equal(talk_skip(&t), 2);
    talk_say(&t, F_ACK, 4096, 1000, 0);
    assert_int_equal(t.c->acked, 1000);
    talk_silence(&t);
    talk_put(&t, F_ACK, 4097, 1000, 0); /* beyond it they are no part of this connection */
    assert_int_equal(talk_count(&t, TOEC_C_tcp_out_of_window), 1);
    talk_say(&t, F_ACK, 0, 1000, 1460);
    assert_int_equal(t.c->received, 4096);
    talk_end(&t);
}

/* ---- Nagle, cork, push ---- */

/* RFC 9293 SHLD-7, MAY-16. */
static void test_nagle(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_init(&t);
    talk_passive(&t);
    conn_write(t.c, 100, 1);
    craft_poll(&t.s);
    g = talk_hear(&t, F_ACK, 0, 0, 100);
    assert_true(g.flags & F_PSH);
    conn_write(t.c, 100, 1);
    craft_poll(&t.s);
    conn_write(t.c, 100, 1);
    craft_poll(&t.s);
    talk_silence(&t);
    talk_say(&t, F_ACK, 0, 100, 0);
    talk_hear(&t, F_ACK, 100, 0, 200);
    /* a full segment does not wait */
    conn_write(t.c, 2000, 1);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK, 300, 0, 1460);
    talk_silence(&t);
    talk_say(&t, F_ACK, 0, 300, 0);
    talk_hear(&t, F_ACK, 1760, 0, 540);
    /* a FIN ends the wait */
    conn_write(t.c, 10, 1);
    craft_poll(&t.s);
    talk_silence(&t);
    conn_shutdown(t.c);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK | F_FIN, 2300, 0, 10);
    talk_end(&t);
}

/* RFC 9293 MUST-17. */
static void test_nodelay(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    talk_passive(&t);
    assert_int_equal(toec_set_option(t.s.host[0].stack, t.c->flow, TOEC_OPT_NODELAY, 1, t.s.now),
                     0);
    conn_write(t.c, 100, 1);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK, 0, 0, 100);
    conn_write(t.c, 100, 1);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK, 100, 0, 100);
    talk_end(&t);
}

static void test_cork(void **state)
{
    struct talk t;
    struct toec_stack *s;

    (void)state;
    talk_init(&t);
    talk_passive(&t);
    s = t.s.host[0].stack;
    toec_set_option(s, t.c->flow, TOEC_OPT_NODELAY, 1, t.s.now);
    toec_set_option(s, t.c->flow, TOEC_OPT_CORK, 1, t.s.now);
    conn_write(t.c, 100, 1);
    craft_poll(&t.s);
    conn_write(t.c, 1500, 1);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK, 0, 0, 1460);
    talk_silence(&t);
    toec_set_option(s, t.c->flow, TOEC_OPT_CORK, 0, t.s.now);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK, 1460, 0, 140);
    talk_say(&t, F_ACK, 0, 1600, 0);
    /* at most 200 ms */
    toec_set_option(s, t.c->flow, TOEC_OPT_CORK, 1, t.s.now);
    conn_write(t.c, 10, 1);
    craft_pass(&t.s, 150 * MSEC);
    talk_silence(&t);
    craft_pass(&t.s, 100 * MSEC);
    talk_hear(&t, F_ACK, 1600, 0, 10);
    talk_end(&t);
}

/* PSH where the writer ended, not inside (RFC 9293 3.9.1.2). RFC 9293 MUST-60, MUST-61, SHLD-27,
 * SHLD-28, MAY-15. */
static void test_push(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    talk_passive(&t);
    conn_write(t.c, 2000, 0);
    conn_write(t.c, 920, 1);
    craft_poll(&t.s);
    assert_false(craft_expect(&t.s).flags & F_PSH);
    assert_true(craft_expect(&t.s).flags & F_PSH);
    talk_end(&t);
}

/* More than the send buffer holds, or after the FIN: refused. */
static void test_send_errors(void **state)
{
    struct talk t;
    struct toec_stack *s;

    (void)state;
    talk_init(&t);
    talk_passive(&t);
    s = t.s.host[0].stack;
    assert_int_equal(toec_send(s, t.c->flow, 65537, 1, t.s.now), TOEC_E_INVAL);
    assert_int_equal(toec_send(s, t.c->flow, 0xffffffffu, 1, t.s.now), TOEC_E_INVAL);
    assert_int_equal(conn_write(t.c, 65536, 1), 65536);
    assert_int_equal(toec_send(s, t.c->flow, 1, 1, t.s.now), TOEC_E_INVAL);
    assert_int_equal(toec_recv(s, t.c->flow, 1, t.s.now), TOEC_E_INVAL);
    conn_shutdown(t.c);
    assert_int_equal(toec_shutdown(s, t.c->flow, t.s.now), TOEC_E_INVAL);
    assert_int_equal(toec_send(s, t.c->flow, 0, 1, t.s.now), TOEC_E_INVAL);
    assert_int_equal(toec_set_option(s, t.c->flow, (enum toec_option)99, 1, t.s.now), TOEC_E_INVAL);
    assert_int_equal(toec_set_option(s, t.c->flow, TOEC_OPT_KEEPCNT, 128, t.s.now), TOEC_E_INVAL);
    assert_int_equal(toec_set_option(s, t.c->flow, TOEC_OPT_CC, 99, t.s.now), TOEC_E_INVAL);
    talk_end(&t);
}

/* Transmit has no room: nothing is lost, toec_poll() asks to be called again. */
static void test_transmit_full(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    talk_passive(&t);
    t.s.host[0].tx_room = 2;
    conn_write(t.c, 5000, 1);
    assert_true(toec_poll(t.s.host[0].stack, t.s.now) == t.s.now);
    assert_int_equal(talk_skip(&t), 2);
    assert_true(toec_poll(t.s.host[0].stack, t.s.now) == t.s.now);
    t.s.host[0].tx_room = -1;
    assert_true(toec_poll(t.s.host[0].stack, t.s.now) > t.s.now);
    talk_hear(&t, F_ACK, 2920, 0, 1460);
    talk_hear(&t, F_ACK, 4380, 0, 620);
    talk_end(&t);
}

/* With segmentation offload one call carries many segments. */
static void test_gso(void **state)
{
    struct talk t;
    uint64_t before;

    (void)state;
    talk_init(&t);
    t.s.host[0].cfg.max_gso = 61440;
    talk_passive(&t);
    before = talk_count(&t, TOEC_C_tx_frames);
    conn_write(t.c, 14600, 1);
    craft_poll(&t.s);
    assert_int_equal(talk_count(&t, TOEC_C_tx_frames) - before, 1);
    assert_int_equal(talk_skip(&t), 10);
    talk_end(&t);
}

/* ---- timestamps: PAWS (RFC 7323 5) ---- */

/* R7323-06, R7323-09, R7323-13, R7323-14, R7323-17. */
static void test_paws(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_init(&t);
    t.ts = 1;
    t.tsval = 0xfffffff0u;
    talk_passive(&t);
    t.tsval = 5; /* has wrapped: newer */
    talk_say(&t, F_ACK | F_PSH, 0, 0, 10);
    assert_int_equal(t.c->received, 10);
    t.tsval = 0xfffffff8u; /* an old duplicate, its number in the window */
    talk_say(&t, F_ACK | F_PSH, 10, 0, 10);
    assert_int_equal(t.c->received, 10);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_paws), 1);
    g = talk_hear(&t, F_ACK, 0, 10, 0);
    assert_int_equal(g.tsecr, 5);
    /* without its timestamp a segment is dropped (RFC 7323 3.2) */
    g = talk_seg(&t, F_ACK | F_PSH, 10, 0, 10);
    g.has_ts = 0;
    craft_send(&t.s, &g);
    assert_int_equal(t.c->received, 10);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_no_timestamp), 1);
    /* an RST needs none */
    g = talk_seg(&t, F_RST, 10, 0, 0);
    g.has_ts = 0;
    craft_send(&t.s, &g);
    assert_true(t.c->gone);
    talk_end(&t);
}

/* After 24 idle days TS.Recent is invalid: the peer's clock may have gone half way round. R7323-16.
 */
static void test_paws_idle(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    t.ts = 1;
    talk_passive(&t);
    t.s.now += 25ull * 86400 * SEC;
    craft_poll(&t.s);
    t.tsval += 0x80000001u;
    talk_say(&t, F_ACK | F_PSH, 0, 0, 10);
    assert_int_equal(t.c->received, 10);
    t.tsval += 1;
    talk_say(&t, F_ACK | F_PSH, 10, 0, 10);
    assert_int_equal(t.c->received, 20);
    talk_end(&t);
}

/* RFC 7323 4.3: the echo is that of the segment which the ACK is due to, not of the latest.
 * R7323-12. */
static void test_ts_recent_rule(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_init(&t);
    t.ts = 1;
    talk_passive(&t);
    t.tsval = 2000;
    talk_put(&t, F_ACK, 0, 0, 100);
    t.tsval = 2005;
    talk_put(&t, F_ACK, 100, 0, 100);
    craft_poll(&t.s);
    g = talk_hear(&t, F_ACK, 0, 200, 0);
    assert_int_equal(g.tsecr, 2000);
    /* a segment beyond a gap does not change it */
    t.tsval = 2010;
    talk_put(&t, F_ACK, 300, 0, 100);
    g = talk_hear(&t, F_ACK, 0, 200, 0);
    assert_int_equal(g.tsecr, 2000);
    t.tsval = 2020;
    talk_say(&t, F_ACK, 200, 0, 100);
    g = talk_hear(&t, F_ACK, 0, 400, 0);
    assert_int_equal(g.tsecr, 2020);
    talk_end(&t);
}

/* ---- sequence numbers wrap ---- */

static void test_sequence_wrap(void **state)
{
    struct talk t;
    uint32_t at = 0, i;

    (void)state;
    talk_init(&t);
    t.isn = 0xffffff00u;
    t.sack = 1;
    talk_passive(&t);
    for (i = 0; i < 4; i++, at += 200) {
        talk_say(&t, F_ACK, at + 100, 0, 100);
        talk_say(&t, F_ACK, at, 0, 100);
    }
    assert_int_equal(conn_read(t.c, 10000), 800);
    talk_end(&t);
}

/* Streams of more than 4 GiB: offsets wrap, byte counts go on. */
static void test_four_gigabytes(void **state)
{
    struct talk t;
    struct toec_info info;
    uint32_t at = 0;
    uint64_t total = 0;

    (void)state;
    talk_init(&t);
    t.s.host[0].rx_buf = 65536;
    talk_passive(&t);
    toec_flow_info(t.s.host[0].stack, t.c->flow, &info);
    assert_int_equal(info.bytes_received, 0);
    /* the payload of these frames is not looked at: 60 KB each, reader at once */
    {
        static uint8_t f[34 + 20 + 60000];
        struct toec_packet p;

        memset(f, 0, 54);
        memset(&p, 0, sizeof(p));
        p.data = f;
        p.head_len = 54;
        p.len = sizeof(f);
        p.flags = TOEC_RX_L4_CSUM_OK | TOEC_RX_IP_CSUM_OK;
        memcpy(f, t.s.host[0].cfg.mac, 6);
        f[6] = 2;
        f[11] = 2;
        f[12] = 8;
        f[14] = 0x45;
        f[16] = (uint8_t)((sizeof(f) - 14) >> 8);
        f[17] = (uint8_t)(sizeof(f) - 14);
        f[22] = 64;
        f[23] = 6;
        memcpy(f + 26, (const uint8_t[]){10, 0, 0, 2, 10, 0, 0, 1}, 8);
        f[34] = PEER_PORT >> 8;
        f[35] = PEER_PORT & 255;
        f[37] = OWN_PORT;
        f[46] = 0x50;
        f[47] = F_ACK;
        f[48] = f[49] = 0xff;
        while (total < (9ull << 29)) {
            uint32_t seq = t.isn + 1 + at, ack = t.iss + 1;
            int i;

            for (i = 0; i < 4; i++) {
                f[38 + i] = (uint8_t)(seq >> (24 - 8 * i));
                f[42 + i] = (uint8_t)(ack >> (24 - 8 * i));
            }
            toec_input(t.s.host[0].stack, &p, t.s.now);
            at += 60000;
            total += 60000;
            assert_int_equal(t.c->received, total);
            t.c->read = t.c->received;
            assert_int_equal(toec_recv(t.s.host[0].stack, t.c->flow, 60000, t.s.now), 0);
            t.s.host[0].tx_room = 1;
            toec_poll(t.s.host[0].stack, t.s.now);
            while (t.s.sent_n > 100)
                free(t.s.sent[--t.s.sent_n]);
            if (t.s.sent_read > t.s.sent_n)
                t.s.sent_read = t.s.sent_n;
        }
        t.s.host[0].tx_room = -1;
    }
    toec_flow_info(t.s.host[0].stack, t.c->flow, &info);
    assert_true(info.bytes_received == total);
    talk_end(&t);
}

/* ---- keep-alive (RFC 9293 3.8.4) ---- */

static void keep(struct talk *t, enum toec_option o, uint32_t v)
{
    assert_int_equal(toec_set_option(t->s.host[0].stack, t->c->flow, o, v, t->s.now), 0);
}

/* RFC 9293 MUST-27, MAY-5. */
static void test_keepalive(void **state)
{
    struct talk t;
    int i;

    (void)state;
    talk_init(&t);
    talk_passive(&t);
    keep(&t, TOEC_OPT_KEEPIDLE, 60);
    keep(&t, TOEC_OPT_KEEPINTVL, 10);
    keep(&t, TOEC_OPT_KEEPCNT, 3);
    keep(&t, TOEC_OPT_KEEPALIVE, 1);
    craft_pass(&t.s, 55 * SEC);
    talk_silence(&t);
    /* life puts it off */
    talk_say(&t, F_ACK, 0, 0, 0);
    craft_pass(&t.s, 55 * SEC);
    talk_silence(&t);
    craft_pass(&t.s, 10 * SEC);
    talk_hear(&t, F_ACK, (uint32_t)-1, 0, 0);
    talk_say(&t, F_ACK, 0, 0, 0); /* answered */
    craft_pass(&t.s, 50 * SEC);
    talk_silence(&t);
    craft_pass(&t.s, 12 * SEC);
    talk_hear(&t, F_ACK, (uint32_t)-1, 0, 0);
    for (i = 0; i < 2; i++) {
        craft_pass(&t.s, 10 * SEC + 10 * MSEC);
        talk_hear(&t, F_ACK, (uint32_t)-1, 0, 0);
    }
    assert_false(t.c->gone);
    craft_pass(&t.s, 11 * SEC);
    assert_true(t.c->gone);
    assert_int_equal(t.c->gone_reason, TOEC_R_TIMEDOUT);
    talk_end(&t);
}

/* Without the option an idle connection lives for ever and sends nothing. */
static void test_idle(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    talk_passive(&t);
    craft_pass(&t.s, 40ull * 86400 * SEC);
    talk_silence(&t);
    assert_false(t.c->gone);
    talk_say(&t, F_ACK | F_PSH, 0, 0, 10);
    assert_int_equal(conn_read(t.c, 10), 10);
    talk_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ack_rides_on_answer),
        cmocka_unit_test(test_delayed_ack),
        cmocka_unit_test(test_ack_every_second),
        cmocka_unit_test(test_quickack_option),
        cmocka_unit_test(test_sack_generation),
        cmocka_unit_test(test_sack_room),
        cmocka_unit_test(test_ooo_bounded),
        cmocka_unit_test(test_fin_out_of_order),
        cmocka_unit_test(test_two_fins),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_urgent),
        cmocka_unit_test(test_receive_window),
        cmocka_unit_test(test_window_edge),
        cmocka_unit_test(test_zero_window_probe),
        cmocka_unit_test(test_zero_window_probe_taken),
        cmocka_unit_test(test_zero_window_probe_taken_late),
        cmocka_unit_test(test_zero_window_dead),
        cmocka_unit_test(test_zero_window_orphan),
        cmocka_unit_test(test_zero_window_fin),
        cmocka_unit_test(test_sender_sws),
        cmocka_unit_test(test_window_shrinks),
        cmocka_unit_test(test_window_shrinks_in_recovery),
        cmocka_unit_test(test_ack_in_zero_window),
        cmocka_unit_test(test_ack_at_window_edge),
        cmocka_unit_test(test_timeout_after_zero_window),
        cmocka_unit_test(test_nagle_after_zero_window),
        cmocka_unit_test(test_nagle),
        cmocka_unit_test(test_nodelay),
        cmocka_unit_test(test_cork),
        cmocka_unit_test(test_push),
        cmocka_unit_test(test_send_errors),
        cmocka_unit_test(test_transmit_full),
        cmocka_unit_test(test_gso),
        cmocka_unit_test(test_paws),
        cmocka_unit_test(test_paws_idle),
        cmocka_unit_test(test_ts_recent_rule),
        cmocka_unit_test(test_sequence_wrap),
        cmocka_unit_test(test_four_gigabytes),
        cmocka_unit_test(test_keepalive),
        cmocka_unit_test(test_idle),
    };

    return cmocka_run_group_tests_name("tcp_data", tests, 0, 0);
}
