/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_link.c - a link managed by another stack (toec_link_ops): no own ARP or neighbour discovery;
 * routes, neighbours and IPv6 addresses as notified, in virtual time.
 */
#include "bench6.h"
#include "ip/ip4_out.h"
#include "ip/ip6_addr.h"
#include "ip/ip6_out.h"

static uint32_t asked; /* the requested address; 0: none */
static unsigned asks;
static uint32_t gateway;                 /* of all that is not 10/8; 0: none */
static const struct toec_addr *gateway6; /* of all that is not fd00::/8 */
static struct toec_addr asked6;

static int is4(const struct toec_addr *a)
{
    return memcmp(a, mapped(0), 12) == 0;
}

static int route(void *user, const struct toec_addr *dst, struct toec_addr *hop)
{
    (void)user;
    *hop = *dst;
    if (!is4(dst)) {
        if (dst->b[0] != 0xfd && gateway6)
            *hop = *gateway6;
        return dst->b[0] == 0xfd || gateway6 ? 0 : -1;
    }
    if (dst->b[12] == 10)
        return 0;
    if (gateway)
        toec_addr_set4(hop, gateway);
    return gateway ? 0 : -1;
}

static void ask(void *user, const struct toec_addr *addr)
{
    (void)user;
    asked = is4(addr) ? toec_addr_get4(addr) : 0;
    asked6 = *addr;
    asks++;
}

static const struct toec_link_ops ops = {route, ask};

static void begin(struct bench *b)
{
    asked = 0;
    asks = 0;
    gateway = 0;
    bench_config(b);
    memset(b->cfg.gateway, 0, 4);
    b->cfg.link = &ops;
    bench_start(b);
    bench_poll(b);
}

/* Sends a datagram without payload to dst; returns the result of toec_ip4_output(). */
static int try_send(struct bench *b, uint32_t dst, struct toec_path *path)
{
    struct toec_outbuf o;

    memset(&o, 0, sizeof(o));
    o.src = mapped(OWN_IP);
    o.dst = mapped(dst);
    o.proto = 253; /* RFC 3692: for experiments */
    o.sum_off = TOEC_SUM_NONE;
    return toec_ip4_output(b->s, path, &o, b->now);
}

static void expect_sent_to(struct bench *b, const uint8_t *mac)
{
    const struct sent *f = bench_next(b);

    assert_non_null(f);
    assert_int_equal(peek16(f->data + 12), 0x0800);
    assert_memory_equal(f->data, mac, 6);
    assert_null(bench_next(b));
}

static void says_nothing_by_arp(void **state)
{
    uint8_t f[64];
    struct bench b;
    uint32_t len;

    (void)state;
    begin(&b);
    bench_pass(&b, 10 * SEC);
    assert_null(bench_next(&b)); /* no announcement */
    len = make_arp(f, 1, peer_mac, PEER_IP, broadcast_mac, OWN_IP);
    bench_input(&b, f, len);
    len = make_arp(f, 1, other_mac, OWN_IP, broadcast_mac, OWN_IP);
    bench_input(&b, f, len);
    bench_poll(&b);
    assert_null(bench_next(&b)); /* no answer, no defence */
    assert_int_equal(bench_counter(&b, TOEC_C_arp_conflict), 0);
    bench_stop(&b);
}

static void asks_and_is_told(void **state)
{
    struct toec_path path;
    struct bench b;
    toec_u32 epoch;

    (void)state;
    begin(&b);
    assert_int_equal(toec_ip4_path(b.s, PEER_IP, &path), 0);
    assert_int_equal(try_send(&b, PEER_IP, &path), TOEC_SEND_WAIT);
    assert_int_equal(asked, PEER_IP);
    assert_int_equal(asks, 1);
    epoch = toec_send_epoch(b.s);
    toec_neighbour(b.s, mapped(PEER_IP), peer_mac, b.now);
    assert_int_not_equal(toec_send_epoch(b.s), epoch);
    assert_int_equal(try_send(&b, PEER_IP, &path), 0);
    expect_sent_to(&b, peer_mac);
    toec_neighbour(b.s, mapped(PEER_IP), other_mac, b.now); /* unasked */
    assert_int_equal(bench_counter(&b, TOEC_C_neigh_changed), 1);
    assert_int_equal(try_send(&b, PEER_IP, &path), 0);
    expect_sent_to(&b, other_mac);
    bench_stop(&b);
}

