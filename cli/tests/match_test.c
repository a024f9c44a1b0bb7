/* SPDX-License-Identifier: Apache-2.0 */
/* match_test.c - matches packets, given as bytes with stamps (rtt/match.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../rtt/match.h"

#define MS      1000000ull
#define T0      (1000 * MS) /* the first packet's stamp */
#define FIN     1u
#define SYN     2u
#define ACK     16u
#define TCP     6u
#define UDP     17u
#define TIMEOUT 100u /* ms */

uint64_t rtt_now(void)
{
    return 0;
}

struct bench {
    struct rtt r;
    struct matcher *m;
};

static void begin(struct bench *b, enum rtt_match match)
{
    memset(b, 0, sizeof *b);
    b->r.o.match = match;
    b->r.o.timeout_ms = TIMEOUT;
    assert_true(result_init(&b->r.result, 1000000000u));
    b->m = match_new(&b->r);
    assert_non_null(b->m);
}

static void end(struct bench *b)
{
    match_free(b->m);
    result_free(&b->r.result);
}

static uint64_t count(const struct bench *b, const char *name)
{
    return result_counted(&b->r.result, name);
}

static void put16(uint8_t *p, unsigned v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static void put32(uint8_t *p, uint32_t v)
{
    put16(p, v >> 16);
    put16(p + 2, v & 0xffff);
}

/* A segment between 10.0.0.1:port and 10.x.y.2:80. */
struct end {
    unsigned peer, port;
};

static size_t head(uint8_t *p, struct end e, bool leaves, unsigned proto, unsigned size)
{
    uint32_t us = 0x0a000001, them = 0x0a000002 | e.peer << 8;

    memset(p, 0, 20 + size);
    p[0] = 0x45;
    put16(p + 2, 20 + size);
    p[9] = (uint8_t)proto;
    put32(p + 12, leaves ? us : them);
    put32(p + 16, leaves ? them : us);
    put16(p + 20, leaves ? e.port : 80);
    put16(p + 22, leaves ? 80 : e.port);
    return 20 + size;
}

static void tcp(struct bench *b, struct end e, bool leaves, uint32_t seq, uint32_t ack,
                unsigned flags, unsigned len, uint64_t at)
{
    uint8_t p[256];
    size_t size = head(p, e, leaves, TCP, 20 + len);

    put32(p + 24, seq);
    put32(p + 28, ack);
    p[32] = 5 << 4;
    p[33] = (uint8_t)flags;
    match_packet(b->m, p, size, leaves, at);
}

static void udp(struct bench *b, bool leaves, uint64_t at)
{
    uint8_t p[64];
    size_t size = head(p, (struct end){0, 5000}, leaves, UDP, 12);

    match_packet(b->m, p, size, leaves, at);
}

/* Many more consecutive connections than the table holds: the SYN, one data segment and the FIN of
 * each are timed. */
static void test_connections_that_are_over_leave_their_places(void **state)
{
    enum { CONNECTIONS = 70000 };
    struct bench b;
    unsigned i;

    (void)state;
    begin(&b, MATCH_TCP);
    for (i = 0; i < CONNECTIONS; i++) {
        struct end e = {i / 20000, 10000 + i % 20000};
        uint64_t at = T0 + i * MS;
        uint32_t seq = i * 7919u;

        tcp(&b, e, true, seq, 0, SYN, 0, at);
        tcp(&b, e, false, 500, seq + 1, SYN | ACK, 0, at + 1000);
        tcp(&b, e, true, seq + 1, 501, ACK, 100, at + 2000);
        tcp(&b, e, false, 501, seq + 101, ACK, 0, at + 3000);
        tcp(&b, e, true, seq + 101, 501, ACK | FIN, 0, at + 4000);
        tcp(&b, e, false, 501, seq + 102, ACK | FIN, 0, at + 5000);
        match_expire(b.m, at + 6000);
    }
    match_expire(b.m, UINT64_MAX);
    assert_int_equal(count(&b, "table_full"), 0);
    assert_int_equal(result_samples(&b.r.result), 3u * CONNECTIONS);
    assert_int_equal(b.r.result.min, 1000);
    assert_int_equal(b.r.result.max, 1000);
    /* FLOWS_MAX have names, the rest are one flow */
    assert_int_equal(b.r.result.flow_count, FLOWS_MAX);
    assert_string_equal(b.r.result.flows[FLOWS_MAX - 1], FLOW_OTHERS);
    end(&b);
}

/* Connections with segments in flight are not evicted. */
static void test_connections_in_flight_are_kept(void **state)
{
    enum { CONNECTIONS = 20000 };
    struct bench b;
    unsigned i;

    (void)state;
    begin(&b, MATCH_TCP);
    for (i = 0; i < CONNECTIONS; i++)
        tcp(&b, (struct end){0, 10000 + i}, true, i, 0, SYN, 0, T0 + i);
    assert_true(count(&b, "table_full") > CONNECTIONS / 2);
    for (i = 0; i < CONNECTIONS; i++)
        tcp(&b, (struct end){0, 10000 + i}, false, 500, i + 1, SYN | ACK, 0, T0 + MS + i);
    assert_int_equal(result_samples(&b.r.result) + count(&b, "table_full"), CONNECTIONS);
    assert_int_equal(b.r.result.min, MS);
    assert_int_equal(b.r.result.max, MS);
    end(&b);
}

/* Reused ports, with a sequence number that the old connection would take for a retransmission. */
static void test_a_syn_begins_anew(void **state)
{
    const struct end e = {0, 10000};
    struct bench b;

    (void)state;
    begin(&b, MATCH_TCP);
    tcp(&b, e, true, 5000, 0, SYN, 0, T0);
    tcp(&b, e, false, 0, 5001, SYN | ACK, 0, T0 + 10);
    tcp(&b, e, true, 5001, 1, ACK, 100,
        T0 + 20); /* never acknowledged: the peer opens a new connection */
    tcp(&b, e, true, 900, 0, SYN, 0, T0 + 30);
    tcp(&b, e, false, 0, 901, SYN | ACK, 0, T0 + 40);
    tcp(&b, e, true, 901, 1, ACK, 100, T0 + 50);
    tcp(&b, e, false, 1, 1001, ACK, 0, T0 + 60);
    assert_int_equal(result_samples(&b.r.result), 3);
    assert_int_equal(count(&b, "replaced"), 1);
    /* the same SYN twice is a retransmission: Karn's rule */
    tcp(&b, e, true, 70000, 0, SYN, 0, T0 + 70);
    tcp(&b, e, true, 70000, 0, SYN, 0, T0 + 80);
    tcp(&b, e, false, 0, 70001, SYN | ACK, 0, T0 + 90);
    assert_int_equal(result_samples(&b.r.result), 3);
    assert_int_equal(count(&b, "ambiguous"), 1);
    end(&b);
}

/* An answer after --timeout-ms is ignored, with and without match_expire() in between. */
static void late_answer(enum rtt_match match, bool looked)
{
    struct bench b;

    begin(&b, match);
    udp(&b, true, T0);
    udp(&b, false, T0 + TIMEOUT * MS - 1);
    udp(&b, true, T0 + 1000 * MS);
    if (looked)
        match_expire(b.m, T0 + (1000 + TIMEOUT) * MS);
    udp(&b, false, T0 + (1000 + TIMEOUT) * MS);
    match_expire(b.m, UINT64_MAX);
    assert_int_equal(result_samples(&b.r.result), 1);
    assert_int_equal(b.r.result.max, TIMEOUT * MS - 1);
    assert_int_equal(count(&b, "lost"), 1);
    assert_int_equal(count(&b, "unmatched"), 1);
    assert_int_equal(count(&b, "in_flight"), 0);
    end(&b);
}

static void test_late_answers_are_no_samples(void **state)
{
    (void)state;
    late_answer(MATCH_ANY, false);
    late_answer(MATCH_ANY, true);
    late_answer(MATCH_UDP, false);
    late_answer(MATCH_UDP, true);
}

static void test_a_late_acknowledgement_is_no_sample(void **state)
{
    const struct end e = {0, 10000};
    struct bench b;

    (void)state;
    begin(&b, MATCH_TCP);
    tcp(&b, e, true, 5000, 0, SYN, 0, T0);
    tcp(&b, e, false, 0, 5001, SYN | ACK, 0, T0 + TIMEOUT * MS);
    assert_int_equal(result_samples(&b.r.result), 0);
    assert_int_equal(count(&b, "lost"), 1);
    end(&b);
}

/* Entries at the end are in flight, not lost, also when the clock was set back. */
static void test_what_is_out_at_the_end_is_in_flight(void **state)
{
    static const enum rtt_match modes[] = {MATCH_ANY, MATCH_UDP};
    struct bench b;
    size_t i;

    (void)state;
    for (i = 0; i < 2; i++) {
        begin(&b, modes[i]);
        udp(&b, true, T0);
        match_expire(b.m, T0 - 500 * MS); /* the clock was set back */
        match_expire(b.m, UINT64_MAX);
        assert_int_equal(count(&b, "lost"), 0);
        assert_int_equal(count(&b, "in_flight"), 1);
        end(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_connections_that_are_over_leave_their_places),
        cmocka_unit_test(test_connections_in_flight_are_kept),
        cmocka_unit_test(test_a_syn_begins_anew),
        cmocka_unit_test(test_late_answers_are_no_samples),
        cmocka_unit_test(test_a_late_acknowledgement_is_no_sample),
        cmocka_unit_test(test_what_is_out_at_the_end_is_in_flight),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
