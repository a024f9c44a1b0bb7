/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_nd_router.c - routers and what they advertise (RFC 4861 6.3), autoconfiguration (RFC 4862
 * 5.5), redirects (RFC 4861 8), multicast listening (RFC 3810).
 */
#include "bench6.h"
#include "ip/ip6_addr.h"
#include "ip/ip_out.h"

static const struct toec_addr second = {{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xfd}};

struct ra {
    const struct toec_addr *from;
    unsigned hops, lifetime, reachable, retrans, mtu;
    unsigned prefix_flags, prefix_len, valid, preferred; /* prefix_len 0: no prefix */
    const struct toec_addr *prefix;
};

static const struct ra plain = {&router6, 64, 1800, 0, 0, 0, 0xc0, 64, 86400, 14400, &prefix6};
static const struct toec_addr link_local = {{0xfe, 0x80}};

static void advertise(struct bench *b, const struct ra *r, int hop_limit)
{
    const struct ip6_spec s = {r->from, &all_nodes, 58, (uint8_t)hop_limit, router_mac};
    uint8_t m[64];
    uint32_t n = 8;

    poke32(m, r->reachable);
    poke32(m + 4, r->retrans);
    mac_option(m + n, 1, router_mac);
    n += 8;
    if (r->mtu) {
        memset(m + n, 0, 8);
        m[n] = 5;
        m[n + 1] = 1;
        poke32(m + n + 4, r->mtu);
        n += 8;
    }
    if (r->prefix_len) {
        memset(m + n, 0, 32);
        m[n] = 3;
        m[n + 1] = 4;
        m[n + 2] = (uint8_t)r->prefix_len;
        m[n + 3] = (uint8_t)r->prefix_flags;
        poke32(m + n + 4, r->valid);
        poke32(m + n + 8, r->preferred);
        memcpy(m + n + 16, r->prefix->b, 16);
        n += 32;
    }
    input_icmp6(b, &s, 134, 0, (uint32_t)r->hops << 24 | r->lifetime, m, n);
}

static unsigned automatic(struct bench *b, struct toec_own_addr *out)
{
    struct toec_own_addr own[8];
    unsigned n = toec_own_addresses(b->s, own, 8), i, found = 0;

    memset(out, 0, sizeof(*out));
    for (i = 0; i < n; i++)
        if (memcmp(own[i].addr.b, prefix6.b, 8) == 0) {
            *out = own[i];
            found++;
        }
    return found;
}

/* RFC 7559: solicits until a reply comes, each time after twice the interval; stops with it. */
static void solicits(void **state)
{
    const struct sent *f;
    struct bench b;
    unsigned n = 0;

    (void)state;
    bench6_config(&b, TOEC_IP6_AUTO);
    bench_start(&b);
    bench_pass(&b, 70 * SEC);
    while ((f = bench_next(&b)) != 0)
        if (peek16(f->data + 12) == 0x86dd && f->data[20] == 58 && f->data[54] == 133) {
            n++;
            assert_int_equal(f->data[21], 255);
            assert_int_equal(f->data[22], 0xfe);
            assert_true(icmp6_sum_ok(f->data));
        }
    assert_in_range(n, 4, 6); /* at 0, 4, 12, 28, 60 s */
    advertise(&b, &plain, 255);
    bench_pass(&b, 100 * SEC);
    while ((f = bench_next(&b)) != 0)
        assert_false(f->data[20] == 58 && f->data[54] == 133);
    bench_stop(&b);
}

/* R4861-03; and in static mode none is heeded. */
static void advertisement_validity(void **state)
{
    struct toec_own_addr own;
    struct ra r = plain;
    struct bench b;

    (void)state;
    bench6_init(&b, TOEC_IP6_AUTO);
    advertise(&b, &r, 254);
    r.from = &peer6;
    advertise(&b, &r, 255);
    assert_int_equal(bench_counter(&b, TOEC_C_nd_bad), 2);
    assert_false(toec_has_router(b.s));
    assert_int_equal(automatic(&b, &own), 0);
    bench_stop(&b);
    bench6_init(&b, TOEC_IP6_STATIC);
    advertise(&b, &plain, 255);
    assert_int_equal(bench_counter(&b, TOEC_C_icmp_ignored), 1);
    assert_false(toec_has_router(b.s));
    bench_stop(&b);
}

