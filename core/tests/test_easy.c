/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_easy.c - toe/easy.h: two hosts on a wire that may lose frames or have no room, in virtual
 * time; applications that write a pattern and check what they read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <toe/counters.h>
#include <toe/easy.h>

#include "random.h"

#define MS    1000000ull
#define WIRE  512u
#define CONNS 4u
#define RING  4096u

struct app {
    struct toec_conn *c; /* NULL: ended or closed */
    uint32_t to_write, written, read;
    unsigned seen; /* events */
    uint32_t reason;
    int hold;  /* does not read */
    int close; /* when the peer has */
};

struct host {
    struct toec_easy *easy;
    void *mem;
    struct app app[8]; /* in the order of their OPEN, or connect */
    unsigned apps;
    unsigned lose, refuse; /* of 1024 frames: lost on the wire, no room to send */
    struct {
        uint32_t len;
        uint8_t data[1600];
    } wire[WIRE]; /* frames in flight to this host */
    unsigned put, got;
};

static struct host host[2];
static toec_time now;

static uint8_t pattern(uint32_t at)
{
    return (uint8_t)(at * 2654435761u >> 23);
}

static int send_frame(void *user, const toec_u8 *frame, toec_u32 len)
{
    struct host *from = user, *to = &host[from == host];

    if (random_below(1024) < from->refuse || to->put - to->got == WIRE)
        return -1;
    if (random_below(1024) < from->lose)
        return 0;
    assert_true(len <= sizeof(to->wire[0].data));
    to->wire[to->put % WIRE].len = len;
    memcpy(to->wire[to->put++ % WIRE].data, frame, len);
    return 0;
}

static void read_some(struct app *a)
{
    uint8_t buf[1000];
    const toec_u8 *p;
    uint32_t n, i;

    n = toec_easy_peek(a->c, &p);
    for (i = 0; i < n && i < 7; i++)
        assert_int_equal(p[i], pattern(a->read + i));
    toec_easy_skip(a->c, i);
    a->read += i;
    while ((n = toec_easy_read(a->c, buf, sizeof(buf))) > 0)
        for (i = 0; i < n; i++)
            assert_int_equal(buf[i], pattern(a->read++));
}

static void write_some(struct app *a)
{
    uint8_t buf[1500];

    while (a->written < a->to_write) {
        uint32_t n = a->to_write - a->written, i, took;

        n = n < sizeof(buf) ? n : (uint32_t)sizeof(buf);
        for (i = 0; i < n; i++)
            buf[i] = pattern(a->written + i);
        took = toec_easy_write(a->c, buf, n);
        a->written += took;
        if (took < n)
            return;
    }
}

static void on_event(void *user, struct toec_conn *c, unsigned what)
{
    struct host *h = user;
    struct app *a = toec_easy_arg(c);

    if (!a) {
        assert_true(what & TOEC_EASY_OPEN);
        assert_true(h->apps < 8);
        a = &h->app[h->apps++];
        toec_easy_set_arg(c, a);
        a->c = c;
    }
    assert_ptr_equal(a->c, c);
    assert_false(a->seen & TOEC_EASY_GONE);
    assert_false(a->seen & what & (TOEC_EASY_OPEN | TOEC_EASY_END));
    a->seen |= what;
    if (!a->hold)
        read_some(a);
    if (what & TOEC_EASY_GONE) {
        a->reason = toec_easy_reason(c);
        assert_null(toec_easy_flow(c));
        assert_int_equal(toec_easy_write(c, "x", 1), 0);
        a->c = NULL;
        return;
    }
    write_some(a);
    if (a->close && toec_easy_ended(c) && a->written == a->to_write) {
        toec_easy_close(c);
        a->c = NULL;
    }
}

static struct toec_easy_config config(unsigned i)
{
    struct toec_easy_config c;

    memset(&c, 0, sizeof(c));
    c.core.user = &host[i];
    c.core.mac[0] = 2;
    c.core.mac[5] = (uint8_t)(i + 1);
    memcpy(c.core.ip, "\x0a\0\0", 3);
    c.core.ip[3] = (uint8_t)(i + 1);
    c.core.prefix_len = 24;
    c.core.max_flows = CONNS;
    c.core.max_ao_keys = 2;
    c.tx_size = c.rx_size = RING;
    c.send = send_frame;
    c.event = on_event;
    return c;
}