/* An unused neighbour occupies no entry. */
static void strangers_are_not_kept(void **state)
{
    struct toec_usage usage;
    struct bench b;

    (void)state;
    begin(&b);
    toec_neighbour(b.s, mapped(PEER_IP), peer_mac, b.now);
    toec_neighbour(b.s, mapped(GW_IP), NULL, b.now);
    toec_usage(b.s, &usage);
    assert_int_equal(usage.neighbours, 0);
    bench_stop(&b);
}

static void does_not_answer(void **state)
{
    struct toec_path path;
    struct bench b;

    (void)state;
    begin(&b);
    assert_int_equal(toec_ip4_path(b.s, PEER_IP, &path), 0);
    assert_int_equal(try_send(&b, PEER_IP, &path), TOEC_SEND_WAIT);
    toec_neighbour(b.s, mapped(PEER_IP), NULL, b.now);
    assert_int_equal(try_send(&b, PEER_IP, &path), TOEC_SEND_UNREACH);
    toec_neighbour(b.s, mapped(PEER_IP), NULL, b.now);
    assert_int_equal(bench_counter(&b, TOEC_C_neigh_failed), 1); /* notified again: no change */
    toec_neighbour(b.s, mapped(PEER_IP), peer_mac, b.now);
    assert_int_equal(try_send(&b, PEER_IP, &path), 0);
    expect_sent_to(&b, peer_mac);
    bench_stop(&b);
}

/* The request gets no reply: repeated, then abandoned. */
static void no_word(void **state)
{
    struct toec_path path;
    struct bench b;

    (void)state;
    begin(&b);
    assert_int_equal(toec_ip4_path(b.s, PEER_IP, &path), 0);
    assert_int_equal(try_send(&b, PEER_IP, &path), TOEC_SEND_WAIT);
    bench_pass(&b, 4 * SEC);
    assert_int_equal(asks, 3);
    assert_int_equal(try_send(&b, PEER_IP, &path), TOEC_SEND_UNREACH);
    assert_null(bench_next(&b));
    bench_stop(&b);
}

/* RFC 4861 7.3.3, without frames: a used but unconfirmed one is verified. */
static void verified_in_use(void **state)
{
    struct toec_path path;
    struct bench b;

    (void)state;
    begin(&b);
    assert_int_equal(toec_ip4_path(b.s, PEER_IP, &path), 0);
    assert_int_equal(try_send(&b, PEER_IP, &path), TOEC_SEND_WAIT);
    toec_neighbour(b.s, mapped(PEER_IP), peer_mac, b.now);
    bench_pass(&b, 31 * SEC);
    assert_int_equal(asks, 1); /* not in use */
    assert_int_equal(try_send(&b, PEER_IP, &path), 0);
    bench_pass(&b, 6 * SEC);
    assert_true(asks > 1);
    bench_stop(&b);
}

static void routes_change(void **state)
{
    struct toec_path path;
    struct bench b;

    (void)state;
    begin(&b);
    assert_int_equal(toec_ip4_path(b.s, FAR_IP, &path), TOEC_E_UNREACH);
    assert_int_equal(bench_counter(&b, TOEC_C_ip4_no_route), 1);
    gateway = GW_IP;
    toec_routes_changed(b.s);
    assert_int_equal(toec_ip4_path(b.s, FAR_IP, &path), 0);
    assert_int_equal(try_send(&b, FAR_IP, &path), TOEC_SEND_WAIT);
    assert_int_equal(asked, GW_IP);
    toec_neighbour(b.s, mapped(GW_IP), peer_mac, b.now);
    assert_int_equal(try_send(&b, FAR_IP, &path), 0);
    expect_sent_to(&b, peer_mac);

    gateway = PEER_IP; /* the path of a flow that lives */
    toec_routes_changed(b.s);
    assert_int_equal(try_send(&b, FAR_IP, &path), TOEC_SEND_WAIT);
    assert_int_equal(asked, PEER_IP);
    toec_neighbour(b.s, mapped(PEER_IP), other_mac, b.now);
    assert_int_equal(try_send(&b, FAR_IP, &path), 0);
    expect_sent_to(&b, other_mac);

    gateway = 0;
    toec_routes_changed(b.s);
    assert_int_equal(try_send(&b, FAR_IP, &path), TOEC_SEND_UNREACH);
    bench_stop(&b);
}

