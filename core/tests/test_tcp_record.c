/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_record.c - the record that a flow borrows for its data in flight: when it needs one,
 * when it returns it, and how it works without one.
 */
#include "tcptalk.h"

#include "tcp/tcp.h"

#define MSS 1460u

static struct toec_usage usage(struct sim *s)
{
    struct toec_usage u;

    toec_usage(s->host[0].stack, &u);
    return u;
}

/* Requests and replies need no record: data sent close together is one run. */
static void test_small_talk_borrows_nothing(void **state)
{
    struct talk t;
    unsigned i;

    (void)state;
    talk_open(&t);
    for (i = 0; i < 50; i++) {
        talk_say(&t, F_ACK | F_PSH, 100 * i, 200 * i, 100);
        conn_read(t.c, 100);
        talk_send(&t, 200);
        assert_int_equal(usage(&t.s).records, 0);
        craft_pass(&t.s, 5 * MSEC);
    }
    talk_say(&t, F_ACK, 5000, 10000, 0);
    assert_int_equal(t.c->acked, 10000);
    talk_end(&t);
}

/* Puts ten segments in flight with gaps in the peer's SACKs, which needs a record. */
static void borrow(struct talk *t)
{
    static const uint32_t holes[] = {1 * MSS, 2 * MSS, 3 * MSS, 4 * MSS, 5 * MSS, 6 * MSS, 0, 0};

    talk_init(t);
    t->s.host[0].tx_buf = 1 << 16;
    talk_flight(t, 1, 10);
    assert_int_equal(usage(&t->s).records, 0);
    talk_sack(t, 0, 0, holes);
    assert_int_equal(usage(&t->s).records, 1);
}

/* A flow with gaps in its flight borrows a record, and its timer returns it once the flow is
 * idle. */
static void test_idle_flow_gives_it_back(void **state)
{
    struct talk t;

    (void)state;
    borrow(&t);
    assert_in_range(t.c->flow->rack.n, 6, TOEC_RUNS);
    assert_int_equal(t.c->flow->rack.sacked, 3 * MSS);
    talk_say(&t, F_ACK, 0, 10 * MSS, 0);
    assert_int_equal(t.c->acked, 10 * MSS);
    assert_int_equal(usage(&t.s).records, 1); /* it may be needed again immediately */
    craft_pass(&t.s, 3 * SEC);
    assert_int_equal(usage(&t.s).records, 0);
    /* and the flow works as before */
    talk_skip(&t);
    talk_send(&t, 2 * MSS);
    talk_hear(&t, F_ACK, 10 * MSS, 0, MSS);
    talk_say(&t, F_ACK, 0, 12 * MSS, 0);
    assert_int_equal(t.c->acked, 12 * MSS);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_no_record), 0);
    talk_end(&t);
}

/* The state for pacing exists as long as the flow may be paced. */
static void test_pacing_is_borrowed(void **state)
{
    const struct toec_pool *pool;
    struct talk t;
    unsigned i;

    (void)state;
    talk_init(&t);
    talk_passive(&t);
    pool = &t.s.host[0].stack->tcp->paces;
    assert_int_equal(pool->used, 0);
    assert_int_equal(talk_option(&t, TOEC_OPT_MAX_PACING, 0), 0);
    assert_int_equal(pool->used, 0);
    assert_int_equal(talk_option(&t, TOEC_OPT_MAX_PACING, 100000), 0);
    assert_int_equal(pool->used, 1);
    assert_int_equal(talk_option(&t, TOEC_OPT_MAX_PACING, 0), 0);
    assert_int_equal(pool->used, 0);
    /* after idle time a validated window is paced, until the first ACK */
    for (i = 0; i < 40; i++) {
        talk_send(&t, 2 * MSS);
        craft_pass(&t.s, 20 * MSEC);
        talk_say(&t, F_ACK, 0, (i + 1) * 2 * MSS, 0);
    }
    talk_skip(&t);
    assert_int_equal(pool->used, 0);
    craft_pass(&t.s, 10 * SEC);
    talk_send(&t, 2 * MSS);
    craft_pass(&t.s, 20 * MSEC);
    assert_int_equal(pool->used, 1);
    talk_say(&t, F_ACK, 0, 82 * MSS, 0);
    assert_int_equal(pool->used, 0);
    assert_int_equal(talk_option(&t, TOEC_OPT_MAX_PACING, 100000), 0);
    conn_abort(t.c);
    craft_pass(&t.s, 1 * SEC);
    assert_int_equal(pool->used, 0);
    talk_end(&t);
}

