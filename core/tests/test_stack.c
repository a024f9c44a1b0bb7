/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stack.c - a stack as a whole: configuration, memory, keys, counters' names, deadlines.
 */
#include <stdlib.h>

#include "bench.h"
#include "ip/ip4_out.h"

static void defaults(void **state)
{
    struct bench b;

    (void)state;
    bench_init(&b);
    assert_int_equal(b.s->cfg.mtu, 1500);
    assert_int_equal(b.s->cfg.max_flows, 1024);
    assert_int_equal(b.s->cfg.max_listeners, 64);
    assert_int_equal(b.s->cfg.max_time_wait, 16384);
    assert_int_equal(b.s->cfg.max_neighbours, 256);
    assert_int_equal(b.s->cfg.max_datagrams, 16);
    assert_int_equal(b.s->cfg.home_count, 1);
    bench_stop(&b);
}

static void invalid(struct bench *b)
{
    static _Alignas(64) uint8_t mem[64];

    assert_int_equal(toec_size(&b->cfg), 0);
    assert_null(toec_init(mem, sizeof(mem), &b->cfg, 0));
    bench_config(b);
}

static void invalid_configurations(void **state)
{
    static const uint32_t bad_ips[] = {0,          0x7f000001, 0xe0000001,
                                       0xffffffff, 0x0a000000, 0x0a0000ff};
    struct bench b;
    unsigned i;

    (void)state;
    bench_config(&b);
    assert_true(toec_size(&b.cfg) > 0);
    for (i = 0; i < sizeof(bad_ips) / sizeof(bad_ips[0]); i++) {
        poke32(b.cfg.ip, bad_ips[i]);
        poke32(b.cfg.gateway, 0);
        invalid(&b);
    }
    memset(b.cfg.mac, 0, 6);
    invalid(&b);
    b.cfg.mac[0] = 1;
    invalid(&b);
    b.cfg.prefix_len = 33;
    invalid(&b);
    poke32(b.cfg.gateway, FAR_IP); /* not on the link */
    invalid(&b);
    poke32(b.cfg.gateway, OWN_IP);
    invalid(&b);
    poke32(b.cfg.gateway, 0x0a0000ff);
    invalid(&b);
    b.cfg.mtu = 575;
    invalid(&b);
    b.cfg.mtu = 9217;
    invalid(&b);
    b.cfg.ttl = 256;
    invalid(&b);
    b.cfg.max_flows = 0xffffffff;
    invalid(&b);
    b.cfg.max_time_wait = 0xffffffff;
    invalid(&b);
    b.cfg.max_listeners = 0xffffffff;
    invalid(&b);
    b.cfg.max_neighbours = 0xffffffff;
    invalid(&b);
    b.cfg.max_datagrams = 0xffffffff;
    invalid(&b);
    b.cfg.max_gso = 65536;
    invalid(&b);
    b.cfg.offload = 2;
    invalid(&b);
    b.cfg.cc = (enum toec_cc)99;
    invalid(&b);
    b.cfg.home_index = 1;
    invalid(&b);
    b.cfg.home_index = b.cfg.home_count = 4;
    invalid(&b);
    b.cfg.max_udp = 65537;
    invalid(&b);
    b.cfg.max_udp = 1; /* without a receiver for them */
    invalid(&b);
    b.cfg.ecn = (enum toec_ecn_policy)99;
    invalid(&b);
    b.cfg.mtu_probing = (enum toec_mtu_probing)99;
    invalid(&b);
}

/* RFC 4291: neither a group nor two hosts of one address; none at all where IPv6 is off. */
static void invalid_ip6_configurations(void **state)
{
    struct bench b;

    (void)state;
    bench_config(&b);
    b.cfg.ip6_gateway[0] = 0xfe;
    invalid(&b);
    b.cfg.ip6_addr[0] = 0xfd;
    invalid(&b);
    b.cfg.ip6 = TOEC_IP6_STATIC;
    b.cfg.ip6_prefix_len = 129;
    invalid(&b);
    b.cfg.ip6 = (enum toec_ip6_mode)99;
    invalid(&b);
    b.cfg.ip6 = TOEC_IP6_STATIC;
    b.cfg.ip6_gateway[0] = 0xff;
    invalid(&b);
    b.cfg.ip6 = TOEC_IP6_STATIC;
    b.cfg.ip6_gateway[0] = b.cfg.ip6_addr[0] = 0xfd;
    invalid(&b);
    b.cfg.ip6 = TOEC_IP6_STATIC;
    memset(b.cfg.ip, 0, 4); /* a gateway without an address */
    invalid(&b);
    b.cfg.ip6 = TOEC_IP6_STATIC;
    b.cfg.ip6_addr[0] = 0xfd;
    b.cfg.ip6_gateway[0] = 0xfe;
    assert_true(toec_size(&b.cfg) > 0);
}

