/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_rx_hold.c - received frames that stay until they are read (rx_hold.h): a host in the
 * engine's own thread reads a stream over a wire that loses, doubles and swaps frames, by every
 * read call, with every reason for a copy. Compares each byte and counts frames.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "hosts/direct.h"
#include "hosts/rx_hold.h"

#define QUEUE  1024u
#define FRAME  2048u
#define LOANS  32u
#define RX     16384u
#define STREAM 1500000u

/* Frames of B in transit to A, and a hash of A's output. */
struct road {
    struct memwire_tap from_b, from_a;
    struct bench *t;
    uint32_t count;
    unsigned bad; /* percent of frames that something happens to */
    uint64_t sent_by_a;
    uint32_t len[QUEUE];
    uint8_t frame[QUEUE][FRAME];
};

/* The host at A. */
struct reader {
    struct qp *qp;
    uint32_t flow, said, established, ended, framed;
    uint32_t notified, pos, front; /* stream offsets: notified, read, returned */
    struct {
        const uint8_t *data;
        uint32_t off, len;
    } loan[LOANS]; /* len 0: none */
};

static struct world {
    struct bench t;
    struct host y;
    struct road road;
    struct reader r;
    uint32_t fy, sent, acked;
    unsigned seed;
} w;

static uint32_t below(uint32_t n)
{
    w.seed ^= w.seed << 13;
    w.seed ^= w.seed >> 17;
    w.seed ^= w.seed << 5;
    return w.seed % n;
}

/* ---- the wire ---- */

static void from_b(struct memwire_tap *tap, const uint8_t *frame, uint32_t len)
{
    struct road *r = (struct road *)tap;

    assert_true(r->count < QUEUE && len <= FRAME);
    memcpy(r->frame[r->count], frame, len);
    r->len[r->count++] = len;
}

static void from_a(struct memwire_tap *tap, const uint8_t *frame, uint32_t len)
{
    struct road *r = (struct road *)((uint8_t *)tap - offsetof(struct road, from_a));
    uint32_t i;

    for (i = 0; i < len; i++)
        r->sent_by_a = (r->sent_by_a ^ frame[i]) * 1099511628211u;
}

static void swap(struct road *r, uint32_t i, uint32_t k)
{
    uint8_t frame[FRAME];
    uint32_t len = r->len[i];

    memcpy(frame, r->frame[i], len);
    memcpy(r->frame[i], r->frame[k], r->len[k]);
    r->len[i] = r->len[k];
    memcpy(r->frame[k], frame, len);
    r->len[k] = len;
}

static void deliver(struct road *r)
{
    uint32_t i;

    for (i = 0; i < r->count; i++) {
        uint32_t what = below(100) < r->bad ? below(3) : 3;

        if (what == 0)
            continue; /* lost */
        if (what == 1)
            memwire_inject(r->t->wire_a, r->frame[i], r->len[i]);
        if (what == 2 && i + 1 < r->count)
            swap(r, i, i + 1 + below(r->count - i - 1));
        memwire_inject(r->t->wire_a, r->frame[i], r->len[i]);
    }
    r->count = 0;
}

/* ---- the host at A ---- */

static void notify(void *arg, const struct toe_cmd *c)
{
    struct reader *r = arg;

    switch (toe_cmd_type(c)) {
    case TOE_CMD_LISTEN_ESTABLISHED:
        r->flow = toe_cmd_flow(c);
        r->established = 1;
        break;
    case TOE_CMD_DATA_RECEIVED:
        r->notified += toe_cmd_arg0(c);
        break;
    case TOE_CMD_CLOSE_EVENT:
        r->ended |= !(toe_cmd_flags(c) & TOE_F_CLOSE_EVENT_HALF);
        break;
    case TOE_CMD_ERROR:
        fail_msg("command %u refused: %u", toe_cmd_arg1(c), toe_cmd_aux(c));
        break;
    default:
        break;
    }
}

static void told_of_first(void *arg, uint32_t slot)
{
    struct reader *r = arg;

    assert_true(r->established);
    assert_int_equal(slot, r->flow);
    assert_false(r->framed); /* else the previous credit had not been reported as used up */
    r->framed = 1;
}

