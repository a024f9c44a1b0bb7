/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_flows.c - flows seen through the device contract: opening, data, closing, a listener's
 * backlog, full rings, moderation, records (docs/device-contract.md). Listeners that share a port:
 * test_members.c.
 */
#include <string.h>

#include <toe/counters.h>

#include "bench.h"
#include "round/batch.h"

static void test_data_and_its_acknowledgement_are_told(void **state)
{
    struct hosts *w = *state;
    struct toe_cmd c;
    uint32_t fx, fy;
    uint64_t sent_at;

    bench_connect(&w->t, &w->x, &w->y, &fx, &fy);
    sent_at = w->t.now;
    host_send(&w->y, fy, 0, 5000);
    bench_run(&w->t, 500 * NS_PER_MS);
    c = host_want(&w->x, TOE_CMD_DATA_RECEIVED);
    assert_int_equal(toe_cmd_flow(&c), fx);
    assert_int_equal(toe_cmd_arg0(&c), 5000); /* four segments of one burst, one command */
    assert_in_range(toe_cmd_arg1(&c), sent_at >> 10, w->t.now >> 10); /* when it was written */
    assert_true(host_holds(&w->x, fx, 0, 5000));
    c = host_want(&w->y, TOE_CMD_SEND_COMPLETE);
    assert_int_equal(toe_cmd_flow(&c), fy);
    assert_true(toe_cmd_arg0(&c) <= 5000);
}

/* Frames of A beside data, which are its ACKs. */
struct ack_tap {
    struct memwire_tap tap;
    unsigned acks;
};

static void see_ack(struct memwire_tap *tap, const uint8_t *frame, uint32_t len)
{
    struct ack_tap *t = (struct ack_tap *)tap;
    uint32_t ip_len = (uint32_t)frame[16] << 8 | frame[17], tcp = (uint32_t)frame[46] >> 4;

    (void)len;
    t->acks += frame[23] == 6 && ip_len == 20 + tcp * 4;
}

/* RFC 9293 MUST-59: the segments of one batch draw one ACK, joined by GRO or not, and the host gets
 * one command for them. */
static void test_a_batch_draws_one_acknowledgement(void **state)
{
    struct ack_tap tap = {.tap = {.seen = see_ack}};
    struct hosts *w = *state;
    struct toe_cmd c;
    uint32_t fx, fy, at = 0, i;

    bench_connect(&w->t, &w->x, &w->y, &fx, &fy);
    for (i = 0; i < 8; i++) { /* the window opens, quick ACKs are over */
        host_send(&w->y, fy, at, 10000);
        bench_run(&w->t, 500 * NS_PER_MS);
        at += 10000;
        while (host_get(&w->x, &c))
            host_put(&w->x, TOE_CMD_RECV, 0, 0, fx, toe_cmd_arg0(&c), 0);
        bench_run(&w->t, 500 * NS_PER_MS);
    }
    while (host_get(&w->y, &c))
        ;
    memwire_watch(w->t.wire_a, &tap.tap);
    for (i = 0; i < 2; i++) {
        offload_set(w->t.a, i ? OFFLOAD_GRO : 0);
        host_send(&w->y, fy, at, 10 * 1448);
        engine_step(w->t.b, w->t.now);
        bench_step_a(&w->t);
        assert_int_equal(tap.acks, i + 1);
        c = host_want(&w->x, TOE_CMD_DATA_RECEIVED);
        assert_int_equal(toe_cmd_arg0(&c), 10 * 1448);
        host_want_nothing(&w->x);
        host_put(&w->x, TOE_CMD_RECV, 0, 0, fx, 10 * 1448, 0);
        at += 10 * 1448;
        bench_step_a(&w->t);
        bench_run(&w->t, NS_PER_S);
        tap.acks = i + 1; /* reading may have moved the window */
    }
    memwire_watch(w->t.wire_a, NULL);
}

