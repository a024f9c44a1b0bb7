/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_nd_routes.c - what routers advertise and withdraw (RFC 4861 6.3, 8): parameters, prefixes,
 * redirects; how long we solicit one (RFC 7559); queries for groups (RFC 3810).
 */
#include "bench6.h"
#include "ip/ip_out.h"

static const struct toec_addr second = {{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xfd}};
static const struct ip6_spec from_router = {&router6, &own6, 58, 255, router_mac};

struct ra {
    unsigned hops, lifetime, reachable, retrans;
    uint8_t options[256];
    uint32_t len;
};

static void advertise(struct bench *b, const struct toec_addr *from, const struct ra *r)
{
    const struct ip6_spec s = {from, &all_nodes, 58, 255, router_mac};
    uint8_t m[300];

    poke32(m, r->reachable);
    poke32(m + 4, r->retrans);
    if (r->len)
        memcpy(m + 8, r->options, r->len);
    input_icmp6(b, &s, 134, 0, (uint32_t)r->hops << 24 | r->lifetime, m, 8 + r->len);
}

static void add_prefix(struct ra *r, const struct toec_addr *prefix, unsigned len, unsigned flags,
                       uint32_t valid)
{
    uint8_t *p = r->options + r->len;

    memset(p, 0, 32);
    p[0] = 3;
    p[1] = 4;
    p[2] = (uint8_t)len;
    p[3] = (uint8_t)flags;
    poke32(p + 4, valid);
    poke32(p + 8, valid);
    memcpy(p + 16, prefix->b, 16);
    r->len += 32;
}

static void add_mac(struct ra *r)
{
    mac_option(r->options + r->len, 1, router_mac);
    r->len += 8;
}

static void expect_via(struct bench *b, const struct toec_addr *dst, const struct toec_addr *via)
{
    struct toec_path path;

    assert_int_equal(toec_path_to(b->s, dst, &path), 0);
    assert_memory_equal(path.next_hop.b, via->b, 16);
}

/* RFC 4861 6.3.4: reachable and retransmission times within bounds; 0 is unspecified. */
static void parameters(void **state)
{
    static const struct {
        uint32_t said, taken;
    } table[] = {{1, 100}, {2500, 2500}, {0, 2500}, {600000, 60000}};
    struct ra r = {64, 1800, 0, 0, {0}, 0};
    struct toec_time_range {
        toec_time least, most;
    } range = {SEC / 2, SEC * 3 / 2};
    struct bench b;
    unsigned i;

    (void)state;
    bench6_init(&b, TOEC_IP6_AUTO);
    for (i = 0; i < 4; i++) {
        r.retrans = table[i].said;
        advertise(&b, &router6, &r);
        assert_int_equal(b.s->ip6.retrans, table[i].taken * MSEC);
    }
    r.retrans = 0;
    r.hops = 0; /* unspecified: unchanged */
    r.reachable = 1000;
    advertise(&b, &router6, &r);
    assert_int_equal(b.s->ip6.hops, 64);
    r.reachable = 3600001; /* impossible: stays too */
    advertise(&b, &router6, &r);
    r.reachable = 1000; /* and the same again draws no new one */
    advertise(&b, &router6, &r);
    bench6_learn(&b, &peer6, peer_mac);
    toec_neigh_reachable(b.s, toec_neigh_find(b.s, &peer6), b.now);
    assert_in_range(b.s->ip6.reachable, range.least, range.most);
    bench_pass(&b, range.most + MSEC);
    assert_int_equal(toec_neigh_find(b.s, &peer6)->state, TOEC_NEIGH_STALE);
    bench_stop(&b);
}

/* RFC 7559: at most an hour between solicitations, however long no router replies. */
static void asks_for_ever(void **state)
{
    const struct sent *f;
    struct bench b;
    unsigned n = 0;
    int hour;

    (void)state;
    bench6_config(&b, TOEC_IP6_AUTO);
    bench_start(&b);
    bench_pass(&b, 5000 * SEC);
    bench_forget_sent(&b);
    for (hour = 0; hour < 300; hour++) {
        bench_pass(&b, 3600 * SEC);
        while ((f = bench_next(&b)) != 0)
            n += f->data[20] == 58 && f->data[54] == 133;
    }
    assert_in_range(n, 299, 301);
    bench_stop(&b);
}

/* RFC 4861 6.3.5, 7.2.5: a router withdraws: by lifetime, or by its flag. Redirects from it, and to
 * it, are removed. */