static void configures_itself(void **state)
{
    struct toec_own_addr own;
    struct toec_path path;
    struct toec_addr on_link = prefix6, src;
    struct ra r = plain;
    struct bench b;

    (void)state;
    bench6_init(&b, TOEC_IP6_AUTO);
    r.mtu = 1400;
    r.hops = 33;
    advertise(&b, &r, 255);
    assert_int_equal(automatic(&b, &own), 1);
    assert_true(own.tentative);
    bench_pass(&b, 3 * SEC);
    assert_int_equal(automatic(&b, &own), 1);
    assert_true(own.usable);
    assert_int_equal(own.on_link, 64);
    assert_int_equal(b.s->ip6.hops, 33);
    on_link.b[15] = 9;
    assert_int_equal(toec_path_to(b.s, &on_link, &path), 0);
    assert_memory_equal(path.next_hop.b, on_link.b, 16);
    assert_int_equal(path.mtu, 1400);
    assert_int_equal(toec_path_to(b.s, &far6, &path), 0);
    assert_memory_equal(path.next_hop.b, router6.b, 16);
    assert_int_equal(toec_source_for(b.s, &far6, &src), 0);
    assert_memory_equal(src.b, own.addr.b, 16); /* RFC 6724 rule 8 */
    /* R7217-01: another prefix, another identifier */
    assert_memory_not_equal(own.addr.b + 8, toec_own_link_local(b.s)->addr.b + 8, 8);
    r.mtu = 1279; /* RFC 4861 6.3.4: impossible ones do not count */
    advertise(&b, &r, 255);
    r.mtu = 9000;
    advertise(&b, &r, 255);
    assert_int_equal(b.s->ip6.mtu, 1400);
    bench_stop(&b);
}

/* R4862-04: prefixes from which no address is formed. */
static void impossible_prefixes(void **state)
{
    struct toec_own_addr own;
    struct ra r = plain;
    struct bench b;

    (void)state;
    bench6_init(&b, TOEC_IP6_AUTO);
    r.preferred = r.valid + 1;
    advertise(&b, &r, 255);
    r = plain;
    r.prefix_len = 63;
    advertise(&b, &r, 255);
    r = plain;
    r.valid = r.preferred = 0;
    advertise(&b, &r, 255);
    r = plain;
    r.prefix_flags = 0x80; /* on link, and not autonomous */
    advertise(&b, &r, 255);
    r = plain;
    r.prefix = &link_local;
    advertise(&b, &r, 255);
    assert_int_equal(automatic(&b, &own), 0);
    assert_int_equal(bench_counter(&b, TOEC_C_nd_bad_prefix), 3);
    bench_stop(&b);
}

/* R4862-06: preferred, then deprecated, then removed; R4862-05: never immediately by a forged
 * advertisement. */
static void lifetimes(void **state)
{
    struct toec_own_addr own;
    struct ra r = plain;
    struct toec_addr src, peer = prefix6;
    struct bench b;

    (void)state;
    peer.b[15] = 99;
    bench6_init(&b, TOEC_IP6_AUTO);
    advertise(&b, &r, 255);
    bench_pass(&b, 3 * SEC);
    r.valid = r.preferred = 1;
    r.prefix_flags = 0x40;
    advertise(&b, &r, 255);
    bench_pass(&b, 100 * SEC);
    assert_int_equal(automatic(&b, &own), 1);
    assert_true(own.usable); /* two hours are left */
    assert_int_equal(toec_own_find(b.s, &own.addr)->state, TOEC_OWN_DEPRECATED);
    assert_int_equal(toec_source_for(b.s, &peer, &src), 0);
    assert_memory_not_equal(src.b, own.addr.b, 16); /* RFC 6724 rule 3 */
    bench_pass(&b, 7200 * SEC);
    assert_null(toec_own_any(b.s, &own.addr)); /* neither source nor destination */
    assert_int_equal(automatic(&b, &own), 0);
    bench_stop(&b);
}

/* RFC 4861 6.3.6: a reachable one before an unreachable one; a router that withdraws is dropped. */
static void chooses_routers(void **state)
{
    struct toec_path path;
    struct toec_neigh *n;
    struct ra r = plain;
    struct bench b;

    (void)state;
    bench6_init(&b, TOEC_IP6_AUTO);
    r.prefix_len = 0;
    advertise(&b, &r, 255);
    r.from = &second;
    advertise(&b, &r, 255);
    assert_int_equal(toec_path_to(b.s, &far6, &path), 0);
    assert_memory_equal(path.next_hop.b, router6.b, 16);
    n = toec_neigh_find(b.s, &router6);
    assert_true(n && n->router);
    {
        struct toec_outbuf o;
        unsigned i;

        memset(&o, 0, sizeof(o));
        o.src = &own6;
        o.dst = &far6;
        o.sum_off = TOEC_SUM_NONE;
        for (i = 0; i < 12; i++) { /* it does not answer the probes */
            (void)toec_ip_output(b.s, &path, &o, b.now);
            bench_pass(&b, SEC);
        }
        assert_memory_equal(path.next_hop.b, second.b, 16);
    }
    r.lifetime = 0;
    advertise(&b, &r, 255);
    assert_int_equal(toec_path_to(b.s, &far6, &path), 0);
    assert_memory_equal(path.next_hop.b, router6.b, 16);
    bench_pass(&b, 1801 * SEC);
    assert_false(toec_has_router(b.s));
    assert_int_equal(toec_path_to(b.s, &far6, &path), TOEC_E_UNREACH);
    bench_stop(&b);
}