static void test_buffers_wrap_and_stop_when_full(void **state)
{
    struct hosts *w = *state;
    uint32_t fx, fy, sent = 0, acked = 0, got = 0, rounds;
    struct toe_cmd c;

    bench_connect(&w->t, &w->x, &w->y, &fx, &fy);
    for (rounds = 0; got < 300000; rounds++) {
        uint32_t room = w->y.cfg.tx_size - (sent - acked), n = 1 + rounds * 997 % 16384;

        assert_true(rounds < 2000);
        if (n > room)
            n = room;
        if (n) {
            host_send(&w->y, fy, sent, n);
            sent += n;
        }
        bench_run(&w->t, 300 * NS_PER_MS);
        while (host_get(&w->y, &c)) {
            assert_int_equal(toe_cmd_type(&c), TOE_CMD_SEND_COMPLETE);
            acked += toe_cmd_arg0(&c);
        }
        while (host_get(&w->x, &c)) {
            assert_int_equal(toe_cmd_type(&c), TOE_CMD_DATA_RECEIVED);
            assert_true(host_holds(&w->x, fx, got, toe_cmd_arg0(&c)));
            got += toe_cmd_arg0(&c);
            host_put(&w->x, TOE_CMD_RECV, 0, 0, fx, toe_cmd_arg0(&c), 0);
        }
    }
    bench_run(&w->t, NS_PER_S);
    host_want_nothing(&w->x);
}

static void test_a_close_of_both_ends_gives_the_slots_back(void **state)
{
    struct hosts *w = *state;
    struct toe_cmd c;
    uint32_t fx, fy;

    bench_connect(&w->t, &w->x, &w->y, &fx, &fy);
    host_put(&w->y, TOE_CMD_CLOSE, TOE_F_CLOSE_HALF, 0, fy, 0, 0);
    bench_run(&w->t, NS_PER_S);
    c = host_want(&w->x, TOE_CMD_CLOSE_EVENT);
    assert_int_equal(toe_cmd_flags(&c), TOE_F_CLOSE_EVENT_HALF);
    assert_int_equal(toe_cmd_flow(&c), fx);
    host_put(&w->x, TOE_CMD_CLOSE, 0, 0, fx, 0, 0);
    bench_run(&w->t, NS_PER_S);
    c = host_want(&w->x, TOE_CMD_CLOSE_EVENT);
    assert_int_equal(toe_cmd_flags(&c), 0);
    assert_int_equal(toe_cmd_aux(&c), TOE_R_OK);
    host_put(&w->x, TOE_CMD_RELEASE, 0, 0, fx, 0, 0);
    bench_run(&w->t, NS_PER_MS);
    assert_int_equal(w->x.qp->free_count, 16);
    host_want_nothing(&w->x);
    /* y has the peer's end, then its own */
    c = host_want(&w->y, TOE_CMD_CLOSE_EVENT);
    while (toe_cmd_flags(&c) & TOE_F_CLOSE_EVENT_HALF)
        c = host_want(&w->y, TOE_CMD_CLOSE_EVENT);
    assert_int_equal(toe_cmd_aux(&c), TOE_R_OK);
    host_put(&w->y, TOE_CMD_RELEASE, 0, 0, fy, 0, 0);
    bench_run(&w->t, NS_PER_MS);
    assert_int_equal(w->y.qp->free_count, 16);
}

static void test_an_abort_resets_the_peer(void **state)
{
    struct hosts *w = *state;
    struct toe_cmd c;
    uint32_t fx, fy;

    bench_connect(&w->t, &w->x, &w->y, &fx, &fy);
    host_put(&w->y, TOE_CMD_CLOSE, TOE_F_CLOSE_ABORT, 0, fy, 0, 0);
    bench_run(&w->t, NS_PER_S);
    c = host_want(&w->y, TOE_CMD_CLOSE_EVENT);
    assert_int_equal(toe_cmd_aux(&c), TOE_R_ABORTED);
    c = host_want(&w->x, TOE_CMD_CLOSE_EVENT);
    assert_int_equal(toe_cmd_flags(&c), 0);
    assert_int_equal(toe_cmd_aux(&c), TOE_R_RESET);
}

