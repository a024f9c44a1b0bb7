/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_window.c - windows both ways: silly windows, closed and shrinking windows, probes (RFC
 * 9293 3.8.6).
 */
#include "tcptalk.h"

/* ---- receive window (RFC 9293 3.8.6.2.2) ---- */

/* The window closes as the reader falls behind, is never exceeded, and opens in useful steps. RFC
 * 9293 SHLD-14, MAY-8; R7323-05. */
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
    talk_say(&t, F_ACK, 8000, 0, 1000); /* 192 bytes fit */
    assert_int_equal(t.c->received, 8192);
    g = craft_expect(&t.s);
    assert_int_equal(g.ack - t.isn - 1, 8192);
    assert_int_equal(g.wnd, 0);
    /* a probe of the closed window is answered, but its byte is not accepted */
    talk_say(&t, F_ACK, 8192, 0, 1);
    g = talk_hear(&t, F_ACK, 0, 8192, 0);
    assert_int_equal(g.wnd, 0);
    /* silly steps are not advertised */
    talk_read(&t, 100);
    talk_silence(&t);
    talk_say(&t, F_ACK, 8192, 0, 1);
    assert_int_equal(craft_expect(&t.s).wnd, 0);
    /* a quarter of the buffer is worth an update */
    talk_read(&t, 2000);
    g = talk_hear(&t, F_ACK, 0, 8192, 0);
    wnd = g.wnd;
    assert_int_equal(wnd, 2100);
    talk_read(&t, 8192);
    g = talk_hear(&t, F_ACK, 0, 8192, 0);
    assert_int_equal(g.wnd, 8192);
    talk_end(&t);
}

/* In a buffer smaller than two segments, half of it is a useful step. RFC 9293 3.8.6.2.2. */
static void test_receive_window_small(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    t.s.host[0].rx_buf = 2048;
    talk_passive(&t);
    talk_say(&t, F_ACK, 0, 0, 1024);
    talk_say(&t, F_ACK, 1024, 0, 1024);
    assert_int_equal(t.c->received, 2048);
    talk_skip(&t);
    talk_read(&t, 1023);
    talk_silence(&t);
    talk_read(&t, 1);
    assert_int_equal(talk_hear(&t, F_ACK, 0, 2048, 0).wnd, 1024);
    talk_end(&t);
}

/* Without a scale, the field limits the window, and all of it is used. */
static void test_receive_window_unscaled(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    t.s.host[0].rx_buf = 1 << 20;
    talk_passive(&t);
    talk_say(&t, F_ACK | F_PSH, 0, 0, 1000);
    assert_int_equal(talk_hear(&t, F_ACK, 0, 1000, 0).wnd, 65535);
    talk_say(&t, F_ACK | F_PSH, 1000, 0, 1000);
    assert_int_equal(talk_hear(&t, F_ACK, 0, 2000, 0).wnd, 65535);
    talk_end(&t);
}

/* The right edge moves left by no more than the rounding of the scale (RFC 7323 2.4), and offered
 * bytes are still accepted. */
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
            talk_read(&t, random_below(3000));
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

/* Queues n bytes for a peer whose window is closed. */
static void shut(struct talk *t, uint32_t n)
{
    talk_init(t);
    t->wnd = 0;
    talk_passive(t);
    conn_write(t->c, n, 1);
}

/* RFC 9293 MUST-35, MUST-36, SHLD-29, SHLD-30. */
static void test_zero_window_probe(void **state)
{
    struct talk t;
    struct tseg g;
    unsigned n;

    (void)state;
    shut(&t, 5000);
    craft_poll(&t.s);
    talk_silence(&t);
    /* one byte, retransmitted with growing intervals */
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
    /* the window opens: everything is sent, from the first byte on */
    t.wnd = 65535;
    talk_say(&t, F_ACK, 0, 0, 0);
    talk_hear(&t, F_ACK, 0, 0, 1460);
    talk_hear(&t, F_ACK, 1460, 0, 1460);
    talk_hear(&t, F_ACK, 2920, 0, 1460);
    talk_hear(&t, F_ACK, 4380, 0, 620);
    talk_end(&t);
}

