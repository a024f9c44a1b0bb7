/* SPDX-License-Identifier: Apache-2.0 */
/* test_reass6.c - IPv6 fragments (RFC 8200 4.5, RFC 5722, RFC 6946, RFC 7112), in virtual time. */
#include "bench6.h"

static uint8_t whole[65536 + 64]; /* one fragment goes beyond what a datagram may have */

static void start(struct bench *b)
{
    unsigned i;

    bench6_init(b, TOEC_IP6_STATIC);
    bench6_learn(b, &peer6, peer_mac);
    for (i = 0; i < sizeof(whole); i++)
        whole[i] = (uint8_t)(i * 7 + i / 256);
    whole[12] = 0x50; /* a TCP header of 20 bytes */
}

static unsigned traffic_class; /* of fragments */

/* Bytes [off, end) of `whole` as a fragment. */
static void fragment(struct bench *b, uint32_t id, uint32_t off, uint32_t end, int more)
{
    static const struct ip6_spec s = {&peer6, &own6, 44, 0, 0};
    static uint8_t f[70000], p[70000];
    uint32_t len;

    memset(p, 0, 8);
    p[0] = 6;
    poke16(p + 2, (off & 0xfff8) | (more != 0));
    poke32(p + 4, id);
    memcpy(p + 8, whole + (off < sizeof(whole) ? off : 0), end - off);
    len = make_ip6(f, &s, p, 8 + end - off);
    f[14] |= (uint8_t)(traffic_class >> 4);
    f[15] |= (uint8_t)(traffic_class << 4);
    bench_input(b, f, len);
}

static unsigned datagrams(struct bench *b)
{
    struct toec_usage u;

    toec_usage(b->s, &u);
    return u.datagrams;
}

static void any_order(void **state)
{
    static const uint32_t order[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {2, 0, 1}};
    struct bench b;
    unsigned i, j;

    (void)state;
    start(&b);
    for (i = 0; i < 4; i++) {
        for (j = 0; j < 3; j++) {
            uint32_t k = order[i][j];

            assert_int_equal(b.tcp_inputs, i);
            fragment(&b, i, k * 1000, k == 2 ? 2500 : k * 1000 + 1000, k != 2);
        }
        assert_int_equal(b.tcp_inputs, i + 1);
        assert_int_equal(b.tcp_in.l4_len, 2500);
        assert_int_equal(b.tcp_in.proto, 6);
        assert_int_equal(b.tcp_in.fragmented, 1);
        assert_memory_equal(b.tcp_data, whole, 2500);
    }
    assert_int_equal(datagrams(&b), 0);
    bench_stop(&b);
}

/* R3168-08: one CE among ECT marks the datagram; Not-ECT among others ends it. */
static void ecn(void **state)
{
    static const struct {
        unsigned bits[3]; /* of the fragments, in order of arrival */
        int whole;        /* what the datagram has, -1: it is dropped */
    } rows[] = {{{0, 0, 0}, 0},  {{2, 2, 2}, 2},  {{1, 1, 1}, 1},  {{3, 2, 2}, 3},
                {{2, 3, 2}, 3},  {{2, 2, 3}, 3},  {{3, 3, 3}, 3},  {{1, 3, 1}, 3},
                {{0, 2, 2}, -1}, {{2, 0, 2}, -1}, {{3, 0, 3}, -1}, {{0, 0, 3}, -1}};
    struct bench b;
    unsigned i, j, taken = 0, dropped = 0;

    (void)state;
    start(&b);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (j = 0; j < 3; j++) {
            traffic_class = 0xb8 | rows[i].bits[j]; /* EF stays as it is */
            fragment(&b, 100 + i, j * 1000, j * 1000 + 1000, j != 2);
        }
        taken += rows[i].whole >= 0;
        dropped += rows[i].whole < 0;
        assert_int_equal(b.tcp_inputs, taken);
        if (rows[i].whole >= 0)
            assert_int_equal(b.tcp_in.tos, 0xb8 | rows[i].whole);
        assert_int_equal(bench_counter(&b, TOEC_C_ip6_frag_ecn), dropped);
    }
    traffic_class = 0;
    assert_int_equal(datagrams(&b), 0);
    bench_stop(&b);
}

