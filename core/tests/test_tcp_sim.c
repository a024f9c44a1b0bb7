/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_sim.c - two stacks over an impaired link: every byte arrives once, in order, and no
 * state is left behind. Seeded; TOE_TEST_SEED repeats a run.
 */
#include "tcpsim.h"

/* The behaviour of the applications in one transfer. */
struct transfer {
    struct conn *a;
    uint64_t up, down;  /* bytes from host 0 and from host 1 */
    unsigned read_1024; /* probability of a read at a step, per 1024 */
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
    struct conn *a = t->a, *b = 0;

    for (;;) {
        /* On such a link all solicitations for the peer may be lost. */
        if (a->gone && a->gone_reason == TOEC_R_HOSTUNREACH)
            a = sim_connect(s, 0, 80);
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
    /* A reader that reads at three of a hundred events is slow while the window is closed, as there
     * are few events then. */
    run_transfer(&s, &t, 360000 * SEC);
    sim_run(&s, 130 * SEC);
    sim_assert_clean(&s);
    print_message("%llu bytes: %llu frames, retransmits %llu, timeouts %llu, fast %llu\n",
                  (unsigned long long)up + down, (unsigned long long)s.delivered,
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

/* ---- many flows ---- */

/* Many flows open, exchange a request and an answer, and close at the same time, over a lossy
 * link. */
static void test_many_flows(void **state)
{
    enum { TOTAL = 2000, AT_ONCE = 50 };
    static struct conn *live[AT_ONCE];
    struct sim s;
    unsigned opened = 0, done = 0, i;
    toec_time until;

    (void)state;
    random_begin(11);
    memset(live, 0, sizeof(live));
    sim_init(&s, 2);
    s.impair = lossy;
    for (i = 0; i < 2; i++) {
        s.host[i].tx_buf = s.host[i].rx_buf = 4096;
        s.host[i].cfg.max_flows = 200;
        s.host[i].cfg.max_time_wait = 100;
    }
    sim_start(&s);
    sim_listen(&s, 1, 80, 0, 0);
    until = s.now + 3600 * SEC;
    while (done < TOTAL) {
        struct conn *b;

        for (i = 0; i < AT_ONCE; i++) {
            if (!live[i] && opened < TOTAL) {
                live[i] = sim_connect(&s, 0, 80);
                conn_write(live[i], 100, 1);
                opened++;
            }
            if (!live[i])
                continue;
            conn_read(live[i], 4096);
            if (live[i]->read == 300)
                conn_close(live[i]);
            if (live[i]->gone) {
                assert_int_equal(live[i]->gone_reason, TOEC_R_OK);
                assert_int_equal(live[i]->read, 300);
                live[i] = 0;
                done++;
            }
        }
        for (b = s.host[1].conns; b; b = b->next) {
            if (b->gone)
                continue;
            conn_read(b, 4096);
            if (b->read == 100 && b->sent == 0)
                conn_write(b, 300, 1);
            if (b->peer_closed)
                conn_close(b);
        }
        s.host[0].deadline = s.host[1].deadline = s.now;
        sim_step(&s, until);
        sim_step(&s, until);
        assert_true(s.now < until);
    }
    for (i = 0; i < 200; i++) {
        struct conn *b;

        for (b = s.host[1].conns; b; b = b->next) {
            if (b->peer_closed)
                conn_close(b);
        }
        sim_run(&s, 5 * SEC);
    }
    sim_assert_clean(&s);
    sim_stop(&s);
}

/* ---- random operations ---- */

static struct conn *random_conn(struct host *h)
{
    struct conn *c = h->conns;
    unsigned skip = random_below(40);

    for (; c; c = c->next) {
        if (c->flow && skip-- == 0)
            return c;
        if (!c->next && h->conns->flow)
            return h->conns;
    }
    return 0;
}

static void random_option(struct conn *c)
{
    static const struct {
        enum toec_option o;
        uint32_t max;
    } table[] = {{TOEC_OPT_NODELAY, 2},  {TOEC_OPT_KEEPALIVE, 2},
                 {TOEC_OPT_KEEPIDLE, 5}, {TOEC_OPT_KEEPINTVL, 5},
                 {TOEC_OPT_KEEPCNT, 5},  {TOEC_OPT_CC, 3},
                 {TOEC_OPT_CORK, 2},     {TOEC_OPT_QUICKACK, 2},
                 {TOEC_OPT_LINGER2, 5},  {TOEC_OPT_USER_TIMEOUT, 20000}};
    unsigned i = random_below(10);

    toec_set_option(c->host->stack, c->flow, table[i].o, random_below(table[i].max),
                    c->host->sim->now);
}

static void random_op(struct host *h)
{
    unsigned op = random_below(100);
    struct conn *c;
    int r;

    if (op < 5) {
        sim_connect_from(h->sim, h->index, random_below(4) ? 0 : (uint16_t)(1000 + random_below(3)),
                         (uint16_t)(80 + random_below(3)), &r);
        return;
    }
    c = random_conn(h);
    if (!c)
        return;
    if (op < 40)
        conn_write(c, 1 + random_below(5000), random_below(4) != 0);
    else if (op < 80)
        conn_read(c, 1 + random_below(8000));
    else if (op < 85)
        random_option(c);
    else if (op < 88)
        conn_shutdown(c);
    else if (op < 93)
        conn_close(c);
    else if (op < 94)
        conn_abort(c);
}

/* Asserts that the stack's flows in use are those that the applications hold. */
static void check_flows(struct sim *s)
{
    unsigned i;

    for (i = 0; i < 2; i++) {
        struct toec_usage u;

        toec_usage(s->host[i].stack, &u);
        assert_int_equal(u.flows, s->host[i].open_now);
        assert_true(u.half_open <= u.flows);
        assert_true(u.time_wait <= s->host[i].cfg.max_time_wait);
    }
    assert_int_equal(s->place_violations, 0);
}

static void random_run(uint64_t seed, unsigned steps)
{
    struct sim s;
    unsigned i, n;
    uint32_t id;

    random_begin(seed);
    sim_init(&s, 2);
    s.impair = awful;
    for (i = 0; i < 2; i++) {
        s.host[i].tx_buf = 4096u << random_below(4);
        s.host[i].rx_buf = 4096u << random_below(4);
        s.host[i].cfg.max_flows = 20;
        s.host[i].cfg.max_time_wait = 8;
        s.host[i].cfg.max_gso = random_below(2) ? 61440 : 0;
        s.host[i].tx_fail_1024 = random_below(100);
        s.host[i].max_open = 18;
    }
    sim_start(&s);
    for (i = 0; i < 2; i++) {
        sim_listen(&s, i, 80, 3, 0);
        sim_listen(&s, i, 81, 3, &id);
    }
    for (n = 0; n < steps; n++) {
        random_op(&s.host[random_below(2)]);
        s.host[0].deadline = s.host[1].deadline = s.now;
        sim_step(&s, s.now + (random_below(1000) ? MSEC : 20 * SEC));
        if (random_below(500) == 0)
            sim_run(&s, 1 + random64() % (3 * SEC));
        check_flows(&s);
    }
    /* Repeats, because a half-open connection may have become a flow in the meantime. */
    for (n = 0; n < 6; n++) {
        struct host *h = &s.host[n & 1];
        struct conn *c;

        for (c = h->conns; c; c = c->next)
            conn_abort(c);
        h->refuse_opens = 1;
        h->tx_fail_1024 = 0;
        sim_run(&s, 100 * SEC);
    }
    sim_assert_clean(&s);
    sim_stop(&s);
}

static void test_random_ops(void **state)
{
    unsigned i;

    (void)state;
    for (i = 0; i < 40; i++)
        random_run(1000 + i, 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bulk_clean), cmocka_unit_test(test_bulk_lossy),
        cmocka_unit_test(test_bulk_awful), cmocka_unit_test(test_slow_reader),
        cmocka_unit_test(test_many_flows), cmocka_unit_test(test_random_ops),
    };
    int failed = cmocka_run_group_tests_name("tcp_sim", tests, 0, 0);

    sim_ip6 = 1;
    return failed + cmocka_run_group_tests_name("tcp_sim over IPv6", tests, 0, 0);
}
