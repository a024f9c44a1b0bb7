/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_hash.c - published vectors of SipHash and Toeplitz, spread of the flow hash, the hash table.
 */
#include "bench.h"
#include "random.h"

/* Key 00 01 .. 0f; input 00 01 .. n-1. From the SipHash paper's appendix A (n = 15) and the
 * reference implementation's table. */
static void siphash_vectors(void **state)
{
    static const uint64_t key[2] = {0x0706050403020100ull, 0x0f0e0d0c0b0a0908ull};
    static const struct {
        unsigned n;
        uint64_t hash;
    } v[] = {{0, 0x726fdb47dd0e0e31ull},  {1, 0x74f839c593dc67fdull},  {2, 0x0d6c8009d9a94f5aull},
             {3, 0x85676696d7fb7e2dull},  {7, 0xab0200f58b01d137ull},  {8, 0x93f5f5799a932462ull},
             {15, 0xa129ca6149be45e5ull}, {16, 0x3f2acc7f57c29bdbull}, {63, 0x958a324ceb064572ull}};
    toec_u64 k[2];
    uint8_t in[64];
    unsigned i;

    (void)state;
    k[0] = key[0];
    k[1] = key[1];
    for (i = 0; i < 64; i++)
        in[i] = i;
    for (i = 0; i < sizeof(v) / sizeof(v[0]); i++)
        assert_true(toec_siphash(k, in, v[i].n) == v[i].hash);
}

/* "Verifying the RSS Hash Calculation", Microsoft: source, destination, ports; results with and
 * without ports. */
static const uint8_t ms_key[40] = {0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
                                   0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
                                   0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
                                   0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};

static void toeplitz_vectors(void **state)
{
    static const struct {
        uint8_t dst[4], src[4];
        uint16_t dport, sport;
        uint32_t addresses, all;
    } v[] = {
        {{161, 142, 100, 80}, {66, 9, 149, 187}, 1766, 2794, 0x323e8fc2, 0x51ccc178},
        {{65, 69, 140, 83}, {199, 92, 111, 2}, 4739, 14230, 0xd718262a, 0xc626b0ea},
        {{12, 22, 207, 184}, {24, 19, 198, 95}, 38024, 12898, 0xd2d0a5de, 0x5c2b394a},
        {{209, 142, 163, 6}, {38, 27, 205, 30}, 2217, 48228, 0x82989176, 0xafc7327f},
        {{202, 188, 127, 2}, {153, 39, 163, 191}, 1303, 44251, 0x5d1809c5, 0x10e828a2},
    };
    uint8_t in[12];
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
        memcpy(in, v[i].src, 4);
        memcpy(in + 4, v[i].dst, 4);
        poke16(in + 8, v[i].sport);
        poke16(in + 10, v[i].dport);
        assert_int_equal(toec_toeplitz(ms_key, in, 8), v[i].addresses);
        assert_int_equal(toec_toeplitz(ms_key, in, 12), v[i].all);
    }
}

/* The same suite for IPv6. */
static void toeplitz_vectors6(void **state)
{
    static const struct {
        uint16_t src[8], dst[8], sport, dport;
        uint32_t addresses, all;
    } v[] = {
        {{0x3ffe, 0x2501, 0x200, 0x1fff, 0, 0, 0, 7},
         {0x3ffe, 0x2501, 0x200, 3, 0, 0, 0, 1},
         2794,
         1766,
         0x2cc18cd5,
         0x40207d3d},
        {{0x3ffe, 0x501, 8, 0, 0x260, 0x97ff, 0xfe40, 0xefab},
         {0xff02, 0, 0, 0, 0, 0, 0, 1},
         14230,
         4739,
         0x0f0c461c,
         0xdde51bbf},
        {{0x3ffe, 0x1900, 0x4545, 3, 0x200, 0xf8ff, 0xfe21, 0x67cf},
         {0xfe80, 0, 0, 0, 0x200, 0xf8ff, 0xfe21, 0x67cf},
         44251,
         38024,
         0x4b61e985,
         0x02d1feef},
    };
    uint8_t in[36];
    unsigned i, k;

    (void)state;
    for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
        for (k = 0; k < 8; k++) {
            poke16(in + 2 * k, v[i].src[k]);
            poke16(in + 16 + 2 * k, v[i].dst[k]);
        }
        poke16(in + 32, v[i].sport);
        poke16(in + 34, v[i].dport);
        assert_int_equal(toec_toeplitz(ms_key, in, 32), v[i].addresses);
        assert_int_equal(toec_toeplitz(ms_key, in, 36), v[i].all);
    }
}

static void rss_hash_is_symmetric(void **state)
{
    struct toec_addr a, b;
    unsigned i, homes[4] = {0, 0, 0, 0};
    uint16_t pa, pb;

    (void)state;
    random_begin(3);
    for (i = 0; i < 4000; i++) {
        toec_addr_set4(&a, random64());
        toec_addr_set4(&b, random64());
        pa = random64();
        pb = random64();
        assert_int_equal(toec_rss_hash(&a, &b, pa, pb), toec_rss_hash(&b, &a, pb, pa));
        homes[toec_rss_hash(&a, &b, pa, pb) % 4]++;
    }
    for (i = 0; i < 4; i++)
        assert_in_range(homes[i], 800, 1200);
}