/* Frames of a family that is not configured, and of lengths that cannot be. */
static void frames_of_nobody(void **state)
{
    struct ip4_spec spec = {PEER_IP, OWN_IP, 6, 64, 0, 0, 0, 0};
    struct toec_packet p;
    uint8_t f[128] = {0};
    struct bench b;
    uint32_t len;

    (void)state;
    bench_init(&b);
    memcpy(f, own_mac, 6);
    poke16(f + 12, 0x86dd);
    bench_input(&b, f, 60);
    assert_int_equal(bench_counter(&b, TOEC_C_eth_unknown_type), 1);
    memset(&p, 0, sizeof(p));
    p.data = f;
    p.head_len = 60;
    p.len = 59;
    toec_input(b.s, &p, b.now);
    assert_int_equal(bench_counter(&b, TOEC_C_eth_short), 1);
    bench_stop(&b);
    bench_config(&b);
    memset(b.cfg.ip, 0, 4);
    memset(b.cfg.gateway, 0, 4);
    b.cfg.ip6 = TOEC_IP6_AUTO;
    bench_start(&b);
    len = make_ip4(f, &spec, "01234567890123456789", 20);
    bench_input(&b, f, len);
    assert_int_equal(bench_counter(&b, TOEC_C_eth_unknown_type), 1);
    assert_int_equal(b.tcp_inputs, 0);
    bench_stop(&b);
}

/* Too little memory or misaligned memory is refused; exactly enough is not overrun (sanitizer). */
static void memory_is_checked(void **state)
{
    unsigned long size;
    struct bench b;
    uint8_t *mem;

    (void)state;
    bench_config(&b);
    size = toec_size(&b.cfg);
    assert_int_equal(size % 64, 0);
    mem = aligned_alloc(64, size + 64);
    assert_non_null(mem);
    assert_null(toec_init(mem, size - 1, &b.cfg, 0));
    assert_null(toec_init(mem + 8, size, &b.cfg, 0));
    assert_null(toec_init(NULL, size, &b.cfg, 0));
    assert_non_null(toec_init(mem, size, &b.cfg, 0));
    free(mem);
}

/* Stacks with other secrets have other keys, and none is used twice. */
static void keys(void **state)
{
    struct bench a, b;
    toec_u64 *x, *y;
    unsigned i, j, n = sizeof(struct toec_keys) / sizeof(toec_u64);

    (void)state;
    bench_init(&a);
    bench_config(&b);
    b.cfg.secret[31] ^= 1;
    bench_start(&b);
    x = (toec_u64 *)(void *)&a.s->keys;
    y = (toec_u64 *)(void *)&b.s->keys;
    for (i = 0; i < n; i++) {
        assert_true(x[i] != y[i]);
        for (j = 0; j < i; j++)
            assert_true(x[i] != x[j]);
    }
    assert_int_not_equal(toec_rand32(a.s), toec_rand32(a.s));
    bench_stop(&a);
    bench_stop(&b);
}

/* Stacks that share isn_secret alone have the same keys of sequence numbers and timestamps at the
 * same address, and no other key. */
