/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_nd_edges.c - neighbour discovery off the beaten track: odd options, senders that are not to
 * be believed, tables that are full, a transmit queue that is.
 */
#include "bench6.h"
#include "ip/ip_out.h"
#include "ip/nd.h"

static const struct ip6_spec from_peer = {&peer6, &own6, 58, 255, 0};

static void start(struct bench *b)
{
    bench6_init(b, TOEC_IP6_STATIC);
}

static struct toec_neigh *entry(struct bench *b, const struct toec_addr *a)
{
    return toec_neigh_find(b->s, a);
}

static int try_send(struct bench *b, const struct toec_addr *dst, struct toec_path *path)
{
    struct toec_outbuf o;

    memset(&o, 0, sizeof(o));
    o.src = &own6;
    o.dst = dst;
    o.proto = 253;
    o.sum_off = TOEC_SUM_NONE;
    return toec_ip_output(b->s, path, &o, b->now);
}

/* ---- options (RFC 4861 4.6) ---- */

static void options(void **state)
{
    uint8_t p[32 * 12];
    struct toec_nd_options o;
    unsigned i;

    (void)state;
    memset(p, 0, sizeof(p));
    assert_int_equal(toec_nd_options(&o, p, 7), -1); /* no room for an option */
    p[0] = 250;                                      /* unknown: ignored */
    p[1] = 1;
    mac_option(p + 8, 1, peer_mac);
    mac_option(p + 16, 1, other_mac); /* of repeated options the first counts */
    mac_option(p + 24, 2, peer_mac);
    mac_option(p + 32, 2, other_mac);
    mac_option(p + 40, 5, peer_mac);
    assert_int_equal(toec_nd_options(&o, p, 48), 0);
    assert_ptr_equal(o.source_mac, p + 10);
    assert_ptr_equal(o.target_mac, p + 26);
    assert_ptr_equal(o.mtu, p + 44);
    assert_int_equal(toec_nd_options(&o, p, 47), -1);
    memset(p, 0, sizeof(p));
    p[0] = 5; /* MTU and prefix of another length than theirs are none */
    p[1] = 2;
    p[16] = 3;
    p[17] = 3;
    assert_int_equal(toec_nd_options(&o, p, 40), 0);
    assert_null(o.mtu);
    assert_int_equal(o.prefixes, 0);
    for (i = 0; i < 12; i++) {
        p[32 * i] = 3;
        p[32 * i + 1] = 4;
    }
    assert_int_equal(toec_nd_options(&o, p, sizeof(p)), 0);
    assert_int_equal(o.prefixes, TOEC_IP6_PREFIXES); /* as many as there is room for */
}

/* ---- solicitations ---- */

/* An invalid Ethernet address is not learned; the solicitation is answered all the same. */
static void impossible_ethernet_addresses(void **state)
{
    static const uint8_t zero[6] = {0};
    uint8_t opt[8];
    struct bench b;

    (void)state;
    start(&b);
    mac_option(opt, 1, broadcast_mac);
    input_nd(&b, &from_peer, 135, 0, &own6, opt, 8);
    mac_option(opt, 1, zero);
    input_nd(&b, &from_peer, 135, 0, &own6, opt, 8);
    assert_null(entry(&b, &peer6));
    assert_int_equal(bench_counter(&b, TOEC_C_nd_adverts_sent), 2 + 2);
    mac_option(opt, 2, zero);
    input_nd(&b, &from_peer, 136, 0x60000000, &peer6, opt, 8);
    assert_int_equal(bench_counter(&b, TOEC_C_nd_bad), 1);
    bench_stop(&b);
}

/* RFC 4861 7.2.3: a solicitation carries the sender's address, new or changed; without the option,
 * none. */