static void command(uint8_t type, uint8_t flags, uint16_t aux, uint32_t flow, uint32_t arg0,
                    uint32_t arg1)
{
    struct toe_cmd c = toe_cmd_make(type, flags, aux, flow, arg0, arg1);

    direct_command(w.r.qp, &c);
}

static struct slot *slot(void)
{
    return &w.r.qp->slots[w.r.flow];
}

static uint8_t pattern(uint32_t at)
{
    return (uint8_t)(at * 2654435761u >> 24);
}

static void check(const uint8_t *data, uint32_t off, uint32_t n)
{
    uint32_t i;

    for (i = 0; i < n; i++)
        assert_int_equal(data[i], pattern(off + i));
}

/* In pieces, as they lie. */
static void check_at(uint32_t off, uint32_t n)
{
    while (n) {
        const uint8_t *data;
        uint32_t k = hold_where(slot(), off, n, &data);

        assert_in_range(k, 1, n);
        check(data, off, k);
        off += k;
        n -= k;
    }
}

/* The total returned by earlier ones. */
static void move_front(void)
{
    struct reader *r = &w.r;
    uint32_t front = r->pos, i;

    for (i = 0; i < LOANS; i++)
        if (r->loan[i].len && r->loan[i].off - r->front < front - r->front)
            front = r->loan[i].off;
    r->front = front;
    r->framed = (uint32_t)hold_release(slot(), front);
    if (!r->framed)
        assert_int_equal(memwire_out_there(w.t.wire_a), 0);
    if (r->front - r->said > RX / 4 && !r->ended) {
        command(TOE_CMD_RECV, 0, 0, r->flow, r->front - r->said, 0);
        r->said = r->front;
    }
}

static void borrow(uint32_t n)
{
    struct reader *r = &w.r;
    uint32_t i = below(LOANS);

    if (r->loan[i].len)
        return;
    r->loan[i].off = r->pos;
    r->loan[i].len = hold_where(slot(), r->pos, n, &r->loan[i].data);
    r->pos += r->loan[i].len;
}

static void give_back(uint32_t i)
{
    struct reader *r = &w.r;

    check(r->loan[i].data, r->loan[i].off, r->loan[i].len);
    r->loan[i].len = 0;
    move_front();
}

/* Does one of the actions that a host may do. */
static void read_somehow(void)
{
    struct reader *r = &w.r;
    uint32_t there = r->notified - r->pos, n = there ? 1 + below(there) : 0, i;

    switch (below(6)) {
    case 0:
    case 1:
        if (n)
            borrow(n);
        break;
    case 2: /* peek, in one or two pieces, and again later */
        if (below(3) == 0)
            hold_gather(slot(), r->pos);
        check_at(r->pos, there);
        break;
    case 3:
        check_at(r->pos, n);
        r->pos += n;
        move_front();
        break;
    default:
        i = below(LOANS);
        if (r->loan[i].len)
            give_back(i);
        break;
    }
}

/* ---- the host at B ---- */

static void send_some(uint32_t most)
{
    struct toe_cmd c;
    uint32_t room, n;

    while (host_get(&w.y, &c))
        if (toe_cmd_type(&c) == TOE_CMD_SEND_COMPLETE)
            w.acked += toe_cmd_arg0(&c);
    room = w.y.cfg.tx_size - (w.sent - w.acked);
    n = below(4) ? 1 + below(5000) : 1 + below(60);
    n = n < room ? n : room;
    n = n < most ? n : most;
    if (n)
        host_send(&w.y, w.fy, w.sent, n);
    w.sent += n;
}

/* ---- both ---- */

