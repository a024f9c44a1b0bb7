/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tx_share.c - shares of send buffers (tx_share.c): their sizes, when they grow, and that a
 * stream arrives intact if its buffer grows while some of it is in flight, and lost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "hosts/direct.h"
#include "hosts/tx_share.h"

#define QUEUE  1024u
#define FRAME  2048u
#define KIB    1024u
#define TX     (512 * KIB)
#define SLOTS  64u
#define STREAM 700000u

/* Frames of A on their way to B. */
struct road {
    struct memwire_tap from_a;
    uint32_t count, len[QUEUE];
    uint8_t frame[QUEUE][FRAME];
};

static struct world {
    struct bench t;
    struct host y;
    struct road road;
    struct qp *qp; /* of the host at A */
    uint32_t fx, fy, size, sent, acked, got;
    unsigned bad; /* percent of frames that are lost */
    int open;
    unsigned seed;
} w;

static uint32_t below(uint32_t n)
{
    w.seed ^= w.seed << 13;
    w.seed ^= w.seed >> 17;
    w.seed ^= w.seed << 5;
    return w.seed % n;
}

static uint8_t pattern(uint32_t at) /* that of host_holds() */
{
    return (uint8_t)(at * 2654435761u >> 24);
}

static void from_a(struct memwire_tap *tap, const uint8_t *frame, uint32_t len)
{
    struct road *r = (struct road *)tap;

    assert_true(r->count < QUEUE && len <= FRAME);
    memcpy(r->frame[r->count], frame, len);
    r->len[r->count++] = len;
}

/* The one-way delay. */
static void run(uint64_t ns)
{
    uint32_t i;

    bench_run(&w.t, ns);
    for (i = 0; i < w.road.count; i++)
        if (below(100) >= w.bad)
            memwire_inject(w.t.wire_b, w.road.frame[i], w.road.len[i]);
    w.road.count = 0;
    bench_run(&w.t, 0);
}

static void notify(void *arg, const struct toe_cmd *c)
{
    (void)arg;
    switch (toe_cmd_type(c)) {
    case TOE_CMD_LISTEN_ESTABLISHED:
        w.fx = toe_cmd_flow(c);
        w.open = 1;
        break;
    case TOE_CMD_SEND_COMPLETE:
        w.acked += toe_cmd_arg0(c);
        break;
    case TOE_CMD_ERROR:
        fail_msg("command %u refused: %u", toe_cmd_arg1(c), toe_cmd_aux(c));
        break;
    default:
        break;
    }
}

static void command(uint8_t type, uint16_t aux, uint32_t flow, uint32_t arg0, uint32_t arg1)
{
    struct toe_cmd c = toe_cmd_make(type, 0, aux, flow, arg0, arg1);

    direct_command(w.qp, &c);
}

static struct slot *slot(void)
{
    return &w.qp->slots[w.fx];
}

static void begin(int shared)
{
    struct toedev_qp_config cfg = bench_qp_config(SLOTS), cfg_y = bench_qp_config(4);
    unsigned seed = w.seed;
    char err[256];

    memset(&w, 0, sizeof(w));
    w.seed = seed;
    bench_init(&w.t);
    cfg.tx_size = TX;
    w.qp = qp_new_inside(&cfg, -1, "direct", notify, &w, err, sizeof(err));
    assert_non_null(w.qp);
    w.qp->tx_shared = shared;
    assert_int_equal(engine_adopt(w.t.a, w.qp), 0);
    cfg_y.rx_size = TX;
    host_attach(&w.t, w.t.b, &w.y, &cfg_y);
    w.road.from_a.seen = from_a;
    memwire_watch(w.t.wire_a, &w.road.from_a);
    memwire_lose(w.t.wire_a, 1); /* the road carries them */
}

/* Opens a connection with that minimum round-trip time. */
static void connect_over(uint64_t ns)
{
    struct toe_cmd c;
    int i;

    command(TOE_CMD_LISTEN, PORT, 7, 0, 16);
    host_put(&w.y, TOE_CMD_CONNECT, 0, PORT, 4711, IP_A, 0);
    for (i = 0; i < 20 || !w.open; i++)
        run(ns);
    c = host_want(&w.y, TOE_CMD_CONNECT_ESTABLISHED);
    w.fy = toe_cmd_flow(&c);
    command(TOE_CMD_ACCEPT, 0, w.fx, 0, 0);
    w.size = slot_tx_size(slot());
}

static void end(void)
{
    memwire_watch(w.t.wire_a, NULL);
    memwire_lose(w.t.wire_a, 0);
    qp_drop(w.qp);
    bench_run(&w.t, 200 * NS_PER_S);
    host_detach(&w.t, &w.y);
    bench_free(&w.t);
}

static void send_some(uint32_t n)
{
    uint8_t *tx = slot_tx(slot());
    uint32_t i, room = w.size - (w.sent - w.acked);

    n = n < room ? n : room;
    n = n < STREAM - w.sent ? n : STREAM - w.sent;
    for (i = 0; i < n; i++)
        tx[(w.sent + i) & (w.size - 1)] = pattern(w.sent + i);
    if (n)
        command(TOE_CMD_SEND, 0, w.fx, n, 0);
    w.sent += n;
}

