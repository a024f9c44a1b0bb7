/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_sim.c - two stacks over a bad link: every byte arrives once, in order, and nothing is
 * left behind. Seeded; TOE_TEST_SEED repeats a run.
 */
#include "tcpsim.h"

/* What the applications of one transfer do. */
struct transfer {
    struct conn *a;
    uint64_t up, down;  /* bytes from host 0, from host 1 */
    unsigned read_1024; /* chance to read at a step, per 1024 */
    uint32_t chunk;
};

static void drive(struct conn *c, uint64_t goal, const struct transfer *t)
{
    if (!c || c->gone)
        return;
    if (c->sent < goal) {
        uint64_t n = goal - c->sent;

        conn_write(c, (uint32_t)(n < t->chunk ? n : t->chunk), 1);
    }
    if (c->sent == goal && c->established)
        conn_shutdown(c);
    if (random_below(1024) < t->read_1024)
        conn_read(c, c->rx_size);
}

/* Runs a transfer to its end; fails when it takes longer than `limit` of virtual time. */
static void run_transfer(struct sim *s, const struct transfer *t, toec_time limit)
{
    toec_time until = s->now + limit;
    struct conn *b = 0, *a = t->a;

    for (;;) {
        if (!b)
            b = conn_peer(a);
        drive(a, t->up, t);
        drive(b, t->down, t);
        s->host[0].deadline = s->now;
        s->host[1].deadline = s->now;
        if (b && a->gone && b->gone)
            break;
        sim_step(s, until);
        sim_step(s, until);
        if (s->now >= until) {
            struct toec_info i;

            if (a->flow) {
                toec_flow_info(s->host[0].stack, a->flow, &i);
                print_message("a: state %u sent %llu acked %llu read %llu cwnd %u wnd %u flight %u "
                              "rto %u\n",
                              i.state, (unsigned long long)a->sent, (unsigned long long)a->acked,
                              (unsigned long long)a->read, i.cwnd, i.snd_wnd, i.in_flight,
                              i.rto_us);
            }
            if (b && b->flow) {
                toec_flow_info(s->host[1].stack, b->flow, &i);
                print_message("b: state %u sent %llu acked %llu read %llu cwnd %u wnd %u flight %u "
                              "rto %u\n",
                              i.state, (unsigned long long)b->sent, (unsigned long long)b->acked,
                              (unsigned long long)b->read, i.cwnd, i.snd_wnd, i.in_flight,
                              i.rto_us);
            }
            fail_msg("not finished in time");
        }
    }
    while (conn_read(a, a->rx_size))
        ;
    while (conn_read(b, b->rx_size))
        ;
    assert_int_equal(a->gone_reason, 0);
    assert_int_equal(b->gone_reason, 0);
    assert_int_equal(b->read, t->up);
    assert_int_equal(a->read, t->down);
}

static void transfer_with(uint64_t seed, const struct impair *im, uint64_t up, uint64_t down,
                          uint32_t buf, uint32_t gso, enum toec_cc cc, unsigned read_1024)
{
    struct sim s;
    struct transfer t;
    unsigned i;

    random_begin(seed);
    sim_init(&s, 2);
    s.impair = *im;
    for (i = 0; i < 2; i++) {
        s.host[i].tx_buf = buf;
        s.host[i].rx_buf = buf;
        s.host[i].cfg.max_gso = gso;
        s.host[i].cfg.cc = cc;
    }
    sim_start(&s);
    sim_listen(&s, 1, 80, 0, 0);
    t.a = sim_connect(&s, 0, 80);
    t.up = up;
    t.down = down;
    t.read_1024 = read_1024;
    t.chunk = 1 + random_below(100000);
    run_transfer(&s, &t, 3600 * SEC);
    sim_run(&s, 130 * SEC);
    sim_assert_clean(&s);
    print_message("%llu bytes: %llu frames, retransmits %llu, timeouts %llu, fast %llu\n",
                  (unsigned long long)(up + down), (unsigned long long)s.delivered,
                  (unsigned long long)sim_count(&s, 0, TOEC_C_tcp_retransmits),
                  (unsigned long long)sim_count(&s, 0, TOEC_C_tcp_timeouts),
                  (unsigned long long)sim_count(&s, 0, TOEC_C_tcp_fast_recoveries));
    sim_stop(&s);
}

static const struct impair perfect = {0, 0, 0, 0, 50 * USEC, 0, 0};
static const struct impair lossy = {51, 0, 0, 0, 1 * MSEC, 0, 0}; /* 5% */
static const struct impair awful = {51, 51, 51, 102, 1 * MSEC, 500 * USEC, 3 * MSEC};

static void test_bulk_clean(void **state)
{
    (void)state;
    transfer_with(1, &perfect, 20000000, 0, 65536, 0, TOEC_CC_CUBIC, 1024);
    transfer_with(2, &perfect, 0, 20000000, 1 << 20, 61440, TOEC_CC_CUBIC, 1024);
    transfer_with(3, &perfect, 5000000, 5000000, 65536, 61440, TOEC_CC_NEWRENO, 1024);
}

static void test_bulk_lossy(void **state)
{
    (void)state;
    transfer_with(4, &lossy, 5000000, 0, 65536, 0, TOEC_CC_CUBIC, 1024);
    transfer_with(5, &lossy, 3000000, 3000000, 1 << 20, 61440, TOEC_CC_NEWRENO, 1024);
}

static void test_bulk_awful(void **state)
{
    unsigned i;

    (void)state;
    for (i = 0; i < 20; i++)
        transfer_with(100 + i, &awful, 500000, 500000, i & 1 ? 65536 : 4096, i & 2 ? 61440 : 0,
                      i & 4 ? TOEC_CC_NEWRENO : TOEC_CC_CUBIC, 700);
}

static void test_slow_reader(void **state)
{
    (void)state;
    transfer_with(7, &perfect, 1000000, 0, 16384, 0, TOEC_CC_CUBIC, 30);
    transfer_with(8, &lossy, 1000000, 200000, 8192, 0, TOEC_CC_CUBIC, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bulk_clean),
        cmocka_unit_test(test_bulk_lossy),
        cmocka_unit_test(test_bulk_awful),
        cmocka_unit_test(test_slow_reader),
    };

    return cmocka_run_group_tests_name("tcp_sim", tests, 0, 0);
}
