/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_opening.c - a CONNECT before its answer: aborted (CANCEL), with options, with data on the
 * SYN (Fast Open); and urgent data (docs/device-contract.md).
 */
#include <string.h>

#include <toe/counters.h>

#include "bench.h"

static void want_failed(struct host *h, uint32_t cookie, uint16_t reason)
{
    struct toe_cmd c = host_want(h, TOE_CMD_CONNECT_FAILED);

    assert_int_equal(toe_cmd_arg0(&c), cookie);
    assert_int_equal(toe_cmd_aux(&c), reason);
}

#define NOBODY 0x0a0000feu /* on the link, and no such host */

static void test_a_cancelled_connect_fails_and_gives_its_slot_back(void **state)
{
    struct hosts *w = *state;
    uint32_t i;

    for (i = 0; i < 16; i++)
        host_put(&w->y, TOE_CMD_CONNECT, 0, PORT, 100 + i, NOBODY, 0);
    bench_run(&w->t, NS_PER_MS);
    host_want_nothing(&w->y);
    assert_int_equal(w->y.qp->free_count, 0);
    host_put(&w->y, TOE_CMD_CANCEL, 0, 0, 105, 0, 0);
    bench_run(&w->t, NS_PER_US);
    want_failed(&w->y, 105, TOE_R_ABORTED);
    assert_int_equal(w->y.qp->free_count, 1);
    /* again, and for a flow that never existed: no answer */
    host_put(&w->y, TOE_CMD_CANCEL, 0, 0, 105, 0, 0);
    host_put(&w->y, TOE_CMD_CANCEL, 0, 0, 99, 0, 0);
    bench_run(&w->t, NS_PER_US);
    host_want_nothing(&w->y);
    assert_int_equal(w->t.b->counters[EC_cmd_crossed], 2);
    for (i = 0; i < 16; i++)
        if (i != 5) {
            host_put(&w->y, TOE_CMD_CANCEL, 0, 0, 100 + i, 0, 0);
            bench_run(&w->t, NS_PER_US);
            want_failed(&w->y, 100 + i, TOE_R_ABORTED);
        }
    assert_int_equal(w->y.qp->free_count, 16);
    assert_int_equal(engine_flows(w->t.b), 0);
}

/* PORT, for getsockname() before the answer; the failure names the same port. */
static void test_the_port_of_an_unanswered_connect(void **state)
{
    struct hosts *w = *state;
    const struct toedev_flow_record *r;
    struct toe_cmd c;
    uint16_t port;

    host_put(&w->y, TOE_CMD_CONNECT, 0, PORT, 7, NOBODY, 0);
    host_put(&w->y, TOE_CMD_PORT, 0, 0, 7, 0, 0);
    host_put(&w->y, TOE_CMD_PORT, 0, 0, 8, 0, 0); /* no such CONNECT: ignored */
    bench_run(&w->t, NS_PER_US);
    c = host_want(&w->y, TOE_CMD_CONNECT_PORT);
    port = toe_cmd_aux(&c);
    assert_int_equal(toe_cmd_arg0(&c), 7);
    assert_int_not_equal(port, 0);
    r = (const void *)(w->y.area + w->y.qp->layout.records +
                       (uint64_t)toe_cmd_flow(&c) * TOEDEV_RECORD);
    assert_int_equal(r->local_port, port);
    host_want_nothing(&w->y);
    host_put(&w->y, TOE_CMD_CANCEL, 0, 0, 7, 0, 0);
    host_put(&w->y, TOE_CMD_PORT, 0, 0, 7, 0, 0); /* crosses the answer */
    bench_run(&w->t, NS_PER_US);
    c = host_want(&w->y, TOE_CMD_CONNECT_FAILED);
    assert_int_equal(toe_cmd_arg1(&c), port);
    host_want_nothing(&w->y);
}

