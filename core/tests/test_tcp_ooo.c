/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_ooo.c - segments out of order and overlapping, the SACK options they cause (RFC 2018 4),
 * FINs out of order, urgent data.
 */
#include "tcptalk.h"

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

/* Each one causes an immediate duplicate ACK (R5681-07) with SACKs (R2018-06): the block just
 * received first (R2018-03), then those reported last (R2018-05). */
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
    /* R2018-04: no room for a fourth block beside the timestamp */
    talk_put(&t, F_ACK, 700, 0, 100);
    g = talk_hear(&t, F_ACK, 0, 0, 0);
    assert_int_equal(g.n_sack, 3);
    /* R5681-08: fills the first gap: acknowledged at once, and delivered */
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

/* Four blocks fit without timestamps (R2018-04); none is sent to a peer without SACK-permitted
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

/* More gaps than a flow can record: the segment is dropped and counted; the peer retransmits it. */
static void test_ooo_bounded(void **state)
{
    struct talk t;
    uint32_t i;

    (void)state;
    talk_init(&t);
    t.sack = 1;
    talk_passive(&t);
    for (i = 1; i <= 68; i++)
        talk_say(&t, F_ACK, i * 200, 0, 100);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_ooo_full), 4);
    talk_skip(&t);
    /* a recorded block still grows by adjacent data */
    talk_say(&t, F_ACK, 300, 0, 100);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_ooo_full), 4);
    for (i = 0; i <= 137; i++)
        talk_say(&t, F_ACK, i * 100, 0, 100);
    assert_int_equal(t.c->received, 13800);
    assert_int_equal(conn_read(t.c, 20000), 13800);
    talk_end(&t);
}

/* A FIN beyond a gap is remembered with the data before it. */
static void test_fin_out_of_order(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    talk_say(&t, F_ACK | F_FIN, 100, 0, 50);
    talk_hear(&t, F_ACK, 0, 0, 0);
    assert_false(t.c->peer_closed);
    talk_say(&t, F_ACK, 0, 0, 100);
    talk_hear(&t, F_ACK, 0, 151, 0);
    assert_true(t.c->peer_closed);
    assert_int_equal(conn_read(t.c, 1000), 150);
    talk_end(&t);
}

/* Two FINs at different offsets: the first one counts, and nothing is read beyond it. */
static void test_two_fins(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    talk_say(&t, F_ACK | F_FIN, 100, 0, 50);
    talk_say(&t, F_ACK | F_FIN, 100, 0, 80);
    talk_say(&t, F_ACK, 151, 0, 80);
    talk_say(&t, F_ACK, 0, 0, 100);
    assert_int_equal(t.c->received, 150);
    assert_true(t.c->peer_closed);
    talk_end(&t);
}

/* A new FIN on a segment whose data is all old is processed, once (RFC 9293 3.10.7.4). */
static void test_fin_behind_old_data(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
    talk_say(&t, F_ACK, 0, 0, 100);
    talk_skip(&t);
    talk_say(&t, F_ACK | F_FIN, 0, 0, 100);
    talk_hear(&t, F_ACK, 0, 101, 0);
    assert_true(t.c->peer_closed);
    talk_say(&t, F_ACK | F_FIN, 0, 0, 100);
    talk_hear(&t, F_ACK, 0, 101, 0);
    assert_int_equal(conn_read(t.c, 1000), 100);
    talk_end(&t);
}

/* RFC 2883 4: a segment that fills the gap and repeats what was queued is reported by a DSACK,
 * which is the first block. */
static void test_dsack_of_what_was_queued(void **state)
{
    static const uint32_t both[] = {100, 200, 400, 500}, one[] = {400, 500}, last[] = {400, 500};
    struct talk t;
    struct tseg g;

    (void)state;
    talk_init(&t);
    t.sack = 1;
    talk_passive(&t);
    talk_put(&t, F_ACK, 100, 0, 100);
    talk_put(&t, F_ACK, 400, 0, 100);
    talk_skip(&t);
    talk_say(&t, F_ACK, 0, 0, 300);
    g = talk_hear(&t, F_ACK, 0, 300, 0);
    assert_blocks(&t, &g, 2, both);
    talk_put(&t, F_ACK, 600, 0, 10); /* the DSACK is sent once */
    g = talk_hear(&t, F_ACK, 0, 300, 0);
    assert_int_equal(g.n_sack, 2);
    assert_int_equal(g.sack[1][0] - t.isn - 1, one[0]);
    talk_say(&t, F_ACK, 300, 0, 300); /* all that is queued is repeated */
    g = talk_hear(&t, F_ACK, 0, 610, 0);
    assert_blocks(&t, &g, 1, last);
    assert_int_equal(conn_read(t.c, 10000), 610);
    talk_end(&t);
}

/* Segments that overlap received data: each byte is accepted once. */
static void test_overlap(void **state)
{
    struct talk t;

    (void)state;
    talk_open(&t);
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

/* Urgent data is delivered in line, for any pointer. */
static void test_urgent(void **state)
{
    struct talk t;
    struct tseg g;

    (void)state;
    talk_open(&t);
    g = talk_seg(&t, F_ACK | F_URG | F_PSH, 0, 0, 10);
    g.urg = 60000;
    craft_send(&t.s, &g);
    assert_int_equal(conn_read(t.c, 100), 10);
    talk_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sack_generation),
        cmocka_unit_test(test_sack_room),
        cmocka_unit_test(test_ooo_bounded),
        cmocka_unit_test(test_fin_out_of_order),
        cmocka_unit_test(test_two_fins),
        cmocka_unit_test(test_fin_behind_old_data),
        cmocka_unit_test(test_dsack_of_what_was_queued),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_urgent),
    };

    return cmocka_run_group_tests_name("tcp_ooo", tests, 0, 0);
}