static void routers_retire(void **state)
{
    struct ip6_spec s = {&second, &own6, 58, 255, router_mac};
    struct ra r = {64, 0, 0, 0, {0}, 0};
    struct toec_addr farther = far6, third = second;
    struct toec_outbuf o;
    struct toec_path path;
    struct bench b;
    uint8_t m[40], opt[8];

    (void)state;
    bench6_init(&b, TOEC_IP6_AUTO);
    farther.b[15] = 99;
    third.b[15] = 0xfc;
    advertise(&b, &router6, &r); /* never was one */
    assert_false(toec_has_router(b.s));
    add_mac(&r);
    r.lifetime = 1800;
    advertise(&b, &router6, &r);
    assert_true(toec_has_router(b.s));
    expect_via(&b, &far6, &router6);
    memcpy(m, second.b, 16);
    memcpy(m + 16, far6.b, 16);
    mac_option(m + 32, 2, other_mac);
    input_icmp6(&b, &from_router, 137, 0, 0, m, 40);
    expect_via(&b, &far6, &second);
    assert_memory_equal(toec_neigh_find(b.s, &second)->mac, other_mac, 6);
    memcpy(m, third.b, 16); /* another destination by way of another */
    memcpy(m + 16, farther.b, 16);
    input_icmp6(&b, &from_router, 137, 0, 0, m, 32);
    expect_via(&b, &farther, &third);
    mac_option(opt, 2, other_mac);
    input_nd(&b, &s, 136, 0xe0000000u, &second, opt, 8); /* still a router */
    expect_via(&b, &far6, &second);
    input_nd(&b, &s, 136, 0x60000000, &second, opt, 8);
    expect_via(&b, &far6, &router6);
    expect_via(&b, &farther, &third);
    assert_int_equal(toec_path_to(b.s, &far6, &path), 0);
    mac_option(opt, 2, router_mac);
    input_nd(&b, &from_router, 136, 0x60000000, &router6, opt, 8);
    assert_false(toec_has_router(b.s));
    memset(&o, 0, sizeof(o)); /* the destination has no router any more */
    o.src = &own6;
    o.dst = &far6;
    o.sum_off = TOEC_SUM_NONE;
    assert_int_equal(toec_ip_output(b.s, &path, &o, b.now), TOEC_SEND_UNREACH);
    bench_stop(&b);
}

/* RFC 4861 8.3: the destination is on this link after all. Redirects share a table by hash: one of
 * another destination is not used for ours. */
static void redirects_to_the_link(void **state)
{
    struct ra r = {64, 1800, 0, 0, {0}, 0};
    struct toec_addr dst = far6;
    struct bench b;
    uint8_t m[32];
    unsigned i, others = 0;

    (void)state;
    bench6_init(&b, TOEC_IP6_AUTO);
    advertise(&b, &router6, &r);
    memcpy(m, far6.b, 16);
    memcpy(m + 16, far6.b, 16);
    input_icmp6(&b, &from_router, 137, 0, 0, m, 32);
    expect_via(&b, &far6, &far6);
    for (i = 0; i < 300; i++) {
        dst.b[14] = (uint8_t)(i + 1);
        dst.b[13] = (uint8_t)(1 + (i >> 8));
        expect_via(&b, &dst, &router6);
    }
    for (i = 0; i < 300; i++) {
        struct toec_path path;

        dst.b[14] = (uint8_t)(i + 1);
        dst.b[13] = (uint8_t)(1 + (i >> 8));
        memcpy(m, dst.b, 16);
        memcpy(m + 16, dst.b, 16);
        input_icmp6(&b, &from_router, 137, 0, 0, m, 32);
        expect_via(&b, &dst, &dst);
        assert_int_equal(toec_path_to(b.s, &far6, &path), 0);
        others += toec_addr_eq(&path.next_hop, &router6);
    }
    assert_true(others > 0); /* pushed out at last, back by the router */
    bench_stop(&b);
}

/* R4861-08: other invalid redirects. */
static void bad_redirects(void **state)
{
    struct ra r = {64, 1800, 0, 0, {0}, 0};
    struct bench b;
    uint8_t m[40];

    (void)state;
    bench6_init(&b, TOEC_IP6_AUTO);
    memcpy(m, second.b, 16);
    memcpy(m + 16, far6.b, 16);
    input_icmp6(&b, &from_router, 137, 0, 0, m, 32); /* there is no route yet */
    advertise(&b, &router6, &r);
    input_icmp6(&b, &from_router, 137, 0, 0, m, 31); /* too short */
    m[32] = 2;
    m[33] = 0; /* an option without length (R4861-09) */
    input_icmp6(&b, &from_router, 137, 0, 0, m, 40);
    memcpy(m + 16, own6.b, 16); /* the way to ourselves */
    input_icmp6(&b, &from_router, 137, 0, 0, m, 32);
    memcpy(m, own6.b, 16); /* we are no router */
    memcpy(m + 16, far6.b, 16);
    input_icmp6(&b, &from_router, 137, 0, 0, m, 32);
    assert_int_equal(bench_counter(&b, TOEC_C_nd_bad), 5);
    assert_int_equal(bench_counter(&b, TOEC_C_nd_redirects), 0);
    bench_stop(&b);
}

