/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_undo.c - spurious losses: Eifel (RFC 3522), F-RTO (RFC 5682), DSACK (RFC 3708), and the
 * response (RFC 4015), which restores the window. The RTT is 100 ms throughout.
 */
#include "tcptalk.h"

#include "tcp/tcp.h"

#define MSS 1460u
#define RTT (100 * MSEC)

static void until_timeout(struct talk *t)
{
    while (talk_count(t, TOEC_C_tcp_timeouts) == 0)
        craft_pass(&t->s, MSEC);
}

/* Sends ten segments with timestamps, whose TSval is *old. */
static void begin_ts(struct talk *t, uint32_t *old)
{
    struct tseg g;

    talk_init(t);
    t->ts = t->sack = 1;
    t->rtt = RTT;
    talk_passive(t);
    talk_send(t, 14480);
    while (craft_next(&t->s, &g))
        *old = g.tsval;
    craft_pass(&t->s, RTT);
    talk_silence(t);
}

/* RFC 3522: the ACK of a retransmission echoes the timestamp of the original, which was late, not
 * lost. */
static void test_eifel_fast(void **state)
{
    uint32_t b[4] = {1448, 5 * 1448, 0, 0}, old = 0;
    struct talk t;
    struct tseg g;
    int late;

    (void)state;
    for (late = 0; late < 2; late++) {
        begin_ts(&t, &old);
        t.tsecr = old;
        talk_sack(&t, 0, 0, b);
        g = craft_expect(&t.s);
        assert_int_equal(g.seq, t.iss + 1);
        assert_true(talk_info(&t).ssthresh < 8 * 1448);
        craft_pass(&t.s, RTT);
        t.tsecr = late ? old : g.tsval;
        talk_say(&t, F_ACK, 0, 5 * 1448, 0);
        assert_int_equal(talk_count(&t, TOEC_C_tcp_spurious_recoveries), late);
        if (late)
            assert_true(talk_info(&t).cwnd >= 10 * 1448 && talk_info(&t).ssthresh > 1 << 20);
        else
            assert_true(talk_info(&t).cwnd < 10 * 1448);
        talk_end(&t);
    }
}

/* Takes what was sent; returns the last segment, which must be one at stream offset `first`. */
static struct tseg last_from(struct talk *t, uint32_t first)
{
    struct tseg g, found;
    int n = 0;

    memset(&found, 0, sizeof(found));
    while (craft_next(&t->s, &g)) {
        if (g.seq != t->iss + 1 + first)
            continue;
        found = g;
        n++;
    }
    assert_int_equal(n, 1);
    return found;
}

/* A recovery begins while the retransmission of an earlier loss is in flight: the ACK that this one
 * causes echoes a timestamp older than the new recovery's first retransmission. It shows no
 * original. */
static void test_eifel_of_an_earlier_loss(void **state)
{
    uint32_t old = 0, earlier;
    struct talk t;

    (void)state;
    begin_ts(&t, &old);
    talk_send(&t, 20 * 1448);
    t.tsecr = old;
    talk_sack(&t, 0, 0, (uint32_t[]){1448, 9 * 1448, 0, 0}); /* segment 0 is lost */
    t.tsecr = last_from(&t, 0).tsval;
    craft_pass(&t.s, RTT);
    talk_sack(&t, 0, 9 * 1448, (uint32_t[]){11 * 1448, 13 * 1448, 0, 0}); /* ... 9 and 10, too */
    earlier = last_from(&t, 10 * 1448).tsval;
    craft_pass(&t.s, 10 * MSEC);
    /* the recovery ends, which was about 0 to 9 */
    talk_sack(&t, 0, 10 * 1448, (uint32_t[]){11 * 1448, 13 * 1448, 0, 0});
    assert_int_equal(talk_count(&t, TOEC_C_tcp_fast_recoveries), 1);
    talk_skip(&t);
    craft_pass(&t.s, 80 * MSEC);
    talk_sack(&t, 0, 10 * 1448, (uint32_t[]){14 * 1448, 15 * 1448, 11 * 1448, 13 * 1448, 0, 0});
    assert_int_equal(talk_count(&t, TOEC_C_tcp_fast_recoveries), 2);
    (void)last_from(&t, 13 * 1448);
    craft_pass(&t.s, 5 * MSEC);
    t.tsecr = earlier; /* the retransmission of 10 has arrived */
    talk_sack(&t, 0, 13 * 1448, (uint32_t[]){14 * 1448, 15 * 1448, 0, 0});
    assert_int_equal(talk_count(&t, TOEC_C_tcp_spurious_recoveries), 0);
    talk_end(&t);
}

