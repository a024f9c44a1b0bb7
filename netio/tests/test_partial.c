/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_partial.c - partial checksums: they are found and completed, and no other frame is treated
 * as one.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../device/tests/seed.h"
#include "../src/backend.h"
#include "../src/partial.h"
#include "testing.h"

#define TCP 6u
#define UDP 17u

#define HEADERS 74u /* the largest that any_bytes() makes */

static void put16(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static uint32_t get16(const uint8_t *p)
{
    return (uint32_t)p[0] << 8 | p[1];
}

static uint32_t sum16(const uint8_t *p, uint32_t len)
{
    uint64_t sum = 0;
    uint32_t i;

    for (i = 0; i < len; i++)
        sum += i % 2 ? p[i] : (uint32_t)p[i] << 8;
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint32_t)sum;
}

/* A datagram as a kernel passes it to a device; l4_len bytes after the IP header. */
static uint32_t make(uint8_t *f, int version, uint32_t options, uint8_t proto, uint32_t l4_len)
{
    uint32_t ip_len = version == 4 ? 20 + options : 40, l4 = ETH_HEADER + ip_len, i, sum;
    uint8_t *ip = f + ETH_HEADER;

    for (i = 0; i < l4 + l4_len; i++)
        f[i] = (uint8_t)rand();
    put16(f + 12, version == 4 ? 0x0800 : 0x86dd);
    if (version == 4) {
        ip[0] = (uint8_t)(0x40 | ip_len / 4);
        put16(ip + 2, ip_len + l4_len);
        put16(ip + 6, 0x4000);
        ip[9] = proto;
        sum = sum16(ip + 12, 8);
    } else {
        ip[0] = 0x60;
        put16(ip + 4, l4_len);
        ip[6] = proto;
        sum = sum16(ip + 8, 32);
    }
    sum += proto + l4_len;
    sum = (sum & 0xffff) + (sum >> 16);
    f[l4 + 12] = proto == TCP ? 0x50 : f[l4 + 12];
    put16(f + l4 + (proto == TCP ? 16 : 6), (sum & 0xffff) + (sum >> 16));
    return l4 + l4_len;
}

/* Inserts VLAN tags. Returns the bytes added. */
static uint32_t tag(uint8_t *f, uint32_t len, unsigned tags)
{
    unsigned i;

    for (i = 0; i < tags; i++, len += 4) {
        memmove(f + 16, f + 12, len - 12);
        put16(f + 12, i % 2 ? 0x88a8 : 0x8100);
    }
    return 4 * tags;
}

/* Is the checksum of the datagram right? */
static int is_right(const uint8_t *f, const struct partial *p, int version, uint8_t proto)
{
    const uint8_t *ip = f + p->l3;
    uint32_t sum = version == 4 ? sum16(ip + 12, 8) : sum16(ip + 8, 32);

    sum += proto + (p->end - p->l4) + sum16(f + p->l4, p->end - p->l4);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return sum == 0xffff;
}

static void found_and_completed(void **state)
{
    uint8_t f[2048];
    unsigned i;

    (void)state;
    for (i = 0; i < 20000; i++) {
        int version = i % 2 ? 4 : 6;
        uint8_t proto = i % 3 ? TCP : UDP;
        uint32_t l4_len = (proto == TCP ? 20 : 8) + (uint32_t)rand() % 1400;
        uint32_t len = make(f, version, (uint32_t)rand() % 11 * 4, proto, l4_len);
        uint32_t padding = len < 60 ? 60 - len : 0;
        struct partial p;

        len += tag(f, len, (unsigned)rand() % 4 / 2 * (1 + i % 2));

        assert_int_equal(partial_find(f, len + padding, &p), 1);
        assert_int_equal(p.end, len);
        assert_int_equal(p.payload, p.l4 + (proto == TCP ? 20 : 8));
        partial_complete(f, &p);
        assert_true(is_right(f, &p, version, proto));
        assert_true(proto == TCP || get16(f + p.l4 + 6) != 0);
    }
}

static void nothing_else(void **state)
{
    uint8_t f[256], *exact;
    struct partial p;
    uint32_t len, i;

    (void)state;
    len = make(f, 4, 0, TCP, 40);
    for (i = 0; i < len; i++) { /* cut, in memory that ends there */
        exact = malloc(i ? i : 1);
        assert_non_null(exact);
        memcpy(exact, f, i);
        assert_int_equal(partial_find(exact, i, &p), 0);
        free(exact);
    }
    assert_int_equal(partial_find(f, len, &p), 1);
    partial_complete(f, &p);
    assert_int_equal(partial_find(f, len, &p), 0); /* it has one now */
    make(f, 4, 0, TCP, 40);
    put16(f + ETH_HEADER + 6, 0x2000); /* a first fragment */
    assert_int_equal(partial_find(f, len, &p), 0);
    put16(f + ETH_HEADER + 6, 0x0001); /* a later one */
    assert_int_equal(partial_find(f, len, &p), 0);
    make(f, 4, 0, 1, 40); /* ICMP */
    assert_int_equal(partial_find(f, len, &p), 0);
    make(f, 4, 0, UDP, 40);
    put16(f + ETH_HEADER + 26, 0); /* UDP without a checksum */
    assert_int_equal(partial_find(f, len, &p), 0);
}

/* The payload found lies within the frame. */
static void any_bytes(void **state)
{
    unsigned i;

    (void)state;
    for (i = 0; i < 200000; i++) {
        uint32_t len = (uint32_t)rand() % 120, j;
        uint8_t *f = malloc(len + 1);
        struct partial p;

        assert_non_null(f);
        if (len >= HEADERS)
            make(f, i % 2 ? 4 : 6, 0, i % 3 ? TCP : UDP, 20);
        for (j = 0; j < len; j++)
            if (len < HEADERS || rand() % 16 == 0)
                f[j] = (uint8_t)rand();
        f = realloc(f, len ? len : 1);
        assert_non_null(f);
        if (partial_find(f, len, &p)) {
            assert_true(p.end <= len && p.l4 + p.csum_offset + 2 <= p.end);
            partial_complete(f, &p);
        }
        free(f);
    }
}

int main(void)
{
    unsigned seed = (unsigned)seed_of_run(1, UINT_MAX);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found_and_completed),
        cmocka_unit_test(nothing_else),
        cmocka_unit_test(any_bytes),
    };

    srand(seed);
    return cmocka_run_group_tests_name("partial", tests, NULL, NULL);
}
