/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_eor.c - record boundaries (toec_eor(), MSG_EOR of Linux): no segment holds bytes of both
 * sides, in dialogues and over a lossy link with random records. Seeded; TOE_TEST_SEED repeats a
 * run.
 */
#include "tcptalk.h"

/* The application writes a record of n bytes; nothing is polled. */
static void record(struct talk *t, uint32_t n)
{
    assert_int_equal(conn_write(t->c, n, 1), n);
    assert_int_equal(toec_eor(t->s.host[0].stack, t->c->flow), 0);
}

/* The stack must have sent such a segment, with PSH. */
static void pushed(struct talk *t, unsigned flags, uint32_t seq, uint32_t len)
{
    struct tseg g = talk_hear(t, flags, seq, 0, len);

    assert_int_equal(g.flags & F_PSH, F_PSH);
}

/* Records of all sizes side by side, as far as the window goes. A record with more data behind it
 * does not wait for Nagle; the last one does. */
static void test_records_stay_apart(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    record(&t, 100);
    record(&t, 1460);
    record(&t, 1500);
    conn_write(t.c, 50, 1);
    talk_send(&t, 60);
    pushed(&t, F_ACK, 0, 100);
    pushed(&t, F_ACK, 100, 1460);
    talk_hear(&t, F_ACK, 1560, 0, 1460);
    pushed(&t, F_ACK, 3020, 40);
    talk_silence(&t);
    talk_say(&t, F_ACK, 0, 3060, 0);
    pushed(&t, F_ACK, 3060, 110);
    talk_end(&t);
}

/* Segmentation offload ends at the boundary too. */
static void test_offload_ends_at_a_record(void **state)
{
    struct talk t;

    (void)state;
    talk_init(&t);
    t.s.host[0].cfg.max_gso = 61440;
    talk_passive(&t);
    record(&t, 3000);
    conn_write(t.c, 1460, 1);
    craft_poll(&t.s);
    talk_hear(&t, F_ACK, 0, 0, 1460);
    talk_hear(&t, F_ACK, 1460, 0, 1460);
    pushed(&t, F_ACK, 2920, 80);
    pushed(&t, F_ACK, 3000, 1460);
    talk_end(&t);
}

/* After a timeout each record is sent again by itself. */
static void test_records_sent_again(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_init(&t);
    t.sack = 0;
    talk_passive(&t);
    talk_set(&t, TOEC_OPT_NODELAY, 1);
    record(&t, 100);
    craft_poll(&t.s);
    record(&t, 200);
    talk_send(&t, 300);
    pushed(&t, F_ACK, 0, 100);
    pushed(&t, F_ACK, 100, 200);
    pushed(&t, F_ACK, 300, 300);
    sim_run(&t.s, 2 * SEC);
    for (;;) {
        g = craft_expect(&t.s);
        if (g.seq == t.iss + 1)
            break;
        assert_int_equal(g.seq - t.iss - 1, 300); /* a tail loss probe */
    }
    assert_int_equal(g.len, 100);
    talk_skip(&t);
    talk_say(&t, F_ACK, 0, 100, 0);
    pushed(&t, F_ACK, 100, 200);
    talk_skip(&t);
    talk_end(&t);
}

/* A tail loss probe (RFC 8985 7.3) begins after the boundary, also if it is the only one. */
static void test_probe_of_the_tail(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_init(&t);
    t.sack = 1;
    talk_passive(&t);
    talk_set(&t, TOEC_OPT_NODELAY, 1);
    record(&t, 100);
    talk_send(&t, 200);
    pushed(&t, F_ACK, 0, 100);
    pushed(&t, F_ACK, 100, 200);
    do {
        craft_pass(&t.s, 10 * MSEC);
    } while (!craft_next(&t.s, &g));
    assert_int_equal(talk_count(&t, TOEC_C_tcp_timeouts), 0);
    assert_int_equal(g.seq - t.iss - 1, 100);
    assert_int_equal(g.len, 200);
    talk_silence(&t);
    talk_end(&t);
}

/* The probe of a closed window, and what a small window takes, end at the record. */
static void test_probe_of_a_closed_window(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    t.wnd = 0;
    talk_say(&t, F_ACK, 0, 0, 0);
    record(&t, 1);
    talk_send(&t, 500);
    sim_run(&t.s, SEC);
    pushed(&t, F_ACK, 0, 1);
    talk_skip(&t);
    t.wnd = 300;
    talk_say(&t, F_ACK, 0, 1, 0);
    sim_run(&t.s, SEC);
    talk_hear(&t, F_ACK, 1, 0, 300);
    talk_end(&t);
}

/* A FIN joins the last record. */
static void test_fin_joins(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    record(&t, 100);
    conn_shutdown(t.c);
    craft_poll(&t.s);
    pushed(&t, F_ACK | F_FIN, 0, 100);
    talk_end(&t);
}

