/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_bits.c - the small tools: bit search, 64-bit arithmetic, pool, token bucket, wire formats.
 */
#include "base/bits.h"
#include "base/pool.h"
#include "base/rate.h"
#include "bench.h"
#include "random.h"
#include "wire/wire_arp.h"
#include "wire/wire_tcp.h"

static void bit_search(void **state)
{
    unsigned i;

    (void)state;
    random_begin(9);
    for (i = 0; i < 32; i++) {
        assert_int_equal(toec_ctz32(1u << i), i);
        assert_int_equal(toec_ctz32(0xffffffffu << i), i);
        assert_int_equal(toec_ctz32((uint32_t)(random64() | 1) << i), i);
        assert_int_equal(toec_msb32(1u << i), i);
        assert_int_equal(toec_msb32(0xffffffffu >> (31 - i)), i);
        assert_int_equal(toec_msb32(((uint32_t)random64() | 0x80000000u) >> (31 - i)), i);
    }
}

static void shifts(void **state)
{
    uint64_t x;
    unsigned n;

    (void)state;
    random_begin(10);
    for (n = 0; n < 64; n++) {
        x = random64();
        assert_true(toec_shr64(x, n) == x >> n);
        assert_true(toec_shl64(x, n) == x << n);
    }
}

static void division(void **state)
{
    static const uint64_t edges[] = {0,
                                     1,
                                     2,
                                     0xffff,
                                     0x10000,
                                     0x7fffffff,
                                     0x80000000,
                                     0xffffffff,
                                     0x100000000,
                                     0xffffffff00000000,
                                     0xffffffffffffffff,
                                     0x8000000000000000,
                                     1000000000};
    unsigned i, j;

    (void)state;
    random_begin(11);
    for (i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
        for (j = 1; j < sizeof(edges) / sizeof(edges[0]); j++)
            if ((uint32_t)edges[j])
                assert_true(toec_div64_by_steps(edges[i], (uint32_t)edges[j]) ==
                            edges[i] / (uint32_t)edges[j]);
    for (i = 0; i < 100000; i++) {
        uint64_t n = random64() >> random_below(64);
        uint32_t d = (uint32_t)random64() >> random_below(32);

        if (d == 0)
            continue;
        assert_true(toec_div64_by_steps(n, d) == n / d);
        assert_true(toec_div64(n, d) == n / d);
    }
}

static void pool_is_lifo_and_bounded(void **state)
{
    void *items[3][2], *a, *b, *c;
    struct toec_pool p;

    (void)state;
    toec_pool_init(&p, items, sizeof(items[0]), 3);
    a = toec_pool_get(&p);
    b = toec_pool_get(&p);
    c = toec_pool_get(&p);
    assert_ptr_equal(a, items[0]);
    assert_ptr_equal(c, items[2]);
    assert_null(toec_pool_get(&p));
    assert_int_equal(p.used, 3);
    assert_int_equal(toec_pool_index(&p, b), 1);
    assert_ptr_equal(toec_pool_at(&p, 1), b);
    toec_pool_put(&p, a);
    toec_pool_put(&p, b);
    assert_int_equal(p.used, 1);
    assert_ptr_equal(toec_pool_get(&p), b); /* the last one in */
    assert_ptr_equal(toec_pool_get(&p), a);
    assert_null(toec_pool_get(&p));
}

/* burst at once, then per_second, whatever the history. */
static void rate_limits(void **state)
{
    struct toec_rate r;
    unsigned i, passed;

    (void)state;
    toec_rate_init(&r, 100, 10);
    for (i = 0, passed = 0; i < 1000; i++)
        passed += toec_rate_allow(&r, SEC);
    assert_int_equal(passed, 10);
    for (i = 0, passed = 0; i < 10000; i++) /* 10 s, a request each ms */
        passed += toec_rate_allow(&r, SEC + i * MSEC);
    assert_in_range(passed, 999, 1001);
    for (i = 0, passed = 0; i < 100; i++) /* a pause fills the bucket, not more */
        passed += toec_rate_allow(&r, 100 * SEC);
    assert_int_equal(passed, 10);
}

static void rate_without_limit(void **state)
{
    struct toec_rate r;
    unsigned i;

    (void)state;
    toec_rate_init(&r, 0xffffffffu, 1);
    for (i = 0; i < 1000; i++)
        assert_true(toec_rate_allow(&r, 0));
}

static void integers_on_the_wire(void **state)
{
    uint8_t b[9];
    unsigned at;

    (void)state;
    for (at = 0; at < 4; at++) {
        toec_put32(b + at, 0x01020304);
        assert_int_equal(b[at], 1);
        assert_int_equal(b[at + 3], 4);
        assert_int_equal(toec_get32(b + at), 0x01020304);
        toec_put16(b + at, 0xfffe);
        assert_int_equal(b[at], 0xff);
        assert_int_equal(toec_get16(b + at), 0xfffe);
    }
}

static void mapped_addresses(void **state)
{
    static const uint8_t expected[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 1, 2, 3};
    struct toec_addr a, b;
    unsigned i;

    (void)state;
    toec_addr_set4(&a, 0x0a010203);
    assert_memory_equal(a.b, expected, 16);
    assert_int_equal(toec_addr_get4(&a), 0x0a010203);
    assert_true(toec_addr_is4(&a));
    for (i = 0; i < 16; i++) {
        b = a;
        assert_true(toec_addr_eq(&a, &b));
        b.b[i] ^= 0x40;
        assert_false(toec_addr_eq(&a, &b));
        assert_int_equal(toec_addr_is4(&b), i >= 12);
    }
}

/* parse(emit(x)) == x */
static void arp_round_trip(void **state)
{
    struct toec_arp in, out;
    uint8_t b[TOEC_ARP_LEN];
    unsigned i, k;

    (void)state;
    random_begin(13);
    for (i = 0; i < 1000; i++) {
        memset(&in, 0, sizeof(in));
        memset(&out, 0, sizeof(out));
        in.op = 1 + random_below(2);
        for (k = 0; k < 6; k++) {
            in.sha[k] = random64();
            in.tha[k] = random64();
        }
        in.spa = random64();
        in.tpa = random64();
        toec_arp_emit(b, &in);
        assert_int_equal(toec_arp_parse(&out, b), 0);
        assert_int_equal(out.op, in.op);
        assert_memory_equal(out.sha, in.sha, 6);
        assert_memory_equal(out.tha, in.tha, 6);
        assert_int_equal(out.spa, in.spa);
        assert_int_equal(out.tpa, in.tpa);
    }
}

static void tcp_round_trip(void **state)
{
    uint8_t b[1 + TOEC_TCP_MAX_LEN], *t;
    unsigned i;

    (void)state;
    random_begin(14);
    for (i = 0; i < 1000; i++) {
        uint16_t sport = random64(), dport = random64(), wnd = random64();
        uint32_t seq = random64(), ack = random64(), hlen = 20 + 4 * random_below(11);
        uint8_t flags = random64();

        t = b + i % 2; /* at any alignment */
        memset(b, 0xff, sizeof(b));
        toec_tcp_emit(t, sport, dport, seq, ack, hlen, flags, wnd);
        assert_int_equal(toec_tcp_sport(t), sport);
        assert_int_equal(toec_tcp_dport(t), dport);
        assert_int_equal(toec_tcp_seq(t), seq);
        assert_int_equal(toec_tcp_ack(t), ack);
        assert_int_equal(toec_tcp_hlen(t), hlen);
        assert_int_equal(toec_tcp_flags(t), flags);
        assert_int_equal(toec_tcp_wnd(t), wnd);
        assert_int_equal(peek32(t + TOEC_TCP_SUM), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bit_search),
        cmocka_unit_test(shifts),
        cmocka_unit_test(division),
        cmocka_unit_test(pool_is_lifo_and_bounded),
        cmocka_unit_test(rate_limits),
        cmocka_unit_test(rate_without_limit),
        cmocka_unit_test(integers_on_the_wire),
        cmocka_unit_test(mapped_addresses),
        cmocka_unit_test(arp_round_trip),
        cmocka_unit_test(tcp_round_trip),
    };

    return cmocka_run_group_tests_name("bits", tests, 0, 0);
}