static unsigned episodes(const struct talk *t)
{
    return t->s.host[0].stack->tcp->episodes.used;
}

/* Sends ten segments, retransmits the lost first one, and acknowledges all. */
static void lose_one(struct talk *t)
{
    talk_init(t);
    t->s.host[0].tx_buf = 1 << 16;
    talk_flight(t, 1, 10);
    craft_pass(&t->s, 100 * MSEC);
    assert_int_equal(episodes(t), 0);
    talk_block(t, 0, 1 * MSS, 10 * MSS);
    talk_hear(t, F_ACK, 0, 0, MSS);
    assert_int_equal(episodes(t), 1);
    talk_say(t, F_ACK, 0, 10 * MSS, 0);
    assert_int_equal(talk_count(t, TOEC_C_tcp_fast_recoveries), 1);
}

/* Once everything sent in a loss episode must have left the network, only its counters remain; the
 * next episode starts from the initial state. */
static void test_episode_is_forgotten(void **state)
{
    struct talk t;

    (void)state;
    lose_one(&t);
    craft_pass(&t.s, 58 * SEC);
    assert_int_equal(episodes(&t), 1);
    craft_pass(&t.s, 3 * SEC);
    assert_int_equal(episodes(&t), 0);
    assert_int_equal(talk_info(&t).lost_total, 1);
    assert_int_equal(talk_info(&t).bytes_retrans, MSS);
    talk_skip(&t);
    talk_send(&t, 5 * MSS);
    craft_pass(&t.s, 100 * MSEC);
    talk_skip(&t);
    talk_block(&t, 10 * MSS, 11 * MSS, 15 * MSS);
    talk_hear(&t, F_ACK, 10 * MSS, 0, MSS);
    assert_int_equal(episodes(&t), 1);
    talk_say(&t, F_ACK, 0, 15 * MSS, 0);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_fast_recoveries), 2);
    assert_int_equal(talk_info(&t).lost_total, 2);
    conn_abort(t.c);
    assert_int_equal(episodes(&t), 0);
    talk_end(&t);
}

/* A DSACK for a retransmission counts as long as one may arrive, and no longer (RFC 3708). */
static void test_late_report(void **state)
{
    struct talk t;
    unsigned late;

    (void)state;
    for (late = 0; late < 2; late++) {
        lose_one(&t);
        craft_pass(&t.s, late ? 70 * SEC : 50 * SEC);
        talk_block(&t, 10 * MSS, 0, MSS);
        assert_int_equal(talk_count(&t, TOEC_C_tcp_dsack_received), 1);
        assert_int_equal(talk_count(&t, TOEC_C_tcp_spurious_recoveries), !late);
        assert_int_equal(talk_info(&t).undone, !late);
        talk_end(&t);
    }
}

/* A flow of requests and replies borrows no episode: neither in slow start, which uses every ACK,
 * nor with gaps in its received data. */
static void test_no_episode_without_loss(void **state)
{
    struct talk t;
    uint32_t i;

    (void)state;
    talk_init(&t);
    t.sack = 1;
    t.rtt = 20 * MSEC;
    talk_passive(&t);
    for (i = 0; i < 20; i++) {
        talk_send(&t, 2 * MSS);
        craft_pass(&t.s, 20 * MSEC);
        talk_say(&t, F_ACK, i ? 50 * i : 2000, (i + 1) * 2 * MSS, 50);
        assert_int_equal(episodes(&t), 0);
    }
    talk_end(&t);
}

/* A flow that ends with a record returns it. */
static void test_reset_gives_it_back(void **state)
{
    struct talk t;

    (void)state;
    borrow(&t);
    talk_say(&t, F_RST, 0, 0, 0);
    assert_true(t.c->gone);
    assert_int_equal(usage(&t.s).records, 0);
    talk_end(&t);
}