/* RFC 4861 6.3.4, RFC 4862 5.5.3 (a), (b): which prefixes are on the link. */
static void prefixes(void **state)
{
    static const struct toec_addr group = {{0xff, 5}}, local = {{0xfe, 0x80}};
    struct toec_addr p = prefix6, on = prefix6;
    struct ra r = {64, 1800, 0, 0, {0}, 0};
    struct toec_own_addr own[8];
    struct bench b;
    unsigned i;

    (void)state;
    bench6_init(&b, TOEC_IP6_AUTO);
    add_prefix(&r, &prefix6, 129, 0xc0, 1000);
    add_prefix(&r, &local, 64, 0xc0, 1000);
    add_prefix(&r, &group, 64, 0xc0, 1000);
    add_prefix(&r, &prefix6, 64, 0x80, 0); /* taken back before it was given */
    advertise(&b, &router6, &r);
    assert_int_equal(bench_counter(&b, TOEC_C_nd_bad_prefix), 3);
    on.b[15] = 77;
    expect_via(&b, &on, &router6);
    r.len = 0;
    add_prefix(&r, &prefix6, 64, 0x80, 1000); /* on the link; no addresses of it */
    advertise(&b, &router6, &r);
    expect_via(&b, &on, &on);
    assert_int_equal(toec_own_addresses(b.s, own, 8), 2);
    r.len = 0;
    add_prefix(&r, &prefix6, 64, 0x80, 0);
    advertise(&b, &router6, &r);
    expect_via(&b, &on, &router6);
    for (i = 0; i < 20; i++) { /* more than the table holds; and more addresses */
        r.len = 0;
        p.b[7] = (uint8_t)(i + 1);
        add_prefix(&r, &p, 64, 0xc0, 1000);
        advertise(&b, &router6, &r);
    }
    assert_int_equal(bench_counter(&b, TOEC_C_nd_tables_full), 20 - 7 + 20 - 6);
    assert_int_equal(toec_own_addresses(b.s, own, 8), 8);
    assert_int_equal(toec_own_addresses(b.s, own, 3), 3);
    bench_stop(&b);
}

/* RFC 3810 5.1.3, 5.1.14, 6.2 */
static void listener_queries(void **state)
{
    struct ip6_spec s = {&router6, &all_nodes, 58, 1, router_mac};
    uint8_t m[20] = {0};
    struct bench b;
    uint64_t n;

    (void)state;
    bench6_init(&b, TOEC_IP6_STATIC);
    n = bench_counter(&b, TOEC_C_mld_reports_sent);
    s.src = &peer6; /* not of the link itself */
    input_icmp6(&b, &s, 130, 0, 1000u << 16, m, 20);
    s.src = &router6;
    input_icmp6(&b, &s, 130, 0, 1000u << 16, m, 15);
    assert_int_equal(bench_counter(&b, TOEC_C_mld_bad), 2);
    input_icmp6(&b, &s, 130, 0, 0, m, 20); /* now */
    bench_pass(&b, MSEC);
    assert_int_equal(bench_counter(&b, TOEC_C_mld_reports_sent), n + 1);
    input_icmp6(&b, &s, 130, 0, 0xffffu << 16, m, 20); /* version 2: some hours, too many */
    input_icmp6(&b, &s, 130, 0, 0xffffu << 16, m, 20); /* one answer for both */
    bench_pass(&b, 10 * SEC + MSEC);
    assert_int_equal(bench_counter(&b, TOEC_C_mld_reports_sent), n + 2);
    input_icmp6(&b, &s, 130, 0, 40000u << 16, m, 16); /* version 1: milliseconds */
    bench_pass(&b, 10 * SEC + MSEC);
    assert_int_equal(bench_counter(&b, TOEC_C_mld_reports_sent), n + 3);
    bench_stop(&b);
    bench6_config(&b, TOEC_IP6_STATIC);
    bench_start(&b); /* a pending change reports all of it */
    input_icmp6(&b, &s, 130, 0, 1000u << 16, m, 20);
    bench_pass(&b, 5 * SEC);
    assert_int_equal(bench_counter(&b, TOEC_C_mld_queries), 1);
    assert_int_equal(bench_counter(&b, TOEC_C_mld_reports_sent), n);
    bench_stop(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters),       cmocka_unit_test(asks_for_ever),
        cmocka_unit_test(routers_retire),   cmocka_unit_test(redirects_to_the_link),
        cmocka_unit_test(bad_redirects),    cmocka_unit_test(prefixes),
        cmocka_unit_test(listener_queries),
    };

    return cmocka_run_group_tests_name("nd_routes", tests, 0, 0);
}