static void test_commands_that_cross_the_end_are_ignored(void **state)
{
    struct hosts *w = *state;
    uint32_t fx, fy;

    bench_connect(&w->t, &w->x, &w->y, &fx, &fy);
    host_put(&w->y, TOE_CMD_CLOSE, TOE_F_CLOSE_ABORT, 0, fy, 0, 0);
    bench_run(&w->t, NS_PER_S);
    host_want(&w->x, TOE_CMD_CLOSE_EVENT);
    host_send(&w->x, fx, 0, 10);
    host_put(&w->x, TOE_CMD_ACCEPT, 0, 0, fx, 0, 0);
    host_put(&w->x, TOE_CMD_OPTION, 0, TOE_OPT_NODELAY, fx, 1, 0);
    host_put(&w->x, TOE_CMD_CLOSE, 0, 0, fx, 0, 0);
    bench_run(&w->t, NS_PER_MS);
    host_want_nothing(&w->x);
    assert_int_equal(w->t.a->counters[EC_cmd_crossed], 4);
    host_put(&w->x, TOE_CMD_RELEASE, 0, 0, fx, 0, 0);
    bench_run(&w->t, NS_PER_MS);
    host_want_nothing(&w->x);
    host_put(&w->x, TOE_CMD_CLOSE, 0, 0, fx, 0, 0);
    bench_run(&w->t, NS_PER_MS);
    host_want_error(&w->x, TOE_R_BADF, fx, TOE_CMD_CLOSE);
}

static void test_a_connect_to_nobody_fails_with_its_cookie(void **state)
{
    struct hosts *w = *state;
    struct toe_cmd c;

    host_put(&w->y, TOE_CMD_CONNECT, 0, 9, 77, IP_A, 0); /* no listener */
    bench_run(&w->t, NS_PER_S);
    c = host_want(&w->y, TOE_CMD_CONNECT_FAILED);
    assert_int_equal(toe_cmd_aux(&c), TOE_R_REFUSED);
    assert_int_equal(toe_cmd_arg0(&c), 77);
    host_put(&w->y, TOE_CMD_CONNECT, 0, 9, 78, 0x0b000001, 0); /* off link, no gateway */
    bench_run(&w->t, NS_PER_S);
    c = host_want(&w->y, TOE_CMD_CONNECT_FAILED);
    assert_int_equal(toe_cmd_aux(&c), TOE_R_NETUNREACH);
    assert_int_equal(toe_cmd_arg0(&c), 78);
    assert_int_equal(w->y.qp->free_count, 16);
}

static void test_without_a_slot_connect_fails_and_syns_are_dropped(void **state)
{
    struct hosts *w = *state;
    struct toe_cmd c;
    uint32_t i, failed = 0, n = 0;

    host_put(&w->x, TOE_CMD_LISTEN, 0, PORT, 1, 0, 100);
    bench_run(&w->t, NS_PER_MS);
    for (i = 0; i < 17; i++)
        host_put(&w->y, TOE_CMD_CONNECT, 0, PORT, i, IP_A, 0);
    bench_run(&w->t, 20 * NS_PER_MS);
    while (host_get(&w->y, &c)) {
        if (toe_cmd_type(&c) == TOE_CMD_CONNECT_FAILED) {
            assert_int_equal(toe_cmd_aux(&c), TOE_R_NOBUFS);
            assert_int_equal(toe_cmd_arg0(&c), 16);
            failed++;
        } else
            n++;
    }
    assert_int_equal(failed, 1);
    assert_int_equal(w->y.qp->free_count, 0);
    /* x is full as well now; one more, from a second host at B */
    bench_run(&w->t, 10 * NS_PER_S);
    while (host_get(&w->y, &c))
        n += toe_cmd_type(&c) == TOE_CMD_CONNECT_ESTABLISHED;
    assert_int_equal(n, 16);
    assert_int_equal(w->x.qp->free_count, 0);
    assert_int_equal(w->t.a->counters[EC_no_slot], 0);
    {
        struct toedev_qp_config cfg = bench_qp_config(4);
        struct host z;

        host_attach(&w->t, w->t.b, &z, &cfg);
        host_put(&z, TOE_CMD_CONNECT, 0, PORT, 1, IP_A, 0);
        bench_run(&w->t, 500 * NS_PER_MS);
        host_want_nothing(&z); /* dropped, not refused: it tries again */
        assert_true(w->t.a->counters[EC_no_slot] > 0);
        host_detach(&w->t, &z);
    }
}

