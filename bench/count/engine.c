/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.c - two engines on a wire in memory, hosts on their queue pairs, in virtual time
 * (count.h): core/ with the command loop around it. Both ends of the rings are counted.
 */
#include <string.h>

#include "bench.h"
#include "frames/sums.h"
#include "hosts/trace.h"

#include "count.h"

#define SMALL 64u
#define BULK  16384u

struct world {
    struct bench t;
    struct host x, y; /* x at A, y at B */
    uint32_t fx, fy;
};

/* Runs rounds of each engine until both are idle. */
static void settle(struct world *w)
{
    w->t.now += NS_PER_US;
    while (engine_step(w->t.b, w->t.now) + engine_step(w->t.a, w->t.now) > 0)
        ;
}

static int traced = 1;

/* Without rings of events (toehold trace), to count what these cost. */
static void untrace(struct engine *e)
{
    traces_free(e->traces);
    e->traces = NULL;
}

static void set_up(struct world *w, uint32_t offload)
{
    struct toedev_qp_config cfg = bench_qp_config(16);

    memset(w, 0, sizeof(*w));
    cfg.tx_size = cfg.rx_size = 4 * BULK;
    sums_use(sums_all); /* plain C on every CPU */
    bench_init(&w->t);
    offload_set(w->t.a, offload);
    offload_set(w->t.b, offload);
    if (!traced) {
        untrace(w->t.a);
        untrace(w->t.b);
    }
    host_attach(&w->t, w->t.a, &w->x, &cfg);
    host_attach(&w->t, w->t.b, &w->y, &cfg);
}

/* Handles the commands for host h: reads n bytes of the flow, counts acknowledged bytes. */
static void take(struct host *h, uint32_t flow, uint32_t *at, uint32_t n)
{
    struct toe_cmd c;
    uint32_t got = 0;

    while (host_get(h, &c)) {
        assert_int_equal(toe_cmd_flow(&c), flow);
        if (toe_cmd_type(&c) == TOE_CMD_DATA_RECEIVED)
            got += toe_cmd_arg0(&c);
        else
            assert_int_equal(toe_cmd_type(&c), TOE_CMD_SEND_COMPLETE);
    }
    assert_int_equal(got, n);
    if (n) {
        assert_true(host_holds(h, flow, *at, n));
        *at += n;
        host_put(h, TOE_CMD_RECV, 0, 0, flow, n, 0);
    }
}

static void requests(struct world *w, uint32_t *at, unsigned n)
{
    for (; n; n--) {
        uint32_t from = *at, same = *at;

        host_send(&w->y, w->fy, from, SMALL);
        w->t.now += 10 * NS_PER_US;
        engine_step(w->t.b, w->t.now);
        engine_step(w->t.a, w->t.now);
        take(&w->x, w->fx, at, SMALL);
        host_send(&w->x, w->fx, from, SMALL);
        engine_step(w->t.a, w->t.now);
        engine_step(w->t.b, w->t.now);
        take(&w->y, w->fy, &same, SMALL);
    }
}

static void request(unsigned events)
{
    static struct world w;
    uint32_t at = 0;

    set_up(&w, 0);
    bench_connect(&w.t, &w.x, &w.y, &w.fx, &w.fy);
    requests(&w, &at, 64);
    count_begin();
    requests(&w, &at, events);
}

/* Writes BULK bytes from y to x several times, each time until they are acknowledged. */
static void stream(struct world *w, uint32_t *at, unsigned writes)
{
    for (; writes; writes--) {
        uint32_t none = 0;

        host_send(&w->y, w->fy, *at, BULK);
        settle(w);
        take(&w->x, w->fx, at, BULK);
        settle(w);
        take(&w->y, w->fy, &none, 0);
    }
}

static void bulk(unsigned events, uint32_t offload)
{
    static struct world w;
    uint32_t at = 0;

    set_up(&w, offload);
    bench_connect(&w.t, &w.x, &w.y, &w.fx, &w.fy);
    stream(&w, &at, 64);
    count_begin();
    stream(&w, &at, events);
}

static void bulk_plain(unsigned events)
{
    bulk(events, 0);
}

static void bulk_joined(unsigned events)
{
    bulk(events, OFFLOAD_GSO | OFFLOAD_GRO);
}

static struct toe_cmd wait_for(struct host *h, uint8_t type)
{
    struct toe_cmd c = host_want(h, type);

    host_want_nothing(h);
    return c;
}

/* Opens a connection from y, which also closes first. */
static void one_connection(struct world *w)
{
    struct toe_cmd c;
    uint32_t fx, fy;

    host_put(&w->y, TOE_CMD_CONNECT, 0, PORT, 4711, IP_A, 0);
    settle(w);
    c = wait_for(&w->x, TOE_CMD_LISTEN_ESTABLISHED);
    fx = toe_cmd_flow(&c);
    c = wait_for(&w->y, TOE_CMD_CONNECT_ESTABLISHED);
    fy = toe_cmd_flow(&c);
    host_put(&w->y, TOE_CMD_CLOSE, 0, 0, fy, 0, 0);
    settle(w);
    c = wait_for(&w->x, TOE_CMD_CLOSE_EVENT);
    assert_int_equal(toe_cmd_flags(&c), TOE_F_CLOSE_EVENT_HALF);
    host_put(&w->x, TOE_CMD_CLOSE, 0, 0, fx, 0, 0);
    settle(w);
    c = wait_for(&w->x, TOE_CMD_CLOSE_EVENT);
    assert_int_equal(toe_cmd_aux(&c), TOE_R_OK);
    c = wait_for(&w->y, TOE_CMD_CLOSE_EVENT);
    assert_int_equal(toe_cmd_aux(&c), TOE_R_OK);
    host_put(&w->x, TOE_CMD_RELEASE, 0, 0, fx, 0, 0);
    host_put(&w->y, TOE_CMD_RELEASE, 0, 0, fy, 0, 0);
    settle(w);
}

static void connection(unsigned events)
{
    static struct world w;
    unsigned i;

    bench_flows = 64; /* few TIME-WAITs, so that they are full when counting begins */
    set_up(&w, 0);
    host_put(&w.x, TOE_CMD_LISTEN, 0, PORT, 7, 0, 16);
    settle(&w);
    for (i = 0; i < events + 64; i++) {
        if (i == 64)
            count_begin();
        one_connection(&w);
    }
}

static void request_untraced(unsigned events)
{
    traced = 0;
    request(events);
}

static void connection_untraced(unsigned events)
{
    traced = 0;
    connection(events);
}

int main(int argc, char **argv)
{
    static const struct count_case cases[] = {
        {"request", request},
        {"bulk", bulk_plain},
        {"bulk_joined", bulk_joined},
        {"connection", connection},
        {"request_untraced", request_untraced},
        {"connection_untraced", connection_untraced},
    };

    return count_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
