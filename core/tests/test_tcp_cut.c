/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tcp_cut.c - toec_tx_cut(): the headers of the segments of a large one are those that TSO
 * makes, byte for byte; both families, with and without DF, and what only the first or the last
 * segment has.
 */
#include "tcpsim.h"

#include "base/wire.h"
#include "wire/wire_eth.h"
#include "wire/wire_ip4.h"
#include "wire/wire_ip6.h"
#include "wire/wire_tcp.h"

#define GSO 1000u
#define LEN 2500u /* three segments, the last one shorter */

struct large {
    struct toec_tx tx;
    uint8_t hdr[74], payload[LEN];
};

/* A large segment with the flags PSH, FIN and CWR, as core/ gives it to an integrator with TSO. */
static void make(struct large *l, int ip6, int df)
{
    unsigned l3 = ip6 ? TOEC_IP6_LEN : TOEC_IP4_LEN, i;
    uint8_t *ip = l->hdr + TOEC_ETH_LEN, *tcp = ip + l3;
    uint32_t sum = 6 + TOEC_TCP_LEN + LEN;

    memset(l, 0, sizeof(*l));
    for (i = 0; i < LEN; i++)
        l->payload[i] = (uint8_t)(i * 7);
    toec_put16(ip - 2, ip6 ? TOEC_ETHERTYPE_IP6 : 0x0800);
    for (i = 0; i < (ip6 ? 32u : 8u); i++)
        ip[l3 - (ip6 ? 32 : 8) + i] = (uint8_t)(0x20 + i);
    for (i = 0; i < (ip6 ? 32u : 8u); i += 2)
        sum += toec_get16(ip + l3 - (ip6 ? 32 : 8) + i);
    if (ip6) {
        ip[0] = 0x60;
        toec_put16(ip + TOEC_IP6_PAYLOAD, TOEC_TCP_LEN + LEN);
    } else {
        ip[0] = 0x45;
        toec_put16(ip + TOEC_IP4_TOTAL, TOEC_IP4_LEN + TOEC_TCP_LEN + LEN);
        toec_put16(ip + TOEC_IP4_ID, 0xffff);
        if (df)
            ip[6] = 0x40;
    }
    toec_put32(tcp + TOEC_TCP_SEQ, 0xfffffc00u);
    tcp[12] = 0x50;
    tcp[TOEC_TCP_FLAGS] = TOEC_TH_ACK | TOEC_TH_PSH | TOEC_TH_FIN | TOEC_TH_CWR;
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    toec_put16(tcp + 16, sum); /* of the pseudo-header */
    l->tx.hdr = l->hdr;
    l->tx.hdr_len = (toec_u16)(TOEC_ETH_LEN + l3 + TOEC_TCP_LEN);
    l->tx.len = LEN;
    l->tx.gso_size = GSO;
    l->tx.csum_start = (toec_u16)(TOEC_ETH_LEN + l3);
    l->tx.csum_offset = 16;
}

/* Returns the ones' complement sum of n bytes as words of the network's order. */
static uint32_t add(const uint8_t *p, unsigned n, uint32_t sum)
{
    unsigned i;

    for (i = 0; i + 1 < n; i += 2)
        sum += toec_get16(p + i);
    if (n & 1)
        sum += (uint32_t)p[n - 1] << 8;
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return sum;
}

static void check(const struct large *l, int ip6, int df, uint32_t at, uint32_t n)
{
    uint8_t frame[74 + LEN], *ip = frame + TOEC_ETH_LEN;
    unsigned l3 = ip6 ? TOEC_IP6_LEN : TOEC_IP4_LEN, hdr_len = l->tx.hdr_len;
    uint8_t *tcp = ip + l3, flags = TOEC_TH_ACK;
    uint32_t pseudo;

    toec_tx_cut(&l->tx, at, n, frame);
    memcpy(frame + hdr_len, l->payload + at, n);
    toec_tx_finish(&l->tx, frame, hdr_len + n);
    assert_int_equal(toec_get32(tcp + TOEC_TCP_SEQ), (uint32_t)(0xfffffc00u + at));
    if (at == 0)
        flags |= TOEC_TH_CWR;
    if (at + n == LEN)
        flags |= TOEC_TH_PSH | TOEC_TH_FIN;
    assert_int_equal(tcp[TOEC_TCP_FLAGS], flags);
    if (ip6) {
        assert_int_equal(toec_get16(ip + TOEC_IP6_PAYLOAD), TOEC_TCP_LEN + n);
    } else {
        assert_int_equal(toec_get16(ip + TOEC_IP4_TOTAL), TOEC_IP4_LEN + TOEC_TCP_LEN + n);
        assert_int_equal(toec_get16(ip + TOEC_IP4_ID), df ? 0xffff : (0xffff + at / GSO) & 0xffff);
        assert_int_equal(add(ip, TOEC_IP4_LEN, 0), 0xffff);
    }
    pseudo = add(ip + l3 - (ip6 ? 32 : 8), ip6 ? 32 : 8, 6 + TOEC_TCP_LEN + n);
    assert_int_equal(add(tcp, TOEC_TCP_LEN + n, pseudo), 0xffff);
}

static void test_segments(void **state)
{
    static struct large l;
    unsigned i;
    uint32_t at;

    (void)state;
    for (i = 0; i < 3; i++) {
        make(&l, i == 2, i == 1);
        for (at = 0; at < LEN; at += GSO)
            check(&l, i == 2, i == 1, at, LEN - at < GSO ? LEN - at : GSO);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_segments)};

    return cmocka_run_group_tests_name("tcp_cut", tests, 0, 0);
}