static void test_the_backlog_is_freed_by_accept(void **state)
{
    struct hosts *w = *state;
    struct toe_cmd c;
    uint32_t flow;

    host_put(&w->x, TOE_CMD_LISTEN, 0, PORT, 1, 0, 0); /* as Linux: one waits */
    bench_run(&w->t, NS_PER_MS);
    host_put(&w->y, TOE_CMD_CONNECT, 0, PORT, 1, IP_A, 0);
    bench_run(&w->t, 100 * NS_PER_MS);
    c = host_want(&w->x, TOE_CMD_LISTEN_ESTABLISHED);
    flow = toe_cmd_flow(&c);
    host_put(&w->y, TOE_CMD_CONNECT, 0, PORT, 2, IP_A, 0);
    bench_run(&w->t, 100 * NS_PER_MS);
    host_want_nothing(&w->x);
    assert_true(w->t.a->counters[EC_backlog_full] > 0);
    host_put(&w->x, TOE_CMD_ACCEPT, 0, 0, flow, 0, 0);
    bench_run(&w->t, 10 * NS_PER_S); /* the SYN is retransmitted */
    host_want(&w->x, TOE_CMD_LISTEN_ESTABLISHED);
    host_put(&w->x, TOE_CMD_ACCEPT, 0, 0, flow, 0, 0);
    bench_run(&w->t, NS_PER_MS);
    host_want_error(&w->x, TOE_R_NOTCONN, flow, TOE_CMD_ACCEPT);
}

static void test_unlisten_resets_what_nobody_accepted(void **state)
{
    struct hosts *w = *state;
    uint32_t f1, f2, y1, y2;
    struct toe_cmd c;

    bench_connect(&w->t, &w->x, &w->y, &f1, &y1);
    host_put(&w->x, TOE_CMD_ACCEPT, 0, 0, f1, 0, 0);
    bench_connect(&w->t, &w->x, &w->y, &f2, &y2);
    host_put(&w->x, TOE_CMD_UNLISTEN, 0, 0, 7, 0, 0);
    bench_run(&w->t, NS_PER_S);
    c = host_want(&w->x, TOE_CMD_CLOSE_EVENT);
    assert_int_equal(toe_cmd_flow(&c), f2);
    assert_int_equal(toe_cmd_aux(&c), TOE_R_ABORTED);
    c = host_want(&w->y, TOE_CMD_CLOSE_EVENT);
    assert_int_equal(toe_cmd_flow(&c), y2);
    host_send(&w->x, f1, 0, 100); /* the accepted one lives */
    bench_run(&w->t, NS_PER_S);
    c = host_want(&w->y, TOE_CMD_DATA_RECEIVED);
    assert_int_equal(toe_cmd_flow(&c), y1);
    host_put(&w->y, TOE_CMD_CONNECT, 0, PORT, 5, IP_A, 0);
    bench_run(&w->t, NS_PER_S);
    c = host_want(&w->y, TOE_CMD_CONNECT_FAILED);
    assert_int_equal(toe_cmd_aux(&c), TOE_R_REFUSED);
}