/* A flow itself holds one or two gaps of its received data. For more it borrows a record, until
 * they are filled. */
static void test_gaps_are_given_back(void **state)
{
    struct talk t;
    uint32_t i;

    (void)state;
    talk_init(&t);
    t.sack = 1;
    talk_passive(&t);
    for (i = 1; i <= 10; i++) {
        assert_int_equal(usage(&t.s).gaps, i > TOEC_OOO_OWN + 1);
        talk_say(&t, F_ACK, i * 200, 0, 100);
    }
    for (i = 0; i <= 20; i += 2) {
        assert_int_equal(usage(&t.s).gaps, i <= 18);
        talk_say(&t, F_ACK, i * 100, 0, 200);
    }
    assert_int_equal(usage(&t.s).gaps, 0);
    assert_int_equal(conn_read(t.c, 10000), 2200);
    talk_say(&t, F_ACK, 2300, 0, 100);
    talk_say(&t, F_ACK, 2500, 0, 100);
    talk_say(&t, F_ACK, 2700, 0, 100);
    assert_int_equal(usage(&t.s).gaps, 1);
    talk_say(&t, F_RST, 2200, 0, 0);
    assert_int_equal(usage(&t.s).gaps, 0);
    talk_end(&t);
}

/* When all records are borrowed, a flow keeps the gaps that fit; the peer retransmits the rest. */
static void test_without_room_for_gaps(void **state)
{
    struct toec_pool *pool;
    struct talk t;
    uint32_t i;

    (void)state;
    talk_init(&t);
    t.sack = 1;
    t.s.host[0].cfg.max_records = 1;
    talk_passive(&t);
    pool = &t.s.host[0].stack->tcp->gaps;
    (void)toec_pool_get(pool);
    for (i = 1; i <= 4; i++)
        talk_say(&t, F_ACK, i * 200, 0, 100);
    assert_int_equal(t.c->flow->n_ooo, TOEC_OOO_OWN);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_ooo_full), 2);
    assert_int_equal(talk_count(&t, TOEC_C_tcp_no_record), 2);
    for (i = 0; i <= 8; i++)
        talk_say(&t, F_ACK, i * 100, 0, 100);
    assert_int_equal(conn_read(t.c, 10000), 900);
    talk_end(&t);
}

/* BBR keeps a record for its own state, idle or not; a change to another algorithm returns it. */
static void test_bbr_needs_one(void **state)
{
    static const enum toec_cc versions[] = {TOEC_CC_BBR3, TOEC_CC_BBR1};
    struct toec_stack *stack;
    struct talk t;
    unsigned i;

    (void)state;
    for (i = 0; i < 2; i++) {
        talk_init(&t);
        t.s.host[0].cfg.cc = versions[i];
        talk_passive(&t);
        stack = t.s.host[0].stack;
        assert_int_equal(talk_info(&t).cc, versions[i]);
        assert_int_equal(usage(&t.s).records, 1);
        craft_pass(&t.s, 10 * SEC);
        assert_int_equal(usage(&t.s).records, 1);
        /* the other version keeps the record */
        assert_int_equal(toec_set_option(stack, t.c->flow, TOEC_OPT_CC, versions[1 - i], t.s.now),
                         0);
        assert_int_equal(talk_info(&t).cc, versions[1 - i]);
        assert_int_equal(usage(&t.s).records, 1);
        assert_int_equal(toec_set_option(stack, t.c->flow, TOEC_OPT_CC, TOEC_CC_CUBIC, t.s.now), 0);
        talk_send(&t, 100);
        talk_say(&t, F_ACK, 0, 100, 0);
        craft_pass(&t.s, 10 * SEC);
        assert_int_equal(usage(&t.s).records, 0);
        talk_end(&t);
    }
}