/* R8200-06: alone, whatever other fragments have its ID. */
static void atomic(void **state)
{
    struct bench b;

    (void)state;
    start(&b);
    fragment(&b, 1, 0, 1000, 1);
    fragment(&b, 1, 0, 100, 0);
    assert_int_equal(b.tcp_inputs, 1);
    assert_int_equal(b.tcp_in.l4_len, 100);
    assert_int_equal(bench_counter(&b, TOEC_C_ip6_frag_atomic), 1);
    fragment(&b, 1, 1000, 1100, 0);
    assert_int_equal(b.tcp_inputs, 2);
    assert_int_equal(b.tcp_in.l4_len, 1100);
    bench_stop(&b);
}

/* R8200-04: all of it, and later fragments, until its timeout; a copy is no overlap. */
static void overlaps(void **state)
{
    struct bench b;

    (void)state;
    start(&b);
    fragment(&b, 1, 0, 1000, 1);
    fragment(&b, 1, 0, 1000, 1);
    assert_int_equal(bench_counter(&b, TOEC_C_ip6_frag_duplicate), 1);
    fragment(&b, 1, 992, 1100, 0);
    fragment(&b, 1, 1000, 1100, 0);
    fragment(&b, 1, 0, 1000, 1);
    assert_int_equal(b.tcp_inputs, 0);
    assert_int_equal(bench_counter(&b, TOEC_C_ip6_frag_overlap), 3);
    bench_pass(&b, 61 * SEC);
    assert_int_equal(datagrams(&b), 0);
    assert_int_equal(bench_counter(&b, TOEC_C_ip6_frag_timeout), 0);
    bench_stop(&b);
}

/* All triples of fragments within nine blocks, in the order given, each last or not: an overlap, or
 * an end that does not fit, ends the datagram, whatever arrives of it later. A fragment wholly
 * within received data counts as a copy: no byte is replaced. */
struct policy {
    unsigned have, total, dead;
    unsigned delivered, dropped, copies;
};

static void policy_input(struct policy *p, unsigned off, unsigned end, int last)
{
    unsigned mask = ((1u << end) - 1) & ~((1u << off) - 1);

    if (p->dead || (p->total && (last ? end != p->total : end > p->total)) ||
        (!p->total && last && p->have >> end)) {
        p->dead = 1;
    } else if ((p->have & mask) == mask) {
        p->copies++;
        return;
    } else if (p->have & mask) {
        p->dead = 1;
    }
    if (p->dead) {
        p->dropped++;
        return;
    }
    p->have |= mask;
    if (last)
        p->total = end;
    if (p->total && p->have == (1u << p->total) - 1) {
        p->delivered++;
        p->have = p->total = 0;
    }
}

#define BLOCK 24 /* the first has all of TCP's header (RFC 7112) */

static void every_triple_of_fragments(void **state)
{
    struct {
        unsigned off, end;
        int last;
    } kinds[90];
    unsigned n = 0, triple, off, end, i, id = 0;
    struct policy p;
    struct bench b;

    (void)state;
    start(&b);
    memset(&p, 0, sizeof(p));
    for (off = 0; off <= 8; off++) {
        for (end = off + 1; end <= 9; end++) {
            kinds[n].off = kinds[n + 1].off = off;
            kinds[n].end = kinds[n + 1].end = end;
            kinds[n].last = 0;
            kinds[n + 1].last = 1;
            n += 2;
        }
    }
    for (triple = 0; triple < n * n * n; triple++) {
        unsigned part[3] = {triple / n / n, triple / n % n, triple % n};

        id++;
        p.dead = p.have = p.total = 0;
        for (i = 0; i < 3; i++) {
            off = kinds[part[i]].off;
            end = kinds[part[i]].end;
            if (off == 0 && kinds[part[i]].last) /* not a fragment */
                continue;
            policy_input(&p, off, end, kinds[part[i]].last);
            fragment(&b, id, off * BLOCK, end * BLOCK, !kinds[part[i]].last);
            assert_int_equal(b.tcp_inputs, p.delivered);
        }
        assert_int_equal(bench_counter(&b, TOEC_C_ip6_frag_overlap), p.dropped);
        assert_int_equal(bench_counter(&b, TOEC_C_ip6_frag_duplicate), p.copies);
        if (id % 1000 == 0) {
            bench_pass(&b, 61 * SEC);
            assert_int_equal(datagrams(&b), 0);
            bench_forget_sent(&b);
        }
    }
    assert_true(p.delivered > 1000 && p.dropped > 100000);
    bench_stop(&b);
}