/* ... also after a timeout: nothing else is retransmitted. */
static void test_eifel_timeout(void **state)
{
    uint32_t old = 0;
    struct talk t;

    (void)state;
    begin_ts(&t, &old);
    until_timeout(&t);
    talk_skip(&t);
    assert_int_equal(talk_info(&t).cwnd, 1448);
    t.tsecr = old;
    talk_say(&t, F_ACK, 0, 2 * 1448, 0);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_spurious_timeouts), 1);
    assert_true(talk_info(&t).cwnd >= 10 * 1448);
    talk_silence(&t);
    talk_say(&t, F_ACK, 0, 10 * 1448, 0);
    talk_silence(&t);
    talk_end(&t);
}

/* All segments are delayed, then the ACKs of the originals arrive. F-RTO sends two new segments
 * (R5682-01). The next ACK covers data that was not retransmitted: it undoes the timeout and
 * restores the window (R5682-04). */
static void frto_spurious(int sack)
{
    struct talk t;
    unsigned n;

    talk_init(&t);
    talk_flight(&t, sack, 10);
    talk_send(&t, 10 * MSS);
    until_timeout(&t);
    talk_skip(&t);
    assert_int_equal(talk_info(&t).cwnd, MSS);
    talk_say(&t, F_ACK, 0, MSS, 0);
    n = talk_skip(&t);
    assert_int_equal(n, 2); /* RFC 5682 2.1 (2b): new data */
    assert_int_equal(talk_count(&t, TOEC_C_tcp_spurious_timeouts), 0);
    talk_say(&t, F_ACK, 0, 2 * MSS, 0);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_spurious_timeouts), 1);
    assert_true(talk_info(&t).cwnd >= 10 * MSS);
    assert_true(talk_info(&t).retransmits <= 2);
    /* the timer restarts: a probe (R8985-06) or the RTO is next, not the doubled RTO */
    n = (unsigned)talk_count(&t, sack ? TOEC_C_tcp_tail_probes : TOEC_C_tcp_timeouts);
    craft_pass(&t.s, sack ? 210 * MSEC : 310 * MSEC);
    assert_int_equal(talk_count(&t, sack ? TOEC_C_tcp_tail_probes : TOEC_C_tcp_timeouts), n + 1);
    talk_end(&t);
}

static void test_frto_sack(void **state)
{
    (void)state;
    frto_spurious(1);
}

static void test_frto_basic(void **state)
{
    (void)state;
    frto_spurious(0);
}

/* R5682-01, R5682-02: everything was lost. The second ACK is a duplicate (SACK of the new data),
 * and all is retransmitted in slow start (RFC 5682 2.1 (3a)). */
static void test_frto_real_loss(void **state)
{
    /* with SACK, a probe of new data was sent before, and lost */
    static const uint32_t fresh[] = {11 * MSS, 12 * MSS, 0, 0};
    struct talk t;
    struct tseg g;
    unsigned sack, i, again = 0;

    (void)state;
    for (sack = 0; sack < 2; sack++) {
        again = 0;
        talk_init(&t);
        talk_flight(&t, (int)sack, 10);
        talk_send(&t, 10 * MSS);
        until_timeout(&t);
        talk_skip(&t);
        craft_pass(&t.s, RTT);
        talk_say(&t, F_ACK, 0, MSS, 0);
        talk_skip(&t);
        craft_pass(&t.s, RTT);
        if (sack)
            talk_sack(&t, 0, MSS, fresh);
        else
            talk_say(&t, F_ACK, 0, MSS, 0);
        while (craft_next(&t.s, &g))
            again += g.seq - t.iss - 1 >= MSS && g.seq - t.iss - 1 < 10 * MSS;
        assert_in_range(again, 1, 3);
        assert_int_equal(talk_count(&t, TOEC_C_tcp_spurious_timeouts), 0);
        assert_true(talk_info(&t).cwnd <= 3 * MSS);
        if (!sack) { /* duplicates are counted up to 255 */
            for (i = 0; i < 300; i++)
                talk_say(&t, F_ACK, 0, MSS, 0);
            assert_int_equal(t.c->flow->dupacks, 255);
        }
        talk_end(&t);
    }
}