static void keys_of_a_successor(void **state)
{
    struct bench a, b, c;
    unsigned i;

    (void)state;
    bench_config(&a);
    bench_config(&b);
    bench_config(&c);
    b.cfg.secret[0] ^= 1;
    c.cfg.ip[3] ^= 0x40;
    memset(a.cfg.isn_secret, 7, sizeof(a.cfg.isn_secret));
    memset(b.cfg.isn_secret, 7, sizeof(b.cfg.isn_secret));
    memset(c.cfg.isn_secret, 7, sizeof(c.cfg.isn_secret));
    bench_start(&a);
    bench_start(&b);
    bench_start(&c);
    assert_memory_equal(a.s->keys.isn, b.s->keys.isn, sizeof(a.s->keys.isn));
    assert_memory_equal(a.s->keys.ts, b.s->keys.ts, sizeof(a.s->keys.ts));
    assert_memory_not_equal(a.s->keys.isn, a.s->keys.ts, sizeof(a.s->keys.isn));
    for (i = 0; i < 2; i++) {
        assert_true(a.s->keys.isn[i] != c.s->keys.isn[i]);
        assert_true(a.s->keys.ts[i] != c.s->keys.ts[i]);
        assert_true(a.s->keys.cookie[i] != b.s->keys.cookie[i]);
        assert_true(a.s->keys.rand[i] != b.s->keys.rand[i]);
        assert_true(a.s->keys.tfo[i] != b.s->keys.tfo[i]);
    }
    bench_stop(&a);
    bench_stop(&b);
    bench_stop(&c);
}

#define NAME(name, description) {#name, description},
static const struct {
    const char *name, *description;
} names[] = {TOEC_COUNTERS(NAME)};

static void counters_have_names(void **state)
{
    unsigned i, j;

    (void)state;
    assert_int_equal(sizeof(names) / sizeof(names[0]), TOEC_C_MAX);
    for (i = 0; i < TOEC_C_MAX; i++) {
        assert_true(strlen(names[i].name) > 0 && strlen(names[i].description) > 0);
        for (j = 0; j < i; j++)
            assert_string_not_equal(names[i].name, names[j].name);
    }
}

static void frames_are_counted(void **state)
{
    struct bench b;
    uint8_t f[64];

    (void)state;
    bench_init(&b);
    bench_input(&b, f, make_arp(f, 1, peer_mac, PEER_IP, 0, OWN_IP));
    assert_int_equal(bench_counter(&b, TOEC_C_rx_frames), 1);
    assert_int_equal(bench_counter(&b, TOEC_C_rx_bytes), 60);
    assert_int_equal(bench_counter(&b, TOEC_C_tx_frames), 3);
    assert_int_equal(bench_counter(&b, TOEC_C_tx_bytes), 180);
    bench_stop(&b);
}

/* An idle stack wants nothing; a full transmit wants to be polled at once; then peace again. */
static void deadlines(void **state)
{
    struct toec_path path;
    struct toec_outbuf o;
    struct bench b;
    toec_time next;

    (void)state;
    bench_init(&b);
    assert_true(bench_poll(&b) == TOEC_NEVER);
    memset(&o, 0, sizeof(o));
    o.sum_off = TOEC_SUM_NONE;
    assert_int_equal(toec_ip4_path(b.s, PEER_IP, &path), 0);
    assert_int_equal(toec_ip4_output(b.s, &path, &o, b.now), TOEC_SEND_WAIT);
    next = bench_poll(&b); /* waiting for a neighbour is not a reason to spin */
    assert_true(next > b.now && next < b.now + 1002 * MSEC);
    bench_stop(&b);
}

static void tcp_timers_reach_tcp(void **state)
{
    struct toec_timer t;
    struct bench b;

    (void)state;
    bench_init(&b);
    memset(&t, 0, sizeof(t));
    toec_timer_set(b.s, &t, TOEC_TMR_TCP, b.now + SEC);
    bench_pass(&b, 998 * MSEC);
    assert_int_equal(b.tcp_timers, 0);
    bench_pass(&b, 4 * MSEC);
    assert_int_equal(b.tcp_timers, 1);
    assert_false(toec_timer_pending(&t));
    toec_timer_set(b.s, &t, TOEC_TMR_TCP, b.now + SEC);
    toec_timer_cancel(b.s, &t);
    bench_pass(&b, 2 * SEC);
    assert_int_equal(b.tcp_timers, 1);
    bench_stop(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(invalid_configurations),
        cmocka_unit_test(invalid_ip6_configurations),
        cmocka_unit_test(frames_of_nobody),
        cmocka_unit_test(memory_is_checked),
        cmocka_unit_test(keys),
        cmocka_unit_test(keys_of_a_successor),
        cmocka_unit_test(counters_have_names),
        cmocka_unit_test(frames_are_counted),
        cmocka_unit_test(deadlines),
        cmocka_unit_test(tcp_timers_reach_tcp),
    };

    return cmocka_run_group_tests_name("stack", tests, 0, 0);
}