/* R8200-05: after 60 s, with Time Exceeded if the first fragment had arrived. */
static void timeout(void **state)
{
    const uint8_t *m;
    uint32_t len;
    struct bench b;

    (void)state;
    start(&b);
    fragment(&b, 1, 0, 1000, 1);
    fragment(&b, 2, 1000, 2000, 1);
    bench_pass(&b, 59 * SEC);
    bench_forget_sent(&b);
    assert_int_equal(datagrams(&b), 2);
    bench6_learn(&b, &peer6, peer_mac);
    bench_pass(&b, 2 * SEC);
    assert_int_equal(datagrams(&b), 0);
    assert_int_equal(bench_counter(&b, TOEC_C_ip6_frag_timeout), 2);
    m = expect_icmp6(&b, 3, 1, &own6, &peer6, &len);
    assert_int_equal(len, 8 + 40 + 1000);
    assert_memory_equal(m + 8 + 40, whole, 1000);
    assert_null(bench_next(&b));
    bench_stop(&b);
}

/* R8200-07, R8200-08: reported at the field that is wrong. */
static void impossible_lengths(void **state)
{
    const uint8_t *m;
    struct bench b;

    (void)state;
    start(&b);
    fragment(&b, 1, 0, 1001, 1);
    m = expect_icmp6(&b, 4, 0, &own6, &peer6, 0);
    assert_int_equal(peek32(m + 4), 4);
    fragment(&b, 1, 65528, 65528 + 16, 0);
    m = expect_icmp6(&b, 4, 0, &own6, &peer6, 0);
    assert_int_equal(peek32(m + 4), 42);
    fragment(&b, 1, 8, 8, 1); /* nothing in it */
    assert_null(bench_next(&b));
    assert_int_equal(bench_counter(&b, TOEC_C_ip6_frag_bad), 3);
    assert_int_equal(datagrams(&b), 0);
    bench_stop(&b);
}

/* R8200-11 (RFC 7112): the chain up to the end of the TCP header is in the first fragment. */
static void whole_chain_first(void **state)
{
    struct bench b;

    (void)state;
    start(&b);
    fragment(&b, 1, 0, 16, 1);
    (void)expect_icmp6(&b, 4, 3, &own6, &peer6, 0);
    assert_int_equal(bench_counter(&b, TOEC_C_ip6_frag_chain), 1);
    whole[12] = 0x70; /* 28 bytes of header, of which 24 are present */
    fragment(&b, 1, 0, 24, 1);
    assert_int_equal(bench_counter(&b, TOEC_C_ip6_frag_chain), 2);
    assert_int_equal(datagrams(&b), 0);
    bench_stop(&b);
}

/* Bounded memory: the oldest is evicted. */
static void pool_is_bounded(void **state)
{
    struct bench b;
    unsigned i;

    (void)state;
    start(&b);
    for (i = 0; i < 1000; i++)
        fragment(&b, i, 8, 16, 1);
    assert_int_equal(datagrams(&b), 16);
    bench_pass(&b, 61 * SEC);
    assert_int_equal(datagrams(&b), 0);
    bench_stop(&b);
}