static void solicitors_are_learned(void **state)
{
    struct ip6_spec far = {&far6, &own6, 58, 255, 0};
    struct ip6_spec local = {&router6, &own6, 58, 255, router_mac};
    struct toec_path path;
    uint8_t opt[8];
    struct bench b;

    (void)state;
    start(&b);
    input_nd(&b, &from_peer, 135, 0, &own6, 0, 0);
    assert_null(entry(&b, &peer6));
    (void)expect_icmp6(&b, 136, 0, &own6, &peer6, 0);
    assert_int_equal(toec_path_to(b.s, &peer6, &path), 0);
    assert_int_equal(try_send(&b, &peer6, &path), TOEC_SEND_WAIT);
    bench_forget_sent(&b);
    mac_option(opt, 1, peer_mac); /* we wait for it: now it has given its address */
    input_nd(&b, &from_peer, 135, 0, &own6, opt, 8);
    assert_int_equal(entry(&b, &peer6)->state, TOEC_NEIGH_STALE);
    assert_int_equal(try_send(&b, &peer6, &path), 0);
    mac_option(opt, 1, other_mac);
    input_nd(&b, &from_peer, 135, 0, &own6, opt, 8);
    assert_memory_equal(entry(&b, &peer6)->mac, other_mac, 6);
    assert_int_equal(bench_counter(&b, TOEC_C_neigh_changed), 1);
    input_nd(&b, &from_peer, 135, 0, &own6, opt, 8); /* nothing new */
    assert_int_equal(bench_counter(&b, TOEC_C_neigh_changed), 1);
    input_nd(&b, &far, 135, 0, &own6, opt, 8); /* not on this link */
    assert_null(entry(&b, &far6));
    mac_option(opt, 1, router_mac);
    input_nd(&b, &local, 135, 0, &own6, opt, 8);
    assert_non_null(entry(&b, &router6));
    bench_stop(&b);
}

/* RFC 4862 5.4.3: another host tests our address: the reply goes to all nodes. With a source
 * option, or to another group, such a solicitation is invalid (R4861-01). */
static void others_probes(void **state)
{
    struct ip6_spec s = {&none6, &own6, 58, 255, 0};
    struct toec_addr group;
    uint8_t opt[8];
    struct bench b;

    (void)state;
    start(&b);
    toec_addr_solicited(&group, &own6);
    s.dst = &group;
    mac_option(opt, 1, peer_mac);
    input_nd(&b, &s, 135, 0, &own6, opt, 8);
    assert_int_equal(bench_counter(&b, TOEC_C_nd_bad), 1);
    assert_null(bench_next(&b));
    input_nd(&b, &s, 135, 0, &own6, 0, 0);
    (void)expect_icmp6(&b, 136, 0, &own6, &all_nodes, 0);
    s = from_peer;
    input_nd(&b, &s, 135, 0, &far6, 0, 0); /* another's address */
    assert_int_equal(bench_counter(&b, TOEC_C_nd_not_ours), 1);
    input_nd(&b, &s, 136, 0x20000000, &own6, 0, 0); /* too late to object */
    assert_int_equal(bench_counter(&b, TOEC_C_nd_conflict), 1);
    input_icmp6(&b, &s, 133, 0, 0, 0, 0); /* a router solicitation */
    assert_int_equal(bench_counter(&b, TOEC_C_icmp_ignored), 1);
    bench_stop(&b);
}

/* RFC 4862 5.4.3: a plain solicitation for a tentative address gets no reply and is no duplicate; a
 * test of it with another nonce is one. Then its packets belong to another host. */
static void questions_before_it_is_ours(void **state)
{
    struct ip6_spec s = {&peer6, &all_nodes, 58, 255, 0};
    uint8_t nonce[8] = {14, 1, 9, 9, 9, 9, 9, 9}, tcp[20] = {0}, f[128];
    struct toec_own_addr own[8];
    struct toec_addr group, src;
    struct toec_path path;
    struct bench b;

    (void)state;
    bench6_config(&b, TOEC_IP6_STATIC);
    bench_start(&b);
    toec_addr_solicited(&group, &own6);
    s.dst = &group;
    input_nd(&b, &s, 135, 0, &own6, 0, 0);
    assert_int_equal(toec_own_addresses(b.s, own, 8), 2);
    assert_true(own[1].tentative);
    assert_int_equal(toec_source_for(b.s, &peer6, &src), TOEC_E_NOTAVAIL);
    assert_int_equal(toec_path_to(b.s, &peer6, &path), 0);
    assert_int_equal(try_send(&b, &peer6, &path), TOEC_SEND_WAIT);
    assert_int_equal(bench_counter(&b, TOEC_C_nd_solicits_sent), 0); /* no sender address */
    s.dst = &all_nodes;
    input_icmp6(&b, &s, 128, 0, 1, "x", 1);
    assert_int_equal(bench_counter(&b, TOEC_C_icmp_echo_sent), 0);
    s.src = &none6;
    s.dst = &group;
    input_nd(&b, &s, 135, 0, &own6, nonce, 8);
    assert_int_equal(bench_counter(&b, TOEC_C_nd_dad_failed), 1);
    s = from_peer;
    s.dst = &all_nodes;
    input_nd(&b, &s, 135, 0, &own6, 0, 0); /* not to be answered by us */
    assert_int_equal(bench_counter(&b, TOEC_C_nd_not_ours), 1);
    s.src = &own6; /* the owner of the address sends */
    s.dst = &all_nodes;
    s.next = 6;
    bench_input(&b, f, make_ip6(f, &s, tcp, 20));
    assert_int_equal(bench_counter(&b, TOEC_C_ip6_bad_source), 1); /* TCP to a group */
    assert_int_equal(toec_own_addresses(b.s, own, 1), 1);
    bench_stop(&b);
}