static void test_a_full_hw_ring_loses_nothing(void **state)
{
    struct hosts *w = *state;
    struct toedev_qp_config cfg = bench_qp_config(64);
    uint32_t slots[64], got[64] = {0}, n = 0, i;
    struct host z, many;
    struct toe_cmd c;

    cfg.hw_entries = 64;
    host_attach(&w->t, w->t.a, &z, &cfg);
    cfg.hw_entries = 1024;
    host_attach(&w->t, w->t.b, &many, &cfg);
    host_put(&z, TOE_CMD_LISTEN, 0, PORT, 1, 0, 1000);
    bench_run(&w->t, NS_PER_MS);
    for (i = 0; i < 64; i++)
        host_put(&many, TOE_CMD_CONNECT, 0, PORT, i, IP_A, 0);
    bench_run(&w->t, NS_PER_S);
    while (host_get(&many, &c))
        if (toe_cmd_type(&c) == TOE_CMD_CONNECT_ESTABLISHED)
            slots[n++] = toe_cmd_flow(&c);
    assert_int_equal(n, 64);
    /* z reads nothing: 64 established fill its ring, then data of all, in pieces, and the ends */
    for (i = 0; i < 64; i++)
        host_send(&many, slots[i], 0, 100);
    bench_run(&w->t, NS_PER_S);
    for (i = 0; i < 64; i++)
        host_send(&many, slots[i], 100, 100);
    bench_run(&w->t, NS_PER_S);
    for (i = 0; i < 64; i++)
        host_put(&many, TOE_CMD_CLOSE, TOE_F_CLOSE_HALF, 0, slots[i], 0, 0);
    bench_run(&w->t, NS_PER_S);
    assert_true(w->t.a->counters[EC_hw_ring_full] > 0);
    n = 0;
    for (i = 0; i < 400; i++) {
        bench_run(&w->t, NS_PER_MS);
        if (!host_get(&z, &c))
            continue;
        if (toe_cmd_type(&c) == TOE_CMD_DATA_RECEIVED)
            got[toe_cmd_flow(&c)] += toe_cmd_arg0(&c);
        n += toe_cmd_type(&c) == TOE_CMD_CLOSE_EVENT;
    }
    for (i = 0; i < 64; i++)
        assert_int_equal(got[i], 200);
    assert_int_equal(n, 64);
    assert_false(z.qp->full); /* or its engine would look after the tail for ever */
    host_detach(&w->t, &z);
    host_detach(&w->t, &many);
}

static void arm(struct host *h)
{
    toe_ring_store(&h->doorbells->irq_arm, 1);
    toe_ring_store(&h->doorbells->irq_seq, h->doorbells->irq_seq + 1);
}

static void test_an_interrupt_comes_once_for_each_arming(void **state)
{
    struct hosts *w = *state;
    uint32_t fx, fy;

    bench_connect(&w->t, &w->x, &w->y, &fx, &fy);
    assert_int_equal(host_interrupts(&w->x), 0); /* not armed */
    arm(&w->x);
    host_send(&w->y, fy, 0, 10);
    bench_run(&w->t, NS_PER_MS);
    assert_int_equal(host_interrupts(&w->x), 1);
    host_send(&w->y, fy, 10, 10);
    bench_run(&w->t, NS_PER_S);
    assert_int_equal(host_interrupts(&w->x), 0);
    arm(&w->x);
    toe_ring_store(&w->x.doorbells->irq_arm, 0); /* disarmed again */
    host_send(&w->y, fy, 20, 10);
    bench_run(&w->t, NS_PER_S);
    assert_int_equal(host_interrupts(&w->x), 0);
}

