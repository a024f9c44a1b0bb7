/* SPDX-License-Identifier: Apache-2.0 */
/* arp_bench.h - what the tests of ARP and of the neighbour cache send and expect. */
#ifndef ARP_BENCH_H
#define ARP_BENCH_H

#include "bench.h"
#include "ip/ip4_out.h"

/* Sends a datagram without payload to dst; returns the result of toec_ip4_output(). */
static inline int try_send(struct bench *b, struct toec_path *path)
{
    struct toec_outbuf o;

    memset(&o, 0, sizeof(o));
    o.src = mapped(OWN_IP);
    o.dst = &path->next_hop;
    o.proto = 253; /* RFC 3692: for experiments */
    o.sum_off = TOEC_SUM_NONE;
    return toec_ip4_output(b->s, path, &o, b->now);
}

static inline void expect_arp(struct bench *b, int op, const uint8_t *eth_dst, uint32_t tpa)
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

static inline void expect_sent_to(struct bench *b, const uint8_t *mac)
{
    const struct sent *f = bench_next(b);

    assert_non_null(f);
    assert_int_equal(peek16(f->data + 12), 0x0800);
    assert_memory_equal(f->data, mac, 6);
}

static inline void resolve(struct bench *b, struct toec_path *path, uint32_t ip, const uint8_t *mac)
{
    uint8_t f[64];

    assert_int_equal(toec_ip4_path(b->s, ip, path), 0);
    assert_int_equal(try_send(b, path), TOEC_SEND_WAIT);
    bench_input(b, f, make_arp(f, 2, mac, ip, own_mac, OWN_IP));
    bench_forget_sent(b);
    assert_int_equal(try_send(b, path), 0);
    expect_sent_to(b, mac);
    bench_forget_sent(b);
}

static inline unsigned neighbours(struct bench *b)
{
    struct toec_usage u;

    toec_usage(b->s, &u);
    return u.neighbours;
}

#endif