static void begin(uint32_t hold_min, uint32_t bound)
{
    struct toedev_qp_config cfg = bench_qp_config(4);
    unsigned seed = w.seed;
    struct toe_cmd c;
    char err[256];

    memset(&w, 0, sizeof(w));
    w.seed = seed;
    bench_init(&w.t);
    memwire_hold(w.t.wire_a, bound);
    w.r.qp = qp_new_inside(&cfg, -1, "direct", notify, &w.r, err, sizeof(err));
    assert_non_null(w.r.qp);
    assert_int_equal(engine_adopt(w.t.a, w.r.qp), 0);
    assert_int_equal(hold_begin(w.t.a, w.r.qp, hold_min, told_of_first, &w.r), 0);
    host_attach(&w.t, w.t.b, &w.y, &cfg);
    command(TOE_CMD_LISTEN, 0, PORT, 7, 0, 16);
    host_put(&w.y, TOE_CMD_CONNECT, 0, PORT, 4711, IP_A, 0);
    bench_run(&w.t, 100 * NS_PER_MS);
    assert_true(w.r.established);
    c = host_want(&w.y, TOE_CMD_CONNECT_ESTABLISHED);
    w.fy = toe_cmd_flow(&c);
    command(TOE_CMD_ACCEPT, 0, 0, w.r.flow, 0, 0);
    w.road.t = &w.t;
    w.road.from_b.seen = from_b;
    w.road.from_a.seen = from_a;
    memwire_watch(w.t.wire_b, &w.road.from_b);
    memwire_watch(w.t.wire_a, &w.road.from_a);
    memwire_lose(w.t.wire_b, 1); /* the road carries them */
}

/* The road is as any wire again, and everything ends. */
static void end(void)
{
    memwire_watch(w.t.wire_b, NULL);
    memwire_watch(w.t.wire_a, NULL);
    memwire_lose(w.t.wire_b, 0);
    qp_drop(w.r.qp);
    bench_run(&w.t, 200 * NS_PER_S);
    host_detach(&w.t, &w.y);
    assert_int_equal(w.t.a->hold.count, 0);
    assert_int_equal(memwire_out_there(w.t.wire_a), 0);
    bench_free(&w.t);
}

static void run(uint64_t ns)
{
    bench_run(&w.t, ns);
    deliver(&w.road);
    bench_run(&w.t, 0);
    assert_int_equal(memwire_out_there(w.t.wire_a), w.t.a->hold.count);
    assert_true(w.t.a->hold.count <= w.t.a->hold.max);
}

/* Bytes arrive without being read, for as long as needed. */
static void receive(uint32_t n)
{
    uint32_t target = w.sent + n;

    while (w.r.notified != target) {
        send_some(target - w.sent);
        run(2 * NS_PER_MS);
    }
}

static uint64_t counted(enum engine_counter c)
{
    return w.t.a->counters[c];
}

static void stream(unsigned bad, int joined)
{
    uint32_t i;

    w.road.bad = bad;
    if (joined)
        w.t.a->offload.active |= OFFLOAD_GRO;
    while (w.r.front != STREAM) {
        uint32_t before = w.r.notified, front = w.r.front;

        for (i = below(6); i > 0; i--)
            send_some(STREAM - w.sent);
        run(below(3) ? NS_PER_US * below(100) : below(3) * NS_PER_MS);
        for (i = below(8); i > 0; i--)
            read_somehow();
        if (w.r.notified == before && w.r.front == front) /* something was lost, or all is lent */
            run(20 * NS_PER_MS);
    }
    assert_false(w.r.framed);
    assert_int_equal(w.t.a->hold.count, 0);
}

static void bytes_are_those_sent_however_they_are_read(void **state)
{
    (void)state;
    for (int joined = 0; joined < 2; joined++) {
        begin(1, 4096);
        stream(10, joined);
        assert_true(counted(EC_rx_held) > 200);
        assert_true(counted(EC_hold_disorder) > 20);
        assert_true(counted(EC_hold_gathered) > 20);
        assert_int_equal(counted(EC_hold_full) + counted(EC_hold_small), 0);
        assert_true(!joined || counted(EC_gro_merged) > 100);
        end();
    }
}

static void few_frames_and_small_ones(void **state)
{
    (void)state;
    for (int joined = 0; joined < 2; joined++) {
        begin(700, 5);
        stream(5, joined);
        assert_true(counted(EC_rx_held) > 20);
        assert_true(counted(EC_hold_full) > 20);
        assert_true(counted(EC_hold_small) > 20);
        end();
    }
}