/* Established in the round that takes the PORT: its answer still precedes the tail of the ring. */
static void test_the_port_of_a_connect_answered_in_the_same_round(void **state)
{
    struct hosts *w = *state;
    uint32_t fx, fy;
    struct toe_cmd c;
    uint16_t port;

    bench_connect(&w->t, &w->x, &w->y, &fx, &fy); /* the neighbours are known */
    host_put(&w->y, TOE_CMD_CONNECT, 0, PORT, 7, IP_A, 0);
    engine_step(w->t.b, w->t.now);
    bench_step_a(&w->t); /* SYN, SYN-ACK */
    host_put(&w->y, TOE_CMD_PORT, 0, 0, 7, 0, 0);
    bench_run(&w->t, NS_PER_US);
    c = host_want(&w->y, TOE_CMD_CONNECT_PORT);
    port = toe_cmd_aux(&c);
    assert_int_not_equal(port, 0);
    c = host_want(&w->y, TOE_CMD_CONNECT_ESTABLISHED);
    assert_int_equal(toe_cmd_aux(&c), port);
}

static void test_of_equal_cookies_each_has_one_answer(void **state)
{
    struct hosts *w = *state;
    uint32_t i;

    for (i = 0; i < 8; i++)
        host_put(&w->y, TOE_CMD_CONNECT, 0, PORT, 1, NOBODY, 0);
    for (i = 0; i < 12; i++)
        host_put(&w->y, TOE_CMD_CANCEL, 0, 0, 1, 0, 0);
    bench_run(&w->t, NS_PER_MS);
    for (i = 0; i < 8; i++)
        want_failed(&w->y, 1, TOE_R_ABORTED);
    host_want_nothing(&w->y);
    assert_int_equal(w->y.qp->free_count, 16);
}

/* The answer is in the ring: the CANCEL crossed it and is ignored; the flow lives. */
static void test_a_cancel_that_crosses_the_answer_is_ignored(void **state)
{
    struct hosts *w = *state;
    struct toe_cmd c;
    uint32_t flow;

    host_put(&w->x, TOE_CMD_LISTEN, 0, PORT, 1, 0, 5);
    bench_run(&w->t, NS_PER_MS);
    host_put(&w->y, TOE_CMD_CONNECT, 0, PORT, 7, IP_A, 0);
    bench_run(&w->t, NS_PER_S);
    host_put(&w->y, TOE_CMD_CANCEL, 0, 0, 7, 0, 0);
    bench_run(&w->t, NS_PER_S);
    c = host_want(&w->y, TOE_CMD_CONNECT_ESTABLISHED);
    flow = toe_cmd_flow(&c);
    host_want_nothing(&w->y);
    host_put(&w->y, TOE_CMD_CLOSE, TOE_F_CLOSE_ABORT, 0, flow, 0, 0);
    bench_run(&w->t, NS_PER_S);
    c = host_want(&w->y, TOE_CMD_CLOSE_EVENT);
    assert_int_equal(toe_cmd_aux(&c), TOE_R_ABORTED);
}

/* Established, even ended, but not notified, because the HW ring is full: the host still gets
 * CONNECT_FAILED, and nothing else about the flow. */
static void test_a_cancel_before_the_answer_is_told_wins(void **state)
{
    struct hosts *w = *state;
    struct toedev_qp_config cfg = bench_qp_config(128);
    struct host z;
    struct toe_cmd c;
    uint32_t i, failed = 0;

    cfg.hw_entries = 64;
    host_attach(&w->t, w->t.b, &z, &cfg);
    host_put(&w->x, TOE_CMD_LISTEN, 0, PORT, 1, 0, 50);
    bench_run(&w->t, NS_PER_MS);
    for (i = 0; i < 62; i++) /* fills the ring except two entries */
        host_put(&z, TOE_CMD_SEND, 0, 0, 127, 1, 0);
    bench_run(&w->t, NS_PER_MS);
    for (i = 0; i < 6; i++)
        host_put(&z, TOE_CMD_CONNECT, 0, PORT, 10 + i, IP_A, 0);
    bench_run(&w->t, 2 * NS_PER_S); /* two are notified, four wait */
    for (i = 0; i < 62; i++)
        host_want(&z, TOE_CMD_ERROR);
    for (i = 0; i < 6; i++) /* the engine reads these before it notifies more */
        host_put(&z, TOE_CMD_CANCEL, 0, 0, 10 + i, 0, 0);
    bench_run(&w->t, 2 * NS_PER_S);
    for (i = 0; i < 2; i++)
        host_want(&z, TOE_CMD_CONNECT_ESTABLISHED);
    while (host_get(&z, &c)) {
        assert_int_equal(toe_cmd_type(&c), TOE_CMD_CONNECT_FAILED);
        assert_int_equal(toe_cmd_aux(&c), TOE_R_ABORTED);
        failed++;
    }
    assert_int_equal(failed, 4);
    assert_int_equal(z.qp->free_count, 126);
    host_detach(&w->t, &z);
}