static void test_moderation_waits_for_count_or_time(void **state)
{
    struct hosts *w = *state;
    uint32_t fx, fy, i;
    struct toe_cmd c;

    bench_connect(&w->t, &w->x, &w->y, &fx, &fy);
    toe_ring_store(&w->x.doorbells->irq_count, 4);
    toe_ring_store(&w->x.doorbells->irq_usec, 5000);
    arm(&w->x);
    host_send(&w->y, fy, 0, 10);
    bench_run(&w->t, 4 * NS_PER_MS);
    assert_int_equal(host_interrupts(&w->x), 0);
    bench_run(&w->t, 2 * NS_PER_MS);
    assert_int_equal(host_interrupts(&w->x), 1); /* by time */
    while (host_get(&w->x, &c))
        ;
    host_put(&w->y, TOE_CMD_OPTION, 0, TOE_OPT_NODELAY, fy, 1, 0);
    arm(&w->x);
    for (i = 0; i < 4; i++) {
        assert_int_equal(host_interrupts(&w->x), 0);
        host_send(&w->y, fy, 10 + i * 10, 10);
        bench_run(&w->t, 100 * NS_PER_US);
    }
    assert_int_equal(host_interrupts(&w->x), 1); /* by count */
}

/* A record may be old when SEND_COMPLETE is announced, unless the host wants it current; the next
 * connection on the slot does not inherit that. */
static void test_the_record_is_current_on_demand(void **state)
{
    struct hosts *w = *state;
    struct toe_cmd c;
    uint32_t fx, fy, round;
    uint64_t at;

    for (round = 0; round < 2; round++) {
        bench_connect(&w->t, &w->x, &w->y, &fx, &fy);
        bench_run(&w->t, 500 * NS_PER_MS);
        at = host_record(&w->y, fy)->bytes_acked;
        if (round == 0)
            host_put(&w->y, TOE_CMD_OPTION, 0, TOE_OPT_NOTSENT_LOWAT, fy, 1, 0);
        host_send(&w->y, fy, 0, 700);
        bench_run(&w->t, 5 * NS_PER_MS);
        host_want(&w->y, TOE_CMD_SEND_COMPLETE);
        assert_int_equal(host_record(&w->y, fy)->bytes_acked - at, round == 0 ? 700 : 0);
        host_put(&w->y, TOE_CMD_CLOSE, TOE_F_CLOSE_ABORT, 0, fy, 0, 0);
        bench_run(&w->t, NS_PER_S);
        while (host_get(&w->x, &c) || host_get(&w->y, &c))
            ;
        host_put(&w->y, TOE_CMD_RELEASE, 0, 0, fy, 0, 0);
        host_put(&w->x, TOE_CMD_RELEASE, 0, 0, fx, 0, 0);
        bench_run(&w->t, NS_PER_MS);
    }
}

static void test_the_record_tells_both_ends_and_the_state(void **state)
{
    struct hosts *w = *state;
    const struct toedev_flow_record *r;
    uint32_t fx, fy, generation;
    struct toe_cmd c;

    bench_connect(&w->t, &w->x, &w->y, &fx, &fy);
    r = host_record(&w->x, fx);
    assert_int_equal(r->state, TOEC_ESTABLISHED);
    assert_int_equal(r->local_port, PORT);
    assert_memory_equal(r->local + 12, ((uint8_t[]){10, 0, 0, 1}), 4);
    assert_memory_equal(r->remote + 12, ((uint8_t[]){10, 0, 0, 2}), 4);
    assert_int_equal(r->remote_port, host_record(&w->y, fy)->local_port);
    assert_int_equal(r->seq & 1, 0);
    host_send(&w->y, fy, 0, 1000);
    bench_run(&w->t, NS_PER_S);
    assert_int_equal(r->bytes_received, 1000);
    assert_int_equal(host_record(&w->y, fy)->bytes_acked, 1000);
    generation = r->generation;
    host_put(&w->y, TOE_CMD_CLOSE, TOE_F_CLOSE_ABORT, 0, fy, 0, 0);
    bench_run(&w->t, NS_PER_S);
    assert_int_equal(r->state, TOEC_CLOSED);
    assert_int_equal(r->local_port, PORT); /* stays readable until the slot is used again */
    while (host_get(&w->x, &c))
        ;
    host_put(&w->x, TOE_CMD_RELEASE, 0, 0, fx, 0, 0);
    while (host_get(&w->y, &c))
        ;
    bench_connect(&w->t, &w->x, &w->y, &fx, &fy);
    assert_int_equal(host_record(&w->x, fx)->generation, generation + 1);
}