/* The peer may accept the byte of a probe; the rest follows it. */
static void test_zero_window_probe_taken(void **state)
{
    struct talk t;

    (void)state;
    shut(&t, 2000);
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

/* ... in an ACK that arrives right after another one that opens the window. */
static void test_zero_window_probe_taken_late(void **state)
{
    struct talk t;

    (void)state;
    shut(&t, 2000);
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
    shut(&t, 2000);
    craft_pass(&t.s, 4000 * SEC);
    assert_true(t.c->gone);
    assert_int_equal(t.c->gone_reason, TOEC_R_TIMEDOUT);
    talk_end(&t);
}

/* A peer may keep its window closed for ever while the flow has a user, but not after the user has
 * closed it. */
static void test_zero_window_orphan(void **state)
{
    struct talk t;
    struct tseg g;
    int n;

    (void)state;
    shut(&t, 2000);
    craft_pass(&t.s, SEC);
    conn_close(t.c);
    for (n = 0; n < 20; n++) {
        craft_pass(&t.s, 60 * SEC);
        assert_true(n > 5 || !t.c->gone); /* a few minutes for a slow peer */
        if (!t.c->gone)
            talk_put(&t, F_ACK, 0, 0, 0);
    }
    assert_true(t.c->gone);
    assert_int_equal(t.c->gone_reason, TOEC_R_TIMEDOUT);
    memset(&g, 0, sizeof(g));
    while (craft_next(&t.s, &g))
        ;
    assert_int_equal(g.flags, F_RST | F_ACK);
    assert_int_equal(g.seq, t.iss + 1); /* where the peer's window is closed */
    t.c = 0;
    talk_end(&t);
}

/* A FIN waits for a zero window, too, and is sent when it opens. */
static void test_zero_window_fin(void **state)
{
    struct talk t;

    (void)state;
    shut(&t, 10);
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

/* RFC 9293 3.8.6.2.1: no silly segments into a small window; when nothing else is in flight, what
 * fits is sent. RFC 9293 MUST-38. */
static void test_sender_sws(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    t.wnd = 3000;
    talk_passive(&t);
    talk_send(&t, 10000);
    talk_hear(&t, F_ACK, 0, 0, 1460);
    talk_hear(&t, F_ACK, 1460, 0, 1460);
    talk_silence(&t); /* 80 bytes of window remain */
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

/* RFC 9293 3.8.6.2.1 (3): Fs is 1/2. A usable window of half of the largest one is filled at once,
 * one of a byte less is not. */
static void test_sender_sws_half(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    t.wnd = 1000;
    talk_passive(&t);
    talk_send(&t, 10000);
    talk_hear(&t, F_ACK, 0, 0, 1000);
    t.wnd = 999;
    talk_say(&t, F_ACK, 0, 500, 0); /* usable: 499 */
    talk_silence(&t);
    t.wnd = 1000;
    talk_say(&t, F_ACK, 0, 500, 0); /* usable: 500 */
    talk_hear(&t, F_ACK, 1000, 0, 500);
    talk_silence(&t);
    talk_end(&t);
}

/* ... and so is a write of half of the largest window, which Nagle would delay if it were smaller.
 * RFC 9293 3.8.6.2.1 (3), SHLD-7. */
static void test_sender_sws_half_write(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    t.wnd = 1000;
    talk_passive(&t);
    talk_send(&t, 100);
    talk_hear(&t, F_ACK, 0, 0, 100);
    talk_send(&t, 499);
    talk_silence(&t);
    talk_send(&t, 1);
    talk_hear(&t, F_ACK, 100, 0, 500);
    talk_silence(&t);
    talk_end(&t);
}

/* The window of the SYN-ACK is the first of them. */
static void test_sender_sws_synack(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    t.wnd = 1000;
    talk_active(&t);
    talk_send(&t, 10000);
    talk_hear(&t, F_ACK, 0, 0, 1000);
    talk_end(&t);
}

/* The threshold grows with the largest window of the connection, and does not shrink with the
 * current one. */
static void test_sender_sws_largest(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    t.wnd = 1000;
    talk_passive(&t);
    t.wnd = 2000;
    talk_say(&t, F_ACK, 0, 0, 0);
    talk_send(&t, 10000);
    talk_hear(&t, F_ACK, 0, 0, 1460);
    talk_silence(&t); /* usable: 540, more than half of 1000 */
    t.wnd = 1539;
    talk_say(&t, F_ACK, 0, 920, 0); /* usable: 999 */
    talk_silence(&t);
    t.wnd = 1540;
    talk_say(&t, F_ACK, 0, 920, 0); /* usable: 1000 */
    talk_hear(&t, F_ACK, 1460, 0, 1000);
    t.wnd = 999;
    talk_say(&t, F_ACK, 0, 2460, 0); /* all of a window that has shrunk */
    talk_silence(&t);
    t.wnd = 1000;
    talk_say(&t, F_ACK, 0, 2460, 0);
    talk_hear(&t, F_ACK, 2460, 0, 1000);
    talk_end(&t);
}

/* An old ACK is acceptable if it is at most the largest window below SND.UNA (RFC 5961 5.2); with
 * an older one, the segment's data is not accepted. R5961-03. */
static void test_old_ack(void **state)
{
    struct talk t;
    uint32_t una;

    (void)state;
    talk_init(&t);
    t.wnd = 1460;
    talk_passive(&t);
    talk_send(&t, 5840);
    for (una = 0; una < 5840; una += 1460) {
        talk_hear(&t, F_ACK, una, 0, 1460);
        talk_say(&t, F_ACK, 0, una + 1460, 0);
    }
    t.wnd = 1000; /* the largest counts, not the current one */
    talk_say(&t, F_ACK, 0, una, 0);
    talk_say(&t, F_ACK, 0, una - 1460, 100);
    assert_int_equal(t.c->received, 100);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_bad_ack), 0);
    talk_say(&t, F_ACK, 100, una - 1461, 100);
    assert_int_equal(t.c->received, 100);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_bad_ack), 1);
    talk_end(&t);
}

