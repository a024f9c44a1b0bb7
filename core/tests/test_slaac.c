/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_slaac.c - our own addresses (RFC 4862): how often another is tried, changing lifetimes, the
 * state without one; groups that two addresses share.
 */
#include "bench6.h"
#include "ip/ip_out.h"

static void advertise(struct bench *b, uint32_t valid, uint32_t preferred)
{
    static const struct ip6_spec s = {&router6, &all_nodes, 58, 255, router_mac};
    uint8_t m[40] = {0};

    m[8] = 3;
    m[9] = 4;
    m[10] = 64;
    m[11] = 0xc0;
    poke32(m + 12, valid);
    poke32(m + 16, preferred);
    memcpy(m + 24, prefix6.b, 16);
    input_icmp6(b, &s, 134, 0, 64u << 24 | 1800, m, 40);
}

static int automatic(struct bench *b, struct toec_own_addr *out)
{
    struct toec_own_addr own[8];
    unsigned n = toec_own_addresses(b->s, own, 8), i;

    for (i = 0; i < n; i++)
        if (memcmp(own[i].addr.b, prefix6.b, 8) == 0) {
            *out = own[i];
            return 1;
        }
    return 0;
}

static void claim(struct bench *b, const struct toec_addr *a)
{
    const struct ip6_spec s = {&peer6, &all_nodes, 58, 255, 0};
    uint8_t opt[8];

    mac_option(opt, 2, peer_mac);
    input_nd(b, &s, 136, 0x20000000, a, opt, 8);
}

/* RFC 7217 6: three more tries, then none: no link-local address, and a notification of that. */
static void gives_up(void **state)
{
    struct toec_own_addr own[8];
    const struct sent *f;
    struct bench b;
    unsigned i, reports = 0;

    (void)state;
    bench6_config(&b, TOEC_IP6_STATIC);
    bench_start(&b);
    for (i = 0; i < 4; i++) {
        assert_int_equal(toec_own_addresses(b.s, own, 8), 2);
        assert_true(own[0].tentative);
        claim(&b, &own[0].addr);
    }
    toec_own_addresses(b.s, own, 8);
    assert_false(own[0].tentative || own[0].usable);
    assert_int_equal(bench_counter(&b, TOEC_C_nd_dad_failed), 4);
    bench_pass(&b, 5 * SEC);
    toec_own_addresses(b.s, own, 8);
    assert_true(own[1].usable);
    while ((f = bench_next(&b)) != 0) /* RFC 3810 5.2.14: reports from :: */
        if (f->data[20] == 0 && f->data[62] == 143) {
            reports++;
            assert_memory_equal(f->data + 22, none6.b, 16);
        }
    assert_true(reports >= 2);
    bench_stop(&b);
}

/* Without a static address, and with one of no prefix: then only itself is on the link. */
static void configurations(void **state)
{
    struct toec_own_addr own[8];
    struct toec_path path;
    struct bench b;

    (void)state;
    bench6_config(&b, TOEC_IP6_AUTO);
    memset(b.cfg.ip6_addr, 0, 16);
    b.cfg.ip6_prefix_len = 0;
    bench_start(&b);
    bench_pass(&b, 4 * SEC);
    assert_int_equal(toec_own_addresses(b.s, own, 8), 1);
    assert_int_equal(own[0].on_link, 64);
    bench_stop(&b);
    bench6_config(&b, TOEC_IP6_STATIC);
    b.cfg.ip6_prefix_len = 0;
    bench_start(&b);
    bench_pass(&b, 4 * SEC);
    assert_int_equal(toec_own_addresses(b.s, own, 8), 2);
    assert_int_equal(own[1].on_link, 128);
    assert_int_equal(toec_path_to(b.s, &peer6, &path), TOEC_E_UNREACH);
    bench_stop(&b);
}

/* RFC 4862 5.5.3 (e): longer ones at once; of shorter ones those above two hours. */
static void lifetimes_change(void **state)
{
    struct toec_own_addr own;
    struct bench b;

    (void)state;
    bench6_init(&b, TOEC_IP6_AUTO);
    advertise(&b, 0xffffffffu, 0xffffffffu);
    advertise(&b, 100, 100); /* while it is being tested */
    bench_pass(&b, 3 * SEC);
    assert_true(automatic(&b, &own) && own.usable);
    advertise(&b, 0xffffffffu, 0xffffffffu);
    bench_pass(&b, 100000 * SEC);
    assert_true(automatic(&b, &own) && own.usable);
    advertise(&b, 8000, 8000);  /* shorter, but above two hours */
    bench_pass(&b, 7000 * SEC); /* 1000 s are left */
    advertise(&b, 5000, 5000);  /* more than are left */
    bench_pass(&b, 4000 * SEC);
    assert_true(automatic(&b, &own) && own.usable);
    advertise(&b, 10, 10); /* less: not heeded */
    bench_pass(&b, 900 * SEC);
    assert_true(automatic(&b, &own) && own.usable);
    bench_pass(&b, 200 * SEC);
    assert_false(automatic(&b, &own));
    bench_stop(&b);
}

/* Two addresses with one solicited-node group: the group is left with the last of them. */
static void shared_group(void **state)
{
    struct toec_own_addr own[8];
    const struct sent *f;
    struct bench b;

    (void)state;
    bench6_config(&b, TOEC_IP6_STATIC);
    bench_start(&b);
    toec_own_addresses(b.s, own, 8);
    bench_stop(&b);
    bench6_config(&b, TOEC_IP6_STATIC);
    memcpy(b.cfg.ip6_addr + 13, own[0].addr.b + 13, 3);
    bench_start(&b);
    toec_own_addresses(b.s, own, 8);
    assert_memory_equal(own[0].addr.b + 13, own[1].addr.b + 13, 3);
    claim(&b, &own[1].addr);
    while ((f = bench_next(&b)) != 0)
        assert_false(f->data[20] == 0 && f->data[70] == 3); /* CHANGE_TO_INCLUDE_MODE */
    claim(&b, &own[0].addr);
    f = bench_next(&b);
    assert_non_null(f);
    assert_int_equal(f->data[62], 143);
    assert_int_equal(f->data[70], 3);
    bench_stop(&b);
}

/* RFC 6724 rule 2: to a group of the link from an address of the link. */
static void sources(void **state)
{
    struct toec_addr src;
    struct bench b;

    (void)state;
    bench6_init(&b, TOEC_IP6_STATIC);
    assert_int_equal(toec_source_for(b.s, &all_nodes, &src), 0);
    assert_int_equal(src.b[0], 0xfe);
    bench_stop(&b);
    bench6_config(&b, TOEC_IP6_STATIC); /* no IPv4 at all */
    memset(b.cfg.ip, 0, 4);
    memset(b.cfg.gateway, 0, 4);
    bench_start(&b);
    assert_int_equal(toec_source_for(b.s, mapped(PEER_IP), &src), TOEC_E_NOTAVAIL);
    assert_false(toec_addr_is_own(b.s, mapped(0)));
    bench_learn(&b, peer_mac, PEER_IP); /* ARP and IPv4 are not for us */
    assert_null(toec_neigh_find(b.s, mapped(PEER_IP)));
    bench_stop(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_up),         cmocka_unit_test(configurations),
        cmocka_unit_test(lifetimes_change), cmocka_unit_test(shared_group),
        cmocka_unit_test(sources),
    };

    return cmocka_run_group_tests_name("slaac", tests, 0, 0);
}