/* RFC 9293 MUST-21, MUST-22: options reach the SYN. */
static void test_options_of_a_connect_end_it_sooner(void **state)
{
    struct hosts *w = *state;

    host_put(&w->y, TOE_CMD_CONNECT, 0, PORT, 1, IP_A, 0);
    bench_run(&w->t, NS_PER_MS); /* refused: the neighbour is known */
    bench_run(&w->t, NS_PER_S);
    want_failed(&w->y, 1, TOE_R_REFUSED);
    memwire_lose(w->t.wire_b, 1);
    host_put(&w->y, TOE_CMD_CONNECT, 0, PORT, 2, IP_A, 0);
    host_put(&w->y, TOE_CMD_OPTION, TOE_F_OPTION_CONNECT, TOE_OPT_USER_TIMEOUT, 2, 5000, 0);
    host_put(&w->y, TOE_CMD_CONNECT, 0, PORT, 3, IP_A, 0);
    host_put(&w->y, TOE_CMD_OPTION, TOE_F_OPTION_CONNECT, TOE_OPT_SYNCNT, 3, 3, 0);
    bench_run(&w->t, 4900 * NS_PER_MS);
    host_want_nothing(&w->y);
    bench_run(&w->t, 200 * NS_PER_MS);
    want_failed(&w->y, 2, TOE_R_TIMEDOUT);
    bench_run(&w->t, 9800 * NS_PER_MS); /* 1 + 2 + 4 + 8 s */
    host_want_nothing(&w->y);
    bench_run(&w->t, 300 * NS_PER_MS);
    want_failed(&w->y, 3, TOE_R_TIMEDOUT);
    /* one that has been answered: ignored */
    host_put(&w->y, TOE_CMD_OPTION, TOE_F_OPTION_CONNECT, TOE_OPT_SYNCNT, 3, 3, 0);
    bench_run(&w->t, NS_PER_MS);
    host_want_nothing(&w->y);
    memwire_lose(w->t.wire_b, 0);
}

/* ---- Fast Open ---- */

static void listen_fast(struct hosts *w, uint32_t max)
{
    host_put(&w->x, TOE_CMD_LISTEN, 0, PORT, 1, 0, 5);
    host_put(&w->x, TOE_CMD_OPTION, TOE_F_OPTION_LISTEN, TOE_OPT_FASTOPEN, 1, max, 0);
    bench_run(&w->t, NS_PER_MS);
    host_want_nothing(&w->x);
}

/* A first connection, which fetches the cookie. */
static void fetch_cookie(struct hosts *w)
{
    struct toe_cmd c;
    uint32_t fx, fy;

    host_put(&w->y, TOE_CMD_CONNECT, TOE_F_CONNECT_FAST, PORT, 1, IP_A, 0);
    bench_run(&w->t, NS_PER_S);
    c = host_want(&w->y, TOE_CMD_CONNECT_ESTABLISHED);
    fy = toe_cmd_flow(&c);
    c = host_want(&w->x, TOE_CMD_LISTEN_ESTABLISHED);
    fx = toe_cmd_flow(&c);
    host_put(&w->y, TOE_CMD_CLOSE, TOE_F_CLOSE_ABORT, 0, fy, 0, 0);
    bench_run(&w->t, NS_PER_S);
    host_want(&w->y, TOE_CMD_CLOSE_EVENT);
    host_want(&w->x, TOE_CMD_CLOSE_EVENT);
    host_put(&w->y, TOE_CMD_RELEASE, 0, 0, fy, 0, 0);
    host_put(&w->x, TOE_CMD_RELEASE, 0, 0, fx, 0, 0);
    bench_run(&w->t, NS_PER_MS);
}