static int setup(void **state)
{
    unsigned i;

    (void)state;
    random_begin(7);
    memset(host, 0, sizeof(host));
    now = 1000 * MS;
    for (i = 0; i < 2; i++) {
        struct toec_easy_config c = config(i);
        unsigned long size = toec_easy_size(&c);

        host[i].mem = aligned_alloc(64, size);
        host[i].easy = toec_easy_init(host[i].mem, size, &c, now);
        assert_non_null(host[i].easy);
    }
    assert_int_equal(toec_easy_listen(host[1].easy, NULL, 7, NULL, NULL), 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    free(host[0].mem);
    free(host[1].mem);
    return 0;
}

/* Runs both hosts for this long, each at the arrival of a frame or at a deadline. */
static void run(toec_time duration)
{
    toec_time end = now + duration, next;
    unsigned i;

    do {
        next = end;
        for (i = 0; i < 2; i++) {
            struct host *h = &host[i];
            toec_time t;

            for (; h->got != h->put; h->got++)
                toec_easy_input(h->easy, h->wire[h->got % WIRE].data, h->wire[h->got % WIRE].len, 0,
                                now);
            t = toec_easy_poll(h->easy, now);
            if (t < next)
                next = t;
        }
        if (host[0].got != host[0].put || host[1].got != host[1].put || next <= now)
            next = now + MS / 100;
        now = next;
    } while (now < end);
}

static struct app *connect_to(uint16_t port, uint32_t bytes)
{
    struct host *h = &host[0];
    struct app *a = &h->app[h->apps++];
    struct toec_addr to;

    memset(&to, 0, sizeof(to));
    to.b[10] = to.b[11] = 0xff;
    to.b[12] = 10;
    to.b[15] = 2;
    a->to_write = bytes;
    assert_int_equal(toec_easy_connect(h->easy, &to, port, a, now, &a->c), 0);
    assert_ptr_equal(toec_easy_of(a->c), h->easy);
    return a;
}

static unsigned flows(unsigned i)
{
    struct toec_usage u;

    toec_usage(toec_easy_stack(host[i].easy), &u);
    return u.flows;
}

/* ---- tests ---- */

static void wrong_configurations_are_refused(void **state)
{
    struct toec_easy_config c;
    unsigned long size;
    unsigned i;

    (void)state;
    for (i = 0; i < 8; i++) {
        c = config(0);
        switch (i) {
        case 0:
            c.tx_size = 5000;
            break;
        case 1:
            c.rx_size = 2048;
            break;
        case 2:
            c.tx_size = 1u << 25;
            break;
        case 3:
            c.send = NULL;
            break;
        case 4:
            c.event = NULL;
            break;
        case 5:
            c.core.max_gso = 16000;
            break;
        case 6:
            c.core.max_udp = 1;
            break;
        default:
            c.core.mac[0] = 1; /* core/ refuses it */
        }
        assert_int_equal(toec_easy_size(&c), 0);
        assert_null(toec_easy_init(host[0].mem, 1ul << 30, &c, now));
    }
    c = config(0);
    size = toec_easy_size(&c);
    assert_null(toec_easy_init(host[0].mem, size - 1, &c, now));
    assert_null(toec_easy_init((uint8_t *)host[0].mem + 8, size, &c, now));
    assert_null(toec_easy_init(NULL, size, &c, now));
    c.tx_size = c.rx_size = c.core.max_flows = 0; /* 1024 connections of 16 KiB each way */
    assert_in_range(toec_easy_size(&c), 32ul << 20, 48ul << 20);
}

/* Far more than the rings hold, both ways, with losses and a card without room now and then. */
static void bytes_arrive_in_order(void **state)
{
    struct app *a, *b;

    (void)state;
    host[0].lose = host[1].lose = 20;
    host[0].refuse = host[1].refuse = 50;
    a = connect_to(7, 300000);
    run(100 * MS);
    assert_int_equal(host[1].apps, 1);
    b = &host[1].app[0];
    b->to_write = 200000;
    write_some(b);
    run(200000 * MS);
    assert_int_equal(b->read, 300000);
    assert_int_equal(a->read, 200000);
    assert_true(a->seen & TOEC_EASY_WRITE);
    assert_false((a->seen | b->seen) & (TOEC_EASY_END | TOEC_EASY_GONE));
    assert_true(toec_counters(toec_easy_stack(host[0].easy))[TOEC_C_tx_full] > 0);
}

static void with_key(struct toec_easy *e, unsigned peer, struct toec_tcb *flow, uint32_t listener)
{
    struct toec_ao_mkt k;

    memset(&k, 0, sizeof(k));
    k.remote.b[10] = k.remote.b[11] = 0xff;
    memcpy(k.remote.b + 12, "\x0a\0\0", 3);
    k.remote.b[15] = (uint8_t)(peer + 1);
    k.prefix = 32;
    k.alg = TOEC_AO_AES_CMAC;
    k.secret = (const uint8_t *)"sixteen letters.";
    k.secret_len = 16;
    assert_int_equal(flow ? toec_ao_add(toec_easy_stack(e), flow, &k)
                          : toec_listen_ao_add(toec_easy_stack(e), listener, &k),
                     0);
}

/* TCP-AO needs only the number of keys: payload is read from the rings, across their ends. */
static void authenticated(void **state)
{
    struct app *a;
    uint32_t id;

    (void)state;
    assert_int_equal(toec_easy_listen(host[1].easy, NULL, 9, NULL, &id), 0);
    with_key(host[1].easy, 0, NULL, id);
    host[0].lose = host[1].lose = 20;
    a = connect_to(9, 100000);
    with_key(host[0].easy, 1, toec_easy_flow(a->c), 0);
    run(60000 * MS);
    assert_int_equal(host[1].apps, 1);
    assert_int_equal(host[1].app[0].read, 100000);
    assert_true(toec_counters(toec_easy_stack(host[1].easy))[TOEC_C_tcp_ao_good] > 70);
    assert_int_equal(toec_counters(toec_easy_stack(host[1].easy))[TOEC_C_tcp_ao_bad_mac], 0);
}

/* FIN one way, data the other way, FIN; the side that has shut down is notified of the end. */
static void half_closed(void **state)
{
    struct app *a = connect_to(7, 10000), *b;

    (void)state;
    run(500 * MS);
    b = &host[1].app[0];
    b->close = 1;
    b->to_write = 20000;
    toec_easy_shutdown(a->c);
    toec_easy_shutdown(a->c);
    assert_int_equal(toec_easy_write(a->c, "x", 1), 0);
    run(2000 * MS);
    assert_int_equal(b->read, 10000);
    assert_null(b->c); /* closed: no more events */
    assert_true(b->seen & TOEC_EASY_END);
    assert_false(b->seen & TOEC_EASY_GONE);
    assert_int_equal(a->read, 20000);
    assert_null(a->c);
    assert_true(a->seen & TOEC_EASY_GONE);
    assert_int_equal(a->reason, TOEC_R_OK);
    assert_int_equal(flows(0) + flows(1), 0);
}

/* Bytes unread when the connection ends can be read in the last event. */
static void the_last_event_reads(void **state)
{
    struct app *a = connect_to(7, 0), *b;

    (void)state;
    run(100 * MS);
    b = &host[1].app[0];
    a->hold = 1;
    b->to_write = 3000;
    write_some(b);
    toec_easy_close(b->c);
    b->c = NULL;
    run(100 * MS);
    assert_true(a->seen & TOEC_EASY_END);
    assert_false(toec_easy_ended(a->c));
    a->hold = 0;
    toec_easy_shutdown(a->c);
    run(100 * MS);
    assert_int_equal(a->read, 3000);
    assert_null(a->c);
}

static void refused(void **state)
{
    struct app *a = connect_to(8, 0);

    (void)state;
    run(100 * MS);
    assert_null(a->c);
    assert_int_equal(a->seen, TOEC_EASY_GONE);
    assert_int_equal(a->reason, TOEC_R_REFUSED);
}

/* The caller gets no event for its own abort, or its own close with unread bytes. */
static void resets(void **state)
{
    struct app *a = connect_to(7, 100), *b = connect_to(7, 100);
    struct toec_conn *opening = connect_to(7, 0)->c;

    (void)state;
    toec_easy_close(opening); /* before it was open: it never was */
    host[1].app[0].hold = host[1].app[1].hold = 1;
    run(100 * MS);
    assert_int_equal(host[1].apps, 2);
    assert_false(host[0].app[2].seen);
    toec_easy_abort(host[1].app[0].c);
    host[1].app[0].c = NULL;
    toec_easy_close(host[1].app[1].c);
    host[1].app[1].c = NULL;
    run(100 * MS);
    assert_int_equal(a->reason, TOEC_R_RESET);
    assert_int_equal(b->reason, TOEC_R_RESET);
    assert_false(host[1].app[0].seen & TOEC_EASY_GONE);
    assert_int_equal(flows(0) + flows(1), 0);
}

/* As many as there is memory for, again and again: none is lost. */
static void all_in_use(void **state)
{
    struct toec_addr to;
    struct toec_conn *c;
    unsigned round, i;

    (void)state;
    memset(&to, 0, sizeof(to));
    to.b[10] = to.b[11] = 0xff;
    to.b[12] = 10;
    to.b[15] = 2;
    assert_int_equal(toec_easy_connect(host[0].easy, &to, 0, NULL, now, &c), TOEC_E_INVAL);
    for (round = 0; round < 3; round++) {
        host[0].apps = host[1].apps = 0;
        memset(host[0].app, 0, sizeof(host[0].app));
        memset(host[1].app, 0, sizeof(host[1].app));
        for (i = 0; i < CONNS; i++)
            connect_to(7, 50);
        assert_int_equal(toec_easy_connect(host[0].easy, &to, 7, NULL, now, &c), TOEC_E_NOBUFS);
        run(100 * MS);
        assert_int_equal(host[1].apps, CONNS);
        for (i = 0; i < CONNS; i++) {
            assert_int_equal(host[1].app[i].read, 50);
            host[1].app[i].close = 1;
            toec_easy_close(host[0].app[i].c);
            host[0].app[i].c = NULL;
        }
        run(100 * MS);
        assert_int_equal(flows(0) + flows(1), 0);
    }
}

/* An incomplete handshake frees its memory, without an event. */
static void half_open(void **state)
{
    connect_to(8, 0);
    run(100 * MS); /* each knows the other */
    host[0].apps = 0;
    memset(host[0].app, 0, sizeof(host[0].app));
    connect_to(7, 0);
    host[1].lose = 1024;
    run(2000 * MS);
    assert_int_equal(flows(1), 1);
    run(400000 * MS);
    assert_int_equal(flows(1), 0);
    assert_int_equal(host[1].apps, 0);
    assert_int_equal(host[0].app[0].reason, TOEC_R_HOSTUNREACH); /* nor does ARP recover */
    host[1].lose = 0;
    host[0].apps = 0;
    memset(host[0].app, 0, sizeof(host[0].app));
    all_in_use(state);
}

/* Echo requests, whole and in fragments, are answered from the frame and from reassembly. */
static void ping_in(uint16_t off, uint16_t flags, const uint8_t *data, uint32_t len)
{
    uint8_t f[1600] = {2, 0, 0, 0, 0, 2,  2, 0, 0, 0,  0, 1, 8, 0,  0x45, 0, 0,
                       0, 0, 9, 0, 0, 64, 1, 0, 0, 10, 0, 0, 1, 10, 0,    0, 2};
    uint16_t sum;

    f[16] = (uint8_t)((20 + len) >> 8);
    f[17] = (uint8_t)(20 + len);
    f[20] = (uint8_t)((flags | off / 8) >> 8);
    f[21] = (uint8_t)(off / 8);
    sum = (uint16_t)~toec_sum(f + 14, 20);
    memcpy(f + 24, &sum, 2);
    memcpy(f + 34, data, len);
    toec_easy_input(host[1].easy, f, 34 + len, 0, now);
}

static void pings_are_answered(void **state)
{
    static uint8_t message[2008] = {8, 0, 0, 0, 1, 2, 0, 1};
    const toec_u64 *count = toec_counters(toec_easy_stack(host[1].easy));
    uint16_t sum;
    uint32_t i;

    (void)state;
    connect_to(7, 0); /* so that each knows the other */
    run(100 * MS);
    for (i = 8; i < sizeof(message); i++)
        message[i] = pattern(i);
    sum = (uint16_t)~toec_sum(message, sizeof(message));
    memcpy(message + 2, &sum, 2);
    ping_in(1480, 0, message + 1480, sizeof(message) - 1480);
    ping_in(0, 0x2000, message, 1480);
    assert_int_equal(count[TOEC_C_ip4_reassembled], 1);
    assert_int_equal(count[TOEC_C_icmp_bad_checksum], 0);
    assert_int_equal(count[TOEC_C_icmp_echo_sent], 1);
    assert_memory_equal(host[0].wire[(host[0].put - 2) % WIRE].data + 42, message + 8, 1400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(wrong_configurations_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(bytes_arrive_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(authenticated, setup, teardown),
        cmocka_unit_test_setup_teardown(half_closed, setup, teardown),
        cmocka_unit_test_setup_teardown(the_last_event_reads, setup, teardown),
        cmocka_unit_test_setup_teardown(refused, setup, teardown),
        cmocka_unit_test_setup_teardown(resets, setup, teardown),
        cmocka_unit_test_setup_teardown(all_in_use, setup, teardown),
        cmocka_unit_test_setup_teardown(half_open, setup, teardown),
        cmocka_unit_test_setup_teardown(pings_are_answered, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