/* As a NIC computes it with this key: 12 bytes for IPv4 (in mapped form), 36 for IPv6. */
static void rss_hash_is_the_nics(void **state)
{
    struct toec_addr a, b;
    uint8_t key[40], in[36];
    unsigned i, k;

    (void)state;
    random_begin(12);
    for (i = 0; i < 40; i++)
        key[i] = i % 2 ? 0x5a : 0x6d;
    for (i = 0; i < 1000; i++) {
        for (k = 0; k < 36; k++)
            in[k] = random64();
        toec_addr_set4(&a, peek32(in));
        toec_addr_set4(&b, peek32(in + 4));
        assert_int_equal(toec_rss_hash(&a, &b, peek16(in + 8), peek16(in + 10)),
                         toec_toeplitz(key, in, 12));
        memcpy(a.b, in, 16);
        memcpy(b.b, in + 16, 16);
        assert_int_equal(toec_rss_hash(&a, &b, peek16(in + 32), peek16(in + 34)),
                         toec_toeplitz(key, in, 36));
    }
}

static void make_key(struct toec_flow_key *key)
{
    unsigned i;

    for (i = 0; i <= TOEC_FLOW_WORDS; i++)
        key->k[i] = random64();
}

/* Patterns an address plan or an attacker would use: no bucket of 1024 gets far over its share. */
static void flow_hash_spreads(void **state)
{
    static unsigned load[3][1024];
    struct toec_flow_key key;
    struct toec_addr us, peer;
    unsigned i, j;

    (void)state;
    random_begin(4);
    make_key(&key);
    memset(load, 0, sizeof(load));
    toec_addr_set4(&us, OWN_IP);
    for (i = 0; i < 8192; i++) {
        toec_addr_set4(&peer, PEER_IP);
        load[0][toec_flow_hash(&key, &us, &peer, 80, i) & 1023]++;
        toec_addr_set4(&peer, PEER_IP + i);
        load[1][toec_flow_hash(&key, &us, &peer, 80, 40000) & 1023]++;
        toec_addr_set4(&peer, PEER_IP + (i << 16));
        load[2][toec_flow_hash(&key, &us, &peer, 80, i << 10) & 1023]++;
    }
    for (i = 0; i < 3; i++)
        for (j = 0; j < 1024; j++)
            assert_true(load[i][j] < 8 * 8);
}

static void flow_hash_depends_on_every_part_and_the_key(void **state)
{
    struct toec_flow_key key;
    struct toec_addr a, b, c;
    uint32_t h;

    (void)state;
    random_begin(5);
    make_key(&key);
    toec_addr_set4(&a, OWN_IP);
    toec_addr_set4(&b, PEER_IP);
    c = b;
    c.b[0] ^= 1;
    h = toec_flow_hash(&key, &a, &b, 1, 2);
    assert_int_equal(toec_flow_hash(&key, &a, &b, 1, 2), h);
    assert_int_not_equal(toec_flow_hash(&key, &a, &b, 2, 1), h);
    assert_int_not_equal(toec_flow_hash(&key, &a, &c, 1, 2), h);
    assert_int_not_equal(toec_flow_hash(&key, &b, &a, 1, 2), h);
    key.k[8] ^= 1ull << 40; /* the word that carries the IPv4 address of the remote end */
    assert_int_not_equal(toec_flow_hash(&key, &a, &b, 1, 2), h);
}

struct item {
    struct toec_hnode node;
    uint32_t value;
    int present;
};

/* Random adds and removals against flags; few hashes, so that chains and equal hashes occur. */
static void table_finds_what_is_there(void **state)
{
    static struct item items[500];
    struct toec_hnode *bucket[64], *n;
    struct toec_htab t;
    unsigned round, i, used = 0;

    (void)state;
    random_begin(6);
    memset(items, 0, sizeof(items));
    toec_htab_init(&t, bucket, 64);
    for (round = 0; round < 20000; round++) {
        struct item *it = &items[random_below(500)];

        it->value = it - items;
        if (it->present) {
            toec_htab_del(&t, &it->node);
            used--;
        } else {
            toec_htab_add(&t, &it->node, it->value % 97);
            used++;
        }
        it->present = !it->present;
        assert_int_equal(t.used, used);
        i = random_below(500);
        for (n = toec_htab_first(&t, i % 97); n; n = toec_htab_next(n))
            if (TOEC_CONTAINER(n, struct item, node)->value == i)
                break;
        assert_int_equal(n != 0, items[i].present);
    }
}

static void bucket_counts(void **state)
{
    (void)state;
    assert_int_equal(toec_htab_buckets(1), 4);
    assert_int_equal(toec_htab_buckets(1024), 1024);
    assert_int_equal(toec_htab_buckets(1025), 2048);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(siphash_vectors),
        cmocka_unit_test(toeplitz_vectors),
        cmocka_unit_test(toeplitz_vectors6),
        cmocka_unit_test(rss_hash_is_symmetric),
        cmocka_unit_test(rss_hash_is_the_nics),
        cmocka_unit_test(flow_hash_spreads),
        cmocka_unit_test(flow_hash_depends_on_every_part_and_the_key),
        cmocka_unit_test(table_finds_what_is_there),
        cmocka_unit_test(bucket_counts),
    };

    return cmocka_run_group_tests_name("hash", tests, 0, 0);
}