/* The peer reports each retransmission as a duplicate: nothing was lost. */
static void test_dsack(void **state)
{
    static const uint32_t hole[] = {MSS, 5 * MSS, 0, 0};
    static const uint32_t dup[] = {0, MSS, 0, 0};
    struct talk t;

    (void)state;
    talk_init(&t);
    talk_flight(&t, 1, 10);
    craft_pass(&t.s, RTT);
    talk_sack(&t, 0, 0, hole);
    talk_hear(&t, F_ACK, 0, 0, MSS);
    craft_pass(&t.s, 5 * MSEC);
    talk_say(&t, F_ACK, 0, 10 * MSS, 0); /* all have arrived; recovery ends */
    assert_true(talk_info(&t).cwnd < 10 * MSS);
    craft_pass(&t.s, RTT);
    talk_sack(&t, 0, 10 * MSS, dup);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_spurious_recoveries), 1);
    assert_true(talk_info(&t).cwnd >= 10 * MSS);
    talk_end(&t);
}

/* Two segments were retransmitted, one was a duplicate: the other had been lost. */
static void test_dsack_for_some(void **state)
{
    static const uint32_t hole[] = {2 * MSS, 6 * MSS, 0, 0};
    static const uint32_t dup[] = {0, MSS, 0, 0};
    struct talk t;

    (void)state;
    talk_init(&t);
    talk_flight(&t, 1, 10);
    craft_pass(&t.s, RTT);
    talk_sack(&t, 0, 0, hole);
    talk_hear(&t, F_ACK, 0, 0, MSS);
    talk_hear(&t, F_ACK, MSS, 0, MSS);
    craft_pass(&t.s, RTT);
    talk_say(&t, F_ACK, 0, 10 * MSS, 0);
    talk_sack(&t, 0, 10 * MSS, dup);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_spurious_recoveries), 0);
    assert_true(talk_info(&t).cwnd < 10 * MSS);
    talk_end(&t);
}

/* Reordered data arrives behind the SACKs that marked it lost, before output had its turn. Nothing
 * is retransmitted, so no timestamp or DSACK can show it; the arrival itself does. With one segment
 * still missing the loss is real. */
static void test_late_before_output(void **state)
{
    unsigned real;
    struct talk t;
    struct tseg g;

    (void)state;
    for (real = 0; real < 2; real++) {
        talk_init(&t);
        talk_flight(&t, 1, 10);
        craft_pass(&t.s, RTT);
        g = talk_seg(&t, F_ACK, 0, 0, 0);
        g.sack[0][0] = t.iss + 1 + 2 * MSS;
        g.sack[0][1] = t.iss + 1 + 6 * MSS;
        g.n_sack = 1;
        craft_send(&t.s, &g);
        if (real) { /* the first segment only */
            g.ack += MSS;
            craft_send(&t.s, &g);
            craft_poll(&t.s);
            talk_hear(&t, F_ACK, MSS, 0, MSS);
        } else {
            talk_say(&t, F_ACK, 0, 6 * MSS, 0);
            talk_silence(&t);
        }
        assert_int_equal(talk_count(&t, TOEC_C_tcp_fast_recoveries), 1);
        assert_int_equal(talk_count(&t, TOEC_C_tcp_spurious_recoveries), !real);
        assert_int_equal(talk_info(&t).ssthresh > 1 << 20, !real);
        assert_int_equal(talk_info(&t).cwnd >= 10 * MSS, !real);
        talk_end(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eifel_fast),
        cmocka_unit_test(test_eifel_of_an_earlier_loss),
        cmocka_unit_test(test_eifel_timeout),
        cmocka_unit_test(test_frto_sack),
        cmocka_unit_test(test_frto_basic),
        cmocka_unit_test(test_frto_real_loss),
        cmocka_unit_test(test_dsack),
        cmocka_unit_test(test_dsack_for_some),
        cmocka_unit_test(test_late_before_output),
    };

    return cmocka_run_group_tests_name("tcp_undo", tests, 0, 0);
}