static void test_fast_open_sends_data_with_the_syn(void **state)
{
    struct hosts *w = *state;
    struct toe_cmd c;
    uint32_t fx, fy;

    listen_fast(w, 5);
    fetch_cookie(w);
    host_put(&w->y, TOE_CMD_CONNECT, TOE_F_CONNECT_FAST, PORT, 2, IP_A, 0);
    bench_run(&w->t, NS_PER_S);
    c = host_want(&w->y, TOE_CMD_CONNECT_READY);
    assert_int_equal(toe_cmd_flags(&c), 0);
    assert_int_equal(toe_cmd_arg0(&c), 2);
    assert_int_equal(toe_cmd_arg1(&c), 1460 - 40);
    fy = toe_cmd_flow(&c);
    host_want_nothing(&w->y);
    host_want_nothing(&w->x); /* the SYN waits */
    host_put(&w->y, TOE_CMD_OPTION, 0, TOE_OPT_NODELAY, fy, 1, 0);
    host_send(&w->y, fy, 0, 700);
    bench_run(&w->t, NS_PER_S);
    c = host_want(&w->x, TOE_CMD_LISTEN_ESTABLISHED);
    fx = toe_cmd_flow(&c);
    c = host_want(&w->x, TOE_CMD_DATA_RECEIVED);
    assert_int_equal(toe_cmd_arg0(&c), 700);
    assert_true(host_holds(&w->x, fx, 0, 700));
    c = host_want(&w->y, TOE_CMD_CONNECT_ESTABLISHED);
    assert_int_equal(toe_cmd_flow(&c), fy);
    assert_int_equal(toe_cmd_arg0(&c), 2);
    c = host_want(&w->y, TOE_CMD_SEND_COMPLETE);
    assert_int_equal(toe_cmd_arg0(&c), 700);
    assert_int_equal(toec_counters(w->t.b->stack)[TOEC_C_tcp_fastopen_acked], 1);
    /* CANCEL applies only before the answer */
    host_put(&w->y, TOE_CMD_CANCEL, 0, 0, 2, 0, 0);
    bench_run(&w->t, NS_PER_MS);
    host_want_nothing(&w->y);
}

/* A SEND of nothing sends the SYN with the cookie alone, and is an error from then on. */
static void test_fast_open_without_data(void **state)
{
    struct hosts *w = *state;
    struct toe_cmd c;
    uint32_t fy;

    listen_fast(w, 5);
    fetch_cookie(w);
    host_put(&w->y, TOE_CMD_CONNECT, TOE_F_CONNECT_FAST, PORT, 2, IP_A, 0);
    bench_run(&w->t, NS_PER_S);
    c = host_want(&w->y, TOE_CMD_CONNECT_READY);
    fy = toe_cmd_flow(&c);
    host_put(&w->y, TOE_CMD_SEND, 0, 0, fy, 0, 0);
    bench_run(&w->t, NS_PER_S);
    host_want(&w->x, TOE_CMD_LISTEN_ESTABLISHED);
    host_want(&w->y, TOE_CMD_CONNECT_ESTABLISHED);
    assert_int_equal(toec_counters(w->t.a->stack)[TOEC_C_tcp_fastopen_taken], 1);
    assert_int_equal(toec_counters(w->t.b->stack)[TOEC_C_tcp_fastopen_acked], 0);
    host_put(&w->y, TOE_CMD_SEND, 0, 0, fy, 0, 0);
    bench_run(&w->t, NS_PER_MS);
    host_want_error(&w->y, TOE_R_INVAL, fy, TOE_CMD_SEND);
}

