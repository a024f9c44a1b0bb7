/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_arp.c - ARP and the neighbour cache: each rule of RFC 826, 1122 2.3.2.1, 4861 7.3 and 5227
 * that arp.c and neigh.c follow, in virtual time.
 */
#include "bench.h"

/* Sends a datagram without payload to dst; what toec_ip4_output() says. */
static int try_send(struct bench *b, struct toec_path *path)
{
    struct toec_outbuf o;

    memset(&o, 0, sizeof(o));
    o.src = OWN_IP;
    o.dst = path->next_hop;
    o.proto = 253; /* RFC 3692: for experiments */
    o.sum_off = TOEC_SUM_NONE;
    return toec_ip4_output(b->s, path, &o, b->now);
}

static void expect_arp(struct bench *b, int op, const uint8_t *eth_dst, uint32_t tpa)
{
    const struct sent *f = bench_next(b);

    assert_non_null(f);
    assert_int_equal(f->len, 60); /* R826-01: padded to the minimum */
    assert_memory_equal(f->data, eth_dst, 6);
    assert_memory_equal(f->data + 6, own_mac, 6);
    assert_int_equal(peek16(f->data + 12), 0x0806);
    assert_int_equal(peek16(f->data + 14), 1);
    assert_int_equal(peek16(f->data + 16), 0x0800);
    assert_int_equal(f->data[18], 6);
    assert_int_equal(f->data[19], 4);
    assert_int_equal(peek16(f->data + 20), op);
    assert_memory_equal(f->data + 22, own_mac, 6);
    assert_int_equal(peek32(f->data + 28), OWN_IP);
    assert_int_equal(peek32(f->data + 38), tpa);
}

static void expect_sent_to(struct bench *b, const uint8_t *mac)
{
    const struct sent *f = bench_next(b);

    assert_non_null(f);
    assert_int_equal(peek16(f->data + 12), 0x0800);
    assert_memory_equal(f->data, mac, 6);
}

static void announces_twice(void **state)
{
    struct bench b;

    (void)state;
    bench_config(&b);
    bench_start(&b);
    assert_null(bench_next(&b)); /* nothing before the first poll */
    bench_poll(&b);
    expect_arp(&b, 1, broadcast_mac, OWN_IP);
    assert_null(bench_next(&b));
    bench_pass(&b, 2 * SEC + 2 * MSEC);
    expect_arp(&b, 1, broadcast_mac, OWN_IP);
    assert_true(bench_poll(&b) == TOEC_NEVER);
    bench_stop(&b);
}

static void resolves_then_sends(void **state)
{
    struct toec_path path;
    struct bench b;
    uint8_t f[64];
    toec_u32 epoch;

    (void)state;
    bench_init(&b);
    assert_int_equal(toec_ip4_path(b.s, PEER_IP, &path), 0);
    assert_int_equal(try_send(&b, &path), TOEC_SEND_WAIT);
    expect_arp(&b, 1, broadcast_mac, PEER_IP);
    epoch = toec_send_epoch(b.s);
    assert_int_equal(try_send(&b, &path), TOEC_SEND_WAIT); /* asking once is enough */
    assert_null(bench_next(&b));
    assert_int_equal(toec_send_epoch(b.s), epoch);
    bench_input(&b, f, make_arp(f, 2, peer_mac, PEER_IP, own_mac, OWN_IP));
    assert_int_not_equal(toec_send_epoch(b.s), epoch);
    assert_int_equal(try_send(&b, &path), 0);
    expect_sent_to(&b, peer_mac);
    bench_stop(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(announces_twice),
        cmocka_unit_test(resolves_then_sends),
    };

    return cmocka_run_group_tests_name("arp", tests, 0, 0);
}