/* The peer shrinks its window (discouraged, RFC 9293 3.8.6): no data is sent beyond it, and the
 * flow does not hang. RFC 9293 MUST-34, MAY-7. */
static void test_window_shrinks(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    talk_send(&t, 20000);
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

/* A peer closes its window during recovery: when it opens again, everything continues, with SACK
 * and without. */
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
        talk_send(&t, 14600);
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

/* While a probe byte beyond the window is in flight, segments without data must be within the
 * window, or the peer would accept neither ACKs nor a RST. */
static void test_ack_in_zero_window(void **state)
{
    struct talk t;

    (void)state;
    shut(&t, 2000);
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

/* The peer kept its window closed for long. No loss was involved, so data sent when it opens gets
 * an RTO without backoff. */
static void test_timeout_after_zero_window(void **state)
{
    struct talk t;
    uint32_t taken;
    int i;

    (void)state;
    for (taken = 0; taken < 2; taken++) { /* whether the probe's byte was accepted */
        shut(&t, 1000);
        for (i = 0; i < 120; i++) {
            craft_pass(&t.s, SEC);
            talk_put(&t, F_ACK, 0, 0, 0);
        }
        talk_skip(&t);
        t.wnd = 65535;
        talk_say(&t, F_ACK, 0, taken, 0);
        talk_hear(&t, F_ACK, taken, 0, 1000 - taken); /* lost */
        craft_pass(&t.s, 2 * SEC);
        talk_hear(&t, F_ACK, taken, 0, 1000 - taken);
        talk_end(&t);
    }
}

/* The window closes on one byte in flight, which was a small segment, but not one that Nagle waits
 * for. */
static void test_nagle_after_zero_window(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    talk_send(&t, 1);
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

/* The peer has filled the window and its first segment was lost: its ACKs are at the edge of the
 * window, and count. */
static void test_ack_at_window_edge(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    t.s.host[0].rx_buf = 4096;
    talk_passive(&t);
    talk_send(&t, 1000);
    talk_hear(&t, F_ACK, 0, 0, 1000);
    talk_put(&t, F_ACK, 1460, 0, 1460);
    talk_put(&t, F_ACK, 2920, 0, 1176);
    assert_int_equal(talk_skip(&t), 2);
    talk_say(&t, F_ACK, 4096, 1000, 0);
    assert_int_equal(t.c->acked, 1000);
    talk_silence(&t);
    talk_put(&t, F_ACK, 4097, 1000, 0); /* an ACK beyond the edge is not part of this connection */
    assert_int_equal(talk_count(&t, TOEC_C_tcp_out_of_window), 1);
    talk_say(&t, F_ACK, 0, 1000, 1460);
    assert_int_equal(t.c->received, 4096);
    talk_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_receive_window),
        cmocka_unit_test(test_receive_window_small),
        cmocka_unit_test(test_receive_window_unscaled),
        cmocka_unit_test(test_window_edge),
        cmocka_unit_test(test_zero_window_probe),
        cmocka_unit_test(test_zero_window_probe_taken),
        cmocka_unit_test(test_zero_window_probe_taken_late),
        cmocka_unit_test(test_zero_window_dead),
        cmocka_unit_test(test_zero_window_orphan),
        cmocka_unit_test(test_zero_window_fin),
        cmocka_unit_test(test_sender_sws),
        cmocka_unit_test(test_sender_sws_half),
        cmocka_unit_test(test_sender_sws_half_write),
        cmocka_unit_test(test_sender_sws_synack),
        cmocka_unit_test(test_sender_sws_largest),
        cmocka_unit_test(test_old_ack),
        cmocka_unit_test(test_window_shrinks),
        cmocka_unit_test(test_window_shrinks_in_recovery),
        cmocka_unit_test(test_ack_in_zero_window),
        cmocka_unit_test(test_ack_at_window_edge),
        cmocka_unit_test(test_timeout_after_zero_window),
        cmocka_unit_test(test_nagle_after_zero_window),
    };

    return cmocka_run_group_tests_name("tcp_window", tests, 0, 0);
}