static void tables_are_bounded(void **state)
{
    struct toec_addr from = router6;
    struct ra r = plain;
    struct bench b;
    unsigned i;

    (void)state;
    bench6_init(&b, TOEC_IP6_AUTO);
    r.from = &from;
    r.prefix_len = 0;
    for (i = 0; i < 100; i++) {
        from.b[14] = (uint8_t)i;
        advertise(&b, &r, 255);
    }
    assert_int_equal(bench_counter(&b, TOEC_C_nd_tables_full), 96);
    bench_stop(&b);
}

/* R4861-08: only by the router we send to, about something sensible. */
static void redirects(void **state)
{
    struct ip6_spec s = {&router6, &own6, 58, 255, router_mac};
    struct toec_addr better = second;
    struct toec_path path;
    struct ra r = plain;
    uint8_t m[40];
    struct bench b;

    (void)state;
    bench6_init(&b, TOEC_IP6_AUTO);
    r.prefix_len = 0;
    advertise(&b, &r, 255);
    memcpy(m, better.b, 16);
    memcpy(m + 16, far6.b, 16);
    s.src = &second; /* not our router for it */
    input_icmp6(&b, &s, 137, 0, 0, m, 32);
    s.src = &peer6; /* not link-local */
    input_icmp6(&b, &s, 137, 0, 0, m, 32);
    s.src = &router6;
    s.hops = 64;
    input_icmp6(&b, &s, 137, 0, 0, m, 32);
    s.hops = 255;
    input_icmp6(&b, &s, 137, 1, 0, m, 32);
    memcpy(m + 16, all_nodes.b, 16);
    input_icmp6(&b, &s, 137, 0, 0, m, 32);
    memcpy(m + 16, far6.b, 16);
    memcpy(m, peer6.b, 16); /* neither link-local nor the destination itself */
    input_icmp6(&b, &s, 137, 0, 0, m, 32);
    assert_int_equal(bench_counter(&b, TOEC_C_nd_bad), 6);
    memcpy(m, better.b, 16);
    input_icmp6(&b, &s, 137, 0, 0, m, 32);
    assert_int_equal(bench_counter(&b, TOEC_C_nd_redirects), 1);
    assert_int_equal(toec_path_to(b.s, &far6, &path), 0);
    assert_memory_equal(path.next_hop.b, better.b, 16);
    bench_stop(&b);
}

/* RFC 3810: a query is answered within its time, with all our groups. */
static void listener_queries(void **state)
{
    static const struct ip6_spec s = {&router6, &all_nodes, 58, 1, router_mac};
    struct ip6_spec far = s;
    uint8_t m[20] = {0};
    const struct sent *f;
    struct bench b;

    (void)state;
    bench6_init(&b, TOEC_IP6_STATIC);
    far.hops = 2;
    input_icmp6(&b, &far, 130, 0, 1000 << 16, m, 20);
    assert_int_equal(bench_counter(&b, TOEC_C_mld_bad), 1);
    input_icmp6(&b, &s, 130, 0, 1000u << 16, m, 20);
    bench_pass(&b, 1100 * MSEC);
    f = bench_next(&b);
    assert_non_null(f);
    assert_int_equal(f->data[62], 143);
    assert_int_equal(peek16(f->data + 68), 2);
    assert_int_equal(f->data[70], 2);
    assert_int_equal(peek32(f->data + 74), 0xff020000);
    assert_null(bench_next(&b));
    bench_stop(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solicits),           cmocka_unit_test(advertisement_validity),
        cmocka_unit_test(configures_itself),  cmocka_unit_test(impossible_prefixes),
        cmocka_unit_test(lifetimes),          cmocka_unit_test(chooses_routers),
        cmocka_unit_test(tables_are_bounded), cmocka_unit_test(redirects),
        cmocka_unit_test(listener_queries),
    };

    return cmocka_run_group_tests_name("nd_router", tests, 0, 0);
}
