/* SPDX-License-Identifier: Apache-2.0 */
/* bench.c - two engines on a wire in memory and hosts on their queue pairs (see bench.h). */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

int bench_ip6;
unsigned bench_flows;

static void let_go(void *arg, struct qp *qp)
{
    struct bench *t = arg;

    assert_true(t->unused_count < sizeof(t->unused) / sizeof(t->unused[0]));
    t->unused[t->unused_count++] = qp;
}

/* Entries of the common ring: fewer than a HW ring has, so that it is full now and then. */
#define FEW_ENTRIES 64u

static struct engine *make_engine(struct bench *t, struct netio *n, uint8_t last)
{
    struct engine_config cfg = {.count = 1,
                                .netio = n,
                                .max_qps = 8,
                                .spin_us = 50,
                                .common = polling_ring(t->manager, last - 1u),
                                .qp_unused = let_go,
                                .arg = t};
    struct netio_info info;
    struct engine *e;
    char err[256];

    netio_get_info(n, &info);
    memcpy(cfg.core.mac, info.mac, sizeof(info.mac));
    memcpy(cfg.core.ip, ((uint8_t[]){10, 0, 0, last}), 4);
    memset(cfg.core.secret, last, sizeof(cfg.core.secret));
    cfg.core.prefix_len = 24;
    cfg.core.mtu = 1500;
    cfg.core.max_flows = bench_flows ? bench_flows : 256;
    if (bench_flows) {
        cfg.core.max_listeners = cfg.core.max_neighbours = 16;
        cfg.core.max_time_wait = 8;
        cfg.core.max_datagrams = 1;
    }
    if (bench_ip6) {
        cfg.core.ip6 = TOEC_IP6_STATIC;
        cfg.core.ip6_addr[0] = 0xfd;
        cfg.core.ip6_addr[15] = last;
        cfg.core.ip6_prefix_len = 64;
        cfg.scope = 40u + last;
    }
    e = engine_new(&cfg, t->now, err, sizeof(err));
    if (!e)
        fail_msg("%s", err);
    return e;
}

void bench_init(struct bench *t)
{
    const char *manager = getenv("TOE_BENCH_MANAGER");

    memset(t, 0, sizeof(*t));
    if (manager && !strcmp(manager, "polling")) {
        t->manager = polling_new(2, FEW_ENTRIES);
        assert_non_null(t->manager);
    }
    t->now = 1000 * NS_PER_S;
    memwire_pair(&t->wire_a, &t->wire_b);
    t->a = make_engine(t, t->wire_a, 1);
    t->b = make_engine(t, t->wire_b, 2);
    bench_run(t, bench_ip6 ? 5 * NS_PER_S : 10 * NS_PER_MS); /* duplicates are looked for */
}

static void free_unused(struct bench *t)
{
    while (t->unused_count)
        qp_free(t->unused[--t->unused_count]);
}

void bench_free(struct bench *t)
{
    struct toec_usage u;

    bench_run(t, 200 * NS_PER_S); /* all retries of the other side have ended by then */
    assert_int_equal(t->a->qp_count + t->b->qp_count, 0);
    toec_usage(t->a->stack, &u);
    assert_int_equal(u.flows + u.half_open + u.listeners, 0);
    toec_usage(t->b->stack, &u);
    assert_int_equal(u.flows + u.half_open + u.listeners, 0);
    free_unused(t);
    engine_free(t->a);
    engine_free(t->b);
    polling_free(t->manager);
}

static unsigned manage(struct bench *t)
{
    return t->manager ? polling_round(t->manager, t->now) : 0;
}

unsigned bench_step_a(struct bench *t)
{
    unsigned work = engine_step(t->a, t->now);

    while (manage(t))
        ;
    return work;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void bench_run(struct bench *t, uint64_t ns)
{
    uint64_t end = t->now + ns;

    for (;;) {
        uint64_t next;

        while (engine_step(t->a, t->now) + engine_step(t->b, t->now) + manage(t) > 0)
            ;
        next = earlier(engine_deadline(t->a), engine_deadline(t->b));
        if (t->manager)
            next = earlier(next, polling_deadline(t->manager));
        if (next >= end)
            break;
        t->now = next > t->now ? next : t->now + NS_PER_US;
    }
    t->now = end;
    engine_step(t->b, t->now);
    bench_step_a(t);
}

void host_detach(struct bench *t, struct host *h)
{
    uint32_t before = t->unused_count;

    qp_drop(h->qp);
    bench_run(t, 200 * NS_PER_S);
    assert_int_equal(t->unused_count, before + 1);
    host_forget(h);
}

void bench_connect(struct bench *t, struct host *x, struct host *y, uint32_t *fx, uint32_t *fy)
{
    struct toe_cmd c;

    host_put(x, TOE_CMD_LISTEN, 0, PORT, 7, 0, 16); /* again: only the backlog is set */
    bench_run(t, NS_PER_MS);
    host_put(y, TOE_CMD_CONNECT, 0, PORT, 4711, IP_A, 0);
    bench_run(t, 100 * NS_PER_MS);
    c = host_want(x, TOE_CMD_LISTEN_ESTABLISHED);
    assert_int_equal(toe_cmd_arg0(&c), IP_B);
    assert_int_equal(toe_cmd_arg1(&c), 7);
    *fx = toe_cmd_flow(&c);
    c = host_want(y, TOE_CMD_CONNECT_ESTABLISHED);
    assert_int_equal(toe_cmd_arg0(&c), 4711);
    *fy = toe_cmd_flow(&c);
}

void hosts_begin(struct hosts *h)
{
    struct toedev_qp_config cfg = bench_qp_config(16);

    bench_init(&h->t);
    host_attach(&h->t, h->t.a, &h->x, &cfg);
    host_attach(&h->t, h->t.b, &h->y, &cfg);
}

void hosts_end(struct hosts *h)
{
    host_detach(&h->t, &h->x);
    host_detach(&h->t, &h->y);
    bench_free(&h->t);
}

int hosts_setup(void **state)
{
    static struct hosts h;

    hosts_begin(&h);
    *state = &h;
    return 0;
}

int hosts_teardown(void **state)
{
    hosts_end(*state);
    return 0;
}
