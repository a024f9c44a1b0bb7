/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_fuzz.c - a host that writes anything anywhere in its area, next to a well-behaved one. The
 * engine must not crash (sanitizers), the well-behaved host must get exactly its own data, and all
 * resources must be freed at the end. TOEHOLD_SEED repeats a run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define ROUNDS 6000

static unsigned next;

static uint32_t rnd(uint32_t below)
{
    next = next * 1103515245u + 12345u;
    return (next >> 8) % below;
}

static uint32_t any(void)
{
    return rnd(1u << 24) << 8 | rnd(256);
}

/* A command that is likely to mean something: small numbers, the right types. */
static void put_likely(struct host *h)
{
    static const uint32_t numbers[] = {0, 1, 2, 3, 7, 80, 1000, 16384, 16385, IP_A, IP_B, ~0u};
    uint32_t n[3], i;

    for (i = 0; i < 3; i++)
        n[i] = rnd(4) ? numbers[rnd(sizeof(numbers) / sizeof(numbers[0]))] : rnd(16);
    host_put(h, (uint8_t)(1 + rnd(10)), (uint8_t)(rnd(3) ? 0 : rnd(8)),
             (uint16_t)(rnd(2) ? PORT : rnd(12)), n[0], n[1], n[2]);
}

static void put_garbage(struct host *h)
{
    host_put(h, (uint8_t)any(), (uint8_t)any(), (uint16_t)any(), any(), any(), any());
}

static int room(struct host *h)
{
    uint32_t n = toe_ring_room(&h->sw);

    return n != TOE_RING_BAD && n > 0;
}

/* Does one hostile act. Returns 1 when the host should attach again. */
static int act(struct host *h)
{
    struct toe_cmd c;
    uint32_t i;

    switch (rnd(100)) {
    case 0:
        toe_ring_store(&h->doorbells->sw_head, any());
        return rnd(2);
    case 1:
        toe_ring_store(&h->doorbells->hw_tail, any());
        return rnd(2);
    case 2: /* over its whole area but the buffers, status and records included */
        for (i = 0; i < 64; i++)
            h->area[rnd((uint32_t)h->layout.buffers)] = (uint8_t)any();
        return rnd(2);
    case 3:
        memset(h->area, (int)rnd(256), TOEDEV_PAGE);
        return 1;
    case 4:
        return 1;
    case 5:
        toe_ring_store(&h->doorbells->irq_arm, any());
        toe_ring_store(&h->doorbells->irq_seq, any());
        toe_ring_store(&h->doorbells->irq_count, rnd(100));
        toe_ring_store(&h->doorbells->irq_usec, any());
        return 0;
    default:
        if (room(h)) {
            if (rnd(4))
                put_likely(h);
            else
                put_garbage(h);
        }
        for (i = rnd(4); i; i--)
            host_get(h, &c);
        return 0;
    }
}

struct good {
    struct host x, y;
    uint32_t fx, fy, sent, acked, got;
};

/* The good pair sends a stream all the while. */
static void behave(struct good *g, uint32_t most)
{
    struct toe_cmd c;
    uint32_t n = g->y.cfg.tx_size - (g->sent - g->acked);

    if (n > most)
        n = most;
    if (n) {
        host_send(&g->y, g->fy, g->sent, n);
        g->sent += n;
    }
    while (host_get(&g->y, &c)) {
        assert_int_equal(toe_cmd_type(&c), TOE_CMD_SEND_COMPLETE);
        g->acked += toe_cmd_arg0(&c);
    }
    while (host_get(&g->x, &c)) {
        assert_int_equal(toe_cmd_type(&c), TOE_CMD_DATA_RECEIVED);
        assert_int_equal(toe_cmd_flow(&c), g->fx);
        assert_true(host_holds(&g->x, g->fx, g->got, toe_cmd_arg0(&c)));
        g->got += toe_cmd_arg0(&c);
        host_put(&g->x, TOE_CMD_RECV, 0, 0, g->fx, toe_cmd_arg0(&c), 0);
    }
}

static void fresh(struct bench *t, struct engine *e, struct host *h)
{
    struct toedev_qp_config cfg = bench_qp_config(16);

    cfg.hw_entries = 64;
    host_attach(t, e, h, &cfg);
}

static void renew(struct bench *t, struct engine *e, struct host *h)
{
    qp_drop(h->qp);
    host_forget(h);
    /* it may take the orphans' time; wait only when the engine's places run out */
    while (e->qp_count == e->cfg.max_qps)
        bench_run(t, 10 * NS_PER_S);
    while (t->unused_count)
        qp_free(t->unused[--t->unused_count]);
    fresh(t, e, h);
}

static void test_a_hostile_host_harms_only_itself(void **state)
{
    static struct bench t;
    static struct good g;
    struct host bad_a, bad_b;
    struct toedev_qp_config cfg = bench_qp_config(16);
    unsigned i;

    (void)state;
    next = bench_seed();
    bench_init(&t);
    host_attach(&t, t.a, &g.x, &cfg);
    host_attach(&t, t.b, &g.y, &cfg);
    host_put(&g.x, TOE_CMD_LISTEN, 0, 443, 7, 0, 16);
    bench_run(&t, NS_PER_MS);
    host_put(&g.y, TOE_CMD_CONNECT, 0, 443, 1, IP_A, 0);
    bench_run(&t, 100 * NS_PER_MS);
    {
        struct toe_cmd c = host_want(&g.x, TOE_CMD_LISTEN_ESTABLISHED);

        g.fx = toe_cmd_flow(&c);
        c = host_want(&g.y, TOE_CMD_CONNECT_ESTABLISHED);
        g.fy = toe_cmd_flow(&c);
    }
    fresh(&t, t.a, &bad_a);
    fresh(&t, t.b, &bad_b);
    for (i = 0; i < ROUNDS; i++) {
        if (act(&bad_a))
            renew(&t, t.a, &bad_a);
        if (act(&bad_b))
            renew(&t, t.b, &bad_b);
        if (i % 8 == 0)
            behave(&g, 2000);
        bench_run(&t, rnd(50) ? 20 * NS_PER_US : 50 * NS_PER_MS);
    }
    bench_run(&t, 10 * NS_PER_S);
    for (i = 0; i < 20; i++) {
        behave(&g, 0);
        bench_run(&t, NS_PER_S);
    }
    assert_int_equal(g.got, g.sent);
    assert_int_equal(g.acked, g.sent);
    assert_true(t.a->counters[EC_qp_halted] > 0);
    print_message("%u bytes of the good pair; halted %llu, errors %llu bad flow, %llu bad value\n",
                  g.got, (unsigned long long)t.a->counters[EC_qp_halted],
                  (unsigned long long)t.a->counters[EC_cmd_bad_flow],
                  (unsigned long long)t.a->counters[EC_cmd_bad_value]);
    qp_drop(bad_a.qp);
    qp_drop(bad_b.qp);
    host_forget(&bad_a);
    host_forget(&bad_b);
    qp_drop(g.x.qp);
    qp_drop(g.y.qp);
    host_forget(&g.x);
    host_forget(&g.y);
    bench_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_hostile_host_harms_only_itself)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