/* A flood of questions is answered at a bounded rate. */
static void answers_are_limited(void **state)
{
    struct bench b;
    unsigned i;

    (void)state;
    start(&b);
    for (i = 0; i < 200; i++)
        input_nd(&b, &from_peer, 135, 0, &own6, 0, 0);
    assert_int_equal(bench_counter(&b, TOEC_C_nd_limited), 100);
    bench_pass(&b, SEC);
    input_nd(&b, &from_peer, 135, 0, &own6, 0, 0);
    assert_int_equal(bench_counter(&b, TOEC_C_nd_limited), 100);
    bench_stop(&b);
}

/* ---- advertisements ---- */

/* R4861-07: no address for an unknown one; another one without override for a stale one. */
static void advertisements_that_tell_nothing(void **state)
{
    struct toec_path path;
    uint8_t opt[8];
    struct bench b;

    (void)state;
    start(&b);
    assert_int_equal(toec_path_to(b.s, &peer6, &path), 0);
    assert_int_equal(try_send(&b, &peer6, &path), TOEC_SEND_WAIT);
    input_nd(&b, &from_peer, 136, 0x60000000, &peer6, 0, 0);
    assert_int_equal(entry(&b, &peer6)->state, TOEC_NEIGH_INCOMPLETE);
    bench6_learn(&b, &peer6, peer_mac);
    mac_option(opt, 2, other_mac);
    input_nd(&b, &from_peer, 136, 0, &peer6, opt, 8);
    assert_int_equal(entry(&b, &peer6)->state, TOEC_NEIGH_STALE);
    assert_memory_equal(entry(&b, &peer6)->mac, peer_mac, 6);
    bench_stop(&b);
}

/* A message that is not contiguous is ignored. */
static void split_messages(void **state)
{
    struct bench b;

    (void)state;
    start(&b);
    b.head_len = 54 + 20;
    input_nd(&b, &from_peer, 135, 0, &own6, 0, 0);
    assert_int_equal(bench_counter(&b, TOEC_C_nd_bad), 1);
    assert_null(bench_next(&b));
    bench_stop(&b);
}

/* ---- when transmit is full ---- */

/* A message that could not be sent does not count as sent; its timer repeats it. */
static void full_transmit(void **state)
{
    struct toec_own_addr own[8];
    struct bench b;

    (void)state;
    bench6_config(&b, TOEC_IP6_AUTO);
    bench_start(&b);
    b.tx_room = 0;
    bench_pass(&b, 4 * SEC);
    assert_int_equal(bench_counter(&b, TOEC_C_nd_solicits_sent), 0);
    assert_int_equal(bench_counter(&b, TOEC_C_nd_adverts_sent), 0);
    assert_int_equal(bench_counter(&b, TOEC_C_nd_rs_sent), 0);
    assert_int_equal(bench_counter(&b, TOEC_C_mld_reports_sent), 0);
    assert_true(bench_counter(&b, TOEC_C_tx_unresolved_drop) >= 2);
    assert_int_equal(toec_own_addresses(b.s, own, 8), 2);
    b.tx_room = -1;
    bench_pass(&b, 8 * SEC);
    assert_true(bench_counter(&b, TOEC_C_nd_rs_sent) >= 1);
    bench_stop(&b);
}

static void full_transmit_of_solicitations(void **state)
{
    struct toec_path path;
    struct bench b;

    (void)state;
    start(&b);
    b.tx_room = 0;
    assert_int_equal(toec_path_to(b.s, &peer6, &path), 0);
    assert_int_equal(try_send(&b, &peer6, &path), TOEC_SEND_WAIT);
    assert_int_equal(bench_counter(&b, TOEC_C_nd_solicits_sent), 2); /* those of DAD */
    b.tx_room = -1;
    bench_pass(&b, SEC + 2 * MSEC);
    assert_int_equal(bench_counter(&b, TOEC_C_nd_solicits_sent), 3);
    bench_stop(&b);
}

/* ---- a full table ---- */

static struct toec_addr numbered(unsigned i)
{
    struct toec_addr a = peer6;

    poke16(a.b + 8, i + 1);
    return a;
}

/* Every entry in use: senders of solicitations are not learned; a new destination replaces none
 * that was confirmed within 5 s, later the first not used since the clock hand passed. */