/* READY is the answer: from then on the end of the flow is notified as for any flow. */
static void test_what_becomes_of_a_ready_flow(void **state)
{
    struct hosts *w = *state;
    struct toe_cmd c;
    uint32_t fy, how;

    listen_fast(w, 5);
    fetch_cookie(w);
    for (how = 0; how < 3; how++) {
        host_put(&w->y, TOE_CMD_CONNECT, TOE_F_CONNECT_FAST, PORT, 3, IP_A, 0);
        bench_run(&w->t, NS_PER_MS);
        c = host_want(&w->y, TOE_CMD_CONNECT_READY);
        fy = toe_cmd_flow(&c);
        if (how == 2) { /* no endpoint there any more */
            host_put(&w->x, TOE_CMD_UNLISTEN, 0, 0, 1, 0, 0);
            bench_run(&w->t, NS_PER_MS);
            host_send(&w->y, fy, 0, 100);
        } else {
            host_put(&w->y, TOE_CMD_CLOSE, how ? TOE_F_CLOSE_ABORT : 0, 0, fy, 0, 0);
        }
        bench_run(&w->t, NS_PER_S);
        c = host_want(&w->y, TOE_CMD_CLOSE_EVENT);
        assert_int_equal(toe_cmd_aux(&c), how == 2 ? TOE_R_REFUSED : TOE_R_ABORTED);
        host_put(&w->y, TOE_CMD_RELEASE, 0, 0, fy, 0, 0);
        bench_run(&w->t, NS_PER_MS);
        assert_int_equal(w->y.qp->free_count, 16);
    }
    host_want_nothing(&w->y);
}

/* Several listeners of one port each set the keys. */
static void test_keys_of_several_members(void **state)
{
    struct hosts *w = *state;
    struct toedev_qp_config cfg = bench_qp_config(16);
    struct host z;
    unsigned i;

    host_attach(&w->t, w->t.a, &z, &cfg);
    listen_fast(w, 5);
    host_put(&z, TOE_CMD_LISTEN, 0, PORT, 9, 0, 5);
    for (i = 0; i < 4; i++) {
        host_put(&w->x, TOE_CMD_OPTION, TOE_F_OPTION_LISTEN, TOE_OPT_FASTOPEN_KEY, 1, i, i);
        host_put(&z, TOE_CMD_OPTION, TOE_F_OPTION_LISTEN, TOE_OPT_FASTOPEN_KEY, 9, i, i);
        bench_run(&w->t, NS_PER_MS);
    }
    host_put(&w->x, TOE_CMD_OPTION, TOE_F_OPTION_LISTEN, TOE_OPT_FASTOPEN_KEYS, 1, 2, 0);
    host_put(&z, TOE_CMD_OPTION, TOE_F_OPTION_LISTEN, TOE_OPT_FASTOPEN_KEYS, 9, 2, 0);
    bench_run(&w->t, NS_PER_MS);
    host_want_nothing(&w->x);
    host_want_nothing(&z);
    host_detach(&w->t, &z);
}

/* FASTOPEN with arg1: no client needs a cookie. */
static void test_a_listener_without_cookies(void **state)
{
    struct hosts *w = *state;
    struct toe_cmd c;

    host_put(&w->x, TOE_CMD_LISTEN, 0, PORT, 1, 0, 5);
    host_put(&w->x, TOE_CMD_OPTION, TOE_F_OPTION_LISTEN, TOE_OPT_FASTOPEN, 1, UINT32_MAX, 1);
    bench_run(&w->t, NS_PER_MS);
    host_want_nothing(&w->x);
    host_put(&w->y, TOE_CMD_CONNECT, TOE_F_CONNECT_FAST | TOE_F_CONNECT_NOCOOKIE, PORT, 2, IP_A, 0);
    bench_run(&w->t, NS_PER_MS);
    c = host_want(&w->y, TOE_CMD_CONNECT_READY);
    host_send(&w->y, toe_cmd_flow(&c), 0, 700);
    bench_run(&w->t, NS_PER_S);
    host_want(&w->x, TOE_CMD_LISTEN_ESTABLISHED);
    host_want(&w->x, TOE_CMD_DATA_RECEIVED);
    assert_int_equal(toec_counters(w->t.a->stack)[TOEC_C_tcp_fastopen_taken], 1);
    assert_int_equal(toec_counters(w->t.b->stack)[TOEC_C_tcp_fastopen_acked], 1);
}