static void receive(void)
{
    struct toe_cmd c;

    while (host_get(&w.y, &c)) {
        uint32_t n = toe_cmd_arg0(&c);

        if (toe_cmd_type(&c) != TOE_CMD_DATA_RECEIVED)
            continue;
        assert_true(host_holds(&w.y, w.fy, w.got, n));
        w.got += n;
        host_put(&w.y, TOE_CMD_RECV, 0, 0, w.fy, n, 0);
    }
}

/* Slots that are in use, and no flows. */
static void others(struct slot **s, uint32_t n)
{
    uint32_t i;

    for (i = 0; i < n; i++) {
        s[i] = slot_take(w.qp);
        assert_non_null(s[i]);
    }
}

static void others_gone(struct slot **s, uint32_t n)
{
    while (n)
        slot_free(s[--n]);
}

static void a_flow_begins_with_its_share(void **state)
{
    static const struct {
        uint32_t number, kib;
    } want[] = {{1, 512}, {4, 512}, {5, 256}, {8, 256}, {9, 128}, {16, 128}, {17, 64}, {64, 64}};
    struct slot *s[SLOTS];
    uint32_t i;

    (void)state;
    begin(1);
    others(s, SLOTS);
    for (i = 0; i < sizeof(want) / sizeof(want[0]); i++)
        assert_int_equal(slot_tx_size(s[want[i].number - 1]), want[i].kib * KIB);
    others_gone(s, SLOTS);
    others(s, 1); /* the share of the previous connection is dropped */
    assert_int_equal(slot_tx_size(s[0]), TX);
    others_gone(s, 1);
    end();
}

static void a_host_that_knows_nothing_has_the_whole(void **state)
{
    struct slot *s[SLOTS];
    uint32_t i;

    (void)state;
    begin(0);
    others(s, SLOTS);
    for (i = 0; i < SLOTS; i++)
        assert_int_equal(slot_tx_size(s[i]), TX);
    others_gone(s, SLOTS);
    end();
}

static void no_more_is_sent_than_there_is_room_for(void **state)
{
    struct slot *s[SLOTS];
    struct toe_cmd c;

    (void)state;
    begin(1);
    others(s, 20);
    connect_over(100 * NS_PER_US);
    assert_int_equal(w.size, 64 * KIB);
    c = toe_cmd_make(TOE_CMD_SEND, 0, 0, w.fx, 64 * KIB + 1, 0);
    w.qp->notify = NULL; /* which would fail the test */
    direct_command(w.qp, &c);
    assert_int_equal(w.t.a->counters[EC_cmd_bad_length], 1);
    w.qp->notify = notify;
    w.qp->hw.head = w.qp->answers.tail; /* the ring is full: no notification */
    others_gone(s, 20);
    end();
}

/* Over a short path only when there are fewer flows, over a long one at once. */
static void more_is_had_when_it_is_due(void **state)
{
    struct slot *s[SLOTS];

    (void)state;
    begin(1);
    others(s, 20);
    connect_over(100 * NS_PER_US);
    assert_int_equal(tx_share_grow(slot()), 64 * KIB);
    others_gone(s + 10, 10);
    assert_int_equal(tx_share_grow(slot()), 128 * KIB);
    others_gone(s, 10);
    assert_int_equal(tx_share_grow(slot()), TX);
    others(s, 20); /* it keeps its share */
    assert_int_equal(tx_share_grow(slot()), TX);
    others_gone(s, 20);
    end();

    begin(1);
    others(s, 20);
    connect_over(2 * NS_PER_MS);
    assert_int_equal(w.size, 64 * KIB);
    assert_int_equal(tx_share_grow(slot()), TX);
    others_gone(s, 20);
    end();
}

/* In steps or at once, at any position of the stream, with any data in flight. */
static void a_stream_arrives_as_sent(void **state)
{
    uint32_t round, moved = 0;

    (void)state;
    for (round = 0; round < 12; round++) {
        uint32_t grow_at = 1 + below(STREAM / 2), first = 1 + below(20);
        struct slot *s[SLOTS];

        begin(1);
        others(s, 20);
        connect_over(100 * NS_PER_US);
        w.bad = 5;
        while (w.got != STREAM) {
            uint32_t before = w.got;

            send_some(1 + below(30000));
            if (w.sent >= grow_at && w.size < TX && w.sent != w.acked) {
                others_gone(s + 20 - first, first);
                w.size = tx_share_grow(slot());
                moved += w.sent - w.acked;
                others_gone(s, 20 - first);
                w.size = tx_share_grow(slot());
                assert_int_equal(w.size, TX);
            }
            run(100 * NS_PER_US);
            receive();
            if (w.got == before)
                run(20 * NS_PER_MS);
        }
        assert_int_equal(w.size, TX);
        end();
    }
    assert_true(moved > 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flow_begins_with_its_share),
        cmocka_unit_test(a_host_that_knows_nothing_has_the_whole),
        cmocka_unit_test(no_more_is_sent_than_there_is_room_for),
        cmocka_unit_test(more_is_had_when_it_is_due),
        cmocka_unit_test(a_stream_arrives_as_sent),
    };

    w.seed = bench_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