static void every_entry_in_use(void **state)
{
    struct toec_addr a = numbered(5000);
    struct toec_path path;
    struct bench b;
    uint8_t opt[8];
    unsigned i, tries;

    (void)state;
    start(&b);
    for (i = 0; i < 256; i++) {
        struct toec_addr n = numbered(i);

        bench6_learn(&b, &n, peer_mac);
        b.now += 2 * MSEC;
        toec_neigh_reachable(b.s, entry(&b, &n), b.now);
        assert_int_equal(toec_path_to(b.s, &n, &path), 0);
        assert_int_equal(try_send(&b, &n, &path), 0);
    }
    bench_forget_sent(&b);
    mac_option(opt, 1, peer_mac);
    input_nd(&b, &from_peer, 135, 0, &own6, opt, 8);
    assert_null(entry(&b, &peer6));
    assert_int_equal(bench_counter(&b, TOEC_C_nd_not_learned), 1);
    assert_int_equal(toec_path_to(b.s, &a, &path), 0);
    for (i = 0; i < 16; i++)
        assert_int_equal(try_send(&b, &a, &path), TOEC_SEND_WAIT);
    assert_int_equal(bench_counter(&b, TOEC_C_neigh_evicted), 0);
    b.now += 5 * SEC;
    for (i = 0; i < 256; i++) {
        struct toec_addr n = numbered(i);

        entry(&b, &n)->used = 1;
    }
    for (tries = 0; !entry(&b, &a); tries++) {
        assert_true(tries < 8);
        assert_int_equal(try_send(&b, &a, &path), TOEC_SEND_WAIT);
    }
    assert_true(tries > 1);
    assert_int_equal(bench_counter(&b, TOEC_C_neigh_full), 16 + tries - 1);
    assert_int_equal(bench_counter(&b, TOEC_C_neigh_evicted), 1);
    for (i = 0; i < 256; i++) { /* all in use again, except the one that has not answered */
        struct toec_addr n = numbered(i);

        assert_int_equal(toec_path_to(b.s, &n, &path), 0);
        if (entry(&b, &n))
            assert_int_equal(try_send(&b, &n, &path), 0);
        bench_forget_sent(&b);
    }
    bench_learn(&b, peer_mac, PEER_IP);
    assert_int_equal(bench_counter(&b, TOEC_C_arp_not_learned), 1);
    assert_null(toec_neigh_find(b.s, mapped(PEER_IP)));
    for (i = 0; i < 5; i++) /* a solicitation does not evict it */
        bench6_learn(&b, &peer6, peer_mac);
    assert_null(entry(&b, &peer6));
    assert_non_null(entry(&b, &a));
    bench_stop(&b);
}

/* Numbers of entries are never 0, which means none, nor all ones; a path that never had one
 * confirms none. */
static void generations_wrap(void **state)
{
    struct toec_path path, other;
    struct bench b;

    (void)state;
    start(&b);
    b.s->neigh.next_gen = 0xfffffffeu;
    bench6_learn(&b, &peer6, peer_mac);
    bench6_learn(&b, &router6, router_mac);
    assert_int_equal(entry(&b, &peer6)->gen, 0xfffffffeu);
    assert_int_equal(entry(&b, &router6)->gen, 1);
    assert_int_equal(toec_path_to(b.s, &peer6, &other), 0);
    toec_path_confirm(b.s, &other, b.now); /* not attached */
    assert_int_equal(entry(&b, &peer6)->state, TOEC_NEIGH_STALE);
    assert_int_equal(toec_path_to(b.s, &peer6, &path), 0);
    assert_int_equal(try_send(&b, &peer6, &path), 0);
    toec_path_confirm(b.s, &path, b.now);
    assert_int_equal(entry(&b, &peer6)->state, TOEC_NEIGH_REACHABLE);
    bench_stop(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options),
        cmocka_unit_test(impossible_ethernet_addresses),
        cmocka_unit_test(solicitors_are_learned),
        cmocka_unit_test(others_probes),
        cmocka_unit_test(questions_before_it_is_ours),
        cmocka_unit_test(answers_are_limited),
        cmocka_unit_test(advertisements_that_tell_nothing),
        cmocka_unit_test(split_messages),
        cmocka_unit_test(full_transmit),
        cmocka_unit_test(full_transmit_of_solicitations),
        cmocka_unit_test(every_entry_in_use),
        cmocka_unit_test(generations_wrap),
    };

    return cmocka_run_group_tests_name("nd_edges", tests, 0, 0);
}