/* Also where no notification goes with it: a FIN that is not acknowledged, its timeouts, and its
 * ACK. The connection was quiet before. */
static void test_the_record_follows_a_quiet_end(void **state)
{
    struct hosts *w = *state;
    const struct toedev_flow_record *r;
    uint32_t fx, fy;

    bench_connect(&w->t, &w->x, &w->y, &fx, &fy);
    r = host_record(&w->y, fy);
    bench_run(&w->t, NS_PER_S);
    memwire_lose(w->t.wire_b, 1);
    host_put(&w->y, TOE_CMD_CLOSE, TOE_F_CLOSE_HALF, 0, fy, 0, 0);
    bench_run(&w->t, 50 * NS_PER_MS);
    assert_int_equal(r->state, TOEC_FIN_WAIT_1);
    assert_int_equal(r->timeouts, 0);
    bench_run(&w->t, 900 * NS_PER_MS);
    assert_true(r->timeouts > 0);
    memwire_lose(w->t.wire_b, 0);
    bench_run(&w->t, 3 * NS_PER_S);
    assert_int_equal(r->state, TOEC_FIN_WAIT_2);
}

static void test_nothing_is_lost_while_the_wire_has_no_room(void **state)
{
    struct hosts *w = *state;
    struct toe_cmd c;
    uint32_t fx, fy, got = 0;

    bench_connect(&w->t, &w->x, &w->y, &fx, &fy);
    memwire_refuse(w->t.wire_b, 50);
    host_send(&w->y, fy, 0, 16000);
    bench_run(&w->t, 2 * NS_PER_S);
    while (host_get(&w->x, &c))
        got += toe_cmd_arg0(&c);
    assert_int_equal(got, 16000);
    assert_true(host_holds(&w->x, fx, 0, 16000));
    assert_true(w->t.b->counters[EC_tx_no_room] >= 50);
}

/* With GSO core/ hands over large segments: parts without room during segmentation wait, and are
 * sent before anything else. The other end joins them again. */
static void test_a_full_back_end_holds_the_rest_of_a_large_segment(void **state)
{
    struct hosts *w = *state;
    uint32_t fx, fy, got = 0, sent = 0;
    struct toe_cmd c;

    offload_set(w->t.a, OFFLOAD_ALL);
    offload_set(w->t.b, OFFLOAD_ALL);
    assert_int_equal(w->t.b->offload.active, OFFLOAD_GSO | OFFLOAD_GRO);
    bench_connect(&w->t, &w->x, &w->y, &fx, &fy);
    memwire_refuse_each(w->t.wire_b, 4);
    while (sent < 160000) {
        host_send(&w->y, fy, sent, 16000);
        sent += 16000;
        bench_run(&w->t, NS_PER_S / 2);
        while (host_get(&w->y, &c))
            assert_int_equal(toe_cmd_type(&c), TOE_CMD_SEND_COMPLETE);
        while (host_get(&w->x, &c)) {
            assert_int_equal(toe_cmd_type(&c), TOE_CMD_DATA_RECEIVED);
            assert_true(host_holds(&w->x, fx, got, toe_cmd_arg0(&c)));
            got += toe_cmd_arg0(&c);
            host_put(&w->x, TOE_CMD_RECV, 0, 0, fx, toe_cmd_arg0(&c), 0);
        }
    }
    assert_int_equal(got, sent);
    assert_true(w->t.b->counters[EC_gso_held] > 0);
    assert_true(w->t.b->counters[EC_gso_cut] > w->t.b->counters[EC_gso_held]);
    assert_true(w->t.a->counters[EC_gro_merged] > 0);
    assert_int_equal(toec_counters(w->t.b->stack)[TOEC_C_tcp_retransmits], 0);
    memwire_refuse_each(w->t.wire_b, 0);
}