static void test_keys_of_a_listener(void **state)
{
    struct hosts *w = *state;
    unsigned i;

    listen_fast(w, 5);
    fetch_cookie(w);
    for (i = 0; i < 4; i++)
        host_put(&w->x, TOE_CMD_OPTION, TOE_F_OPTION_LISTEN, TOE_OPT_FASTOPEN_KEY, 1, i, i);
    host_put(&w->x, TOE_CMD_OPTION, TOE_F_OPTION_LISTEN, TOE_OPT_FASTOPEN_KEYS, 1, 2, 0);
    bench_run(&w->t, NS_PER_MS);
    host_want_nothing(&w->x);
    host_put(&w->y, TOE_CMD_CONNECT, TOE_F_CONNECT_FAST, PORT, 2, IP_A, 0);
    bench_run(&w->t, NS_PER_MS);
    host_want(&w->y, TOE_CMD_CONNECT_READY);
    host_send(&w->y, 0, 0, 700);
    bench_run(&w->t, NS_PER_S);
    /* the old cookie is good no more, and the connection opens by the handshake */
    assert_int_equal(toec_counters(w->t.a->stack)[TOEC_C_tcp_fastopen_bad_cookie], 1);
    host_want(&w->y, TOE_CMD_CONNECT_ESTABLISHED);
    host_want(&w->x, TOE_CMD_LISTEN_ESTABLISHED);
    host_want(&w->x, TOE_CMD_DATA_RECEIVED);
}

/* ---- urgent data ---- */

static void test_urgent_data_is_told_before_it_comes(void **state)
{
    struct hosts *w = *state;
    struct toe_cmd c;
    uint32_t fx, fy;

    bench_connect(&w->t, &w->x, &w->y, &fx, &fy);
    host_put(&w->y, TOE_CMD_SEND, TOE_F_SEND_PUSH | TOE_F_SEND_URGENT, 0, fy, 10, 0);
    bench_run(&w->t, NS_PER_MS);
    c = host_want(&w->x, TOE_CMD_URGENT);
    assert_int_equal(toe_cmd_flow(&c), fx);
    assert_int_equal(toe_cmd_arg0(&c), 10);
    c = host_want(&w->x, TOE_CMD_DATA_RECEIVED);
    assert_int_equal(toe_cmd_arg0(&c), 10);
    host_want_nothing(&w->x);
}

/* Closed before the ring had room: only the end is notified. */
static void test_urgent_data_of_a_closed_flow(void **state)
{
    struct hosts *w = *state;
    struct toedev_qp_config cfg = bench_qp_config(128);
    struct host z;
    uint32_t fx, fz, i;

    cfg.hw_entries = 64;
    host_attach(&w->t, w->t.b, &z, &cfg);
    bench_connect(&w->t, &w->x, &z, &fx, &fz);
    for (i = 0; i < 64; i++)
        host_put(&z, TOE_CMD_SEND, 0, 0, 127, 1, 0);
    bench_run(&w->t, NS_PER_MS);
    host_put(&w->x, TOE_CMD_SEND, TOE_F_SEND_PUSH | TOE_F_SEND_URGENT, 0, fx, 10, 0);
    bench_run(&w->t, NS_PER_MS);
    for (i = 0; i < 64; i++)
        host_want(&z, TOE_CMD_ERROR);
    host_put(&z, TOE_CMD_CLOSE, TOE_F_CLOSE_ABORT, 0, fz, 0, 0);
    bench_run(&w->t, NS_PER_S);
    host_want(&z, TOE_CMD_CLOSE_EVENT);
    host_want_nothing(&z);
    host_detach(&w->t, &z);
}