/* As many boundaries as are kept, then no more until some are acknowledged. */
static void test_full(void **state)
{
    struct talk t;
    unsigned i;

    (void)state;
    talk_open(&t);
    talk_set(&t, TOEC_OPT_NODELAY, 1);
    for (i = 0; i < TOEC_EOR_MAX; i++)
        record(&t, 10);
    assert_int_equal(toec_eor(t.s.host[0].stack, t.c->flow), 0); /* the same one again */
    conn_write(t.c, 10, 1);
    assert_int_equal(toec_eor(t.s.host[0].stack, t.c->flow), TOEC_E_NOBUFS);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_eor_full), 1);
    craft_poll(&t.s);
    pushed(&t, F_ACK, 0, 10);
    talk_skip(&t);
    talk_say(&t, F_ACK, 0, 10, 0);
    talk_skip(&t);
    record(&t, 10);
    talk_say(&t, F_ACK, 0, 10 * (TOEC_EOR_MAX + 2), 0);
    talk_skip(&t);
    conn_shutdown(t.c);
    assert_int_equal(toec_eor(t.s.host[0].stack, t.c->flow), TOEC_E_INVAL);
    talk_end(&t);
}

/* A boundary with nothing before it that could share a segment needs no place. */
static void test_nothing_to_mark(void **state)
{
    struct talk t;
    unsigned i;

    (void)state;
    talk_open(&t);
    for (i = 0; i <= TOEC_EOR_MAX; i++)
        assert_int_equal(toec_eor(t.s.host[0].stack, t.c->flow), 0);
    talk_end(&t);
}

/* ---- any records over a bad link ---- */

#define RECORDS 2000u

struct watch {
    uint32_t iss;
    uint32_t ends[RECORDS]; /* stream offsets */
    unsigned n;
    unsigned frames;
};

static uint32_t be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Checks each data segment of host 0: no boundary lies within it. */
static int64_t watch_router(struct sim *s, unsigned from, uint8_t *f, uint32_t len)
{
    struct watch *w = s->router_state;
    const uint8_t *h = f + 34;
    uint32_t seq, n, i;

    if (from != 0 || len < 54 || f[12] != 8 || f[13] != 0 || f[23] != 6)
        return 0;
    n = ((uint32_t)f[16] << 8 | f[17]) - 20 - (h[12] >> 4) * 4u;
    seq = be32(h + 4);
    if (h[13] & F_SYN)
        w->iss = seq;
    else if (n > 1) {
        w->frames++;
        seq -= w->iss + 1;
        for (i = 0; i < w->n; i++)
            if (w->ends[i] - seq - 1 < n - 1)
                fail_msg("a segment from %u of %u bytes holds the boundary at %u", seq, n,
                         w->ends[i]);
    }
    return 0;
}

static void run_records(uint64_t seed, const struct impair *im, unsigned hand_over)
{
    static struct watch w;
    struct conn *c, *to;
    struct sim s;
    unsigned i = 0, step = 0;
    int marked = 0; /* what was written last is to end a record, and cannot yet */

    random_begin(seed);
    memset(&w, 0, sizeof(w));
    sim_init(&s, 2);
    s.impair = *im;
    s.router = watch_router;
    s.router_state = &w;
    s.host[0].cfg.max_gso = random_below(2) ? 61440 : 0;
    sim_start(&s);
    sim_listen(&s, 1, 80, 0, 0);
    c = sim_connect(&s, 0, 80);
    sim_run(&s, 10 * SEC);
    to = s.host[1].conns;
    assert_true(c->established && to);
    while (i < RECORDS) {
        uint32_t n = 1 + random_below(random_below(4) ? 100 : 4000);

        if (!marked)
            marked = conn_write(c, n, random_below(4) != 0) != 0 && random_below(2);
        /* The boundary is on the wire's check from when it is kept; nothing is sent between. */
        if (marked && toec_eor(s.host[0].stack, c->flow) == 0) {
            w.ends[w.n++] = (uint32_t)c->sent;
            marked = 0;
            i++;
        }
        if (random_below(3) == 0 || marked) {
            sim_run(&s, 1 + random_below(20) * MSEC);
            conn_read(to, 1u << 20);
        }
        if (hand_over && ++step % hand_over == 0)
            sim_hand_over(&s.host[0]);
    }
    conn_close(c);
    for (i = 0; i < 1000 && to->received < c->sent; i++) {
        sim_run(&s, SEC);
        conn_read(to, 1u << 20);
    }
    assert_int_equal(to->received, c->sent);
    print_message("%u boundaries, %u segments\n", w.n, w.frames);
    sim_stop(&s);
}

static void test_any_records(void **state)
{
    static const struct impair lossy = {51, 5, 5, 30, 1 * MSEC, MSEC, 3 * MSEC};
    static const struct impair slow = {10, 0, 0, 0, 20 * MSEC, 0, 0};

    (void)state;
    run_records(24, &lossy, 0);
    run_records(25, &slow, 0);
    run_records(26, &lossy, 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records_stay_apart),
        cmocka_unit_test(test_offload_ends_at_a_record),
        cmocka_unit_test(test_records_sent_again),
        cmocka_unit_test(test_probe_of_a_closed_window),
        cmocka_unit_test(test_probe_of_the_tail),
        cmocka_unit_test(test_fin_joins),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_nothing_to_mark),
        cmocka_unit_test(test_any_records),
    };

    return cmocka_run_group_tests_name("tcp_eor", tests, NULL, NULL);
}