/* An address that is not a host's is unreachable, whatever the routes. */
static void only_to_hosts(void **state)
{
    static const uint32_t none[] = {OWN_IP, 0x0a0000ffu, 0x0a000000u, 0xe0000001u, 0x7f000001u, 0};
    struct toec_path path;
    struct bench b;
    unsigned i;

    (void)state;
    begin(&b);
    gateway = GW_IP;
    for (i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        assert_int_equal(toec_ip4_path(b.s, none[i], &path), TOEC_E_UNREACH);
    bench_stop(&b);
}

/* ---- IPv6 ---- */

static void begin6(struct bench *b, const struct toec_given *given, unsigned n)
{
    asks = 0;
    gateway6 = NULL;
    bench_config(b);
    memset(b->cfg.gateway, 0, 4);
    b->cfg.link = &ops;
    b->cfg.ip6 = TOEC_IP6_STATIC;
    bench_start(b);
    toec_set_addresses6(b->s, given, n);
    bench_poll(b);
}

/* Sends a datagram from our address to dst; returns the result of toec_ip6_output(). */
static int try_send6(struct bench *b, const struct toec_addr *dst, struct toec_path *path)
{
    struct toec_outbuf o;

    memset(&o, 0, sizeof(o));
    o.src = &own6;
    o.dst = dst;
    o.proto = 253; /* RFC 3692: for experiments */
    o.sum_off = TOEC_SUM_NONE;
    return toec_ip6_output(b->s, path, &o, b->now);
}

static void expect_sent6_to(struct bench *b, const uint8_t *mac)
{
    const struct sent *f = bench_next(b);

    assert_non_null(f);
    assert_int_equal(peek16(f->data + 12), 0x86dd);
    assert_memory_equal(f->data, mac, 6);
    assert_null(bench_next(b));
}

static void says_nothing_by_discovery(void **state)
{
    const struct toec_given given = {own6, 64, 0};
    const struct ip6_spec ask_us = {.src = &peer6, .dst = &own6, .next = 58};
    const struct ip6_spec routers = {.src = &router6, .dst = &all_nodes, .next = 58};
    static const uint8_t ra[8];
    struct bench b;

    (void)state;
    begin6(&b, &given, 1);
    bench_pass(&b, 10 * SEC); /* no solicitation, report or test of the address */
    input_nd(&b, &ask_us, 135, 0, &own6, NULL, 0);
    input_icmp6(&b, &routers, 134, 0, 0x40000708u, ra, sizeof(ra));
    input_icmp6(&b, &ask_us, 128, 0, 0, "hello", 5);
    bench_pass(&b, 10 * SEC);
    assert_null(bench_next(&b));
    assert_int_equal(bench_counter(&b, TOEC_C_icmp_ignored), 3);
    assert_int_equal(toec_has_router(b.s), 0);
    bench_stop(&b);
}

static void asks_and_is_told_of_ip6(void **state)
{
    const struct toec_given given = {own6, 64, 0};
    struct toec_path path;
    struct bench b;

    (void)state;
    begin6(&b, &given, 1);
    assert_int_equal(toec_ip6_path(b.s, &own6, &path), TOEC_E_UNREACH);
    assert_int_equal(toec_ip6_path(b.s, &far6, &path), TOEC_E_UNREACH);
    assert_int_equal(toec_ip6_path(b.s, &peer6, &path), 0);
    assert_int_equal(try_send6(&b, &peer6, &path), TOEC_SEND_WAIT);
    assert_int_equal(asks, 1);
    assert_memory_equal(&asked6, &peer6, 16);
    toec_neighbour(b.s, &peer6, peer_mac, b.now);
    assert_int_equal(try_send6(&b, &peer6, &path), 0);
    expect_sent6_to(&b, peer_mac);
    gateway6 = &router6;
    toec_routes_changed(b.s);
    assert_int_equal(toec_ip6_path(b.s, &far6, &path), 0);
    assert_int_equal(try_send6(&b, &far6, &path), TOEC_SEND_WAIT);
    assert_memory_equal(&asked6, &router6, 16);
    toec_neighbour(b.s, &router6, router_mac, b.now);
    assert_int_equal(try_send6(&b, &far6, &path), 0);
    expect_sent6_to(&b, router_mac);
    gateway6 = NULL;
    toec_routes_changed(b.s);
    assert_int_equal(try_send6(&b, &far6, &path), TOEC_SEND_UNREACH);
    bench_stop(&b);
}

/* RFC 6724: from the current addresses, deprecated ones last. */
static void addresses_come_and_go(void **state)
{
    const struct toec_addr second = {{0xfd, [15] = 0x77}};
    struct toec_given given[TOEC_GIVEN_MAX + 1] = {{own6, 64, 0}, {second, 64, 0}};
    struct toec_own_addr own[TOEC_GIVEN_MAX];
    struct bench b;
    toec_u32 epoch;
    unsigned i;

    (void)state;
    begin6(&b, given, 1);
    assert_int_equal(toec_own_addresses(b.s, own, TOEC_GIVEN_MAX), 1);
    assert_memory_equal(toec_ip6_source(b.s, &peer6), &own6, 16);
    epoch = toec_own_epoch(b.s);
    given[0].deprecated = 1;
    toec_set_addresses6(b.s, given, 2);
    assert_int_not_equal(toec_own_epoch(b.s), epoch);
    assert_int_equal(toec_own_addresses(b.s, own, TOEC_GIVEN_MAX), 2);
    assert_memory_equal(toec_ip6_source(b.s, &peer6), &second, 16);
    toec_set_addresses6(b.s, given, 1);
    assert_memory_equal(toec_ip6_source(b.s, &peer6), &own6, 16);
    toec_set_addresses6(b.s, given, 0);
    assert_null(toec_ip6_source(b.s, &peer6));
    for (i = 0; i < TOEC_GIVEN_MAX + 1; i++) { /* more than there is room for */
        given[i] = (struct toec_given){second, 64, 0};
        given[i].addr.b[14] = (uint8_t)i;
    }
    toec_set_addresses6(b.s, given, TOEC_GIVEN_MAX + 1);
    assert_int_equal(toec_own_addresses(b.s, own, TOEC_GIVEN_MAX), TOEC_GIVEN_MAX);
    assert_int_equal(bench_counter(&b, TOEC_C_nd_tables_full), 1);
    bench_stop(&b);
}

static void not_with_addresses_of_its_own_or_tests(void **state)
{
    struct bench b;

    (void)state;
    bench_config(&b);
    b.cfg.link = &ops;
    assert_int_not_equal(toec_size(&b.cfg), 0);
    b.cfg.arp_probe = 1;
    assert_int_equal(toec_size(&b.cfg), 0);
    b.cfg.arp_probe = 0;
    b.cfg.ip6 = TOEC_IP6_AUTO;
    assert_int_equal(toec_size(&b.cfg), 0);
    b.cfg.ip6 = TOEC_IP6_STATIC;
    assert_int_not_equal(toec_size(&b.cfg), 0);
    memcpy(b.cfg.ip6_addr, own6.b, 16);
    assert_int_equal(toec_size(&b.cfg), 0);
    memset(b.cfg.ip6_addr, 0, 16);
    memcpy(b.cfg.ip6_gateway, router6.b, 16);
    assert_int_equal(toec_size(&b.cfg), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_nothing_by_arp),
        cmocka_unit_test(asks_and_is_told),
        cmocka_unit_test(strangers_are_not_kept),
        cmocka_unit_test(does_not_answer),
        cmocka_unit_test(no_word),
        cmocka_unit_test(verified_in_use),
        cmocka_unit_test(routes_change),
        cmocka_unit_test(only_to_hosts),
        cmocka_unit_test(says_nothing_by_discovery),
        cmocka_unit_test(asks_and_is_told_of_ip6),
        cmocka_unit_test(addresses_come_and_go),
        cmocka_unit_test(not_with_addresses_of_its_own_or_tests),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