/* Sends 10 full segments, of which A receives two at a time, and returns A's ACKs. */
static unsigned acks_of_a_stream(struct hosts *w, uint32_t fx, uint32_t fy, uint32_t *at)
{
    struct ack_tap tap = {.tap = {.seen = see_ack}};
    struct toe_cmd c;

    memwire_watch(w->t.wire_a, &tap.tap);
    host_send(&w->y, fy, *at, 10 * 1448);
    bench_run(&w->t, 500 * NS_PER_MS);
    memwire_watch(w->t.wire_a, NULL);
    while (host_get(&w->x, &c))
        host_put(&w->x, TOE_CMD_RECV, 0, 0, fx, toe_cmd_arg0(&c), 0);
    while (host_get(&w->y, &c))
        assert_int_equal(toe_cmd_type(&c), TOE_CMD_SEND_COMPLETE);
    *at += 10 * 1448;
    return tap.acks;
}

/* Where a flush is a system call, the engine takes a burst of a stream before it acknowledges. */
static void test_a_stream_is_acknowledged_by_bursts(void **state)
{
    struct hosts *w = *state;
    uint32_t fx, fy, at = 0, i;
    unsigned apart, together;

    bench_connect(&w->t, &w->x, &w->y, &fx, &fy);
    for (i = 0; i < 8; i++)
        (void)acks_of_a_stream(w, fx, fy, &at);
    memwire_trickle(w->t.wire_a, 2);
    apart = acks_of_a_stream(w, fx, fy, &at);
    assert_true(apart >= 4);
    w->t.a->flush_calls = 1;
    w->t.a->stream = 0; /* a host that sends receives no stream */
    assert_true(acks_of_a_stream(w, fx, fy, &at) >= 4);
    while (!batch_streams(w->t.a))
        (void)acks_of_a_stream(w, fx, fy, &at);
    together = acks_of_a_stream(w, fx, fy, &at);
    assert_true(together <= 2);
    host_send(&w->x, fx, 0, 1);
    bench_run(&w->t, 500 * NS_PER_MS);
    assert_false(batch_streams(w->t.a));
}

static void test_polls_are_apart_only_while_batches_are_large(void **state)
{
    struct engine e = {.flush_calls = 1};
    unsigned i;

    (void)state;
    for (i = 0; i < 20; i++) {
        batch_note(&e, 1, 60);
        assert_int_equal(batch_rest(&e), 0);
    }
    for (i = 0; i < 20; i++)
        batch_note(&e, 8, 8 * 60);
    assert_int_equal(batch_rest(&e), BATCH_REST);
    e.flush_calls = 0;
    assert_int_equal(batch_rest(&e), 0);
    e.flush_calls = 1;
    for (i = 0; i < 20; i++)
        batch_note(&e, 1, 60);
    assert_int_equal(batch_rest(&e), 0);
    assert_int_equal(e.stream, 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, hosts_setup, hosts_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_a_full_back_end_holds_the_rest_of_a_large_segment),
        T(test_data_and_its_acknowledgement_are_told),
        T(test_a_batch_draws_one_acknowledgement),
        T(test_buffers_wrap_and_stop_when_full),
        T(test_a_close_of_both_ends_gives_the_slots_back),
        T(test_an_abort_resets_the_peer),
        T(test_commands_that_cross_the_end_are_ignored),
        T(test_a_connect_to_nobody_fails_with_its_cookie),
        T(test_without_a_slot_connect_fails_and_syns_are_dropped),
        T(test_the_backlog_is_freed_by_accept),
        T(test_unlisten_resets_what_nobody_accepted),
        T(test_a_full_hw_ring_loses_nothing),
        T(test_an_interrupt_comes_once_for_each_arming),
        T(test_moderation_waits_for_count_or_time),
        T(test_the_record_tells_both_ends_and_the_state),
        T(test_the_record_follows_a_quiet_end),
        T(test_the_record_is_current_on_demand),
        T(test_nothing_is_lost_while_the_wire_has_no_room),
        T(test_a_stream_is_acknowledged_by_bursts),
        cmocka_unit_test(test_polls_are_apart_only_while_batches_are_large),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
