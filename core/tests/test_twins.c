/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_twins.c - different addresses with the same hash: tables that compare the hash first still
 * distinguish them. Also the cache of path MTUs (RFC 1191, RFC 8201), which is such a table.
 */
#include <stdlib.h>

#include "bench6.h"

#define MANY 300000u

struct hashed {
    uint32_t hash, i;
};

static int by_hash(const void *x, const void *y)
{
    const struct hashed *a = x, *b = y;

    return a->hash < b->hash ? -1 : a->hash > b->hash;
}

static struct toec_addr numbered(uint32_t i)
{
    struct toec_addr a = peer6;

    uint64_t x = (i + 1) * 0x9e3779b97f4a7c15ull;

    x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9ull;
    x ^= x >> 32;
    memcpy(a.b + 8, &x, 8);
    return a;
}

/* Finds two addresses whose hashes of this kind are equal. */
static void find_twins(struct bench *b, uint32_t kind, struct toec_addr out[2])
{
    struct hashed *h = malloc(MANY * sizeof(*h));
    uint32_t i;

    assert_non_null(h);
    for (i = 0; i < MANY; i++) {
        struct toec_addr a = numbered(i);

        h[i].hash = toec_addr_hash(&b->s->keys.flow, &a, kind);
        h[i].i = i;
    }
    qsort(h, MANY, sizeof(*h), by_hash);
    for (i = 1; i < MANY && h[i].hash != h[i - 1].hash; i++)
        ;
    assert_true(i < MANY);
    out[0] = numbered(h[i - 1].i);
    out[1] = numbered(h[i].i);
    assert_false(toec_addr_eq(&out[0], &out[1]));
    free(h);
}

static void neighbours(void **state)
{
    struct toec_addr t[2];
    struct bench b;

    (void)state;
    bench6_init(&b, TOEC_IP6_STATIC);
    find_twins(&b, 0, t);
    bench6_learn(&b, &t[0], peer_mac);
    assert_null(toec_neigh_find(b.s, &t[1]));
    bench6_learn(&b, &t[1], other_mac);
    assert_memory_equal(toec_neigh_find(b.s, &t[0])->mac, peer_mac, 6);
    assert_memory_equal(toec_neigh_find(b.s, &t[1])->mac, other_mac, 6);
    bench_stop(&b);
}

static void path_mtus(void **state)
{
    struct toec_addr t[2];
    struct bench b;
    int no_df;

    (void)state;
    bench6_init(&b, TOEC_IP6_STATIC);
    find_twins(&b, 2, t);
    toec_pmtu_set(b.s, &t[0], 1300, 0, b.now);
    assert_int_equal(toec_pmtu_get(b.s, &t[1], &no_df), 0);
    toec_pmtu_set(b.s, &t[1], 1400, 1, b.now);
    assert_int_equal(toec_pmtu_get(b.s, &t[0], &no_df), 1300);
    assert_int_equal(no_df, 0);
    assert_int_equal(toec_pmtu_get(b.s, &t[1], &no_df), 1400);
    assert_int_equal(no_df, 1);
    bench_stop(&b);
}

/* The least recently reported entry is evicted; a repeated report refreshes an entry. */
static void path_mtus_are_bounded(void **state)
{
    struct toec_addr a;
    struct bench b;
    unsigned i, left = 0, n = TOEC_PMTU_ENTRIES;
    uint32_t gen;
    int no_df;

    (void)state;
    bench6_init(&b, TOEC_IP6_STATIC);
    for (i = 0; i < n; i++) {
        a = numbered(i);
        toec_pmtu_set(b.s, &a, 1300, 0, b.now);
        b.now += MSEC;
    }
    a = numbered(0);
    gen = b.s->pmtu.gen;
    toec_pmtu_set(b.s, &a, 1300, 0, b.now); /* the oldest entry again, with the same MTU */
    assert_int_equal(b.s->pmtu.gen, gen);
    toec_pmtu_set(b.s, &a, 1300, 1, b.now);
    toec_pmtu_set(b.s, &a, 1280, 1, b.now);
    assert_int_equal(b.s->pmtu.gen, gen + 2);
    a = numbered(7); /* from the middle */
    toec_pmtu_set(b.s, &a, 1290, 0, b.now);
    a = numbered(n);
    toec_pmtu_set(b.s, &a, 1300, 0, b.now);
    assert_int_equal(bench_counter(&b, TOEC_C_pmtu_evicted), 1);
    for (i = 0; i <= n; i++) {
        a = numbered(i);
        if (toec_pmtu_get(b.s, &a, &no_df))
            left++;
        else
            assert_int_equal(i, 1);
    }
    assert_int_equal(left, n);
    bench_pass(&b, 601 * SEC);
    assert_int_equal(bench_counter(&b, TOEC_C_pmtu_expired), n);
    assert_int_equal(toec_pmtu_get(b.s, &a, &no_df), 0);
    bench_stop(&b);
}

/* An MTU reported to UDP is used only by UDP; one that TCP finds is used by both. RFC 5927 7: an
 * error about UDP quotes only ports, which is too little evidence to shrink TCP segments. */
static void path_mtus_of_udp(void **state)
{
    struct toec_addr a = numbered(1);
    struct bench b;
    uint32_t gen;
    int no_df;

    (void)state;
    bench6_init(&b, TOEC_IP6_STATIC);
    gen = b.s->pmtu.gen;
    assert_int_equal(toec_pmtu_get_udp(b.s, &a, &no_df), 0);
    toec_pmtu_set_udp(b.s, &a, 1280, 1, b.now);
    assert_int_equal(toec_pmtu_get(b.s, &a, &no_df), 0);
    assert_int_equal(no_df, 0);
    assert_int_equal(b.s->pmtu.gen, gen);
    assert_int_equal(toec_pmtu_get_udp(b.s, &a, &no_df), 1280);
    assert_int_equal(no_df, 1);
    toec_pmtu_set(b.s, &a, 1400, 0, b.now);
    assert_int_equal(toec_pmtu_get(b.s, &a, &no_df), 1400);
    assert_int_equal(toec_pmtu_get_udp(b.s, &a, &no_df), 1280);
    bench_pass(&b, 300 * SEC);
    toec_pmtu_set_udp(b.s, &a, 1420, 0, b.now); /* and does not extend the life of TCP's entry */
    assert_int_equal(toec_pmtu_get_udp(b.s, &a, &no_df), 1400);
    bench_pass(&b, 301 * SEC);
    assert_int_equal(toec_pmtu_get(b.s, &a, &no_df), 0);
    bench_stop(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours),
        cmocka_unit_test(path_mtus),
        cmocka_unit_test(path_mtus_are_bounded),
        cmocka_unit_test(path_mtus_of_udp),
    };

    return cmocka_run_group_tests_name("twins", tests, 0, 0);
}