/* Hosts that read at the same places advertise the same windows at the same times, held or copied:
 * A's output is identical to the byte. */
static void the_peer_cannot_tell(void **state)
{
    uint64_t sent[2];
    unsigned seed = w.seed;

    (void)state;
    for (uint32_t held = 0; held < 2; held++) {
        w.seed = seed;
        begin(held, 100);
        w.road.bad = 8;
        while (w.r.front != STREAM / 3) {
            uint32_t n;

            send_some(STREAM / 3 - w.sent);
            run(NS_PER_MS * below(3));
            n = below(w.r.notified - w.r.pos + 1);
            check_at(w.r.pos, n);
            w.r.pos += n;
            move_front();
        }
        sent[held] = w.road.sent_by_a;
        assert_int_equal(counted(EC_rx_held) > 0, held);
        end();
    }
    assert_true(sent[0] == sent[1]);
}

static void reset_by_peer_leaves_what_is_lent(void **state)
{
    uint32_t i;

    (void)state;
    begin(1, 100);
    receive(10000);
    while (w.r.pos != w.r.notified)
        borrow(w.r.notified - w.r.pos);
    assert_true(w.t.a->hold.count >= 7);
    host_put(&w.y, TOE_CMD_CLOSE, TOE_F_CLOSE_ABORT, 0, w.fy, 0, 0);
    run(NS_PER_MS);
    run(NS_PER_MS);
    assert_true(w.r.ended);
    for (i = LOANS; i-- > 0;)
        if (w.r.loan[i].len && i % 2)
            give_back(i);
    for (i = 0; i < LOANS; i++)
        if (w.r.loan[i].len)
            check(w.r.loan[i].data, w.r.loan[i].off, w.r.loan[i].len);
    assert_true(w.t.a->hold.count > 0);
    command(TOE_CMD_RELEASE, 0, 0, w.r.flow, 0, 0);
    assert_int_equal(memwire_out_there(w.t.wire_a), 0);
    end();
}

static void a_close_gives_all_back(void **state)
{
    (void)state;
    for (uint8_t flags = 0; flags < 2; flags++) {
        begin(1, 100);
        receive(8000);
        assert_true(w.t.a->hold.count > 4);
        command(TOE_CMD_CLOSE, flags ? TOE_F_CLOSE_ABORT : 0, 0, w.r.flow, 0, 0);
        assert_int_equal(memwire_out_there(w.t.wire_a), 0);
        end();
    }
}

/* Data for a flow that its host has closed without reading is not held. */
static void a_host_that_goes_leaves_nothing(void **state)
{
    (void)state;
    begin(1, 100);
    receive(8000);
    end();
}

static void an_engine_that_ends_leaves_nothing(void **state)
{
    (void)state;
    begin(1, 100);
    receive(8000);
    assert_true(w.t.a->hold.count > 4);
    hold_end(w.t.a);
    assert_int_equal(memwire_out_there(w.t.wire_a), 0);
    receive(5000); /* copied, as if there were no holding */
    assert_int_equal(memwire_out_there(w.t.wire_a), 0);
    check_at(8000, 5000);
    end();
}

/* Without a back end that can hold, or without a request for it, nothing changes. */
static void nothing_is_held_where_it_cannot_be(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        begin(i, i ? 0 : 100);
        stream(5, 1);
        assert_int_equal(counted(EC_rx_held) + counted(EC_hold_small) + counted(EC_hold_full), 0);
        end();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_those_sent_however_they_are_read),
        cmocka_unit_test(few_frames_and_small_ones),
        cmocka_unit_test(the_peer_cannot_tell),
        cmocka_unit_test(reset_by_peer_leaves_what_is_lent),
        cmocka_unit_test(a_close_gives_all_back),
        cmocka_unit_test(a_host_that_goes_leaves_nothing),
        cmocka_unit_test(an_engine_that_ends_leaves_nothing),
        cmocka_unit_test(nothing_is_held_where_it_cannot_be),
    };

    w.seed = bench_seed() | 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