/* BIND: reports the users of the port and whether they share it; the query leaves no state. */
static void test_who_may_bind(void **state)
{
    struct hosts *w = *state;
    const uint8_t reuse = TOE_F_BIND_REUSEADDR;
    struct toe_cmd c;
    uint32_t fx, fy;

    host_put(&w->x, TOE_CMD_BIND, 0, PORT, 3, 0, 0);
    host_put(&w->x, TOE_CMD_LISTEN, 0, PORT, 7, 0, 16);
    bench_connect(&w->t, &w->x, &w->y, &fx, &fy);
    /* it arrived before the option and waits to be accepted */
    host_put(&w->x, TOE_CMD_OPTION, TOE_F_OPTION_LISTEN, TOE_OPT_REUSE, 7, TOEC_REUSE_ADDR, 0);
    host_put(&w->x, TOE_CMD_ACCEPT, 0, 0, fx, 0, 0);
    host_put(&w->x, TOE_CMD_BIND, 0, PORT, 3, 0, 0);
    bench_run(&w->t, NS_PER_MS);
    host_want_error(&w->x, TOE_R_ADDRINUSE, 3, TOE_CMD_BIND);
    host_put(&w->x, TOE_CMD_BIND, reuse, PORT, 3, IP_A, 0);
    host_put(&w->x, TOE_CMD_BIND, reuse, PORT, 3, 0, 0);
    host_put(&w->x, TOE_CMD_BIND, 0, PORT, 3, IP_B, 0); /* not where it is */
    bench_run(&w->t, NS_PER_MS);
    host_want_nothing(&w->x);
    /* the connection itself may change the option, and a reset ends all of it */
    host_put(&w->x, TOE_CMD_OPTION, 0, TOE_OPT_REUSE, fx, 0, 0);
    host_put(&w->x, TOE_CMD_BIND, reuse, PORT, 3, 0, 0);
    bench_run(&w->t, NS_PER_MS);
    host_want_error(&w->x, TOE_R_ADDRINUSE, 3, TOE_CMD_BIND);
    host_put(&w->x, TOE_CMD_CLOSE, TOE_F_CLOSE_ABORT, 0, fx, 0, 0);
    bench_run(&w->t, NS_PER_S);
    c = host_want(&w->x, TOE_CMD_CLOSE_EVENT);
    assert_int_equal(toe_cmd_aux(&c), TOE_R_ABORTED);
    host_put(&w->x, TOE_CMD_BIND, 0, PORT, 3, 0, 0);
    bench_run(&w->t, NS_PER_MS);
    host_want_nothing(&w->x);
}

/* Invalid queries. */
static void test_malformed_bind(void **state)
{
    struct hosts *w = *state;

    static const struct {
        uint8_t flags;
        uint16_t port;
        uint32_t at;
    } bad[] = {
        {0, 0, 0}, {TOE_F_BIND_V6ONLY, PORT, 0}, {TOE_F_BIND_V6, PORT, 1u << 20}, {0x40, PORT, 0}};
    uint32_t i;

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        host_put(&w->x, TOE_CMD_BIND, bad[i].flags, bad[i].port, i, bad[i].at, 0);
        bench_run(&w->t, NS_PER_MS);
        host_want_error(&w->x, TOE_R_INVAL, i, TOE_CMD_BIND);
    }
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, hosts_setup, hosts_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_a_cancelled_connect_fails_and_gives_its_slot_back),
        TEST(test_the_port_of_an_unanswered_connect),
        TEST(test_the_port_of_a_connect_answered_in_the_same_round),
        TEST(test_of_equal_cookies_each_has_one_answer),
        TEST(test_a_cancel_that_crosses_the_answer_is_ignored),
        TEST(test_a_cancel_before_the_answer_is_told_wins),
        TEST(test_options_of_a_connect_end_it_sooner),
        TEST(test_fast_open_sends_data_with_the_syn),
        TEST(test_fast_open_without_data),
        TEST(test_what_becomes_of_a_ready_flow),
        TEST(test_keys_of_several_members),
        TEST(test_a_listener_without_cookies),
        TEST(test_keys_of_a_listener),
        TEST(test_urgent_data_is_told_before_it_comes),
        TEST(test_urgent_data_of_a_closed_flow),
        TEST(test_who_may_bind),
        TEST(test_malformed_bind),
    };

    return cmocka_run_group_tests_name("engine_opening", tests, NULL, NULL);
}