/* Without a free record a flow begins with NewReno, and cannot change to BBR. */
static void test_bbr_without_one(void **state)
{
    struct toec_stack *stack;
    struct toec_info info;
    struct conn *c[2];
    struct sim s;
    unsigned i;

    (void)state;
    sim_init(&s, 2);
    s.host[0].cfg.cc = TOEC_CC_BBR3;
    s.host[0].cfg.max_records = 1;
    sim_start(&s);
    sim_listen(&s, 1, 80, 0, 0);
    stack = s.host[0].stack;
    for (i = 0; i < 2; i++) {
        c[i] = sim_connect(&s, 0, 80);
        sim_run(&s, 1 * SEC);
        toec_flow_info(stack, c[i]->flow, &info);
        assert_int_equal(info.cc, i ? TOEC_CC_NEWRENO : TOEC_CC_BBR3);
        assert_int_equal(sim_count(&s, 0, TOEC_C_tcp_no_record), i);
    }
    assert_int_equal(toec_set_option(stack, c[1]->flow, TOEC_OPT_CC, TOEC_CC_BBR3, s.now),
                     TOEC_E_NOBUFS);
    toec_flow_info(stack, c[1]->flow, &info);
    assert_int_equal(info.cc, TOEC_CC_NEWRENO);
    conn_abort(c[0]);
    assert_int_equal(toec_set_option(stack, c[1]->flow, TOEC_OPT_CC, TOEC_CC_BBR3, s.now), 0);
    conn_abort(c[1]);
    sim_run(&s, 1 * SEC);
    sim_stop(&s);
}

/* Twelve flows share one record on a link with loss and reordering: all bytes arrive. */
static void test_without_records(void **state)
{
    enum { FLOWS = 12, BYTES = 400000 };
    struct conn *c[FLOWS], *b;
    struct sim s;
    unsigned i, done = 0;
    toec_time until;

    (void)state;
    random_begin(3);
    sim_init(&s, 2);
    s.impair.lose = 20;
    s.impair.reorder = 20;
    s.impair.reorder_by = 3 * MSEC;
    s.impair.delay = 5 * MSEC;
    for (i = 0; i < 2; i++) {
        s.host[i].tx_buf = s.host[i].rx_buf = 1 << 16;
        s.host[i].cfg.max_records = 1;
    }
    sim_start(&s);
    sim_listen(&s, 1, 80, 0, 0);
    for (i = 0; i < FLOWS; i++) {
        c[i] = sim_connect(&s, 0, 80);
        c[i]->goal = BYTES;
    }
    until = s.now + 600 * SEC;
    while (done < FLOWS) {
        assert_true(s.now < until);
        s.host[0].deadline = s.host[1].deadline = s.now;
        sim_step(&s, until);
        sim_step(&s, until);
        for (i = done = 0; i < FLOWS; i++) {
            assert_false(c[i]->gone);
            if (c[i]->established && c[i]->sent < BYTES)
                conn_write(c[i], (uint32_t)(BYTES - c[i]->sent), 0);
            done += c[i]->acked == BYTES;
        }
        for (b = s.host[1].conns; b; b = b->next)
            conn_read(b, 1 << 16);
    }
    assert_in_range(usage(&s).records, 0, 1);
    assert_true(toec_counters(s.host[0].stack)[TOEC_C_tcp_no_record] > 0);
    for (i = 0; i < FLOWS; i++)
        conn_abort(c[i]);
    sim_run(&s, 10 * SEC);
    assert_int_equal(usage(&s).records, 0);
    sim_stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_talk_borrows_nothing),
        cmocka_unit_test(test_idle_flow_gives_it_back),
        cmocka_unit_test(test_pacing_is_borrowed),
        cmocka_unit_test(test_episode_is_forgotten),
        cmocka_unit_test(test_late_report),
        cmocka_unit_test(test_no_episode_without_loss),
        cmocka_unit_test(test_reset_gives_it_back),
        cmocka_unit_test(test_gaps_are_given_back),
        cmocka_unit_test(test_without_room_for_gaps),
        cmocka_unit_test(test_bbr_needs_one),
        cmocka_unit_test(test_bbr_without_one),
        cmocka_unit_test(test_without_records),
    };

    return cmocka_run_group_tests_name("tcp_record", tests, 0, 0);
}