/* ECN (RFC 3168 5.3): one mark marks it all. */
static void congestion_marks(void **state)
{
    static const struct ip6_spec s = {&peer6, &own6, 44, 0, 0};
    uint8_t f[200], p[100] = {6, 0, 0, 1, 0, 0, 0, 9};
    struct bench b;

    (void)state;
    start(&b);
    memcpy(p + 8, whole, 64);
    make_ip6(f, &s, p, 72);
    f[15] = 2 << 4;
    bench_input(&b, f, 54 + 72);
    poke16(p + 2, 64);
    make_ip6(f, &s, p, 72);
    f[15] = 3 << 4;
    bench_input(&b, f, 54 + 72);
    assert_int_equal(b.tcp_inputs, 1);
    assert_int_equal(b.tcp_in.tos & 3, 3);
    bench_stop(&b);
}

/* A fragment with this in the IPv6 payload before and in it. */
static void raw(struct bench *b, int next, int ecn, const uint8_t *p, uint32_t len)
{
    struct ip6_spec s = {&peer6, &own6, 44, 0, 0};
    static uint8_t f[70000];

    s.next = (uint8_t)next;
    make_ip6(f, &s, p, len);
    f[15] = (uint8_t)(ecn << 4);
    bench_input(b, f, 54 + len);
}

/* R8200-08: together longer than 65535 for the headers of the first; headers longer than a host
 * looks at; fragments within fragments; a last fragment with nothing in it. */
static void impossible_wholes(void **state)
{
    static uint8_t p[70000];
    struct bench b;
    uint32_t at;

    (void)state;
    start(&b);
    for (at = 0; at < 65535 / 1024 * 1024; at += 1024)
        if (at)
            fragment(&b, 1, at, at + 1024, 1);
    fragment(&b, 1, at, 65535, 0);
    memset(p, 0, 64);
    p[0] = 44; /* eight bytes of options more than the others have */
    p[2] = 1;
    p[3] = 4;
    p[8] = 6;
    poke16(p + 10, 1);
    poke32(p + 12, 1);
    memcpy(p + 16, whole, 1024);
    raw(&b, 60, 0, p, 16 + 1024);
    assert_int_equal(b.tcp_inputs, 0);
    assert_int_equal(bench_counter(&b, TOEC_C_ip6_frag_bad), 1);
    assert_int_equal(datagrams(&b), 0);
    fragment(&b, 2, 8, 8, 0);
    assert_int_equal(bench_counter(&b, TOEC_C_ip6_frag_bad), 2);
    memset(p, 0, 64);
    p[0] = 44; /* a fragment whose payload is one */
    poke16(p + 2, 1);
    p[7] = 3;
    p[8] = 6;
    poke16(p + 10, 1);
    p[15] = 4;
    memcpy(p + 16, whole, 64);
    raw(&b, 44, 0, p, 8 + 72);
    poke16(p + 2, 72);
    raw(&b, 44, 0, p, 8 + 72);
    assert_int_equal(b.tcp_inputs, 0);
    assert_int_equal(bench_counter(&b, TOEC_C_ip6_frag_bad), 3);
    assert_int_equal(datagrams(&b), 0);
    bench_stop(&b);
}

/* R8200-05: the middle is missing; the first is quoted, as far as it goes. */
static void timeout_of_both_ends(void **state)
{
    uint32_t len;
    struct bench b;

    (void)state;
    start(&b);
    fragment(&b, 1, 0, 1000, 1);
    fragment(&b, 1, 2000, 2500, 0);
    bench_pass(&b, 60 * SEC - MSEC);
    bench6_learn(&b, &peer6, peer_mac);
    bench_pass(&b, 2 * MSEC);
    (void)expect_icmp6(&b, 3, 1, &own6, &peer6, &len);
    assert_int_equal(len, 8 + 40 + 1000);
    bench_stop(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_order),
        cmocka_unit_test(ecn),
        cmocka_unit_test(atomic),
        cmocka_unit_test(overlaps),
        cmocka_unit_test(every_triple_of_fragments),
        cmocka_unit_test(timeout),
        cmocka_unit_test(impossible_lengths),
        cmocka_unit_test(whole_chain_first),
        cmocka_unit_test(pool_is_bounded),
        cmocka_unit_test(congestion_marks),
        cmocka_unit_test(impossible_wholes),
        cmocka_unit_test(timeout_of_both_ends),
    };

    return cmocka_run_group_tests_name("reass6", tests, 0, 0);
}
